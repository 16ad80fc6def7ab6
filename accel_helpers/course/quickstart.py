"""The lesson model, and its steps by size."""

import math
import time
from collections.abc import Callable, Iterable, Mapping
from itertools import pairwise, product

from accel_helpers.machine import backend
from accel_helpers.machine.quiet import without_remarks
from accel_helpers.measure import results
from accel_helpers.measure.measurement import Measurement
from accel_helpers.train.epochs import BATCH_SIZE
from accel_helpers.train.stopwatch import stopwatch

__all__ = ["quickstart_model", "time_steps"]

PIXELS, CLASSES, SIDE = 28 * 28, 10, 64  # the side of enlarged pictures
STEPS, TURNS = 25, 5  # the samples of a sweep, at most, and the turns in which they are taken


def quickstart_model(
    *, width=128, dropout=0.2, seed=0, steps_per_execution=1, jit_compile: bool | None = None
):
    """Make the quickstart model, compiled: flatten, dense, dropout, dense, Adam.

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
    if jit_compile is None:
        jit_compile = backend.framework() == "jax"
    model.compile(
        "adam",
        loss,
        metrics=["accuracy"],
        steps_per_execution=steps_per_execution,
        jit_compile=jit_compile,
    )
    return model


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

    >>> from accel_helpers.train.images import load_images
    >>> _, images = backend.choose(), load_images(64, source="bundled")
    >>> list(time_steps(images.x_train, images.y_train, widths=[8], batch_sizes=[4]))
    [(8, 4)]
    """
    began = time.perf_counter()
    sizes: list[tuple] = list(product(widths, batch_sizes))
    makers = dict(nets or {})
    # One model for all batch sizes, since to translate it takes long.
    with backend.on(device):
        models = {width: quickstart_model(width=width) for width, _ in sizes}
        for name, make in makers.items():
            models[name] = make()
    sizes += [(name, BATCH_SIZE) for name in makers]
    inputs = dict.fromkeys(models, x)
    for name in makers:
        inputs[name] = _enlarged(x[:BATCH_SIZE])
    if backend.framework() == "tensorflow":
        for name, model in models.items():
            _train_on_a_rest(model, inputs[name], y, device)
    watches = {size: stopwatch(steps=True) for size in sizes}
    for turn in range(TURNS):
        turn_began = time.perf_counter()
        # There and back.
        order = sizes if turn % 2 == 0 else reversed(sizes)
        for name, batch_size in order:
            watch = watches[name, batch_size]
            _visit(models[name], inputs[name], y, batch_size, watch, device)
        now = time.perf_counter()
        next_turn_ends = now - began + now - turn_began
        # One turn alone would show no spread.
        if turn >= 1 and next_turn_ends > seconds:
            break
    steps = {}
    named = {}
    for (name, batch_size), watch in watches.items():
        label = name if name in makers else f"width {name}"
        parts = (device, label, f"batch {batch_size}")
        measured = Measurement.from_samples(_step_seconds(watch), name=", ".join(parts))
        steps[name, batch_size] = measured
        named["/".join((keep, *parts))] = measured
    results.keep(keep, named)
    return steps


def _enlarged(pictures):
    """Give pictures enlarged to 64 x 64 by repeating their pixels."""
    import numpy as np

    pixels = np.arange(SIDE) * pictures.shape[1] // SIDE
    return pictures[:, pixels][:, :, pixels]


def _train_on_a_rest(model, x, y, device) -> None:
    """Train on a batch that is not full: after that TensorFlow has one program for all sizes.

    Without remarks, since it makes one of the fifth model.
    """
    with backend.on(device), without_remarks():
        model.fit(x[:3], y[:3], batch_size=2, verbose=0)


def _visit(model, x, y, batch_size: int, watch, device) -> None:
    """Train a few steps of one size; the first two are not timed."""
    import numpy as np

    steps = STEPS // TURNS + 2
    rows = np.arange(batch_size * steps) % len(x)
    with backend.on(device), without_remarks():
        model.fit(x[rows], y[rows], batch_size, verbose=0, callbacks=[watch])


def _step_seconds(watch) -> list[float]:
    """Give the seconds of every step but the first of each turn, which translates."""
    seconds = []
    for ticks in watch.ticks:
        # The beginning, the ends of the steps, and the end.
        ends = ticks[2:-1]
        seconds += [after - before for before, after in pairwise(ends)]
    return seconds
