"""The same training in a process of its own, where Keras runs on its other backend.

The model travels as a ``.keras`` file and the arrays as ``.npz``. The process runs this file as a
program. It says "ready" when it has compiled, and then answers every line with the seconds of a
turn.
"""

import importlib.util
import json
import sys
import tempfile
from pathlib import Path

from accel_helpers._values import probe
from accel_helpers.machine import backend
from accel_helpers.machine.quiet import held_back
from accel_helpers.train.checked_call import checked_call
from accel_helpers.train.fit_call import ARRAYS, FitCall
from accel_helpers.train.timed_fit import TimedFit, Turn

OTHERS = {"tensorflow": "jax", "jax": "tensorflow"}
PATIENCE = 120  # seconds for the process to start and to compile
# arguments that are numbers, and travel as text
PLAIN = ("batch_size", "epochs", "validation_batch_size", "validation_steps", "shuffle")


def other_backend() -> str:
    """Return the framework that Keras could run on here instead: "jax", "tensorflow" or ""."""
    alternative = OTHERS.get(backend.framework(), "")
    if alternative and importlib.util.find_spec(alternative):
        return alternative
    return ""


def why_not(call: FitCall) -> str:
    """Return why this training cannot travel, as the line to try; "" where it can."""
    travels = call.form == ARRAYS and _name_arrays("x", call.arguments["x"]) is not None
    if travels and "sample_weight" not in call.arguments and "class_weight" not in call.arguments:
        return ""
    return f"your data stay here: set KERAS_BACKEND={other_backend()} in a new session"


class OtherBackend:
    """A training whose turns another process takes. Used in a ``with`` block, or closed."""

    def __init__(self, call: FitCall, turn_seconds: float, extra_seconds: float):
        """Start it, and wait until it is ready; `extra_seconds` are added to every epoch.

        Raises ValueError where the model cannot be saved or made again there.
        """
        self._extra_seconds = extra_seconds
        self._folder = tempfile.TemporaryDirectory(prefix="accel-backend-")
        folder = Path(self._folder.name)
        _pack(call, folder)
        command = [sys.executable, "-m", __name__, str(folder), str(turn_seconds)]
        environ = probe.variables({"KERAS_BACKEND": other_backend()})
        self._child = probe.Child(command, environ, heard=True)
        answer = self._child.hear(PATIENCE)
        if answer != "ready\n":
            self.close()
            reason = probe.last_line(self._child.output)
            raise ValueError(f"it does not train there: {reason[:80]}")

    def turn(self) -> Turn:
        """Have a turn taken."""
        self._child.tell("turn")
        answer = self._child.hear(PATIENCE)
        if not answer:
            raise ValueError("the other process ended")
        epoch, validation = json.loads(answer)
        return Turn(epoch + self._extra_seconds, validation)

    def close(self) -> None:
        """End the process, and delete what it was given."""
        self._child.stop()
        self._folder.cleanup()


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


def _pack(call: FitCall, folder: Path) -> None:
    """Write a call into a folder."""
    import numpy as np

    named = dict(_name_arrays("x", call.arguments["x"]) or {})
    y = call.arguments.get("y")
    if y is not None:
        named |= _name_arrays("y", y) or {}
    validation = call.arguments.get("validation_data")
    if validation is not None:
        for name, value in zip(("val_x", "val_y"), validation, strict=True):
            named |= _name_arrays(name, value) or {}
    np.savez(folder / "data.npz", **named)
    model = call.make_model()
    with held_back():
        model.save(folder / "model.keras")
    plain = {name: call.arguments[name] for name in PLAIN if name in call.arguments}
    settings = {"arguments": plain, "steps_per_execution": model.steps_per_execution}
    (folder / "settings.json").write_text(json.dumps(settings))


def _unpack(folder: Path) -> FitCall:
    """Return the call that was written into a folder."""
    import keras
    import numpy as np

    with np.load(folder / "data.npz") as file:
        arrays = dict(file)
    settings = json.loads((folder / "settings.json").read_text())
    arguments = dict(settings["arguments"])
    validation = _unname("val_x", arrays)
    if validation is not None:
        arguments["validation_data"] = (validation, _unname("val_y", arrays))

    def make_model():
        model = keras.models.load_model(folder / "model.keras")
        model.steps_per_execution = settings["steps_per_execution"]
        return model

    return checked_call(make_model, _unname("x", arrays), _unname("y", arrays), arguments)


def main(folder: str, turn_seconds: str) -> None:
    """Take a turn for every line of the standard input."""
    call = _unpack(Path(folder))
    training = TimedFit(call, float(turn_seconds))
    training.warm_up(PATIENCE / 2)
    training.replan()
    print("ready", flush=True)
    for _ in sys.stdin:
        turn = training.turn()
        print(json.dumps([turn.epoch, turn.validation]), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
