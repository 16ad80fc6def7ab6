"""The statistics of a series of samples: its centre, an honest interval, and its drift.

All of it is on logarithms of seconds. The centre is the trimmed mean, with the standard error of
Yuen (1974, Biometrika 61) and Student's t. Neighbours that resemble each other widen the interval
by the root of (1 + r) / (1 - r), and a drift widens it to its ends.

What 30 samples with a spread of 12% cannot show reliably: a drift of 5 to 20% in all that goes on
from one timing into the next or turns around, and a level that wanders. Then take turns.
"""

import math
import statistics
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise

CONFIDENCE = 0.95  # two such intervals that do not overlap: chance does that far less often
BLOCKS = 30  # what many samples are condensed to
TRIM = 0.10  # of the samples, at either end, that the centre leaves out
CLEAR_TREND = 2.58  # of a drift; without one, chance exceeds it in one case of a hundred
STEADY_TREND = 0.9  # rank correlation of a drift that is clear in few samples, too


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
    """Return the centre of at least two logarithms, its interval and their drift.

    The values stand in the order in which they were measured; fewer than two are a mistake of the
    caller, and not checked. More than 60 are condensed to 30 medians first, so that slow waves show
    as resemblance between neighbours. `confidence` is that of the interval, between 0 and 1, such
    as 0.95. The drift, `change`, is from the first value to the last.
    """
    values = _condense(values)
    count = len(values)
    cut = int(TRIM * count)
    middle_values = sorted(values)[cut : count - cut]
    centre = statistics.fmean(middle_values)
    ranks = _rank(values)
    autocorrelation = _autocorrelation(ranks)
    # Samples that resemble their neighbours (from 0 to 0.9) tell less than as many others.
    widening = math.sqrt((1 + autocorrelation) / (1 - autocorrelation))
    quantile = student(count - 1, confidence)
    half_width = quantile * _error(values, cut) * widening
    slope = _slope(values)
    correlation = _correlation_with_order(ranks)
    trend = correlation * math.sqrt(count - 1)
    # A trend that chance hardly makes; in few samples only a strict order is clear.
    drifts = abs(trend) > CLEAR_TREND or abs(correlation) > STEADY_TREND
    if drifts:
        half_width = max(half_width, _half_width_at_ends(values, slope, cut))
    interval = (centre - half_width, centre + half_width)
    change = slope * count
    return Place(centre, interval, change, trend, drifts, autocorrelation)


def _half_width_at_ends(values: Sequence[float], slope: float, cut: int) -> float:
    """Return half the width of an interval that reaches to the ends of a drift.

    `slope` is the drift from one value to the next, and `cut` that of `_error`.
    """
    values_without_drift = []
    for i, value in enumerate(values):
        values_without_drift.append(value - slope * i)
    half_of_drift = abs(slope) * len(values) / 2
    # A line through n points is known half as well at its ends as in its middle.
    return half_of_drift + 1.64 * 2 * _error(values_without_drift, cut)


def student(degrees: int, confidence: float) -> float:
    """Return the two-sided quantile of Student's t, such as 2.09 for 20 degrees and 0.95.

    It is approximate (Abramowitz and Stegun 26.7.5, two terms): too small for under 10 degrees.
    """
    z = statistics.NormalDist().inv_cdf(0.5 + confidence / 2)
    first_sum = z**3 + z
    second_sum = 5 * z**5 + 16 * z**3 + 3 * z
    first_term = first_sum / (4 * degrees)
    second_term = second_sum / (96 * degrees**2)
    return z + first_term + second_term


def _condense(values: Sequence[float]) -> list[float]:
    """Return the values; or, of more than 60, the medians of 30 stretches of neighbours."""
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
    """Return the rank of each value, from 0; of equal values each has the middle rank.

    [5.0, 3.0, 5.0] -> [1.5, 0.0, 1.5]
    """
    ordered_values = sorted(values)
    ranks = []
    for value in values:
        # The first and the last place of values that are equal to this one.
        first = bisect_left(ordered_values, value)
        last = bisect_right(ordered_values, value) - 1
        ranks.append((first + last) / 2)
    return ranks


def _correlation_with_order(ranks: Sequence[float]) -> float:
    """Return the rank correlation of values with their order (Spearman's), from -1 to 1.

    Returns 0 where all ranks are equal.
    """
    if len(set(ranks)) == 1:
        return 0.0
    return statistics.correlation(range(len(ranks)), ranks)


def _slope(values: Sequence[float]) -> float:
    """Return the change from one value to the next: the median slope of all pairs (Theil-Sen)."""
    slopes = []
    for (i, value), (j, later_value) in combinations(enumerate(values), 2):
        slopes.append((later_value - value) / (j - i))
    return statistics.median(slopes)


def _error(values: Sequence[float], cut: int) -> float:
    """Return the standard error of the mean that leaves out `cut` values at either end.

    It is computed from all the values, those that are left out drawn in to the nearest of the
    others (Winsorized).
    """
    count = len(values)
    ordered_values = sorted(values)
    low = ordered_values[cut]
    high = ordered_values[count - 1 - cut]
    drawn_in_values = [min(max(value, low), high) for value in values]
    share_kept = 1 - 2 * cut / count
    return statistics.stdev(drawn_in_values) / (share_kept * math.sqrt(count))


def _autocorrelation(ranks: Sequence[float]) -> float:
    """Return the correlation of each rank with the next one, from 0 to 0.9.

    Returns 0 for fewer than 10 ranks, and for a correlation below 0.2, which may well be chance.
    """
    count = len(ranks)
    mean = statistics.fmean(ranks)
    deviations = [rank - mean for rank in ranks]
    total = sum(deviation * deviation for deviation in deviations)
    if count < 10 or total == 0:
        return 0.0
    products = [deviation * next_deviation for deviation, next_deviation in pairwise(deviations)]
    correlation = sum(products) / total
    if correlation < 0.2:
        return 0.0
    # Short series show too little of it (Kendall 1954).
    corrected_correlation = correlation + (1 + 4 * correlation) / count
    return min(corrected_correlation, 0.9)
