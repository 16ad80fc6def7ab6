"""The exercises of lesson 03: broken benchmarks of the pretend accelerator."""

import math
from collections.abc import Callable
from functools import partial

from accel_helpers._values.words import format_seconds, percent, shown
from accel_helpers.course.checks import Asked, Check, Result, Told
from accel_helpers.course.lessons.pretend_device import TRUTH, Device, device_for, timed
from accel_helpers.course.word_checks import choices

__all__ = ["TRUTH", "device_for"]

# A slip of `timed` -> the message that names it, and the hint.
_SLIPS = {
    "sends": (
        "The sending is inside.",
        "This one asks for the step alone: send before the clock.",
    ),
    "cold": (
        "The first run compiles, and that time is still inside.",
        "Let the device run once, and wait for it, before you read the clock.",
    ),
    "early": (
        "That is the time it takes to give the order, not to carry it out.",
        "run() returns a job. Something must wait for that job before the clock is read.",
    ),
    "whole": (
        "Those are all your steps together.",
        "Divide by the number of steps between the two clock readings.",
    ),
}


def _repaired(answer: Callable[[Device], float]) -> Result:
    """Grade the benchmark that a learner wrote, which is to return the seconds of a step.

    It is right within 5 % of device A's step. A wrong time gets the message of the slip that gives
    the same time, if there is one. Raises Told where the answer is no function, or an empty one,
    stops with an error, or returns no number.
    """
    benchmark = Asked(answer, start="Copy the broken one, then fix it.")
    benchmark.stops = "The device has four verbs: send(data), run(batch), wait(job) and clock()."
    device = device_for("A")
    hint = "Return the difference of two clock readings."
    seconds = benchmark(device)
    # NaN is a number, and no time.
    is_time = isinstance(seconds, (int, float)) and abs(seconds) < 1e9
    if not is_time:
        raise Told(f"The function returned {shown(seconds)}, not a number of seconds.", hint)
    answer_text = f"Your timing says {format_seconds(max(seconds, 0))}"
    if math.isclose(seconds, TRUTH["A"], rel_tol=0.05):
        return Result(True, f"{answer_text}; the device's own record says the same.")
    # Each slip is tried with as many steps as the learner took.
    steps = max(device.steps, 1)
    for slip, (message, slip_hint) in _SLIPS.items():
        slip_seconds = timed(device_for("A"), steps, **{slip: True})
        if math.isclose(seconds, slip_seconds, rel_tol=0.05, abs_tol=1e-9):
            return Result(False, f"{answer_text}. {message}", slip_hint)
    error = abs(seconds / TRUTH["A"] - 1)
    return Result(False, f"{answer_text}. That is {percent(error)} off.", hint)


# What is wrong with the four broken benchmarks, A to D.
CAUSES = ("waiting", "compiling", "transfer", "too small")
_RIGHT = {"A": "waiting", "B": "compiling", "C": "transfer", "D": "too small"}
_HINTS = {
    "A": "A reads the clock right after run(). What has the device done by then?",
    "B": "B's device has never run before the clock starts. What happens at a first run?",
    "C": "C sends one batch, before the clock. How many batches does training need?",
    "D": "D times a single step. How long is a step, and how long is a tick of the clock?",
}


def _broken_benchmarks() -> list[tuple[Callable[[Device], float], str, str]]:
    """Return (benchmark, message, hint) for each slip of `timed`, as `Check` takes them."""
    benchmarks = []
    for slip, (message, hint) in _SLIPS.items():
        broken = partial(timed, **{slip: True})
        benchmarks.append((broken, message, hint))
    return benchmarks


CHECKS = {
    "03/diagnosis": choices(
        _RIGHT,
        CAUSES,
        {letter: ("", hint) for letter, hint in _HINTS.items()},
        done="All four causes found.",
        empty="The four are still empty.",
    ),
    "03/a": Check(_repaired, timed, _broken_benchmarks()),
}
