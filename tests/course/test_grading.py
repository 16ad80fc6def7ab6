"""An answer gets its grade; what is no answer gets a sentence."""

import numpy
import pytest

from accel_helpers.course import grading, questions, quiz, quiz_widget


def made(kind, right, *options, **fields):
    fields = {"id": "03/x", "lesson": "03", "stem": "S?", "source": ["s"], "kind": kind, **fields}
    fields |= {"right": right, "options": dict(zip("abcdefgh", options, strict=False))}
    return questions.Question(**fields)


def option(text, **more):
    return questions.Option(text, f"about {text}", **more)


EXAM = {"exam": ["E3"], "material": "that", "label": "reported second-hand", "today": "this"}
THREE = option("this"), option("that"), option("third")
ONE = made("one", "a", *THREE)
DIFFERS = made("one", "a", *THREE, expected="b", **EXAM)
SEVERAL = made("several", "ac", option("p"), option("q"), option("r"))
TIMES = {"unit": "times", "tolerance": 0.05}
WORKED = [option("1.6", value=1.6), option("38", value=38), option("0.6", value=0.62)]
NUMBER = made("number", "a", *WORKED, **TIMES)
STEPS = option("third"), option("never"), option("first"), option("second")
ORDER = made("order", "cda", *STEPS)
OLD_ORDER = made("order", "cda", *STEPS, expected="cab", **EXAM)


@pytest.mark.parametrize(
    ("question", "answer", "verdict", "as_material", "feedback"),
    [
        (ONE, "a", "right", True, ["this"]),
        (ONE, " B ", "wrong", False, ["that"]),
        (DIFFERS, "a", "right", False, ["this"]),
        (DIFFERS, "b", "as the material", True, ["that"]),
        (DIFFERS, "c", "wrong", False, ["third"]),
        (SEVERAL, "ca", "right", True, ["a) about p", "c) about r"]),
        (SEVERAL, "a, b", "wrong", False, ["a)", "b)", "1 of the 2"]),
        (NUMBER, 1.6, "right", True, ["1.6"]),
        (NUMBER, "1.65 times", "right", True, ["1.6"]),
        (NUMBER, "1,6", "right", True, ["1.6"]),
        (NUMBER, numpy.float32(1.6), "right", True, ["1.6"]),
        (NUMBER, 5, "wrong", False, ["too high"]),
        (ORDER, "cda", "right", True, ["c)", "d)", "a)"]),
        (ORDER, "cad", "wrong", False, ["a) does not come as step 2"]),
        (ORDER, "cdab", "wrong", False, ["b) does not belong there. about never"]),
        (ORDER, "cd", "wrong", False, ["1 more"]),
        (OLD_ORDER, "cda", "right", False, ["c)", "d)", "a)"]),
        (OLD_ORDER, "cab", "as the material", True, ["c)", "a)", "b)"]),
    ],
)
def test_grades(question, answer, verdict, as_material, feedback):
    got = grading.grade(question, answer)
    assert (got.verdict, got.as_material) == (verdict, as_material)
    assert bool(got) == (verdict == "right")
    assert all(wanted in said for wanted, said in zip(feedback, got.feedback, strict=True))


def test_where_tolerances_meet_the_nearer_number_counts():
    question = made("number", "a", option("10", value=10), option("11", value=11), tolerance=0.1)
    assert grading.grade(question, 10.4)
    assert not grading.grade(question, 10.6)


@pytest.mark.parametrize(
    ("question", "answer", "named"),
    [
        (ONE, "d", "'d'"),
        (ONE, "ab", "'ab'"),
        (SEVERAL, ["a", "c"], "a to c"),
        (NUMBER, "1,600", "'1,600'"),
        (NUMBER, True, "True"),
        (NUMBER, "x" * 10_000_000, "(times)"),
    ],
)
def test_what_is_no_answer_gets_a_sentence(question, answer, named):
    with pytest.raises(ValueError) as error:
        grading.grade(question, answer)
    assert named in str(error.value)
    assert len(str(error.value)) < 200


def test_both_answers_are_told_apart_and_not_to_a_wrong_one():
    for answer, beginning in (("a", "✓ Right today."), ("b", "◐ For the exam: yes.")):
        said = str(grading.grade(DIFFERS, answer))
        assert said.startswith(beginning)
        assert "): this" in said
        assert "What the exam's material answers (reported second-hand): that" in said
    for wrong in (grading.grade(DIFFERS, "c"), grading.grade(SEVERAL, "ab")):
        assert not any(told in str(wrong) for told in ("True today", "about r", "about this"))


@pytest.mark.parametrize("name", ["05/saves", "06/more_powerful", "11/energy"])
def test_where_the_material_says_nothing_no_answer_counts_as_its_own(name):
    question = questions.bank()[name]
    verdicts = {grading.grade(question, letter).verdict for letter in question.options}
    assert verdicts == {grading.RIGHT, grading.WRONG}
    assert not question.practice  # a paper would mark it by the material, too


def test_the_cores_that_count_as_the_materials_answer_are_those_that_it_names():
    question = questions.bank()["07/thousands"]
    theirs = question.options[question.by_material].text
    for words in ("smaller cores", "thousands", "compute in parallel"):
        assert words in theirs
        assert words in question.material


def test_hostile_texts_stay_texts():
    evil = '<img src=x onerror="alert(1)">\'"&`<b>`'
    question = made(
        "one",
        "a",
        questions.Option(evil, evil),
        option("that"),
        **{**EXAM, "stem": evil, "material": evil, "today": evil},
        **{"source": [evil, 'https://e.org/"><script>x</script>']},
    )
    pages = [quiz.Quiz((question,))._repr_html_()]
    pages += [grading.grade(question, each)._repr_html_() for each in "ab"]
    box = quiz_widget.Field(question, 1).box
    pages += [str(widget.get_state()) for widget in box.children]
    assert not any(tag in page for page in pages for tag in ("<img", "<script", "<b>"))
