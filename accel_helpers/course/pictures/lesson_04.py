"""The pictures of lesson 04: where a model trained, what it learned, what fits a chip's memory."""

from accel_helpers import plots
from accel_helpers.course.outcomes import device_kind
from accel_helpers.course.pictures.kinds import Kind, as_curves, as_epochs, nothing_measured
from accel_helpers.lessons import lesson_04
from accel_helpers.measure.measurement import Measurement


def trained(model, path: str):
    """A model's losses, under the device that its weights lie on; one replica."""
    place = f"{path}/{device_kind(model)}"
    return {}, {f"{place}/loss": model.history.history["loss"], f"{place}/replicas": [1]}


TRAINED = Kind(
    measured=trained,
    names=lambda model, path: [*trained(model, path)[1]],
    restored=lambda card, path: {
        card.label: card.numbers[next(n for n in card.numbers if n.startswith(f"{path}/"))]
    },
    draw=lambda data, title, reference: plots.curves(data, title=title, reference=reference),
    data=lambda model: as_curves(model.history.history["loss"]),
)


def learning(result, path: str):
    """Losses, and the seconds and the size of an epoch."""
    seconds = [*result["epoch"]]
    alone = len(seconds) == 1  # a slow machine had time for one, in which it compiled, too
    timed = Measurement.from_samples(seconds, name="one epoch") if alone else as_epochs(seconds)
    numbers = {f"{path}/loss": result["loss"], f"{path}/size": [result["size"]]}
    return {f"{path}/epoch": timed}, numbers


LEARNING = Kind(
    measured=learning,
    names=lambda result, path: [f"{path}/{name}" for name in ("loss", "size", "epoch")],
    restored=lambda card, path: {card.label: card.numbers[f"{path}/loss"]},
    draw=lambda data, title, reference: lesson_04.losses_picture(
        data, title=title, reference=reference
    ),
    data=lambda result: as_curves(result["loss"]),
)
MEMORY = Kind(  # stored answers: nothing was measured, so no card has anything of it
    measured=nothing_measured,
    names=lambda result, path: [path],
    restored=lambda card, path: None,
    draw=lambda data, title, reference: lesson_04.memory_picture(data, title=title),
)

KINDS: dict[str, Kind] = {"trained": TRAINED, "learning": LEARNING, "memory": MEMORY}
