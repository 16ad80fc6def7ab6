"""Part three: does a sample cost the same however many there are? Is the memory as predicted?"""

from __future__ import annotations

import statistics
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict

from accel_helpers.fit.device_memory import free_here
from accel_helpers.measure.timing import Measurement
from benchmarks.training import LIMITS, enough, save_images
from benchmarks.turns import Worker, each, rounds

COUNTS = (1000, 3000, 10_000, 30_000, 100_000, 300_000, 1_000_000)
BATCH_SIZE = 32
BACKENDS = {"TensorFlow": "tensorflow", "JAX": "jax"}
PIXELS = 28 * 28
BESIDE = 1.5e9  # bytes that a child process holds beside its data: the framework, mostly
COPIES = 2.2  # of the data in a child process: in the computer's memory, on the device, some more
TURN = 100_000  # samples: a turn of fewer trains several epochs


def fitting(counts: Iterable[int], free: float | None) -> tuple[list[int], list[int]]:
    """Which sizes fit into the free memory next to each other, and which do not.

    Parameters
    ----------
    counts : iterable of int
        Samples.
    free : float or None
        Bytes; None where it is not known, and all are tried.

    Returns
    -------
    tuple of list

    Examples
    --------
    >>> fitting([1000, 1_000_000], free=8e9)
    ([1000], [1000000])
    """
    fits, not_here = [], []
    left = float("inf") if free is None else 0.9 * free
    for count in sorted(counts):
        left -= BESIDE + COPIES * count * PIXELS * 4
        (fits if left > 0 else not_here).append(count)
    return fits, not_here


def measure(
    workers: Mapping[int, object],
    lost: dict[int, str],
    *,
    until: Callable[[int], bool],
    progress: Callable[[str], None] = lambda text: None,
) -> dict[str, dict]:
    """Lead the workers of one backend, one for each size, through their turns.

    Parameters
    ----------
    workers : mapping of int to Worker
        By number of samples.
    lost, until, progress
        As in `training.measure`, though `until` is a rule itself.

    Returns
    -------
    dict
        Number of samples, as text, to measurement of seconds per sample and memory, or to an error.
    """

    def train(count):
        progress(f"samples: {count:,}")
        order = {"do": "train", "batch_size": BATCH_SIZE, "count": count}
        return workers[count].ask(order, seconds=LIMITS["train"])

    def epoch(count):
        order = {"do": "epoch", "times": max(1, min(50, TURN // count))}
        return workers[count].ask(order, seconds=LIMITS["epoch"])

    first = each(workers, train, lost)
    taken = rounds(list(first), epoch, lost, enough=until)
    found = {}
    for count, answers in taken.items():
        seconds = [statistics.median(answer["seconds"]) / count for answer in answers]
        found[str(count)] = {
            "sample": asdict(Measurement.from_samples(seconds, name=f"{count:,} samples")),
            "grown": first[count]["grown"],
            "needed": first[count]["needed"],
        }
    return found | {str(count): {"error": lost[count]} for count in workers if count in lost}


def run(folder, *, quick: bool, progress) -> dict:
    """Measure all sizes on both backends on this machine."""
    images = save_images(folder, 3000 if quick else 60_000)
    found: dict = {"images": images, "batch_size": BATCH_SIZE, "backends": {}}
    for label, backend in BACKENDS.items():
        fits, not_here = fitting(COUNTS[:5:2] if quick else COUNTS, free_here())
        workers = {}
        try:
            for count in fits:
                workers[count] = _start(label, backend, folder)
                progress(f"samples: loading {label} for {count:,}")
                workers[count].ask({"do": "hello"}, seconds=LIMITS["hello"])
            rule = enough(5, 5, 0) if quick else enough(7, 15, 45)
            measured = measure(workers, {}, until=rule, progress=progress)
        finally:
            for worker in workers.values():
                worker.close()
        why = "it needs more memory than is free here"
        found["backends"][label] = measured | {str(n): {"not_measured": why} for n in not_here}
    return found


def _start(label: str, backend: str, folder) -> Worker:
    name = f"fit_resident, {label}"
    command = [sys.executable, "-m", "benchmarks.trainer", name, str(folder)]
    return Worker(name, command, environ={"KERAS_BACKEND": backend})
