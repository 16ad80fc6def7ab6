"""Lesson 05: from which length of training on a chip pays; the exercise."""

import math
import operator
from collections.abc import Callable
from functools import partial

from accel_helpers._values.words import times
from accel_helpers.course.checks import FunctionCheck
from accel_helpers.measure.pictures import Picture, bars, lines


def pays_from(factor: float, setup: float, never: Callable = operator.le) -> float:
    """Return the minutes of training on the CPU from which on a chip is faster; infinite if never.

    They are the T of T = setup + T / factor. `factor` is how many times as fast as the CPU the chip
    trains, `setup` the minutes until it starts. A slip changes which factors `never` pay beside 1.
    """
    # Such a chip never catches up with the CPU.
    if never(factor, 1):
        return math.inf
    return setup / (1 - 1 / factor)


class PaysFrom(FunctionCheck):
    cases = [(2.0, 5.0), (3.0, 6.0), (10.0, 9.0), (1.25, 2.0)]
    edges = [(0.5, 5.0), (1.0, 5.0)]
    at_edges = "A chip with a factor of 1 or less never catches up: math.inf."
    hint = "Minutes on the CPU: T = setup + T / factor. Bring both T to one side."
    right = "The set-up is the floor, and a small factor lifts the crossing high above it."
    slips = (
        (
            lambda factor, setup: setup,
            "That is the set-up alone, as if the chip trained in no time.",
            "It trains as well, for T / factor. Set both together equal to T.",
        ),
        (
            lambda factor, setup: setup / (factor - 1),
            "That is how long the chip trains.",
            "Asked is the CPU, which takes factor times as long.",
        ),
        (
            lambda factor, setup: factor * setup,
            "That grows with the factor: a better chip pays later.",
            "T = setup + T / factor. Bring both T to one side.",
        ),
        (
            lambda factor, setup: setup / factor,
            "That would fall to 0 for a better chip.",
            "The set-up alone takes `setup` minutes, so it never pays before that.",
        ),
        (
            lambda factor, setup: setup * (1 - 1 / factor),
            "You multiply where you should divide.",
            "T (1 - 1 / factor) = setup. What is left is to divide by the bracket.",
        ),
        (
            lambda factor, setup: setup / (1 + 1 / factor),
            "There is a plus where a minus belongs.",
            "T = setup + T / factor. Moved to the left, T / factor changes its sign.",
        ),
        (
            lambda factor, setup: setup + setup / factor,
            "The chip trains for T / factor.",
            "T stands on both sides: T = setup + T / factor. Bring both T to one side.",
        ),
        (
            {"never": operator.eq},
            "Your function has a time for a chip that is slower than the CPU, too.",
            at_edges,
        ),
    )


CHECKS = {"05/pays_from": PaysFrom(pays_from)}


def crossing(answer) -> Picture:
    """Draw how long a training takes here, and on the chip of an answer, over its minutes here."""
    chip = f"the {answer.row.chip}"
    early, late = (seconds / 60 for seconds in answer.row.pays_from)
    shortest, longest = (seconds / 60 for seconds in answer.seconds)
    finding = f"Under {times(early)} minutes of training here, stay"
    if early == math.inf:
        finding = f"{chip}: it never pays"
    elif late == math.inf:
        finding += " where you are"
    else:
        finding += f"; over {times(late)}, change"
    reach = max(minutes for minutes in (longest, early) if minutes < math.inf)
    # a wide interval may end far away from what matters
    most = 1.15 * min(max(reach, late), 4 * reach)
    setup = answer.setup_minutes
    slow, fast = answer.row.faster
    best = setup + most / fast
    curves = {"this CPU": {0: 0, most: most}, f"{chip}, at best": {0: setup, most: best}}
    if slow:
        curves[f"{chip}, at worst"] = {0: setup, most: setup + most / slow}
    curves["your training"] = {shortest: shortest, longest: longest}
    marks = {times(minutes): (minutes, minutes) for minutes in (early, late) if minutes < most}
    x = ("minutes of training on this CPU", "{:.3g}".format)
    return lines(curves, x, ("minutes until it is done", x[1]), title=finding, marks=marks)


PICTURES = {
    "bars": partial(bars, title="The overhead stays: no chip shortens it"),
    "crossing": crossing,
}
