"""What a kind of picture is, and the kinds that are no single lesson's own.

A *result* is what a lesson's cell has measured. A *card* keeps measurements and numbers by name. A
*path* is the name of a place in a lesson, such as "03/climb"; the names on the card begin with it.
The functions `keep_...` return what a card keeps of a result, and the functions `..._on` make of a
card what the picture is drawn of.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from accel_helpers import plots
from accel_helpers.course.climb import Climb, needed
from accel_helpers.course.pictures import climb as climb_picture
from accel_helpers.course.references import for_page
from accel_helpers.measure import results
from accel_helpers.measure.measurement import Measurement, Speedup
from accel_helpers.measure.results import Card, Reference
from accel_helpers.plots.style import PIECES
from accel_helpers.train.epochs import FitTiming

# What a card keeps of a result: (measurements, numbers), each by its name on the card.
Kept = tuple[dict[str, Measurement], dict[str, Sequence[float]]]


def nothing_measured(result, path: str) -> Kept:
    """Return two empty mappings: of a picture without a measurement a card keeps nothing."""
    return {}, {}


def unchanged(result):
    """Return the result itself, where a picture is drawn of it as it is."""
    return result


@dataclass(frozen=True)
class Kind:
    """One kind of picture: how its result is kept on a card, found there again, and drawn.

    Each field is a function; its comment has what it takes -> what it returns.
    """

    # (data, title=, reference=) -> the picture; None where a result is kept and never drawn
    draw: Callable | None = None
    # (result, path) -> what a card keeps of it
    measured: Callable = nothing_measured
    # (card, path) -> the data of the picture; None where another machine's are not drawn
    restored: Callable | None = None
    # (path) -> the names that a reference card must have; None: all that the result has
    needs: Callable | None = None
    # (result) -> the data of the picture
    data: Callable = unchanged


def reference_for(
    kind: Kind, result, path: str, runs: Sequence[Card] | None = None
) -> Reference | None:
    """Return the data of the same picture from the newest reference run that has them.

    Parameters
    ----------
    kind : Kind
    result
        What the learner measured, as `kind.measured` takes it.
    path : str
        The place of the picture, such as "03/climb".
    runs : sequence of Card, optional
        Where to look, oldest first; by default the stored reference runs.

    Returns
    -------
    Reference or None
        None where no run has all the names, or the kind is not drawn of another machine's card.
    """
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
    return for_page(card.reference(kind.restored(card, path)))


def lesson_of(path: str) -> str:
    """Return the number of the lesson that a path of a card begins with.

    >>> lesson_of("07/adding")
    '07'
    """
    lesson, _, _ = path.partition("/")
    return lesson


def numbers_under(card: Card, path: str) -> dict[str, tuple[float, ...]]:
    """Return the numbers of a card whose names begin with a path, by the rest of their names.

    With the path "09/step", {"09/step/compute": (1.0,), "09/state": (8,)} -> {"compute": (1.0,)}.
    """
    start = f"{path}/"
    numbers = {}
    for name, values in card.numbers.items():
        if name.startswith(start):
            short_name = name.removeprefix(start)
            numbers[short_name] = values
    return numbers


def measurements_under(card: Card, *paths: str) -> list[Measurement]:
    """Return the measurements, in the card's order, whose names begin with one of the paths."""
    starts = tuple(f"{path}/" for path in paths)
    measurements = []
    for name, measurement in card.measurements.items():
        if name.startswith(starts):
            measurements.append(measurement)
    return measurements


# --- epochs: seconds of every epoch, the first one apart -------------------------------------


def as_epochs(seconds: Measurement | FitTiming | Sequence[float]) -> Measurement:
    """Return the epochs of a training as a measurement, the first one, which compiled, apart.

    Seconds are those of each epoch: two or more. A measurement is returned as it is.

    >>> as_epochs([2.5, 1.0, 1.1]).first_call
    2.5
    """
    if isinstance(seconds, Measurement):
        return seconds
    if isinstance(seconds, FitTiming):
        return seconds.epochs
    first, *later = seconds
    return Measurement.from_samples(later, first_call=first, name="one epoch")


def keep_epochs(result, path: str) -> Kept:
    """Return what a card keeps: the epochs, under the path itself."""
    return {path: as_epochs(result)}, {}


def epochs_on(card: Card, path: str) -> Measurement:
    """Return the epochs that a card has under a path."""
    return card.measurements[path]


