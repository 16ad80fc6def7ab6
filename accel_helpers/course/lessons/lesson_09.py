"""Lesson 09: its exercise."""

from collections.abc import Callable, Sequence
from functools import partial
from operator import mul

from accel_helpers.course.checks import FunctionCheck
from accel_helpers.measure.pictures import bars


def whole_batch(
    gradients: Sequence[Sequence[float]], counts: Sequence[int], divisor: Callable = sum
) -> list[float]:
    """Return the gradient of the whole batch: the mean over its pictures, number by number.

    `gradients` has a row for each replica, the mean over the pictures that it had; `counts` says
    how many these were. [[2, -4], [6, 8]] and [2, 1] -> [10/3, 0]. Slips divide by something else
    than the sum of `counts`.
    """
    sums = [sum(map(mul, numbers, counts)) for numbers in zip(*gradients, strict=True)]
    return [number / divisor(counts) for number in sums]


class AllReduce(FunctionCheck):
    # (gradients, counts) of each case.
    cases = [
        ([[2.0, -4.0], [6.0, 8.0]], [2, 1]),
        ([[1.0, 10.0, -1.0], [5.0, 2.0, -3.0], [9.0, 0.0, 7.0]], [4, 4, 2]),
    ]
    edges = [([[3.0], [1.0]], [8, 0])]
    at_edges = "A replica that got no picture has no say."
    hint = "Weigh every gradient with its pictures, add up, divide by all pictures: a list."
    right = "Every picture counts once, on whichever replica it was."
    slips = (
        (
            lambda gradients, counts: whole_batch(gradients, [1] * len(counts)),
            "That is the plain mean. A replica with one picture counts as much as one with two.",
            "Use counts: a gradient stands for as many pictures as its replica had.",
        ),
        (
            lambda gradients, counts: [sum(numbers) for numbers in zip(*gradients, strict=True)],
            "That is the sum. "
            "With more replicas the step gets longer, as if the learning rate grew.",
            "The gradient of a batch is a mean over its pictures.",
        ),
        (
            {"divisor": lambda counts: 1},
            "Weighed rightly, and not divided: that is the sum over all pictures, not their mean.",
            "Divide by the number of all pictures.",
        ),
        (
            {"divisor": len},
            "Weighed rightly, and divided by the number of replicas.",
            "Divide by the number of all pictures.",
        ),
    )


CHECKS = {"09/all_reduce": AllReduce(whole_batch)}


PICTURES = {"wait": partial(bars, title="Eight chips wait nearly as long as 512")}
