"""Training that can be killed at any moment and goes on as if nothing had happened.

The weights and the optimizer's numbers are saved after every epoch, in an ordinary ``.keras`` file
that is renamed to its place when it is whole. The order of the pictures and the dice of layers such
as dropout are made anew from the seed and the epoch.
"""

import hashlib
import json
import os
import re
import time
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from accel_helpers import probe
from accel_helpers._records import whole

__all__ = ["DamagedCheckpoint", "fit", "kill_when"]

NAME, PART, MEMBER = "checkpoint.keras", "checkpoint.part.keras", "training.json"


class DamagedCheckpoint(RuntimeError):
    """A checkpoint that cannot be read; the message names the file and says what to do."""


def fit(
    model, x, y, *, epochs: int, folder, batch_size: int = 32, seed: int = 0, callbacks=()
) -> tuple[float, ...]:
    """Train as ``model.fit`` does; go on from the last whole epoch that `folder` holds.

    Parameters
    ----------
    model : keras.Model
        Built and compiled, the same in every start. No other optimizer than its own is kept.
    x, y : numpy.ndarray
        Of the same length, the same in every start.
    epochs : int
        In all, those of earlier starts included.
    folder : path-like
        Where the checkpoint lies. One folder for one training.
    batch_size, seed : int, optional
        The seed is that of the order of the pictures and of the layers' random numbers.
    callbacks : sequence of keras.callbacks.Callback, optional
        They see each epoch as a training of its own, with its true number. What they remember is
        not kept, so ``EarlyStopping`` and ``ReduceLROnPlateau`` are refused. One that sets
        ``model.stop_training`` ends it, for later starts too.

    Returns
    -------
    tuple of float
        The loss of every epoch, those of earlier starts included.

    Raises
    ------
    ValueError, DamagedCheckpoint
        If an argument cannot be used, or the checkpoint is of another training; if it cannot be
        read. It is left as it is.

    Examples
    --------
    >>> import tempfile, keras, numpy as np
    >>> model, x = keras.Sequential([keras.Input((1,)), keras.layers.Dense(1)]), np.ones((8, 1))
    >>> model.compile("sgd", keras.losses.MeanSquaredError())
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     print([len(fit(model, x, x, epochs=epochs, folder=folder)) for epochs in (1, 3)])
    [1, 3]
    """
    import numpy as np

    epochs, batch_size = whole(epochs, "epochs"), whole(batch_size, "batch_size")
    seed, callbacks = whole(seed, "seed", 0), list(callbacks)
    _check(model, x, y, callbacks)
    path = Path(folder) / NAME
    path.parent.mkdir(parents=True, exist_ok=True)
    training = {"seed": seed, "batch_size": batch_size}
    training |= {"x": _print_of_data(x), "y": _print_of_data(y), "model": _print_of(model)}
    training |= {"optimizer": _print_of(model.optimizer), "loss": _print_of(model.loss)}
    training["jit_compile"] = bool(model.jit_compile)  # XLA throws other dice
    losses, stopped = _restore(model, path, training) if path.exists() else ([], False)
    if len(losses) > epochs:
        raise ValueError(f"{path} holds {len(losses)} epochs, and epochs={epochs} is less.")
    while len(losses) < epochs and not stopped:
        epoch = len(losses)
        order = np.random.default_rng((seed, epoch)).permutation(len(x))
        _reseed(model, seed, epoch)
        options = {"initial_epoch": epoch, "epochs": epoch + 1, "shuffle": False, "verbose": 0}
        options |= {"batch_size": batch_size, "callbacks": callbacks}
        losses += model.fit(x[order], y[order], **options).history["loss"]
        stopped = bool(model.stop_training)
        _save(model, path, training | {"losses": losses, "stopped": stopped})
    return tuple(losses)


