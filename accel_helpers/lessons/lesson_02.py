"""Lesson 02: where a result lands whose device is missing, and three broken runtimes."""

import importlib.resources

from accel_helpers import _records
from accel_helpers.learn.checks import choices
from accel_helpers.machine import backend
from accel_helpers.measure import results

_FILE = importlib.resources.files("accel_helpers") / "data" / "detective.toml"
_MATERIAL = _records.load(_FILE, "material of lesson 02")
CASES, CURES = dict(enumerate(_MATERIAL["case"], 1)), _MATERIAL["cures"]
FACTS = ("attached", "visible", "placed", "faster")  # in this order: the first no decides
_LANDED = {"cpu": "on the CPU", "gpu": "on a GPU", "tpu": "on a TPU"}
LANDED = (*_LANDED.values(), "nowhere: an error")
_CASE = "### Case {}: {name}\n\n{machine}\n\n```text\n{log}```\n\n*{source}*\n"


def landed(make) -> str:
    """Call `make` and say where its result lies: one of LANDED. An error is printed."""
    try:
        return _LANDED[backend.where(make())]
    except Exception as error:  # the frameworks do not agree on its kind
        print(f"{type(error).__name__}: {error!s:.150}")
        return LANDED[-1]


def theirs(runs=None):
    """The same work twice on a reference machine: its race, or its control."""
    for card in reversed(results.reference_runs() if runs is None else runs):
        kept = card.measurements.items()
        both = [found for name, found in kept if name.startswith(("02/race/", "02/control/"))]
        if len(both) == 2:
            return card.reference(both)
    return None


def cases():
    """The broken runtimes as a page: what each machine has and printed; and the cures."""
    from IPython.display import Markdown

    shown = [_CASE.format(number, **case) for number, case in CASES.items()]
    shown += ["### The cures\n", *(f"* **{x}** {cure['text']}" for x, cure in CURES.items())]
    return Markdown("\n".join(shown))


def _about(case, fact, cure) -> tuple[str, str]:
    if fact == case["fact"]:
        return f"the fact is right. {CURES[cure]['not_here']}", case["clue"]
    if FACTS.index(fact) < FACTS.index(case["fact"]):
        said = f'"{fact}" holds there: the card or the log shows it. Go further down the list.'
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
