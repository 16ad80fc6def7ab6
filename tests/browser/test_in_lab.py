"""What a learner does with the lessons in JupyterLab, with the keyboard and the mouse.

One JupyterLab and one browser serve all of it. What the cells compute is compared elsewhere, by
nbval and in Colab's replicas: here it is what only a browser has, forms, players and pages.
"""

import json
import re
from contextlib import contextmanager

import axe
import lab
import lesson as of_tools
import nbformat
import pytest
import quiz_page
from nbformat.v4 import new_code_cell, new_notebook
from playwright.sync_api import expect
from quiz_page import plain

from accel_helpers.course import exam, questions

LESSONS = {path.name[:2]: path for path in of_tools.chosen([])}
WHOLE = ("00", "03", "06")  # all of these is run
SOLUTION = """\
batch = device.send("images")
device.wait(device.run(batch))
start = device.clock()
device.wait(device.run(batch))
return device.clock() - start"""
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
def started(browser, tmp_path_factory):
    with lab.started(tmp_path_factory.mktemp("lab"), browser) as started:
        yield started


@contextmanager
def opened(started, number):
    """Open a lesson; give it, the place of its quiz, and the questions there."""
    with started.open(LESSONS[number]) as lesson:
        place = lesson.place("lesson.quiz()")
        yield lesson, place, quiz_page.fields(lesson.cell(place), quiz_page.of_lesson(number))


def test_a_quiz_is_answered_by_mouse_and_by_keys_and_answers_are_kept(started):
    with opened(started, "00") as (lesson, place, fields):
        folded = lesson.cell(place).locator(".jp-OutputArea details")
        expect(folded).to_have_count(len(fields))
        hidden = folded.first.get_by_text(plain(fields[0].question.options["a"].feedback))
        expect(hidden).not_to_be_visible()
        folded.first.locator("summary").click()
        expect(hidden).to_be_visible()
        assert axe.violations_in_the_lab(lesson.page) == []

        lesson.run_all()
        assert lesson.problems() == []
        for field in fields:
            expect(field.said).to_contain_text("Not answered yet.")
            field.answer(field.question.right)
            expect(field.said).to_contain_text("✓ Right")

        lesson.run_cell(place, "Control+Enter")  # a fresh form; no mouse from here on
        one = next(field for field in fields if field.question.kind == "one")
        lesson.choose_by_key(one.option(one.wrong()))
        lesson.tab_to(one.button)
        lesson.page.keyboard.press("Enter")
        expect(one.feedback(one.wrong())).to_be_visible()
        lesson.tab_to(one.option(one.wrong()), "Shift+Tab")
        lesson.choose_by_key(one.option(one.question.right))
        expect(one.said).to_contain_text("Not checked yet.")
        lesson.tab_to(one.button)
        lesson.page.keyboard.press("Space")
        expect(one.said).to_contain_text("✓ Right.")
        assert axe.violations_in_the_lab(lesson.page) == []

        kept = json.loads(lesson.file.with_name("course_record.json").read_text("utf-8"))
        answers = {e["place"]: e["outcome"] for e in kept if e["place"].startswith("answer/")}
        assert answers == {f"answer/{field.question.id}": "right" for field in fields}
        lesson.go(lesson.page.url)
        lesson.run_cell(place)
        for field in fields:
            expect(field.said).to_contain_text(re.compile("You answered.*: right", re.S))


