"""Lesson 09: how far two trainings are apart, what a device holds, speed-ups, and its exercise."""

from statistics import fmean

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


def same(one, other) -> dict[str, bool]:
    """Whether what two trainings leave behind is the same to 1 part in 10,000."""
    pairs = {"loss": [model.history.history["loss"] for model in (one, other)]}
    pairs["weights"] = one.get_weights(), other.get_weights()
    pairs["optimizer"] = [[v.numpy() for v in m.optimizer.variables] for m in (one, other)]
    pairs["accuracy"] = [model.history.history["accuracy"] for model in (one, other)]
    return {name: apart(*pair) <= SAME for name, pair in pairs.items()}


def held(model) -> int:
    """Bytes of a trained model's weights and Adam's numbers on the first of its devices."""
    variables = [*model.variables, *model.optimizer.variables]
    return sum(each.value.addressable_shards[0].data.nbytes for each in variables)


def keep_losses(way: str, model) -> list[float]:
    """The losses of a training, kept on the result card."""
    losses = model.history.history["loss"]
    results.record({}, numbers={f"09/loss/{way}": losses})
    return losses


def speed_ups(pretend, real, most: int = 512) -> style.Picture:
    """How many times as fast pretend clusters are, under the diagonal; and real ones as marks."""
    chips, labels, said = range(1, most + 1), [(most, most, "nobody waits", style.INK, None)], []
    title, axis = "The gap below the diagonal: waiting for the others", "times as fast as one"
    under = "Dashed: pretend chips. Marks: real ones, as published."
    with style.figure(style.WIDE, 3.0, title, under=under) as (figure, axes):
        style.scale(axes.xaxis, "chips", 0, 1.04 * most, style.plain)
        style.scale(axes.yaxis, axis, 0, 1.04 * most, style.plain)
        axes.plot(chips, chips, color=style.INK, lw=1.2)
        for i, (name, each) in enumerate(pretend.items()):
            line, look = [each.speed_up(n) for n in chips], {"mfc": "none", "mew": 1.8}
            marks = [("_", most, line[-1], "pretend")]
            if row := real.get(name):
                marks.append((style.MARKS[i], row.devices, row.speed_up, "real"))
                axes.plot(*marks[1][1:3], style.MARKS[i], color=style.COLOURS[i], ms=7, **look)
            axes.plot(chips, line, "--", color=style.COLOURS[i], lw=1.6)
            for mark, *at, kind in marks:
                text, key = style.folded(f"{name}, {kind}"), {"marker": mark, "ms": 7, **look}
                labels.append((*at, text, style.COLOURS[i], key))
                said.append(f"{name} {at[1]:.0f} {kind}")
        axes.fill_between(chips, line, chips, color=style.EMPTY, alpha=0.6, lw=0)
        look = {"rotation": 26, "ha": "center", "va": "center", "color": style.SAID}
        axes.text(0.7 * most, 0.47 * most, "waiting for the others", **look)
        style.beside(figure, axes, labels)
        said = f"{title}. Of {most} chips: {'; '.join(said)}."
        return style.picture(figure, f"Lines of {axis} over chips. {said}")


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
