"""The exercises of lesson 02: lines that frighten, and six broken runtimes."""

import functools
import importlib.resources

from accel_helpers import _records
from accel_helpers.learn.checks import choices

FACTS = ("attached", "visible", "placed", "faster")  # in this order: the first no decides
KINDS = ("fault", "harmless")


@functools.cache
def material() -> dict:
    """The "case", "cures" and "line" of ``data/detective.toml``, which explains them."""
    file = importlib.resources.files("accel_helpers") / "data" / "detective.toml"
    return _records.load(file, "material of lesson 02")


_CASES = dict(enumerate(material()["case"], 1))
_CURES = material()["cures"]


def _about_line(line) -> tuple[str, str]:
    if line["kind"] == "harmless":
        return "", f"Did {line['letter']} stop anything that was asked for? {line['why']}"
    return "", f"Did the program get what it asked for? {line['why']}"


def _about_case(case, fact, cure) -> tuple[str, str]:
    if fact == case["fact"]:
        return f"the fact is right. {_CURES[cure]['not_here']}", case["clue"]
    if FACTS.index(fact) < FACTS.index(case["fact"]):
        said = f'"{fact}" holds there: the card or the log shows it. Go further down the list.'
        return said, case["clue"]
    return f'before "{fact}" something else fails already. The first no decides.', case["clue"]


CHECKS = {
    "02/lines": choices(
        {line["letter"]: line["kind"] for line in material()["line"]},
        KINDS,
        {line["letter"]: _about_line(line) for line in material()["line"]},
        done="All six told apart. A loud line can mean nothing, and a calm one much.",
        empty="The six lines are still empty.",
        hint='Such as {"A": "fault", "B": "harmless", ...}',
    ),
    "02/detective": choices(
        {number: (case["fact"], case["cure"]) for number, case in _CASES.items()},
        (FACTS, tuple(_CURES)),
        {
            (number, (fact, cure)): _about_case(case, fact, cure)
            for number, case in _CASES.items()
            for fact in FACTS
            for cure in _CURES
            if (fact, cure) != (case["fact"], case["cure"])
        },
        done="All six cases solved, with the cure of each.",
        empty="The six cases are still empty.",
        hint='Such as {1: ("placed", "B"), 2: ("faster", "F"), ...}',
        item="Case {}",
    ),
}
