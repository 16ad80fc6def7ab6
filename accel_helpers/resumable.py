"""Training that can be killed at any moment and goes on as if nothing had happened.

What decides how a training ends is, beside the data: the weights, the optimizer's numbers, the
order of the pictures, and the dice that layers such as dropout throw. The first two are saved
after every epoch. The other two are made anew from the seed and the number of the epoch, so
there is nothing to save.

The file is an ordinary ``.keras`` file with one more member, ``training.json``. It is written
beside its place and renamed when it is whole: at its place there is always a whole one.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from accel_helpers.probe import KEPT_CHARACTERS, Outcome

NAME, PART, MEMBER = "checkpoint.keras", "checkpoint.part.keras", "training.json"


class DamagedCheckpoint(RuntimeError):
    """A checkpoint that cannot be read; the message names the file and says what to do."""


def fit(
    model,
    x,
    y,
    *,
    epochs: int,
    folder,
    batch_size: int = 32,
    seed: int = 0,
    callbacks: Sequence = (),
) -> tuple[float, ...]:
    """Train as ``model.fit`` does; go on from the last whole epoch that `folder` holds.

    Parameters
    ----------
    model : keras.Model
        Built and compiled, the same in every start.
    x, y : numpy.ndarray
    epochs : int
        In all, those of earlier starts included.
    folder : path-like
        Where the checkpoint lies; made if it is not there. One folder for one training.
    batch_size : int, optional
    seed : int, optional
        Of the order of the pictures and of the layers' random numbers.
    callbacks : sequence of keras.callbacks.Callback, optional
        They see every epoch as a training of its own, with its true number.

    Returns
    -------
    tuple of float
        The loss of every epoch, those of earlier starts included.

    Raises
    ------
    ValueError
        If an argument cannot be used, or the checkpoint is of another training.
    DamagedCheckpoint
        If the checkpoint cannot be read. It is left as it is.
    """
    import numpy as np

    for name, value in (("epochs", epochs), ("batch_size", batch_size)):
        if isinstance(value, bool) or not isinstance(value, int) or value < 1:
            raise ValueError(f"{name} must be a whole number, 1 or more; got {value!r}.")
    if not model.built or not getattr(model, "compiled", True):
        raise ValueError("the model must be built and compiled: give it a keras.Input, compile it.")
    path = Path(folder) / NAME
    path.parent.mkdir(parents=True, exist_ok=True)
    training = {"seed": seed, "batch_size": batch_size, "samples": len(x)}
    losses = _restore(model, path, training) if path.exists() else []
    for epoch in range(len(losses), epochs):
        order = np.random.default_rng((seed, epoch)).permutation(len(x))
        _reseed(model, seed, epoch)
        history = model.fit(
            x[order],
            y[order],
            batch_size=batch_size,
            initial_epoch=epoch,
            epochs=epoch + 1,
            shuffle=False,
            verbose=0,
            callbacks=list(callbacks),
        )
        losses.append(float(history.history["loss"][0]))
        _save(model, path, training | {"losses": losses})
    return tuple(losses)


def kill_when(
    words: Sequence[str],
    text: str,
    *,
    seconds: float = 120.0,
    environ: Mapping[str, str] | None = None,
) -> Outcome:
    """Start a command and kill it (SIGKILL) as soon as it prints a line with some text in it.

    Parameters
    ----------
    words : sequence of str
        The command, such as ``[sys.executable, "train.py"]``.
    text : str
        What to wait for.
    seconds : float, optional
        The time limit.
    environ : mapping of str to str, optional
        Variables set beside those of this process. Python finds the same packages as here.

    Returns
    -------
    accel_helpers.probe.Outcome
        Of the kind "killed" where the text came; else "finished", "crashed" or "too slow".

    Examples
    --------
    >>> code = "import time; print('step 1', flush=True); time.sleep(60)"
    >>> kill_when([sys.executable, "-c", code], "step 1").kind
    'killed'
    """
    packages = {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    began, said, kind = time.monotonic(), "", "finished"
    with subprocess.Popen(
        list(words),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env={**os.environ, **packages, **(environ or {})},
        text=True,
        errors="replace",
    ) as process:
        late = threading.Timer(seconds, process.kill)
        late.start()
        try:
            for line in process.stdout:
                said = (said + line)[-KEPT_CHARACTERS:]
                if text in line:
                    kind = "killed"
                    break
            if kind != "killed" and process.wait() != 0:
                kind = "crashed" if time.monotonic() - began < seconds else "too slow"
        finally:  # also when the learner interrupts
            late.cancel()
            process.kill()
    signal = "SIGKILL" if kind == "killed" else ""
    return Outcome(kind, time.monotonic() - began, said, signal)


# ---------------------------------------------------------------------------------------------


def _reseed(model, seed: int, epoch: int) -> None:
    """Give every layer that throws dice new ones, made from the seed and the epoch."""
    import numpy as np

    states = [v for v in model.variables if v.path.endswith("seed_generator_state")]
    for place, state in enumerate(states):
        first = np.random.default_rng((seed, epoch, place)).integers(2**31)
        state.assign(np.array([first, 0], dtype=state.dtype))


def _save(model, path: Path, training: Mapping) -> None:
    part = path.with_name(PART)
    model.save(part)
    with zipfile.ZipFile(part, "a") as archive:
        archive.writestr(MEMBER, json.dumps(training))
    with open(part, "rb+") as file:
        os.fsync(file.fileno())  # on the disk before it takes the old one's place
    os.replace(part, path)


def _restore(model, path: Path, training: Mapping) -> list[float]:
    try:
        with zipfile.ZipFile(path) as archive:
            if broken := archive.testzip():
                raise zipfile.BadZipFile(f"{broken} is not what was written")
            found = json.loads(archive.read(MEMBER))
    except (OSError, KeyError, ValueError, zipfile.BadZipFile) as error:
        raise DamagedCheckpoint(
            f"{path} cannot be read as a checkpoint ({str(error)[:80]}). It was left as it is. Put "
            "a copy of it in its place, or move it away: then training starts from the beginning."
        ) from None
    for name, value in training.items():
        if found.get(name) != value:
            raise ValueError(
                f"{path} belongs to a training with {name}={found.get(name)!r}, and this one has "
                f"{value!r}. Use the same, or another folder."
            )
    model.optimizer.build(model.trainable_variables)  # so that there is a place for its numbers
    try:
        model.load_weights(path)
    except ValueError as error:
        raise ValueError(
            f"{path} belongs to another model ({str(error)[:120]}...). Build the same model, or "
            "use another folder."
        ) from None
    return list(found["losses"])
