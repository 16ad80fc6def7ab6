"""Lesson 09: how far two trainings are apart, what a device holds, speed-ups, and its exercise."""

from statistics import fmean

from accel_helpers.learn.checks import calls
from accel_helpers.measure import results
from accel_helpers.plots import charts, style

SAME = 1e-4  # of what is compared: rounding comes to a thousandth of that


def apart(one, other, start=None) -> float:
    """How far two lists of arrays are apart, as a share of the second, both counted from `start`.

    >>> apart([[3.0, 4.0]], [[3.0, 5.0]], start=[[3.0, 3.0]])
    0.5
    """
    import numpy as np

    one, other, start = (
        np.concatenate([np.ravel(np.asarray(part, "float64")) for part in parts])
        for parts in (one, other, start or [np.zeros_like(part) for part in other])
    )
    return float(np.linalg.norm(one - other) / np.linalg.norm(other - start))


def parts(model) -> dict:
    """What a training leaves behind: its losses, weights, Adam's numbers, its accuracies."""
    history = model.history.history
    kept = {"loss": [history["loss"]], "weights": model.get_weights()}
    optimizer = [variable.numpy() for variable in model.optimizer.variables]
    return kept | {"optimizer": optimizer, "accuracy": [history["accuracy"]]}


def same(one, other) -> dict[str, bool]:
    """Whether each part of two trained models is the same to 1 part in 10,000."""
    ours, theirs = parts(one), parts(other)
    return {name: apart(ours[name], theirs[name]) <= SAME for name in ours}


def held(model) -> int:
    """Bytes of a trained model's weights and Adam's numbers on the first of its devices."""
    variables = [*model.variables, *model.optimizer.variables]
    return sum(each.value.addressable_shards[0].data.nbytes for each in variables)


def keep_losses(way: str, model) -> list[float]:
    """The losses of a training, kept on the result card."""
    losses = model.history.history["loss"]
    results.record({}, numbers={f"09/loss/{way}": losses})
    return losses


def speed_ups(clusters, most: int = 256) -> style.Picture:
    """How many times as fast pretend clusters are, from 1 chip on, under the diagonal."""
    chips = [2**n for n in range(most.bit_length())]
    lines = {name: {n: each.speed_up(n) for n in chips} for name, each in clusters.items()}
    return charts.curves(
        lines,
        title="More chips, more waiting: speed-up curves under the diagonal",
        x=("chips, each with a share as large", style.plain),
        y=("times as fast as one", style.plain),
        log=True,
        said={"no waiting": {1: 1, most: most}},
        note="Pretend chips. The gap up to the dashed line: waiting for the others.",
    )


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
