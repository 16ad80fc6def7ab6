"""What a learner does with lesson 03, in JupyterLab, with the keyboard and the mouse."""

import re

import pytest
from playwright.sync_api import expect

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.timeout(180)]
BADGE = "https://colab.research.google.com/assets/colab-badge.svg"
ANSWER = """\
batch = device.send("images")
device.wait(device.run(batch))
start = device.clock()
device.wait(device.run(batch))
return device.clock() - start"""


def test_all_of_it_runs_and_shows_no_error(lesson):
    code = [cell for cell in lesson.cells if cell["cell_type"] == "code"]
    hidden = [cell["metadata"].get("jupyter", {}).get("source_hidden") for cell in code]
    expected = [f"[{n}]:" for n, without_prompt in enumerate(hidden, 1) if not without_prompt]
    prompts = lesson.page.locator(".jp-CodeCell .jp-InputArea-prompt").all_inner_texts()
    assert [prompt.strip() for prompt in prompts] == expected
    assert lesson.errors() == []
    assert lesson.page.locator(".jp-Dialog").count() == 0, "nothing stands over the page"


def test_the_page_asks_for_nothing_but_its_badge(lesson):
    assert set(lesson.asked) <= {BADGE}


def test_a_number_is_guessed_and_comes_back(lesson):
    form = lesson.cell(lesson.place('ask("03/epoch"'))
    keep = form.get_by_role("button", name="Keep my guess")
    keep.click()
    expect(form.get_by_role("status")).to_have_text("Choose or type an answer first.")
    form.get_by_label("In seconds:").click()
    lesson.page.keyboard.press("Control+a")
    lesson.page.keyboard.type("12.5")
    keep.click()
    expect(form.get_by_role("status")).to_contain_text("Kept: 12.5 seconds.")
    reveal = lesson.place('reveal("03/epoch"')
    lesson.run_cell(reveal)
    expect(lesson.cell(reveal)).to_contain_text("You guessed 12.5 seconds; what came out:")


def choice(lesson):
    """Give the places of the form that offers A to D and of the cell that comes back to it."""
    ask = lesson.place('choices=["A", "B", "C", "D"]')
    name = re.search(r'ask\(\s*"([^"]+)"', "".join(lesson.cells[ask]["source"]))[1]
    return ask, lesson.place(f'reveal("{name}"')


def test_a_choice_is_made_with_the_mouse(lesson):
    ask, reveal = choice(lesson)
    form = lesson.cell(ask)
    form.get_by_label("B", exact=True).click()
    form.get_by_role("button", name="Keep my guess").click()
    expect(form.get_by_role("status")).to_contain_text("Kept: B.")
    lesson.run_cell(reveal)
    expect(lesson.cell(reveal)).to_contain_text("You guessed B; what came out:")


def test_a_choice_is_made_with_the_keyboard_alone(lesson):
    ask, reveal = choice(lesson)
    form, press = lesson.cell(ask), lesson.page.keyboard.press
    lesson.run_cell(ask, "Control+Enter")  # a fresh form; the mouse is not used from here on
    # Not the arrow keys: JupyterLab keeps those for itself, to go from cell to cell.
    for letter in ("A", "C"):  # a choice, and another one after all
        lesson.tab_to(form.get_by_label(letter, exact=True))
        press("Space")
        expect(form.get_by_label(letter, exact=True)).to_be_checked()
    expect(form.get_by_label("A", exact=True)).not_to_be_checked()
    lesson.tab_to(form.get_by_role("button", name="Keep my guess"))
    press("Enter")
    expect(form.get_by_role("status")).to_contain_text("Kept: C.")
    lesson.run_cell(reveal)
    expect(lesson.cell(reveal)).to_contain_text("You guessed C; what came out:")


def test_an_exercise_is_solved_in_its_cell(lesson):
    exercise = lesson.place("def my_a(device)")
    cell = lesson.cell(exercise)
    expect(cell).to_contain_text("Not yet.")
    cell.locator(".cm-line", has_text="raise NotImplementedError").click()
    lesson.page.keyboard.press("End")
    lesson.page.keyboard.press("Shift+Home")
    for number, line in enumerate(ANSWER.splitlines()):
        if number:
            lesson.page.keyboard.press("Enter")  # the editor indents the next line by itself
        lesson.page.keyboard.type(line)
    lesson.page.keyboard.press("Shift+Enter")
    lesson.settle()
    expect(cell.locator(".jp-OutputArea")).to_contain_text("Right.")
