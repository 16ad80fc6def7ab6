"""A quiz is live where there are widgets, a folded page where not, and answered by a call."""

import re
import subprocess
import sys
from html import unescape

import known
import pytest

from accel_helpers.course import questions, quiz, record

BANK = questions.bank()
VIEW = "application/vnd.jupyter.widget-view+json"


def test_questions_are_chosen_by_lesson_by_name_and_by_exam_question():
    for question in quiz.show_quiz("03").questions:
        assert question.lesson == "03"
        assert question.quiz
    for question in quiz.show_quiz("E11").questions:
        assert "E11" in question.exam
    (once,) = quiz.show_quiz("03/speed_up", "03/speed_up").questions
    assert once == BANK["03/speed_up"]


def test_what_is_no_question_is_named_with_what_there_is():
    with pytest.raises(ValueError, match="03/speed_up"):
        quiz.show_quiz("03/none")


def test_the_static_page_folds_the_answers_whatever_was_answered():
    shown = quiz.show_quiz(*BANK)
    page = unescape(shown._repr_html_())
    is_open = str(shown) + re.sub(r"<details>.*?</details>", "", page, flags=re.S)
    for question in BANK.values():
        feedback = question.options["a"].feedback[:20].split("`")[0]
        assert feedback in page
        assert feedback not in is_open
        assert question.id in is_open


def live(id):
    """The inputs of a question's form, its button and its status."""
    _, *inputs, button, status = quiz.show_quiz(id).form().children[1].children
    return inputs, button, status


def put(kind, inputs, answer):
    if kind == "several":
        for box in inputs:
            box.value = box.description[0] in answer
    else:
        inputs[0].value = answer if kind == "one" else str(answer)


@pytest.mark.parametrize("kind", questions.HOW)
def test_a_wrong_answer_gets_feedback_and_comes_back_until_it_is_right(kind, own_record):
    question = next(q for q in BANK.values() if q.kind == kind)
    inputs, button, status = live(question.id)
    button.click()
    assert "No answer yet" in status.value
    assert not own_record.exists()
    put(kind, inputs, known.wrong(question))
    button.click()
    assert "✗" in status.value
    assert quiz.ask_again().questions == (question,)
    put(kind, inputs, known.typed(question, question.by_material))
    assert "Not checked yet" in status.value
    button.click()
    assert "Not right" not in status.value
    assert quiz.ask_again().questions == ()
    assert "You answered" in live(question.id)[2].value


def test_answers_of_an_older_course_are_no_trouble():
    record.keep(record.entry("answer/03/long_gone", "wrong", given="a"))
    assert "Nothing to repeat" in str(quiz.ask_again())


def test_colab_gets_one_form_and_everybody_else_both(monkeypatch):
    shown = quiz.show_quiz("00")
    assert {*shown._repr_mimebundle_()} == {"text/plain", "text/html", VIEW}
    monkeypatch.setitem(sys.modules, "google.colab", None)
    assert {*shown._repr_mimebundle_()} == {"text/plain", VIEW}


def test_without_widgets_it_prints_and_is_answered_by_a_call(own_record):
    code = """
import sys
from html import unescape
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
