"""The same training in a process of its own, where Keras runs on its other backend.

The model travels as a ``.keras`` file and some batches of the arrays as ``.npz``. The process runs
this file as a program. It says "ready" when it has compiled, and then answers every line with the
seconds of a turn. It deletes what it was given, also where this process was killed.
"""

import importlib.util
import json
import shutil
import sys
import tempfile
from math import ceil, prod
from pathlib import Path

from accel_helpers._values import probe
from accel_helpers.fit.checked import checked
from accel_helpers.fit.clock import Timed, Turn
from accel_helpers.fit.training import ARRAYS, Training
from accel_helpers.machine import backend
from accel_helpers.machine.quiet import held_back

OTHERS = {"tensorflow": "jax", "jax": "tensorflow"}
PATIENCE = 120  # seconds for the process to start and to compile
FEW_BYTES = 64e6  # of the training data and of the validation's, of which no more travels
# arguments that are numbers, and travel as text
PLAIN = ("batch_size", "validation_batch_size", "validation_steps", "validation_freq", "shuffle")


def other_backend() -> str:
    """Return the framework that Keras could run on here instead: "jax", "tensorflow" or ""."""
    alternative = OTHERS.get(backend.framework(), "")
    if alternative and importlib.util.find_spec(alternative):
        return alternative
    return ""


def why_not(call: Training) -> str:
    """Return why this training cannot travel, as the line to try; "" where it can."""
    travels = call.form == ARRAYS and _name_arrays("x", call.arguments["x"]) is not None
    if travels and "sample_weight" not in call.arguments and "class_weight" not in call.arguments:
        return ""
    return f"your data stay here: set KERAS_BACKEND={other_backend()} in a new session"


class OtherBackend:
    """A training whose turns another process takes. Used in a ``with`` block, or closed."""

    def __init__(
        self, call: Training, turn_seconds: float, extra_seconds: float, patience: float = PATIENCE
    ):
        """Start it, and wait until it is ready; `extra_seconds` are added to every epoch.

        Raises ValueError where the model cannot be saved or made again there, and where that takes
        longer than `patience` seconds.
        """
        self._extra_seconds = extra_seconds
        self._folder = tempfile.TemporaryDirectory(prefix="accel-backend-")
        command = [sys.executable, "-m", __name__, self._folder.name, str(turn_seconds)]
        environ = probe.variables({"KERAS_BACKEND": other_backend()})
        # It starts before anything is written, so that somebody is there to delete it.
        self._child = probe.Child(command, environ, heard=True)
        try:
            self._times_as_many, self._times_the_validation = _pack(call, Path(self._folder.name))
        except Exception:
            self.close()
            raise
        self._child.tell("go")
        answer = self._child.hear(patience)
        if answer != "ready\n":
            self.close()
            is_late = answer is None
            error = probe.last_line(self._child.output)
            raise ValueError(
                "it had not compiled when the time was up" if is_late else _reason(error)
            )

    def turn(self) -> Turn:
        """Have a turn taken."""
        self._child.tell("turn")
        answer = self._child.hear(PATIENCE)
        if not answer:
            raise ValueError("the other process ended")
        epoch, validation = json.loads(answer)
        steps = (epoch - validation) * self._times_as_many
        validation *= self._times_the_validation
        return Turn(steps + validation + self._extra_seconds, validation)

    def close(self) -> None:
        """End the process, and delete what it was given."""
        self._child.stop()
        self._folder.cleanup()


def _reason(error: str) -> str:
    """Return why a training could not be timed there, by the last line of the process's error."""
    if "Could not locate" in error:
        return f"it has classes of your own: set KERAS_BACKEND={other_backend()} in a new session"
    return f"it does not train there: {error[:80]}"


