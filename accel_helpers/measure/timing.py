"""Timing that is hard to get wrong: it waits, it repeats, and it says what it cannot tell.

Three verbs: ``benchmark`` times one function, ``compare`` times two side by side, and
``Measurement.from_samples`` takes times that were measured elsewhere.

The intervals are made by `location.locate`.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import replace
from itertools import repeat

from accel_helpers._words import format_seconds, percent
from accel_helpers.measure.measurement import FEW_SAMPLES, Measurement, Speedup
from accel_helpers.measure.samples import locate

SHORT_CALL = 100e-6  # below this a clock and a wait cost too much beside the call itself
BLOCK_TIME = 1e-3  # such short calls are timed in blocks of about this length
MAX_CALLS = 2**20  # a block never has more calls; a clock that stands still ends here
MAX_SAMPLES = 10_000
APART = 0.05  # two measurements one after the other: a machine may change by so much in between
SURE = 0.99  # one interval decides where two functions take turns, so it is the stricter one

__all__ = ["Measurement", "Speedup", "benchmark", "compare", "format_seconds"]


def benchmark(
    fn: Callable[[], object],
    *,
    wait: Callable[[object], object] | None = None,
    clock: Callable[[], float] = time.perf_counter,
    repeats: int = 30,
    min_time: float = 1.0,
    max_time: float = 120.0,
    name: str = "",
) -> Measurement:
    """Time a function: its first call apart, then many calls, each waited for.

    Parameters
    ----------
    fn : callable
        Called without arguments. It should return what it computes, so that the computation
        can be waited for.
    wait : callable, optional
        Called with what `fn` returned; comes back when the device has finished. By default
        `backend.wait`, which knows TensorFlow, JAX, PyTorch and NumPy.
    clock : callable, optional
        Returns the time in seconds.
    repeats : int, optional
        Take at least so many samples,
    min_time : float, optional
        go on until so many seconds were spent in samples,
    max_time : float, optional
        but stop after so many seconds once there are five samples.
    name : str, optional
        What is measured.

    Returns
    -------
    Measurement
        A call of less than 100 microseconds is timed in blocks of calls with one wait at the
        end of each block; `notes` says so.

    Raises
    ------
    TypeError, ValueError
        If an argument is not of the kind above. What `fn` raises passes through.

    Examples
    --------
    >>> m = benchmark(lambda: sum(range(100_000)), repeats=5, min_time=0.01, name="sum")
    >>> len(m.samples) >= 5 and m.first_call > 0
    True
    """
    _check_limits(repeats, min_time, max_time)
    runner = _Runner(fn, wait, clock)
    samples: list[float] = []
    start, spent = clock(), 0.0
    while (len(samples) < repeats or spent < min_time) and len(samples) < MAX_SAMPLES:
        samples.append(runner.sample())
        spent += samples[-1] * runner.calls
        if clock() - start > max_time and len(samples) >= FEW_SAMPLES:
            break
    notes = list(runner.notes)
    if len(samples) < repeats:
        notes.append(f"Stopped after {max_time:g} s with {len(samples)} of {repeats} samples.")
    return Measurement.from_samples(
        samples,
        first_call=runner.first_call,
        name=name,
        calls_per_sample=runner.calls,
        notes=notes,
    )


def compare(
    slow: Callable[[], object] | Measurement,
    fast: Callable[[], object] | Measurement,
    *,
    wait: Callable[[object], object] | None = None,
    clock: Callable[[], float] = time.perf_counter,
    repeats: int = 30,
    min_time: float = 1.0,
    max_time: float = 120.0,
    names: tuple[str, str] = ("", ""),
    in_turns: bool = False,
) -> Speedup:
    """Compare two functions, or two measurements, and say whether they differ at all.

    Two functions take turns, slow-fast, fast-slow, slow-fast and so on, so that a machine that
    grows slower or faster meanwhile favours neither; the ratio is taken pair by pair. Two
    measurements were taken one after the other: they count as different only where their
    intervals do not overlap, where they are more than 5 % apart, and where a drift that both
    show does not explain it.

    Parameters
    ----------
    slow, fast : callable or Measurement
        The one expected to be slower, then the one expected to be faster; both of a kind.
    wait, clock, repeats, min_time, max_time
        As in `benchmark`, for functions.
    names : tuple of str, optional
        What the two are called.
    in_turns : bool, optional
        Say so of two measurements whose samples were taken in turns, the first of one beside the
        first of the other and so on: they are then compared pair by pair, as functions are.

    Returns
    -------
    Speedup
        With `ratio` None and the verdict "no measurable difference" where it cannot tell.

    Raises
    ------
    TypeError, ValueError
        If the two are not of a kind, an argument is not as in `benchmark`, or measurements said
        to be taken in turns have different numbers of samples.

    Examples
    --------
    >>> a = Measurement.from_samples([1.0, 1.1, 1.0, 1.2, 1.1, 1.0], name="A")
    >>> b = Measurement.from_samples([1.1, 1.0, 1.1, 1.0, 1.2, 1.1], name="B")
    >>> print(compare(a, b))  # doctest: +NORMALIZE_WHITESPACE
    A and B: no measurable difference.
    A difference of less than about 16 % does not show in these samples.
    >>> print(compare(a, Measurement.from_samples([0.1, 0.11, 0.1, 0.12, 0.1], name="C")))
    C is 10.5 times as fast as A (interval 8.42 to 12)
    """
    if isinstance(slow, Measurement) and isinstance(fast, Measurement):
        slow, fast = _named(slow, names[0]), _named(fast, names[1])
        return _compare_pairs(slow, fast) if in_turns else _compare_measured(slow, fast)
    if isinstance(slow, Measurement) or isinstance(fast, Measurement):
        raise TypeError(
            "compare needs two functions or two measurements; got one of each. Measure the "
            "function with benchmark first, or hand in both functions."
        )
    _check_limits(repeats, min_time, max_time)
    runners = (_Runner(slow, wait, clock), _Runner(fast, wait, clock))
    taken: tuple[list[float], list[float]] = ([], [])
    start, spent = clock(), 0.0
    while (len(taken[0]) < repeats or spent < min_time) and len(taken[0]) < MAX_SAMPLES:
        turn = (0, 1) if len(taken[0]) % 2 == 0 else (1, 0)
        for i in turn:
            taken[i].append(runners[i].sample())
            spent += taken[i][-1] * runners[i].calls
        if clock() - start > max_time and len(taken[0]) >= FEW_SAMPLES:
            break
    measured = [
        Measurement.from_samples(
            samples,
            first_call=runner.first_call,
            name=name,
            calls_per_sample=runner.calls,
            notes=runner.notes,
        )
        for samples, runner, name in zip(taken, runners, names, strict=True)
    ]
    return _compare_pairs(*measured)


# ---------------------------------------------------------------------------------------------


class _Runner:
    """One function, ready to be sampled: called once, and put into blocks if it is short."""

    def __init__(self, fn, wait, clock):
        if not callable(fn):
            raise TypeError(
                f"a function to call is needed, such as lambda: model.predict(x); got {fn!r:.60} "
                f"({type(fn).__name__}). Put 'lambda:' in front of the call."
            )
        if wait is not None and not callable(wait):
            raise TypeError(f"wait must be a function of the result, or None; got {wait!r:.60}.")
        self.fn, self.clock, self.calls = fn, clock, 1
        self.notes: list[str] = []
        start = clock()
        result = fn()
        self.wait = _waiter(result) if wait is None else wait
        self.wait(result)
        self.first_call = max(clock() - start, 1e-9)
        if wait is None and result is None and _device_framework_loaded():
            self.notes.append(
                "The function returned nothing, so nothing could be waited for. If it starts "
                "work on a device, let it return the result."
            )
        self.spare: float | None = self._block()  # a first sample, unless calls prove short
        if self.spare < 10 * SHORT_CALL and min(self._block(), self._block()) < SHORT_CALL:
            self._find_block()

    def _find_block(self):
        self.spare = None
        while self.calls < MAX_CALLS and self._block() < BLOCK_TIME:
            self.calls *= 2
        if self.calls >= MAX_CALLS:
            raise ValueError(
                f"the clock did not reach {format_seconds(BLOCK_TIME)} in {MAX_CALLS} calls. Is it "
                "a clock in seconds that goes on? The default is time.perf_counter."
            )
        self.notes.append(
            f"One call is shorter than {format_seconds(SHORT_CALL)}, so {self.calls} calls were "
            "timed together, with one wait at their end: what a call costs in a row of them."
        )

    def _block(self) -> float:
        fn, start = self.fn, self.clock()
        for _ in repeat(None, self.calls):
            result = fn()
        self.wait(result)
        return self.clock() - start

    def sample(self) -> float:
        """Seconds per call, measured once more."""
        block, self.spare = self.spare, None
        if block is None:
            block = self._block()
        return max(block / self.calls, 1e-12)  # a coarse clock may say zero


def _compare_pairs(slow: Measurement, fast: Measurement) -> Speedup:
    if len(slow.samples) != len(fast.samples):
        raise ValueError(
            "measurements taken in turns have equally many samples; got "
            f"{len(slow.samples)} of {slow.name or 'the first'} and "
            f"{len(fast.samples)} of {fast.name or 'the second'}."
        )
    pairs = zip(slow.samples, fast.samples, strict=True)
    ratios = [math.log(a) - math.log(b) for a, b in pairs]
    if len(ratios) < FEW_SAMPLES:
        return _speedup(slow, fast, ratios[0], (min(ratios), max(ratios)), too_few=True)
    place = locate(ratios, confidence=SURE)
    return _speedup(slow, fast, place.centre, place.interval)


def _compare_measured(slow: Measurement, fast: Measurement) -> Speedup:
    few = min(len(slow.samples), len(fast.samples)) < FEW_SAMPLES
    (a, b), (c, d) = slow.interval, fast.interval
    bounds = (math.log(a) - math.log(d), math.log(b) - math.log(c))
    centre = math.log(slow.median) - math.log(fast.median)
    if not few and (bounds[0] > 0 or bounds[1] < 0):
        if abs(centre) < math.log1p(APART):
            return _speedup(slow, fast, centre, bounds, close=True)
        one, two = (locate([math.log(s) for s in m.samples]) for m in (slow, fast))
        gap, run = two.centre - one.centre, (one.slope + two.slope) / 2
        both = (one.trend + two.trend) / math.sqrt(2)
        # both drift the way the second one differs: going on like that may be all there is
        if both * gap > 0 and abs(both) > 1.28 and abs(gap) < 1.5 * abs(run):
            reach = abs(gap) + abs(run)
            return _speedup(slow, fast, centre, (-reach, reach), drift=True)
    return _speedup(slow, fast, centre, bounds, too_few=few)


def _speedup(slow, fast, centre, bounds, *, too_few=False, drift=False, close=False) -> Speedup:
    interval = (math.exp(bounds[0]), math.exp(bounds[1]))
    if too_few:
        reason = f"There are too few samples: take at least {FEW_SAMPLES} of each."
    elif close:
        reason = (
            f"They differ by less than {percent(APART)}, and a machine may change by so much "
            "between two measurements. Let timing.compare take turns to see less."
        )
    elif drift:
        reason = "The times drifted all along, and that alone could explain what differs."
    elif bounds[0] <= 0 <= bounds[1]:
        hidden = percent(math.expm1((bounds[1] - bounds[0]) / 2))
        reason = f"A difference of less than about {hidden} does not show in these samples."
    else:
        return Speedup(slow, fast, interval, True, math.exp(centre))
    return Speedup(slow, fast, interval, False, None, reason)


def _waiter(result):
    if result is None or isinstance(result, (bool, int, float, str, bytes)):
        return _no_wait
    if type(result).__module__.partition(".")[0] == "numpy":
        return _no_wait
    from accel_helpers.machine import backend

    return backend.wait


def _no_wait(result):
    return result


def _device_framework_loaded() -> bool:
    import sys

    return any(name in sys.modules for name in ("tensorflow", "jax", "torch"))


def _named(measurement: Measurement, name: str) -> Measurement:
    return replace(measurement, name=name) if name else measurement


def _check_limits(repeats, min_time, max_time):
    if isinstance(repeats, bool) or not isinstance(repeats, int) or repeats < 1:
        raise ValueError(f"repeats must be a whole number of at least 1; got {repeats!r}.")
    for what, value in (("min_time", min_time), ("max_time", max_time)):
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not value >= 0:
            raise ValueError(f"{what} must be a number of seconds, 0 or more; got {value!r}.")
