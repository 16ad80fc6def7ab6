"""What a kind of picture is, and the kinds that more than one lesson has."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from accel_helpers import plots
from accel_helpers.measure import results
from accel_helpers.measure.measurement import Measurement, Speedup
from accel_helpers.measure.results import Card
from accel_helpers.train.climb import Climb, needed


@dataclass(frozen=True)
class Kind:
    """One kind of picture: how its result is kept on a card, found there again, and drawn."""

    measured: Callable  # (result, path): its measurements and its numbers, as a card keeps them
    names: Callable  # (result, path): what a reference card must have
    restored: Callable  # (card, path): the data of the picture
    draw: Callable  # (data, title, reference): the picture
    data: Callable = lambda result: result  # what is drawn of a result


def nothing_measured(result, path: str):
    """What a card keeps of a picture without a measurement."""
    return {}, {}


def reference_for(kind: Kind, result, path: str, runs=None) -> Any:
    """The same on the newest reference machine that has all of it; or None."""
    card = results.reference(*kind.names(result, path), runs=runs)
    if card is None:
        return None
    return card.reference(kind.restored(card, path))


# --- epochs: seconds of every epoch, the first one apart -------------------------------------


def as_epochs(seconds) -> Measurement:
    """The seconds of a callback, the first of which also compiled, as a measurement.

    >>> as_epochs([2.5, 1.0, 1.1]).first_call
    2.5
    """
    if isinstance(seconds, Measurement):
        return seconds
    if hasattr(seconds, "epochs"):  # of time_fit
        return seconds.epochs
    first, *later = seconds
    return Measurement.from_samples(later, first_call=first, name="one epoch")


EPOCHS = Kind(
    measured=lambda result, path: ({path: as_epochs(result)}, {}),
    names=lambda result, path: [path],
    restored=lambda card, path: card.measurements[path],
    draw=lambda data, title, reference: plots.epochs(data, title=title, reference=reference),
    data=as_epochs,
)

# --- measurements: some of them below each other ----------------------------------------------


def as_measurements(result) -> Sequence[Measurement]:
    """Both sides of a comparison, or what was given."""
    if isinstance(result, Speedup):
        return [result.slow, result.fast]
    return [result] if isinstance(result, Measurement) else list(result)


def by_name(result, path: str) -> dict[str, Measurement]:
    return {f"{path}/{each.name}": each for each in as_measurements(result)}


MEASUREMENTS = Kind(
    measured=lambda result, path: (by_name(result, path), {}),
    names=lambda result, path: [*by_name(result, path)],
    restored=lambda card, path: [
        timed for name, timed in card.measurements.items() if name.startswith(f"{path}/")
    ],
    draw=lambda data, title, reference: plots.measurements(data, title=title, reference=reference),
    data=as_measurements,
)

# --- parts: the bar of a step, in seconds by name ------------------------------------------------


def of_parts(seconds: Mapping[str, float], path: str):
    return {}, {f"{path}/{name}": [value] for name, value in seconds.items()}


def parts_on(card: Card, path: str) -> dict[str, float]:
    start = f"{path}/"
    return {
        name.removeprefix(start): value
        for name, (value, *_) in card.numbers.items()
        if name.startswith(start)
    }


PARTS = Kind(
    measured=of_parts,
    names=lambda result, path: [f"{path}/{name}" for name in result],
    restored=parts_on,
    draw=lambda data, title, reference: plots.parts(data, title=title, reference=reference),
)

# --- climb ---------------------------------------------------------------------------------------

CLIMB = Kind(
    measured=lambda result, path: result.record_as(path),
    names=lambda result, path: needed(path),
    restored=lambda card, path: Climb.from_card(card.measurements, card.numbers, path),
    draw=lambda data, title, reference: plots.climb(data, title=title, reference=reference),
)

# --- losses: of a training, epoch by epoch -------------------------------------------------------


def as_curves(losses) -> dict[str, Sequence[float]]:
    return losses if isinstance(losses, Mapping) else {"yours": list(losses)}


LOSSES = Kind(
    measured=lambda result, path: ({}, {f"{path}/loss": next(iter(as_curves(result).values()))}),
    names=lambda result, path: [f"{path}/loss"],
    restored=lambda card, path: {card.label: card.numbers[f"{path}/loss"]},
    draw=lambda data, title, reference: plots.curves(data, title=title, reference=reference),
    data=as_curves,
)


# --- of the course: a picture that no learner's result goes into --------------------------------


def of_the_course(draw: Callable) -> Kind:
    """The kind of a picture that `draw()` makes."""
    return Kind(
        measured=nothing_measured,
        names=lambda result, path: [],
        restored=lambda card, path: None,
        draw=lambda data, title, reference: draw(),
    )
