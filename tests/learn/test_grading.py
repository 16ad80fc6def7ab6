"""An answer gets its grade; what is no answer gets a sentence."""

import math

import numpy
import pytest

from accel_helpers.learn import grading, questions
from accel_helpers.learn.grading import AnswerError
from accel_helpers.measure.results import Card
from accel_helpers.measure.timing import Measurement


def made(kind, options, **fields):
    values = {"id": "03/x", "lesson": "03", "stem": "S?", "source": ["s"], "kind": kind, **fields}
    lines = ["[[question]]", *(f"{key} = {_toml(value)}" for key, value in values.items())]
    for option in options:
        lines += ["[[question.options]]", *(f"{k} = {_toml(v)}" for k, v in option.items())]
    return questions.parse("\n".join(lines), "made.toml")[0]


def _toml(value):
    import json

    return json.dumps(value)


def option(text, correct, **more):
    return {"text": text, "correct": correct, "feedback": f"about {text}", **more}


EXAM = {"exam": ["E3"], "material": "that", "label": questions.LABELS[1], "today": "this"}
ONE = made("one", [option("this", True), option("that", False), option("third", False)])
DIFFERS = made(
    "one",
    [option("this", True), option("that", False, material=True), option("third", False)],
    **EXAM,
)
SEVERAL = made("several", [option("p", True), option("q", False), option("r", True)])
NUMBER = made(
    "number",
    [
        option("1.6", True, value=1.6),
        option("38", False, value=38),
        option("0.6", False, value=0.62),
    ],
    unit="times",
    tolerance=0.05,
)
ORDER = made(
    "order",
    [
        option("third", True, position=3),
        option("never", False),
        option("first", True, position=1),
        option("second", True, position=2),
    ],
)
OLD_ORDER = made(
    "order",
    [
        option("third", True, position=3, material_position=2),
        option("old", False, material_position=3),
        option("first", True, position=1, material_position=1),
        option("second", True, position=2),
    ],
    **EXAM,
)
MEASURED = made(
    "measured",
    [option("close", True), option("too low", False), option("too high", False)],
    measured="03/a",
    over="03/b",
    scale=2,
    unit="times",
    within=1.5,
)


@pytest.mark.parametrize(
    ("question", "answer", "verdict", "as_material", "feedback"),
    [
        (ONE, "a", "right", True, ("about this",)),
        (ONE, " B ", "wrong", False, ("about that",)),
        (DIFFERS, "a", "right", False, ("about this",)),
        (DIFFERS, "b", "as the material", True, ("about that",)),
        (DIFFERS, "c", "wrong", False, ("about third",)),
        (SEVERAL, "ca", "right", True, ("a) about p", "c) about r")),
        (SEVERAL, ["a", "c"], "right", True, ("a) about p", "c) about r")),
        (SEVERAL, {"c", "a"}, "right", True, ("a) about p", "c) about r")),
        (SEVERAL, "a, b", "wrong", False, ("a) about p", "b) about q", "1 of 2: one is missing")),
        (NUMBER, 1.6, "right", True, ("about 1.6",)),
        (NUMBER, "1.65 times", "right", True, ("about 1.6",)),
        (NUMBER, "1,6", "right", True, ("about 1.6",)),
        (NUMBER, "8/5", "right", True, ("about 1.6",)),
        (NUMBER, 38, "wrong", False, ("about 38",)),
        (NUMBER, 5, "wrong", False, ("That is too high.",)),
        (NUMBER, -1e299, "wrong", False, ("That is too low.",)),
        (ORDER, "cda", "right", True, ("c) about first", "d) about second", "a) about third")),
        (
            ORDER,
            "cad",
            "wrong",
            False,
            ("a) does not come as step 2: something else has to happen first.",),
        ),
        (ORDER, "cdab", "wrong", False, ("b) does not belong there. about never",)),
        (ORDER, "cd", "wrong", False, ("So far in order; 1 more to come.",)),
        (OLD_ORDER, "cda", "right", False, ("c)", "d)", "a)")),
        (OLD_ORDER, "cab", "as the material", True, ("c)", "a)", "b)")),
    ],
)
def test_grades(question, answer, verdict, as_material, feedback):
    got = grading.grade(question, answer)
    assert (got.verdict, got.as_material) == (verdict, as_material)
    assert bool(got) == (verdict == "right") and verdict in grading.VERDICTS
    assert len(got.feedback) == len(feedback)
    assert all(wanted in said for wanted, said in zip(feedback, got.feedback, strict=True))


def test_where_tolerances_meet_the_nearer_number_counts():
    question = made(
        "number",
        [option("10", True, value=10), option("11", False, value=11)],
        unit="s",
        tolerance=0.1,
    )
    assert grading.grade(question, 10.4) and not grading.grade(question, 10.6)


def card(**seconds):
    return Card(
        "2026-11-22T00:00:00+00:00",
        "test",
        {},
        {f"03/{k}": Measurement.from_samples([v] * 5) for k, v in seconds.items()},
    )