def _name_arrays(name: str, value) -> dict | None:
    """Return arrays by a name that says where they stand; None if they are nested more deeply.

    "x" for an array itself, "x/0" for one in a list, "x/key" for one in a dictionary.
    """
    if hasattr(value, "shape"):
        return {name: value}
    if isinstance(value, (list, tuple)):
        value = dict(enumerate(value))
    if not isinstance(value, dict):
        return None
    named = {}
    for key, array in value.items():
        if not hasattr(array, "shape"):
            return None
        named[f"{name}/{key}"] = array
    return named


def _unname(name: str, arrays: dict):
    """Return what `_name_arrays` has named: an array, or a list or dictionary of them; or None."""
    if name in arrays:
        return arrays[name]
    parts = {}
    for key, array in arrays.items():
        head, _, place = key.partition("/")
        if head == name:
            parts[place] = array
    if not parts:
        return None
    if all(place.isdecimal() for place in parts):
        return [parts[str(index)] for index in range(len(parts))]
    return parts


def _pack(call: Training, folder: Path) -> tuple[float, float]:
    """Write a call into a folder, with a few of its batches.

    Return how many times as many the training data are, and the validation's. Raises ValueError
    where the folder has no room for them.
    """
    import numpy as np

    pair = {"x": call.arguments["x"], "y": call.arguments.get("y")}
    few, times_as_many = _few(pair, call.batch_size)
    validation: dict = {}
    times_the_validation = 1.0
    if call.arguments.get("validation_data") is not None:
        size = call.arguments.get("validation_batch_size") or call.batch_size
        pair = dict(zip(("val_x", "val_y"), call.arguments["validation_data"], strict=True))
        validation, times_the_validation = _few(pair, size)
    model = call.make_model()
    # four bytes a number, and as a rule the optimizer has two for each weight
    model_bytes = 0
    for weight in model.weights:
        model_bytes += 12 * prod(weight.shape)
    if shutil.disk_usage(folder).free < 2 * (model_bytes + 2 * FEW_BYTES):
        raise ValueError(f"{folder.parent} has no room for a copy of the model")
    np.savez(folder / "data.npz", **few, **validation)
    with held_back():
        model.save(folder / "model.keras")
    plain = {name: call.arguments[name] for name in PLAIN if name in call.arguments}
    (folder / "arguments.json").write_text(json.dumps(plain))
    return times_as_many, times_the_validation


def _few(data: dict, batch_size: int) -> tuple[dict, float]:
    """Return the first batches of some arrays, by name, and how many times as many there are."""
    import numpy as np

    named: dict = {}
    for name, value in data.items():
        if value is not None:
            named |= _name_arrays(name, value) or {}
    samples = len(next(iter(named.values())))
    sample_bytes = sum(np.asarray(array[:1]).nbytes for array in named.values())
    batches = ceil(FEW_BYTES / max(sample_bytes, 1) / batch_size)
    kept = min(batches * batch_size, samples)
    return {name: array[:kept] for name, array in named.items()}, samples / kept


def _unpack(folder: Path) -> Training:
    """Return the call that was written into a folder."""
    import keras
    import numpy as np

    with np.load(folder / "data.npz") as file:
        arrays = dict(file)
    arguments = json.loads((folder / "arguments.json").read_text())
    validation = _unname("val_x", arrays)
    if validation is not None:
        arguments["validation_data"] = (validation, _unname("val_y", arrays))

    def make_model():
        model = keras.models.load_model(folder / "model.keras")
        # The file says what Keras had chosen on the backend that it comes from.
        model.jit_compile = None
        return model

    return checked(make_model, _unname("x", arrays), _unname("y", arrays), arguments)


def main(folder: str, turn_seconds: str) -> None:
    """Take a turn for every line of the standard input; its end says that the parent is gone."""
    import keras  # noqa: F401  (it is loaded while the parent writes)

    try:
        if not sys.stdin.readline():
            return
        training = Timed(_unpack(Path(folder)), float(turn_seconds))
        training.warm_up(PATIENCE / 2)

    finally:
        shutil.rmtree(folder, ignore_errors=True)
    print("ready", flush=True)
    for _ in sys.stdin:
        turn = training.turn()
        print(json.dumps([turn.epoch, turn.validation]), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
