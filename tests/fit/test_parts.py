"""A step taken apart: on a machine whose every cost is known, and on a real one."""

import numpy as np
import pytest
from fake_fit import FakeFit

from accel_helpers.fit.parts import StepParts, step_parts
from accel_helpers.measure.pictures import plot

OVERHEAD = 0.002  # seconds of a step
WEIGHTS = 0.00003  # of a unit's weights
ARITHMETIC = 0.000001  # of a unit's arithmetic for one picture


class Clock:
    def __init__(self):
        self.now = 0.0

    def __call__(self):
        return self.now


class Model(FakeFit):
    """A model whose step costs its overhead, its weights and its arithmetic, on a given clock.

    While the machine is `slow` each step takes three times as long. An epoch takes `start` more.
    """

    def __init__(self, clock, width, slow=(), start=0.0):
        self.clock, self.width, self.slow, self.start = clock, width, slow, start

    def begin_epoch(self):
        self.clock.now += self.start

    def take_step(self, batch_size):
        seconds = OVERHEAD
        if self.width > 1:
            seconds += WEIGHTS * self.width + ARITHMETIC * self.width * (batch_size - 1)
        is_slow = any(start <= self.clock.now < end for start, end in self.slow)
        self.clock.now += 3 * seconds if is_slow else seconds


def taken_apart(width, batch_size, slow=(), start=0.0):
    clock, x = Clock(), np.zeros(50)
    return step_parts(
        lambda width: Model(clock, width, slow, start),
        x,
        x,
        width=width,
        batch_size=batch_size,
        seconds=6,
        clock=clock,
    )


@pytest.mark.usefixtures("keras")
def test_each_part_is_what_its_size_adds():
    parts = taken_apart(width=100, batch_size=32)
    assert parts.overhead == pytest.approx(OVERHEAD)
    assert parts.memory == pytest.approx(100 * WEIGHTS)
    assert parts.compute == pytest.approx(100 * 31 * ARITHMETIC)


@pytest.mark.usefixtures("keras")
def test_a_machine_that_slows_down_for_one_turn_changes_nothing():
    quiet = taken_apart(width=100, batch_size=32)
    disturbed = taken_apart(width=100, batch_size=32, slow=[(0.0, 1.5)])
    assert disturbed.seconds == pytest.approx(quiet.seconds)


@pytest.mark.usefixtures("keras")
def test_what_starts_an_epoch_is_overhead_at_every_batch():
    parts = taken_apart(width=1, batch_size=4, start=0.02)
    assert parts.compute == pytest.approx(0.0)
    assert parts.overhead > OVERHEAD


@pytest.mark.parametrize(
    ("bare", "narrow_batch", "real", "parts"),
    [
        (1.0, 3.0, 7.0, (4.0, 2.0, 1.0)),
        (1.0, 0.9, 2.0, (1.0, 0.0, 1.0)),  # memory too small to measure
        (1.0, 3.0, 2.9, (0.0, 2.0, 1.0)),  # compute too small
    ],
)
def test_a_part_too_small_to_measure_is_nothing(bare, narrow_batch, real, parts):
    assert StepParts.from_steps(bare, narrow_batch, real) == StepParts(*parts)


def test_the_verdict_is_the_largest_part():
    assert StepParts(compute=1, memory=3, overhead=2).verdict == "memory"


@pytest.mark.usefixtures("keras")
@pytest.mark.parametrize("wrong", [{"width": 0}, {"width": 8, "batch_size": 0}])
def test_a_size_that_cannot_be_is_named(wrong):
    with pytest.raises(ValueError, match=next(reversed(wrong))):
        step_parts(lambda width: None, np.zeros(4), np.zeros(4), **wrong)


def test_the_picture_of_the_parts_is_that_of_their_seconds():
    parts = StepParts(compute=0.003, memory=0.0, overhead=0.001)
    assert plot(parts).alt == plot(parts.seconds).alt
