"""The two values of `timing`, a Measurement and a Speedup, and the statistics under both.

A series of samples has a centre, an honest interval and a drift; all on logarithms. The centre is
the trimmed mean, with the standard error of Yuen (1974, Biometrika 61) and Student's t. Neighbours
that resemble each other widen the interval by (1 + r) / (1 - r), and a drift widens it to its ends.

What 30 samples with a spread of 12 % cannot show reliably: a drift of 5 to 20 % in all that goes on
from one timing into the next or turns around, and a level that wanders. Then take turns.
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
TRIM = 0.10  # of the samples, at either end, that the centre leaves out
FEW_SAMPLES = 5  # with fewer there is no interval, only a smallest and a largest value
SLIGHT_DRIFT = 0.03  # a smaller wave or drift is in the interval, and not worth a warning
CLEAR_TREND = 2.58  # of a drift; without one, chance exceeds it in one case of a hundred
STEADY_TREND = 0.9  # rank correlation of a drift that is clear in few samples, too
VAGUE = 3  # an interval whose ends are further apart than this names no ratio
WIDE_SPREAD = 0.15  # interquartile range over median, from which a learner should know
LATE_SHARE = 0.02  # of samples over twice the median, from which a learner should know
FASTER = "faster"
SLOWER = "slower"
SAME = "no measurable difference"
VERDICTS = (FASTER, SLOWER, SAME)


@dataclass(frozen=True)
class Measurement:
    """The times of a function: all samples, and what they support.

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
        if not _are_times(self.samples):
            samples = tuple(positive(value, f"sample {i}") for i, value in enumerate(self.samples))
            object.__setattr__(self, "samples", samples)
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
        # It is that of a trimmed mean, and the median may lie outside.
        low_seconds = min(math.exp(low), self.median)
        high_seconds = max(math.exp(high), self.median)
        return low_seconds, high_seconds

    @property
    def warnings(self) -> tuple[str, ...]:
        """What a reader should know before believing the number, in plain words."""
        warnings = [
            self._warn_of_few_samples(),
            self._warn_of_change(),
            self._warn_of_late_samples(),
            self._warn_of_spread(),
        ]
        return tuple(warning for warning in warnings if warning)

    @property
    def _spread(self) -> float:
        """Interquartile range over median; 0 where there are too few samples for it."""
        if len(self.samples) < FEW_SAMPLES:
            return 0.0
        low, _, high = statistics.quantiles(self.samples, n=4, method="inclusive")
        return (high - low) / self.median

    def _warn_of_few_samples(self) -> str:
        """A warning of too few samples, or an empty text."""
        count = len(self.samples)
        if count >= FEW_SAMPLES:
            return ""
        return (
            f"Only {_samples(count)}: too few to say how far to trust the number. "
            f"Take at least {FEW_SAMPLES}."
        )

    def _warn_of_change(self) -> str:
        """A warning of a drift, or else of a level that came and went, or an empty text."""
        if len(self.samples) < FEW_SAMPLES:
            return ""
        place = self.place
        change = abs(math.expm1(place.slope))
        if place.drifts and change > SLIGHT_DRIFT:
            verb = "rose" if place.slope > 0 else "fell"
            return (
                f"The times {verb} by about {percent(change)} while they were taken: the "
                "machine was changing. Measure again, or let timing.compare take turns."
            )
        if place.autocorrelation > 0.5 and self._spread > SLIGHT_DRIFT:
            return (
                "Neighbouring samples resemble each other: something came and went while "
                "they were taken. The interval is wider for it."
            )
        return ""

    def _warn_of_late_samples(self) -> str:
        """A warning of samples far above the others, or an empty text."""
        count = len(self.samples)
        twice_the_median = 2 * self.median
        late = sum(seconds > twice_the_median for seconds in self.samples)
        if late <= LATE_SHARE * count:
            return ""
        return (
            f"{late} of {count} samples took more than twice the median: something else used "
            "the machine. The median is not moved by a few of them."
        )

    def _warn_of_spread(self) -> str:
        """A warning of samples that differ widely, or an empty text."""
        if self._spread <= WIDE_SPREAD:
            return ""
        return (
            f"The middle half of the samples spreads over {percent(self._spread)} of the "
            "median: small differences cannot be seen."
        )

    def __str__(self) -> str:
        count = len(self.samples)
        name_of_interval = f"{percent(CONFIDENCE)} interval"
        if count < FEW_SAMPLES:
            name_of_interval = "from"
        low, high = self.interval
        details = f"{name_of_interval} {format_range(low, high)}, {_samples(count)}"
        if self.first_call is not None:
            details += f"; first call {format_seconds(self.first_call)}"
        text = f"{format_seconds(self.median)} ({details})"
        if self.name:
            text = f"{self.name}: {text}"
        lines = [text]
        for note in self.notes:
            lines.append(wrapped(note, lead="  Note: ", indent=4))
        for warning in self.warnings:
            lines.append(wrapped(warning, lead="  Careful: ", indent=4))
        return "\n".join(lines)


