"""Lesson 09: its exercise."""

from collections.abc import Iterable, Sequence
from statistics import fmean

from accel_helpers.course.checks import calls
from accel_helpers.course.slips import Slips


def _places(gradients: Sequence[Sequence[float]]) -> Iterable[tuple[float, ...]]:
    """Return, for each place in a gradient, the numbers that all replicas have there.

    [[1, 2, 3], [4, 5, 6]] -> (1, 4), (2, 5), (3, 6)
    """
    return zip(*gradients, strict=True)


def whole_batch(gradients: Sequence[Sequence[float]], counts: Sequence[int]) -> list[float]:
    """Return the gradient of the whole batch: the mean over its pictures, number by number.

    `gradients` has a row for each replica, the mean over the pictures that it had; `counts` says
    how many these were. [[2, -4], [6, 8]] and [2, 1] -> [10/3, 0]
    """
    return [fmean(numbers, counts) for numbers in _places(gradients)]


# Wrong answers to the exercise; each takes what `whole_batch` takes.
_SLIPS = Slips()


@_SLIPS.add(
    "That is the plain mean. A replica with one picture counts as much as one with two.",
    "Use counts: a gradient stands for as many pictures as its replica had.",
)
def _plain_mean(gradients, counts):
    return [fmean(numbers) for numbers in _places(gradients)]


@_SLIPS.add(
    "That is the sum. With more replicas the step gets longer, as if the learning rate grew.",
    "The gradient of a batch is a mean over its pictures.",
)
def _sum(gradients, counts):
    return [sum(numbers) for numbers in _places(gradients)]


@_SLIPS.add(
    "Weighed rightly, and not divided: that is the sum over all pictures, not their mean.",
    "Divide by the number of all pictures.",
)
def _sum_over_pictures(gradients, counts):
    mean = whole_batch(gradients, counts)
    pictures = sum(counts)
    return [number * pictures for number in mean]


@_SLIPS.add(
    "Weighed rightly, and divided by the number of replicas.",
    "Divide by the number of all pictures.",
)
def _divided_by_replicas(gradients, counts):
    mean = whole_batch(gradients, counts)
    pictures = sum(counts)
    # As if each replica had this many.
    pictures_per_replica = pictures / len(counts)
    return [number * pictures_per_replica for number in mean]


# (gradients, counts) of each case.
_UNEQUAL_REPLICAS = [
    ([[2.0, -4.0], [6.0, 8.0]], [2, 1]),
    ([[1.0, 10.0, -1.0], [5.0, 2.0, -3.0], [9.0, 0.0, 7.0]], [4, 4, 2]),
]
_WITHOUT_PICTURES = ([[3.0], [1.0]], [8, 0])

CHECKS = {
    "09/all_reduce": calls(
        whole_batch,
        on=_UNEQUAL_REPLICAS,
        edges=[_WITHOUT_PICTURES],
        at_edges="A replica that got no picture has no say.",
        right="Every picture counts once, on whichever replica it was.",
        needs="A list is needed, with as many numbers as one gradient has.",
        hint="Weigh every gradient with its pictures, add up, divide by all pictures.",
        slips=_SLIPS,
    ),
}
