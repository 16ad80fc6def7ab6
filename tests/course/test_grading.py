"""An answer gets its grade; what is no answer gets a sentence."""

import tomllib
from pathlib import Path

import numpy
import pytest

from accel_helpers.course import grading, questions, quiz, quiz_widget

TOLD = tomllib.loads(Path(__file__).with_name("grading.toml").read_text("utf-8"))
# Whether the material takes an answer of a verdict.
MARKS = {"right": True, "as the material": True, "right today": False, "wrong": False}


def made(kind, right, texts, **fields):
    """A question with such options: texts, or numbers."""
    options = {}
    for letter, text in zip("abcd", texts, strict=False):
        value = text if kind == "number" else None
        options[letter] = questions.Option(str(text), f"about {text}", value)
    return questions.Question("03/x", "03", "S?", options, right, ["s"], kind, **fields)


QUESTIONS = {name: made(**fields) for name, fields in TOLD["questions"].items()}


def test_an_answer_gets_its_grade_and_feedback_on_what_was_chosen():
    for name, answer, verdict, told in TOLD["answers"]:
        question = QUESTIONS[name]
        got = grading.grade(question, answer)
        assert got.verdict == verdict, (name, answer)
        assert told in " ".join(got.feedback), (name, answer)
        assert got.as_material == MARKS[verdict], (name, answer)
    differs = str(grading.grade(QUESTIONS["differs"], "b"))
    assert "True today" in differs


def test_a_number_that_was_computed_is_an_answer():
    assert grading.grade(QUESTIONS["number"], numpy.float32(1.6)).verdict == "right"


def test_what_is_no_answer_gets_a_sentence():
    for name, answer in TOLD["no_answers"]:
        with pytest.raises(ValueError, match=str(answer)):
            grading.grade(QUESTIONS[name], answer)
    with pytest.raises(ValueError, match="times") as error:
        grading.grade(QUESTIONS["number"], "x" * 1_000_000)
    assert len(str(error.value)) < 200


def test_hostile_texts_stay_texts():
    evil = '<img src=x onerror="alert(1)">\'"&`<b>`<script>x</script>'
    fields = {**TOLD["questions"]["differs"], "texts": [evil, "b"], "today": evil}
    question = made(**fields)
    pages = [quiz.Quiz((question,))._repr_html_(), grading.grade(question, "a")._repr_html_()]
    pages += [part.get_state() for part in quiz_widget.Field(question, 1).box.children]
    for tag in ("<img", "<script", "<b>"):
        assert tag not in str(pages)
