"""Scores with the luck in them: how often a model is right, and whether a change made it better."""

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

from accel_helpers.measure.measurement import SAME
from accel_helpers.measure.series import CONFIDENCE, student

MIN_SEEDS = 2  # one seed has no spread
MIN_IMAGES = 30  # from fewer, an interval would promise too much
BETTER, WORSE = "better", "worse"
VERDICTS = (BETTER, WORSE, SAME)

# Student's t, 95 %, two-sided, for 1 to 9 degrees of freedom; from 10 on `student` is precise.
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
        return f"{self.name}: {per_cent:.1f} % right ({seeds}, {images} images)"


@dataclass(frozen=True)
class Change:
    """How a score changed, and whether that is more than luck."""

    after: Score
    difference: float  # of the accuracies; 0.01 is one percentage point
    interval: tuple[float, float]  # the ends (low, high) of the difference's 95 % interval

    @property
    def verdict(self) -> str:
        """One of "better", "worse" and "no measurable difference"."""
        low, high = self.interval
        return verdict(low, high)

    def numbers(self) -> tuple[float, float, float]:
        """Return the difference and the ends (low, high) of its interval."""
        low, high = self.interval
        return (self.difference, low, high)

    def __str__(self) -> str:
        low, high = self.interval
        per_cent = 100 * self.after.accuracy
        points = 100 * self.difference
        low_points = 100 * low
        high_points = 100 * high
        interval = f"{low_points:+.1f} to {high_points:+.1f}"
        difference = f"{points:+.1f} points ({interval})"
        return f"{self.after.name}: {per_cent:.1f} %, {difference}: {self.verdict}"


def verdict(low: float, high: float) -> str:
    """Return what the interval of a difference, from `low` to `high`, says of a change.

    It is "better", "worse", or "no measurable difference" where 0 lies in the interval.

    >>> verdict(0.01, 0.03), verdict(-0.01, 0.03)
    ('better', 'no measurable difference')
    """
    if low > 0:
        return BETTER
    if high < 0:
        return WORSE
    return SAME


def change(before: Score, after: Score) -> Change:
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
    Change
        With the `difference` of the accuracies, its `interval`, and a `verdict`.

    Raises
    ------
    ValueError
        If there are fewer seeds or images, or not the same number in both scores.

    Examples
    --------
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
    differences = []
    for accuracy_before, accuracy_after in zip(before.by_seed, after.by_seed, strict=True):
        differences.append(accuracy_after - accuracy_before)
    difference = statistics.fmean(differences)
    half_by_seeds = _half_by_seeds(differences)
    half_by_images = _half_by_images(before, after)
    # The two kinds of luck are independent, so their squares add up.
    half = math.hypot(half_by_seeds, half_by_images)
    low = max(-1.0, difference - half)
    high = min(1.0, difference + half)
    return Change(after, difference, (low, high))


def _half_by_seeds(differences: Sequence[float]) -> float:
    """Return half the width of the interval for the luck of the seeds.

    `differences` has the change of the accuracy for each seed; two of them at least.
    """
    seeds = len(differences)
    standard_error = statistics.stdev(differences) / math.sqrt(seeds)
    quantile = _quantile(degrees=seeds - 1)
    return quantile * standard_error


def _quantile(degrees: int) -> float:
    """Return the two-sided 95 % quantile of Student's t, such as 12.706 for 1 degree.

    `degrees` (of freedom) is 1 or more; for few of them `series.student` is too rough.
    """
    if degrees <= len(FEW_SEEDS):
        return FEW_SEEDS[degrees - 1]
    return student(degrees, CONFIDENCE)


def _half_by_images(before: Score, after: Score) -> float:
    """Return half the width of the interval for the luck of the images.

    Both scores have the same seeds and images. Raises ValueError if their rows differ in length.
    """
    seeds = len(before.right)
    total = 0.0
    squares = 0.0
    # For each image, a column of bools: right with each seed before, then with each seed after.
    columns = zip(*before.right, *after.right, strict=True)
    for column in columns:
        right_before = sum(column[:seeds])
        right_after = sum(column[seeds:])
        difference = (right_after - right_before) / seeds
        total += difference
        squares += difference**2
    # Half an image more in each of four cases: two images, and 1 = 2 x 0.5 among the squares.
    images = len(before.right[0])
    count = images + 2
    spread = squares + 1 - total * total / count
    quantile = student(images - 1, CONFIDENCE)
    return quantile * math.sqrt(spread) / count


def wilson(right: int, total: int) -> tuple[float, float]:
    """Return the 95 % interval of a share, by Wilson (1927, JASA 22).

    Parameters
    ----------
    right : int
        How many images were right, from 0 to `total`.
    total : int
        How many images there were; 1 or more.

    Returns
    -------
    tuple of (float, float)
        The ends (low, high) of the interval, between 0 and 1.

    Examples
    --------
    >>> [round(end, 3) for end in wilson(98, 100)]
    [0.93, 0.994]
    """
    z = statistics.NormalDist().inv_cdf(0.5 + CONFIDENCE / 2)
    share = right / total
    spread = z * z / total
    centre = (share + spread / 2) / (1 + spread)
    variance = share * (1 - share) / total
    half = z * math.sqrt(variance + spread / (4 * total)) / (1 + spread)
    low = centre - half
    high = centre + half
    # At the ends of the scale, rounding could leave it.
    if right == 0:
        low = 0.0
    if right == total:
        high = 1.0
    return low, high
