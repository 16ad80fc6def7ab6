"""A call of `fit` as a value: its data, its steps, and how it can be varied."""

import copy
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from typing import Any

from accel_helpers._values.words import shown
from accel_helpers.machine import backend

BATCH_SIZE = 32  # of arrays, where the call names none: Keras's own

# the forms of data
ARRAYS = "arrays"
DATASET = "a tf.data.Dataset"
BATCHES = "a keras.utils.PyDataset"  # or what else has a length and gives batches by number
GENERATOR = "a function that makes a generator"

# arguments that hold the samples
SAMPLES = ("x", "y", "sample_weight")


@dataclass(frozen=True)
class Training:
    """A call of ``fit``: ``make_model().fit(**arguments)``; `checked` makes one."""

    make_model: Callable[[], Any]
    # of ``fit``, "x" among them; in place of a generator x is a function that makes one
    arguments: Mapping[str, Any]
    steps: int = 0  # of an epoch; 0 while only an epoch can tell
    device: str = ""  # "cpu", "gpu" or "tpu"; "" for the one that Keras takes by itself

    def on_its_device(self) -> AbstractContextManager:
        """Place the work of a ``with`` block on the device of this training."""
        return backend.on(self.device) if self.device else nullcontext()

    def changed(self, **arguments) -> "Training":
        """Return the same training with some other arguments; those that are None are left out."""
        merged = {**self.arguments, **arguments}
        kept = {name: value for name, value in merged.items() if value is not None}
        return replace(self, arguments=kept)

    def with_model(self, make_model: Callable[[], Any]) -> "Training":
        """Return the same training of another model."""
        return replace(self, make_model=make_model)

    @property
    def form(self) -> str:
        """The form of the training data: ARRAYS, DATASET, BATCHES or GENERATOR."""
        return form_of(self.arguments["x"])

    @property
    def batch_size(self) -> int:
        """How many samples of arrays are a batch."""
        return self.arguments.get("batch_size", BATCH_SIZE)

    @property
    def epochs(self) -> int | None:
        """How many epochs the training has; None where the call does not say."""
        return self.arguments.get("epochs")

    def new_model(self):
        """Return a new model; TypeError or ValueError if it cannot be trained."""
        with self.on_its_device():
            model = self.make_model()
        check_compiled(model)
        return model

    def shortened(self, steps: int) -> dict[str, Any]:
        """Return the arguments of ``fit`` for epochs of so many steps; 0: whole epochs.

        Of arrays only the samples of these steps are handed over, since ``fit`` copies and shuffles
        whatever it is given. The number of epochs and the callbacks are left to the caller.
        """
        arguments = dict(self.arguments)
        for name in ("epochs", "callbacks", "initial_epoch", "verbose"):
            arguments.pop(name, None)
        x = arguments["x"]
        if self.form == ARRAYS:
            if steps:
                arguments.pop("steps_per_epoch", None)
                arguments |= self._samples(slice(steps * self.batch_size))
            return arguments
        if self.form != BATCHES:
            # these shuffle by themselves, and fit warns if it is asked to do so
            arguments["shuffle"] = False
        if self.form == GENERATOR:
            # where the length is known, the next epoch begins anew when a generator has ended
            arguments["x"] = _endless(x) if self.steps else x()
            steps = steps or self.steps
        elif steps:
            arguments["x"] = _ended(x, steps)
        if steps:
            arguments["steps_per_epoch"] = steps
        return arguments

    def _samples(self, rows: slice) -> dict[str, Any]:
        """Return x, y and the weights of some samples of arrays; they are views."""
        import keras

        samples = {}
        for name in SAMPLES:
            if name in self.arguments:
                value = self.arguments[name]
                samples[name] = keras.tree.map_structure(lambda array: array[rows], value)
        return samples

    def first_batches(
        self, count: int, seconds: float, clock: Callable[[], float] = time.perf_counter
    ) -> list:
        """Return the first batches of the data, each as ``fit`` would hand it to a step.

        At most `count`, and none is begun when so many seconds are over; at least one.
        """
        end = clock() + seconds
        batches: list = []
        for batch in self._batches():
            batches.append(batch)
            if len(batches) == count or clock() > end:
                break
        return batches

    def _batches(self) -> Iterator:
        """Yield the batches of one epoch."""
        import keras

        x = self.arguments["x"]
        if self.form == GENERATOR:
            yield from x()
        elif self.form == ARRAYS:
            size = self.batch_size
            for step in range(self.steps):
                samples = self._samples(slice(step * size, (step + 1) * size))
                parts = [samples.get(name) for name in SAMPLES]
                yield keras.utils.pack_x_y_sample_weight(*parts)
        elif hasattr(x, "__getitem__") and hasattr(x, "__len__"):
            for index in range(self.steps or len(x)):
                yield x[index]
        else:
            yield from x


def check_compiled(model) -> None:
    """Raise TypeError if this is no Keras model, and ValueError if it is not compiled."""
    import keras

    if not isinstance(model, keras.Model):
        raise TypeError(f"make_model must return a compiled keras.Model; got {shown(model)}.")
    if not model.compiled or model.optimizer is None:
        raise ValueError(
            "This model cannot be measured: it is not compiled: call model.compile(…) first."
        )


def two_models(training: Training) -> tuple:
    """Return two new models of a training; ValueError if they are one and the same."""
    first = training.new_model()
    second = training.new_model()
    if first is second:
        raise ValueError(
            "make_model returned the same model twice, and every measurement needs a fresh one: "
            "the second would go on training the first. Put the lines that make your model into "
            "the function."
        )
    return first, second


def form_of(x) -> str:
    """Return the form of data as ``fit`` takes them: ARRAYS, DATASET, BATCHES or GENERATOR.

    Raises TypeError for a generator, which could be read once.
    """
    if hasattr(x, "rebatch"):
        return DATASET
    # the second is what torch's DataLoader has
    if hasattr(x, "num_batches") or hasattr(x, "batch_sampler"):
        return BATCHES
    if hasattr(x, "__next__"):
        raise TypeError(
            f"x is a {type(x).__name__}, which can be read once, and every turn begins anew. Give "
            "the function that makes it, without the brackets: x=batches in place of x=batches()."
        )
    if callable(x) and not hasattr(x, "shape"):
        return GENERATOR
    return ARRAYS


def _ended(x, steps: int):
    """Return a PyDataset that has only so many batches; other data as they are.

    Its workers would read on where `steps_per_epoch` ends, and ``fit`` would wait for them.
    """
    import keras

    if not isinstance(x, keras.utils.PyDataset):
        return x

    # mypy knows no class whose base is made at run time: the caller's own
    class Ended(type(x)):  # type: ignore[misc]
        num_batches = steps

    ended = copy.copy(x)
    ended.__class__ = Ended
    return ended


def _endless(make: Callable) -> Iterator:
    """Yield from a new generator whenever the last one has ended."""
    while True:
        yield from make()


def samples_in(batch) -> int:
    """Return how many samples a batch has; 0 where its tensors are single numbers."""
    import keras

    shape = keras.tree.flatten(batch)[0].shape
    return int(shape[0]) if len(shape) else 0
