"""Time a function, or compare two: wait for the device, repeat, and say what cannot be told.

Two timings are compared by the logarithms of their seconds: there an interval of a ratio is one of
a difference. A *log ratio* is the logarithm of a ratio, slow over fast; its *bounds* are the ends
(low, high) of its interval.
"""

import math
import time
from collections.abc import Callable
from dataclasses import replace

from accel_helpers._values.words import percent
from accel_helpers.measure.measurement import FEW_SAMPLES, Interval, Measurement, Speedup
from accel_helpers.measure.series import Place, locate
from accel_helpers.measure.turns import Clock, Wait, time_in_turns

APART = 0.05  # what differs by less counts as no difference
MIN_TREND = 1.28  # of a drift in both timings; chance alone exceeds it in one case of five
SURE = 0.99  # one interval decides where two functions take turns, so it is the stricter one

TOO_FEW = f"There are too few samples: take at least {FEW_SAMPLES} of each."
CLOSE = f"They differ by less than {percent(APART)}, which counts as no difference."
DRIFT = "The times drifted all along, and that alone could explain what differs."

__all__ = ["Measurement", "benchmark", "compare"]


def benchmark(
    fn: Callable[[], object],
    *,
    wait: Wait | None = None,
    clock: Clock = time.perf_counter,
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
    seconds : float, optional
        As many samples as fit in so many seconds, the first call included; up to twice the time
        while there are fewer than five. By default 30 samples, and more until they took a second;
        fewer if two minutes have passed, and there are five.
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
    >>> m = benchmark(lambda: sum(range(100_000)), seconds=0.1, name="sum")
    >>> len(m.samples) >= 5 and m.first_call > 0
    True
    """
    [measurement] = time_in_turns([fn], [name], wait, clock, seconds)
    return measurement


def compare(
    slow: Callable[[], object] | Measurement,
    fast: Callable[[], object] | Measurement,
    *,
    wait: Wait | None = None,
    clock: Clock = time.perf_counter,
    seconds: float | None = None,
    names: tuple[str, str] = ("", ""),
    in_turns: bool = False,
) -> Speedup:
    """Compare two functions, or two measurements, and say whether they differ at all.

    Functions take turns, slow-fast, fast-slow and so on, so that a machine that grows slower or
    faster meanwhile favours neither; the ratio is taken pair by pair. Measurements differ only
    where their intervals do not overlap, and where a drift that both show does not explain it.
    Either way less than 5% counts as no difference.

    Parameters
    ----------
    slow, fast : callable or Measurement
        The one expected to be slower, then the one expected to be faster; both of a kind.
    wait, clock, seconds, names : optional
        As in `benchmark`, for functions; and a name for each.
    in_turns : bool, optional
        Measurements whose samples were taken in turns: they are compared pair by pair too.

    Returns
    -------
    Speedup
        Its `verdict` is "faster", "slower" (the fast one lost) or "no measurable difference"; its
        `ratio` is the time of `slow` over that of `fast`, or None where it cannot tell; its
        `interval` is a 99% one where they took turns, else made of two 95% ones, and so at least
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
    C is 10.5 times as fast as A (95% interval 8.42 to 12)
    """
    if isinstance(slow, Measurement) and isinstance(fast, Measurement):
        slow_name, fast_name = names
        slow = replace(slow, name=slow_name or slow.name)
        fast = replace(fast, name=fast_name or fast.name)
        if in_turns:
            return _compare_pairs(slow, fast)
        return _compare_apart(slow, fast)
    slow_times, fast_times = time_in_turns([slow, fast], names, wait, clock, seconds)
    return _compare_pairs(slow_times, fast_times)


def _compare_pairs(slow: Measurement, fast: Measurement) -> Speedup:
    """Compare measurements whose samples were taken in turns, pair by pair.

    Raises ValueError where the two have different numbers of samples.
    """
    log_ratios = []
    for slow_seconds, fast_seconds in zip(slow.samples, fast.samples, strict=True):
        log_ratio = math.log(slow_seconds) - math.log(fast_seconds)
        log_ratios.append(log_ratio)
    if len(log_ratios) < FEW_SAMPLES:
        bounds = (min(log_ratios), max(log_ratios))
        return _speedup(slow, fast, bounds, TOO_FEW)
    place = locate(log_ratios, confidence=SURE)
    speedup = _conclude(slow, fast, place.centre, place.interval)
    return replace(speedup, sure=percent(SURE))


def _compare_apart(slow: Measurement, fast: Measurement) -> Speedup:
    """Compare measurements that were taken one after the other, by their intervals."""
    slow_low, slow_high = map(math.log, slow.interval)
    fast_low, fast_high = map(math.log, fast.interval)
    # The ratio may lie anywhere between those of the opposite ends.
    lowest = slow_low - fast_high
    highest = slow_high - fast_low
    bounds = (lowest, highest)
    fewest_samples = min(len(slow.samples), len(fast.samples))
    if fewest_samples < FEW_SAMPLES:
        return _speedup(slow, fast, bounds, TOO_FEW)
    centre = math.log(slow.median) - math.log(fast.median)
    speedup = _conclude(slow, fast, centre, bounds)
    reach = _reach_of_drift(slow.place, fast.place)
    if reach is None or not speedup.conclusive:
        return speedup
    # Without the drift, the two might be equal: the interval is around a ratio of 1.
    return _speedup(slow, fast, (-reach, reach), DRIFT)


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


def _conclude(slow: Measurement, fast: Measurement, centre: float, bounds: Interval) -> Speedup:
    """Return the Speedup of a log ratio, `centre`, whose interval has these bounds.

    It is inconclusive where the interval holds a ratio of 1, or the ratio is within `APART` of 1.
    """
    low, high = bounds
    if low <= 0 <= high:
        half_width = (high - low) / 2
        hidden = percent(max(math.expm1(half_width), APART))
        reason = f"A difference of less than about {hidden} does not show in these samples."
        return _speedup(slow, fast, bounds, reason)
    if abs(centre) < math.log1p(APART):
        return _speedup(slow, fast, bounds, CLOSE)
    return _speedup(slow, fast, bounds, ratio=math.exp(centre))


def _speedup(
    slow: Measurement,
    fast: Measurement,
    bounds: Interval,
    reason: str = "",
    ratio: float | None = None,
) -> Speedup:
    """Return a Speedup from the bounds of a log ratio; without a ratio, a reason says why."""
    low, high = bounds
    interval = (math.exp(low), math.exp(high))
    return Speedup(slow, fast, interval, ratio is not None, ratio, reason)
