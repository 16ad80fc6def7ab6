"""Which chip, if any: what follows from times that are given, and what is said."""

import math

import pytest

from accel_helpers._values.words import format_seconds
from accel_helpers.machine import hardware
from accel_helpers.measure.measurement import Measurement
from accel_helpers.measure.timing import compare
from accel_helpers.worth import step_time
from accel_helpers.worth.answer import Answer, ceiling_of, fed
from accel_helpers.worth.step_time import ChipRow

CHIPS = ("T4", "L4", "A100", "H100")
NOISE = (1.0, 1.02, 0.99, 1.01, 0.98)
SMALL = step_time.Load(1e9, made=1e6, parameters=1e5, operations=20)
LARGE = step_time.Load(1e13, made=6e9, parameters=1e7, operations=500, kept=2e7, examples=48)


def known(here, host=1e-3, epochs=40, chips=CHIPS, count=5, load=SMALL, dtype="float32"):
    """Chips beside a machine where a step takes a known time; 100 steps an epoch."""
    here, host = (
        Measurement.from_samples([seconds * noise for noise in NOISE[:count]])
        for seconds in (here, host)
    )
    rows = (step_time.row_of_chip(load, chip, dtype, training=True) for chip in chips)
    return Answer("small", tuple(fed(row, here, host) for row in rows), epochs, 5.0, 100, here)


def by_factor(low, high, seconds=60.0, epochs=10):
    """One chip that is so many times as fast; an epoch takes so many seconds here."""
    here = Measurement.from_samples([seconds] * 5)
    return Answer("m", (ChipRow("T4", {}, (1, 1, 1), faster=(low, high)),), epochs, 5.0, 1, here)


def said(found):
    return " ".join(str(found).split())


@pytest.mark.parametrize(
    ("factor", "epochs", "verdict", "minutes"),
    [
        ((2, 2), 9, "not worth it", (10, 10)),
        ((2, 2), 10, "not worth it", (10, 10)),
        ((2, 2), 13, "worth it", (10, 10)),
        ((2, 6), 8, "the interval holds both", (6, 10)),
        ((0.5, 6), 100, "the interval holds both", (6, math.inf)),
        ((0.5, 0.9), 100, "not worth it", (math.inf, math.inf)),
        ((0, math.inf), 5, "not worth it", (5, math.inf)),  # the set-up alone takes as long
        ((0, math.inf), 100, "cannot be told yet", (5, math.inf)),
        ((0, 6), 100, "the interval holds both", (6, math.inf)),  # a ceiling alone
        ((1.9, 1.9), 11, "not worth it", (10.56, 10.56)),  # less than a minute is no reason
    ],
)
def test_what_pays_follows_from_factor_set_up_and_length(factor, epochs, verdict, minutes):
    found = by_factor(*factor, epochs=epochs)
    assert found.verdict == verdict
    assert [each / 60 for each in found.row.pays_from] == pytest.approx(minutes, rel=1e-3)
    assert said(found)


@pytest.mark.parametrize(
    ("here", "epochs", "chip", "verdict"),
    [
        (1.0, 40, "T4", "worth it"),
        (1.0, 1, "T4", "not worth it"),
        (0.02, 225, "T4", "the interval holds both"),
        (0.1, 31, "T4", "not worth it"),
    ],
)
def test_a_free_chip_goes_before_one_that_costs_money(here, epochs, chip, verdict):
    found = known(here, epochs=epochs)
    assert (found.row.chip, found.verdict) == (chip, verdict)
    assert "small takes" in found.advice
    assert found.row.price == "free"


def test_where_no_row_is_sure_the_advice_is_what_to_measure():
    assert "measure first, on a T4, which is free" in known(0.02, epochs=225).advice
    assert "measure on a T4" in by_factor(0, math.inf, epochs=100).advice


@pytest.mark.parametrize("count", [1, 4])
def test_fewer_than_five_timings_make_no_factor(count):
    found = known(1.0, count=count)
    assert "too few to say" in said(found)
    assert found.table.count(" ?") == len(CHIPS)
    here = Measurement.from_samples([1.0] * count)
    assert ceiling_of(here, here) == math.inf


def test_a_chip_without_room_says_which_batch_would_fit():
    found = known(60.0, load=LARGE)
    t4, *_ = found.rows
    assert t4.memory == "does not fit"
    assert f"does not fit; a batch of {t4.fitting_batch} would" in found.table
    assert found.row.chip == "A100"
    assert known(60.0, load=LARGE, chips=("T4",)).verdict == "cannot be told yet"


def raced(cpu, gpu, count=9):
    slow = Measurement.from_samples([cpu] * count, name="cpu")
    fast = Measurement.from_samples([gpu] * count, name="gpu")
    return compare(slow, fast)


def test_what_raced_stands_first_as_measured_and_decides():
    found = known(1.0).raced(raced(1.0, 0.1))
    assert [row.chip for row in found.rows] == ["GPU", *CHIPS]
    assert found.row.measured
    assert found.advice.startswith("Worth it")
    assert known(1.0).raced(raced(1.0, 2.0)).verdict == "not worth it"
    assert known(1.0).raced(raced(1.0, 0.1, count=3)).verdict == "cannot be told yet"
    assert known(1.0).raced(None).row.chip == "T4"


@pytest.mark.parametrize("host", [1e-5, 1e-3])
def test_the_interval_is_as_wide_as_the_promised_one_with_feeding_in_it(host):
    for row, chip in zip(known(0.1, host).rows, CHIPS, strict=True):
        seconds, low, high = step_time.row_of_chip(SMALL, chip, "float32", training=True).step
        whole, least, most = row.step
        assert whole == pytest.approx(seconds + host)
        assert sum(row.terms.values()) == pytest.approx(whole)
        assert most / whole == pytest.approx(high / seconds)
        assert whole / least == pytest.approx(seconds / low)


@pytest.mark.parametrize("host", [1e-4, 1e-3, 5e-3, 9e-3])
def test_no_chip_is_faster_than_the_ceiling(host):
    for row in known(0.01, host).rows:
        slowest, fastest = row.faster
        assert 0 < slowest <= fastest <= 1.1 * 0.01 / host


def test_a_t4_says_what_float16_would_make_of_a_step():
    found = known(60.0, load=LARGE._replace(made=1e8))
    short = sum(step_time.terms(LARGE._replace(made=1e8), hardware.match("T4"), "float16").values())
    assert (
        f"In float16 a step on the T4 would take about {format_seconds(short + 1e-3, 2)}"
        in said(found)
    )
    assert "float16" not in said(known(60.0, load=LARGE._replace(made=1e8), dtype="float16"))
    little = step_time.Load(1e6, made=1e3, parameters=1e3, operations=20)
    assert "float16" not in said(known(1.0, load=little))


def test_the_largest_part_of_a_step_is_named():
    assert "mostly overhead" in said(known(1.0))
    assert "mostly memory" in said(known(60.0, load=SMALL._replace(made=1e9)))


def test_its_html_has_the_table_and_is_escaped():
    found = Answer("<b>", known(1.0).rows, 40, 5.0, 100, known(1.0).here)
    html = found._repr_html_()
    assert "T4, free" in html
    assert "&lt;b&gt;" in html
    assert "<b>" not in html
