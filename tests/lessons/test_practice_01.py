"""The checks of lesson 01: the right answer passes, and each wrong one hears what is wrong."""

from itertools import permutations

import pytest

from accel_helpers.lessons import check
from accel_helpers.lessons import lesson_01 as practice_01
from accel_helpers.machine.doctor import diagnose

RIGHT = dict(practice_01.FATE)


@pytest.mark.parametrize("answer", [["F", "C", "B", "A", "E"], "FCBAE", ("c", "f", "b", "a", "e")])
def test_the_right_order_passes(answer):
    result = check("01/steps", answer)
    assert result.ok and not result.hint


def test_no_other_order_of_the_five_passes():
    passed = {"".join(p) for p in permutations("ABCEF") if check("01/steps", list(p)).ok}
    assert passed == {"FCBAE", "CFBAE"}  # a download while the menu is open loses nothing


@pytest.mark.parametrize(
    ("answer", "message", "hint"),
    [
        ([], "still empty", "first"),
        (..., "still empty", "first"),
        (["F", "C", "D", "B", "A", "E"], "does not belong", "as it is"),
        (["C", "B", "A", "E"], "1 of 5 steps", "What must come first"),
        (["F", "C", "B", "E"], "1 of 5 steps", "library"),
        (["F", "C", "B", "A"], "1 of 5 steps", "got what you asked for"),
        (["F"], "4 of 5 steps", "Where is the GPU chosen"),
        (["C", "B", "F", "A", "E"], "nothing left to download", "on the old one"),
        (["F", "B", "C", "A", "E"], "inside that menu", "First the place"),
        (["A", "F", "C", "B", "E"], "which you then give back", "Which one"),
        (["F", "C", "B", "E", "A"], "NameError", "Which step brings it"),
        (["E", "F", "C", "B", "A"], "shows the old machine", "after you were given"),
        (["F", "C", "E", "B", "A"], "shows the old machine", "after you were given"),
        (["F", "F", "C"], "comes twice", "once"),
        (["F", "Z"], "'Z' is not one", "A to F"),
        (["F", 3], "3 is not one", "A to F"),
        (7, "A list of letters", "the text"),
    ],
)
def test_every_wrong_order_hears_what_is_wrong_with_it(answer, message, hint):
    result = check("01/steps", answer)
    assert not result.ok and message in result.message and hint in result.hint


def test_the_right_fates_pass():
    assert check("01/old", RIGHT).ok


@pytest.mark.parametrize("letter", RIGHT)
def test_each_wrong_fate_has_words_of_its_own(letter):
    wrong = [check("01/old", RIGHT | {letter: fate}) for fate in practice_01.FATES]
    wrong = [result for result in wrong if not result.ok]
    assert len(wrong) == 2
    for result in wrong:
        assert result.message.startswith(f"5 of 6 are right. {letter}: ") and result.hint
    assert len({result.message for result in wrong}) == 2


@pytest.mark.parametrize(
    ("answer", "message", "hint"),
    [
        (dict.fromkeys("ABCDEF", ...), "Fill in all six", "does nothing"),
        ({"A": "fails"}, "Fill in all six", "does nothing"),
        (RIGHT | {"A": "breaks"}, "'breaks' is not a choice", "fails"),
        (dict.fromkeys("ABCDEF", "fails"), "3 of 6", "An empty text is an answer"),
        (["fails"] * 6, "A dictionary is needed", "Such as"),
    ],
)
def test_what_is_no_answer_hears_what_is_needed(answer, message, hint):
    result = check("01/old", answer)
    assert not result.ok and message in result.message
    assert hint in result.hint + result.message


def test_a_step_and_its_fate_have_the_same_letter():
    assert set(practice_01.OLD_STEPS) == set(RIGHT) and set(practice_01.STEPS) == set("ABCDEF")
    assert set(practice_01.ORDER) == set(practice_01.STEPS) - {"D"}
    for letter, text in (("A", "COLAB_TPU_ADDR"), ("B", "pip install"), ("C", "Session")):
        assert text in practice_01.OLD_STEPS[letter] and RIGHT[letter] == "fails"


@pytest.mark.parametrize(
    "text",
    [practice_01.PIP_SAYS, practice_01.SESSION_SAYS, "KeyError: 'COLAB_TPU_ADDR'"],
)
def test_the_doctor_knows_each_failure_that_the_lesson_shows(text):
    assert len(diagnose(text).findings) == 1


def test_todays_tpu_settings_have_no_address():
    assert "COLAB_TPU_ADDR" not in practice_01.TPU_ENVIRONMENT
