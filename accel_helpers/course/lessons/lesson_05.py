"""Lesson 05: from which length of training on a chip pays; the exercise."""

import math

from accel_helpers.course.checks import calls


def pays_from(factor, setup):
    """Give the minutes on the CPU from which a chip pays: T = setup + T / factor, solved for T."""
    if factor <= 1:
        return math.inf
    return setup / (1 - 1 / factor)


_NEVER = "A chip with a factor of 1 or less never catches up: math.inf."
_SLIPS = (
    (lambda factor, setup: setup, "That is the set-up alone, as if the chip trained in no time.",
        "It trains as well, for T / factor. Set both together equal to T."),
    (lambda factor, setup: setup / (factor - 1),
        "That is how long the chip trains.", "Asked is the CPU, which takes factor times as long."),
    (lambda factor, setup: factor * setup, "That grows with the factor: a better chip pays later.",
        "T = setup + T / factor. Bring both T to one side."),
    (lambda factor, setup: setup / factor, "That would fall to 0 for a better chip.",
        "The set-up alone takes `setup` minutes, so it never pays before that."),
    (lambda factor, setup: setup * (1 - 1 / factor), "You multiply where you should divide.",
        "T (1 - 1 / factor) = setup. What is left is to divide by the bracket."),
    (lambda factor, setup: setup / (1 + 1 / factor), "There is a plus where a minus belongs.",
        "T = setup + T / factor. Moved to the left, T / factor changes its sign."),
    (lambda factor, setup: setup + setup / factor, "The chip trains for T / factor.",
        "T stands on both sides: T = setup + T / factor. Bring both T to one side."),
    (lambda factor, setup: setup / (1 - 1 / factor) if factor != 1 else math.inf,
        "Your function has a time for a chip that is slower than the CPU, too.", _NEVER),
)  # fmt: skip
CHECKS = {
    "05/pays_from": calls(
        pays_from,
        on=[(2.0, 5.0), (3.0, 6.0), (10.0, 9.0), (1.25, 2.0)],
        edges=[(0.5, 5.0), (1.0, 5.0)],
        at_edges=_NEVER,
        hint="T = setup + T / factor. Bring both T to one side.",
        slips=_SLIPS,
        right="The set-up is the floor, and a small factor lifts the crossing high above it.",
        needs="It returns one number: minutes of training on the CPU.",
    )
}
