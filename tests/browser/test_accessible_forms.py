"""The forms of all kinds of questions and of the practice exam, in JupyterLab: open to all.

Lesson 00 with its quiz is looked at in `test_quiz_in_lab.py`.
"""

import axe
import lab
import pytest
import quiz_page
from playwright.sync_api import expect

from accel_helpers.learn import exam, questions, quiz
from accel_helpers.learn.questions import KINDS

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.timeout(180)]


def one_of_each_kind():
    """Give a question of each kind; where there is one, with two answers that differ."""
    bank = sorted(questions.bank().values(), key=lambda question: not question.differs)
    return [next(question for question in bank if question.kind == kind) for kind in KINDS]


@pytest.fixture(scope="module")
def forms(tmp_path_factory):
    """Open a notebook with a question of each kind and a practice exam, and run it."""
    lab.need_browser()
    folder = tmp_path_factory.mktemp("forms")
    names = [question.id for question in one_of_each_kind()]
    calls = [f"ah.quiz.show({', '.join(map(repr, names))})", "ah.exam.draw(1)"]
    cells = [quiz_page.stored(calls[0], quiz.show(*names))]
    cells.append(quiz_page.stored(calls[1], exam.draw(1)))
    made = quiz_page.notebook(folder / "forms.ipynb", cells)
    with lab.opened(made, folder, lab.small(folder)) as lesson:
        lesson.run_all()
        yield (
            quiz_page.QuizPage(lesson, calls[0], one_of_each_kind()),
            quiz_page.QuizPage(lesson, calls[1], exam.draw(1).questions),
        )


def fits(form):
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


def test_every_kind_of_question_is_answered_and_breaks_no_rule(forms):
    form, _ = forms
    page = form.lesson.page
    assert axe.violations_in_the_lab(page) == []
    for number, _ in enumerate(form.questions, 1):
        form.button(number).click()
        expect(form.said(number)).to_contain_text("no answer yet", ignore_case=True)
    for number, question in enumerate(form.questions, 1):
        form.answer(number, quiz_page.solution(question))
        verdict = "Not measured yet." if question.kind == "measured" else "✓ Right"
        expect(form.said(number)).to_contain_text(verdict)
    for folded in form.output.locator("summary").all():
        folded.click()
    assert axe.violations_in_the_lab(page) == []


def test_a_practice_exam_is_handed_in_and_breaks_no_rule(forms):
    _, form = forms
    page = form.lesson.page
    hand_in = form.output.get_by_role("button", name="Hand in the paper")
    for number, question in enumerate(form.questions, 1):
        if question.kind == "one":
            form.control(number, quiz_page.solution(question)).click()
    expect(form.output.get_by_role("status").last).to_have_text("")
    hand_in.click()
    expect(form.output.get_by_role("status").last).to_contain_text("14 of 20 are needed")
    choices = [question.kind for question in form.questions].index("one") + 1
    expect(form.said(choices)).to_contain_text("✓ Right")
    assert axe.violations_in_the_lab(page) == []


@pytest.mark.parametrize("width", [1280, 700])
def test_no_text_of_a_form_is_cut_off(forms, width):
    page = forms[0].lesson.page
    page.set_viewport_size({"width": width, "height": 1000})
    page.wait_for_timeout(300)
    for form in forms:
        assert fits(form) == []
