"""Lesson 07: additions beside a T4 that is estimated; the roofline, and what it rests on."""

import pytest

from accel_helpers.course.lessons.lesson_07 import (
    LAUNCH,
    LINK,
    adding,
    contrast,
    crossing,
    memories,
    pretend,
    roof,
)
from accel_helpers.machine import hardware
from accel_helpers.measure.measurement import Measurement

SIZES = [10**k for k in range(1, 8)]


def lasting(seconds):
    return Measurement.from_samples([seconds] * 5)


def line(launch, bandwidth):
    return {size: lasting(launch + 8 * size / bandwidth) for size in SIZES}


CPU = line(40e-6, 8e9)


def test_the_pretend_t4_has_its_launch_once_its_own_bandwidth_and_a_link_there_and_back():
    alone = pretend(CPU)
    sent = pretend(CPU, LINK)
    bandwidth = 1e9 * hardware.match("T4").mem_bw_gb_s
    by_memory = alone[10**7] - alone[10**6]
    by_link = sent[10**7] - alone[10**7]
    assert pretend(line(97e-6, 1e12))[10] == pytest.approx(97e-6, rel=1e-3)
    assert pretend(line(5e-6, 1e12))[10] == pytest.approx(LAUNCH, rel=1e-3)
    assert by_memory == pytest.approx(72e6 / bandwidth, rel=1e-3)
    assert by_link == pytest.approx(8e7 / 15.75e9, rel=1e-3)


def test_the_picture_of_the_additions_says_from_where_on_a_gpu_is_faster():
    estimated = adding({"cpu:0": CPU}).alt
    assert "numbers on, a T4 would probably be faster" in estimated
    fast = adding({"cpu:0": CPU, "gpu:0": line(1e-3, 320e9)}).alt
    assert "From about 1 million numbers on, your GPU is faster" in fast
    assert "estimated" not in fast
    slow = adding({"cpu:0": CPU, "gpu:0": line(1, 320e9)}).alt
    assert "Up to 10 million numbers, your CPU is faster" in slow


def test_a_crossing_lies_between_the_sizes_and_the_last_one_counts():
    level = dict.fromkeys(SIZES, 1.0)
    rising = {size: size / 3e4 for size in SIZES}
    twice = {10: 2.0, 100: 0.5, 1000: 2.0}
    # There it is faster by the 5% that count as a difference.
    assert crossing(rising, level) == pytest.approx(1.05 * 3e4)
    assert 10**2.5 < crossing(twice, level) < 10**2.6
    assert crossing(dict.fromkeys(SIZES, 1.04), level) is None


def test_noise_among_the_smallest_additions_is_no_gain_of_the_pretend_t4():
    microseconds = {8: 42.5, 80: 41.3, 800: 48.1, 8000: 48.4, 80_000: 57.7, 800_000: 323}
    cpu = {size: lasting(1e-6 * time) for size, time in microseconds.items()}
    assert 8000 < crossing(cpu, pretend(cpu)) < 80_000


@pytest.mark.usefixtures("keras")
def test_the_roofline_says_how_much_of_the_roof_the_step_reaches():
    # 3.6 FLOP for each of 120 billion bytes per second are 432 billion: 1e10 is 2% of them
    points = {"matmul": (170, 1.4e12), "training step": (3.6, 1e10)}
    found = {"points": points, "bandwidth": 12e10}
    reached = "The training step reaches 2% of your CPU's roof: your CPU: 1.4 TFLOP/s"
    assert reached in roof(found).alt
    # A program that was faster than the bandwidth raises the roof.
    points["training step"] = (2, 1e12)
    assert "reaches 100% of" in roof(found).alt


def test_the_pictures_of_a_step_and_of_the_memories_say_what_they_show():
    assert "100% of a T4's step of 32 is wait: " in contrast({"roof": {}, "step": {"wait": 7}}).alt
    assert "shared memory 40 × 64 KiB, 3.66 TB/s; L2 cache 4 MiB" in memories().alt
