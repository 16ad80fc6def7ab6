"""Scores with the luck in them: how often a model is right, and whether a change made it better."""

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

from accel_helpers.measure.measurement import SAME
from accel_helpers.measure.series import CONFIDENCE

MIN_SEEDS = 2  # one seed has no spread
MIN_IMAGES = 30  # from fewer, an interval would promise too much
BETTER, WORSE = "better", "worse"
VERDICTS = (BETTER, WORSE, SAME)

__all__ = ["Score", "compare_scores"]


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
        """Return the Score of a model's answers.

        `answers` has a row for every seed and in it the predicted class of every image; `labels`
        has the true class of every image. Raises ValueError if a row is not as long as `labels`.
        """
        right = []
        for seed_answers in answers:
            right_of_seed = []
            for answer, label in zip(seed_answers, labels, strict=True):
                right_of_seed.append(int(answer) == int(label))
            right.append(tuple(right_of_seed))
        return cls(str(name), tuple(right))

    @property
    def by_seed(self) -> tuple[float, ...]:
        """The share of images that was right (0 to 1), for each seed."""
        shares = []
        for right_of_seed in self.right:
            shares.append(statistics.fmean(right_of_seed))
        return tuple(shares)

    @property
    def accuracy(self) -> float:
        """The share of images that was right (0 to 1), averaged over the seeds."""
        return statistics.fmean(self.by_seed)

    def __str__(self) -> str:
        count = len(self.right)
        seeds = f"{count} seeds"
        if count == 1:
            seeds = "1 seed"
        images = len(self.right[0])
        per_cent = 100 * self.accuracy
        return f"{self.name}: {per_cent:.1f}% right ({seeds}, {images} images)"


@dataclass(frozen=True)
class Difference:
    """How a score changed, and whether that is more than luck."""

    after: Score
    difference: float  # of the accuracies; 0.01 is one percentage point
    interval: tuple[float, float]  # the ends (low, high) of the difference's 95 % interval

    @property
    def verdict(self) -> str:
        """One of "better", "worse" and "no measurable difference"."""
        low, high = self.interval
        if low > 0:
            return BETTER
        if high < 0:
            return WORSE
        return SAME

    def __str__(self) -> str:
        low, high = self.interval
        per_cent = 100 * self.after.accuracy
        points = 100 * self.difference
        low_points = 100 * low
        high_points = 100 * high
        interval = f"{low_points:+.1f} to {high_points:+.1f}"
        difference = f"{points:+.1f} points ({interval})"
        return f"{self.after.name}: {per_cent:.1f}%, {difference}: {self.verdict}"


def compare_scores(before: Score, after: Score) -> Difference:
    """Return how far a score changed, with an interval of 95 %.

    The interval holds two kinds of luck (Bouthillier et al., https://arxiv.org/abs/2103.03098),
    whose half-widths are added by their squares:

    * of the seeds: Student's t over the differences, one for each seed;
    * of the images: Student's t over the differences, one for each image, averaged over the seeds,
      with half an image added to each of the four cases right/right to wrong/wrong (Agresti and
      Min 2005, Statistics in Medicine 24).

    Few seeds cannot show what is rare: where 15 % of the trainings collapse, the interval of 2 to 5
    seeds held the true difference in 54 to 84 % of simulated cases. Look at `Score.by_seed`.

    Parameters
    ----------
    before, after : Score
        Of at least 2 seeds and 30 images. Row by row they have the same seed, and column by column
        the same image.

    Returns
    -------
    Difference
        With the `difference` of the accuracies, its `interval`, and a `verdict`.

    Raises
    ------
    ValueError
        If there are fewer seeds or images, or not the same number in both scores.

    Examples
    --------
    >>> before = Score.of("before", [[0] * 40 + [1] * 60] * 3, [1] * 100)
    >>> after = Score.of("after", [[0] * 10 + [1] * 90] * 3, [1] * 100)
    >>> print(compare_scores(before, after))
    after: 90.0%, +30.0 points (+20.8 to +39.2): better
    """
    import numpy as np
    from scipy import stats

    # A row for every seed, a column for every image.
    right_before = np.array(before.right)
    right_after = np.array(after.right)
    if right_before.shape != right_after.shape:
        raise ValueError(
            "the two scores need the same seeds and the same images; got (seeds, images) "
            f"{right_before.shape} and {right_after.shape}."
        )
    seeds, images = right_before.shape
    if seeds < MIN_SEEDS or images < MIN_IMAGES:
        needed = f"two seeds and {MIN_IMAGES} images at least"
        raise ValueError(f"an interval needs {needed}; got {seeds} and {images}.")
    of_seeds = right_after.mean(axis=1) - right_before.mean(axis=1)
    of_images = right_after.mean(axis=0) - right_before.mean(axis=0)
    probability = 0.5 + CONFIDENCE / 2
    half_by_seeds = stats.t.ppf(probability, seeds - 1) * of_seeds.std(ddof=1) / math.sqrt(seeds)
    # Half an image more in each of four cases: two images, and 1 = 2 x 0.5 among the squares.
    count = images + 2
    spread = (of_images**2).sum() + 1 - of_images.sum() ** 2 / count
    half_by_images = stats.t.ppf(probability, images - 1) * math.sqrt(spread) / count
    # The two kinds of luck are independent, so their squares add up.
    half = math.hypot(half_by_seeds, half_by_images)
    difference = after.accuracy - before.accuracy
    low = max(-1.0, difference - half)
    high = min(1.0, difference + half)
    return Difference(after, difference, (low, high))
