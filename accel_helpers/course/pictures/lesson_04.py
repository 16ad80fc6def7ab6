"""The pictures of lesson 04: where a model trained, what it learned, what fits a chip's memory."""

from accel_helpers.course.lessons import lesson_04
from accel_helpers.course.outcomes import device_kind
from accel_helpers.course.pictures.kinds import Kind, as_epochs
from accel_helpers.measure.measurement import Measurement


def trained(model, path: str):
    """A model's losses, under the device that its weights lie on; one replica."""
    place = f"{path}/{device_kind(model)}"
    return {}, {f"{place}/loss": model.history.history["loss"], f"{place}/replicas": [1]}


TRAINED = Kind(measured=trained)  # kept, and never drawn


def learning(result, path: str):
    """Losses, and the seconds and the size of an epoch."""
    seconds = [*result["epoch"]]
    alone = len(seconds) == 1  # a slow machine had time for one, in which it compiled, too
    timed = Measurement.from_samples(seconds, name="one epoch") if alone else as_epochs(seconds)
    numbers = {f"{path}/loss": result["loss"], f"{path}/size": [result["size"]]}
    return {f"{path}/epoch": timed}, numbers


LEARNING = Kind(
    draw=lesson_04.losses_picture,
    measured=learning,
    restored=lambda card, path: {card.label: card.numbers[f"{path}/loss"]},
    data=lambda result: {"yours": list(result["loss"])},
)
MEMORY = Kind(  # stored answers: nothing was measured, so no card has anything of it
    draw=lambda data, title, reference: lesson_04.memory_picture(data, title=title)
)

KINDS: dict[str, Kind] = {"trained": TRAINED, "learning": LEARNING, "memory": MEMORY}
