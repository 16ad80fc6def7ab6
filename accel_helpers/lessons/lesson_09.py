"""Lesson 09: how far two trainings are apart, what a device holds, speed-ups, and its exercise."""

from statistics import fmean

from accel_helpers import plots
from accel_helpers.learn.checks import calls
from accel_helpers.measure import results
from accel_helpers.plots import style

SAME = 1e-4  # of what is compared: rounding comes to a thousandth of that


def apart(one, other, start=None) -> float:
    """How far two lists of arrays are apart, as a share of the way from `start` to the second."""
    import numpy as np

    flat = (
        np.concatenate([np.ravel(part) for part in parts]) for parts in (one, other, start or [0])
    )
    one, other, start = flat
    return float(np.linalg.norm(one - other) / np.linalg.norm(other - start))


def same(one, other) -> bool:
    """Whether two trainings leave the same behind, to 1 part in 10,000."""
    pairs = [
        [model.history.history[name] for model in (one, other)] for name in ("loss", "accuracy")
    ]
    pairs.append((one.get_weights(), other.get_weights()))
    pairs.append([[v.numpy() for v in m.optimizer.variables] for m in (one, other)])
    return all(apart(*pair) <= SAME for pair in pairs)


def held(model) -> int:
    """Bytes of a trained model's weights and Adam's numbers on the first of its devices."""
    variables = [*model.variables, *model.optimizer.variables]
    return sum(each.value.addressable_shards[0].data.nbytes for each in variables)


def laid_out(batch, spread) -> str:
    """Say how a way to distribute lays a batch out over the devices."""
    from keras import distribution

    layout = spread.get_data_layout(batch.shape)
    shards = distribution.distribute_tensor(batch, layout).addressable_shards
    return f"{batch.shape} over {len(shards)} devices, {shards[0].data.shape} on each"


def losses(way: str, model) -> list[float]:
    """The losses of a training, which go onto the result card."""
    results.record({}, numbers={f"09/loss/{way}": model.history.history["loss"]})
    return model.history.history["loss"]


def speed_ups(real) -> style.Picture:
    """How many times as fast as one chip: real clusters as marks, pretend ones and a diagonal."""
    most, vgg, said = 512, real["VGG-16"], {"nobody waits": {1: 1, 512: 512}}
    for name, row in real.items():
        line = {2**n: row.cluster.speed_up(2**n) for n in range(10)}
        said[f"{name}, pretend: {line[most]:.0f}"] = line
    title = f"VGG-16: {most} chips do the work of {vgg.speed_up:.0f} (real), {{:.0f}} (pretend)"
    return plots.curves(
        {f"{name}, real: {row.speed_up:.0f}": {most: row.speed_up} for name, row in real.items()},
        title=title.format(vgg.cluster.speed_up(most)),
        x=("chips", style.plain),
        y=("times as fast as one chip", "{:.0f}".format),
        said=said,
        note="The gap under the diagonal: waiting for the others, mostly for gradients.",
    )


def _each(combine):
    return lambda gradients, n: [combine(parts, n) for parts in zip(*gradients, strict=True)]


#: The replicas' gradients, each a mean over its samples, as that of the whole batch.
whole_batch = _each(fmean)

_MEANS = (
    (_each(lambda parts, n: fmean(parts)),
     "That is the plain mean. A replica with one picture counts as much as one with two.",
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
            ([[2.0, -4.0], [6.0, 8.0]], [2, 1]),
            ([[1.0, 10.0, -1.0], [5.0, 2.0, -3.0], [9.0, 0.0, 7.0]], [4, 4, 2]),
        ),
        edges=(([[3.0], [1.0]], [8, 0]),),
        at_edges="A replica that got no picture has no say.",
        right="Every picture counts once, on whichever replica it was.",
        needs="A list is needed, with as many numbers as one gradient has.",
        hint="Weigh every gradient with its pictures, add up, divide by all pictures.",
        slips=_MEANS,
    ),
}
