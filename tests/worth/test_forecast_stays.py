"""What a forecast says of published rows and of chips is what it said, to twelve digits.

python -m tests.worth.test_forecast_stays    stores what is said now
"""

import csv
import json
from dataclasses import asdict
from pathlib import Path

import pytest

from accel_helpers.worth import step_time
from benchmarks import forecast as judging
from tools import forecast as tool

HERE = Path(__file__).parent
ROWS, CHIPS = HERE / "forecast_rows.csv", HERE / "forecast_chips.json"
LOAD = step_time.Load(2e12, 7e9, 2.5e7, 175, kept=5e7, examples=256)
STILL = step_time.Load(5e11, 3e9, 1e7, 90)
# a part that no gradient reaches, and one that only hands it on
PARTLY = LOAD._replace(no_way_back=STILL, frozen=STILL._replace(operations=20))
LARGE = LOAD._replace(made=2e11, parameters=3e8)
CASES = {
    f"{name} {dtype} {'training' if training else 'inference'} {what}": (
        load,
        name,
        dtype,
        training,
    )
    for what, load in {"all": LOAD, "partly": PARTLY, "large": LARGE}.items()
    for name in ("T4", "L4", "G4", "A100", "H100", "K80", "v5e-1", "v6e-1")
    for dtype in ("float32", "float16", "bfloat16")
    for training in (True, False)
}


def published():
    """Rows that are forecast: those that the constants were fitted to, and those that judge."""
    return [row for path in (tool.PUBLISHED, judging.MEASURED) for row in tool.read(path)[0]]


def said_of_rows():
    rows = published()
    for row, seconds in zip(rows, tool.expected(rows), strict=True):
        yield [row.id, seconds, *step_time.interval(row.chip, seconds)]


def said_of_chip(case):
    said = asdict(step_time.row_of_chip(*CASES[case]))
    # of a chip that is faster in no other type there are no such seconds
    return said | {"step": [*said["step"]], "float16_seconds": said["float16_seconds"] or 0}


def test_every_published_row_has_its_seconds_and_its_interval():
    with open(ROWS, newline="", encoding="utf-8") as file:
        kept = [[name, *map(float, numbers)] for name, *numbers in csv.reader(file)]
    said = [*said_of_rows()]
    assert len(said) > 2500
    assert [row[0] for row in said] == [row[0] for row in kept]
    for now, before in zip(said, kept, strict=True):
        assert now[1:] == pytest.approx(before[1:], rel=1e-12, abs=0), now[0]


def test_a_chip_has_its_terms_its_memory_and_the_batch_that_fits():
    kept = json.loads(CHIPS.read_text("utf-8"))
    assert [*kept] == [*CASES]
    for case, before in kept.items():
        now = said_of_chip(case)
        for numbers in ("terms", "step", "float16_seconds"):
            assert now.pop(numbers) == pytest.approx(before.pop(numbers), rel=1e-12, abs=0), case
        assert {name: now[name] for name in before} == before, case


if __name__ == "__main__":
    with open(ROWS, "w", newline="", encoding="utf-8") as file:
        for name, *seconds in said_of_rows():
            csv.writer(file, lineterminator="\n").writerow([name, *map("{:.13g}".format, seconds)])
    said = {case: said_of_chip(case) for case in CASES}
    CHIPS.write_text(json.dumps(said, indent=0) + "\n", "utf-8")