EPOCHS = Kind(draw=plots.epochs, measured=keep_epochs, restored=epochs_on, data=as_epochs)

# --- measurements: some of them below each other ----------------------------------------------


def as_measurements(result) -> Sequence[Measurement]:
    """Return the measurements of a result in a sequence.

    A result is a comparison, of which both sides are returned, one measurement, or several.
    """
    if isinstance(result, Speedup):
        return [result.slow, result.fast]
    if isinstance(result, Measurement):
        return [result]
    return list(result)


def by_name(result, path: str) -> dict[str, Measurement]:
    """Return the measurements of a result by their names on a card: the path, "/", their name."""
    measurements = as_measurements(result)
    return {f"{path}/{measurement.name}": measurement for measurement in measurements}


def keep_measurements(result, path: str) -> Kept:
    """Return what a card keeps: the measurements of a result, named as `by_name` names them."""
    return by_name(result, path), {}


MEASUREMENTS = Kind(
    draw=plots.measurements,
    measured=keep_measurements,
    restored=measurements_under,
    data=as_measurements,
)

# --- parts: the bar of a step, in seconds by name ------------------------------------------------

Parts = dict[str, float]


def by_part(result) -> Parts:
    """Return the seconds of each part, from `StepParts`, a `Profile` or from such a mapping.

    >>> from accel_helpers.train.parts import StepParts
    >>> by_part(StepParts(compute=2.0, memory=0.0, overhead=1.0))
    {'compute': 2.0, 'memory': 0.0, 'overhead': 1.0}
    """
    seconds = getattr(result, "seconds", result)
    return dict(seconds)


def keep_parts(result, path: str) -> Kept:
    """Return what a card keeps: the seconds of each part, as "PATH/compute" and so on."""
    numbers = {}
    for part, seconds in by_part(result).items():
        numbers[f"{path}/{part}"] = [seconds]
    return {}, numbers


def parts_on(card: Card, path: str) -> Parts:
    """Return the seconds of each part that a card has under a path."""
    numbers = numbers_under(card, path)
    return {part: values[0] for part, values in numbers.items()}


PARTS = Kind(draw=plots.parts, measured=keep_parts, restored=parts_on, data=by_part)

# --- profile: the bar of an epoch, as `profile_fit` takes it apart -------------------------------

PROFILE = Kind(draw=plots.epoch_parts, measured=keep_parts, restored=parts_on, data=by_part)

# --- bars: the same parts of several steps, one below the other -----------------------------------

Bars = dict[str, Parts]


def by_bar(result) -> Bars:
    """Return the seconds of each part, by the name of the step; a step is as in `by_part`."""
    return {name: by_part(parts) for name, parts in result.items()}


def keep_bars(result, path: str) -> Kept:
    """Return what a card keeps: for each step, as "PATH/NAME", its seconds in `PIECES`' order."""
    numbers = {}
    for name, parts in by_bar(result).items():
        numbers[f"{path}/{name}"] = [parts[piece] for piece in PIECES if piece in parts]
    return {}, numbers


def bars_on(card: Card, path: str) -> Bars:
    """Return the seconds of each part, by the name of the step, that a card has under a path."""
    bars = {}
    for name, seconds in numbers_under(card, path).items():
        # A step may have only the first of the pieces.
        bars[name] = dict(zip(PIECES, seconds, strict=False))
    return bars


BARS = Kind(draw=plots.bars, measured=keep_bars, restored=bars_on, data=by_bar)

# --- climb ---------------------------------------------------------------------------------------


def keep_climb(result: Climb, path: str) -> Kept:
    """Return what a card keeps: the stages of a climb, in names that begin with the path."""
    return result.record_as(path)


def climb_on(card: Card, path: str) -> Climb:
    """Return the climb that a card has under a path."""
    return Climb.from_card(card.measurements, card.numbers, path)


CLIMB = Kind(
    draw=climb_picture.climb,
    measured=keep_climb,
    # A slow machine leaves stages out.
    needs=needed,
    restored=climb_on,
)

# --- of the course: a picture that no learner's result goes into --------------------------------


def of_the_course(draw: Callable) -> Kind:
    """Return the kind of a picture that `draw()` makes without a result or a reference."""

    def draw_alone(data, title, reference):
        return draw()

    return Kind(draw=draw_alone)
