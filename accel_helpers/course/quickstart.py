"""The lesson model, its steps by size, and the sizes of the lessons."""

import math
import os
import time
from collections.abc import Callable, Iterable, Mapping
from itertools import pairwise, product

from accel_helpers.machine import backend
from accel_helpers.machine.quiet import without_remarks
from accel_helpers.measure import results
from accel_helpers.measure.measurement import Measurement
from accel_helpers.train.epochs import BATCH_SIZE, time_fit
from accel_helpers.train.images import load_images
from accel_helpers.train.parts import step_parts
from accel_helpers.train.resident import fit_resident, fit_seeds
from accel_helpers.train.stopwatch import stopwatch

__all__ = [
    "arithmetic",
    "box",
    "compiled_as",
    "fit_resident",
    "fit_seeds",
    "load_images",
    "quickstart_model",
    "size",
    "step_flops",
    "step_parts",
    "time_fit",
    "time_steps",
]

PIXELS, CLASSES, SIDE = 28 * 28, 10, 64  # the side of enlarged pictures
STEPS, TURNS = 25, 5  # the samples of a sweep, at most, and the turns in which they are taken


def fast() -> bool:
    """Whether small sizes are asked for (environment variable ``ACCEL_FAST=1``)."""
    return os.environ.get("ACCEL_FAST", "") not in ("", "0")


def size(count: int) -> int:
    """A size as it is asked for, or about a thirtieth of it under ``ACCEL_FAST=1``.

    >>> size(64)
    64
    """
    return min(count, max(64, count // 30 // 32 * 32)) if fast() else count


def box(seconds: float) -> float:
    """The seconds that a lesson gives a measurement, or a thirtieth of it under ``ACCEL_FAST=1``.

    >>> box(3.0) in (3.0, 0.1)
    True
    """
    return seconds / 30 if fast() else seconds


def quickstart_model(
    *, width=128, dropout=0.2, seed=0, steps_per_execution=1, jit_compile: bool | None = None
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
    jit_compile : bool, optional
        As `compile` takes it; by default what `fit` does on a CPU: False on TensorFlow. On JAX
        True, since False there runs operation by operation. Keras's own "auto" asks which devices
        are visible and not which one is used, so with a GPU it would compile the CPU's model, too.

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
    jit = backend.framework() == "jax" if jit_compile is None else jit_compile
    options = {"steps_per_execution": steps_per_execution, "jit_compile": jit}
    model.compile("adam", loss, metrics=["accuracy"], **options)
    return model


def compiled_as(model) -> str:
    """Say how a model is compiled, to stand beside a time.

    >>> compiled_as(quickstart_model(jit_compile=True))
    'jit_compile=True'
    """
    text = f"jit_compile={bool(model.jit_compile)}"
    steps = model.steps_per_execution
    return text if steps == 1 else f"{text}, steps_per_execution={steps}"


def step_flops(*, width: int = 128, batch_size: int = BATCH_SIZE) -> int:
    """Floating-point operations of the matrix products in one training step; needs no framework.

    A product of (m, k) and (k, n) takes 2mkn operations. The forward pass has one for each layer;
    the backward pass has one for each layer's weights and one for the hidden layer's output.

    >>> step_flops(width=128, batch_size=32)
    13090816
    """
    hidden, output = 2 * batch_size * PIXELS * width, 2 * batch_size * width * CLASSES
    return 2 * hidden + 3 * output


def time_steps(
    x,
    y,
    *,
    widths: Iterable[int],
    batch_sizes: Iterable[int],
    device="cpu",
    nets: Mapping[str, Callable] | None = None,
    seconds=math.inf,
    keep="",
) -> dict[tuple[int | str, int], Measurement]:
    """Time one training step of the quickstart model for every width and batch size.

    All sizes take turns, five steps each, there and back, so that a machine that changes meanwhile
    changes all of them alike. Images and labels are repeated as needed. The `nets`, other models,
    each a name and what makes it, get the images enlarged to 64 x 64, in batches of 32.

    It ends after five turns, or the last (the second at least) that fits into the `seconds`. `keep`
    is for the result card: "KEEP/DEVICE/width WIDTH/batch SIZE" or "KEEP/DEVICE/NAME/batch 32".

    >>> _, images = backend.choose(), load_images(64, source="bundled")
    >>> list(time_steps(images.x_train, images.y_train, widths=[8], batch_sizes=[4]))
    [(8, 4)]
    """
    import numpy as np

    begin, places = time.perf_counter(), [*product(widths, batch_sizes)]
    with backend.on(device):  # one for all batch sizes, since to translate it takes long
        models = {width: quickstart_model(width=width) for width, _ in places}
        models |= {name: make() for name, make in (nets or {}).items()}
    places += [(name, BATCH_SIZE) for name in nets or ()]
    rows = np.arange(SIDE) * x.shape[1] // SIDE
    pictures = {name: x[:BATCH_SIZE, rows][:, :, rows] for name in nets or ()}  # enlarged
    watches = {place: stopwatch(steps=True) for place in places}

    def visit(place):
        (model, batch_size), watch = place, watches[place]
        given = pictures.get(model, x)
        rows = np.arange(batch_size * (STEPS // TURNS + 2)) % len(given)
        with backend.on(device), without_remarks():
            models[model].fit(given[rows], y[rows], batch_size, verbose=0, callbacks=[watch])

    for name, model in models.items():  # a batch that is not full: one program for all sizes
        if backend.framework() == "tensorflow":
            with backend.on(device), without_remarks():  # TensorFlow's, of the fifth model
                model.fit(pictures.get(name, x)[:3], y[:3], batch_size=2, verbose=0)
    for turn in range(TURNS):
        start = time.perf_counter()
        for place in places[:: -1 if turn % 2 else 1]:
            visit(place)
        now = time.perf_counter()
        if turn and now - begin + now - start > seconds:  # one alone would show no spread
            break
    found, named = {}, {}
    for (model, batch_size), watch in watches.items():
        ends = [ticks[2:-1] for ticks in watch.ticks]  # of the steps; the first one translates
        samples = [after - before for each in ends for before, after in pairwise(each)]
        parts = device, model if model in pictures else f"width {model}", f"batch {batch_size}"
        measured = Measurement.from_samples(samples, name=", ".join(parts))
        found[model, batch_size] = named["/".join((keep, *parts))] = measured
    results.keep(keep, named)
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
