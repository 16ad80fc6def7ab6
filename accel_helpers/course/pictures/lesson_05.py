"""The pictures of lesson 05: bars of several chips, a crossing, a race against its forecast."""

from accel_helpers import plots
from accel_helpers.course.pictures.kinds import MEASUREMENTS, Kind, as_measurements
from accel_helpers.measure.results import Card
from accel_helpers.train.break_even import BreakEven, Plan, break_even

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

KINDS: dict[str, Kind] = {"bars": BARS, "crossing": CROSSING, "held": HELD, "energy": ENERGY}
