"""What a learner does with the lessons in JupyterLab, with the keyboard and the mouse.

One JupyterLab and one browser serve all of it. What the cells compute is compared elsewhere, by
nbval and in Colab's replicas: here it is what only a browser has, forms, players and pages.
"""

import json
import re
from contextlib import contextmanager
from pathlib import Path

import axe
import lab
import nbformat
import psutil
import pytest
import quiz_page
from nbformat.v4 import new_code_cell, new_notebook
from playwright.sync_api import expect

from accel_helpers.course import exam, questions

LESSONS = sorted((Path(__file__).resolve().parents[2] / "notebooks").glob("[0-9][0-9]_*.ipynb"))
WHOLE = ("00", "03", "06")  # all of these is run: the quiz, the guesses and exercise, the player
BADGE = "https://colab.research.google.com/assets/colab-badge.svg"
FRAMES = 11
pytestmark = [pytest.mark.browser, pytest.mark.timeout(900)]
expect.set_options(timeout=1000 * lab.LIMIT)


@pytest.fixture(scope="module")
def started(needed, tmp_path_factory):
    with lab.started(tmp_path_factory.mktemp("lab")) as started:
        yield started


@contextmanager
def opened(started, number):
    """Open a lesson and give its quiz."""
    (path,) = (path for path in LESSONS if path.name.startswith(number))
    asked = quiz_page.of_lesson(number)
    assert asked, "every lesson has questions"
    with started.open(path) as lesson:
        converted = any("lesson.quiz()" in "".join(cell["source"]) for cell in lesson.cells)
        call = "lesson.quiz()" if converted else f'ah.course.show_quiz("{number}")'
        yield quiz_page.QuizPage(lesson, call, asked)


def first_question(form):
    """Answer the first choice of a quiz, wrongly and then rightly."""
    number = form.number("one")
    question = form.questions[number - 1]
    letter, why = quiz_page.slip(question)
    form.answer(number, letter)
    expect(form.said(number)).to_contain_text("Not right.")
    expect(form.feedback(number, why)).to_be_visible()
    right = question.options[question.right]
    form.answer(number, question.right)
    expect(form.said(number)).to_contain_text("✓ Right")
    expect(form.feedback(number, right.feedback)).to_be_visible()


# The quiz of lesson 00: before it runs, by mouse, by keys, and later


@pytest.fixture(scope="module")
def unrun(started):
    with opened(started, "00") as form:
        yield form


@pytest.fixture(scope="module")
def form(unrun):
    unrun.lesson.run_all()
    return unrun


def test_before_anything_runs_the_answers_are_folded_away(unrun):
    details = unrun.output.locator("details")
    expect(details).to_have_count(len(unrun.questions))
    for question, folded in zip(unrun.questions, details.all(), strict=True):
        expect(unrun.output).to_contain_text(quiz_page.plain(question.stem))
        hidden = folded.get_by_text(quiz_page.plain(question.options["a"].feedback))
        expect(hidden).not_to_be_visible()
        folded.locator("summary").focus()
        unrun.lesson.page.keyboard.press("Enter")
        expect(hidden).to_be_visible()
    assert axe.violations_in_the_lab(unrun.lesson.page) == []


def test_every_question_of_a_run_lesson_is_answered(form):
    assert form.lesson.problems() == []
    for number, _ in enumerate(form.questions, 1):
        expect(form.said(number)).to_contain_text("Not answered yet.")
        form.button(number).click()
        expect(form.said(number)).to_contain_text("no answer yet", ignore_case=True)
    first_question(form)
    number = form.number("number")
    form.answer(number, "a word")
    expect(form.said(number)).to_contain_text("a number", ignore_case=True)
    for number, question in enumerate(form.questions, 1):
        form.answer(number, quiz_page.solution(question))
        expect(form.said(number)).to_contain_text("✓ Right")


def test_the_keyboard_alone_is_enough(form):
    number, question = [(n, q) for n, q in enumerate(form.questions, 1) if q.kind == "one"][-1]
    lesson, press = form.lesson, form.lesson.page.keyboard.press
    lesson.run_cell(form.place, "Control+Enter")  # a fresh form; no mouse from here on
    wrong, why = quiz_page.slip(question)
    # Not the arrow keys: JupyterLab keeps those for itself, to go from cell to cell.
    lesson.tab_to(form.control(number, wrong))
    lesson.choose_by_key(form.control(number, wrong))
    lesson.tab_to(form.button(number))
    press("Enter")
    expect(form.feedback(number, why)).to_be_visible()
    lesson.tab_to(form.said(number).locator("summary"))  # "Give up"
    press("Enter")
    expect(form.said(number).get_by_text("(✓ right)")).to_be_visible()
    lesson.tab_to(form.control(number, question.right), "Shift+Tab")
    lesson.choose_by_key(form.control(number, question.right))
    expect(form.said(number)).to_contain_text("Not checked yet.")
    lesson.tab_to(form.button(number))
    press("Space")
    expect(form.said(number)).to_contain_text("✓ Right.")
    assert axe.violations_in_the_lab(lesson.page) == []


