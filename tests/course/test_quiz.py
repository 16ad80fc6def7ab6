"""A quiz is live where there are widgets, a folded page where not, and answered by a call."""

import re
import subprocess
import sys

import known
import pytest

from accel_helpers.course import questions, quiz, quiz_widget

BANK = questions.bank()
LESSONS = sorted({q.lesson for q in BANK.values()})
VIEW = quiz_widget.VIEW


def of_kind(kind):
    return next(q for q in BANK.values() if q.kind == kind)


def test_questions_are_chosen_by_lesson_by_name_and_by_exam_question():
    assert {(q.lesson, q.quiz) for q in quiz.show_quiz("03").questions} == {("03", True)}
    further = quiz.show_quiz("E11", "E12", "E13", "E14")
    assert {n for q in further.questions for n in q.exam} == {"E11", "E12", "E13", "E14"}
    assert str(further).count("Further question, not of this exam.") == len(further.questions)
    assert all("E3" in q.exam for q in quiz.show_quiz("E3").questions)
    name = next(iter(BANK))
    assert quiz.show_quiz(name, name).questions == (BANK[name],)


@pytest.mark.parametrize("name", ["99", "03/none", "", None, 3, "<b>", 10**5000], ids=type)
def test_what_is_no_question_is_named_with_what_there_is(name):
    with pytest.raises(ValueError, match="03/speed_up"):
        quiz.show_quiz(name)


@pytest.mark.parametrize("lesson", LESSONS)
def test_the_static_page_holds_everything_and_folds_the_answers(lesson, own_record):
    shown = quiz.show_quiz(lesson)
    page = shown._repr_html_()
    assert "<script" not in page
    assert "<style" not in page
    open_part = re.sub(r"<details>.*?</details>", "", page, flags=re.S)
    for question in shown.questions:
        assert question.options["a"].feedback[:20].split("`")[0] not in open_part
        for text in (open_part, str(shown)):
            assert question.id in text
    assert page.count("<details>") == page.count("</details>") == len(shown.questions)
    quiz.answer(shown.questions[0].id, known.right(shown.questions[0]))
    assert shown._repr_html_() == page  # whatever was answered


def test_a_call_answers_and_is_kept(own_record):
    for kind in ("one", "several", "number", "order"):
        question = of_kind(kind)
        assert not quiz.answer(question.id, known.wrong(question))
        assert [q.id for q in quiz.ask_again().questions] == [question.id]
        assert quiz.answer(question.id, known.right(question))
        assert quiz.ask_again().questions == ()
        kept = quiz.answers()[question]
        assert (kept.outcome, kept.given) == ("right", str(known.right(question)))


def test_the_overview_counts_the_right_answers_of_a_lesson():
    for question in quiz.show_quiz("00").questions:
        quiz.answer(question.id, known.right(question))
    count = len(quiz.show_quiz("00").questions)
    assert f"lesson 00 {count} of {count}" in quiz.overview()


def test_a_file_that_cannot_be_written_is_said_and_the_answer_is_graded(own_record):
    own_record.write_text("no progress")
    graded = quiz.answer("00/overlap", "c")
    assert graded
    assert "Not saved" in str(graded)
    assert own_record.read_text() == "no progress"
    assert "answered c" in parts(quiz.show_quiz("00/overlap").form())[2].value


def parts(box):
    """A question's inputs, its button and its status."""
    _, *inputs, button, status = box.children[1].children
    return inputs, button, status


@pytest.mark.parametrize("kind", questions.HOW)
def test_the_live_form_answers_with_feedback(kind, own_record):
    question = of_kind(kind)
    box = quiz.show_quiz(question.id).form()
    inputs, button, status = parts(box)
    assert "Not answered yet" in status.value
    assert 'role="status"' in status.value
    button.click()
    assert "No answer yet" in status.value
    assert not own_record.exists()
    put(kind, inputs, known.wrong(question))
    button.click()
    assert "✗" in status.value
    put(kind, inputs, known.right(question))
    assert "Not checked yet" in status.value
    button.click()
    assert "✓" in status.value
    assert "<details>" in status.value
    again = quiz.show_quiz(question.id).form()
    assert "You answered" in parts(again)[2].value


def put(kind, inputs, answer):
    if kind == "one":
        inputs[0].value = answer
    elif kind == "several":
        for letter, box in zip("abcdefgh", inputs, strict=False):
            box.value = letter in answer
    else:
        inputs[-1].value = str(answer)


def test_where_nothing_was_wrong_the_page_says_so_and_asks_for_no_answer(own_record):
    shown = quiz.ask_again()
    for said in (str(shown), shown._repr_html_()):
        assert "Nothing to repeat" in said
        assert "Run this cell" not in said


def test_colab_gets_one_form_and_everybody_else_both(monkeypatch):
    shown, empty = quiz.show_quiz("00"), quiz.ask_again()
    assert set(shown._repr_mimebundle_()) == {"text/plain", "text/html", VIEW}
    monkeypatch.setitem(sys.modules, "google.colab", None)
    assert set(shown._repr_mimebundle_()) == {"text/plain", VIEW}
    assert set(empty._repr_mimebundle_()) == {"text/plain", "text/html"}


def test_without_widgets_it_prints_and_is_answered_by_a_call(own_record):
    code = """
import sys
sys.modules["ipywidgets"] = None
import accel_helpers as ah
asked = ah.course.lesson("03").ask("width")
for shown in (ah.course.show_quiz("00"), ah.course.draw_exam(1), asked):
    assert set(shown._repr_mimebundle_()) == {"text/plain", "text/html"}
print(ah.course.answer("00/overlap", "c"))
"""
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert said.returncode == 0, said.stderr
    assert "Right." in said.stdout
    assert own_record.exists()
