"""A pretend accelerator whose every cost is known, and the checks that use it (lesson 03).

It behaves as a GPU does: it compiles at the first run, takes its orders at once, and works on
its own until it has finished. Its clock is its own, so that a check gives the same answer on
every machine.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable

from accel_helpers._words import format_seconds
from accel_helpers.learn.checks import Result, blank, shown, stopped

# what a right benchmark says on the device of each exercise, in seconds: the order, the work and,
# where every step has its own batch, the sending
TRUTH = {
    "03/a": 0.0001 + 0.010,
    "03/b": 0.0001 + 0.010,
    "03/c": 0.0001 + 0.010 + 0.030,
    "03/d": 0.0001 + 0.0021,
}
CAUSES = ("waiting", "compiling", "transfer", "too small")
SLOWER = 2  # how many times as long everything takes on the device that no constant fits


class Device:
    """A pretend accelerator with a clock of its own.

    Parameters
    ----------
    step, order, compiling, transfer : float
        Seconds of one step's work, of giving the order for it, of the compilation at the
        first run, and of sending a batch.
    tick : float
        The clock shows multiples of this many seconds.
    jitter : float
        Each step's work varies by up to this share.

    Examples
    --------
    >>> device = Device()
    >>> job = device.run(device.send("images"))  # the first run compiles
    >>> _ = device.wait(job)
    >>> start = device.clock()
    >>> job = device.run("images")  # only gives the order
    >>> round(device.clock() - start, 6)
    0.0001
    >>> _ = device.wait(job)  # comes back when the work is done
    >>> round(device.clock() - start, 3)
    0.01
    """

    def __init__(
        self,
        *,
        step: float = 0.010,
        order: float = 0.0001,
        compiling: float = 2.0,
        transfer: float = 0.030,
        tick: float = 1e-9,
        jitter: float = 0.01,
        seed: int = 0,
    ):
        self._now = self._free_at = 0.0
        self._step, self._order, self._compiling = step, order, compiling
        self._transfer, self._tick, self._jitter = transfer, tick, jitter
        self._random = random.Random(seed)
        self._runs = 0
        self._runs_at_readings = []

    def clock(self) -> float:
        """The time in seconds."""
        self._runs_at_readings.append(self._runs)
        return math.floor(self._now / self._tick + 1e-6) * self._tick

    def send(self, data):
        """Copy a batch from the computer's memory to the device; takes a while."""
        self._now += self._transfer
        return data

    def run(self, batch) -> float:
        """Order one training step on a batch; comes back at once (but for the first time)."""
        self._now += self._order
        if self._runs == 0:
            self._now += self._compiling
        self._runs += 1
        work = self._step * (1 + self._random.uniform(-self._jitter, self._jitter))
        self._free_at = max(self._now, self._free_at) + work
        return self._free_at

    def wait(self, job: float) -> float:
        """Come back when a job is done."""
        if isinstance(job, bool) or not isinstance(job, (int, float)):
            raise TypeError(f"wait() takes the job that run() gave; got {job!r:.40}")
        self._now = max(self._now, job)
        return job


def device_for(exercise: str, *, seed: int = 0, slower: float = 1) -> Device:
    """The device that an exercise of lesson 03 is graded on.

    Parameters
    ----------
    exercise : str
        "03/a", "03/b", "03/c" or "03/d".
    seed : int, optional
        Of its jitter.
    slower : float, optional
        How many times as long everything takes, ticks of the clock included.
    """
    step, tick, jitter = (0.0021, 0.005, 0.3) if exercise == "03/d" else (0.010, 1e-9, 0.01)
    return Device(
        step=step * slower,
        order=0.0001 * slower,
        compiling=2.0 * slower,
        transfer=0.030 * slower,
        tick=tick * slower,
        jitter=jitter,
        seed=seed,
    )


# ---------------------------------------------------------------------------------------------


def _repair(exercise: str, diagnose: Callable[[float, bool], tuple[str, str]]):
    truth = TRUTH[exercise]

    def grade(answer) -> Result:
        if not callable(answer):
            return Result(
                False,
                f"A function of the device is needed; got {shown(answer)}.",
                "Hand in the function's name, without brackets.",
            )
        devices = [device_for(exercise, seed=seed) for seed in (1, 2, 3)]
        devices.append(device_for(exercise, seed=4, slower=SLOWER))
        said = []
        for device in devices:
            try:
                said.append(answer(device))
            except NotImplementedError:
                return Result(
                    False, "The function is still empty.", "Copy the broken one, then mend it."
                )
            except (Exception, SystemExit) as error:
                return Result(
                    False,
                    stopped(error),
                    "The device has four verbs: send(data), run(batch), wait(job) and clock().",
                )
        for value in said:
            if not _is_time(value):
                return Result(
                    False,
                    f"The function returned {shown(value)}, not a number of seconds.",
                    "Return the difference of two clock readings, divided by the steps between.",
                )
        if not all(map(_something_ran, devices)):
            return Result(
                False,
                f"The function returned {shown(said[0])}, and that number does not come from the "
                "device: nothing ran there between two readings of its clock.",
                "Read device.clock(), let the device run, read it again, and return the "
                "difference.",
            )
        *said, slow = said
        worst = max(said, key=lambda value: abs(value - truth))
        if abs(worst - truth) <= 0.05 * truth:
            if abs(slow - SLOWER * truth) > 0.1 * SLOWER * truth:
                return Result(
                    False,
                    f"{format_seconds(worst)} is right for this device. But on one where all takes "
                    f"{SLOWER} times as long, your function says {format_seconds(max(slow, 0))}. "
                    "So the number does not come from the device alone.",
                    "Return what the clock shows: the difference of two readings, divided by the "
                    "steps between. Write no time of your own into the function.",
                )
            return Result(
                True,
                f"Your timing says {format_seconds(worst)}; the device's own record says "
                f"{format_seconds(truth)}.",
            )
        message, hint = diagnose(worst, devices[0]._runs_at_readings[0] == 0)
        return Result(False, f"Your timing says {format_seconds(max(worst, 0))}. {message}", hint)

    return grade


