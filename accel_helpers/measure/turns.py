"""Take the samples of one function, or of several that take turns, for `timing`.

A *call* is one call of a function. A *block* is some calls with one wait at their end; it is one
call where that is long enough to be timed, and gives one *sample*: the seconds of a block over its
number of calls. A *round* takes one sample of each function.
"""

import math
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import repeat

from accel_helpers._values.words import format_seconds, shown
from accel_helpers.machine import backend
from accel_helpers.measure.measurement import FEW_SAMPLES, Measurement

SHORT_CALL = 100e-6  # seconds; below this a clock and a wait cost too much beside the call itself
BLOCK_TIME = 1e-3  # seconds; short calls are timed in blocks of about this length
MAX_SAMPLES = 10_000  # of a measurement, however short the call


@dataclass(frozen=True)
class Limits:
    """When functions were sampled enough."""

    repeats: int  # at least so many samples of each
    min_time: float  # at least so many seconds in samples
    max_time: float  # so many seconds are enough once there are `FEW_SAMPLES` samples
    last_time: float  # so many seconds are enough in any case
    count_first_calls: bool  # whether the time of the first calls is part of `max_time`

    def ask_for_more(self, rounds: int, seconds_in_samples: float) -> bool:
        """Return whether the samples so far are too few, or took too little time.

        Returns False once there are `MAX_SAMPLES` rounds, which are the most that are kept.
        """
        if rounds >= MAX_SAMPLES:
            return False
        return rounds < self.repeats or seconds_in_samples < self.min_time

    def are_reached(self, rounds: int, elapsed: float) -> bool:
        """Return whether the time is up, however many samples are still asked for."""
        if elapsed <= self.max_time:
            return False
        return rounds >= FEW_SAMPLES or elapsed > self.last_time


def make_limits(repeats: int, min_time: float, max_time: float, seconds: float | None) -> Limits:
    """Return the limits for the arguments of `benchmark` that have these names.

    If `seconds` is given, it takes the place of the others: as many samples as fit, the first call
    included, and up to twice the time until there are `FEW_SAMPLES`.
    """
    if seconds is None:
        return Limits(repeats, min_time, max_time, last_time=math.inf, count_first_calls=False)
    return Limits(
        repeats=1,
        min_time=math.inf,
        max_time=seconds,
        last_time=2 * seconds,
        count_first_calls=True,
    )


def time_in_turns(
    functions: Sequence[object],
    names: Sequence[str],
    wait: Callable[[object], object] | None,
    clock: Callable[[], float],
    limits: Limits,
) -> list[Measurement]:
    """Return a measurement of each function, all with equally many samples.

    The functions, which take no arguments, take turns: one sample each a round, and every other
    round goes through them backwards (a, b, then b, a). `names` has a name for each, `clock`
    returns seconds, and `wait` is that of `benchmark`, by default `backend.wait`. Raises TypeError
    for a function that cannot be called.
    """
    if wait is None:
        wait = backend.wait
    start = clock()
    samplers = [_Sampler(function, wait, clock) for function in functions]
    # The samplers have made the first calls. They count only where all must fit in `seconds`.
    if not limits.count_first_calls:
        start = clock()
    rounds = 0
    seconds_in_samples = 0.0
    while limits.ask_for_more(rounds, seconds_in_samples):
        is_forward = rounds % 2 == 0
        turns = samplers if is_forward else reversed(samplers)
        for sampler in turns:
            seconds_in_samples += sampler.take_sample()
        rounds += 1
        elapsed = clock() - start
        if limits.are_reached(rounds, elapsed):
            break
    if rounds < limits.repeats:
        note = f"Stopped after {limits.max_time:g} s with {rounds} of {limits.repeats} samples."
        for sampler in samplers:
            sampler.notes.append(note)
    measurements = []
    for sampler, name in zip(samplers, names, strict=True):
        measurements.append(sampler.measurement(name))
    return measurements


class _Sampler:
    """A function, the number of its calls in a block, and its samples so far.

    Making one calls the function: once for the time of the first call, and a few times more to
    find out how many calls a block needs. A `wait` takes what the function returned, and comes back
    when the device has finished; a `clock` returns seconds.
    """

    def __init__(
        self,
        function: object,
        wait: Callable[[object], object],
        clock: Callable[[], float],
    ):
        if not callable(function):
            advice = "Put 'lambda:' in front of the call"
            raise TypeError(f"a function to call is needed; got {shown(function)}. {advice}.")
        self.function = function
        self.wait = wait
        self.clock = clock
        self.calls_per_block = 1
        # How it was measured, in sentences for the reader.
        self.notes: list[str] = []
        # Seconds per call.
        self.samples: list[float] = []
        # Seconds.
        self.first_call = self._time_first_call()
        # The seconds of a block that was timed to see how long a call is. It becomes the first
        # sample unless calls are short; None once it was used.
        self.spare_block: float | None = self._time_block()
        if self._calls_are_short(self.spare_block):
            self.spare_block = None
            self._lengthen_blocks()

    def _time_first_call(self) -> float:
        """Make the first call, which may compile, load or copy, and return its seconds.

        Adds a note where the function returned nothing that could be waited for.
        """
        start = self.clock()
        result = self.function()
        self.wait(result)
        elapsed = self.clock() - start
        loaded_frameworks = {"tensorflow", "jax", "torch"} & sys.modules.keys()
        if self.wait is backend.wait and result is None and loaded_frameworks:
            self.notes.append(
                "The function returned nothing, so nothing could be waited for. If it starts "
                "work on a device, let it return the result."
            )
        # A coarse clock may say zero.
        return max(elapsed, 1e-9)

    def _time_block(self) -> float:
        """Make the calls of one block, and return their seconds, the wait at the end included."""
        # Nothing but the calls and the wait may stand between the two looks at the clock.
        function = self.function
        calls = repeat(None, self.calls_per_block)
        start = self.clock()
        for _ in calls:
            result = function()
        self.wait(result)
        return self.clock() - start

    def _calls_are_short(self, first_block: float) -> bool:
        """Return whether one call is shorter than `SHORT_CALL`.

        `first_block` is the seconds of one call. Unless it is long, two more calls are timed, and
        the shorter of these decides.
        """
        if first_block >= 10 * SHORT_CALL:
            return False
        # The first call after compiling may have been held up.
        second_block = self._time_block()
        third_block = self._time_block()
        return min(second_block, third_block) < SHORT_CALL

    def _lengthen_blocks(self) -> None:
        """Double the calls of a block until it takes at least `BLOCK_TIME`, and add a note."""
        while self._time_block() < BLOCK_TIME:
            self.calls_per_block *= 2
        shortest = format_seconds(SHORT_CALL)
        self.notes.append(
            f"One call is shorter than {shortest}, so {self.calls_per_block} calls were timed "
            "together, with one wait at their end: what a call costs in a row of them."
        )

    def take_sample(self) -> float:
        """Add one sample, and return the seconds of its block."""
        block_seconds = self.spare_block
        self.spare_block = None
        if block_seconds is None:
            block_seconds = self._time_block()
        seconds_per_call = block_seconds / self.calls_per_block
        # A coarse clock may say zero.
        self.samples.append(max(seconds_per_call, 1e-12))
        return block_seconds

    def measurement(self, name: str) -> Measurement:
        """Return all samples so far as a measurement of this name."""
        samples = tuple(self.samples)
        notes = tuple(self.notes)
        return Measurement(samples, self.first_call, name, self.calls_per_block, notes)
