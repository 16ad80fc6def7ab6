"""Lesson 05: from which length of training on a chip pays; the exercise."""

import math

from accel_helpers.course.checks import calls
from accel_helpers.course.slips import Slips


def pays_from(factor: float, setup: float) -> float:
    """Return the minutes of training on the CPU from which on a chip is faster; infinite if never.

    They are the T of T = setup + T / factor. `factor` is how many times as fast as the CPU the chip
    trains, `setup` the minutes until it starts.
    """
    # Such a chip never catches up with the CPU.
    if factor <= 1:
        return math.inf
    share_saved = 1 - 1 / factor
    return setup / share_saved


_NEVER = "A chip with a factor of 1 or less never catches up: math.inf."
# Wrong answers to the exercise; each takes what `pays_from` takes.
_SLIPS = Slips()


@_SLIPS.add(
    "That is the set-up alone, as if the chip trained in no time.",
    "It trains as well, for T / factor. Set both together equal to T.",
)
def _set_up_alone(factor, setup):
    return setup


@_SLIPS.add(
    "That is how long the chip trains.",
    "Asked is the CPU, which takes factor times as long.",
)
def _time_of_the_chip(factor, setup):
    return setup / (factor - 1)


@_SLIPS.add(
    "That grows with the factor: a better chip pays later.",
    "T = setup + T / factor. Bring both T to one side.",
)
def _set_up_times_factor(factor, setup):
    return factor * setup


@_SLIPS.add(
    "That would fall to 0 for a better chip.",
    "The set-up alone takes `setup` minutes, so it never pays before that.",
)
def _set_up_by_factor(factor, setup):
    return setup / factor


@_SLIPS.add(
    "You multiply where you should divide.",
    "T (1 - 1 / factor) = setup. What is left is to divide by the bracket.",
)
def _multiplied(factor, setup):
    share_saved = 1 - 1 / factor
    return setup * share_saved


@_SLIPS.add(
    "There is a plus where a minus belongs.",
    "T = setup + T / factor. Moved to the left, T / factor changes its sign.",
)
def _wrong_sign(factor, setup):
    bracket = 1 + 1 / factor
    return setup / bracket


@_SLIPS.add(
    "The chip trains for T / factor.",
    "T stands on both sides: T = setup + T / factor. Bring both T to one side.",
)
def _training_of_the_set_up(factor, setup):
    training = setup / factor
    return setup + training


@_SLIPS.add("Your function has a time for a chip that is slower than the CPU, too.", _NEVER)
def _slower_chip_pays(factor, setup):
    if factor == 1:
        return math.inf
    share_saved = 1 - 1 / factor
    return setup / share_saved


_FASTER_CHIPS = [(2.0, 5.0), (3.0, 6.0), (10.0, 9.0), (1.25, 2.0)]
_NO_FASTER_CHIPS = [(0.5, 5.0), (1.0, 5.0)]

CHECKS = {
    "05/pays_from": calls(
        pays_from,
        on=_FASTER_CHIPS,
        edges=_NO_FASTER_CHIPS,
        at_edges=_NEVER,
        hint="T = setup + T / factor. Bring both T to one side.",
        slips=_SLIPS,
        right="The set-up is the floor, and a small factor lifts the crossing high above it.",
        needs="It returns one number: minutes of training on the CPU.",
    )
}
