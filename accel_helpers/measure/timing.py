"""Time a function, or compare two: wait for the device, repeat, and say what cannot be told.

Two timings are compared by the logarithms of their seconds: there an interval of a ratio is one of
a difference. A *log ratio* is the logarithm of a ratio, slow over fast; its *bounds* are the ends
(low, high) of its interval.
"""

import math
import time
from collections.abc import Callable
from dataclasses import replace

from accel_helpers._values.words import format_seconds, percent
from accel_helpers.measure.measurement import FEW_SAMPLES, Measurement, Speedup
from accel_helpers.measure.series import Place, locate
from accel_helpers.measure.turns import make_limits, time_in_turns

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
) -> Measurement:
    """Time a function: its first call apart, then many calls, waited for.

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
        The least number of samples.
    min_time : float, optional
        The least number of seconds spent in samples; more are taken until then.
    max_time : float, optional
        The seconds, without the first call, after which it stops once there are five samples.
    seconds : float, optional
        Takes the place of these three: as many samples as fit in so many seconds, the first call
        included; up to twice the time while there are fewer than five.
    name : str, optional
        What is measured.

    Returns
    -------
    Measurement
        All samples, in seconds per call, and the first call apart.

    Raises
    ------
    TypeError
        If `fn` cannot be called.

    Examples
    --------
    >>> m = benchmark(lambda: sum(range(100_000)), repeats=5, min_time=0.01, name="sum")
    >>> len(m.samples) >= 5 and m.first_call > 0
    True
    """
    limits = make_limits(repeats, min_time, max_time, seconds)
    [measurement] = time_in_turns([fn], [name], wait, clock, limits)
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
    in_turns : bool, optional
        Measurements whose samples were taken in turns: they are compared pair by pair too.

    Returns
    -------
    Speedup
        Its `verdict` is "faster", "slower" (the fast one lost) or "no measurable difference"; its
        `ratio` is the time of `slow` over that of `fast`, or None where it cannot tell; its
        `interval` is a 99 % one where they took turns, else made of two 95 % ones, and so at least
        that (`sure` says which); its `reason` says why it cannot tell.

    Raises
    ------
    TypeError
        If one is a Measurement and the other is not, or a function cannot be called.
    ValueError
        If measurements were taken `in_turns` and have different numbers of samples.

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
        if not in_turns:
            return _compare_apart(slow_times, fast_times)
    else:
        limits = make_limits(repeats, min_time, max_time, seconds)
        slow_times, fast_times = time_in_turns([slow, fast], names, wait, clock, limits)
    return _compare_pairs(slow_times, fast_times)


def _renamed(measurement: Measurement, name: str) -> Measurement:
    """Return a measurement under another name, or as it is where the name is empty."""
    if not name:
        return measurement
    return replace(measurement, name=name)


def _compare_pairs(slow: Measurement, fast: Measurement) -> Speedup:
    """Compare measurements whose samples were taken in turns, pair by pair.

    Returns an inconclusive Speedup for fewer than `FEW_SAMPLES` pairs. Raises ValueError where the
    two have different numbers of samples.
    """
    log_ratios = []
    for slow_seconds, fast_seconds in zip(slow.samples, fast.samples, strict=True):
        log_ratios.append(math.log(slow_seconds) - math.log(fast_seconds))
    if len(log_ratios) < FEW_SAMPLES:
        bounds = (min(log_ratios), max(log_ratios))
        return _undecided(slow, fast, bounds, TOO_FEW)
    place = locate(log_ratios, confidence=SURE)
    speedup = _conclude(slow, fast, place.centre, place.interval)
    return replace(speedup, sure=percent(SURE))


def _compare_apart(slow: Measurement, fast: Measurement) -> Speedup:
    """Compare measurements that were taken one after the other, by their intervals.

    Returns an inconclusive Speedup for fewer than `FEW_SAMPLES` of either, where the intervals
    overlap, where the two differ by less than `APART`, or where a drift could explain all of it.
    """
    slow_low, slow_high = slow.interval
    fast_low, fast_high = fast.interval
    # The ratio may lie anywhere between those of the opposite ends.
    lowest = math.log(slow_low) - math.log(fast_high)
    highest = math.log(slow_high) - math.log(fast_low)
    bounds = (lowest, highest)
    fewest_samples = min(len(slow.samples), len(fast.samples))
    if fewest_samples < FEW_SAMPLES:
        return _undecided(slow, fast, bounds, TOO_FEW)
    centre = math.log(slow.median) - math.log(fast.median)
    speedup = _conclude(slow, fast, centre, bounds)
    if not speedup.conclusive:
        return speedup
    reach = _reach_of_drift(slow.place, fast.place)
    if reach is None:
        return speedup
    # Without the drift, the two might be equal: the interval is around a ratio of 1.
    bounds = (-reach, reach)
    return _undecided(slow, fast, bounds, DRIFT)


def _reach_of_drift(slow: Place, fast: Place) -> float | None:
    """Return the log ratio that a drift in both timings may have made.

    Returns None where a drift cannot explain the gap between them: it is not clear, goes the other
    way, or is too small. `slow` was taken before `fast`; both are places of logarithms.
    """
    gap = fast.centre - slow.centre
    # Of both timings together: how far one of them drifted, and how clear that is.
    drift = (slow.slope + fast.slope) / 2
    trend = (slow.trend + fast.trend) / math.sqrt(2)
    if abs(trend) <= MIN_TREND:
        return None
    # Times that rose explain a second timing that is slower, and not one that is faster.
    goes_the_same_way = trend * gap > 0
    # From the middle of one timing to that of the next, the machine drifts about as far again.
    goes_far_enough = abs(gap) < 1.5 * abs(drift)
    if goes_the_same_way and goes_far_enough:
        return abs(gap) + abs(drift)
    return None


def _conclude(
    slow: Measurement, fast: Measurement, centre: float, bounds: tuple[float, float]
) -> Speedup:
    """Return the Speedup of a log ratio, `centre`, whose interval has these bounds.

    It is inconclusive where the interval holds a ratio of 1, or the ratio is within `APART` of 1.
    """
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


def _undecided(
    slow: Measurement, fast: Measurement, bounds: tuple[float, float], reason: str
) -> Speedup:
    """Return the Speedup of two timings that cannot be told apart; `reason` says why."""
    return Speedup(slow, fast, _ratios(bounds), conclusive=False, ratio=None, reason=reason)


def _ratios(bounds: tuple[float, float]) -> tuple[float, float]:
    """Return the ends of an interval of ratios, from those of the log ratio."""
    low, high = bounds
    return math.exp(low), math.exp(high)
