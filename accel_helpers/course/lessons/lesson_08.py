"""Lesson 08: from which call on compiling has paid, and the check of that exercise."""

import math
import operator
from collections.abc import Callable, Mapping

from accel_helpers._values.words import format_seconds, times
from accel_helpers.course.checks import FunctionCheck
from accel_helpers.fit.parts import Parts
from accel_helpers.measure import pictures


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
    hint = "What does the first call lose, and in how many calls is it won back?"
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


def chain(found: Mapping[str, Mapping]) -> pictures.Picture:
    """Draw the time of a chain of operations over its length, by what computed it."""
    growth = {}
    for way, curve in found.items():
        longest = curve[max(curve)].median
        shortest = curve[min(curve)].median
        growth[way] = times(longest / shortest)
    title = f"32 times the operations: NumPy {growth['NumPy']} times as long, XLA {growth['XLA']}"
    x = ("operations in the chain", pictures.number)
    y = ("time of a call", format_seconds)
    return pictures.lines(found, x, y, title=title, log=True)


def modes(found: Mapping[str, Parts]) -> pictures.Picture:
    """Draw where the time of a step goes, in each of Keras's modes."""
    steps = {}
    overheads = []
    for name, parts in found.items():
        steps[name] = parts.seconds
        overhead = format_seconds(parts.seconds.get("overhead", 0.0))
        overheads.append(f"{name} {overhead}")
    title = f"Overhead of a step: {', '.join(overheads)}"
    return pictures.bars(steps, title=title)


PICTURES = {"chain": chain, "bars": modes}
