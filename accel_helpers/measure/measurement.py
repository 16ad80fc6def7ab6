"""The two values of `timing`, a Measurement and a Speedup, and the statistics under both.

A series of samples has a centre, an honest interval and a drift; all on logarithms. The trimmed
mean, with the standard error of Yuen (1974, Biometrika 61) and Student's t; neighbours that
resemble each other widen the interval by (1 + r) / (1 - r), and a drift does to its ends. What
30 samples with a spread of 12 % cannot show reliably: a drift of 5 to 20 % in all that goes on from
one timing into the next or turns around, and a level that wanders. Then take turns.
"""

from __future__ import annotations

import math
import statistics
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations, pairwise
from typing import ClassVar

from accel_helpers._values.records import positive
from accel_helpers._values.words import format_range, format_seconds, percent, wrapped

CONFIDENCE = 0.95  # two such intervals that do not overlap: chance does that far less often
BLOCKS = 30  # what many samples are condensed to
TRIM = 0.10
FEW_SAMPLES = 5  # with fewer there is no interval, only a smallest and a largest value
SLIGHT_DRIFT = 0.03  # a smaller wave or drift is in the interval, and not worth a warning
VAGUE = 3  # an interval whose ends are further apart than this names no ratio
WIDE_SPREAD = 0.15  # interquartile range over median, from which a learner should know
FASTER, SLOWER, SAME = VERDICTS = ("faster", "slower", "no measurable difference")


@dataclass(frozen=True)
class Measurement:
    """What a function took: all samples, and what they support.

    >>> print(Measurement.from_samples([0.020, 0.021, 0.020, 0.022, 0.021, 0.020], name="step"))
    step: 20.5 ms (95 % interval 19.8 to 21.5 ms, 6 samples)
    """

    samples: tuple[float, ...]  # seconds per call, in the order measured
    first_call: float | None = None  # seconds; it may compile, load or copy
    name: str = ""
    calls_per_sample: int = 1  # more where single calls were too short to time
    notes: tuple[str, ...] = ()  # how it was measured

    def __post_init__(self):
        if not self.samples:
            raise ValueError("a measurement needs at least one time in seconds; got none.")
        whole = type(self.samples) is tuple and {*map(type, self.samples)} == {float}  # as read
        if not (whole and all(map(math.inf.__gt__, self.samples)) and min(self.samples) > 0):
            samples = tuple(positive(value, f"sample {i}") for i, value in enumerate(self.samples))
            object.__setattr__(self, "samples", samples)  # as floats, whatever they were
        if self.first_call is not None:
            object.__setattr__(self, "first_call", positive(self.first_call, "first_call"))

    @classmethod
    def from_samples(cls, seconds, *, first_call=None, name="", notes=()) -> Measurement:
        """Make a measurement from times taken elsewhere, in the order measured."""
        return cls(tuple(seconds), first_call, str(name), notes=tuple(notes))

    @property
    def median(self) -> float:
        """The middle sample, in seconds."""
        return statistics.median(self.samples)

    @cached_property
    def place(self) -> Place:
        """Where the logarithms of the samples lie."""
        return locate([math.log(seconds) for seconds in self.samples])

    @property
    def interval(self) -> tuple[float, float]:
        """Seconds (low, high); 95 of 100 intervals so made, on a steady machine, hold the truth."""
        if len(self.samples) < FEW_SAMPLES:
            return min(self.samples), max(self.samples)
        low, high = self.place.interval
        return min(math.exp(low), self.median), max(math.exp(high), self.median)

    @property
    def warnings(self) -> tuple[str, ...]:
        """What a reader should know before believing the number, in plain words."""
        n, spread, found = len(self.samples), 0.0, []
        if n < FEW_SAMPLES:
            found.append(
                f"Only {n} {'sample' if n == 1 else 'samples'}: too few to say how far to trust "
                f"the number. Take at least {FEW_SAMPLES}."
            )
        else:
            low, _, high = statistics.quantiles(self.samples, n=4, method="inclusive")
            spread = (high - low) / self.median
            share = abs(math.expm1(self.place.slope))
            if self.place.drifts and share > SLIGHT_DRIFT:
                word = "rose" if self.place.slope > 0 else "fell"
                found.append(
                    f"The times {word} by about {percent(share)} while they were taken: the "
                    "machine was changing. Measure again, or let timing.compare take turns."
                )
            elif self.place.autocorrelation > 0.5 and spread > SLIGHT_DRIFT:
                found.append(
                    "Neighbouring samples resemble each other: something came and went while "
                    "they were taken. The interval is wider for it."
                )
        late = sum(s > twice for twice in [2 * self.median] for s in self.samples)
        if late > 0.02 * n:
            found.append(
                f"{late} of {n} samples took more than twice the median: something else used "
                "the machine. The median is not moved by a few of them."
            )
        if spread > WIDE_SPREAD:
            found.append(
                f"The middle half of the samples spreads over {percent(spread)} of the "
                "median: small differences cannot be seen."
            )
        return tuple(found)

    def __str__(self) -> str:
        n = len(self.samples)
        what = "from" if n < FEW_SAMPLES else f"{percent(CONFIDENCE)} interval"
        text = f"{format_seconds(self.median)} ({what} {format_range(*self.interval)}, "
        text += f"{n} sample{'' if n == 1 else 's'}"
        if self.first_call is not None:
            text += f"; first call {format_seconds(self.first_call)}"
        lines = [f"{self.name}: {text})" if self.name else f"{text})"]
        lines += [wrapped(note, lead="  Note: ", indent=4) for note in self.notes]
        lines += [wrapped(warning, lead="  Careful: ", indent=4) for warning in self.warnings]
        return "\n".join(lines)


