"""Lesson 02: the check of three broken runtimes, which its page shows."""

import importlib.resources
from itertools import product

from accel_helpers._values import records
from accel_helpers.course.word_checks import choices

_PACKAGE = importlib.resources.files("accel_helpers")
_FILE = _PACKAGE / "course" / "data" / "detective.toml"
_MATERIAL = records.load(_FILE, "material of lesson 02")
# The number of a broken runtime, from 1 -> its table in the file.
CASES = dict(enumerate(_MATERIAL["case"], 1))
# The letter of a cure -> its "text", and in "not_here" why it does not cure the other cases.
CURES = _MATERIAL["cures"]
# What may be true of an accelerator, to be checked in this order: the first that is not decides.
FACTS = ("attached", "visible", "placed", "faster")

_RIGHT = {number: (case["fact"], case["cure"]) for number, case in CASES.items()}


def _mistake(case: dict, fact: str, cure: str) -> tuple[str, str]:
    """Return the sentence and the hint for a wrong answer to a case.

    `case` is one of `CASES`; the answer is a `fact` of `FACTS` and the letter of a `cure`.
    """
    hint = case["clue"]
    if fact == case["fact"]:
        reason = CURES[cure]["not_here"]
        return f"the fact is right. {reason}", hint
    place = FACTS.index(fact)
    right_place = FACTS.index(case["fact"])
    if place < right_place:
        return f'"{fact}" holds there: the case shows it. Go further down the list.', hint
    return f'before "{fact}" something else fails already. The first no decides.', hint


def _mistakes() -> dict:
    """Return (sentence, hint) for every wrong answer to every case.

    A key is (number of the case, (fact, letter of the cure)).
    """
    mistakes = {}
    for number, case in CASES.items():
        for fact, cure in product(FACTS, CURES):
            answer = (fact, cure)
            if answer != _RIGHT[number]:
                mistakes[number, answer] = _mistake(case, fact, cure)
    return mistakes


CHECKS = {
    "02/detective": choices(
        _RIGHT,
        (FACTS, tuple(CURES)),
        _mistakes(),
        done="All three solved, with the cure of each.",
        empty="The three cases are still empty.",
        hint='Such as {1: ("placed", "D"), 2: ("faster", "F"), 3: ...}',
        item="Case {}",
    )
}