def kill_when(
    words: Sequence[str], text: str, *, seconds: float = 120.0, environ: Mapping | None = None
) -> probe.Outcome:
    """Start a command and kill it (SIGKILL) as soon as it prints a line with some text in it.

    Parameters
    ----------
    words : sequence of str
        The command, such as ``[sys.executable, "train.py"]``. What it starts is killed with it.
    text : str
    seconds, environ : float, mapping of str to str, optional
        The time limit; variables beside those of this process.

    Returns
    -------
    probe.Outcome
        Of the kind "killed" where the text came; else "finished", "crashed" or "too slow".

    Examples
    --------
    >>> code = "import time; print('step 1', flush=True); time.sleep(60)"
    >>> kill_when(probe.python(code), "step 1").kind
    'killed'
    """
    said = ""
    with probe.Child(words, probe.variables(environ), heard=2) as child:
        end = child.began + seconds
        while (line := child.hear(end - time.monotonic())) and text not in line:
            said += line
        kind = "killed" if line else child.wait(end - time.monotonic())
    name = "SIGKILL" if line else ""
    return probe.Outcome(kind, time.monotonic() - child.began, said + (line or ""), name)


def _check(model, x, y, callbacks) -> None:
    """Refuse what could not be resumed, before anything is trained or written."""
    import keras
    import numpy as np

    for name, value in (("x", x), ("y", y)):
        if not isinstance(value, np.ndarray) or value.dtype.hasobject:
            got = type(value).__name__
            raise ValueError(f"{name} must be a NumPy array of numbers; got {got}.")
    if len(x) != len(y) or not len(x):
        raise ValueError(f"x and y must have the same length; got {len(x)} and {len(y)}.")
    forgetful = keras.callbacks.EarlyStopping, keras.callbacks.ReduceLROnPlateau
    for callback in callbacks:
        if isinstance(callback, forgetful):
            raise ValueError(
                f"callbacks must do without {type(callback).__name__}: what it remembers is not "
                "kept, so a resumed training would end otherwise. Leave it out."
            )
    if not (model.built and all(layer.built for layer in model.layers) and model.compiled):
        raise ValueError(
            "the model must be built and compiled: give it a keras.Input (or call a model of your "
            "own class once on a few inputs), and compile it."
        )


def _print_of_data(array) -> str:
    """A fingerprint of an array: of its type, its shape and its bytes."""
    import numpy as np

    bytes_ = np.ascontiguousarray(array).reshape(-1).view(np.uint8)
    first = f"{array.dtype.str} {array.shape}".encode()
    return hashlib.blake2b(bytes_, digest_size=16, key=first[:64]).hexdigest()


def _print_of(thing) -> str:
    """A fingerprint of a part of the training, from what it says of itself."""
    seen: dict[str, int] = {}

    def anew(name):  # Keras counts up within a process: dense, dense_1, and so on
        return f'"{name[1]} {seen.setdefault(name[0], len(seen))}"'

    said = json.dumps(thing, default=_described, skipkeys=True)
    said = re.sub(r'"(\w+?)(?:_\d+)?"(?!:)', anew, re.sub(" at 0x[0-9a-f]+", "", said))
    return hashlib.blake2b(said.encode(), digest_size=16).hexdigest()


def _described(thing):
    shapes = [[*v.shape] for v in getattr(thing, "weights", ())]
    try:
        return [type(thing).__name__, shapes, thing.get_config()]
    except (AttributeError, NotImplementedError):
        return [getattr(thing, "__name__", None) or str(thing), shapes]


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


def _restore(model, path: Path, training: Mapping) -> tuple[list[float], bool]:
    """Bring the model to where the checkpoint is; give its losses, and whether it was stopped."""
    try:
        with zipfile.ZipFile(path) as archive:
            if broken := archive.testzip():
                raise zipfile.BadZipFile(f"{broken} is not what was written")
            found = json.loads(archive.read(MEMBER))
        losses, stopped = found["losses"], found["stopped"]
    except Exception as error:  # zipfile has ten kinds of them for a damaged file
        raise DamagedCheckpoint(
            f"{path} cannot be read as a checkpoint ({str(error)[:80]}). It was left as it is. Put "
            "a copy of it in its place, or move it away: then training starts from the beginning."
        ) from None
    for name, value in training.items():
        if found.get(name) != value:
            raise ValueError(
                f"{path} is of a training with another {name}: {found.get(name)!r}, here "
                f"{value!r}. Use the same, or another folder."
            )
    model.optimizer.build(model.trainable_variables)  # so that there is a place for its numbers
    model.load_weights(path)
    return losses, stopped
