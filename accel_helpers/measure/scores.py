"""Scores with the luck in them: how often a model is right, and whether a change made it better."""

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

from accel_helpers.measure.measurement import CONFIDENCE, SAME, student

FEWEST = 30  # images; from fewer, an interval would promise too much
BETTER, WORSE = "better", "worse"
VERDICTS = (BETTER, WORSE, SAME)

# Student's t for few seeds, 95 %, two-sided; `student` serves from 10 on.
FEW_SEEDS = (12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262)

__all__ = ["Score", "change", "wilson"]


@dataclass(frozen=True)
class Score:
    """Which images a model got right, once for every seed that it was trained with.

    >>> score = Score.of("two seeds", [[1, 7, 3, 4], [1, 2, 3, 4]], [1, 2, 3, 4])
    >>> score.accuracy, score.by_seed
    (0.875, (0.75, 1.0))
    """

    name: str
    right: tuple[tuple[bool, ...], ...]  # a row for every seed, in it a value for every image

    @classmethod
    def of(cls, name: str, answers: Sequence[Sequence[int]], labels: Sequence[int]) -> Self:
        """Compare answers (a row for every seed) with what the images show."""
        pairs = (zip(row, labels, strict=True) for row in answers)
        return cls(str(name), tuple(tuple(int(a) == int(b) for a, b in row) for row in pairs))

    @property
    def by_seed(self) -> tuple[float, ...]:
        """The share that was right, for each seed."""
        return tuple(statistics.fmean(row) for row in self.right)

    @property
    def accuracy(self) -> float:
        """The share over all seeds."""
        return statistics.fmean(self.by_seed)

    def __str__(self) -> str:
        seeds = len(self.right)
        return (
            f"{self.name}: {100 * self.accuracy:.1f} % right "
            f"({seeds} seed{'s' * (seeds > 1)}, {len(self.right[0])} images)"
        )


@dataclass(frozen=True)
class Change:
    """How a score changed, and whether that is more than luck."""

    after: Score
    difference: float  # of the accuracies; 0.01 is one percentage point
    interval: tuple[float, float]

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

    >>> verdict(0.01, 0.03), verdict(-0.01, 0.03)
    ('better', 'no measurable difference')
    """
    return BETTER if low > 0 else WORSE if high < 0 else SAME


def change(before: Score, after: Score) -> Change:
    """Compare two scores that were taken with the same seeds on the same images.

    The interval holds two kinds of luck (Bouthillier et al., https://arxiv.org/abs/2103.03098), of
    which the half-widths add up by squares. For the seeds: Student's t over the differences of the
    pairs. For the images: over those of each, averaged over the seeds, with half an image added to
    each of the four cases right/right to wrong/wrong (Agresti and Min 2005, Statistics in Medicine
    24). Few seeds cannot show what is rare: where 15 % of the trainings collapse, the interval of 2
    to 5 seeds held the true difference in 54 to 84 % of simulated cases. Look at `Score.by_seed`.

    Both have 2 seeds and 30 images at least (else a ValueError); row by row the same seed, column
    by column the same image.

    >>> before = Score.of("before", [[0] * 40 + [1] * 60] * 3, [1] * 100)
    >>> after = Score.of("after", [[0] * 10 + [1] * 90] * 3, [1] * 100)
    >>> print(change(before, after))
    after: 90.0 %, +30.0 points (+20.8 to +39.2): better
    """
    seeds, images = len(before.right), len(before.right[0])
    if seeds < 2 or images < FEWEST:
        needed = f"two seeds and {FEWEST} images at least"
        raise ValueError(f"an interval needs {needed}; got {seeds} and {images}.")
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
    return Change(after, difference, interval)


def wilson(right: int, total: int) -> tuple[float, float]:
    """Where a share lies that was counted once: the interval of Wilson (1927, JASA 22), 95 %.

    >>> [round(end, 3) for end in wilson(98, 100)]
    [0.93, 0.994]
    """
    z = statistics.NormalDist().inv_cdf(0.5 + CONFIDENCE / 2)
    share, spread = right / total, z * z / total
    centre = (share + spread / 2) / (1 + spread)
    half = z * math.sqrt(share * (1 - share) / total + spread / (4 * total)) / (1 + spread)
    return centre - half if right else 0.0, centre + half if right < total else 1.0
