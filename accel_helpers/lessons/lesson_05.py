"""Lesson 05: from which length of training on a chip pays; the exercise."""

import math

from accel_helpers.learn.checks import calls


def pays_from(factor, setup):
    return setup / (1 - 1 / factor) if factor > 1 else math.inf


_SLIPS = (
    (lambda factor, setup: setup, "That is the set-up alone, as if the chip trained in no time.",
        "It trains as well, for T / factor. Set both together equal to T."),
    (lambda factor, setup: setup / (factor - 1),
        "That is how long the chip trains.", "Asked is the CPU, which takes factor times as long."),
    (lambda factor, setup: factor * setup, "That grows with the factor: a better chip pays later.",
        "T = setup + T / factor. Bring both T to one side."),
    (lambda factor, setup: setup / (1 - 1 / factor),
        "Your function has a time for a chip that is slower than the CPU, too.",
        "A chip with a factor of 1 or less never catches up: math.inf."),
)  # fmt: skip
CHECKS = {
    "05/pays_from": calls(
        pays_from,
        on=[(2.0, 5.0), (3.0, 6.0), (10.0, 9.0), (1.25, 2.0)],
        edges=[(0.5, 5.0)],
        slips=_SLIPS,
        right="The set-up is the floor, and a small factor lifts the crossing high above it.",
        needs="It returns one number: minutes of training on the CPU.",
    )
}