def test_a_guess_is_graded_against_the_learners_own_card():
    mine = card(a=6.0, b=2.0)
    assert grading.outcome(MEASURED, mine) == 6.0  # twice the ratio
    for guess, verdict, said in [
        (6.5, "right", "about close"),
        (2, "wrong", "about too low"),
        (60, "wrong", "about too high"),
        (-1, "wrong", "about too low"),
        (0, "wrong", "about too low"),
    ]:
        got = grading.grade(MEASURED, guess, card=mine)
        assert (got.verdict, got.feedback) == (verdict, ("You measured 6 times.", said))


@pytest.mark.parametrize("mine", [None, card(), card(a=1.0)])
def test_a_guess_about_nothing_measured_is_kept_open(mine):
    got = grading.grade(MEASURED, 3, card=mine)
    assert got.verdict == "not measured" and "lesson 03" in got.feedback[0] and not got


def test_a_number_of_numpy_is_a_number():
    for value in (numpy.float32(1.6), numpy.float64(1.6)):
        assert grading.grade(NUMBER, value)
    assert grading.grade(NUMBER, numpy.int64(38)).feedback == ("about 38",)


def test_numbers_of_a_card_that_make_no_sense_count_as_not_measured():
    strange = Card("2026-11-22", "x", {}, {}, {"03/a": (1.0,), "03/b": (0.0,)})
    assert grading.outcome(MEASURED, strange) is None
    assert (
        grading.outcome(MEASURED, Card("2026", "x", {}, {}, {"03/a": (), "03/b": (1.0,)})) is None
    )
    assert (
        grading.outcome(MEASURED, Card("2026", "x", {}, {}, {"03/a": (-1.0,), "03/b": (1.0,)}))
        is None
    )


@pytest.mark.parametrize(
    ("question", "answer", "said"),
    [
        (ONE, "", "no answer yet: choose from a to c"),
        (ONE, "d", "the letters go from a to c; got 'd'"),
        (ONE, "ab", "choose one"),
        (ONE, 1, "an answer is a letter from a to c; got 1"),
        (ONE, None, "an answer is a letter"),
        (ONE, "<script>alert(1)</script>", "the letters go from a to c"),
        (SEVERAL, "aa", "a letter stands there twice"),
        (SEVERAL, [], "no answer yet"),
        (ORDER, "cdac", "a letter stands there twice"),
        (NUMBER, "", "no answer yet: a number (times) is needed"),
        (NUMBER, "about two", "a number (times) is needed, such as 1.5 or 3/2; got 'about two'"),
        (NUMBER, "1,600", "a number (times) is needed"),
        (NUMBER, "1/0", "a number (times) is needed"),
        (NUMBER, True, "a number (times) is needed"),
        (NUMBER, math.nan, "a finite number"),
        (NUMBER, 10**400, "a finite number"),
        (MEASURED, "x" * 10_000_000, "a number (times)"),
    ],
)
def test_what_is_no_answer_gets_a_sentence(question, answer, said):
    with pytest.raises(AnswerError) as error:
        grading.grade(question, answer)
    assert said in str(error.value) and len(str(error.value)) < 200


def test_the_right_answer_is_not_told_to_a_wrong_one():
    for wrong in (grading.grade(DIFFERS, "c"), grading.grade(SEVERAL, "ab")):
        text = str(wrong)
        assert text.startswith("Not right.")
        assert "True today" not in text and "about r" not in text and "about this" not in text


def test_both_answers_are_told_apart():
    today, theirs = str(grading.grade(DIFFERS, "a")), str(grading.grade(DIFFERS, "b"))
    assert today.startswith("Right today. The exam's material answers otherwise.")
    assert theirs.startswith("For the exam: yes. Today: no.")
    for text in (today, theirs):
        assert "What the exam's material answers (reported second-hand): that" in text
        assert "True today: this" in text


def test_html_of_hostile_texts_is_text():
    evil = '<img src=x onerror="alert(1)">\'"&`<b>`'
    question = made(
        "one",
        [option(evil, True, feedback=evil), option("that", False)],
        stem=evil,
        **{**EXAM, "material": evil, "today": evil},
        source=[evil, 'https://e.org/"><script>x</script>'],
    )
    from accel_helpers.learn import quiz_form

    for text in (
        quiz_form.question_html(question, 1),
        grading.grade(question, "a")._repr_html_(),
        grading.grade(question, "b")._repr_html_(),
    ):
        assert "<img" not in text and "<script" not in text and "<b>" not in text


def test_a_hostile_unit_is_text():
    question = made(
        "number",
        [option("1", True, value=1), option("2", False, value=2), option("3", False, value=3)],
        unit="<img src=x onerror=alert(1)>",
        tolerance=0.1,
    )
    from accel_helpers.learn import quiz_form, quiz_widget

    assert "<img" not in quiz_form.question_html(question, 1)
    box = quiz_widget.field(question, 1, "").box
    assert not any("<img" in w.value + getattr(w, "description", "") for w in box.children)


class Unprintable:
    def __repr__(self):
        raise RuntimeError


@pytest.mark.parametrize("question", [ONE, SEVERAL, ORDER, NUMBER])
@pytest.mark.parametrize(
    "answer", [10**5000, [10**5000], Unprintable(), [Unprintable()], {1: 2}, b"a"], ids=type
)
def test_no_answer_at_all_ends_in_another_error(question, answer):
    with pytest.raises(AnswerError):
        grading.grade(question, answer)