def _are_times(samples) -> bool:
    """Whether this is a tuple of finite floats above zero already; a card has thousands of them."""
    if not isinstance(samples, tuple):
        return False
    types = set(map(type, samples))
    if types != {float}:
        return False
    return all(0 < value < math.inf for value in samples)


def _samples(count: int) -> str:
    """A number of samples in words."""
    if count == 1:
        return "1 sample"
    return f"{count} samples"


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
        if self.ratio is None or not self.conclusive:
            return SAME
        if self.ratio > 1:
            return FASTER
        return SLOWER

    @property
    def times(self) -> str:
        """The ratio as it is printed: two digits, and near 1 two decimals; "" where it is None."""
        if self.ratio is None:
            return ""
        if self.ratio >= 100:
            return f"{self.ratio:,.0f}"
        if 0.5 < self.ratio < 2:
            return f"{self.ratio:.2f}"
        return f"{self.ratio:.2g}"

    def __str__(self) -> str:
        slow = self.slow.name or "the first"
        fast = self.fast.name or "the second"
        if self.ratio is None or not self.conclusive:
            return f"{slow} and {fast}: {SAME}. {self.reason}".rstrip()
        if self.ratio > 1:
            return self._sentence(fast, slow, self.ratio, self.interval)
        # The one expected to be slower was the faster one.
        low, high = self.interval
        inverse_ratio = 1 / self.ratio
        inverse_interval = (1 / high, 1 / low)
        return self._sentence(slow, fast, inverse_ratio, inverse_interval)

    def _sentence(self, faster: str, slower: str, ratio: float, interval) -> str:
        """Which one is faster, and how many times."""
        low, high = interval
        if high > VAGUE * low:
            # The ratio in the middle would promise more than is known.
            span = f"between {low:.2g} and {high:.2g} times as fast"
            return f"{faster} is faster than {slower}: {span} ({self.sure} interval)"
        span = f"{low:.3g} to {high:.3g}"
        times = f"{ratio:.3g} times as fast"
        return f"{faster} is {times} as {slower} ({self.sure} interval {span})"


@dataclass(frozen=True)
class Place:
    """Centre, interval and drift of a series."""

    centre: float
    interval: tuple[float, float]
    slope: float  # change from the first to the last sample, along a robust line
    trend: float  # rank correlation with the order, times sqrt(n - 1): about normal
    drifts: bool
    autocorrelation: float  # of neighbours


