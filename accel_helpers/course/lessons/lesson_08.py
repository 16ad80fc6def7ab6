"""Lesson 08: from which call on compiling has paid, and the check of that exercise."""

import math
import operator
from collections.abc import Callable, Mapping

from accel_helpers._values.words import format_seconds
from accel_helpers.course.checks import FunctionCheck
from accel_helpers.fit.parts import Parts
from accel_helpers.machine import hardware
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
    at_edges = "If it never pays, return math.inf."
    right = "The first call is the price. What each later one gains pays it back."
    hint = "What does the first call lose, and in how many calls is it won back?"
    slips = (
        (
            {"with_first": 0},
            "Nearly: you count only the calls after the first.",
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
            "You count the whole first call as lost.",
            "How long would it have taken uncompiled?",
        ),
        (
            {"never": operator.eq},
            "You have a number for calls that got slower.",
            at_edges,
        ),
    )


CHECKS = {"08/pays_after": PaysAfter(pays_after)}


def roof(found: Mapping) -> pictures.Picture:
    """Draw the chain one by one and fused, under the roof that was measured and that of a T4."""
    points = found["points"]
    chip = hardware.match("Tesla T4")
    roofs = {
        "yours, measured": (found["memory"], found["compute"]),
        f"{chip.name}, data sheet": hardware.roof(chip),
    }
    _, before = points["one by one"]
    _, after = points["fused"]
    title = f"One trip to memory, not 64: {after / before:.2g} times as fast"
    if after < before:
        title = "Fusion moves the chain right, but not up"
    return pictures.roofline(points, roofs, title=title, step="one by one", goal="fused")


def modes(found: Mapping[str, Parts]) -> pictures.Picture:
    """Draw where the time of a step goes, in each of Keras's modes."""
    steps = {}
    overheads = []
    for name, parts in found.items():
        steps[name] = parts.seconds
        overhead = format_seconds(parts.seconds.get("overhead", 0.0))
        overheads.append(f"{name} {overhead}")
    title = f"Overhead: {', '.join(overheads)}"
    return pictures.bars(steps, title=title)


PICTURES = {"roof": roof, "bars": modes}
