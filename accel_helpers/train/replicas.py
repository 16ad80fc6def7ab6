"""The same training with one replica and with several, each in a process of its own.

A framework takes the number of its virtual devices only before it starts. So every number of
replicas gets a process that starts afresh. The processes take turns, one epoch each, so that a
machine that slows down slows down for all.
"""

from __future__ import annotations

import json
import os
import queue
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from accel_helpers.measure.measurement import Measurement

IMAGES = 1_472  # bundled digits that fill 23 batches of 64: every batch divides by 1 to 64
SEED = 4

# The package is found where this process found it, behind everything else.
CHILD = (
    "import sys; sys.path.append(sys.argv[1]); "
    "from accel_helpers.train.replicas import _child; _child(*sys.argv[2:])"
)


@dataclass(frozen=True)
class Trained:
    """One training, with some number of replicas.

    Attributes
    ----------
    replicas : int
    backend : str
        "tensorflow" or "jax".
    losses : tuple of float
        The loss of every epoch; empty where the training failed.
    epoch : Measurement or None
        Seconds per epoch, the first one apart; None where it failed.
    note : str
        Where it ran; or, in a sentence, why there is no result.
    """

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

    Each has the same first weights, the same bundled digits in the same order and no dropout. An
    accelerator, if there is one, is left alone: it may be busy with the notebook's own kernel.

    Parameters
    ----------
    replicas : sequence of int, optional
        How many copies of the model train together.
    global_batch : int, optional
        Pictures in a step, over all replicas; a multiple of every number of replicas.
    epochs : int, optional
        At least two, since the first one is timed apart.
    images : int, optional
        Pictures in an epoch; a multiple of `global_batch`.
    time_limit : float, optional
        Seconds for all of it. What is not done by then is ended.
    backend : str, optional
        "tensorflow" or "jax"; by default what Keras runs on in this process.

    Returns
    -------
    tuple of Trained
        In the order of `replicas`. What failed says so in its note.

    Raises
    ------
    ValueError
        If an argument is not as above.
    """
    replicas = tuple(replicas)
    for number in (*replicas, global_batch, images, epochs):
        if isinstance(number, bool) or not isinstance(number, int) or number < 1:
            raise ValueError(f"every number must be whole and 1 or more; got {number!r}.")
    uneven = [number for number in replicas if global_batch % number]
    if not replicas or uneven:
        raise ValueError(
            f"global_batch={global_batch} does not divide by the replicas {replicas}: choose a "
            "multiple of all of them."
        )
    if images % global_batch:
        raise ValueError(f"images={images} must be a multiple of global_batch={global_batch}.")
    if epochs < 2:
        raise ValueError(
            f"epochs must be at least 2, since the first is timed apart; got {epochs}."
        )
    name = backend or _backend_name()
    end = time.monotonic() + time_limit
    with tempfile.TemporaryDirectory() as folder:
        _store_images(images, os.path.join(folder, "digits.npz"))
        runs = [_Run(number, name, folder, global_batch, epochs) for number in replicas]
        try:
            for _ in range(1 + epochs):  # to get ready, then every epoch
                for run in runs:
                    run.turn(end)
        finally:  # also when the learner interrupts
            for run in runs:
                run.stop()
        return tuple(run.result(time_limit) for run in runs)


# ---------------------------------------------------------------------------------------------


class _Run:
    """A child process that trains one epoch each time it is given its turn."""

    def __init__(self, replicas: int, name: str, folder: str, global_batch: int, epochs: int):
        self.replicas, self.name = replicas, name
        self.heard, self.problem, self.asked = [], "", False
        self.said = queue.SimpleQueue()
        self.errors = open(os.path.join(folder, f"errors_{replicas}"), "w+b")
        root = os.fspath(Path(__file__).resolve().parents[2])
        words = [root, os.path.join(folder, "digits.npz"), replicas, global_batch, epochs]
        # the child sees no accelerator
        hidden = {"JAX_PLATFORMS": "cpu", "CUDA_VISIBLE_DEVICES": "-1", "TF_CPP_MIN_LOG_LEVEL": "2"}
        try:
            self.process = subprocess.Popen(
                [sys.executable, "-c", CHILD, *map(str, words)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self.errors,
                env={**os.environ, **hidden, "KERAS_BACKEND": name},
                start_new_session=True,  # so that all it starts can be ended with it
            )
        except OSError as error:
            self.process, self.problem = None, f"No process could be started ({error.strerror})."
            return
        threading.Thread(target=self._listen, daemon=True).start()

    def _listen(self):
        for line in self.process.stdout:
            self.said.put(line)
        self.said.put(b"")

    def turn(self, end: float) -> None:
        """Let it do its next piece of work, and wait for that."""
        if self.problem:
            return
        try:
            if self.asked:  # the first piece, getting ready, needs no asking: all start together
                self.process.stdin.write(b"go\n")
                self.process.stdin.flush()
            self.asked = True
            line = self.said.get(timeout=max(0.0, end - time.monotonic()))
            self.heard.append(json.loads(line))
        except queue.Empty:
            self.problem = "too slow"
        except (OSError, ValueError):
            self.problem = "stopped"

    def stop(self) -> None:
        """End it, with everything that it started."""
        if self.process is None:
            return
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except (AttributeError, OSError):  # Windows has no groups; or it has ended
            self.process.kill()
        self.process.wait(timeout=10)
        self.process.stdin.close()

    def result(self, time_limit: float) -> Trained:
        self.errors.seek(0)
        lines = self.errors.read().decode(errors="replace").split("\n")
        self.errors.close()
        if not self.problem:
            where, first, *rest = self.heard
            epoch = Measurement.from_samples(
                [turn["seconds"] for turn in rest],
                first_call=first["seconds"],
                name=f"{self.replicas} replica{'s' if self.replicas > 1 else ''}",
            )
            losses = tuple(turn["loss"] for turn in (first, *rest))
            return Trained(self.replicas, self.name, losses, epoch, where["note"])
        note = self.problem
        if self.problem == "too slow":
            note = f"It was not done after {time_limit:g} s and was ended."
        elif self.problem == "stopped":
            last = next((line.strip() for line in reversed(lines) if line.strip()), "")
            note = f"The process stopped{': ' + last[:300] if last else ' without a word.'}"
        return Trained(self.replicas, self.name, (), None, note)


def _backend_name() -> str:
    """What Keras runs on in this process, or would."""
    if "keras" in sys.modules:
        return sys.modules["keras"].backend.backend()
    from accel_helpers.machine import strategy

    return strategy.pick(replicas=1).backend


def _store_images(count: int, path: str) -> None:
    import numpy as np

    from accel_helpers.train.data import load_images

    images = load_images(count, source="bundled")
    np.savez(path, x=images.x_train, y=images.y_train)


def _child(path: str, *numbers: str) -> None:
    """Train, one epoch for every line that comes in; runs in the child process only."""
    replicas, global_batch, epochs = map(int, numbers)
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what a framework prints does not get between the answers

    def answer(**values):
        answers.write(json.dumps(values) + "\n")
        answers.flush()

    from accel_helpers.machine import backend, strategy
    from accel_helpers.train import training

    # "/nowhere" has no accelerator: the variables set for this process hide it anyway
    environ = {"KERAS_BACKEND": os.environ["KERAS_BACKEND"]}
    picked = strategy.pick(replicas=replicas, environ=environ, root="/nowhere", run=_no_command)
    with picked.scope():
        import keras
        import numpy as np

        class Turns(keras.callbacks.Callback):
            def on_epoch_begin(self, epoch, logs=None):
                if not sys.stdin.readline():  # the parent is gone
                    os._exit(0)
                self.began = time.perf_counter()

            def on_epoch_end(self, epoch, logs=None):
                backend.wait(self.model)
                answer(seconds=time.perf_counter() - self.began, loss=float(logs["loss"]))

        with np.load(path) as stored:
            x, y = (stored["x"] / 255).astype("float32"), stored["y"]
        model = training.quickstart_model(dropout=0, seed=SEED)
        answer(note=str(picked))
        model.fit(
            x,
            y,
            batch_size=global_batch,
            epochs=epochs,
            shuffle=False,
            verbose=0,
            callbacks=[Turns()],
        )


def _no_command(words, seconds):
    raise OSError("no command is run here")
