"""The exercises of lesson 03: broken benchmarks of the pretend accelerator."""

import math

from accel_helpers._values.words import format_seconds, percent, shown
from accel_helpers.course.checks import Check, Told, WordCheck, ask
from accel_helpers.course.lessons.pretend_device import COMPILING, ORDER, TRUTH, device_for


class Benchmark(Check):
    """The exercise in which device A is timed: right is what is within 5 % of its step."""

    # (the seconds that it says after so many steps, message, hint)
    slips = (
        (
            lambda steps: TRUTH["C"],
            "The sending is inside.",
            "This one asks for the step alone: send before the clock.",
        ),
        (
            lambda steps: TRUTH["A"] + COMPILING / steps,
            "The first run compiles, and that time is still inside.",
            "Let the device run once, and wait for it, before you read the clock.",
        ),
        (
            lambda steps: ORDER,
            "That is the time it takes to give the order, not to carry it out.",
            "run() returns a job. Something must wait for that job before the clock is read.",
        ),
        (
            lambda steps: TRUTH["A"] * steps,
            "Those are all your steps together.",
            "Divide by the number of steps between the two clock readings.",
        ),
    )

    def grade(self, answer: object) -> str:
        """Time the device by the answer. Returns and raises as every check does."""
        device = device_for("A")
        stops = "The device has four verbs: send(data), run(batch), wait(job) and clock()."
        seconds = ask(answer, device, start="Copy the broken one, then fix it.", stops=stops)
        hint = "Return the difference of two clock readings."
        # NaN is a number, and no time.
        is_time = isinstance(seconds, (int, float)) and abs(seconds) < 1e9
        if not is_time:
            raise Told(f"The function returned {shown(seconds)}, not a number of seconds.", hint)
        said = f"Your timing says {format_seconds(max(seconds, 0))}"
        if math.isclose(seconds, TRUTH["A"], rel_tol=0.05):
            return f"{said}; the device's own record says the same."
        steps = max(device.steps, 1)
        for wrong_seconds, message, slip_hint in self.slips:
            if math.isclose(seconds, wrong_seconds(steps), rel_tol=0.05):
                raise Told(f"{said}. {message}", slip_hint)
        error = abs(seconds / TRUTH["A"] - 1)
        raise Told(f"{said}. That is {percent(error)} off.", hint)


_HINTS = {
    "A": "A reads the clock right after run(). What has the device done by then?",
    "B": "B's device has never run before the clock starts. What happens at a first run?",
    "C": "C sends one batch, before the clock. How many batches does training need?",
    "D": "D times a single step. How long is a step, and how long is a tick of the clock?",
}


class Diagnosis(WordCheck):
    """What is wrong with the four broken benchmarks, A to D."""

    truth = {"A": "waiting", "B": "compiling", "C": "transfer", "D": "too small"}
    allowed = ("waiting", "compiling", "transfer", "too small")
    done = "All four causes found."
    empty = "The four are still empty."
    slips = {letter: {"": ("", hint)} for letter, hint in _HINTS.items()}


CHECKS = {"03/diagnosis": Diagnosis(), "03/a": Benchmark()}
