"""The picture of lesson 05, a crossing; a race and energy are kept."""

from accel_helpers import plots
from accel_helpers.course.pictures.kinds import Kept, Kind, by_name, lesson_of
from accel_helpers.measure.results import Card
from accel_helpers.worth.break_even import BreakEven, Plan, break_even

# Epochs of the lesson's training, where another machine's crossing stands alone.
LENGTH = 40


def ends(path: str) -> list[str]:
    """Return the names on a card of an epoch here and there: a lesson has them once."""
    lesson = lesson_of(path)
    return [f"{lesson}/here", f"{lesson}/there"]


def keep_crossing(crossing: BreakEven, path: str) -> Kept:
    """Put the seconds of an epoch here and there on a card."""
    here_name, there_name = ends(path)
    numbers = {here_name: crossing.here.epoch, there_name: crossing.there.epoch}
    return {}, numbers


def crossing_on(card: Card, path: str) -> BreakEven:
    """Return the crossing of the two plans of a card."""
    here_name, there_name = ends(path)
    cpu_epoch = card.numbers[here_name]
    gpu_epoch = card.numbers[there_name]
    cpu = Plan("the other CPU", cpu_epoch)
    gpu = Plan("T4, forecast there", gpu_epoch, setup_minutes=5)
    return break_even(cpu, gpu, LENGTH)


CROSSING = Kind(draw=plots.break_even, measured=keep_crossing, restored=crossing_on)


def keep_race(held, path: str) -> Kept:
    """Put a race on a card, and what its forecast was: low, high, and what came out."""
    numbers = {}
    if held.expected:
        lesson = lesson_of(path)
        numbers[f"{lesson}/forecast"] = (*held.expected, held.gain)
    return by_name(held.race, path), numbers


def keep_energy(energy, path: str) -> Kept:
    """Put joules and seconds on a card, where the chip can tell its joules."""
    if not energy.joules:
        return {}, {}
    return {}, {path: (energy.joules, energy.seconds)}


# Both are kept, and never drawn.
HELD = Kind(measured=keep_race)
ENERGY = Kind(measured=keep_energy)

KINDS: dict[str, Kind] = {"crossing": CROSSING, "held": HELD, "energy": ENERGY}
