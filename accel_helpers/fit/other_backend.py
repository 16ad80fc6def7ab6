"""The same training in a process of its own, where Keras runs on its other backend.

The model travels as `saved_model` writes it, and some batches of the arrays in a pickle. The
process runs this file as a program, answers every line with the seconds of a turn, the first one
once it has compiled, and deletes what it was given, also where this process was killed.
"""

import importlib.util
import pickle
import shutil
import sys
import tempfile
from contextlib import ExitStack
from math import ceil
from pathlib import Path

from accel_helpers._values import probe
from accel_helpers.fit import saved_model
from accel_helpers.fit.batches import bytes_in
from accel_helpers.fit.clock import Timed, Turn
from accel_helpers.fit.training import ARRAYS, Training
from accel_helpers.machine import backend
from accel_helpers.machine.quiet import held_back

OTHERS = {"tensorflow": "jax", "jax": "tensorflow"}
PATIENCE = 120  # seconds for the process to start and to compile
MOST_BYTES = 64e6  # of the training data, of which no more travels, and of the validation's
MOST_WEIGHTS = 200e6  # bytes of a model that travels; with those of the optimizer three times that


def other_backend() -> str:
    """Return the framework that Keras could run on here instead: "jax", "tensorflow" or ""."""
    alternative = OTHERS.get(backend.framework(), "")
    if alternative and importlib.util.find_spec(alternative):
        return alternative
    return ""


def why_not(training: Training) -> str:
    """Return why this training cannot travel, and what to do by hand; "" where it can."""
    validation = training.arguments.get("validation_data", ())
    if training.form != ARRAYS or not isinstance(validation, (tuple, list)):
        return _by_hand("it is tried with arrays alone")
    if bytes_in(validation) > MOST_BYTES:
        return _by_hand("your validation is too large for a copy")
    return ""


def _by_hand(reason: str) -> str:
    """Return a reason with what to do by hand."""
    return f"{reason}: set KERAS_BACKEND={other_backend()} in a new session"


class OtherBackend(ExitStack):
    """A training whose turns another process takes; to be closed, which ends that."""

    def __init__(
        self,
        training: Training,
        turn_seconds: float,
        extra_seconds: float,
        patience: float = PATIENCE,
    ):
        """Start it, and wait until it is ready; `extra_seconds` are added to every epoch.

        Raises ValueError where the model cannot be saved or made again there, and where that takes
        longer than `patience` seconds.
        """
        super().__init__()
        self._extra_seconds = extra_seconds
        with ExitStack() as stack:
            folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="accel-backend-"))
            command = [sys.executable, "-m", __name__, folder, str(turn_seconds)]
            environ = probe.variables({"KERAS_BACKEND": other_backend()})
            # It starts before anything is written, so that somebody is there to delete it.
            self._child = stack.enter_context(probe.Child(command, environ, heard=True))
            self._times_as_many = _pack(training, Path(folder))
            self._ask(patience)
            self.enter_context(stack.pop_all())

    def turn(self) -> Turn:
        """Have a turn taken."""
        epoch, validation = self._ask(PATIENCE)
        steps = (epoch - validation) * self._times_as_many
        return Turn(steps + validation + self._extra_seconds, validation)

    def _ask(self, patience: float) -> list[float]:
        """Return the seconds of an epoch of the process, and of validation in it."""
        self._child.tell("turn")
        answer = self._child.hear(patience)
        if answer:
            return [float(seconds) for seconds in answer.split()]
        if answer is None:
            raise ValueError("it had not compiled when the time was up")
        self._child.stop()
        reason = probe.last_line(self._child.output)[:80]
        raise ValueError(f"it does not train there: {reason}")


def _pack(training: Training, folder: Path) -> float:
    """Write a training into a folder; return how many times as many batches it has as travel.

    Raises ValueError where the model cannot be saved, or is too large.
    """
    model = training.make_model()
    if bytes_in(model.weights) > MOST_WEIGHTS:
        raise ValueError(_by_hand("your model is too large for a copy"))
    try:
        with held_back():
            saved_model.save(model, folder)
    except ValueError as error:
        raise ValueError(_by_hand("it has classes or functions of your own")) from error
    a_batch = bytes_in(training.first_batches(1, 0.0))
    steps = min(training.steps, ceil(MOST_BYTES / a_batch))
    travels = pickle.dumps((training.shortened(steps), steps))
    (folder / "training.pickle").write_bytes(travels)
    return training.steps / steps


def _unpack(folder: Path) -> Training:
    """Return the training that was written into a folder."""

    def make_model():
        model = saved_model.load(folder)
        # The description says what Keras had chosen on the backend that it comes from.
        model.jit_compile = None
        return model

    # it was written by the process that has started this one
    arguments, steps = pickle.loads((folder / "training.pickle").read_bytes())
    return Training(make_model, arguments, steps)


def main(folder: str, turn_seconds: str) -> None:
    """Take a turn for every line of the standard input; its end says that the parent is gone."""
    import keras  # noqa: F401  (it is loaded while the parent writes)

    try:
        # where the parent is gone there is nothing to unpack, and that ends this process
        sys.stdin.readline()
        training = Timed(_unpack(Path(folder)), float(turn_seconds))
        training.warm_up(PATIENCE / 2)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    while True:
        turn = training.turn()
        print(turn.epoch, turn.validation, flush=True)
        if not sys.stdin.readline():
            return


if __name__ == "__main__":
    main(*sys.argv[1:])
