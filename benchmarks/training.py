"""Part one: the same training in seven ways, side by side in one run, in turns."""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict

from accel_helpers.measure.timing import Measurement, compare
from benchmarks.contenders import CONTENDERS
from benchmarks.turns import ROOT, Worker, each, rounds

BATCH_SIZES = (32, 128, 512, 2048)
LIMITS = {"hello": 180.0, "train": 300.0, "epoch": 120.0, "finish": 120.0}  # seconds
RATIOS = (  # slow, fast: what the page says of each batch size
    ("fit, TensorFlow", "fit_resident, TensorFlow"),
    ("fit tuned, TensorFlow", "fit_resident, TensorFlow"),
    ("PyTorch loop", "fit_resident, TensorFlow"),
    ("JAX scan by hand", "fit_resident, TensorFlow"),
    ("fit, JAX", "fit_resident, JAX"),
    ("PyTorch loop", "fit_resident, JAX"),
    ("JAX scan by hand", "fit_resident, JAX"),
)


def save_images(folder, count: int) -> dict:
    """Let a child process write the images, so that this one stays free of frameworks."""
    command = [sys.executable, "-m", "benchmarks.data", str(folder), str(count)]
    done = subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True)
    return json.loads(done.stdout.splitlines()[-1])


def start(name: str, folder, *, torch_python: str | None) -> Worker:
    """Start the child process of a contender."""
    backend = CONTENDERS[name].backend
    python = torch_python if backend == "torch" else sys.executable
    environ = {} if backend == "torch" else {"KERAS_BACKEND": backend}
    return Worker(name, [python, "-m", "benchmarks.trainer", name, str(folder)], environ=environ)


def enough(
    at_least: int, at_most: int, seconds: float, clock: Callable[[], float] = time.monotonic
) -> Callable[[int], bool]:
    """A rule for `turns.rounds`: at least so many rounds, then more as long as there is time.

    Examples
    --------
    >>> now = [0.0]
    >>> rule = enough(2, 5, seconds=60, clock=lambda: now[0])
    >>> rule(1), rule(2), rule(5)
    (False, False, True)
    >>> now[0] = 61.0
    >>> rule(1), rule(2)
    (False, True)
    """
    end = clock() + seconds
    return lambda done: done >= at_most or (done >= at_least and clock() >= end)


def measure(
    workers: Mapping[str, object],
    lost: dict[str, str],
    *,
    batch_sizes: Iterable[int] = BATCH_SIZES,
    until: Callable[[], Callable[[int], bool]],
    progress: Callable[[str], None] = lambda text: None,
) -> dict[str, dict]:
    """Lead the workers through all batch sizes, in turns.

    Parameters
    ----------
    workers : mapping of str to Worker
        By the contender's name. Anything with `ask` will do.
    lost : dict of str to str
        Contenders that take no part, with the reason; those that are lost are added.
    batch_sizes : iterable of int, optional
    until : callable
        Gives a new rule for `turns.rounds`.
    progress : callable, optional
        Takes a line of text.

    Returns
    -------
    dict
        Batch size, as text, to contender to measurement, losses and accuracy, or to an error.
    """

    def order(**what):
        return lambda name: workers[name].ask(what, seconds=LIMITS[what["do"]])

    found: dict[str, dict] = {}
    for size in batch_sizes:
        progress(f"training, batch size {size}: warming up")
        first = each(workers, order(do="train", batch_size=size), lost)
        progress(f"training, batch size {size}: taking turns")
        taken = rounds(list(first), order(do="epoch"), lost, enough=until())
        ended = each(taken, order(do="finish"), lost)
        found[str(size)] = {
            name: entry(name, first[name], taken[name], ended[name]) for name in ended
        } | {name: {"error": lost[name]} for name in workers if name in lost}
    return found


def entry(name: str, first: dict, taken: list[dict], ended: dict) -> dict:
    """What a contender's answers come to, as plain JSON types."""
    losses = [first["loss"], *(answer["loss"] for answer in taken)]
    if not losses[-1] < losses[0]:
        return {"error": f"the loss did not fall: it went from {losses[0]:g} to {losses[-1]:g}."}
    samples = [statistics.median(answer["seconds"]) for answer in taken]
    measured = Measurement.from_samples(samples, first_call=first["seconds"][0], name=name)
    return {
        "epoch": asdict(measured),
        "losses": losses,
        "test_accuracy": ended["test_accuracy"],
    }


def ratios(contenders: Mapping[str, dict], pairs=RATIOS) -> list:
    """The ratios of contenders that took turns.

    Parameters
    ----------
    contenders : mapping
        Of one batch size, as `measure` gives it.
    pairs : iterable of (str, str), optional
        The slow one's name and the fast one's.

    Returns
    -------
    list of accel_helpers.measure.measurement.Speedup
        Of those pairs that were both measured.
    """
    found = []
    for slow, fast in pairs:
        both = [contenders.get(name, {}).get("epoch") for name in (slow, fast)]
        if all(both):
            found.append(compare(*(Measurement(**one) for one in both), in_turns=True))
    return found


def run(folder, *, torch_python: str | None, why_no_torch: str, quick: bool, progress) -> dict:
    """Measure all contenders on this machine."""
    images = save_images(folder, 3000 if quick else 60_000)
    lost = {} if torch_python else {"PyTorch loop": f"not measured here: {why_no_torch}"}
    workers = {}
    try:
        for name in CONTENDERS:
            if name not in lost:
                workers[name] = start(name, folder, torch_python=torch_python)
        progress("training: loading the frameworks")
        hello = each(
            workers, lambda name: workers[name].ask({"do": "hello"}, seconds=LIMITS["hello"]), lost
        )
        versions = {key: value for answer in hello.values() for key, value in answer.items()}
        found = measure(
            workers,
            lost,
            batch_sizes=(32, 512) if quick else BATCH_SIZES,
            until=lambda: enough(5, 5, 0) if quick else enough(7, 15, 45),
            progress=progress,
        )
    finally:
        for worker in workers.values():
            worker.close()
    for contenders in found.values():
        if not torch_python:
            contenders["PyTorch loop"] = {"not_measured": why_no_torch}
    return {"images": images, "versions": versions, "batch_sizes": found}
