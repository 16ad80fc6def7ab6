"""The lesson model, and the timing of ``fit``."""

import math
import os
import statistics
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from itertools import pairwise, product

from accel_helpers._records import whole
from accel_helpers.machine import backend
from accel_helpers.machine.quiet import without_remarks
from accel_helpers.measure import results
from accel_helpers.measure.measurement import Measurement
from accel_helpers.train.images import load_images
from accel_helpers.train.resident import fit_resident

__all__ = [
    "arithmetic",
    "box",
    "compiled_as",
    "fit_resident",
    "load_images",
    "quickstart_model",
    "size",
    "step_flops",
    "time_fit",
    "time_steps",
]

PIXELS, CLASSES, SIDE = 28 * 28, 10, 64  # the side of enlarged pictures
BATCH_SIZE = 32
STEPS, TURNS = 25, 5  # the samples of a sweep, at most, and the turns in which they are taken
PAIRS = 6  # of a long and a short part, where whole epochs do not fit into a time box
SHORT = 4  # a short part has a fourth of the steps of a long one
MANY_EPOCHS = 1000  # of which the end of a box lets some be
PILOT = 2  # steps to begin with, to see how long one takes


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

    >>> box(3.0)
    3.0
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


def time_fit(
    model,
    x,
    y,
    *,
    batch_size: int = BATCH_SIZE,
    epochs: int = 5,
    seconds: float | None = None,
    clock: Callable[[], float] = time.perf_counter,
    name: str = "fit",
    keep: str = "",
) -> FitTiming:
    """Train with ``model.fit`` and time every epoch, the first one apart: a `FitTiming`.

    Parameters
    ----------
    model, x, y, batch_size
        As for ``fit``.
    epochs : int, optional
        Two or more, since the first one also compiles.
    seconds : float, optional
        In place of `epochs`: as many as fit into this time, but a third of it is for timing,
        however long compiling takes. Where six do not fit, parts of two lengths take turns. What
        the longer one takes more goes by its steps, so an epoch is the longer part and as many
        steps more; a note says so.
    clock, name, keep : optional
        What returns the time in seconds; what is measured; under which name the epochs go on the
        result card, such as "03/epoch/cpu".

    Examples
    --------
    >>> images = load_images(64, source="bundled")
    >>> len(time_fit(quickstart_model(), images.x_train, images.y_train, epochs=2).epochs.samples)
    1
    """
    fits = _Fits(model, x, y, batch_size, clock)
    if seconds is None:
        first, *others = fits.run(fits.steps, whole(epochs, "epochs", 2))
        notes = []
    else:
        first, others, notes = _in_a_box(fits, seconds)
    measured = Measurement.from_samples(others, first_call=first, name=name, notes=notes)
    results.keep(keep, {keep: measured})
    return FitTiming(measured, fits.steps)


