"""A pretend accelerator whose every cost is known, and the exercises on it (lesson 03).

It behaves as a GPU does: it compiles at the first run, takes its orders at once, and works on
its own until it has finished. Its clock is its own, so that a check gives the same answer on
every machine.
"""

import math
import random

from accel_helpers._words import format_seconds, shown
from accel_helpers.learn.checks import Asked, Check, Result, Told, choices

__all__ = ["TRUTH", "Device", "device_for"]

# what a right benchmark says on the device of each exercise, in seconds: the order, the work and,
# where every step has its own batch, the sending
TRUTH = {
    "03/a": 0.0001 + 0.010,
    "03/b": 0.0001 + 0.010,
    "03/c": 0.0001 + 0.010 + 0.030,
    "03/d": 0.0001 + 0.0021,
}
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
        self.runs_at_readings = []

    def clock(self) -> float:
        """The time in seconds."""
        self.runs_at_readings.append(self._runs)
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

    Examples
    --------
    >>> job = device_for("03/a").run("images")  # the first run compiles
    >>> 2 < job < 2.1
    True
    """
    step, tick, jitter = (0.0021, 0.005, 0.3) if exercise == "03/d" else (0.010, 1e-9, 0.01)
    times = {"step": step, "order": 0.0001, "compiling": 2.0, "transfer": 0.030, "tick": tick}
    longer = {name: seconds * slower for name, seconds in times.items()}
    return Device(**longer, jitter=jitter, seed=seed)


# --- mending a benchmark -----------------------------------------------------------------------


def timed(device, steps=10, *, warm=True, settle=True, send=False, wait="each", divide=True):
    """Seconds of a step as a benchmark takes them; with other settings, as a broken one does."""
    batch = device.send("images")
    job = device.run(batch) if warm else 0
    device.wait(job if settle else 0)
    start = device.clock()
    for _ in range(steps):
        batch = device.send("images") if send else batch
        job = device.run(batch)
        device.wait(job if wait == "each" else 0)
    device.wait(job if wait == "end" else 0)
    return (device.clock() - start) / (steps if divide else 1)


# Each row: the exercises that know it; whether it is this slip, by the seconds, the truth and
# whether the clock was read before the first run; the settings of `timed` that make it; what it
# is; what leads on.
_SLIPS = (
    ("abcd", lambda t, truth, early: early and t > truth, {"warm": False},
     "The first run compiles, and that time is still inside.",
     "Let the device run once, and wait for it, before you read the clock."),
    ("a", lambda t, truth, early: 0.0376 < t < 0.0424, {"send": True},
     "The sending is inside; this one asks for the step alone.", "Send before the clock."),
    ("b", lambda t, truth, early: abs(t - 0.0111) < 0.0003, {"settle": False},
     "The first run was still working when your clock started.", "Wait for the first run, too."),
    ("c", lambda t, truth, early: 0.0094 < t < 0.0138, {"send": False},
     "The batch is still sent before the clock starts, or once for all steps.",
     "Every step trains on a new batch, so every step has a send() inside the clock."),
    ("c", lambda t, truth, early: 0.029 < t < 0.034, {"wait": "end"},
     "Your sends overlap with the work of the step before. Real programs do that, too.",
     "Here every step is waited for before the next batch is sent."),
    ("d", lambda t, truth, early: t <= 0 or 0.0047 < t < 0.0053, {"steps": 1},
     "This clock ticks every 5 ms, and one step is shorter than a tick.",
     "Let many steps run between the two clock readings, and divide."),
    ("abcd", lambda t, truth, early: t < 0.002, {"wait": "never", "send": False},
     "That is the time it takes to give the order, not to carry it out.",
     "run() returns a job. Something must wait for that job before the clock is read."),
)  # fmt: skip


def _off(seconds: float, truth: float, exercise: str) -> tuple[str, str]:
    """What to say where no row fits."""
    steps = seconds / truth
    if steps > 1.5 and abs(steps - round(steps)) < 0.1 * steps:
        said = f"That looks like about {steps:.0f} steps together."
        return said, "Divide by the number of steps between the two clock readings."
    said = f"That is {100 * abs(steps - 1):.0f} % off."
    if exercise == "03/d":
        return said, "A tick of 5 ms is a large error for a few steps. Let some hundred steps run."
    return said, "Take more steps between the two clock readings: one may be unlike the others."


def _seconds(ask, device) -> float:
    value = ask(device)
    # NaN is no time, and no device here runs for 30 years
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not abs(value) < 1e9:
        raise Told(
            f"The function returned {shown(value)}, not a number of seconds.",
            "Return the difference of two clock readings, divided by the steps between.",
        )
    return value


def _repair(exercise: str, **mended) -> Check:
    truth = TRUTH[exercise]
    rows = [row for letters, *row in _SLIPS if exercise[-1] in letters]

    def grade(answer) -> Result:
        ask = Asked(answer)
        ask.start = "Copy the broken one, then mend it."
        ask.stops = "The device has four verbs: send(data), run(batch), wait(job) and clock()."
        devices = [device_for(exercise, seed=seed) for seed in (1, 2, 3)]
        devices.append(device_for(exercise, seed=4, slower=SLOWER))
        *said, slow = [_seconds(ask, device) for device in devices]
        for runs in (device.runs_at_readings for device in devices):
            if not runs or runs[0] == runs[-1]:
                raise Told(
                    f"The function returned {shown(said[0])}, and that number does not come from "
                    "the device: nothing ran there between two readings of its clock.",
                    "Read device.clock(), let the device run, read it again: the difference.",
                )
        worst = max(said, key=lambda value: abs(value - truth))
        if abs(worst - truth) <= 0.05 * truth:
            if abs(slow - SLOWER * truth) > 0.1 * SLOWER * truth:
                raise Told(
                    f"{format_seconds(worst)} is right for this device. But on one where all takes "
                    f"{SLOWER} times as long, your function says {format_seconds(max(slow, 0))}. "
                    "So the number does not come from the device alone.",
                    "Return what the clock shows. Write no time of your own into the function.",
                )
            record = f"the device's own record says {format_seconds(truth)}."
            return Result(True, f"Your timing says {format_seconds(worst)}; {record}")
        early = devices[0].runs_at_readings[0] == 0
        fits = (words for test, _, *words in rows if test(worst, truth, early))
        message, hint = next(fits, None) or _off(worst, truth, exercise)
        return Result(False, f"Your timing says {format_seconds(max(worst, 0))}. {message}", hint)

    def program(settings):
        return lambda device: timed(device, **{**mended, **settings})

    return Check(grade, program({}), tuple((program(row[1]), *row[2:]) for row in rows))


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
    "03/a": _repair("03/a"),
    "03/b": _repair("03/b"),
    "03/c": _repair("03/c", send=True),
    "03/d": _repair("03/d", steps=500),
}
