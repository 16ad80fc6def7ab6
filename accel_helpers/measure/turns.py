"""Take the samples of one function, or of several that take turns, for `timing`.

A *call* is one call of a function. A *block* is some calls with one wait at their end; it is one
call where that is long enough to be timed, and gives one *sample*: the seconds of a block over its
number of calls. A *round* takes one sample of each function.
"""

import sys
from collections.abc import Callable, Sequence
from itertools import repeat

from accel_helpers._values.words import format_seconds, shown
from accel_helpers.machine import backend
from accel_helpers.measure.measurement import FEW_SAMPLES, Measurement

Wait = Callable[[object], object]  # of what a function returned, until the device has finished
Clock = Callable[[], float]  # the time in seconds
SHORT_CALL = 100e-6  # seconds; below this a clock and a wait cost too much beside the call itself
BLOCK_TIME = 1e-3  # seconds; short calls are timed in blocks of about this length
SAMPLES = 30  # of a function, where no time is given
SAMPLE_TIME = 1.0  # seconds in samples of all functions together, then too
MAX_TIME = 120.0  # seconds that are enough then, even for fewer samples
MAX_SAMPLES = 10_000  # of a measurement, however short the call


def time_in_turns(
    functions: Sequence[object],
    names: Sequence[str],
    wait: Wait | None,
    clock: Clock,
    seconds: float | None,
) -> list[Measurement]:
    """Return a measurement of each function, all with equally many samples.

    The functions take turns: one sample each a round, and every other round goes through them
    backwards (a, b, then b, a). The rest is as in `benchmark`, with a name for each. Raises
    TypeError for a function that cannot be called.
    """
    start = clock()
    samplers = [_Sampler(function, wait or backend.wait, clock) for function in functions]
    # The samplers have made the first calls. They count only where all must fit in `seconds`.
    if seconds is None:
        start = clock()
    rounds = 0
    seconds_in_samples = 0.0
    is_enough = False
    while not is_enough:
        is_forward = rounds % 2 == 0
        turns = samplers if is_forward else reversed(samplers)
        for sampler in turns:
            seconds_in_samples += sampler.take_sample()
        rounds += 1
        elapsed = clock() - start
        is_enough = _samples_are_enough(rounds, seconds_in_samples, elapsed, seconds)
    if seconds is None and rounds < SAMPLES:
        note = f"Stopped after {MAX_TIME:g} s with {rounds} of {SAMPLES} samples."
        for sampler in samplers:
            sampler.notes.append(note)
    named = zip(samplers, names, strict=True)
    return [sampler.measurement(name) for sampler, name in named]


def _samples_are_enough(
    rounds: int, seconds_in_samples: float, elapsed: float, seconds: float | None
) -> bool:
    """Return whether the samples so far are enough; `seconds` is that of `benchmark`."""
    if rounds >= MAX_SAMPLES:
        return True
    if seconds is None:
        are_many = rounds >= SAMPLES and seconds_in_samples >= SAMPLE_TIME
        is_late = elapsed > MAX_TIME and rounds >= FEW_SAMPLES
        return are_many or is_late
    if elapsed <= seconds:
        return False
    # For an interval it may take up to twice the time.
    return rounds >= FEW_SAMPLES or elapsed > 2 * seconds


class _Sampler:
    """A function, the number of its calls in a block, and its samples so far.

    Making one calls the function: once for the time of the first call, and a few times more to
    find out how many calls a block needs.
    """

    def __init__(
        self,
        function: object,
        wait: Wait,
        clock: Clock,
    ):
        if not callable(function):
            advice = "Put 'lambda:' in front of the call"
            raise TypeError(f"a function to call is needed; got {shown(function)}. {advice}.")
        self.function = function
        self.wait = wait
        self.clock = clock
        self.calls_per_block = 1
        self.notes: list[str] = []
        self.samples: list[float] = []  # seconds per call
        self.first_call = self._time_first_call()
        # Timed to see how long a call is; it becomes the first sample unless calls are short.
        self.spare_block: float | None = self._time_block()
        if self._calls_are_short(self.spare_block):
            self.spare_block = None
            self._lengthen_blocks()

    def _time_first_call(self) -> float:
        """Make the first call, which may compile, load or copy, and return its seconds."""
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
        """Return whether a call is shorter than `SHORT_CALL`; the first block was one call."""
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
