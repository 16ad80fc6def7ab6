"""Which chip, if any: what follows from times that are given, and what is said."""

import math

import pytest

from accel_helpers.measure.measurement import Measurement
from accel_helpers.measure.timing import compare
from accel_helpers.worth import step_time
from accel_helpers.worth.answer import Answer, ceiling_of, fed
from accel_helpers.worth.step_time import ChipRow, Load

INF = math.inf
CHIPS = ("T4", "L4", "A100", "H100")
SMALL = Load(1e9, made=1e6, parameters=1e5, operations=20)
LARGE = Load(1e13, made=6e9, parameters=1e7, operations=500, kept=2e7, examples=48)


def taking(seconds, count=5):
    noise = (1.0, 1.02, 0.99, 1.01, 0.98)
    return Measurement.from_samples([seconds * each for each in noise[:count]])


def forecasts(load=SMALL, dtype="float32", chips=CHIPS):
    return [step_time.row_of_chip(load, chip, dtype, training=True) for chip in chips]


def beside(here, epochs=40, count=5, **given):
    """Forecasts beside a machine where a step takes so long; 100 steps an epoch."""
    step = taking(here, count)
    rows = [fed(row, step, taking(1e-3, count)) for row in forecasts(**given)]
    return Answer("small", rows, epochs, 5.0, 100, step)


def said(found):
    return " ".join(str(found).split())


@pytest.mark.parametrize(
    ("factor", "epochs", "verdict", "minutes"),
    [
        ((2, 2), 9, "not worth it", (10, 10)),
        ((2, 2), 13, "worth it", (10, 10)),
        ((2, 6), 8, "the interval holds both", (6, 10)),
        ((0.5, 6), 100, "the interval holds both", (6, INF)),
        ((0.5, 0.9), 100, "not worth it", (INF, INF)),
        ((0, INF), 5, "not worth it", (5, INF)),  # the set-up alone takes as long
        ((0, INF), 100, "cannot be told yet", (5, INF)),
        ((1.9, 1.9), 11, "not worth it", (10.56, 10.56)),  # less than a minute is no reason
    ],
)
def test_what_pays_follows_from_factor_set_up_and_length(factor, epochs, verdict, minutes):
    minute = Measurement.from_samples([60.0] * 5)
    found = Answer("m", [ChipRow("T4", {}, (1, 1, 1), faster=factor)], epochs, 5.0, 1, minute)
    assert found.verdict == verdict
    assert [each / 60 for each in found.row.pays_from] == pytest.approx(minutes, rel=1e-3)


@pytest.mark.parametrize(
    ("here", "epochs", "verdict"),
    [
        (1.0, 40, "worth it"),
        (1.0, 1, "not worth it"),
        (0.02, 225, "the interval holds both"),
    ],
)
def test_a_free_chip_goes_before_one_that_costs_money(here, epochs, verdict):
    found = beside(here, epochs)
    assert found.row.chip == "T4"
    assert found.row.price == "free"
    assert found.verdict == verdict


@pytest.mark.parametrize("count", [1, 4])
def test_fewer_than_five_timings_make_no_factor(count):
    found = beside(1.0, count=count)
    assert "too few to say" in said(found)
    assert found.table.count(" ?") == len(CHIPS)
    assert ceiling_of(taking(1.0, count), taking(0.5, count)) == INF


def test_a_chip_without_room_says_which_batch_would_fit():
    found = beside(60.0, load=LARGE)
    batch = found.rows[0].fitting_batch
    assert 0 < batch < 48
    assert f"does not fit; a batch of {batch} would" in found.table
    assert found.row.chip == "A100"
    assert beside(60.0, load=LARGE, chips=("T4",)).verdict == "cannot be told yet"


@pytest.mark.parametrize(
    ("gpu", "count", "verdict"),
    [(0.1, 9, "worth it"), (2.0, 9, "not worth it"), (0.1, 3, "cannot be told yet")],
)
def test_what_raced_stands_first_as_measured_and_decides(gpu, count, verdict):
    slow = Measurement.from_samples([1.0] * count, name="cpu")
    fast = Measurement.from_samples([gpu] * count, name="gpu")
    found = beside(1.0).raced(compare(slow, fast))
    assert [row.chip for row in found.rows] == ["GPU", *CHIPS]
    assert found.row.measured
    assert found.verdict == verdict


@pytest.mark.parametrize("host", [1e-5, 1e-3])
def test_the_interval_is_as_wide_as_the_promised_one_with_feeding_in_it(host):
    for row in forecasts():
        seconds, low, high = row.step
        with_feeding = fed(row, taking(0.1), taking(host))
        whole, least, most = with_feeding.step
        assert whole == pytest.approx(seconds + host)
        assert sum(with_feeding.terms.values()) == pytest.approx(whole)
        assert most / whole == pytest.approx(high / seconds)
        assert whole / least == pytest.approx(seconds / low)


@pytest.mark.parametrize("host", [1e-4, 5e-3, 9e-3])
def test_no_chip_is_faster_than_the_ceiling(host):
    for row in forecasts():
        slowest, fastest = fed(row, taking(0.01), taking(host)).faster
        assert 0 < slowest <= fastest <= 1.1 * 0.01 / host


def test_a_t4_says_what_float16_would_make_of_a_step():
    heavy = LARGE._replace(made=1e8)
    assert "In float16 a step on the T4 would take about" in said(beside(60.0, load=heavy))
    assert "float16" not in said(beside(60.0, load=heavy, dtype="float16"))


def test_its_html_has_the_table_and_is_escaped():
    found = beside(1.0)
    html = Answer("<b>", found.rows, 40, 5.0, 100, found.here)._repr_html_()
    assert "T4, free" in html
    assert "&lt;b&gt;" in html
    assert "<b>" not in html
