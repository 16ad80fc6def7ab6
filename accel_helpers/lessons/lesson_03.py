"""A pretend accelerator whose every cost is known, and the exercises on it (lesson 03).

It behaves as a GPU does: it compiles at the first run, takes its orders at once, and works on
its own until it has finished. Its clock is its own, so that a check gives the same answer on
every machine.
"""

import math
import random

from accel_helpers._words import format_seconds, percent, shown
from accel_helpers.learn.checks import Asked, Check, Result, Told, choices

__all__ = ["TRUTH", "device_for"]

# what a right benchmark says on the device of each exercise, in seconds: the order, the work and,
# where every step has its own batch, the sending
TRUTH = {"03/a": 0.0101, "03/b": 0.0101, "03/c": 0.0401, "03/d": 0.0022}
ORDER, COMPILING, SENDING = 0.0001, 2.0, 0.030  # seconds, on every device
SEED = 2  # of the device that answers are graded on
SLOWER = 2  # how many times as long everything takes on another one, which no constant fits


class Device:
    """A pretend accelerator with a clock of its own.

    Parameters
    ----------
    step, tick : float
        Seconds of a step's work, and of a tick of the clock, which shows whole ticks.
    jitter : float
        Each step's work varies by up to this share.
    seed : int
        Of the jitter.
    slower : float
        How many times as long everything takes, the ticks included.

    Examples
    --------
    >>> device = Device()
    >>> device.wait(device.run(device.send("images")))  # the first run compiles
    >>> start = device.clock()
    >>> job = device.run("images")  # only gives the order
    >>> round(device.clock() - start, 6)
    0.0001
    """

    def __init__(self, *, step=0.010, tick=1e-9, jitter=0.01, seed=0, slower=1):
        self._now = self._free_at = 0.0
        self._step, self._tick, self._jitter, self._slower = step, tick, jitter, slower
        self._random = random.Random(seed)
        self._has_run = self._was_read = False
        self.steps = 0  # since the clock was first read

    def clock(self) -> float:
        """The time in seconds."""
        self._was_read = True
        return math.floor(self._now / self._tick + 1e-6) * self._tick * self._slower

    def send(self, data):
        """Copy a batch from the computer's memory to the device; takes a while."""
        self._now += SENDING
        return data

    def run(self, batch) -> float:
        """Order one training step on a batch; comes back at once (but for the first time)."""
        self._now += ORDER if self._has_run else ORDER + COMPILING
        self._has_run = True
        self.steps += self._was_read
        work = self._step * (1 + self._random.uniform(-self._jitter, self._jitter))
        self._free_at = max(self._now, self._free_at) + work
        return self._free_at

    def wait(self, job: float) -> None:
        """Come back when a job is done."""
        if not isinstance(job, (int, float)):
            raise TypeError(f"wait() takes the job that run() gave; got {job!r:.40}")
        self._now = max(self._now, job)


def device_for(exercise: str, *, seed: int = 0, slower: float = 1) -> Device:
    """The device that an exercise of lesson 03 is graded on.

    Examples
    --------
    >>> job = device_for("03/a").run("images")  # the first run compiles
    >>> 2 < job < 2.1
    True
    """
    of_d = {"step": 0.0021, "tick": 0.005, "jitter": 0.3} if exercise == "03/d" else {}
    return Device(**of_d, seed=seed, slower=slower)


# --- mending a benchmark -----------------------------------------------------------------------


def timed(device, steps=10, *, warm=True, settle=True, sends=0, wait="each", divide=True):
    """Seconds of a step as a benchmark takes them; with other settings, as a broken one does."""
    batch = device.send("images")
    job = device.run(batch) if warm else 0
    device.wait(job if settle else 0)
    start = device.clock()
    for step in range(steps):
        batch = device.send("images") if step < sends else batch
        job = device.run(batch)
        device.wait(job if wait == "each" else 0)
    device.wait(job if wait == "end" else 0)
    return (device.clock() - start) / (steps if divide else 1)


