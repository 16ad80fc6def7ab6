"""Timing that is hard to get wrong: it waits, it repeats, and it says what it cannot tell."""

import math
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from itertools import repeat

from accel_helpers._values.words import format_seconds, percent, shown
from accel_helpers.machine import backend
from accel_helpers.measure import results
from accel_helpers.measure.measurement import FEW_SAMPLES, Measurement, Speedup, locate

SHORT_CALL = 100e-6  # below this a clock and a wait cost too much beside the call itself
BLOCK_TIME = 1e-3  # such short calls are timed in blocks of about this length
MAX_SAMPLES = 10_000  # a result card holds several such measurements
APART = 0.05  # what differs by less counts as no difference
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
    repeats, min_time, max_time : int, float, float, optional
        At least so many samples, and until so many seconds were spent in them; but no more than
        `max_time` seconds once there are five.
    seconds : float, optional
        Takes the place of these three: as many samples as fit, first call and all; five are tried
        for in up to twice the time.
    name, keep : str, optional
        What is measured; under which name the result card keeps it, such as "01/product/cpu".

    Examples
    --------
    >>> m = benchmark(lambda: sum(range(100_000)), repeats=5, min_time=0.01, name="sum")
    >>> len(m.samples) >= 5 and m.first_call > 0
    True
    """
    (found,) = _in_turns([fn], [name], wait, clock, repeats, min_time, max_time, seconds)
    results.keep(keep, {keep: found})
    return found


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
    given, measured = [slow, fast], isinstance(slow, Measurement) and isinstance(fast, Measurement)
    if measured:
        given = [replace(m, name=name or m.name) for m, name in zip(given, names, strict=True)]
    else:
        given = _in_turns(given, names, wait, clock, repeats, min_time, max_time, seconds)
    full = [f"{keep}/{m.name}" for m in given] if isinstance(keep, str) else keep
    results.keep(keep, dict(zip(full, given, strict=True)))
    return (_one_after_the_other if measured and not in_turns else _pairs)(*given)


def _in_turns(functions, names, wait, clock, repeats, min_time, max_time, seconds):
    """Time functions side by side; every other round begins with the last of them."""
    if seconds is not None:
        repeats, min_time, max_time = 1, math.inf, seconds
    begun = clock()
    runners = [_Runner(fn, wait or backend.wait, clock) for fn in functions]
    start, spent, rounds = clock() if seconds is None else begun, 0.0, 0
    while (rounds < repeats or spent < min_time) and rounds < MAX_SAMPLES:
        for runner in runners[:: -1 if rounds % 2 else 1]:
            spent += runner.sample()
        rounds += 1
        taken = clock() - start
        if taken > max_time and (rounds >= FEW_SAMPLES or seconds and taken > 2 * max_time):
            break
    if rounds < repeats:
        for runner in runners:
            runner.notes.append(f"Stopped after {max_time:g} s with {rounds} of {repeats} samples.")
    return [
        Measurement(tuple(each.samples), each.first_call, name, each.calls, tuple(each.notes))
        for each, name in zip(runners, names, strict=True)
    ]


class _Runner:
    """One function, ready to be sampled: called once, and put into blocks if it is short."""

    def __init__(self, fn, wait, clock):
        if not callable(fn):
            advice = "Put 'lambda:' in front of the call"
            raise TypeError(f"a function to call is needed; got {shown(fn)}. {advice}.")
        self.fn, self.wait, self.clock, self.calls = fn, wait, clock, 1
        self.notes: list[str] = []
        self.samples: list[float] = []
        start = clock()
        result = fn()
        wait(result)
        self.first_call = max(clock() - start, 1e-9)
        frameworks = {"tensorflow", "jax", "torch"} & sys.modules.keys()
        if wait is backend.wait and result is None and frameworks:
            self.notes.append(
                "The function returned nothing, so nothing could be waited for. If it starts "
                "work on a device, let it return the result."
            )
        self.spare: float | None = self._block()  # a first sample, unless calls prove short
        if self.spare < 10 * SHORT_CALL and min(self._block(), self._block()) < SHORT_CALL:
            self.spare = None
            while self._block() < BLOCK_TIME:
                self.calls *= 2
            self.notes.append(
                f"One call is shorter than {format_seconds(SHORT_CALL)}, so {self.calls} calls "
                "were timed together, with one wait at their end: what a call costs in a row of "
                "them."
            )

    def _block(self) -> float:
        fn, start = self.fn, self.clock()
        for _ in repeat(None, self.calls):
            result = fn()
        self.wait(result)
        return self.clock() - start

    def sample(self) -> float:
        """Take a sample more, and say how many seconds that took."""
        block, self.spare = self.spare or self._block(), None
        self.samples.append(max(block / self.calls, 1e-12))  # a coarse clock may say zero
        return block


def _pairs(slow: Measurement, fast: Measurement) -> Speedup:
    pairs = zip(slow.samples, fast.samples, strict=True)
    ratios = [math.log(a) - math.log(b) for a, b in pairs]
    if len(ratios) < FEW_SAMPLES:
        return _speedup(slow, fast, ratios[0], (min(ratios), max(ratios)), TOO_FEW)
    place = locate(ratios, confidence=SURE)
    low, high = place.interval
    told_apart = low > 0 or high < 0
    reason = CLOSE if told_apart and abs(place.centre) < math.log1p(APART) else ""
    return replace(_speedup(slow, fast, place.centre, place.interval, reason), sure=percent(SURE))


def _one_after_the_other(slow: Measurement, fast: Measurement) -> Speedup:
    few = min(len(slow.samples), len(fast.samples)) < FEW_SAMPLES
    (a, b), (c, d) = slow.interval, fast.interval
    bounds = (math.log(a) - math.log(d), math.log(b) - math.log(c))
    centre = math.log(slow.median) - math.log(fast.median)
    if not few and (bounds[0] > 0 or bounds[1] < 0):
        if abs(centre) < math.log1p(APART):
            return _speedup(slow, fast, centre, bounds, CLOSE)
        one, two = slow.place, fast.place
        gap, run = two.centre - one.centre, (one.slope + two.slope) / 2
        both = (one.trend + two.trend) / math.sqrt(2)
        # both drift the way the second one differs: going on like that may be all there is
        if both * gap > 0 and abs(both) > 1.28 and abs(gap) < 1.5 * abs(run):
            reach = abs(gap) + abs(run)
            return _speedup(slow, fast, centre, (-reach, reach), DRIFT)
    return _speedup(slow, fast, centre, bounds, TOO_FEW if few else "")


def _speedup(slow, fast, centre, bounds, reason="") -> Speedup:
    interval = (math.exp(bounds[0]), math.exp(bounds[1]))
    if not reason and bounds[0] <= 0 <= bounds[1]:
        hidden = max(math.expm1((bounds[1] - bounds[0]) / 2), APART)
        reason = (
            f"A difference of less than about {percent(hidden)} does not show in these samples."
        )
    return Speedup(slow, fast, interval, not reason, None if reason else math.exp(centre), reason)
