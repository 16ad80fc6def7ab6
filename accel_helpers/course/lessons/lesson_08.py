"""Lesson 08: from which call on compiling has paid, and the check of that exercise."""

import math

from accel_helpers.course.checks import calls
from accel_helpers.course.slips import Slips


def pays_after(first: float, before: float, after: float) -> float:
    """Return after how many calls compiling has paid, the first included; infinite if it never has.

    A call takes `before` seconds without compiling. With it the first takes `first` seconds, and
    each later one `after`. 100, 10, 6 -> 24: 23 calls win back the 90 that the first one lost.
    """
    # No later call wins anything back.
    if after >= before:
        return math.inf
    lost = first - before
    won_by_each = before - after
    return 1 + math.ceil(lost / won_by_each)


# Wrong answers to the exercise; each takes what `pays_after` takes.
_SLIPS = Slips()


@_SLIPS.add("Nearly: the calls after the first are counted.", "The first call is a call, too.")
def _without_the_first(first, before, after):
    calls_until_then = pays_after(first, before, after)
    return calls_until_then - 1


@_SLIPS.add(
    "You count parts of calls.", "After how many whole calls is the loss made up? Round up."
)
def _parts_of_calls(first, before, after):
    lost = first - before
    won_by_each = before - after
    return 1 + lost / won_by_each


@_SLIPS.add(
    "You count parts of calls, and not the first one.",
    "After how many whole calls is the loss made up? And the first call is a call, too.",
)
def _parts_without_the_first(first, before, after):
    lost = first - before
    won_by_each = before - after
    return lost / won_by_each


@_SLIPS.add("The whole first call is lost, for you.", "How long would it have taken uncompiled?")
def _first_call_is_lost(first, before, after):
    won_by_each = before - after
    return math.ceil(first / won_by_each)


@_SLIPS.add("You have a number for calls that got slower.", "What is never made up takes math.inf.")
def _slower_calls_pay(first, before, after):
    if after == before:
        return math.inf
    lost = first - before
    won_by_each = before - after
    return math.ceil(1 + lost / won_by_each)


CHECKS = {
    "08/pays_after": calls(
        pays_after,
        on=[(100, 10, 6), (50, 20, 8), (9, 4, 3)],
        edges=[(80, 2, 3), (60, 5, 5)],
        at_edges="What is never made up takes math.inf.",
        right="The first call is the price. What each later one wins pays it back.",
        needs="A number.",
        slips=_SLIPS,
    )
}
