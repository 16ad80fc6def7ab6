"""The same training with one replica and with several, each in a process of its own.

A framework takes the number of its virtual devices only before it starts.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace

from accel_helpers import probe
from accel_helpers._records import whole
from accel_helpers.machine import backend as keras_backend
from accel_helpers.machine import strategy
from accel_helpers.measure.measurement import Measurement
from accel_helpers.train import training

__all__ = ["train_each"]

IMAGES = 1_472  # bundled digits that fill 23 batches of 64: every batch divides by 1 to 64
SEED = 4
_CHILD = "import sys; from accel_helpers.train.replicas import child; child(*sys.argv[1:])"
# the child sees no accelerator
_HIDDEN = {"JAX_PLATFORMS": "cpu", "CUDA_VISIBLE_DEVICES": "-1", "TF_CPP_MIN_LOG_LEVEL": "2"}


@dataclass(frozen=True)
class Trained:
    """One training; where it failed there are no losses and no times, and the note says why."""

    replicas: int
    backend: str
    losses: tuple[float, ...]
    epoch: Measurement | None
    note: str

    @property
    def name(self) -> str:
        """Such as "4 replicas"."""
        return f"{self.replicas} replica{'s' if self.replicas > 1 else ''}"

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
    images: int = IMAGES,
    time_limit: float = 120.0,
    backend: str | None = None,
) -> tuple[Trained, ...]:
    """Train the quickstart model once for every number of replicas, on this machine's CPU.

    Each has the same first weights, the same bundled digits in the same order and no dropout. They
    take turns, an epoch each, so that a machine that slows down slows down for all.

    Parameters
    ----------
    replicas : sequence of int, optional
        How many copies of the model train together.
    global_batch, images, epochs : int, optional
        Pictures in a step, over all replicas, and in an epoch; two epochs or more.
    time_limit : float, optional
        Seconds for all of it. What is not done by then is ended.
    backend : str, optional
        "tensorflow" or "jax"; by default what Keras runs on in this process.

    Returns
    -------
    tuple of Trained
        In the order of `replicas`: `losses` and `epoch`, or a `note` that says what failed.

    Examples
    --------
    >>> train_each((1, 3), global_batch=64)
    Traceback (most recent call last):
    ValueError: global_batch=64 must be a multiple of all of (1, 3).
    """
    replicas = tuple(whole(number, "replicas") for number in replicas)
    global_batch = whole(global_batch, "global_batch")
    epochs, images = whole(epochs, "epochs", 2), whole(images, "images")
    if not replicas or any(global_batch % number for number in replicas):
        raise ValueError(f"global_batch={global_batch} must be a multiple of all of {replicas}.")
    if images % global_batch:
        raise ValueError(f"images={images} must be a multiple of global_batch={global_batch}.")
    if backend is None:
        loaded = "keras" in sys.modules
        backend = keras_backend.framework() if loaded else strategy.pick(replicas=1).backend
    end, runs = time.monotonic() + time_limit, []
    try:
        for number in replicas:
            runs.append(_Run(number, backend, global_batch, epochs, images))
        for _ in range(1 + epochs):  # to get ready, then every epoch
            for run in runs:
                run.turn(end)
    finally:  # also when the learner interrupts
        for run in runs:
            run.child.stop()
    return tuple(run.result(time_limit) for run in runs)


class _Run:
    """A child process that trains one epoch each time it is given its turn."""

    def __init__(self, replicas: int, name: str, *numbers: int):
        self.replicas, self.name, self.heard, self.problem = replicas, name, [], ""
        environ = probe.variables({**_HIDDEN, "KERAS_BACKEND": name})
        self.child = probe.Child(probe.python(_CHILD, replicas, *numbers), environ, heard=1)

    def turn(self, end: float) -> None:
        """Let it do its next piece of work, and wait for that."""
        if self.problem:
            return
        if self.heard:  # the first piece, getting ready, needs no asking: all start together
            self.child.tell("go")
        line = self.child.hear(end - time.monotonic())
        if line:
            self.heard.append(json.loads(line))
        else:
            self.problem = "too slow" if line is None else "stopped"

    def result(self, time_limit: float) -> Trained:
        """What came of it, or why nothing did."""
        failed = Trained(self.replicas, self.name, (), None, self.problem)
        if self.problem == "too slow":
            return replace(failed, note=f"It was not done after {time_limit:g} s and was ended.")
        if self.problem:
            last = probe.last_line(self.child.output)[:300]
            return replace(failed, note=f"The process stopped: {last or 'without a word.'}")
        where, *turns = self.heard
        first, *rest = (turn["seconds"] for turn in turns)
        epoch = Measurement.from_samples(rest, first_call=first, name=failed.name)
        losses = tuple(turn["loss"] for turn in turns)
        return replace(failed, losses=losses, epoch=epoch, note=where["note"])


def child(*numbers: str) -> None:
    """Train one epoch for every line that comes in; runs in the child process only."""
    replicas, global_batch, epochs, count = map(int, numbers)
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what a framework prints does not get between the answers

    def answer(**values):
        print(json.dumps(values), file=answers, flush=True)

    # "/nowhere" has no accelerator: the variables set for this process hide it anyway
    environ = {"KERAS_BACKEND": os.environ["KERAS_BACKEND"]}
    picked = strategy.pick(replicas=replicas, environ=environ, root="/nowhere", run=_no_command)
    with picked.scope():
        import keras

        class Turns(keras.callbacks.Callback):
            def on_epoch_begin(self, epoch, logs=None):
                if not sys.stdin.readline():  # the parent is gone
                    os._exit(0)
                self.began = time.perf_counter()

            def on_epoch_end(self, epoch, logs=None):
                keras_backend.wait(self.model)
                answer(seconds=time.perf_counter() - self.began, loss=float(logs["loss"]))

        images = training.load_images(count, source="bundled")
        x, y = (images.x_train / 255).astype("float32"), images.y_train
        model = training.quickstart_model(dropout=0, seed=SEED)
        answer(note=str(picked))
        options = {"batch_size": global_batch, "epochs": epochs, "shuffle": False, "verbose": 0}
        model.fit(x, y, callbacks=[Turns()], **options)


def _no_command(words, seconds):
    raise OSError("no command is run here")
