"""Scores with the luck in them: how often a model is right, and whether a change made it better."""

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

from accel_helpers.measure.measurement import CONFIDENCE, SAME, student

MIN_SEEDS = 2  # one seed has no spread
MIN_IMAGES = 30  # from fewer, an interval would promise too much
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
        rows = []
        for row in answers:
            pairs = zip(row, labels, strict=True)
            rows.append(tuple(int(answer) == int(label) for answer, label in pairs))
        return cls(str(name), tuple(rows))

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
        images = len(self.right[0])
        seed_word = "seed" if seeds == 1 else "seeds"
        share = f"{100 * self.accuracy:.1f} % right"
        return f"{self.name}: {share} ({seeds} {seed_word}, {images} images)"


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
        low, high = self.interval
        share = f"{100 * self.after.accuracy:.1f} %"
        points = f"{100 * self.difference:+.1f} points"
        interval = f"{100 * low:+.1f} to {100 * high:+.1f}"
        return f"{self.after.name}: {share}, {points} ({interval}): {self.verdict}"


def verdict(low: float, high: float) -> str:
    """Judge a difference by its interval.

    >>> verdict(0.01, 0.03), verdict(-0.01, 0.03)
    ('better', 'no measurable difference')
    """
    if low > 0:
        return BETTER
    if high < 0:
        return WORSE
    return SAME


def change(before: Score, after: Score) -> Change:
    """Compare two scores that were taken with the same seeds on the same images.

    The interval holds two kinds of luck (Bouthillier et al., https://arxiv.org/abs/2103.03098),
    whose half-widths are added by their squares:

    * of the seeds: Student's t over the differences, one for each seed;
    * of the images: Student's t over the differences, one for each image, averaged over the seeds,
      with half an image added to each of the four cases right/right to wrong/wrong (Agresti and
      Min 2005, Statistics in Medicine 24).

    Few seeds cannot show what is rare: where 15 % of the trainings collapse, the interval of 2 to 5
    seeds held the true difference in 54 to 84 % of simulated cases. Look at `Score.by_seed`.

    Both scores need 2 seeds and 30 images at least (else a ValueError); row by row the same seed,
    column by column the same image.

    >>> before = Score.of("before", [[0] * 40 + [1] * 60] * 3, [1] * 100)
    >>> after = Score.of("after", [[0] * 10 + [1] * 90] * 3, [1] * 100)
    >>> print(change(before, after))
    after: 90.0 %, +30.0 points (+20.8 to +39.2): better
    """
    seeds = len(before.right)
    images = len(before.right[0])
    if seeds < MIN_SEEDS or images < MIN_IMAGES:
        needed = f"two seeds and {MIN_IMAGES} images at least"
        raise ValueError(f"an interval needs {needed}; got {seeds} and {images}.")
    accuracies = zip(before.by_seed, after.by_seed, strict=True)
    differences = [accuracy - earlier for earlier, accuracy in accuracies]
    difference = statistics.fmean(differences)
    half = math.hypot(_half_by_seeds(differences), _half_by_images(before, after))
    low = max(-1.0, difference - half)
    high = min(1.0, difference + half)
    return Change(after, difference, (low, high))


def _half_by_seeds(differences: Sequence[float]) -> float:
    """Half the width of the interval for the luck of the seeds, from a difference for each."""
    seeds = len(differences)
    error = statistics.stdev(differences) / math.sqrt(seeds)
    return _quantile(seeds - 1) * error


def _quantile(degrees: int) -> float:
    """Two-sided quantile of Student's t, also for degrees that `student` is too rough for."""
    if degrees <= len(FEW_SEEDS):
        return FEW_SEEDS[degrees - 1]
    return student(degrees, CONFIDENCE)


def _half_by_images(before: Score, after: Score) -> float:
    """Half the width of the interval for the luck of the images, averaged over the seeds."""
    seeds = len(before.right)
    total = 0.0
    squares = 0.0
    for image in zip(*before.right, *after.right, strict=True):
        change_of_image = (sum(image[seeds:]) - sum(image[:seeds])) / seeds
        total += change_of_image
        squares += change_of_image**2
    # Half an image more in each of four cases: two images, and 1 = 2 x 0.5 among the squares.
    images = len(before.right[0])
    count = images + 2
    spread = squares + 1 - total * total / count
    return student(images - 1, CONFIDENCE) * math.sqrt(spread) / count


def wilson(right: int, total: int) -> tuple[float, float]:
    """Give the interval of a share that was counted once: Wilson (1927, JASA 22), 95 %.

    >>> [round(end, 3) for end in wilson(98, 100)]
    [0.93, 0.994]
    """
    z = statistics.NormalDist().inv_cdf(0.5 + CONFIDENCE / 2)
    share = right / total
    spread = z * z / total
    centre = (share + spread / 2) / (1 + spread)
    half = z * math.sqrt(share * (1 - share) / total + spread / (4 * total)) / (1 + spread)
    # At the ends of the scale, rounding could leave it.
    low = centre - half if right > 0 else 0.0
    high = centre + half if right < total else 1.0
    return low, high
