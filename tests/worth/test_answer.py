"""Which chip, if any: what follows from times that are given, and what is said."""

import tomllib
from pathlib import Path

import pytest

from accel_helpers.measure.measurement import Measurement
from accel_helpers.measure.timing import compare
from accel_helpers.worth import step_time
from accel_helpers.worth.answer import Answer, fed
from accel_helpers.worth.step_time import ChipRow, Load

PAYS = tomllib.loads(Path(__file__).with_name("verdicts.toml").read_text("utf-8"))["pays"]
CHIPS = ("T4", "L4", "A100", "H100")
SMALL = Load(1e9, made=1e6, parameters=1e5, operations=20)
LARGE = Load(1e13, made=6e9, parameters=1e7, operations=500, kept=2e7, examples=48)


def taking(seconds):
    return Measurement.from_samples([seconds * each for each in (1.0, 1.02, 0.99, 1.01, 0.98)])


def forecasts(load=SMALL):
    for chip in CHIPS:
        yield step_time.row_of_chip(load, chip, "float32", training=True)


def beside(here, epochs=40, load=SMALL):
    """Forecasts beside a machine where a step takes so long; 100 steps an epoch."""
    step = taking(here)
    host = taking(1e-3)
    rows = []
    for row in forecasts(load):
        rows.append(fed(row, step, host))
    return Answer("small", rows, epochs, 5.0, 100, step)


def test_what_pays_follows_from_factor_set_up_and_length():
    minute = Measurement.from_samples([60.0] * 5)
    for name, case in PAYS.items():
        factor = tuple(case["factor"])
        row = ChipRow("T4", {}, (1, 1, 1), faster=factor)
        found = Answer("m", [row], case["epochs"], 5.0, 1, minute)
        minutes = [each / 60 for each in found.row.pays_from]
        assert found.verdict == case["verdict"], name
        assert minutes == pytest.approx(case["minutes"], rel=1e-3), name
        assert case["saves"] in found.table, name


def test_a_free_chip_goes_before_one_that_costs_money():
    for here, epochs, verdict in [
        (1.0, 40, "worth it"),
        (1.0, 1, "not worth it"),
        (0.02, 225, "the interval holds both"),
    ]:
        found = beside(here, epochs)
        assert found.verdict == verdict
        assert found.row.chip == "T4"
        assert found.row.price == "free"


def test_a_chip_without_room_says_which_batch_would_fit():
    found = beside(60.0, load=LARGE)
    batch = found.rows[0].fitting_batch
    assert 0 < batch < 48
    assert f"does not fit; a batch of {batch} would" in found.table
    assert found.row.chip == "A100"


def test_what_raced_stands_first_as_measured_and_decides():
    cpu = Measurement.from_samples([1.0] * 5, name="cpu")
    for seconds, verdict in {0.1: "worth it", 2.0: "not worth it"}.items():
        gpu = Measurement.from_samples([seconds] * 5, name="gpu")
        found = beside(1.0).raced(compare(cpu, gpu))
        assert found.rows[0].chip == "GPU"
        assert found.row.measured
        assert found.verdict == verdict


def test_a_forecast_holds_feeding_as_it_is_here_and_is_never_above_the_ceiling():
    host = 1e-3
    for row in forecasts():
        alone, _, longest_alone = row.step
        found = fed(row, taking(0.01), taking(host))
        whole, _, longest = found.step
        assert whole == pytest.approx(alone + host)
        assert sum(found.terms.values()) == pytest.approx(whole)
        assert longest / whole == pytest.approx(longest_alone / alone)
        _, most = found.faster
        assert most <= 1.1 * 0.01 / host
