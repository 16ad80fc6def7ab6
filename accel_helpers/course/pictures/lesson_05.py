"""The picture of lesson 05, a crossing; a race is kept."""

from accel_helpers import plots
from accel_helpers.course.pictures.kinds import Kept, Kind, by_name, lesson_of
from accel_helpers.measure.results import Card
from accel_helpers.worth.break_even import BreakEven, Plan, break_even

# Epochs of the lesson's training, where another machine's crossing stands alone.
LENGTH = 40


def ends(path: str) -> list[str]:
    """Return the names that an epoch on this machine and one on the other have on a card.

    "05/crossing" -> ["05/here", "05/there"]: a lesson has them once, whatever the place.
    """
    lesson = lesson_of(path)
    return [f"{lesson}/here", f"{lesson}/there"]


def keep_crossing(crossing: BreakEven, path: str) -> Kept:
    """Return what a card keeps: the seconds of an epoch on this machine and on the other one."""
    here_name, there_name = ends(path)
    numbers = {here_name: crossing.here.epoch, there_name: crossing.there.epoch}
    return {}, numbers


def crossing_on(card: Card, path: str) -> BreakEven:
    """Return when a T4 would pay for the machine of a card, with the epochs that the card has."""
    here_name, there_name = ends(path)
    cpu_epoch = card.numbers[here_name]
    gpu_epoch = card.numbers[there_name]
    cpu = Plan("the other CPU", cpu_epoch)
    gpu = Plan("T4, forecast there", gpu_epoch, setup_minutes=5)
    return break_even(cpu, gpu, LENGTH)


CROSSING = Kind(draw=plots.break_even, measured=keep_crossing, restored=crossing_on)


def keep_race(held, path: str) -> Kept:
    """Return what a card keeps of a race: both sides, and (low, high, gain) of its forecast.

    `held` is a `worth.choice.Held`; without a forecast (`expected` is None) the race is kept alone.
    """
    numbers = {}
    if held.expected:
        lesson = lesson_of(path)
        numbers[f"{lesson}/forecast"] = (*held.expected, held.gain)
    return by_name(held.race, path), numbers


# It is kept, and never drawn.
HELD = Kind(measured=keep_race)

KINDS: dict[str, Kind] = {"crossing": CROSSING, "held": HELD}
