"""The pictures of the lessons: how each is put on the result card, found there again, and drawn.

A place's `picture` names one of `PICTURES`. What a lesson measured stands on the card under
"NN/place"; the newest reference run that has the same names is drawn in grey.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from accel_helpers import plots
from accel_helpers.course.outcomes import device_kind
from accel_helpers.lessons import lesson_00, lesson_01, lesson_04
from accel_helpers.measure import results
from accel_helpers.measure.measurement import Measurement, Speedup
from accel_helpers.measure.results import Card
from accel_helpers.train.break_even import BreakEven, Plan, break_even
from accel_helpers.train.climb import Climb, needed


@dataclass(frozen=True)
class Kind:
    """One kind of picture."""

    measured: Callable  # (result, path): its measurements and its numbers, as a card keeps them
    names: Callable  # (result, path): what a reference card must have
    restored: Callable  # (card, path): the data of the picture
    draw: Callable  # (data, title, reference): the picture
    data: Callable = lambda result: result  # what is drawn of a result


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

# --- race: the CPU and the best device; where that is the CPU, too, it is the control -------------


def sides_of(race: Speedup, path: str) -> dict[str, Measurement]:
    """Both sides by the names that a card has: "02/race/gpu/first", or "02/control/first"."""
    kind = device_kind(race.fast.name)
    start = f"{path.rpartition('/')[0]}/control" if kind == "cpu" else f"{path}/{kind}"
    return {f"{start}/first": race.slow, f"{start}/second": race.fast}


CONTROL = Kind(
    measured=lambda result, path: (sides_of(result, path), {}),
    names=lambda result, path: [*sides_of(result, path)],
    restored=lambda card, path: [
        timed
        for name, timed in card.measurements.items()
        if name.startswith((f"{path}/", f"{path.rpartition('/')[0]}/control/"))
    ],
    draw=lambda data, title, reference: plots.measurements(data, title=title, reference=reference),
    data=as_measurements,
)

# --- lessons 00 and 01: pictures of the course's own, and the rate of a matmul ------------------


def of_the_course(draw: Callable) -> Kind:
    """A picture that no learner's result goes into."""
    nothing = {"measured": lambda result, path: ({}, {}), "names": lambda result, path: []}
    return Kind(
        **nothing,
        restored=lambda card, path: None,
        draw=lambda data, title, reference: draw(),
    )


ANSWER, DIALOG = of_the_course(lesson_00.answer), of_the_course(lesson_01.dialog)
RATES = Kind(
    measured=lesson_01.rates_measured,
    names=lambda result, path: [f"{path}/cpu", f"{path}/size"],
    restored=lesson_01.rates_on,
    draw=lambda data, title, reference: lesson_01.rates(data, reference=reference),
)

PICTURES: dict[str, Kind] = {
    "epochs": EPOCHS,
    "measurements": MEASUREMENTS,
    "parts": PARTS,
    "climb": CLIMB,
    "losses": LOSSES,
    "answer": ANSWER,
    "dialog": DIALOG,
    "rates": RATES,
    "control": CONTROL,
}


# --- lesson 04: where a model trained; losses with the seconds and size of an epoch; memory -------


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
    measured=lambda result, path: ({}, {}),
    names=lambda result, path: [path],
    restored=lambda card, path: None,
    draw=lambda data, title, reference: lesson_04.memory_picture(data, title=title),
)
PICTURES |= {"trained": TRAINED, "learning": LEARNING, "memory": MEMORY}


def reference_for(kind: Kind, result, path: str, runs=None):
    """The same on the newest reference machine that has all of it; or None."""
    card = results.reference(*kind.names(result, path), runs=runs)
    return None if card is None else card.reference(kind.restored(card, path))


# --- lesson 05: bars of several chips, a crossing, a race against its forecast, energy -----------

PIECES = ("compute", "memory", "overhead")
LENGTH = 40  # epochs of the lesson's training, where another machine's crossing stands alone


def bars_on(card: Card, path: str) -> dict[str, dict[str, float]]:
    start = f"{path}/"
    return {
        name.removeprefix(start): dict(zip(PIECES, seconds, strict=True))
        for name, seconds in card.numbers.items()
        if name.startswith(start)
    }


BARS = Kind(
    measured=lambda bars, path: (
        {},
        {f"{path}/{chip}": [pieces[each] for each in PIECES] for chip, pieces in bars.items()},
    ),
    names=lambda bars, path: [f"{path}/{chip}" for chip in bars],
    restored=bars_on,
    draw=lambda data, title, reference: plots.bars(data, title=title, reference=reference),
)


def ends(path: str) -> list[str]:
    """The names of an epoch here and there: of a lesson they stand once."""
    lesson = path.partition("/")[0]
    return [f"{lesson}/here", f"{lesson}/there"]


def crossing_on(card: Card, path: str) -> BreakEven:
    here, there = (card.numbers[name] for name in ends(path))
    plans = Plan("the other CPU", here), Plan("T4, forecast there", there, 5)
    return break_even(*plans, LENGTH)


CROSSING = Kind(
    measured=lambda found, path: (
        {},
        dict(zip(ends(path), (found.here.epoch, found.there.epoch), strict=True)),
    ),
    names=lambda found, path: ends(path),
    restored=crossing_on,
    draw=lambda data, title, reference: plots.break_even(
        data, title=title or None, reference=reference
    ),
)


def of_race(held, path: str):
    """A race, and what its forecast was: low, high, and what came out."""
    race, forecast = held.race, f"{path.partition('/')[0]}/forecast"
    said = {forecast: (*held.expected, held.gain)} if held.expected else {}
    return {f"{path}/{each.name}": each for each in (race.slow, race.fast)}, said


HELD = Kind(
    measured=of_race,
    names=lambda held, path: [*of_race(held, path)[0]],
    restored=MEASUREMENTS.restored,
    draw=MEASUREMENTS.draw,
    data=lambda held: as_measurements(held.race),
)
ENERGY = Kind(
    measured=lambda energy, path: (
        {},
        {path: (energy.joules, energy.seconds)} if energy.joules else {},
    ),
    names=lambda energy, path: [path],
    restored=lambda card, path: card.numbers[path],
    draw=lambda data, title, reference: None,  # kept, and never drawn
)
PICTURES |= {"bars": BARS, "crossing": CROSSING, "held": HELD, "energy": ENERGY}