# what a right benchmark does beside the settings of `timed`
_MENDED = {"03/c": {"sends": math.inf}, "03/d": {"steps": 500}}
_PROMISE = "What does the first line of the function promise? That belongs between the readings."
_TICKS = "Let some hundred steps run between the two clock readings, and divide."
# Each row: the exercises that know it, settings of `timed` that make it, what it is, what leads on
_SLIPS = (
    ("a", {"sends": math.inf}, "The sending is inside; this one asks for the step alone.",
     "Send before the clock."),
    ("b", {"settle": False}, "The first run was still working when your clock started.",
     "Wait for the first run, too."),
    ("c", {"sends": 0}, "The batch is still sent before the clock starts.", _PROMISE),
    ("c", {"sends": 1}, "One batch is sent, and all the steps train on it.", _PROMISE),
    ("c", {"wait": "end"},
     "Your sends overlap with the work of the step before. Real programs do that, too.",
     "Here every step is waited for before the next batch is sent."),
    ("d", {"steps": 1}, "This clock ticks every 5 ms, and one step is shorter than a tick.",
     _TICKS),
    ("abcd", {"warm": False}, "The first run compiles, and that time is still inside.",
     "Let the device run once, and wait for it, before you read the clock."),
    ("abcd", {"wait": "never", "sends": 0},
     "That is the time it takes to give the order, not to carry it out.",
     "run() returns a job. Something must wait for that job before the clock is read."),
    ("abcd", {"divide": False}, "Those are all your steps together.",
     "Divide by the number of steps between the two clock readings."),
)  # fmt: skip


def _seconds(ask, device) -> float:
    value = ask(device)
    if not (isinstance(value, (int, float)) and abs(value) < 1e9):  # NaN is no time
        raise Told(
            f"The function returned {shown(value)}, not a number of seconds.",
            "Return the difference of two clock readings, divided by the steps between.",
        )
    return value


def _repair(exercise: str) -> Check:
    truth, mended = TRUTH[exercise], _MENDED.get(exercise, {})
    slips = [row for letters, *row in _SLIPS if exercise[-1] in letters]

    def grade(answer) -> Result:
        ask = Asked(answer, start="Copy the broken one, then mend it.")
        ask.stops = "The device has four verbs: send(data), run(batch), wait(job) and clock()."
        device = device_for(exercise, seed=SEED)
        seconds = _seconds(ask, device)
        slow = _seconds(ask, device_for(exercise, seed=SEED, slower=SLOWER))
        yours = f"Your timing says {format_seconds(max(seconds, 0))}"
        if not math.isclose(slow, SLOWER * seconds, rel_tol=0.1, abs_tol=1e-9):
            raise Told(
                f"{yours}, and {format_seconds(max(slow, 0))} on a device where all takes {SLOWER} "
                "times as long. So the number does not come from the device alone.",
                "Return what the clock shows. Write no time of your own into the function.",
            )
        if math.isclose(seconds, truth, rel_tol=0.05):
            return Result(True, f"{yours}; the device's own record says {format_seconds(truth)}.")
        for broken, message, leads_on in slips:  # with as many steps as the learner took
            settings = {**mended, "steps": device.steps or 1, **broken}
            would_say = timed(device_for(exercise, seed=SEED), **settings)
            if math.isclose(seconds, would_say, rel_tol=0.05, abs_tol=1e-9):
                return Result(False, f"{yours}. {message}", leads_on)
        hint = _TICKS if exercise == "03/d" else _PROMISE
        return Result(False, f"{yours}. That is {percent(abs(seconds / truth - 1))} off.", hint)

    def program(broken):
        return lambda device: timed(device, **{**mended, **broken})

    return Check(grade, program({}), tuple((program(row[0]), *row[1:]) for row in slips))


CAUSES = ("waiting", "compiling", "transfer", "too small")
_HINTS = {
    "A": "A reads the clock right after run(). What has the device done by then?",
    "B": "B's device has never run before the clock starts. What happens at a first run?",
    "C": "C sends one batch, before the clock. How many batches does training need?",
    "D": "D times a single step. How long is a step, and how long is a tick of the clock?",
}

CHECKS = {
    "03/diagnosis": choices(
        dict(zip(_HINTS, CAUSES, strict=True)),
        CAUSES,
        {letter: ("", hint) for letter, hint in _HINTS.items()},
        done="All four causes found.",
        empty="The four are still empty. Fill in the four causes.",
        hint=f"They are: {', '.join(CAUSES)}.",
    ),
    **{exercise: _repair(exercise) for exercise in TRUTH},
}
