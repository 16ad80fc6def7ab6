"""Scores with the luck in them: how often a model is right, and whether a change made it better.

A score has two kinds of luck. Trained again from another seed, the same model comes out a little
different. Tried on other images, it meets easier or harder ones. Both are in the intervals here
(Dietterich 1998, Neural Computation 10, names them; Bouthillier et al. 2021,
https://arxiv.org/abs/2103.03098, measure how large they are).
"""

from __future__ import annotations

import math
import operator
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from accel_helpers.measure.samples import CONFIDENCE, student

FEWEST = 30  # images; from fewer, an interval would promise too much
BETTER, WORSE, SAME = "better", "worse", "no measurable difference"

# Student's t for few seeds, 95 %, two-sided; the series in `samples` serves from 10 on.
FEW_SEEDS = (12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262)

__all__ = ["BETTER", "Score", "change", "verdict", "wilson"]


@dataclass(frozen=True)
class Score:
    """Which images a model got right, once for every seed that it was trained with.

    `right` has a row for every seed, in it a value for every image.

    Examples
    --------
    >>> score = Score.of("two seeds", [[1, 7, 3, 4], [1, 2, 3, 4]], [1, 2, 3, 4])
    >>> score.accuracy, score.by_seed
    (0.875, (0.75, 1.0))
    """

    name: str
    right: tuple[tuple[bool, ...], ...]

    @classmethod
    def of(cls, name: str, answers: Sequence[Sequence[int]], labels: Sequence[int]) -> Score:
        """Compare answers (a row for every seed) with what the images show."""
        labels = [int(label) for label in labels]
        rows = [[int(answer) for answer in row] for row in answers]
        if not rows or not labels or any(len(row) != len(labels) for row in rows):
            raise ValueError(
                f"{name!r} needs one row of answers per seed, each with one answer per image; got "
                f"rows of {[len(row) for row in rows]} for {len(labels)} labels."
            )
        right = (tuple(map(operator.eq, row, labels)) for row in rows)
        return cls(str(name), tuple(right))

    @property
    def by_seed(self) -> tuple[float, ...]:
        """Share of the images that was right, for each seed."""
        return tuple(statistics.fmean(row) for row in self.right)

    @property
    def accuracy(self) -> float:
        """Share that was right, over all seeds."""
        return statistics.fmean(self.by_seed)

    def __str__(self) -> str:
        seeds = len(self.right)
        return (
            f"{self.name}: {100 * self.accuracy:.1f} % right "
            f"({seeds} seed{'s' * (seeds > 1)}, {len(self.right[0])} images)"
        )


@dataclass(frozen=True)
class Change:
    """How a score changed, and whether that is more than luck.

    `difference` is accuracy after minus before (0.01 is one percentage point), `interval` where
    it lies with about 95 %; `by_seeds` and `by_images` are half the width of each kind of luck.
    """

    before: Score
    after: Score
    difference: float
    interval: tuple[float, float]
    by_seeds: float
    by_images: float

    @property
    def verdict(self) -> str:
        """One of "better", "worse" and "no measurable difference"."""
        return verdict(*self.interval)

    def numbers(self) -> tuple[float, float, float]:
        """The difference and the two ends of its interval, for a result card."""
        return (self.difference, *self.interval)

    def __str__(self) -> str:
        low, high = (100 * end for end in self.interval)
        return (
            f"{self.after.name}: {100 * self.after.accuracy:.1f} %, "
            f"{100 * self.difference:+.1f} points ({low:+.1f} to {high:+.1f}): {self.verdict}"
        )


def verdict(low: float, high: float) -> str:
    """Say what an interval of a difference allows to say.

    Examples
    --------
    >>> verdict(0.01, 0.03), verdict(-0.01, 0.03)
    ('better', 'no measurable difference')
    """
    return BETTER if low > 0 else WORSE if high < 0 else SAME


def change(before: Score, after: Score) -> Change:
    """Compare two scores that were taken with the same seeds on the same images.

    The interval holds both kinds of luck. For the seeds: Student's t over the differences of the
    pairs. For the images: Student's t over the differences of each image, averaged over the seeds,
    with one half of an image added to each of the four cases right/right, right/wrong, wrong/right
    and wrong/wrong (Agresti and Min 2005, Statistics in Medicine 24), since few images differ. The
    two are independent, so their half-widths add up by squares.

    Few seeds cannot show what is rare. Say that 15 % of the trainings collapse. Then most sets of
    2 to 5 seeds hold few such trainings, or none. In simulations of that, the interval held the
    true difference in 54 to 84 % of the cases, and not in 95 %. Look at `Score.by_seed`.

    Parameters
    ----------
    before, after : Score
        With at least 2 seeds and 30 images; row by row the same seed, column by column the same
        image.

    Returns
    -------
    Change
        With `difference`, `interval` and `verdict`.

    Raises
    ------
    ValueError
        If the two do not fit together, or have too few seeds or images.

    Examples
    --------
    >>> before = Score.of("before", [[0] * 40 + [1] * 60] * 3, [1] * 100)
    >>> after = Score.of("after", [[0] * 10 + [1] * 90] * 3, [1] * 100)
    >>> print(change(before, after))
    after: 90.0 %, +30.0 points (+20.8 to +39.2): better
    """
    (seeds, images), others = ((len(s.right), len(s.right[0])) for s in (before, after))
    if (seeds, images) != others:
        raise ValueError(
            f"{before.name!r} has {seeds} seeds and {images} images, {after.name!r} has "
            f"{others[0]} and {others[1]}: take the same seeds and images for both."
        )
    if seeds < 2 or images < FEWEST:
        raise ValueError(
            "an interval needs two seeds at least, since one cannot show its own luck, and "
            f"{FEWEST} images or more; got {seeds} and {images}."
        )
    pairs = [b - a for a, b in zip(before.by_seed, after.by_seed, strict=True)]
    difference = statistics.fmean(pairs)
    t = FEW_SEEDS[seeds - 2] if seeds - 2 < len(FEW_SEEDS) else student(seeds - 1, CONFIDENCE)
    by_seeds = t * statistics.stdev(pairs) / math.sqrt(seeds)
    total = squares = 0.0
    for column in zip(*before.right, *after.right, strict=True):
        moved = (sum(column[seeds:]) - sum(column[:seeds])) / seeds
        total, squares = total + moved, squares + moved * moved
    n = images + 2
    by_images = student(images - 1, CONFIDENCE) * math.sqrt(squares + 1 - total * total / n) / n
    half = math.hypot(by_seeds, by_images)
    interval = (max(-1.0, difference - half), min(1.0, difference + half))
    return Change(before, after, difference, interval, by_seeds, by_images)


def wilson(right: int, total: int) -> tuple[float, float]:
    """Where a share lies that was counted once: the interval of Wilson (1927, JASA 22), 95 %.

    Parameters
    ----------
    right, total : int
        So many of so many.

    Returns
    -------
    tuple of float
        Its low and its high end, from 0 to 1.

    Examples
    --------
    >>> [round(end, 3) for end in wilson(98, 100)]
    [0.93, 0.994]
    """
    if not 0 <= right <= total or total < 1:
        raise ValueError(f"wilson needs 0 <= right <= total, total above 0; got {right}, {total}.")
    z = statistics.NormalDist().inv_cdf(0.5 + CONFIDENCE / 2)
    share, spread = right / total, z * z / total
    centre = (share + spread / 2) / (1 + spread)
    half = z * math.sqrt(share * (1 - share) / total + spread / (4 * total)) / (1 + spread)
    return centre - half if right else 0.0, centre + half if right < total else 1.0
