"""On a real machine that is busy: one function, timed twice, is not called two."""

import multiprocessing as mp
import os
import random
import time

import pytest

from accel_helpers.measure.timing import benchmark, compare


@pytest.mark.slow
@pytest.mark.timeout(420)
def test_one_real_function_twice_on_a_loaded_machine():
    """A/A in two cells while other processes come and go: side by side with the textbook.

    The textbook's interval of a median takes every sample for a draw of its own and found a
    difference in 180 of 199 pairs here, ours in 2. How much a load shows depends on the machine
    (8 of 20 pairs on another day), so all of it shares one core where that can be asked for, and
    pairs are taken until the textbook was wrong 12 times. The whole machine may have a busy spell
    that outlasts a cell, which nobody can tell from a difference: such a round is taken once more.
    """
    numbers = list(range(20_000))

    def work():
        return sum(x * x for x in numbers)

    def wrong(times=12, pairs=80):
        ours = textbooks = 0
        for _ in range(pairs):
            one, other = benchmark(work, name="one"), benchmark(work, name="other")
            a, b = _textbook_interval(one.samples), _textbook_interval(other.samples)
            textbooks += a[1] < b[0] or b[1] < a[0]
            ours += compare(one, other).conclusive
            if textbooks == times:
                break
        return ours, textbooks

    pins = hasattr(os, "sched_setaffinity")  # Linux; elsewhere a process for every core
    cores = os.sched_getaffinity(0) if pins else set()
    context = mp.get_context("spawn")
    seeds = range(2 if pins else max(2, os.cpu_count() or 2))
    load = [context.Process(target=_come_and_go, args=(s,), daemon=True) for s in seeds]
    try:
        if pins:
            os.sched_setaffinity(0, {min(cores)})  # what is started from here on inherits it
        for process in load:
            process.start()
        time.sleep(1)
        ours, textbooks = wrong()
        if 4 * ours > textbooks:
            ours, textbooks = wrong()
    finally:
        for process in load:
            if process.pid:
                process.terminate()
        if pins:
            os.sched_setaffinity(0, cores)
    assert textbooks == 12, f"the load shows in {textbooks} of 80 pairs only: this proves nothing"
    assert 4 * ours <= textbooks, (ours, textbooks)


def _textbook_interval(samples):
    """Give the 95 % interval of the median of independent samples: two of them, in order."""
    ordered, n = sorted(samples), len(samples)
    low = max(0, int(n / 2 - 1.96 * n**0.5 / 2))
    return ordered[low], ordered[-1 - low]


def _come_and_go(seed):
    rng = random.Random(seed)
    while True:
        until = time.perf_counter() + rng.uniform(0.02, 0.3)
        while time.perf_counter() < until:
            pass
        time.sleep(rng.uniform(0.02, 0.3))
