"""What a kind of picture is, and the kinds that are no single lesson's own."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from accel_helpers import plots
from accel_helpers.course.climb import Climb, needed
from accel_helpers.course.pictures import climb as climb_picture
from accel_helpers.measure import results
from accel_helpers.measure.measurement import Measurement, Speedup
from accel_helpers.measure.results import Card, Reference
from accel_helpers.plots.style import PIECES


def nothing_measured(result, path: str):
    """What a card keeps of a picture without a measurement."""
    return {}, {}


@dataclass(frozen=True)
class Kind:
    """One kind of picture: how its result is kept on a card, found there again, and drawn."""

    draw: Callable | None = None  # (data, title=, reference=): the picture; none where it is kept
    measured: Callable = nothing_measured  # (result, path): measurements and numbers of a card
    restored: Callable | None = None  # (card, path): the data of the picture
    needs: Callable | None = None  # (path): what a reference card must have, if not all of it
    data: Callable = lambda result: result  # what is drawn of a result


def reference_for(kind: Kind, result, path: str, runs=None) -> Reference | None:
    """The same on the newest reference machine that has all of it; or None."""
    if kind.restored is None:
        return None
    if kind.needs:
        names = kind.needs(path)
    else:
        measurements, numbers = kind.measured(result, path)
        names = [*measurements, *numbers]
    card = results.reference(*names, runs=runs)
    if card is None:
        return None
    return card.reference(kind.restored(card, path))


def numbers_under(card: Card, path: str) -> dict[str, tuple[float, ...]]:
    """The numbers of a card whose names begin with a path, by the rest of their names."""
    start = f"{path}/"
    return {
        name.removeprefix(start): values
        for name, values in card.numbers.items()
        if name.startswith(start)
    }


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
    draw=plots.epochs,
    measured=lambda result, path: ({path: as_epochs(result)}, {}),
    restored=lambda card, path: card.measurements[path],
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
    draw=plots.measurements,
    measured=lambda result, path: (by_name(result, path), {}),
    restored=lambda card, path: [
        timed for name, timed in card.measurements.items() if name.startswith(f"{path}/")
    ],
    data=as_measurements,
)

# --- parts: the bar of a step, in seconds by name ------------------------------------------------


def by_part(result) -> dict[str, float]:
    """The seconds of a step's parts by their names.

    >>> from accel_helpers.train.parts import StepParts
    >>> by_part(StepParts(compute=2.0, memory=0.0, overhead=1.0))
    {'compute': 2.0, 'memory': 0.0, 'overhead': 1.0}
    """
    return dict(getattr(result, "seconds", result))


def of_parts(result, path: str):
    return {}, {f"{path}/{name}": [value] for name, value in by_part(result).items()}


def parts_on(card: Card, path: str) -> dict[str, float]:
    return {name: value for name, (value, *_) in numbers_under(card, path).items()}


PARTS = Kind(draw=plots.parts, measured=of_parts, restored=parts_on, data=by_part)

# --- bars: the same parts of several steps, one below the other -----------------------------------


def by_bar(result) -> dict[str, dict[str, float]]:
    return {name: by_part(parts) for name, parts in result.items()}


def of_bars(result, path: str):
    numbers = {}
    for name, parts in by_bar(result).items():
        numbers[f"{path}/{name}"] = [parts[piece] for piece in PIECES if piece in parts]
    return {}, numbers


def bars_on(card: Card, path: str) -> dict[str, dict[str, float]]:
    return {
        name: dict(zip(PIECES, seconds, strict=False))
        for name, seconds in numbers_under(card, path).items()
    }


BARS = Kind(draw=plots.bars, measured=of_bars, restored=bars_on, data=by_bar)

# --- climb ---------------------------------------------------------------------------------------

CLIMB = Kind(
    draw=climb_picture.climb,
    measured=lambda result, path: result.record_as(path),
    needs=needed,  # a slow machine leaves stages out
    restored=lambda card, path: Climb.from_card(card.measurements, card.numbers, path),
)

# --- of the course: a picture that no learner's result goes into --------------------------------


def of_the_course(draw: Callable) -> Kind:
    """The kind of a picture that `draw()` makes."""
    return Kind(draw=lambda data, title, reference: draw())
