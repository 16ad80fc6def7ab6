"""What a kind of picture is, and the kinds that are no single lesson's own."""

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

# What a card keeps of a result: measurements and numbers, each by its name on the card.
Kept = tuple[dict[str, Measurement], dict[str, Sequence[float]]]


def nothing_measured(result, path: str) -> Kept:
    """Return what a card keeps of a picture without a measurement: nothing."""
    return {}, {}


def unchanged(result):
    """Return the result itself, where a picture is drawn of it as it is."""
    return result


@dataclass(frozen=True)
class Kind:
    """One kind of picture: how its result is kept on a card, found there again, and drawn."""

    # (data, title=, reference=): the picture; none where a result is only kept
    draw: Callable | None = None
    # (result, path): measurements and numbers of a card
    measured: Callable = nothing_measured
    # (card, path): the data of the picture
    restored: Callable | None = None
    # (path): what a reference card must have, if not all of it
    needs: Callable | None = None
    # (result): what is drawn of it
    data: Callable = unchanged


def reference_for(kind: Kind, result, path: str, runs=None) -> Reference | None:
    """Find the same on the newest reference machine that has all of it; or None."""
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
    """Return the numbers of a card whose names begin with a path, by the rest of their names."""
    start = f"{path}/"
    numbers = {}
    for name, values in card.numbers.items():
        if name.startswith(start):
            short_name = name.removeprefix(start)
            numbers[short_name] = values
    return numbers


def measurements_under(card: Card, *paths: str) -> list[Measurement]:
    """Return the measurements of a card whose names begin with one of the paths."""
    starts = tuple(f"{path}/" for path in paths)
    measurements = []
    for name, measurement in card.measurements.items():
        if name.startswith(starts):
            measurements.append(measurement)
    return measurements


# --- epochs: seconds of every epoch, the first one apart -------------------------------------


def as_epochs(seconds) -> Measurement:
    """Turn the seconds of a callback, the first of which also compiled, into a measurement.

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
    """Put the epochs on a card."""
    return {path: as_epochs(result)}, {}


def epochs_on(card: Card, path: str) -> Measurement:
    """Return the epochs of a card."""
    return card.measurements[path]


EPOCHS = Kind(draw=plots.epochs, measured=keep_epochs, restored=epochs_on, data=as_epochs)

# --- measurements: some of them below each other ----------------------------------------------


def as_measurements(result) -> Sequence[Measurement]:
    """List both sides of a comparison, or the measurements of a result."""
    if isinstance(result, Speedup):
        return [result.slow, result.fast]
    if isinstance(result, Measurement):
        return [result]
    return list(result)


def by_name(result, path: str) -> dict[str, Measurement]:
    """Return the measurements of a result by their names on a card."""
    measurements = as_measurements(result)
    return {f"{path}/{measurement.name}": measurement for measurement in measurements}


def keep_measurements(result, path: str) -> Kept:
    """Put the measurements of a result on a card."""
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
    """Map the parts of a step to their seconds.

    >>> from accel_helpers.train.parts import StepParts
    >>> by_part(StepParts(compute=2.0, memory=0.0, overhead=1.0))
    {'compute': 2.0, 'memory': 0.0, 'overhead': 1.0}
    """
    seconds = getattr(result, "seconds", result)
    return dict(seconds)


def keep_parts(result, path: str) -> Kept:
    """Put the seconds of each part on a card."""
    numbers = {}
    for part, seconds in by_part(result).items():
        numbers[f"{path}/{part}"] = [seconds]
    return {}, numbers


def parts_on(card: Card, path: str) -> Parts:
    """Return the parts of a card with their seconds."""
    numbers = numbers_under(card, path)
    return {part: values[0] for part, values in numbers.items()}


PARTS = Kind(draw=plots.parts, measured=keep_parts, restored=parts_on, data=by_part)

# --- bars: the same parts of several steps, one below the other -----------------------------------

Bars = dict[str, Parts]


def by_bar(result) -> Bars:
    """Return the parts of each step with their seconds."""
    return {name: by_part(parts) for name, parts in result.items()}


def keep_bars(result, path: str) -> Kept:
    """Put the seconds of each step's parts on a card, in the order of `PIECES`."""
    numbers = {}
    for name, parts in by_bar(result).items():
        numbers[f"{path}/{name}"] = [parts[piece] for piece in PIECES if piece in parts]
    return {}, numbers


def bars_on(card: Card, path: str) -> Bars:
    """Return the steps of a card with the seconds of their parts."""
    bars = {}
    for name, seconds in numbers_under(card, path).items():
        # A step may have only the first of the pieces.
        bars[name] = dict(zip(PIECES, seconds, strict=False))
    return bars


BARS = Kind(draw=plots.bars, measured=keep_bars, restored=bars_on, data=by_bar)

# --- climb ---------------------------------------------------------------------------------------


def keep_climb(result: Climb, path: str) -> Kept:
    """Put a climb on a card."""
    return result.record_as(path)


def climb_on(card: Card, path: str) -> Climb:
    """Return the climb of a card."""
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
    """Make the kind of a picture that `draw()` makes, whatever was measured."""

    def draw_alone(data, title, reference):
        return draw()

    return Kind(draw=draw_alone)
