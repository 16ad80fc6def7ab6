"""What a forecast says of published rows and of chips is what it said, to twelve digits.

Ten rows of each chip, number type and mode stand here for three thousand.

python -m tests.worth.test_forecast_stays    stores what is said now
"""

import json
from dataclasses import asdict
from pathlib import Path

import pytest

from accel_helpers.machine import hardware
from accel_helpers.worth.step_time import Load, interval, row_of_chip, terms

KEPT = Path(__file__).with_name("forecasts.json")
CHIPS = {chip.name: chip for chip in hardware.load()}


def said_of_row(load, chip, **how):
    seconds = sum(terms(load, CHIPS[chip], **how).values())
    return {"seconds": [seconds, *interval(CHIPS[chip], seconds)]}


def said_of_chip(load, **how):
    said = asdict(row_of_chip(load, **how))
    said["step"] = [*said["step"]]  # as in the file
    return said


KINDS = {"rows": said_of_row, "chips": said_of_chip}


def said_now(kind, case):
    """What is said of a case, with the fields that were kept of it."""
    given = dict(case["given"])
    numbers = []
    for each in given.pop("load"):
        # a part that no gradient reaches, and one that only hands it on, are loads themselves
        if isinstance(each, list):
            each = Load(*each)
        numbers.append(each)
    now = KINDS[kind](Load(*numbers), **given)
    return {field: now[field] for field in case["said"]}


@pytest.mark.parametrize("kind", KINDS)
def test_a_forecast_has_its_seconds_its_interval_its_memory_and_its_batch(kind):
    for name, case in json.loads(KEPT.read_text("utf-8"))[kind].items():
        now = said_now(kind, case)
        for field, value in case["said"].items():
            if field != "memory":
                value = pytest.approx(value, rel=1e-12, abs=0)
            assert now[field] == value, (name, field)


if __name__ == "__main__":
    kept = json.loads(KEPT.read_text("utf-8"))
    for kind, cases in kept.items():
        for case in cases.values():
            case["said"] = said_now(kind, case)
    KEPT.write_text(json.dumps(kept, indent=1) + "\n", "utf-8")
