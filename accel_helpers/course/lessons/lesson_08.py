"""Lesson 08: from which call on compiling has paid, and the check of that exercise."""

import math
import operator
from collections.abc import Callable

from accel_helpers.course.checks import FunctionCheck


def pays_after(
    first: float,
    before: float,
    after: float,
    *,
    with_first: int = 1,
    whole: Callable = math.ceil,
    never: Callable = operator.ge,
) -> float:
    """Return after how many calls compiling has paid, the first included; infinite if it never has.

    A call takes `before` seconds without compiling. With it the first takes `first` seconds, and
    each later one `after`. 100, 10, 6 -> 24: 23 calls win back the 90 that the first one lost. The
    slips change whether the first call is counted, what is made of parts of calls, and which calls
    `never` pay.
    """
    # No later call wins anything back.
    if never(after, before):
        return math.inf
    lost = first - before
    won_by_each = before - after
    return with_first + whole(lost / won_by_each)


class PaysAfter(FunctionCheck):
    cases = [(100, 10, 6), (50, 20, 8), (9, 4, 3)]
    edges = [(80, 2, 3), (60, 5, 5)]
    at_edges = "What is never made up takes math.inf."
    right = "The first call is the price. What each later one wins pays it back."
    needs = "A number."
    slips = (
        (
            {"with_first": 0},
            "Nearly: the calls after the first are counted.",
            "The first call is a call, too.",
        ),
        (
            {"whole": float},
            "You count parts of calls.",
            "After how many whole calls is the loss made up? Round up.",
        ),
        (
            {"with_first": 0, "whole": float},
            "You count parts of calls, and not the first one.",
            "After how many whole calls is the loss made up? And the first call is a call, too.",
        ),
        (
            lambda first, before, after: math.ceil(first / (before - after)),
            "The whole first call is lost, for you.",
            "How long would it have taken uncompiled?",
        ),
        (
            {"never": operator.eq},
            "You have a number for calls that got slower.",
            at_edges,
        ),
    )


CHECKS = {"08/pays_after": PaysAfter(pays_after)}
