"""What a learner does with the quiz of lesson 00 in JupyterLab: by mouse, by keys, and later."""

import json
from pathlib import Path

import axe
import lab
import psutil
import pytest
import quiz_page
from playwright.sync_api import expect

pytestmark = [pytest.mark.browser, pytest.mark.timeout(180)]
LESSON = Path(__file__).resolve().parents[2] / "notebooks" / "00_start_here.ipynb"
CALL = 'ah.quiz.show("00")'


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("quiz")


@pytest.fixture(scope="module")
def unrun(folder):
    """Open lesson 00 in JupyterLab, and run nothing yet."""
    lab.need_browser()
    with lab.opened(LESSON, folder, lab.small(folder)) as lesson:
        yield quiz_page.QuizPage(lesson, CALL, quiz_page.of_lesson("00"))


@pytest.fixture(scope="module")
def form(unrun):
    """Run all of the lesson."""
    unrun.lesson.run_all()
    return unrun


def questions(form, kind):
    return [(n, q) for n, q in enumerate(form.questions, 1) if q.kind == kind]


def test_before_anything_runs_the_answers_are_folded_away(unrun):
    details = unrun.output.locator("details")
    assert details.count() == len(unrun.questions)
    for number, question in enumerate(unrun.questions, 1):
        expect(unrun.output).to_contain_text(quiz_page.plain(question.stem))
        folded = details.nth(number - 1)
        assert folded.get_attribute("open") is None
        hidden = folded.get_by_text(quiz_page.plain(question.options[0].feedback))
        expect(hidden).not_to_be_visible()


def test_before_anything_runs_an_answer_is_unfolded_with_the_keyboard(unrun):
    folded = unrun.output.locator("details").first
    folded.locator("summary").focus()
    unrun.lesson.page.keyboard.press("Enter")
    shown = folded.get_by_text(quiz_page.plain(unrun.questions[0].options[0].feedback))
    expect(shown).to_be_visible()


@pytest.mark.slow
def test_the_lesson_and_its_quiz_break_no_rule_of_accessibility_before_the_run(unrun):
    assert axe.violations_in_the_lab(unrun.lesson.page) == []


def test_the_lesson_runs_and_shows_no_error(form):
    assert form.lesson.errors() == []
    assert form.lesson.page.locator(".jp-Dialog").count() == 0, "nothing stands over the page"
    assert "Not answered yet." in form.said(1).inner_text()


def test_without_an_answer_the_form_asks_for_one(form):
    for number, _ in enumerate(form.questions, 1):
        form.button(number).click()
        expect(form.said(number)).to_contain_text("no answer yet", ignore_case=True)


def test_a_choice_by_mouse_shows_why_it_is_wrong_and_then_why_another_is_right(form):
    number, question = questions(form, "one")[0]
    letter, why = quiz_page.slip(question)
    form.answer(number, letter)
    expect(form.said(number)).to_contain_text("Not right.")
    expect(form.feedback(number, why)).to_be_visible()
    (right,) = (option for option in question.options if option.correct)
    form.answer(number, right.letter)
    expect(form.said(number)).to_contain_text("✓ Right.")
    expect(form.feedback(number, right.feedback)).to_be_visible()


def test_a_number_is_typed_and_a_known_mistake_is_explained(form):
    number, question = questions(form, "number")[0]
    value, why = quiz_page.slip(question)
    form.answer(number, value)
    expect(form.feedback(number, why)).to_be_visible()
    form.answer(number, "a word")
    expect(form.said(number)).to_contain_text("a number", ignore_case=True)
    form.answer(number, quiz_page.solution(question))
    expect(form.said(number)).to_contain_text("✓ Right.")


def test_the_keyboard_alone_is_enough(form):
    number, question = questions(form, "one")[-1]
    lesson, press = form.lesson, form.lesson.page.keyboard.press
    lesson.run_cell(form.place, "Control+Enter")  # a fresh form; no mouse from here on
    wrong, why = quiz_page.slip(question)
    # Not the arrow keys: JupyterLab keeps those for itself, to go from cell to cell.
    lesson.tab_to(form.control(number, wrong))
    press("Space")
    expect(form.control(number, wrong)).to_be_checked()
    lesson.tab_to(form.button(number))
    press("Enter")
    expect(form.feedback(number, why)).to_be_visible()
    lesson.tab_to(form.said(number).locator("summary"))  # "Give up"
    press("Enter")
    expect(form.said(number).get_by_text("(✓ right)")).to_be_visible()
    lesson.tab_to(form.control(number, question.letters()), "Shift+Tab")
    press("Space")
    lesson.tab_to(form.button(number))
    press("Space")
    expect(form.said(number)).to_contain_text("✓ Right.")


def test_an_answered_quiz_breaks_no_rule_of_accessibility(form):
    assert axe.violations_in_the_lab(form.lesson.page) == []


def test_every_answer_is_in_the_file_on_the_disk(form, folder):
    kept = json.loads((folder / "course_progress.json").read_text("utf-8"))["answers"]
    assert {name: answer["verdict"] for name, answer in kept.items()} == {
        question.id: "right" for question in form.questions
    }


def test_after_a_reload_of_the_page_the_answers_are_found(form):
    form.lesson.go()
    form.lesson.run_cell(form.place)
    found_again(form)


def test_after_the_kernel_was_killed_the_answers_are_found(form):
    kernel = form.lesson.kernel()["id"]
    for process in psutil.process_iter(["cmdline"]):
        if any(kernel in part for part in process.info["cmdline"] or ()):
            process.kill()
    dialog = form.lesson.page.locator(".jp-Dialog", has_text="Kernel Restarting")
    dialog.get_by_role("button", name="Ok").click(timeout=30_000)
    form.lesson.run_all()
    found_again(form)


def found_again(form):
    for number, question in enumerate(form.questions, 1):
        expect(form.said(number)).to_contain_text("You answered")
        expect(form.said(number)).to_contain_text(": right.")
        assert form.said(number).inner_text().count("Not answered") == 0
        assert question.kind in ("one", "number")
