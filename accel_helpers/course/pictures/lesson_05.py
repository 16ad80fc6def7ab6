"""The picture of lesson 05, a crossing; a race and energy are kept."""

from accel_helpers import plots
from accel_helpers.course.pictures.kinds import Kind
from accel_helpers.measure.results import Card
from accel_helpers.worth.break_even import BreakEven, Plan, break_even

LENGTH = 40  # epochs of the lesson's training, where another machine's crossing stands alone


def ends(path: str) -> list[str]:
    """The names of an epoch here and there: of a lesson they stand once."""
    lesson = path.partition("/")[0]
    return [f"{lesson}/here", f"{lesson}/there"]


def crossing_on(card: Card, path: str) -> BreakEven:
    here, there = (card.numbers[name] for name in ends(path))
    plans = Plan("the other CPU", here), Plan("T4, forecast there", there, 5)
    return break_even(*plans, LENGTH)


CROSSING = Kind(
    draw=plots.break_even,
    measured=lambda found, path: (
        {},
        dict(zip(ends(path), (found.here.epoch, found.there.epoch), strict=True)),
    ),
    restored=crossing_on,
)


def of_race(held, path: str):
    """A race, and what its forecast was: low, high, and what came out."""
    race, forecast = held.race, f"{path.partition('/')[0]}/forecast"
    said = {forecast: (*held.expected, held.gain)} if held.expected else {}
    return {f"{path}/{each.name}": each for each in (race.slow, race.fast)}, said


# Both are kept, and never drawn.
HELD = Kind(measured=of_race)
ENERGY = Kind(
    measured=lambda energy, path: (
        {},
        {path: (energy.joules, energy.seconds)} if energy.joules else {},
    ),
)

KINDS: dict[str, Kind] = {"crossing": CROSSING, "held": HELD, "energy": ENERGY}
