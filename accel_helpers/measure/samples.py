"""Where a series of samples lies: its centre, an honest interval, its drift.

Everything is done on the logarithms of the samples, since times are compared by ratios. The
centre is the trimmed mean (a tenth cut off at each end), with the standard error of Yuen (1974,
Biometrika 61). Three things widen the interval:

* few samples: Student's t;
* samples that resemble their neighbours: by the lag-1 autocorrelation r, (1 + r) / (1 - r);
* a drift: the interval then reaches over both ends of the line through the samples.

More than 60 samples are first condensed to 30 medians of neighbours, so that slow waves in the
load of a machine count as what they are. What thirty samples with a spread of 12 % cannot show
reliably: a drift of some 5 to 20 % from the first to the last of them, going on from one timing
into the next or in opposite directions, and a level that wanders as a random walk does. Two
timings of one thing are then told apart too often. Where it matters, `timing.compare` takes turns.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

CONFIDENCE = 0.95  # two such intervals that do not overlap: chance does that far less often
BLOCKS = 30
TRIM = 0.10


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
    """Where a series lies; the module's docstring says how.

    Parameters
    ----------
    values : sequence of float
        Logarithms of times or of ratios, in the order measured; at least two.
    confidence : float, optional
        Of the interval, between 0 and 1.

    Returns
    -------
    Place

    Examples
    --------
    >>> place = locate([0.0, 0.1, 0.0, 0.1, 0.0, 0.1])
    >>> round(place.centre, 2), place.drifts
    (0.05, False)
    """
    values = _condense(list(values))
    n = len(values)
    root = math.sqrt(n)
    cut = int(TRIM * n)
    centre = statistics.fmean(sorted(values)[cut : n - cut])
    error = statistics.stdev(_winsorized(values, cut)) / ((1 - 2 * cut / n) * root)
    rank = _rank_correlation(range(n), values)
    alike = _autocorrelation(values)
    half = _student(n - 1, confidence) * error * math.sqrt((1 + alike) / (1 - alike))
    slope = _slope(values)
    drifts = abs(rank) * math.sqrt(n - 1) > 2.58 or abs(rank) > 0.9
    if drifts:
        flat = [value - slope * i for i, value in enumerate(values)]
        flat_error = statistics.stdev(_winsorized(flat, cut)) / ((1 - 2 * cut / n) * root)
        # a line through n points is known half as well at its ends as in its middle
        half = max(half, abs(slope) * n / 2 + 1.64 * 2 * flat_error)
    return Place(
        centre,
        (centre - half, centre + half),
        slope * n,
        rank * math.sqrt(n - 1),
        drifts,
        alike,
    )


def _condense(values: list[float]) -> list[float]:
    n = len(values)
    if n <= 2 * BLOCKS:
        return values
    edges = [i * n // BLOCKS for i in range(BLOCKS + 1)]
    return [statistics.median(values[a:b]) for a, b in zip(edges, edges[1:], strict=False)]


def _winsorized(values: Sequence[float], cut: int) -> list[float]:
    ordered = sorted(values)
    low, high = ordered[cut], ordered[len(ordered) - 1 - cut]
    return [min(max(value, low), high) for value in values]


def _ranks(values: Sequence[float]) -> list[float]:
    order = sorted(range(len(values)), key=values.__getitem__)
    ranks, i = [0.0] * len(values), 0
    while i < len(order):
        j = i
        while j + 1 < len(order) and values[order[j + 1]] == values[order[i]]:
            j += 1
        for k in range(i, j + 1):
            ranks[order[k]] = (i + j) / 2  # equal values share their rank
        i = j + 1
    return ranks


def _rank_correlation(a: Sequence[float], b: Sequence[float]) -> float:
    a, b = _ranks(a), _ranks(b)
    if len(set(a)) < 2 or len(set(b)) < 2:
        return 0.0
    return statistics.correlation(a, b)


def _autocorrelation(values: Sequence[float]) -> float:
    """Lag-1 autocorrelation of the ranks, from 0 to 0.9; 0 where it may well be chance."""
    n = len(values)
    if n < 10:
        return 0.0
    ranks = _ranks(values)
    mean = statistics.fmean(ranks)
    off = [rank - mean for rank in ranks]
    total = sum(x * x for x in off)
    r = sum(x * y for x, y in zip(off, off[1:], strict=False)) / total if total else 0.0
    if r < 0.2:
        return 0.0
    return min(r + (1 + 4 * r) / n, 0.9)  # short series show too little of it (Kendall 1954)


def _slope(values: Sequence[float]) -> float:
    """Median of the slopes between all pairs (Theil-Sen)."""
    n = len(values)
    return statistics.median(
        (values[j] - values[i]) / (j - i) for i in range(n) for j in range(i + 1, n)
    )


def _student(degrees: int, confidence: float) -> float:
    """Two-sided quantile of Student's t (Abramowitz and Stegun 26.7.5, two terms)."""
    z = statistics.NormalDist().inv_cdf(0.5 + confidence / 2)
    return z + (z**3 + z) / (4 * degrees) + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * degrees**2)