@dataclass(frozen=True)
class Speedup:
    """How two measurements compare, and whether they can be told apart."""

    OUTCOMES: ClassVar = VERDICTS  # of its `verdict`

    slow: Measurement  # the one expected to be slower
    fast: Measurement
    interval: tuple[float, float]  # of the ratio slow/fast
    conclusive: bool  # whether the two can be told apart
    ratio: float | None  # time of `slow` over time of `fast`; None where it is not conclusive
    reason: str = ""  # why it is not conclusive
    sure: str = "95 %"  # of the interval, or more; "99 %" where the two took turns

    @property
    def verdict(self) -> str:
        """One of "faster", "slower" (the fast one lost) and "no measurable difference"."""
        if not self.conclusive:
            return SAME
        return FASTER if self.ratio > 1 else SLOWER

    @property
    def times(self) -> str:
        """The ratio as it is printed: two digits, and near 1 two decimals; "" where it is None."""
        if self.ratio is None:
            return ""
        if self.ratio >= 100:
            return f"{self.ratio:,.0f}"
        return f"{self.ratio:.2f}" if 0.5 < self.ratio < 2 else f"{self.ratio:.2g}"

    def __str__(self) -> str:
        slow, fast = self.slow.name or "the first", self.fast.name or "the second"
        if not self.conclusive:
            return f"{slow} and {fast}: {SAME}. {self.reason}".rstrip()
        low, high = self.interval
        first, second, ratio = fast, slow, self.ratio
        if ratio < 1:
            first, second, ratio, low, high = slow, fast, 1 / ratio, 1 / high, 1 / low
        if high > VAGUE * low:  # the ratio in its middle would promise more than is known
            between = f"between {low:.2g} and {high:.2g} times as fast ({self.sure} interval)"
            return f"{first} is faster than {second}: {between}"
        between = f"({self.sure} interval {low:.3g} to {high:.3g})"
        return f"{first} is {ratio:.3g} times as fast as {second} {between}"


@dataclass(frozen=True)
class Place:
    """Centre, interval and drift of a series."""

    centre: float
    interval: tuple[float, float]
    slope: float  # change from the first to the last sample, along a robust line
    trend: float  # rank correlation with the order, times sqrt(n - 1): about normal
    drifts: bool
    autocorrelation: float


def locate(values: Sequence[float], *, confidence: float = CONFIDENCE) -> Place:
    """Where at least two logarithms lie; many are condensed, so that slow waves count as such."""
    values = list(values)
    if len(values) > 2 * BLOCKS:
        edges = [i * len(values) // BLOCKS for i in range(BLOCKS + 1)]
        values = [statistics.median(values[a:b]) for a, b in pairwise(edges)]
    n, ordered = len(values), sorted(values)
    cut = int(TRIM * n)
    centre = statistics.fmean(ordered[cut : n - cut])
    # of equal values each has the middle rank
    ranks = [(bisect_left(ordered, v) + bisect_right(ordered, v) - 1) / 2 for v in values]
    trend = statistics.correlation(range(n), ranks) if len(set(ranks)) > 1 else 0.0
    alike = _autocorrelation(ranks)
    half = student(n - 1, confidence) * _error(values, cut) * math.sqrt((1 + alike) / (1 - alike))
    slope = statistics.median(  # Theil-Sen: of the slopes between all pairs
        (values[j] - values[i]) / (j - i) for i, j in combinations(range(n), 2)
    )
    drifts = abs(trend) * math.sqrt(n - 1) > 2.58 or abs(trend) > 0.9
    if drifts:
        flat = [value - slope * i for i, value in enumerate(values)]
        # a line through n points is known half as well at its ends as in its middle
        half = max(half, abs(slope) * n / 2 + 1.64 * 2 * _error(flat, cut))
    interval = (centre - half, centre + half)
    return Place(centre, interval, slope * n, trend * math.sqrt(n - 1), drifts, alike)


def student(degrees: int, confidence: float) -> float:
    """Two-sided quantile of Student's t (Abramowitz and Stegun 26.7.5, two terms)."""
    z = statistics.NormalDist().inv_cdf(0.5 + confidence / 2)
    return z + (z**3 + z) / (4 * degrees) + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * degrees**2)


def _error(values: Sequence[float], cut: int) -> float:
    """Standard error of the trimmed mean, from the values with their ends drawn in."""
    ordered, n = sorted(values), len(values)
    low, high = ordered[cut], ordered[n - 1 - cut]
    drawn_in = [min(max(value, low), high) for value in values]
    return statistics.stdev(drawn_in) / ((1 - 2 * cut / n) * math.sqrt(n))


def _autocorrelation(ranks: Sequence[float]) -> float:
    """Lag-1 autocorrelation, from 0 to 0.9; 0 where it may well be chance."""
    n, mean = len(ranks), statistics.fmean(ranks)
    off = [rank - mean for rank in ranks]
    total = sum(x * x for x in off)
    r = sum(x * y for x, y in pairwise(off)) / total if total else 0.0
    # short series show too little of it (Kendall 1954)
    return min(r + (1 + 4 * r) / n, 0.9) if n >= 10 and r >= 0.2 else 0.0
