"""Lesson 02: the check of three broken runtimes, which its page shows."""

from itertools import product
from pathlib import Path

from accel_helpers._values import records
from accel_helpers.course.checks import WordCheck
from accel_helpers.measure.pictures import plot

_FILE = Path(__file__).parents[1] / "data" / "detective.toml"
_MATERIAL = records.load(_FILE, "material of lesson 02")
# The number of a broken runtime, from 1 -> its table in the file.
CASES = dict(enumerate(_MATERIAL["case"], 1))
# The letter of a cure -> its "text", and in "not_here" why it does not cure the other cases.
CURES = _MATERIAL["cures"]
# What may be true of an accelerator, to be checked in this order: the first that is not decides.
FACTS = ("attached", "visible", "placed", "faster")

# A fact and the letter of a cure are one choice.
_CHOICES = [f"{fact} {cure}" for fact, cure in product(FACTS, CURES)]


def _reason(case: dict, choice: str) -> str:
    """Return what is wrong with a choice for a case."""
    fact, cure = choice.split()
    if fact == case["fact"]:
        return f"the fact is right. {CURES[cure]['not_here']}"
    if FACTS.index(fact) < FACTS.index(case["fact"]):
        return f'"{fact}" holds there: the case shows it. Go further down the list.'
    return f'before "{fact}" something else fails already. The first no decides.'


def _slips(case: dict) -> dict:
    """Return what to say to each choice for a case, and where to look for the right one."""
    return {choice: (_reason(case, choice), case["clue"]) for choice in _CHOICES}


class Detective(WordCheck):
    hint = (
        'Such as {1: ("placed", "D"), 2: ("faster", "F"), 3: ...}. '
        "Choose from: attached, visible, placed, faster; A, B, C, D, E, F."
    )
    truth = {number: f"{case['fact']} {case['cure']}" for number, case in CASES.items()}
    allowed = _CHOICES
    done = "All three solved, with the cure of each."
    slips = {number: _slips(case) for number, case in CASES.items()}


CHECKS = {"02/detective": Detective()}


PICTURES = {"race": plot}
