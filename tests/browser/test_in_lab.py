"""What a learner does with the lessons in JupyterLab, with the keyboard and the mouse.

One JupyterLab and one browser serve all of it. What the cells compute is compared elsewhere, by
nbval and in Colab's replicas: here it is what only a browser has, forms, players and pages.
"""

import re

import axe
import lab
import lesson as of_tools
import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook
from playwright.sync_api import expect

from accel_helpers.course import exam, questions

FIRST, *_ = of_tools.chosen([])
ALL_KINDS = "01/repair", "01/belongs", "00/typical", "01/gpu_steps"
PLAYER = "ah.course.unit_animation(ah.course.MatrixUnit(2, 2), [[1, 2]], [[1, 2], [3, 4]])"
KERNEL = {"name": "python3", "display_name": "Python 3", "language": "python"}
# Which parts of a form stick out of it, or hide some of their own text.
CUT_OFF = """output => {
    const right = output.getBoundingClientRect().right + 1
    return [...output.querySelectorAll('.accel-quiz *')]
        .filter(e => e.offsetParent && e.tagName !== 'STYLE')
        .filter(e => e.getBoundingClientRect().right > right ||
            (['LABEL', 'BUTTON', 'P', 'LI'].includes(e.tagName) &&
            (e.scrollWidth > e.clientWidth + 1 || e.scrollHeight > e.clientHeight + 2)
            && getComputedStyle(e).display !== 'inline'))
        .map(e => e.outerHTML.slice(0, 200))
}"""
pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.timeout(900)]
expect.set_options(timeout=300_000)  # a machine that is busy may take its time


@pytest.fixture(scope="module")
def opened(browser, tmp_path_factory):
    """A call that opens a copy of a notebook in JupyterLab."""
    folder = tmp_path_factory.mktemp("lab")
    with lab.started(folder, browser) as address:
        yield lambda path: lab.opened(folder, browser, address, path)


def test_a_guess_and_answers_by_mouse_and_by_keys_are_kept(opened):
    with opened(FIRST) as lesson:
        quiz = lesson.cell("lesson.quiz()")
        fields = lab.fields(quiz, "00")
        folded = quiz.locator(".jp-OutputArea details")
        expect(folded).to_have_count(len(fields))  # before it runs, the answers are folded away
        expect(folded.first.locator("ul")).not_to_be_visible()
        lesson.run_all()
        assert {*lesson.asked} <= {lab.BADGE}

        guess = lesson.cell('ask("first"')
        guess.get_by_label("In times:").fill("12.5")
        guess.get_by_role("button", name="Keep my guess").click()
        expect(guess.get_by_role("status")).to_contain_text("Kept.")
        reveal = lesson.run('reveal("first"')
        expect(reveal).to_contain_text("You guessed 12.5 times; what came out:")

        for field in fields:
            field.answer(field.question.right)
            expect(field.said).to_contain_text("✓ Right")

        lesson.run("lesson.quiz()")  # a fresh form; no mouse from here on
        one = next(field for field in fields if field.question.kind == "one")
        lesson.press("Space", one.option(one.wrong))
        lesson.press("Enter", one.button)
        expect(one.feedback(one.wrong)).to_be_visible()
        lesson.press("Space", one.option(one.question.right), "Shift+Tab")
        expect(one.said).to_contain_text("Not checked yet.")
        lesson.press("Space", one.button)
        expect(one.said).to_contain_text("✓ Right.")
        assert axe.violations(lesson.page, axe.RULES["in_the_lab"]) == []

        lesson.go(lesson.page.url)
        lesson.run("lesson.quiz()")
        for field in fields:
            expect(field.said).to_contain_text(re.compile("You answered.*: right", re.S))


def test_all_kinds_of_questions_a_paper_and_a_player_work_and_nothing_is_cut_off(opened, tmp_path):
    calls = [f"ah.course.show_quiz(*{ALL_KINDS})", "ah.course.draw_exam(1)", PLAYER]
    cells = [new_code_cell(source) for source in ("import accel_helpers as ah", *calls)]
    path = tmp_path / "forms.ipynb"
    nbformat.write(new_notebook(cells=cells, metadata={"kernelspec": KERNEL}), path)
    with opened(path) as lesson:
        lesson.run_all()
        quiz, paper, player = map(lesson.cell, calls)
        for number, name in enumerate(ALL_KINDS, 1):
            field = lab.Field(quiz, number, questions.bank()[name])
            field.answer(field.question.right)
            expect(field.said).to_contain_text("✓ Right")
        quiz.evaluate("cell => cell.querySelectorAll('details').forEach(e => { e.open = true })")
        for number, question in enumerate(exam.draw_exam(1).questions, 1):
            if question.kind == "one":
                lab.Field(paper, number, question).option(question.right).check()
        paper.get_by_role("button", name="Hand in the paper").click()
        expect(paper.get_by_role("status").last).to_contain_text("Fourteen by the material")
        frames = {}
        for name in ("Pause", "First frame", "Next frame", "Previous frame", "Play"):
            player.get_by_role("button", name=name, exact=True).press("Enter")
            lesson.page.wait_for_timeout(1500)
            frames[name] = player.locator(".animation img").get_attribute("src")
        assert frames["First frame"] == frames["Previous frame"]
        assert frames["First frame"] not in (frames["Next frame"], frames["Play"])

        assert axe.violations(lesson.page, axe.RULES["in_the_lab"]) == []
        lesson.page.set_viewport_size({"width": 700, "height": 15_000})
        lesson.page.wait_for_timeout(300)
        assert quiz.evaluate(CUT_OFF) == []
        assert paper.evaluate(CUT_OFF) == []