@pytest.mark.night
def test_a_guess_comes_back_and_an_exercise_is_solved(started):
    with opened(started, "03") as (lesson, _, _):
        lesson.run_all()
        assert lesson.problems() == []
        assert set(lesson.asked) <= {lab.BADGE}

        guess = lesson.cell(lesson.place('ask("width"'))
        keep = guess.get_by_role("button", name="Keep my guess")
        keep.click()
        expect(guess.get_by_role("status")).to_have_text("Choose or type an answer first.")
        guess.get_by_label("In times:").fill("12.5")
        keep.click()
        expect(guess.get_by_role("status")).to_contain_text("Kept.")
        reveal = lesson.place('reveal("width"')
        lesson.run_cell(reveal)
        expect(lesson.cell(reveal)).to_contain_text("You guessed 12.5 times; what came out:")

        exercise = lesson.cell(lesson.place("def my_a(device)"))
        expect(exercise).to_contain_text("Not yet.")
        exercise.locator(".cm-line", has_text="raise NotImplementedError").click()
        for keys in ("End", "Shift+Home"):
            lesson.page.keyboard.press(keys)
        lesson.page.keyboard.type(SOLUTION)  # the editor indents each new line by itself
        lesson.page.keyboard.press("Shift+Enter")
        expect(exercise.locator(".jp-OutputArea")).to_contain_text("Right.")


@pytest.mark.night
def test_the_player_shows_every_frame_and_plays_and_pauses(started):
    with opened(started, "06") as (lesson, _, _):
        lesson.run_all()
        assert lesson.problems() == []
        player = lesson.cell(lesson.place("ah.course.unit_animation"))

        def after(name):
            player.get_by_role("button", name=name, exact=True).press("Enter")
            lesson.page.wait_for_timeout(1500)
            return player.locator(".animation img").get_attribute("src")

        after("Pause")
        frames = [after("First frame"), *(after("Next frame") for _ in range(10))]
        assert len({*frames}) == 11
        assert after("Previous frame") == frames[-2]
        assert after("Play") != after("First frame")


@pytest.mark.night
@pytest.mark.parametrize("number", [number for number in LESSONS if number not in WHOLE])
def test_a_lesson_opens_and_its_forms_are_there_and_a_question_is_answered(started, number):
    with opened(started, number) as (lesson, quiz, fields):
        sources = ["".join(cell["source"]) for cell in lesson.cells]
        guesses = [place for place, text in enumerate(sources) if text.startswith("lesson.ask(")]
        for place in (lesson.place("# @title Setup"), *guesses, quiz):
            lesson.run_cell(place)
        for place in guesses:
            expect(lesson.cell(place).get_by_role("button", name="Keep my guess")).to_be_visible()
        assert lesson.problems() == []
        one = next(field for field in fields if field.question.kind == "one")
        one.answer(one.wrong())
        expect(one.feedback(one.wrong())).to_be_visible()
        one.answer(one.question.right)
        expect(one.feedback(one.question.right)).to_be_visible()


@pytest.mark.night
def test_all_kinds_of_questions_and_a_paper_are_answered_and_nothing_is_cut_off(started, tmp_path):
    bank = sorted(questions.bank().values(), key=lambda question: not question.expected)
    kinds = [next(question for question in bank if question.kind == kind) for kind in questions.HOW]
    names = ", ".join(repr(question.id) for question in kinds)
    calls = (f"ah.course.show_quiz({names})", "ah.course.draw_exam(1)")
    cells = [new_code_cell(source) for source in ("import accel_helpers as ah", *calls)]
    path = tmp_path / "forms.ipynb"
    nbformat.write(new_notebook(cells=cells, metadata={"kernelspec": KERNEL}), path)
    with started.open(path) as lesson:
        lesson.run_all()
        _, quiz, paper = (lesson.cell(place) for place in range(3))
        for field in quiz_page.fields(quiz, kinds):
            field.answer(field.question.right)
            expect(field.said).to_contain_text("✓ Right")
        for folded in quiz.locator("summary").all():
            folded.click()
        for field in quiz_page.fields(paper, exam.draw_exam(1).questions):
            if field.question.kind == "one":
                field.option(field.question.right).check()
        paper.get_by_role("button", name="Hand in the paper").click()
        expect(paper.get_by_role("status").last).to_contain_text("14 of 20 are needed")
        assert axe.violations_in_the_lab(lesson.page) == []
        lesson.page.set_viewport_size({"width": 700, "height": 1000})
        lesson.page.wait_for_timeout(300)
        assert quiz.evaluate(CUT_OFF) == []
        assert paper.evaluate(CUT_OFF) == []
