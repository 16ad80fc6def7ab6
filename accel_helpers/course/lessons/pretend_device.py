"""The pretend accelerator of lesson 03, whose every cost is known.

It does as a GPU does: it compiles at the first run, takes its orders at once, and works on its own
until it has finished. Its clock is its own, so every machine sees the same.
"""

import math

# The right answer of each benchmark, in seconds for a step; that of C includes the sending.
PRACTICE_TRUTH = {"A": 0.0101, "B": 0.0101, "C": 0.0401, "D": 0.0022}
# The seconds that the pretend device takes to accept an order, to compile, and to copy a batch.
ORDER = 0.0001
COMPILING = 2.0
SENDING = 0.030


class Device:
    """A pretend accelerator with a clock of its own, which real time does not move.

    A *job* is what `run` returns: the time of the clock at which the step will be done.

    Parameters
    ----------
    step : float
        The seconds that the device works on one training step.
    tick : float
        The seconds between two times that the clock can show.

    >>> device = Device()
    >>> device.wait(device.run(device.send("images")))  # the first run compiles
    >>> start = device.clock()
    >>> job = device.run("images")  # only gives the order
    >>> round(device.clock() - start, 6)
    0.0001
    """

    # Seconds since the device was made, and when it will have done all jobs that were ordered.
    _now = 0.0
    _free_at = 0.0
    # What the next job takes to compile.
    _compiling = COMPILING
    _was_read = False
    # The jobs that were ordered after the first reading of the clock.
    steps = 0

    def __init__(self, step: float = 0.010, tick: float = 1e-9):
        self._step = step
        self._tick = tick

    def clock(self) -> float:
        """Return the seconds since the device was made, rounded down to whole ticks."""
        self._was_read = True
        # A time that is off by rounding alone is not put a whole tick too low.
        ticks = math.floor(self._now / self._tick + 1e-6)
        return ticks * self._tick

    def send(self, data):
        """Copy a batch from the computer's memory to the device, and return it; takes a while."""
        self._now += SENDING
        return data

    def run(self, batch) -> float:
        """Order one training step on a batch, and return the job: the time at which it is done.

        It comes back at once; only the first time it waits until the step is compiled.
        """
        self._now += ORDER + self._compiling
        self._compiling = 0.0
        if self._was_read:
            self.steps += 1
        # A job starts when all before it are done.
        start = max(self._now, self._free_at)
        self._free_at = start + self._step
        return self._free_at

    def wait(self, job: float) -> None:
        """Move the clock to the time at which a job is done, unless that has passed."""
        if not isinstance(job, float):
            raise TypeError("wait() takes a job, which run() returns, not a batch")
        self._now = max(self._now, job)


def practice_device(letter: str) -> Device:
    """Return the device of a broken benchmark, "A" to "D": D has short steps and a coarse clock.

    >>> 2 < practice_device("A").run("images") < 2.1  # the first run compiles
    True
    """
    if letter == "D":
        return Device(0.0021, tick=0.005)
    return Device()