def _something_ran(device: Device) -> bool:
    runs = device._runs_at_readings
    return len(runs) > 1 and runs[-1] > runs[0]


def _is_time(value) -> bool:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return False
    return abs(value) < 1e9  # NaN is not, and no device here runs for 30 years


def _about(value: float, other: float) -> bool:
    return abs(value - other) <= 0.06 * other


# In each of these `clock_first` says that the clock was read before the first run, which compiles.


def _why_waiting(value: float, clock_first: bool) -> tuple[str, str]:
    if value < 0.002:
        return (
            "That is the time it takes to give the order, not to carry it out.",
            "run() returns a job. Something must wait for that job before the clock is read.",
        )
    if clock_first and value > 0.0101:
        return (
            "The compilation is still inside.",
            "Let the device run once before you read the clock for the first time.",
        )
    if _about(value, 0.040):
        return (
            "The sending is inside; this one asks for the step alone.",
            "Send before the clock.",
        )
    message, hint = _many(value, 0.0101)
    if "together" in message:
        return message, hint
    return (
        "The true time lies elsewhere.",
        "One step: read the clock, run, wait, read the clock.",
    )


def _why_compiling(value: float, clock_first: bool) -> tuple[str, str]:
    if clock_first and value > 0.0101:
        return (
            "The first run compiles, and that time is still inside.",
            "Let the device run once, and wait for it, before you read the clock.",
        )
    if abs(value - 0.0111) < 0.0003:
        return (
            "The first run was still working when your clock started.",
            "Wait for the first run, too.",
        )
    if value < 0.002:
        return _why_waiting(value, clock_first)
    return _many(value, 0.0101)


def _why_transfer(value: float, clock_first: bool) -> tuple[str, str]:
    if _about(value, 0.010) or _about(value, 0.013):
        return (
            "The batch is still sent before the clock starts, or once for all steps.",
            "Every step trains on a new batch, so every step has a send() inside the clock.",
        )
    if 0.029 < value < 0.034:
        return (
            "Your sends overlap with the work of the step before. Real programs do that, too.",
            "Here every step is waited for before the next batch is sent.",
        )
    if clock_first and value > 0.0401:
        return ("The compilation is inside.", "Run once before you read the clock.")
    return _why_waiting(value, clock_first) if value < 0.002 else _many(value, 0.0401)


def _why_small(value: float, clock_first: bool) -> tuple[str, str]:
    if clock_first and value > 0.0022:
        return ("The compilation is inside.", "Run once before you read the clock.")
    if value <= 0 or _about(value, 0.005):
        return (
            "This clock ticks every 5 ms, and one step is shorter than a tick.",
            "Let many steps run between the two clock readings, and divide.",
        )
    if _about(value, 0.0001) or value < 0.001:
        return ("Nothing waits for the work.", "Wait for the last job before the second reading.")
    message, hint = _many(value, 0.0022)
    if "together" not in message:
        hint = "A tick of 5 ms is a large error for a few steps. Let some hundred steps run."
    return message, hint


def _many(value: float, truth: float) -> tuple[str, str]:
    steps = value / truth
    if steps > 1.5 and abs(steps - round(steps)) < 0.1 * steps:
        return (
            f"That looks like about {steps:.0f} steps together.",
            "Divide by the number of steps between the two clock readings.",
        )
    return (
        f"That is {abs(value / truth - 1):.0%} off.".replace("%", " %"),
        "Take more steps between the two clock readings: one may be unlike the others.",
    )


def _diagnosis(answer) -> Result:
    right = {"A": "waiting", "B": "compiling", "C": "transfer", "D": "too small"}
    if not isinstance(answer, dict):
        return Result(
            False,
            f"A dictionary is needed; got {shown(answer)}.",
            'Such as {"A": "compiling", "B": "waiting", ...}.',
        )
    choices = f"They are: {', '.join(CAUSES)}."
    empty = blank(answer, right)
    if len(empty) == len(right):
        return Result(False, "The four are still empty. Fill in the four causes.", choices)
    filled = [answer[letter] for letter in right if letter not in empty]
    unknown = [x for x in filled if not isinstance(x, str) or x not in CAUSES]
    if unknown:
        return Result(False, f"{shown(unknown[0])} is not one of the causes.", choices)
    if empty:
        which = ", ".join(empty)
        return Result(False, f"Still empty: {which}. Fill in the four causes first.", choices)
    wrong = [letter for letter, cause in right.items() if answer.get(letter) != cause]
    if not wrong:
        return Result(True, "All four causes found.")
    hints = {
        "A": "A reads the clock right after run(). What has the device done by then?",
        "B": "B's device has never run before the clock starts. What happens at a first run?",
        "C": "C sends one batch, before the clock. How many batches does training need?",
        "D": "D times a single step. How long is a step, and how long is a tick of the clock?",
    }
    found = len(right) - len(wrong)
    return Result(False, f"{found} of 4 are right. Look at {wrong[0]} again.", hints[wrong[0]])


GRADERS = {
    "03/diagnosis": _diagnosis,
    "03/a": _repair("03/a", _why_waiting),
    "03/b": _repair("03/b", _why_compiling),
    "03/c": _repair("03/c", _why_transfer),
    "03/d": _repair("03/d", _why_small),
}