class _Fits:
    """Trainings of one model on the first steps of its data, each with a watch on its epochs."""

    def __init__(self, model, x, y, batch_size, clock):
        self.model, self.x, self.y = model, x, y
        self.batch_size, self.clock = batch_size, clock
        self.steps = -(-len(x) // batch_size)
        self.full_steps = len(x) // batch_size

    def compile_for_the_rest(self) -> None:
        """Train on the last batch alone if it is not full, which some frameworks compile for."""
        if self.full_steps < self.steps:
            rest = slice(self.full_steps * self.batch_size, None)
            self.model.fit(self.x[rest], self.y[rest], batch_size=self.batch_size, verbose=0)

    def run(self, steps: int, epochs: int, end: float | None = None) -> list[float]:
        """The seconds of each epoch of so many steps; those that the `end` cut off are left out."""
        watch = stopwatch(self.clock, end=end)
        part = slice(steps * self.batch_size)
        self.model.fit(
            self.x[part],
            self.y[part],
            batch_size=self.batch_size,
            epochs=epochs,
            callbacks=[watch],
            verbose=0,
        )
        return watch.epochs


def _in_a_box(fits: _Fits, seconds: float) -> tuple[float, list[float], list[str]]:
    """Time epochs in so many seconds: the first one, the others, and notes on them."""
    begin, total = fits.clock(), fits.steps
    pilot = min(PILOT, max(fits.full_steps, 1))
    first, latest = fits.run(pilot, 2)
    compiling = max(first - latest, 0)
    # a third of the box is for timing, however long compiling took
    end = max(begin + seconds, fits.clock() + seconds / 3)

    # more steps, until they take long enough to say how long an epoch is
    while pilot < fits.full_steps and latest < seconds / 30:
        more = min(4 * pilot, fits.full_steps)
        took = fits.run(more, 1, end)
        if not took:
            break
        pilot, latest = more, took[0]
    per_step = latest / pilot

    left = end - fits.clock()
    if PAIRS * per_step * total <= left or total == 1:
        fits.compile_for_the_rest()
        samples = fits.run(total, MANY_EPOCHS, end)
        notes = []
    else:
        pair = left / PAIRS
        long = int(pair / per_step * SHORT / (SHORT + 1))
        long = min(max(long, 2), max(fits.full_steps, 2), total)
        short = max(long // SHORT, 1)
        samples = _pairs_of_parts(fits, long, short, end, seconds)
        notes = [
            f"Each sample is of {long:,} and of {short:,} of the {total:,} steps of an epoch: what "
            "the longer part takes more goes by its steps, so it is scaled up without what every "
            "epoch begins and ends with."
        ]
    if not samples:
        samples = [total * per_step]
        notes = [f"The time was up: {pilot:,} of {total:,} steps were timed, and multiplied."]

    count = f"{len(samples)} sample{'' if len(samples) == 1 else 's'}"
    notes.append(f"{count} fitted into {seconds:.3g} s.")
    first_epoch = compiling + statistics.median(samples)  # it has all its steps, too
    return first_epoch, samples, notes


def _pairs_of_parts(fits: _Fits, long: int, short: int, end: float, more: float) -> list[float]:
    """Time a long part and a short one in turns, there and back: an epoch from each pair.

    The first pair may take so many seconds `more`, since without it there is only a guess.
    """
    samples, longest = [], 0.0
    while not samples or fits.clock() + longest <= end:
        start = fits.clock()
        lengths = (long, short) if len(samples) % 2 == 0 else (short, long)
        took = {}
        for steps in lengths:
            took[steps] = fits.run(steps, 1, end if samples else end + more)
        if not all(took.values()):
            break
        (one,), (other,) = took[long], took[short]
        per_step = max(one - other, 0) / (long - short)
        samples.append(one + (fits.steps - long) * per_step)
        longest = max(longest, fits.clock() - start)
    return samples


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


def stopwatch(clock: Callable[[], float] = time.perf_counter, steps=False, end=None):
    """A Keras callback that times every epoch until the device is done, in its list `epochs`.

    For each epoch `ticks` has the time at its beginning, at the end of each step if these are asked
    for, and at its end. Each end is waited for. With an `end`, a time of the clock, the training
    stops before an epoch that would go beyond it, if the last one was as long; and within an epoch
    that does, which then does not count.
    """
    import keras

    class Stopwatch(keras.callbacks.Callback):
        async_safe = not steps  # lets fit run ahead as it would without a stopwatch

        def __init__(self):
            super().__init__()
            self.ticks = []
            self.cut_off = False

        def on_epoch_begin(self, epoch, logs=None):
            self.ticks.append([clock()])

        def on_epoch_end(self, epoch, logs=None):
            backend.wait(self.model)
            self.ticks[-1].append(clock())
            if self.cut_off:
                self.ticks.pop()
            elif end is not None and clock() + self.epochs[-1] > end:
                self.model.stop_training = True

        def on_train_end(self, logs=None):
            backend.look_for_idle()

        if steps:

            def on_train_batch_end(self, batch, logs=None):
                backend.wait(self.model)
                self.ticks[-1].append(clock())

        elif end is not None:

            def on_train_batch_end(self, batch, logs=None):
                if clock() > end:
                    self.cut_off = self.model.stop_training = True

        @property
        def epochs(self):
            return [ticks[-1] - ticks[0] for ticks in self.ticks]

    return Stopwatch()
