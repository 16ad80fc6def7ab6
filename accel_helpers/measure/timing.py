"""Timing that is hard to get wrong: it waits, it repeats, and it says what it cannot tell."""

import math
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import repeat

from accel_helpers._values.words import format_seconds, percent, shown
from accel_helpers.machine import backend
from accel_helpers.measure import results
from accel_helpers.measure.measurement import FEW_SAMPLES, Measurement, Place, Speedup, locate

SHORT_CALL = 100e-6  # below this a clock and a wait cost too much beside the call itself
BLOCK_TIME = 1e-3  # such short calls are timed in blocks of about this length
MAX_SAMPLES = 10_000  # a result card holds several such measurements
APART = 0.05  # what differs by less counts as no difference
MIN_TREND = 1.28  # of a drift in both timings; chance alone exceeds it in one case of five
SURE = 0.99  # one interval decides where two functions take turns, so it is the stricter one

TOO_FEW = f"There are too few samples: take at least {FEW_SAMPLES} of each."
CLOSE = f"They differ by less than {percent(APART)}, which counts as no difference."
DRIFT = "The times drifted all along, and that alone could explain what differs."

__all__ = ["Measurement", "benchmark", "compare", "format_seconds"]


def benchmark(
    fn: Callable[[], object],
    *,
    wait: Callable[[object], object] | None = None,
    clock: Callable[[], float] = time.perf_counter,
    repeats: int = 30,
    min_time: float = 1.0,
    max_time: float = 120.0,
    seconds: float | None = None,
    name: str = "",
    keep: str = "",
) -> Measurement:
    """Time a function: its first call apart, then many calls, each waited for.

    Parameters
    ----------
    fn : callable
        Without arguments; it should return what it computes, so that this can be waited for. Calls
        of less than 100 microseconds are timed in blocks, with one wait at the end of each.
    wait : callable, optional
        Of what `fn` returned; comes back when the device has finished. By default `backend.wait`.
    clock : callable, optional
        The time in seconds.
    repeats : int, optional
        At least so many samples.
    min_time : float, optional
        And until so many seconds were spent in them.
    max_time : float, optional
        But no more than so many seconds once there are five samples.
    seconds : float, optional
        Takes the place of these three: as many samples as fit, first call and all; five are tried
        for in up to twice the time.
    name : str, optional
        What is measured.
    keep : str, optional
        Under which name the result card keeps it, such as "01/product/cpu".

    Examples
    --------
    >>> m = benchmark(lambda: sum(range(100_000)), repeats=5, min_time=0.01, name="sum")
    >>> len(m.samples) >= 5 and m.first_call > 0
    True
    """
    limits = _limits(repeats, min_time, max_time, seconds)
    [measurement] = _time_in_turns([fn], [name], wait, clock, limits)
    results.keep(keep, {keep: measurement})
    return measurement


def compare(
    slow: Callable[[], object] | Measurement,
    fast: Callable[[], object] | Measurement,
    *,
    wait: Callable[[object], object] | None = None,
    clock: Callable[[], float] = time.perf_counter,
    repeats: int = 30,
    min_time: float = 1.0,
    max_time: float = 120.0,
    seconds: float | None = None,
    names: tuple[str, str] = ("", ""),
    keep: str | tuple[str, str] = "",
    in_turns: bool = False,
) -> Speedup:
    """Compare two functions, or two measurements, and say whether they differ at all.

    Functions take turns, slow-fast, fast-slow and so on, so that a machine that grows slower or
    faster meanwhile favours neither; the ratio is taken pair by pair. Measurements differ only
    where their intervals do not overlap, and where a drift that both show does not explain it.
    Either way less than 5 % counts as no difference.

    Parameters
    ----------
    slow, fast : callable or Measurement
        The one expected to be slower, then the one expected to be faster; both of a kind.
    wait, clock, repeats, min_time, max_time, seconds, names : optional
        As in `benchmark`, for functions; and a name for each.
    keep : str or pair of str, optional
        Where both go on the result card: under "KEEP/NAME" of each, or under two names in full.
    in_turns : bool, optional
        Measurements whose samples were taken in turns: they are compared pair by pair too.

    Returns
    -------
    Speedup
        Its `verdict` is "faster", "slower" (the fast one lost) or "no measurable difference"; its
        `ratio` is the time of `slow` over that of `fast`, or None where it cannot tell; its
        `interval` is a 99 % one where they took turns, else made of two 95 % ones, and so at least
        that (`sure` says which); its `reason` says why it cannot tell.

    Examples
    --------
    >>> a = Measurement.from_samples([1.0, 1.1, 1.0, 1.2, 1.1, 1.0], name="A")
    >>> print(compare(a, Measurement.from_samples([0.1, 0.11, 0.1, 0.12, 0.1], name="C")))
    C is 10.5 times as fast as A (95 % interval 8.42 to 12)
    """
    slow_name, fast_name = names
    if isinstance(slow, Measurement) and isinstance(fast, Measurement):
        slow_times = _renamed(slow, slow_name)
        fast_times = _renamed(fast, fast_name)
        taken_apart = not in_turns
    else:
        limits = _limits(repeats, min_time, max_time, seconds)
        slow_times, fast_times = _time_in_turns([slow, fast], names, wait, clock, limits)
        taken_apart = False
    _keep_pair(keep, slow_times, fast_times)
    if taken_apart:
        return _compare_apart(slow_times, fast_times)
    return _compare_pairs(slow_times, fast_times)


