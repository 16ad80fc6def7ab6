"""Where a series of samples lies: its centre, an honest interval, its drift; all on logarithms.

The trimmed mean, with the standard error of Yuen (1974, Biometrika 61) and Student's t; neighbours
that resemble each other widen the interval by (1 + r) / (1 - r), and a drift does to its ends. What
30 samples with a spread of 12 % cannot show reliably: a drift of 5 to 20 % in all that goes on from
one timing into the next or turns around, and a level that wanders. Then take turns.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise

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
    """Where at least two logarithms lie; many are condensed, so that slow waves count as such."""
    values = _condense(list(values))
    n = len(values)
    cut = int(TRIM * n)
    centre = statistics.fmean(sorted(values)[cut : n - cut])
    trend = _rank_correlation(values)
    alike = _autocorrelation(values)
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


def _condense(values: list[float]) -> list[float]:
    n = len(values)
    if n <= 2 * BLOCKS:
        return values
    edges = [i * n // BLOCKS for i in range(BLOCKS + 1)]
    return [statistics.median(values[a:b]) for a, b in pairwise(edges)]


def _error(values: Sequence[float], cut: int) -> float:
    """Standard error of the trimmed mean, from the values with their ends drawn in."""
    ordered, n = sorted(values), len(values)
    low, high = ordered[cut], ordered[n - 1 - cut]
    drawn_in = [min(max(value, low), high) for value in values]
    return statistics.stdev(drawn_in) / ((1 - 2 * cut / n) * math.sqrt(n))


def _ranks(values: Sequence[float]) -> list[float]:
    places: dict[float, list[int]] = {}
    for place, value in enumerate(sorted(values)):
        places.setdefault(value, []).append(place)
    return [statistics.fmean(places[value]) for value in values]  # equal values share their rank


def _rank_correlation(values: Sequence[float]) -> float:
    """Of the values with their order."""
    ranks = _ranks(values)
    return statistics.correlation(range(len(ranks)), ranks) if len(set(ranks)) > 1 else 0.0


def _autocorrelation(values: Sequence[float]) -> float:
    """Lag-1 autocorrelation of the ranks, from 0 to 0.9; 0 where it may well be chance."""
    n = len(values)
    if n < 10:
        return 0.0
    ranks = _ranks(values)
    mean = statistics.fmean(ranks)
    off = [rank - mean for rank in ranks]
    total = sum(x * x for x in off)
    r = sum(x * y for x, y in pairwise(off)) / total if total else 0.0
    if r < 0.2:
        return 0.0
    return min(r + (1 + 4 * r) / n, 0.9)  # short series show too little of it (Kendall 1954)
