"""The pictures of lesson 04: where a model trained, what it learned, what fits a chip's memory."""

from collections.abc import Mapping, Sequence

from accel_helpers.course.lessons import lesson_04
from accel_helpers.course.outcomes import device_kind
from accel_helpers.course.pictures.kinds import Kept, Kind, as_epochs
from accel_helpers.measure.measurement import Measurement
from accel_helpers.measure.results import Card


def trained(model, path: str) -> Kept:
    """Return what a card keeps of a Keras model after `fit`: its losses, and 1 as its replicas.

    Their names have the kind of the device that the weights lie on: "04/fit/gpu/loss".
    """
    device = device_kind(model)
    place = f"{path}/{device}"
    losses = model.history.history["loss"]
    numbers = {f"{place}/loss": losses, f"{place}/replicas": [1]}
    return {}, numbers


# It is kept, and never drawn.
TRAINED = Kind(measured=trained)


def learning(result: Mapping, path: str) -> Kept:
    """Return what a card keeps of a training: "PATH/loss", "PATH/size" and "PATH/epoch".

    In `result`, "loss" and "epoch" have a number for each epoch, its loss and its seconds, and
    "size" is the pictures or letters of an epoch.
    """
    seconds = list(result["epoch"])
    if len(seconds) == 1:
        # A slow machine had time for one epoch, in which it compiled, too.
        epochs = Measurement.from_samples(seconds, name="one epoch")
    else:
        epochs = as_epochs(seconds)
    numbers = {f"{path}/loss": result["loss"], f"{path}/size": [result["size"]]}
    return {f"{path}/epoch": epochs}, numbers


def losses_on(card: Card, path: str) -> dict[str, Sequence[float]]:
    """Return the losses that a card has under a path, in a mapping by the label of its machine."""
    losses = card.numbers[f"{path}/loss"]
    return {card.label: losses}


def losses_of(result: Mapping) -> dict[str, Sequence[float]]:
    """Return the losses of a result in a mapping, as the line "yours"."""
    losses = list(result["loss"])
    return {"yours": losses}


LEARNING = Kind(
    draw=lesson_04.losses_picture,
    measured=learning,
    restored=losses_on,
    data=losses_of,
)


def draw_memory(data, title, reference):
    """Draw stored answers of the compiler; nothing was measured, so there is no reference."""
    return lesson_04.memory_picture(data, title=title)


MEMORY = Kind(draw=draw_memory)

KINDS: dict[str, Kind] = {"trained": TRAINED, "learning": LEARNING, "memory": MEMORY}
