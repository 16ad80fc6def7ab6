"""Of lesson 09, in preparation: a verdict and the exercise. Its cells are in lesson 04 at 88e1101.

What trains with several replicas is in `replicas.py`.
"""

import math
from collections.abc import Mapping, Sequence
from statistics import fmean

from accel_helpers.learn.checks import calls

SAME_LOSS = ("the same", "not the same", "cannot tell")


def same_loss(losses: Mapping[str, Sequence[float]], *, tolerance: float = 1e-4) -> str:
    """Whether trainings had the same loss in every epoch, up to a share of the smallest.

    Replicas add up in another order, so a float32 is rounded otherwise, and every step carries
    that on.
    """
    runs = [values for values in losses.values() if len(values)]
    known = all(math.isfinite(value) and value > 0 for values in runs for value in values)
    if len(runs) < 2 or len(set(map(len, runs))) > 1 or not known:
        return "cannot tell"
    apart = max(max(epoch) / min(epoch) - 1 for epoch in zip(*runs, strict=True))
    return "the same" if apart <= tolerance else "not the same"


def _each(combine):
    return lambda gradients, n: [combine(parts, n) for parts in zip(*gradients, strict=True)]


#: The replicas' gradients, each a mean over its samples, as that of the whole batch.
whole_batch = _each(fmean)

_MEANS = (
    (_each(lambda parts, n: fmean(parts)),
     "That is the plain mean. A replica with one picture counts as much as one with three.",
     "Use counts: a gradient stands for as many pictures as its replica had."),
    (_each(lambda parts, n: sum(parts)),
     "That is the sum. With more replicas the step gets longer, as if the learning rate grew.",
     "The gradient of a batch is a mean over its pictures."),
    (_each(lambda parts, n: fmean(parts, n) * sum(n)),
     "Weighed rightly, and not divided: that is the sum over all pictures, not their mean.",
     "Divide by the number of all pictures."),
    (_each(lambda parts, n: fmean(parts, n) * sum(n) / len(n)),
     "Weighed rightly, and divided by the number of replicas.",
     "Divide by the number of all pictures."),
)  # fmt: skip

CHECKS = {
    "09/all_reduce": calls(
        whole_batch,
        on=(
            ([[2.0, -4.0], [6.0, 8.0]], [3, 1]),
            ([[1.0, 10.0, -1.0], [5.0, 2.0, -3.0], [9.0, 0.0, 7.0]], [4, 4, 2]),
            ([[3.0], [1.0]], [8, 0]),  # a replica that got nothing
        ),
        right="Every picture counts once, on whichever replica it was.",
        needs="A list is needed, with as many numbers as one gradient has.",
        hint="Weigh every gradient with its pictures, add up, divide by all pictures.",
        slips=_MEANS,
    ),
}
