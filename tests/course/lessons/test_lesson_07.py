"""Lessons 06 and 07: a race of 129; additions beside a T4 that is estimated; the roofline."""

import pytest

from accel_helpers.course.lessons.lesson_07 import LAUNCH, LINK, adding, crossing, pretend, roof
from accel_helpers.course.outcomes import outcome_of
from accel_helpers.machine import hardware
from accel_helpers.measure import timing
from accel_helpers.measure.measurement import Measurement

SIZES = [10**k for k in range(1, 8)]


def lasting(seconds, name=""):
    return Measurement.from_samples([seconds] * 5, name=name)


def line(launch, bandwidth):
    return {size: lasting(launch + 8 * size / bandwidth) for size in SIZES}


@pytest.mark.parametrize(
    ("slow", "outcome"),
    [
        (0.5, "less"),
        (1.0, "about as long"),
        (1.5, "a little longer"),
        (2.0, "cannot tell"),
        (4.0, "twice or more"),
    ],
)
def test_how_much_longer_129_takes_is_told_as_far_as_the_interval_allows(slow, outcome):
    noise = (1, 1.02, 0.99, 1.01, 0.98, 1.0)
    sides = [Measurement.from_samples([level * each for each in noise]) for level in (slow, 1.0)]
    assert outcome_of(timing.compare(*sides, names=("129", "128")), "longer") == outcome


def test_the_pretend_t4_has_its_launch_once_its_own_bandwidth_and_a_link_there_and_back():
    for launch in (5e-6, 97e-6):
        assert pretend(line(launch, 1e12))[10] == pytest.approx(max(LAUNCH, launch), rel=1e-3)
    cpu = line(40e-6, 8e9)
    alone, sent = pretend(cpu), pretend(cpu, LINK)
    bandwidth = 1e9 * hardware.match("T4").mem_bw_gb_s
    assert alone[10**7] - alone[10**6] == pytest.approx(72e6 / bandwidth, rel=1e-3)
    assert sent[10**7] - alone[10**7] == pytest.approx(8e7 / 15.75e9, rel=1e-3)
    assert [*alone.values()] == sorted(alone.values())


@pytest.mark.parametrize(
    ("times", "finding"),
    [
        ({}, "numbers on, a T4 would probably add faster"),
        ({"gpu:0": line(1e-3, 320e9)}, "From about 1 million numbers on, your GPU adds faster"),
        ({"gpu:0": line(1, 320e9)}, "Up to 10 million numbers, your CPU is faster"),
    ],
)
def test_the_picture_of_the_additions_says_from_where_on_a_gpu_is_faster(times, finding):
    said = adding({"cpu:0": line(40e-6, 8e9), **times}).alt
    assert finding in said
    assert ("estimated" in said) == (not times)


def test_a_crossing_lies_between_the_sizes_and_the_last_one_counts():
    level = dict.fromkeys(SIZES, 1.0)
    # There it is faster by the 5 % that count as a difference.
    assert crossing({size: size / 3e4 for size in SIZES}, level) == pytest.approx(1.05 * 3e4)
    assert 10**2.5 < crossing({10: 2.0, 100: 0.5, 1000: 2.0}, level) < 10**2.6
    assert crossing(dict.fromkeys(SIZES, 1.04), level) is None


def test_noise_among_the_smallest_additions_is_no_gain_of_the_pretend_t4():
    microseconds = {8: 42.5, 80: 41.3, 800: 48.1, 8000: 48.4, 80_000: 57.7, 800_000: 323}
    cpu = {size: lasting(1e-6 * time) for size, time in microseconds.items()}
    assert 8000 < crossing(cpu, pretend(cpu)) < 80_000


@pytest.mark.usefixtures("keras")
def test_the_roofline_says_how_much_of_the_roof_the_step_reaches():
    # 3.6 operations for each of 120 billion bytes per second are 432 billion: 1e10 is 2 % of them
    measured = {"memory": 12e10, "compute": 1.4e12}
    said = roof({"roof": measured, "points": {"training step": (3.6, 1e10)}}).alt
    assert "The training step reaches 2 % of what the roof allows" in said
