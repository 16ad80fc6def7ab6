"""An answer gets its grade; what is no answer gets a sentence."""

import numpy
import pytest

from accel_helpers.course import grading, questions, quiz, quiz_widget


def made(kind, right, *texts, **fields):
    """A question with such options: texts, or numbers."""
    options = {}
    for letter, text in zip("abcd", texts, strict=False):
        value = text if kind == "number" else None
        options[letter] = questions.Option(str(text), f"about {text}", value)
    return questions.Question("03/x", "03", "S?", options, right, ["s"], kind, **fields)


EXAM = {"exam": ["E3"], "material": "that", "label": "reported second-hand", "today": "this"}
ONE = made("one", "a", "this", "that", "third")
DIFFERS = made("one", "a", "this", "that", "third", expected="b", **EXAM)
SEVERAL = made("several", "ac", "this", "that", "third")
NUMBER = made("number", "a", 1.6, 38, 0.62, unit="times", tolerance=0.05)
CLOSE = made("number", "a", 10, 11, tolerance=0.1)
ORDER = made("order", "cda", "third", "never", "first", "second")
OLD_ORDER = made("order", "cda", "third", "never", "first", "second", expected="cab", **EXAM)
CASES = [
    (ONE, "a", "right", "about this"),
    (ONE, " B ", "wrong", "about that"),
    (DIFFERS, "a", "right", "about this"),
    (DIFFERS, "b", "as the material", "about that"),
    (DIFFERS, "c", "wrong", "about third"),
    (SEVERAL, "C, a", "right", "a) about this c) about third"),
    (SEVERAL, "a", "wrong", "a) about this You have 1 of the 2"),
    (SEVERAL, "abc", "wrong", "You have 2 of the 2"),
    (NUMBER, "1.65 times", "right", "about 1.6"),
    (NUMBER, "1,6", "right", "about 1.6"),
    (NUMBER, numpy.float32(1.6), "right", "about 1.6"),
    (NUMBER, 38.5, "wrong", "about 38"),
    (NUMBER, 5, "wrong", "too high"),
    (NUMBER, 1.4, "wrong", "too low"),
    (CLOSE, 10.4, "right", "about 10"),
    (CLOSE, 10.6, "wrong", "about 11"),
    (ORDER, "cda", "right", "c) about first d) about second a) about third"),
    (ORDER, "cad", "wrong", "a) does not come as step 2"),
    (ORDER, "cdab", "wrong", "b) does not belong there. about never"),
    (ORDER, "cd", "wrong", "1 more"),
    (OLD_ORDER, "cda", "right", "about second"),
    (OLD_ORDER, "cab", "as the material", "about third"),
]


@pytest.mark.parametrize(("question", "answer", "verdict", "told"), CASES)
def test_an_answer_gets_its_grade_and_feedback_on_what_was_chosen(question, answer, verdict, told):
    got = grading.grade(question, answer)
    marks = {"right": not question.expected, "as the material": True, "wrong": False}
    assert got.verdict == verdict
    assert bool(got) == (verdict == "right")
    assert got.as_material == marks[verdict]
    assert told in " ".join(got.feedback)
    assert ("True today" in str(got)) == (verdict != "wrong" and bool(question.expected))


NO_ANSWERS = [
    (ONE, "d", "'d'"),
    (ONE, "ab", "'ab'"),
    (SEVERAL, ["a", "c"], "a to c"),
    (NUMBER, "1,600", "'1,600'"),
    (NUMBER, True, "True"),
    (NUMBER, "x" * 1_000_000, "times"),
]


@pytest.mark.parametrize(("question", "answer", "named"), NO_ANSWERS)
def test_what_is_no_answer_gets_a_sentence(question, answer, named):
    with pytest.raises(ValueError, match=named) as error:
        grading.grade(question, answer)
    assert len(str(error.value)) < 200


def test_hostile_texts_stay_texts():
    evil = '<img src=x onerror="alert(1)">\'"&`<b>`'
    question = made("one", "a", evil, '"><script>x</script>', **{**EXAM, "today": evil})
    pages = [quiz.Quiz((question,))._repr_html_(), grading.grade(question, "a")._repr_html_()]
    pages += [part.get_state() for part in quiz_widget.Field(question, 1).box.children]
    for tag in ("<img", "<script", "<b>"):
        assert tag not in str(pages)
