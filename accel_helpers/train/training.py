"""The lesson model, real images for it, and the timing of ``fit``."""

import os
import textwrap
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import pairwise

from accel_helpers import probe
from accel_helpers._records import whole
from accel_helpers.machine import backend
from accel_helpers.measure.measurement import Measurement
from accel_helpers.train.resident import fit_resident

__all__ = [
    "arithmetic",
    "fast",
    "fit_resident",
    "load_images",
    "quickstart_model",
    "step_flops",
    "time_fit",
    "time_steps",
]

PIXELS, CLASSES = 28 * 28, 10
BATCH_SIZE = 32
STEPS, TURNS = 24, 4  # the samples of a sweep, and the turns in which they are taken


def fast() -> bool:
    """Whether small sizes are asked for (environment variable ``ACCEL_FAST=1``).

    >>> isinstance(fast(), bool)
    True
    """
    return os.environ.get("ACCEL_FAST", "") not in ("", "0")


def quickstart_model(
    *, width: int = 128, dropout: float = 0.2, seed: int = 0, steps_per_execution: int = 1
):
    """The quickstart model, compiled: flatten, dense, dropout, dense, Adam.

    The study material does not print its layers: they are those of the TensorFlow beginner's
    quickstart of those years (https://www.tensorflow.org/tutorials/quickstart/beginner).

    Parameters
    ----------
    width, seed, steps_per_execution : int, optional
        Units of the hidden layer; of the weights and of the dropout; as `compile` takes them.
    dropout : float, optional
        Share of hidden units that are switched off in training; 0 leaves the layer out.

    Examples
    --------
    >>> quickstart_model().count_params()
    101770
    """
    import keras

    keras.utils.set_random_seed(seed)
    model = keras.Sequential([keras.Input((28, 28)), keras.layers.Flatten(name="flatten")])
    model.add(keras.layers.Dense(width, activation="relu", name="hidden"))
    if dropout:
        model.add(keras.layers.Dropout(dropout, name="dropout"))
    model.add(keras.layers.Dense(CLASSES, name="output"))
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile("adam", loss, metrics=["accuracy"], steps_per_execution=steps_per_execution)
    return model


def step_flops(*, width: int = 128, batch_size: int = BATCH_SIZE) -> int:
    """Floating-point operations of the matrix products in one training step; needs no framework.

    A product of (m, k) and (k, n) takes 2mkn operations. The forward pass has one for each layer;
    the backward pass has one for each layer's weights and one for the hidden layer's output.

    >>> step_flops(width=128, batch_size=32)
    13090816
    """
    hidden, output = 2 * batch_size * PIXELS * width, 2 * batch_size * width * CLASSES
    return 2 * hidden + 3 * output


@dataclass(frozen=True)
class Images:
    """Pictures as uint8 of shape (n, 28, 28), and labels; those after `different` repeat others."""

    x_train: object
    y_train: object
    x_test: object
    y_test: object
    name: str
    note: str
    different: int

    def __str__(self) -> str:
        said = f"{self.name}: {len(self.x_train):,} training images. {self.note}"
        return textwrap.fill(said, 92, break_on_hyphens=False)


def load_images(
    count: int = 60_000, *, source: str | None = None, time_limit: float = 30.0
) -> Images:
    """Handwritten digits: MNIST where it can be had, scikit-learn's where not.

    Parameters
    ----------
    count : int, optional
        Training images, by default as many as MNIST has. Real ones are repeated to reach it,
        which says nothing about accuracy.
    source : str, optional
        "bundled" looks for no network; so does the environment variable ``ACCEL_DATA``.
    time_limit : float, optional
        Seconds that a download may take.

    Returns
    -------
    Images
        `x_train`, `y_train`, `x_test`, `y_test`, their `name`, a `note` on where they come from.

    Examples
    --------
    >>> load_images(640, source="bundled").x_train.shape
    (640, 28, 28)
    """
    count, why = whole(count, "count"), ""
    bundled = (source or os.environ.get("ACCEL_DATA")) == "bundled"
    if not bundled:  # also where the file is there, since an ended download leaves half of one
        _, why = fetch("import keras; keras.datasets.mnist.load_data()", time_limit)
    if bundled or why:
        arrays, name = _digits(), "scikit-learn digits"
        note = "Real handwriting, 8x8 points brought to 28x28; it needs no network."
        note += f" (MNIST could not be had: {why})" if why else ""
    else:
        import keras

        arrays, name = keras.datasets.mnist.load_data(), "MNIST"  # whole by now
        note = "The set that the study material uses."
    import numpy as np

    (x, y), test = arrays
    if count > len(x):
        note += f" There are {len(x):,} of them, so they are repeated."
    keep = np.arange(count) % len(x)
    return Images(x[keep], y[keep], *test, name, note, min(count, len(x)))


def fetch(code: str, time_limit: float) -> tuple[str, str]:
    """Run code that downloads something in a child; give its last line, and why nothing came."""
    ended = probe.run(code, seconds=time_limit, environ={"KERAS_BACKEND": "numpy"})  # starts first
    why = {"too slow": f"no answer within {time_limit:g} s.", "crashed": "the download failed."}
    return probe.last_line(ended.output), why.get(ended.kind, "")


def _digits():
    import numpy as np
    from sklearn.datasets import load_digits

    x, y = load_digits(return_X_y=True)
    x = np.kron(x.reshape(-1, 8, 8), np.ones((1, 3, 3))) * (255 / 16)  # each point becomes 3x3
    x = np.pad(x, ((0, 0), (2, 2), (2, 2))).astype("uint8")
    order = np.random.default_rng(0).permutation(len(x))
    return [(x[part], y[part].astype("int64")) for part in (order[:1500], order[1500:])]