def found_again(form):
    for number, _ in enumerate(form.questions, 1):
        expect(form.said(number)).to_contain_text(re.compile("You answered.*: right", re.S))


def test_answers_are_kept_and_found_after_a_reload_and_after_a_killed_kernel(form):
    lesson = form.lesson
    kept = json.loads(lesson.file.with_name("course_record.json").read_text("utf-8"))
    answers = {e["place"]: e["outcome"] for e in kept if e["place"].startswith("answer/")}
    assert answers == {f"answer/{question.id}": "right" for question in form.questions}
    lesson.go()
    lesson.run_cell(form.place)
    found_again(form)
    kernel = lesson.kernel()["id"]
    for process in psutil.process_iter(["cmdline"]):
        if any(kernel in part for part in process.info["cmdline"] or ()):
            process.kill()
    dialog = lesson.page.locator(".jp-Dialog", has_text="Kernel Restarting")
    dialog.get_by_role("button", name="Ok").click()
    lesson.run_all()
    found_again(form)


# Lesson 03: guesses that come back, an exercise that is solved


@pytest.fixture(scope="module")
def lesson(started):
    with opened(started, "03") as form:
        form.lesson.run_all()
        first_question(form)
        yield form.lesson


@pytest.mark.night
def test_all_of_it_runs_and_asks_the_network_for_nothing_but_its_badge(lesson):
    code = [cell for cell in lesson.cells if cell["cell_type"] == "code"]
    hidden = [cell["metadata"].get("jupyter", {}).get("source_hidden") for cell in code]
    expected = [f"[{n}]:" for n, without_prompt in enumerate(hidden, 1) if not without_prompt]
    prompts = lesson.page.locator(".jp-CodeCell .jp-InputArea-prompt").all_inner_texts()
    assert [prompt.strip() for prompt in prompts] == expected
    assert lesson.problems() == []
    assert set(lesson.asked) <= {BADGE}


@pytest.mark.night
def test_a_number_is_guessed_and_comes_back(lesson):
    form = lesson.cell(lesson.place('ask("width"'))
    keep = form.get_by_role("button", name="Keep my guess")
    keep.click()
    expect(form.get_by_role("status")).to_have_text("Choose or type an answer first.")
    form.get_by_label("In times:").click()
    lesson.page.keyboard.press("Control+a")
    lesson.page.keyboard.type("12.5")
    keep.click()
    expect(form.get_by_role("status")).to_contain_text("Kept.")
    reveal = lesson.place('reveal("width"')
    lesson.run_cell(reveal)
    expect(lesson.cell(reveal)).to_contain_text("You guessed 12.5 times; what came out:")


@pytest.mark.night
def test_a_choice_is_made_with_the_mouse_and_with_the_keyboard_alone(lesson):
    ask, reveal = lesson.place('ask("climb"'), lesson.place('reveal("climb"')
    form, press = lesson.cell(ask), lesson.page.keyboard.press
    form.get_by_label("bigger batches", exact=True).click()
    form.get_by_role("button", name="Keep my guess").click()
    expect(form.get_by_role("status")).to_contain_text("Kept.")
    lesson.run_cell(reveal)
    expect(lesson.cell(reveal)).to_contain_text("You guessed bigger batches; what came out:")
    lesson.run_cell(ask, "Control+Enter")  # a fresh form; the mouse is not used from here on
    lesson.tab_to(form.get_by_label("XLA", exact=True))
    lesson.choose_by_key(form.get_by_label("XLA", exact=True))
    lesson.tab_to(form.get_by_role("button", name="Keep my guess"))
    press("Enter")
    expect(form.get_by_role("status")).to_contain_text("Kept.")


@pytest.mark.night
def test_an_exercise_is_solved_in_its_cell(lesson):
    cell = lesson.cell(lesson.place("def my_a(device)"))
    expect(cell).to_contain_text("Not yet.")
    cell.locator(".cm-line", has_text="raise NotImplementedError").click()
    for keys in ("End", "Shift+Home"):
        lesson.page.keyboard.press(keys)
    lesson.page.keyboard.type(ANSWER)  # the editor indents each new line by itself
    lesson.page.keyboard.press("Shift+Enter")
    lesson.settle()
    expect(cell.locator(".jp-OutputArea")).to_contain_text("Right.")


ANSWER = """\
batch = device.send("images")
device.wait(device.run(batch))
start = device.clock()
device.wait(device.run(batch))
return device.clock() - start"""


# Lesson 06: the player