def _renamed(measurement: Measurement, name: str) -> Measurement:
    """A measurement under another name; under its own where that is empty."""
    if not name:
        return measurement
    return replace(measurement, name=name)


def _keep_pair(keep, slow: Measurement, fast: Measurement) -> None:
    """Put two measurements on the result card, if it is to keep them."""
    if not keep:
        return
    if isinstance(keep, str):
        keep = (f"{keep}/{slow.name}", f"{keep}/{fast.name}")
    slow_name, fast_name = keep
    results.keep(slow_name, {slow_name: slow, fast_name: fast})


@dataclass(frozen=True)
class _Limits:
    """When functions were sampled enough."""

    repeats: int  # at least so many samples of each
    min_time: float  # at least so many seconds in samples
    max_time: float  # so many seconds are enough once there are a few samples
    last_time: float  # so many are enough in any case
    count_first_calls: bool  # whether the time of the first calls is part of `max_time`

    def ask_for_more(self, rounds: int, seconds_in_samples: float) -> bool:
        """Whether there are fewer samples than wanted, and not too many to keep."""
        if rounds >= MAX_SAMPLES:
            return False
        return rounds < self.repeats or seconds_in_samples < self.min_time

    def are_reached(self, rounds: int, elapsed: float) -> bool:
        """Whether the time is up, however many samples were wanted."""
        if elapsed <= self.max_time:
            return False
        return rounds >= FEW_SAMPLES or elapsed > self.last_time


def _limits(repeats: int, min_time: float, max_time: float, seconds: float | None) -> _Limits:
    """The limits that a caller sets: by three of them, or by `seconds` alone."""
    if seconds is None:
        return _Limits(repeats, min_time, max_time, last_time=math.inf, count_first_calls=False)
    return _Limits(
        repeats=1,
        min_time=math.inf,
        max_time=seconds,
        last_time=2 * seconds,
        count_first_calls=True,
    )


def _time_in_turns(functions, names, wait, clock, limits: _Limits) -> list[Measurement]:
    """Measurements of functions side by side; every other round begins with the last of them."""
    if wait is None:
        wait = backend.wait
    start = clock()
    runners = [_Runner(function, wait, clock) for function in functions]
    # The first calls are behind: they count only where all of it must fit in `seconds`.
    if not limits.count_first_calls:
        start = clock()
    rounds = 0
    seconds_in_samples = 0.0
    while limits.ask_for_more(rounds, seconds_in_samples):
        turns = runners if rounds % 2 == 0 else reversed(runners)
        for runner in turns:
            seconds_in_samples += runner.take_sample()
        rounds += 1
        if limits.are_reached(rounds, clock() - start):
            break
    if rounds < limits.repeats:
        note = f"Stopped after {limits.max_time:g} s with {rounds} of {limits.repeats} samples."
        for runner in runners:
            runner.notes.append(note)
    measurements = []
    for runner, name in zip(runners, names, strict=True):
        measurements.append(runner.measurement(name))
    return measurements


class _Runner:
    """One function, ready to be sampled: called once, and put into blocks if it is short."""

    def __init__(self, function, wait, clock):
        if not callable(function):
            advice = "Put 'lambda:' in front of the call"
            raise TypeError(f"a function to call is needed; got {shown(function)}. {advice}.")
        self.function = function
        self.wait = wait
        self.clock = clock
        self.calls_per_sample = 1
        self.notes: list[str] = []
        self.samples: list[float] = []
        self.first_call = self._time_first_call()
        # It tells how long a call is, and serves as the first sample unless calls are short.
        self.spare_block: float | None = self._time_block()
        if self._calls_are_short(self.spare_block):
            self.spare_block = None
            self._lengthen_blocks()

    def _time_first_call(self) -> float:
        """Seconds of the first call, which may compile, load or copy."""
        start = self.clock()
        result = self.function()
        self.wait(result)
        elapsed = self.clock() - start
        frameworks = {"tensorflow", "jax", "torch"} & sys.modules.keys()
        if self.wait is backend.wait and result is None and frameworks:
            self.notes.append(
                "The function returned nothing, so nothing could be waited for. If it starts "
                "work on a device, let it return the result."
            )
        return max(elapsed, 1e-9)

    def _time_block(self) -> float:
        """Seconds of the calls of one sample, with one wait at their end."""
        # Nothing but the calls and the wait may stand between the two looks at the clock.
        function = self.function
        calls = repeat(None, self.calls_per_sample)
        start = self.clock()
        for _ in calls:
            result = function()
        self.wait(result)
        return self.clock() - start

    def _calls_are_short(self, first_block: float) -> bool:
        """Whether a clock and a wait would cost too much beside one call."""
        if first_block >= 10 * SHORT_CALL:
            return False
        # The first one may have been held up.
        return min(self._time_block(), self._time_block()) < SHORT_CALL

    def _lengthen_blocks(self) -> None:
        """Double the calls of a sample until it is long enough to be timed."""
        while self._time_block() < BLOCK_TIME:
            self.calls_per_sample *= 2
        shortest = format_seconds(SHORT_CALL)
        self.notes.append(
            f"One call is shorter than {shortest}, so {self.calls_per_sample} calls were timed "
            "together, with one wait at their end: what a call costs in a row of them."
        )

    def take_sample(self) -> float:
        """Take one more sample, and return the seconds that it took."""
        block = self.spare_block
        self.spare_block = None
        if block is None:
            block = self._time_block()
        seconds_per_call = block / self.calls_per_sample
        # A coarse clock may say zero.
        self.samples.append(max(seconds_per_call, 1e-12))
        return block

    def measurement(self, name: str) -> Measurement:
        """All samples so far, under a name."""
        samples = tuple(self.samples)
        notes = tuple(self.notes)
        return Measurement(samples, self.first_call, name, self.calls_per_sample, notes)


