"""The same training with one replica and with several, each in a process of its own.

A framework takes the number of its virtual devices only before it starts.
"""

import contextlib
import json
import os
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass

from accel_helpers import probe
from accel_helpers._records import whole
from accel_helpers.machine import strategy
from accel_helpers.measure.measurement import Measurement
from accel_helpers.train import training

STEPS = 23  # in an epoch: of 64 pictures each, 1,472 of the 1,500 bundled digits
SEED = 4
_CHILD = "import sys; from accel_helpers.lessons.replicas import child; child(*sys.argv[1:])"
_ON_CPU = {"JAX_PLATFORMS": "cpu", "CUDA_VISIBLE_DEVICES": "-1", "TF_CPP_MIN_LOG_LEVEL": "2"}


@dataclass(frozen=True)
class Trained:
    """One training; where it failed there are no losses and no times, and the note says why."""

    name: str  # such as "4 replicas"
    note: str
    losses: tuple[float, ...] = ()
    epoch: Measurement | None = None

    def __str__(self) -> str:
        if not self.losses:
            return f"{self.name}: no result. {self.note}"
        first, last = self.losses[0], self.losses[-1]
        return f"{self.name}: loss {first:.6f} after the first epoch, {last:.6f} after the last"


def train_each(
    replicas: Sequence[int] = (1, 2, 4),
    *,
    global_batch: int = 64,
    epochs: int = 8,
    time_limit: float = 120.0,
) -> tuple[Trained, ...]:
    """Train the quickstart model once for every number of replicas, on this machine's CPU.

    Each has the same first weights, the same bundled digits in the same order and no dropout. They
    take turns, an epoch (of 23 steps) each, so that a machine that slows down slows down for all.
    What is not done within the time limit, in seconds for all of it, is ended.
    """
    replicas = tuple(whole(number, "replicas") for number in replicas)
    global_batch, epochs = whole(global_batch, "global_batch"), whole(epochs, "epochs", 2)
    if not replicas or any(global_batch % number for number in replicas):
        raise ValueError(f"global_batch={global_batch} must be a multiple of all of {replicas}.")
    framework = strategy.pick(replicas=1).backend
    environ = probe.variables({**_ON_CPU, "KERAS_BACKEND": framework})
    end, runs = time.monotonic() + time_limit, []
    with contextlib.ExitStack() as ending:  # ends them all, also when the learner interrupts
        for number in replicas:
            child = probe.Child(probe.python(_CHILD, number, global_batch), environ, heard=1)
            runs.append((number, ending.enter_context(child), []))
        for turn in range(1 + epochs):  # to get ready, all together; then every epoch
            for _, child, heard in runs:
                if turn:
                    child.tell("go")
                heard.append(child.hear(end - time.monotonic()))
    return tuple(_result(*run, time_limit) for run in runs)


def _result(replicas: int, child: probe.Child, heard: list, time_limit: float) -> Trained:
    """What came of a training, or why nothing did."""
    name = f"{replicas} replica{'s' if replicas > 1 else ''}"
    if None in heard:
        return Trained(name, f"It was not done after {time_limit:g} s and was ended.")
    if "" in heard:
        last = probe.last_line(child.output)[:300]
        return Trained(name, f"The process stopped: {last or 'without a word.'}")
    note, *turns = map(json.loads, heard)
    (first, *rest), losses = zip(*turns, strict=True)
    return Trained(name, note, losses, Measurement.from_samples(rest, first_call=first, name=name))


def child(*numbers: str) -> None:
    """Train one epoch for every line that comes in; runs in the child process only."""
    replicas, global_batch = map(int, numbers)
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what a framework prints does not get between the answers
    # "/nowhere" has no accelerator: the variables set for this process hide it anyway
    picked = strategy.pick(replicas, root="/nowhere")
    with picked.scope():
        images = training.load_images(STEPS * global_batch, source="bundled")
        x, y = (images.x_train / 255).astype("float32"), images.y_train
        model = training.quickstart_model(dropout=0, seed=SEED)
        watch = training.stopwatch()
        options = {"batch_size": global_batch, "shuffle": False, "verbose": 0}
        print(json.dumps(str(picked)), file=answers, flush=True)
        for _ in sys.stdin:  # until the parent is gone
            losses = model.fit(x, y, callbacks=[watch], **options).history["loss"]
            print(json.dumps([watch.epochs[-1], losses[-1]]), file=answers, flush=True)
