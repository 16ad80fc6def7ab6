"""The check of lesson 00: what can be told apart is told apart, and each slip hears its reason."""

from itertools import product

import pytest

from accel_helpers.lessons import check
from accel_helpers.lessons.lesson_00 import PAIRS, VERDICTS

NONE = "no measurable difference"
RIGHT = {"A": "faster", "B": NONE, "C": "slower", "D": NONE}


def test_of_all_answers_only_one_passes():
    passed = [
        dict(zip(PAIRS, said, strict=True))
        for said in product(VERDICTS, repeat=len(PAIRS))
        if check("00/told_apart", dict(zip(PAIRS, said, strict=True))).ok
    ]
    assert passed == [RIGHT]
    assert not check("00/told_apart", RIGHT).hint


@pytest.mark.parametrize("letter", PAIRS)
def test_each_wrong_word_has_a_reason_of_its_own(letter):
    wrong = [check("00/told_apart", RIGHT | {letter: said}) for said in VERDICTS]
    wrong = [result for result in wrong if not result.ok]
    assert len({result.message for result in wrong}) == 2
    for result in wrong:
        assert result.message.startswith(f"3 of 4 are right. {letter}: ") and result.hint


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (dict.fromkeys("ABCD", ...), "The four answers are still empty"),
        ({}, "The four answers are still empty"),
        ({"A": "faster", "C": " "}, "Still empty: B, C, D"),
        (RIGHT | {"B": "the same"}, "B is 'the same', and that is not a choice"),
        (RIGHT | {"B": ["faster"]}, "B is ['faster'], and that is not a choice"),
        (
            {"A": "quicker", "B": "", "C": "slower", "D": 7},
            "A is 'quicker', and that is not a choice. D is 7, and that is not a choice. "
            "Still empty: B.",
        ),
        (["faster"] * 4, "A dictionary is needed"),
    ],
)
def test_what_is_no_answer_hears_what_is_needed(answer, words):
    result = check("00/told_apart", answer)
    assert not result.ok and words in result.message and result.hint


def test_the_pairs_show_what_the_lesson_says_of_them():
    """The medians of B, C and D are equally far apart, and their intervals are not."""
    for letter in "BCD":
        old, new = PAIRS[letter]
        apart = max(old.median, new.median) / min(old.median, new.median)
        assert 1.075 < apart < 1.09, letter
    apart = {
        letter: old.interval[1] < new.interval[0] or new.interval[1] < old.interval[0]
        for letter, (old, new) in PAIRS.items()
    }
    assert apart == {letter: RIGHT[letter] != NONE for letter in PAIRS}
    inside, outside = (m.interval for m in PAIRS["D"])
    assert outside[0] < inside[0] and inside[1] < outside[1]
    for m in PAIRS["B"]:
        assert m.interval[0] < 0.0195 < m.interval[1], "the solution names 19.5 ms"
    assert not any(m.warnings for pair in PAIRS.values() for m in pair), "a line for each, no more"
