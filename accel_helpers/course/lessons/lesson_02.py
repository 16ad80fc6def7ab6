"""Lesson 02: the check of three broken runtimes, which its page shows."""

import importlib.resources

from accel_helpers._values import records
from accel_helpers.course.checks import choices

_FILE = importlib.resources.files("accel_helpers") / "course" / "data" / "detective.toml"
_MATERIAL = records.load(_FILE, "material of lesson 02")
CASES, CURES = dict(enumerate(_MATERIAL["case"], 1)), _MATERIAL["cures"]
FACTS = ("attached", "visible", "placed", "faster")  # in this order: the first no decides


def _about(case, fact, cure) -> tuple[str, str]:
    if fact == case["fact"]:
        return f"the fact is right. {CURES[cure]['not_here']}", case["clue"]
    if FACTS.index(fact) < FACTS.index(case["fact"]):
        said = f'"{fact}" holds there: the case shows it. Go further down the list.'
        return said, case["clue"]
    return f'before "{fact}" something else fails already. The first no decides.', case["clue"]


CHECKS = {
    "02/detective": choices(
        {number: (case["fact"], case["cure"]) for number, case in CASES.items()},
        (FACTS, tuple(CURES)),
        {
            (number, (fact, cure)): _about(case, fact, cure)
            for number, case in CASES.items()
            for fact in FACTS
            for cure in CURES
            if (fact, cure) != (case["fact"], case["cure"])
        },
        done="All three solved, with the cure of each.",
        empty="The three cases are still empty.",
        hint='Such as {1: ("placed", "D"), 2: ("faster", "F"), 3: ...}',
        item="Case {}",
    )
}
