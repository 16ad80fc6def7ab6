"""Lesson 02: the check of three broken runtimes, which its page shows."""

import importlib.resources
from itertools import product

from accel_helpers._values import records
from accel_helpers.course.word_checks import choices

_FILE = importlib.resources.files("accel_helpers") / "course" / "data" / "detective.toml"
_MATERIAL = records.load(_FILE, "material of lesson 02")
CASES = dict(enumerate(_MATERIAL["case"], 1))
CURES = _MATERIAL["cures"]
FACTS = ("attached", "visible", "placed", "faster")  # in this order: the first no decides


def _mistake(case, fact: str, cure: str) -> tuple[str, str]:
    """Give the sentence and the hint for a wrong answer to a case."""
    hint = case["clue"]
    if fact == case["fact"]:
        return f"the fact is right. {CURES[cure]['not_here']}", hint
    if FACTS.index(fact) < FACTS.index(case["fact"]):
        return f'"{fact}" holds there: the case shows it. Go further down the list.', hint
    return f'before "{fact}" something else fails already. The first no decides.', hint


def _mistakes() -> dict:
    """Give the sentence and the hint for every wrong answer to every case."""
    mistakes = {}
    for number, case in CASES.items():
        right = (case["fact"], case["cure"])
        for fact, cure in product(FACTS, CURES):
            if (fact, cure) != right:
                mistakes[number, (fact, cure)] = _mistake(case, fact, cure)
    return mistakes


CHECKS = {
    "02/detective": choices(
        {number: (case["fact"], case["cure"]) for number, case in CASES.items()},
        (FACTS, tuple(CURES)),
        _mistakes(),
        done="All three solved, with the cure of each.",
        empty="The three cases are still empty.",
        hint='Such as {1: ("placed", "D"), 2: ("faster", "F"), 3: ...}',
        item="Case {}",
    )
}
