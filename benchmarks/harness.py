"""Part two: the course's harness beside three others, on functions whose time is known.

Bias is what a harness reports over what is true, minus one. Overhead is the share of the time that
a harness took which is not in the samples that it reports: warming up, finding the size of a block,
reading clocks. As a program this is the child process that measures: it needs no Keras, and runs in
the environment that has PyTorch and pyperf where there is one.
"""

from __future__ import annotations

import math
import statistics
import time
from collections.abc import Iterable, Mapping

from accel_helpers.measure.timing import Measurement
from benchmarks import timers
from benchmarks.trainer import connect
from benchmarks.turns import Lost, Worker

SIZES = (1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1)  # seconds
WORK, ORDER = (1e-5, 1e-4, 1e-3, 1e-2, 1e-1), 5e-6  # of the late device
OURS, TORCH = "accel_helpers", "torch.utils.benchmark"
WITH_WAIT, NO_WAIT = "waiting in the statement", "no waiting"
LIMIT = 600.0  # seconds that one order may take


def real(seconds: float, rounds: int, harnesses=None) -> dict:
    """Let harnesses time one function in turns, with the truth before and after each.

    Parameters
    ----------
    seconds : float
        About what a call takes.
    rounds : int
    harnesses : mapping of str to callable, optional
        Each takes a function and gives a `timers.Report`; by default what is installed.

    Returns
    -------
    dict of str to list of dict
        Harness to its rounds: reported, truth and wall in seconds, and calls.
    """
    harnesses = timers.installed() if harnesses is None else harnesses
    found: dict[str, list[dict]] = {name: [] for name in harnesses}
    for turn in range(rounds):
        # a look at the clock is a step: another length each round, or its chance would be a bias
        fn = timers.function_of(seconds * (1 + turn / 100))
        slope = timers.Slope(fn, seconds)
        before = slope()
        for name in list(harnesses)[:: -1 if turn % 2 else 1]:
            start = time.perf_counter()
            report = harnesses[name](fn)
            wall = time.perf_counter() - start
            after = slope()
            found[name].append(
                {
                    "reported": report.seconds,
                    "truth": (before + after) / 2,
                    "wall": wall,
                    "calls": report.calls,
                }
            )
            before = after
    return found


def late(work: float, devices: int, harnesses=None) -> dict:
    """Let harnesses time a device that finishes late, with waiting and without.

    Parameters
    ----------
    work : float
        Seconds of a job.
    devices : int
        So many, which differ in the seed of their jitter.
    harnesses : mapping, optional
        As in `real`.

    Returns
    -------
    dict
        "alone": what a call takes until its result is there; "in a row": what each of many calls
        takes; "reported": way of timing to what was reported for each device, and whether
        calls were timed together.
    """
    harnesses = timers.installed() if harnesses is None else harnesses
    found: dict[str, list[float]] = {}
    together = False
    for seed in range(devices):
        for name, harness in harnesses.items():
            device = timers.Late(work, ORDER, seed=seed)
            if name == OURS:
                report = timers.timing.benchmark(device.start, wait=device.wait, clock=device.clock)
                found.setdefault(name, []).append(report.median)
                together = report.calls_per_sample > 1
                continue
            for way in (WITH_WAIT, NO_WAIT):
                device = timers.Late(work, ORDER, seed=seed)
                statement = device.start_and_wait if way == WITH_WAIT else device.start
                report = harness(statement, clock=device.clock)
                found.setdefault(f"{name}, {way}", []).append(report.seconds)
    return {
        "alone": work + ORDER,
        "in a row": max(work, ORDER),
        "together": together,
        "reported": found,
    }


def bias(rounds: Iterable[Mapping]) -> Measurement:
    """Reported over true, as a measurement of that ratio: its median, its interval."""
    return Measurement.from_samples([found["reported"] / found["truth"] for found in rounds])


def overhead(rounds: Iterable[Mapping]) -> float:
    """The median share of a harness's time that is in no sample.

    Examples
    --------
    >>> overhead([{"wall": 2.0, "calls": 10, "truth": 0.15}])
    0.25
    """
    return statistics.median(1 - r["calls"] * r["truth"] / r["wall"] for r in rounds)


def error(reported: Iterable[float], truth: float) -> float:
    """The root mean square of the bias over several devices.

    Examples
    --------
    >>> round(error([1.1, 0.9], 1.0), 6)
    0.1
    """
    shares = [(seconds / truth - 1) ** 2 for seconds in reported]
    return math.sqrt(statistics.fmean(shares))


def verdict(rounds: Mapping[str, list]) -> str:
    """Whether our bias is smaller or larger than PyTorch's, as far as the rounds can tell."""
    if OURS not in rounds or TORCH not in rounds:
        return "not measured here"
    ends = []
    for name in (OURS, TORCH):
        low, high = (end - 1 for end in bias(rounds[name]).interval)
        near = 0.0 if low <= 0 <= high else min(abs(low), abs(high))
        ends.append((near, max(abs(low), abs(high))))
    (our_near, our_far), (their_near, their_far) = ends
    if our_far < their_near:
        return "smaller"
    return "larger" if their_far < our_near else "no measurable difference"


def run(*, torch_python: str | None, why_no_torch: str, quick: bool, progress) -> dict:
    """Measure everything in one child process."""
    import sys

    command = [torch_python or sys.executable, "-m", "benchmarks.harness"]
    found: dict = {"real": {}, "late": {}}
    if why_no_torch:
        found["not_measured"] = {TORCH: why_no_torch, "pyperf": why_no_torch}
    with Worker("harness", command) as worker:
        try:
            found["versions"] = worker.ask({"do": "hello"}, seconds=120)
            for seconds in SIZES[1::2] if quick else SIZES:
                progress(f"harness: a function of about {seconds:g} s")
                order = {"do": "real", "seconds": seconds, "rounds": 2 if quick else 5}
                found["real"][f"{seconds:g}"] = worker.ask(order, seconds=LIMIT)
            for work in WORK:
                progress(f"harness: a late device, jobs of {work:g} s")
                order = {"do": "late", "work": work, "devices": 4 if quick else 40}
                found["late"][f"{work:g}"] = worker.ask(order, seconds=LIMIT)
        except Lost as error:
            found["error"] = str(error)
    return found


def main() -> None:
    """Serve orders, as `trainer` does."""
    import json

    lines, say = connect()
    verbs = {"hello": timers.versions, "real": real, "late": late}
    for line in lines:
        order = json.loads(line)
        say(verbs[order.pop("do")](**order))


if __name__ == "__main__":
    main()
