"""Lesson 05: this CPU beside a chip, by forecast or as it raced; and its exercise."""

import math

from accel_helpers.learn.checks import calls
from accel_helpers.measure import results
from accel_helpers.train.worth import Plan, break_even


def plans(look, race, raced: int, setup_minutes: float):
    """This CPU, and a chip: the one that raced over so many samples, else the forecast's first."""
    times, name = (look.here.interval, look.step(look.rows[0])[1:]), f"a {look.rows[0].chip}"
    if race:
        steps, name = raced / look.batch_size, f"this {race.fast.name}"
        times = ([each / steps for each in of.interval] for of in (race.slow, race.fast))
    cpu, chip = ([each * look.steps for each in of] for of in times)
    return Plan("this CPU", (*cpu,)), Plan(name, (*chip,), setup_minutes)


def met(look, race, known):
    """If the forecast knows what raced, "held" or "missed"; then the numbers to say."""
    gain = race.slow.median / race.fast.median if race else 1
    low, high = (gain * each for each in look.faster(look.rows[0]))
    if race and known:
        results.keep("05/forecast", {}, {"05/forecast": (low, high, gain)})
    return ("missed", "held")[low <= gain <= high] if race and known else None, low, high, gain


def theirs(epochs: int, runs=None):
    """The break-even of the newest reference run that has one; or None."""
    found = results.reference_values("05/here", "05/there", runs=runs)
    if found is None:
        return None
    cpu, chip = found.data
    plans = Plan("the other CPU", cpu), Plan("T4, forecast there", chip, 5)
    return results.Reference(break_even(*plans, epochs), found.label)


def pays_from(factor, setup):
    return setup / (1 - 1 / factor) if factor > 1 else math.inf


_SLIPS = (
    (lambda factor, setup: setup, "That is the set-up alone, as if the chip trained in no time.",
        "It trains as well, for T / factor. Set both together equal to T."),
    (lambda factor, setup: setup / (factor - 1) if factor > 1 else math.inf,
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
        on=[(2.0, 5.0), (3.0, 6.0), (10.0, 9.0), (1.25, 2.0), (0.5, 5.0)],
        slips=_SLIPS,
        right="The set-up is the floor, and a small factor lifts the crossing high above it.",
        needs="It returns one number: minutes of training on the CPU.",
    )
}