@pytest.mark.night
def test_the_player_shows_every_frame_by_click_and_key_and_plays_and_pauses(started):
    with opened(started, "06") as form:
        lesson = form.lesson
        lesson.run_all()
        assert lesson.problems() == []
        first_question(form)
        player = lesson.cell(lesson.place("ah.course.unit_animation"))
        image = player.locator(".animation img")

        def button(name):
            return player.get_by_role("button", name=name, exact=True)

        button("Pause").click()
        button("First frame").click()
        seen = [image.get_attribute("src")]
        for _ in range(FRAMES - 1):
            button("Next frame").click()
            seen.append(image.get_attribute("src"))
        assert len(set(seen)) == FRAMES
        button("Previous frame").click()
        assert image.get_attribute("src") == seen[-2]
        button("First frame").focus()
        lesson.page.keyboard.press("Enter")
        assert image.get_attribute("src") == seen[0]
        button("Play").click()
        expect(image).not_to_have_attribute("src", seen[0])
        button("Pause").click()
        stopped = image.get_attribute("src")
        lesson.pause(2.5)
        assert image.get_attribute("src") == stopped


# A walk through the others


@pytest.mark.night
@pytest.mark.parametrize(
    "path", [path for path in LESSONS if path.name[:2] not in WHOLE], ids=lambda path: path.stem
)
def test_a_lesson_opens_and_its_forms_are_there_and_a_question_is_answered(started, path):
    with opened(started, path.name[:2]) as form:
        lesson = form.lesson
        sources = ["".join(cell["source"]) for cell in lesson.cells]
        (setup,) = (n for n, text in enumerate(sources) if text.startswith("# @title Setup"))
        guesses = [
            n for n, text in enumerate(sources) if re.match(r"(ah\.predict|lesson)\.ask\(", text)
        ]
        for place in (setup, *guesses, form.place):
            lesson.run_cell(place)
        for place in guesses:
            expect(lesson.cell(place).get_by_role("button", name="Keep my guess")).to_be_visible()
        assert lesson.problems() == []
        expect(form.output.locator(".accel-question")).to_have_count(len(form.questions))
        first_question(form)


# The forms of all kinds of questions and of the practice exam


@pytest.fixture(scope="module")
def forms(started, tmp_path_factory):
    """Open a notebook with a question of each kind and a practice exam, and run it."""
    # Where there is one, a question with two answers that differ.
    bank = sorted(questions.bank().values(), key=lambda question: not question.expected)
    kinds = [next(question for question in bank if question.kind == kind) for kind in questions.HOW]
    names = [question.id for question in kinds]
    calls = [f"ah.course.show_quiz({', '.join(map(repr, names))})", "ah.course.draw_exam(1)"]
    path = tmp_path_factory.mktemp("forms") / "forms.ipynb"
    sources = ["import accel_helpers as ah", *calls]
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    made = new_notebook(metadata={"kernelspec": kernel})
    made.cells = [new_code_cell(source) for source in sources]
    nbformat.write(made, path)
    with started.open(path) as lesson:
        lesson.run_all()
        paper = quiz_page.QuizPage(lesson, calls[1], exam.draw_exam(1).questions)
        yield quiz_page.QuizPage(lesson, calls[0], kinds), paper


def cut_off(form):
    """Tell which parts of a form stick out of it, or hide some of their own text."""
    return form.output.evaluate("""output => {
        const right = output.getBoundingClientRect().right + 1
        return [...output.querySelectorAll('.accel-quiz *')]
            .filter(e => e.offsetParent && e.tagName !== 'STYLE')
            .filter(e => e.getBoundingClientRect().right > right ||
                (['LABEL', 'BUTTON', 'P', 'LI'].includes(e.tagName) &&
                (e.scrollWidth > e.clientWidth + 1 || e.scrollHeight > e.clientHeight + 2)
                && getComputedStyle(e).display !== 'inline'))
            .map(e => e.outerHTML.slice(0, 200))
    }""")


@pytest.mark.night
def test_every_kind_of_question_is_answered_and_breaks_no_rule(forms):
    form, _ = forms
    for number, question in enumerate(form.questions, 1):
        form.button(number).click()
        expect(form.said(number)).to_contain_text("no answer yet", ignore_case=True)
        form.answer(number, quiz_page.solution(question))
        expect(form.said(number)).to_contain_text("✓ Right")
    for folded in form.output.locator("summary").all():
        folded.click()


@pytest.mark.night
def test_a_practice_exam_is_handed_in_and_breaks_no_rule(forms):
    _, form = forms
    page = form.lesson.page
    assert axe.violations_in_the_lab(page) == []  # the answered questions, and the empty paper
    for number, question in enumerate(form.questions, 1):
        if question.kind == "one":
            form.control(number, quiz_page.solution(question)).click()
    expect(form.output.get_by_role("status").last).to_have_text("")
    form.output.get_by_role("button", name="Hand in the paper").click()
    expect(form.output.get_by_role("status").last).to_contain_text("14 of 20 are needed")
    expect(form.said(form.number("one"))).to_contain_text("✓ Right")
    assert axe.violations_in_the_lab(page) == []


@pytest.mark.night
@pytest.mark.parametrize("width", [1280, 700])
def test_no_text_of_a_form_is_cut_off(forms, width):
    lesson = forms[0].lesson
    lesson.page.set_viewport_size({"width": width, "height": 1000})
    lesson.pause(0.3)
    assert [cut_off(form) for form in forms] == [[], []]
