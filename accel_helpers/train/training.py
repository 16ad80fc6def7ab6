"""The lesson model, real images for it, and the timing of ``fit``.

The *quickstart model* is a reconstruction: the study material shows a basic Keras model for
28x28 images and does not print its layers, so the course uses the ones of the TensorFlow
beginner's quickstart of those years (https://www.tensorflow.org/tutorials/quickstart/beginner):
flatten, 128 units, dropout, 10 outputs, Adam, batches of 32, 5 epochs over 60,000 images.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from accel_helpers.machine import backend
from accel_helpers.measure.measurement import Measurement
from accel_helpers.train.data import IMAGES, Images, load_images
from accel_helpers.train.resident import fit_resident

PIXELS, CLASSES = 28 * 28, 10
BATCH_SIZE, EPOCHS = 32, 5
TURNS = 4  # in which the steps of a sweep are taken

__all__ = [
    "IMAGES",
    "FitTiming",
    "Images",
    "arithmetic",
    "fast",
    "fit_resident",
    "load_images",
    "quickstart_model",
    "step_flops",
    "stopwatch",
    "time_fit",
    "time_steps",
]


def fast() -> bool:
    """Whether small sizes are asked for (environment variable ``ACCEL_FAST=1``).

    Examples
    --------
    >>> isinstance(fast(), bool)
    True
    """
    return os.environ.get("ACCEL_FAST", "") not in ("", "0")


def quickstart_model(
    *, width: int = 128, dropout: float = 0.2, seed: int = 0, steps_per_execution: int = 1
):
    """The quickstart model, compiled: flatten, dense, dropout, dense, Adam.

    Parameters
    ----------
    width : int, optional
        Units of the hidden layer.
    dropout : float, optional
        Share of hidden units that are switched off in training; 0 leaves the layer out.
    seed : int, optional
        Seed of the first weights and of the dropout.
    steps_per_execution : int, optional
        Training steps between two returns to Python.

    Returns
    -------
    keras.Model

    Examples
    --------
    >>> quickstart_model().count_params()
    101770
    """
    if isinstance(width, bool) or not isinstance(width, int) or width < 1:
        raise ValueError(f"width must be a whole number of units, 1 or more; got {width!r}.")
    import keras

    keras.utils.set_random_seed(seed)
    layers = [
        keras.Input((28, 28)),
        keras.layers.Flatten(name="flatten"),
        keras.layers.Dense(width, activation="relu", name="hidden"),
        keras.layers.Dropout(dropout, name="dropout") if dropout else None,
        keras.layers.Dense(CLASSES, name="output"),
    ]
    model = keras.Sequential([layer for layer in layers if layer is not None])
    model.compile(
        optimizer="adam",
        loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
        metrics=["accuracy"],
        steps_per_execution=steps_per_execution,
    )
    return model


def step_flops(*, width: int = 128, batch_size: int = BATCH_SIZE) -> int:
    """Floating-point operations of the matrix products in one training step.

    A product of (m, k) and (k, n) takes 2mkn operations. The forward pass has one for each
    layer; the backward pass has one for each layer's weights and one for the hidden layer's
    output. The pictures themselves need no gradient.

    Parameters
    ----------
    width, batch_size : int, optional
        Units of the hidden layer; images in a batch.

    Returns
    -------
    int

    Examples
    --------
    >>> step_flops()
    13090816
    """
    first, second = 2 * batch_size * PIXELS * width, 2 * batch_size * width * CLASSES
    return 2 * first + 3 * second


@dataclass(frozen=True)
class FitTiming:
    """How long ``fit`` took.

    Attributes
    ----------
    epochs : Measurement
        Seconds per epoch; the first epoch is its `first_call`.
    steps : Measurement or None
        Seconds per step, each waited for; only if it was asked for.
    steps_per_epoch, batch_size : int
    accuracy : float
        Training accuracy of the last epoch.
    """

    epochs: Measurement
    steps: Measurement | None
    steps_per_epoch: int
    batch_size: int
    accuracy: float

    @property
    def total(self) -> float:
        """Seconds of all epochs, the first one included."""
        return self.epochs.first_call + sum(self.epochs.samples)

    @property
    def step(self) -> Measurement:
        """Seconds per step, as epochs divided by their steps."""
        n = self.steps_per_epoch
        return Measurement.from_samples(
            [epoch / n for epoch in self.epochs.samples],
            name=self.epochs.name,
            notes=[f"Each sample is an epoch of {n} steps, divided by {n}."],
        )

    @property
    def first_epoch(self) -> str:
        """A verdict on the first epoch: "longer than the others" or "like the others"."""
        longer = self.epochs.first_call > max(self.epochs.samples)
        return "longer than the others" if longer else "like the others"

    @property
    def throughput(self) -> float:
        """Images per second after the first epoch."""
        return self.batch_size / self.step.median


def time_fit(
    model,
    x,
    y,
    *,
    batch_size: int = BATCH_SIZE,
    epochs: int = EPOCHS,
    by_step: bool = False,
    clock: Callable[[], float] = time.perf_counter,
    name: str = "fit",
) -> FitTiming:
    """Train with ``model.fit`` and time every epoch, the first one apart.

    Parameters
    ----------
    model : keras.Model
        Compiled.
    x, y : array
        Images and labels.
    batch_size, epochs : int, optional
        As for ``fit``; at least two epochs, since the first one also compiles.
    by_step : bool, optional
        Time every step too, waiting for each. This takes a little time itself.
    clock : callable, optional
        Returns the time in seconds.
    name : str, optional
        What is measured.

    Returns
    -------
    FitTiming
    """
    if isinstance(epochs, bool) or not isinstance(epochs, int) or epochs < 2:
        raise ValueError(
            f"epochs must be a whole number of at least 2, since the first epoch is timed apart; "
            f"got {epochs!r}."
        )
    watch = _step_watch(clock) if by_step else stopwatch(clock)
    history = model.fit(x, y, batch_size=batch_size, epochs=epochs, verbose=0, callbacks=[watch])
    first, *rest = watch.epochs
    steps = None
    if by_step:
        steps = Measurement.from_samples(watch.steps, name=name)
    return FitTiming(
        Measurement.from_samples(rest, first_call=first, name=name),
        steps,
        -(-len(x) // batch_size),
        batch_size,
        float(history.history["accuracy"][-1]),
    )


def time_steps(
    x,
    y,
    *,
    widths: Iterable[int],
    batch_sizes: Iterable[int],
    device: str = "cpu",
    steps: int = 24,
    progress: Callable[[str], None] | None = None,
    clock: Callable[[], float] = time.perf_counter,
) -> dict[tuple[int, int], Measurement]:
    """Time one training step of the quickstart model for every width and batch size.

    The models of one batch size take turns, an epoch each, so that a machine that changes meanwhile
    changes all of them alike.

    Parameters
    ----------
    x, y : array
        Images and labels; repeated as needed.
    widths, batch_sizes : iterable of int
        What is swept.
    device : str, optional
        One of `backend.devices`.
    steps : int, optional
        Samples of each; the first few steps are left out of them.
    progress : callable, optional
        Called with a line of text before each.
    clock : callable, optional
        Returns the time in seconds.

    Returns
    -------
    dict
        (width, batch size) to Measurement of one step.
    """
    import numpy as np

    widths, found = tuple(widths), {}
    for batch_size in batch_sizes:
        keep = np.arange(batch_size * (steps // TURNS + 1)) % len(x)
        part_x, part_y = x[keep], y[keep]
        with backend.on(device):
            models = {width: quickstart_model(width=width) for width in widths}
        watches = {width: _step_watch(clock) for width in widths}
        for turn in range(TURNS + 1):  # the first one also compiles, and is left out
            for width in widths:
                if progress:
                    progress(f"{device}: batch size {batch_size}, width {width}, turn {turn}")
                with backend.on(device):
                    models[width].fit(
                        part_x,
                        part_y,
                        batch_size=batch_size,
                        verbose=0,
                        callbacks=[watches[width]],
                    )
        for width, watch in watches.items():
            name = f"{device}, width {width}, batch size {batch_size}"
            found[width, batch_size] = Measurement.from_samples(watch.steps, name=name)
    return found


def arithmetic(*, width: int = 128, batch_size: int = BATCH_SIZE, device: str = "cpu"):
    """The matrix products of one training step and nothing else, as a function to time.

    Parameters
    ----------
    width, batch_size : int, optional
        As in the model.
    device : str, optional
        One of `backend.devices`.

    Returns
    -------
    callable
        Takes nothing; returns the five products.
    """
    import keras
    import numpy as np

    rng = np.random.default_rng(0)
    ops = keras.ops

    def tensor(*shape):
        return ops.convert_to_tensor(rng.standard_normal(shape).astype("float32"))

    def products(x, w1, w2, hidden, out):
        return (
            ops.matmul(x, w1),
            ops.matmul(hidden, w2),
            ops.matmul(ops.transpose(hidden), out),
            ops.matmul(out, ops.transpose(w2)),
            ops.matmul(ops.transpose(x), hidden),
        )

    with backend.on(device):
        values = (
            tensor(batch_size, PIXELS),
            tensor(PIXELS, width),
            tensor(width, CLASSES),
            tensor(batch_size, width),
            tensor(batch_size, CLASSES),
        )
    compiled = backend.jit(products)

    def run():
        with backend.on(device):
            return compiled(*values)

    return run


# ---------------------------------------------------------------------------------------------


def stopwatch(clock: Callable[[], float] = time.perf_counter):
    """A Keras callback that times every epoch, from its beginning until the device is done.

    Parameters
    ----------
    clock : callable, optional
        Returns the time in seconds.

    Returns
    -------
    keras.callbacks.Callback
        With the seconds of every epoch in its list `epochs`.
    """
    import keras

    class Stopwatch(keras.callbacks.Callback):
        def __init__(self):
            super().__init__()
            self.epochs = []
            self.async_safe = True  # lets fit run ahead as it would without a stopwatch

        def on_epoch_begin(self, epoch, logs=None):
            self.started = clock()

        def on_epoch_end(self, epoch, logs=None):
            backend.wait(self.model)
            self.epochs.append(clock() - self.started)

    return Stopwatch()


def _step_watch(clock):
    """The same, and every step of the epochs after the first."""
    watch = stopwatch(clock)

    class StepWatch(type(watch)):
        def __init__(self):
            super().__init__()
            self.steps, self.async_safe = [], False

        def on_epoch_begin(self, epoch, logs=None):
            super().on_epoch_begin(epoch, logs)
            self.last = None

        def on_train_batch_end(self, batch, logs=None):
            # Keras has fetched the loss by now; the weights may still be on their way
            backend.wait(self.model)
            now = clock()
            if self.last is not None and self.epochs:
                self.steps.append(now - self.last)
            self.last = now

    return StepWatch()
