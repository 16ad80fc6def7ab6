"""Lesson 07: additions beside a T4 that is only estimated, and the roofline."""

import pytest

from accel_helpers.course.lessons.lesson_07 import (
    LAUNCH,
    LINK,
    PRETEND,
    SENT,
    adding,
    crossing,
    pretend,
    roof,
)
from accel_helpers.machine import hardware
from accel_helpers.measure.measurement import Measurement

SIZES = [10**k for k in range(1, 8)]


def lasting(seconds, name=""):
    return Measurement.from_samples([seconds] * 5, name=name)


def line(launch, bandwidth):
    return {size: lasting(launch + 8 * size / bandwidth) for size in SIZES}


# --- the pretend T4 -----------------------------------------------------------------------------


@pytest.mark.parametrize("here", [5e-6, 97e-6], ids=["quick", "slow"])
def test_launch_overhead_is_counted_once(here):
    found = pretend(line(here, 1e12))
    assert found[10] == pytest.approx(max(LAUNCH, here), rel=1e-3)


def test_one_disturbed_size_changes_neither_the_pretend_t4_nor_where_it_gains():
    calm = line(40e-6, 25e9)
    cpu = calm | {100: lasting(97e-6)}
    assert pretend(cpu)[10**7] == pytest.approx(pretend(calm)[10**7], rel=0.02)
    assert crossing(cpu, pretend(cpu)) < 10**5


def test_the_pretend_t4_is_as_fast_as_its_data_sheet():
    found, bandwidth = pretend(line(40e-6, 8e9)), hardware.match("T4").mem_bw_gb_s
    assert found[10**7] - found[10**6] == pytest.approx(72e6 / (1e9 * bandwidth), rel=1e-3)


def test_the_transfer_of_the_pretend_t4_goes_there_and_back():
    cpu = line(40e-6, 8e9)
    extra = pretend(cpu, LINK)[10**7] - pretend(cpu)[10**7]
    assert extra == pytest.approx(8e7 / 15.75e9, rel=1e-3)


@pytest.mark.parametrize("link", [None, LINK])
def test_a_larger_addition_never_takes_the_pretend_t4_less_time(link):
    times = [*pretend(line(40e-6, 8e9), link).values()]
    assert times == sorted(times)


# --- the picture of the additions ----------------------------------------------------------------


def test_what_was_not_measured_is_named_so():
    said = adding({"cpu:0": line(40e-6, 8e9)}).alt
    assert all(f"; {name} from" in said and "estimated" in name for name in (PRETEND, SENT))
    assert "numbers on, a T4 would probably add faster" in said


def test_a_gpu_that_was_timed_takes_the_place_of_the_pretend_one():
    said = adding({"cpu:0": line(40e-6, 8e9), "gpu:0": line(1e-3, 320e9)}).alt
    assert "estimated" not in said
    assert "From about 1 million numbers on, your GPU adds faster" in said


def test_a_gpu_that_is_never_faster_is_told_so():
    said = adding({"cpu:0": line(40e-6, 8e9), "gpu:0": line(1, 320e9)}).alt
    assert "Up to 10 million numbers, your CPU is faster" in said


def test_a_crossing_lies_between_the_sizes_and_the_last_one_counts():
    level = dict.fromkeys(SIZES, 1.0)
    # There it is faster by the 5 % that count as a difference.
    assert crossing({size: size / 3e4 for size in SIZES}, level) == pytest.approx(1.05 * 3e4)
    assert 10**2.5 < crossing({10: 2.0, 100: 0.5, 1000: 2.0}, level) < 10**2.6
    assert crossing(level, dict.fromkeys(SIZES, 2.0)) is None
    assert crossing(dict.fromkeys(SIZES, 1.04), level) is None


def test_noise_among_the_smallest_additions_is_no_gain_of_the_pretend_t4():
    microseconds = {8: 42.5, 80: 41.3, 800: 48.1, 8000: 48.4, 80_000: 57.7, 800_000: 323}
    cpu = {size: lasting(1e-6 * time) for size, time in microseconds.items()}
    assert 8000 < crossing(cpu, pretend(cpu)) < 80_000


ROOFLINE = {
    "roof": {"memory": 12e10, "compute": 1.4e12},
    "points": {"training step": (3.6, 1e10)},
}


@pytest.mark.usefixtures("keras")
def test_the_roofline_says_how_much_of_the_roof_the_step_reaches():
    # 3.6 operations for each of 120 billion bytes per second are 432 billion: 1e10 is 2 % of them
    said = roof(ROOFLINE).alt
    assert "The training step reaches 2 % of what the roof allows" in said