@dataclass(frozen=True)
class FitTiming:
    """How long the epochs of ``fit`` took, and how many steps each has."""

    epochs: Measurement
    steps_per_epoch: int

    @property
    def step(self) -> Measurement:
        """Seconds per step, as epochs divided by their steps."""
        n = self.steps_per_epoch
        note = f"Each sample is an epoch of {n} steps, divided by {n}."
        samples = [epoch / n for epoch in self.epochs.samples]
        return Measurement.from_samples(samples, name=self.epochs.name, notes=[note])

    @property
    def first_epoch(self) -> str:
        """A verdict: "longer than the others" or "like the others"."""
        longer = self.epochs.first_call > max(self.epochs.samples)
        return "longer than the others" if longer else "like the others"


def time_fit(
    model,
    x,
    y,
    *,
    batch_size: int = BATCH_SIZE,
    epochs: int = 5,
    clock: Callable[[], float] = time.perf_counter,
    name: str = "fit",
) -> FitTiming:
    """Train with ``model.fit`` and time every epoch, the first one apart.

    Parameters
    ----------
    model, x, y, batch_size
        As for ``fit``.
    epochs : int, optional
        Two or more, since the first one also compiles.
    clock, name : optional
        What returns the time in seconds; what is measured.

    Returns
    -------
    FitTiming
        With `epochs`, `step` and `first_epoch` (a verdict).

    Examples
    --------
    >>> images = load_images(64, source="bundled")
    >>> len(time_fit(quickstart_model(), images.x_train, images.y_train, epochs=2).epochs.samples)
    1
    """
    watch, epochs = stopwatch(clock), whole(epochs, "epochs", 2)
    model.fit(x, y, batch_size=batch_size, epochs=epochs, verbose=0, callbacks=[watch])
    first, *others = watch.epochs
    measured = Measurement.from_samples(others, first_call=first, name=name)
    return FitTiming(measured, -(-len(x) // batch_size))


def time_steps(
    x, y, *, widths: Iterable[int], batch_sizes: Iterable[int], device: str = "cpu"
) -> dict[tuple[int, int], Measurement]:
    """Time one training step of the quickstart model for every width and batch size.

    The models of one batch size take turns, an epoch each, so that a machine that changes meanwhile
    changes all of them alike. Images and labels are repeated as needed.

    >>> _, images = backend.choose(), load_images(64, source="bundled")
    >>> list(time_steps(images.x_train, images.y_train, widths=[8], batch_sizes=[4]))
    [(8, 4)]
    """
    import numpy as np

    widths, found = tuple(widths), {}
    for batch_size in batch_sizes:
        keep = np.arange(batch_size * (STEPS // TURNS + 1)) % len(x)
        part = x[keep], y[keep]
        with backend.on(device):
            models = {width: quickstart_model(width=width) for width in widths}
        watches = {width: stopwatch(steps=True) for width in widths}
        for _ in range(TURNS + 1):  # the first one also compiles, and is left out
            for width, watch in watches.items():
                with backend.on(device):
                    models[width].fit(*part, batch_size=batch_size, verbose=0, callbacks=[watch])
        for width, watch in watches.items():
            ends = [ticks[1:-1] for ticks in watch.ticks[1:]]  # of the steps of each epoch
            samples = [after - before for each in ends for before, after in pairwise(each)]
            name = f"{device}, width {width}, batch size {batch_size}"
            found[width, batch_size] = Measurement.from_samples(samples, name=name)
    return found


def arithmetic(*, width: int = 128, batch_size: int = BATCH_SIZE, device: str = "cpu"):
    """The five matrix products of one training step alone, as a function to time.

    >>> [tuple(product.shape) for product in arithmetic(batch_size=4)()]
    [(4, 128), (4, 10), (128, 10), (4, 128), (784, 128)]
    """
    from keras import ops, random

    shapes = (batch_size, PIXELS), (PIXELS, width), (width, CLASSES)
    shapes += (batch_size, width), (batch_size, CLASSES)
    with backend.on(device):
        values = [random.normal(shape, dtype="float32", seed=0) for shape in shapes]

    def products(x, w1, w2, hidden, out):
        back = [(ops.transpose(hidden), out), (out, ops.transpose(w2)), (ops.transpose(x), hidden)]
        return [ops.matmul(a, b) for a, b in [(x, w1), (hidden, w2), *back]]

    compiled = backend.jit(products)

    def run():
        with backend.on(device):
            return compiled(*values)

    return run


def stopwatch(clock: Callable[[], float] = time.perf_counter, steps: bool = False):
    """A Keras callback that times every epoch until the device is done, in its list `epochs`.

    For each epoch `ticks` has the time at its beginning, at the end of each step if these are asked
    for, and at its end. Each end is waited for.
    """
    import keras

    class Stopwatch(keras.callbacks.Callback):
        async_safe = not steps  # lets fit run ahead as it would without a stopwatch

        def __init__(self):
            super().__init__()
            self.ticks = []

        def on_epoch_begin(self, epoch, logs=None):
            self.ticks.append([clock()])

        def on_epoch_end(self, epoch, logs=None):
            backend.wait(self.model)
            self.ticks[-1].append(clock())

        if steps:
            on_train_batch_end = on_epoch_end

        @property
        def epochs(self):
            return [ticks[-1] - ticks[0] for ticks in self.ticks]

    return Stopwatch()