def locate(values: Sequence[float], *, confidence: float = CONFIDENCE) -> Place:
    """Find where at least two logarithms lie, and how far they drifted.

    Many are condensed first, so that slow waves count as such.
    """
    values = _condense(values)
    count = len(values)
    cut = int(TRIM * count)
    middle = sorted(values)[cut : count - cut]
    centre = statistics.fmean(middle)
    ranks = _rank(values)
    autocorrelation = _autocorrelation(ranks)
    # Samples that resemble their neighbours tell less than as many others.
    widening = math.sqrt((1 + autocorrelation) / (1 - autocorrelation))
    quantile = student(count - 1, confidence)
    half = quantile * _error(values, cut) * widening
    slope = _slope(values)
    correlation = _correlation_with_order(ranks)
    trend = correlation * math.sqrt(count - 1)
    # A trend that chance hardly makes; in few samples only a strict order is clear.
    drifts = abs(trend) > CLEAR_TREND or abs(correlation) > STEADY_TREND
    if drifts:
        half = max(half, _half_at_ends(values, slope, cut))
    interval = (centre - half, centre + half)
    change = slope * count
    return Place(centre, interval, change, trend, drifts, autocorrelation)


def _half_at_ends(values: Sequence[float], slope: float, cut: int) -> float:
    """Half the width of an interval that reaches to the ends of a drift."""
    flat = []
    for i, value in enumerate(values):
        flat.append(value - slope * i)
    half_of_drift = abs(slope) * len(values) / 2
    # A line through n points is known half as well at its ends as in its middle.
    return half_of_drift + 1.64 * 2 * _error(flat, cut)


def student(degrees: int, confidence: float) -> float:
    """Give the two-sided quantile of Student's t (Abramowitz and Stegun 26.7.5, two terms)."""
    z = statistics.NormalDist().inv_cdf(0.5 + confidence / 2)
    first_sum = z**3 + z
    second_sum = 5 * z**5 + 16 * z**3 + 3 * z
    first_term = first_sum / (4 * degrees)
    second_term = second_sum / (96 * degrees**2)
    return z + first_term + second_term


def _condense(values: Sequence[float]) -> list[float]:
    """The values; of many, the median of each of `BLOCKS` stretches."""
    values = list(values)
    count = len(values)
    if count <= 2 * BLOCKS:
        return values
    edges = [i * count // BLOCKS for i in range(BLOCKS + 1)]
    medians = []
    for start, end in pairwise(edges):
        stretch = values[start:end]
        medians.append(statistics.median(stretch))
    return medians


def _rank(values: Sequence[float]) -> list[float]:
    """The rank of each value, from 0; of equal values each has the middle rank."""
    ordered = sorted(values)
    ranks = []
    for value in values:
        # From the first to the last of those that are equal to it.
        first = bisect_left(ordered, value)
        last = bisect_right(ordered, value) - 1
        ranks.append((first + last) / 2)
    return ranks


def _correlation_with_order(ranks: Sequence[float]) -> float:
    """Rank correlation of values with their order (Spearman's); 0 where all are equal."""
    if len(set(ranks)) == 1:
        return 0.0
    return statistics.correlation(range(len(ranks)), ranks)


def _slope(values: Sequence[float]) -> float:
    """Change from one value to the next: the median of the slopes of all pairs (Theil-Sen)."""
    slopes = []
    for (i, value), (j, later) in combinations(enumerate(values), 2):
        slopes.append((later - value) / (j - i))
    return statistics.median(slopes)


def _error(values: Sequence[float], cut: int) -> float:
    """Standard error of the trimmed mean, from the values with their ends drawn in."""
    count = len(values)
    ordered = sorted(values)
    low = ordered[cut]
    high = ordered[count - 1 - cut]
    drawn_in = [min(max(value, low), high) for value in values]
    share_kept = 1 - 2 * cut / count
    return statistics.stdev(drawn_in) / (share_kept * math.sqrt(count))


def _autocorrelation(ranks: Sequence[float]) -> float:
    """Lag-1 autocorrelation, from 0 to 0.9; 0 where it may well be chance."""
    count = len(ranks)
    mean = statistics.fmean(ranks)
    deviations = [rank - mean for rank in ranks]
    total = sum(deviation * deviation for deviation in deviations)
    if count < 10 or total == 0:
        return 0.0
    products = [deviation * later for deviation, later in pairwise(deviations)]
    r = sum(products) / total
    if r < 0.2:
        return 0.0
    # Short series show too little of it (Kendall 1954).
    return min(r + (1 + 4 * r) / count, 0.9)