# Times are compared by their logarithms: an interval of a ratio is one of a difference there.


def _compare_pairs(slow: Measurement, fast: Measurement) -> Speedup:
    """Compare samples that were taken in turns, pair by pair."""
    ratios = []
    for slow_seconds, fast_seconds in zip(slow.samples, fast.samples, strict=True):
        ratios.append(math.log(slow_seconds) - math.log(fast_seconds))
    if len(ratios) < FEW_SAMPLES:
        bounds = (min(ratios), max(ratios))
        return _undecided(slow, fast, bounds, TOO_FEW)
    place = locate(ratios, confidence=SURE)
    speedup = _conclude(slow, fast, place.centre, place.interval)
    return replace(speedup, sure=percent(SURE))


def _compare_apart(slow: Measurement, fast: Measurement) -> Speedup:
    """Compare measurements that were taken one after the other, by their intervals."""
    slow_low, slow_high = slow.interval
    fast_low, fast_high = fast.interval
    # The ratio may lie anywhere between those of the opposite ends.
    lowest = math.log(slow_low) - math.log(fast_high)
    highest = math.log(slow_high) - math.log(fast_low)
    bounds = (lowest, highest)
    samples = min(len(slow.samples), len(fast.samples))
    if samples < FEW_SAMPLES:
        return _undecided(slow, fast, bounds, TOO_FEW)
    centre = math.log(slow.median) - math.log(fast.median)
    speedup = _conclude(slow, fast, centre, bounds)
    if not speedup.conclusive:
        return speedup
    reach = _reach_of_drift(slow.place, fast.place)
    if reach is None:
        return speedup
    bounds = (-reach, reach)
    return _undecided(slow, fast, bounds, DRIFT)


def _reach_of_drift(slow: Place, fast: Place) -> float | None:
    """How far a drift in both timings may have come; None where it cannot explain the gap."""
    gap = fast.centre - slow.centre
    # Of both timings together: the drift in one of them, and how clear it is.
    drift = (slow.slope + fast.slope) / 2
    trend = (slow.trend + fast.trend) / math.sqrt(2)
    if abs(trend) <= MIN_TREND:
        return None
    # It must go the way in which the second one differs, and it may be all there is.
    same_way = trend * gap > 0
    far_enough = abs(gap) < 1.5 * abs(drift)
    if same_way and far_enough:
        return abs(gap) + abs(drift)
    return None


def _conclude(slow, fast, centre: float, bounds: tuple[float, float]) -> Speedup:
    """The ratio of two timings, unless its interval holds 1 or it is too close to 1."""
    low, high = bounds
    if low <= 0 <= high:
        half_width = (high - low) / 2
        hidden = percent(max(math.expm1(half_width), APART))
        reason = f"A difference of less than about {hidden} does not show in these samples."
        return _undecided(slow, fast, bounds, reason)
    if abs(centre) < math.log1p(APART):
        return _undecided(slow, fast, bounds, CLOSE)
    ratio = math.exp(centre)
    return Speedup(slow, fast, _ratios(bounds), conclusive=True, ratio=ratio)


def _undecided(slow, fast, bounds: tuple[float, float], reason: str) -> Speedup:
    """Two timings that cannot be told apart, and why."""
    return Speedup(slow, fast, _ratios(bounds), conclusive=False, ratio=None, reason=reason)


def _ratios(bounds: tuple[float, float]) -> tuple[float, float]:
    """The ends of an interval of ratios, from those of their logarithms."""
    low, high = bounds
    return math.exp(low), math.exp(high)
