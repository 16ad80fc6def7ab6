"""Four harnesses on one function: what each reports, and how long it takes to do so.

They are used as their users use them, with what they do by default. `Late` is a device that takes
an order at once and finishes it later, on a clock of its own: what is true of it is known.
"""

from __future__ import annotations

import io
import random
import statistics
import sys
import time
import timeit
from collections.abc import Callable
from contextlib import redirect_stdout, suppress
from dataclasses import dataclass

from accel_helpers.measure import timing


@dataclass(frozen=True)
class Report:
    """What a harness said of a function.

    Attributes
    ----------
    seconds : float
        Of one call: the median that it reports.
    calls : int
        That stand behind the samples; warming up and finding a block's size do not count.
    """

    seconds: float
    calls: int


def ours(fn: Callable, *, wait=None, clock=time.perf_counter) -> Report:
    """`accel_helpers.measure.timing.benchmark`."""
    found = timing.benchmark(fn, wait=wait, clock=clock)
    return Report(found.median, len(found.samples) * found.calls_per_sample)


def standard(fn: Callable, *, clock=time.perf_counter) -> Report:
    """`timeit`: autorange, then repeat."""
    timer = timeit.Timer("f()", globals={"f": fn}, timer=clock)
    number, _ = timer.autorange()
    times = timer.repeat(number=number)
    return Report(statistics.median(times) / number, number * len(times))


def pyperf(fn: Callable, *, clock=time.perf_counter) -> Report:
    """`pyperf`: what one of its worker processes does, in this process."""
    import pyperf

    def loops(number):
        start = clock()
        for _ in range(number):
            fn()
        return clock() - start

    def worker(*options):
        class Fresh(pyperf.Runner):  # a process may have one Runner of a class
            _created: set = set()

        runner = Fresh(program_args=("-",))
        runner.parse_args(["--worker", "--quiet", *options])
        with redirect_stdout(io.StringIO()):
            return runner.bench_time_func("f", loops)

    # what its main process asks of its workers: first how many loops, then the values
    calibration = worker("--calibrate-loops", "--warmups=1").get_runs()[0]
    number = calibration.get_metadata()["calibrate_loops"]
    found = worker(f"--loops={number}", "--warmups=1")
    return Report(found.median(), number * len(found.get_values()))


def torch(fn: Callable, *, clock=None) -> Report:
    """`torch.utils.benchmark`: blocked_autorange."""
    from torch.utils.benchmark import Timer

    timer = Timer("f()", globals={"f": fn}, **({"timer": clock} if clock else {}))
    found = timer.blocked_autorange()
    return Report(found.median, found.number_per_run * len(found.raw_times))


HARNESSES = {
    "accel_helpers": ours,
    "timeit": standard,
    "pyperf": pyperf,
    "torch.utils.benchmark": torch,
}


def installed() -> dict[str, Callable]:
    """The harnesses that this Python has."""
    from importlib.util import find_spec

    needs = {"pyperf": "pyperf", "torch.utils.benchmark": "torch"}
    return {
        name: harness
        for name, harness in HARNESSES.items()
        if name not in needs or find_spec(needs[name])
    }


def function_of(seconds: float, clock: Callable[[], float] = time.perf_counter) -> Callable:
    """A function that looks at the clock until its time is up.

    A machine that grows slower meanwhile does not make it longer, which a loop of arithmetic would
    be; so what is left is what a harness adds. For a microsecond a look at the clock is a step of
    some percent: how long a call really takes is for `Slope` to say.
    """

    def f():
        end = clock() + seconds
        while clock() < end:
            pass
        return end

    return f


class Slope:
    """What a call really takes: 2N calls written out, minus N of them, over N.

    No loop and no harness is in it, and what reading the clock costs falls out.

    Parameters
    ----------
    fn : callable
    seconds : float
        About what a call takes, which settles N.
    spend : float, optional
        About so many seconds at a time; the median of what fits is taken, of three at least.
    """

    def __init__(self, fn: Callable, seconds: float, *, spend: float = 0.2):
        # so few that the code stays in the fastest cache, and that most blocks go undisturbed
        self.calls = max(1, min(200, round(0.001 / seconds)))
        self.repeats = max(3, min(101, round(spend / (3 * self.calls * seconds))))
        self._one, self._two = (self._written(fn, n * self.calls) for n in (1, 2))
        if seconds < 0.001:  # Python rewrites its instructions while they run for the first times
            for _ in range(20):
                self._one(), self._two()

    def __call__(self) -> float:
        """Measure it now, in seconds."""
        found = []
        for turn in range(self.repeats):
            pair = (self._one, self._two) if turn % 2 else (self._two, self._one)
            times = {run: run() for run in pair}
            found.append((times[self._two] - times[self._one]) / self.calls)
        return statistics.median(found)

    @staticmethod
    def _written(fn, number):
        code = "def run():\n    start = clock()\n" + "    f()\n" * number
        space = {"f": fn, "clock": time.perf_counter}
        exec(compile(code + "    return clock() - start\n", "<slope>", "exec"), space)
        return space["run"]


class Late:
    """A device that takes an order at once and finishes it later, on its own clock.

    Parameters
    ----------
    work, order : float
        Seconds that a job takes on the device, and that giving the order takes.
    jitter : float, optional
        A job's time varies by up to this share.
    compiling : float, optional
        Seconds that the first job takes on top.
    seed : int, optional
        Of the jitter.

    Examples
    --------
    >>> device = Late(work=0.01, order=0.001, jitter=0, compiling=0)
    >>> job = device.start()
    >>> device.clock()
    0.001
    >>> _ = device.wait(job)
    >>> round(device.clock(), 6)
    0.011
    """

    def __init__(self, work, order, *, jitter=0.02, compiling=2.0, seed=0):
        self._now = self._free_at = 0.0
        self._work, self._order, self._jitter, self._compiling = work, order, jitter, compiling
        self._random = random.Random(seed)

    def clock(self) -> float:
        """The time in seconds."""
        return self._now

    def start(self) -> Late:
        """Order a job; comes back at once."""
        self._now += self._order
        work = self._work * (1 + self._random.uniform(-self._jitter, self._jitter))
        self._free_at = max(self._now, self._free_at) + work + self._compiling
        self._compiling = 0.0
        return self

    def wait(self, job) -> Late:
        """Come back when all jobs are done."""
        self._now = max(self._now, self._free_at)
        return job

    def start_and_wait(self) -> Late:
        """Both, as one statement."""
        return self.wait(self.start())


def versions() -> dict[str, str]:
    """Python's version, and those of the harnesses that have one."""
    from importlib import metadata

    found = {"python": sys.version.split()[0]}
    for name in ("pyperf", "torch"):
        with suppress(metadata.PackageNotFoundError):
            found[name] = metadata.version(name)
    return found
