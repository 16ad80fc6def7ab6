"""How long the epochs of ``fit`` take, whole or in parts, within a time box."""

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass

from accel_helpers._values.records import whole
from accel_helpers.machine import backend
from accel_helpers.measure import results
from accel_helpers.measure.measurement import FEW_SAMPLES, Measurement

BATCH_SIZE = 32
PILOT = 2  # steps that are trained first: the first of them compiles
FEWEST_MARKS = 6  # ends of steps, before a box that is full ends the training
STRETCHES = 10  # of equally many steps, into which what was trained is cut
MANY_EPOCHS = 1000  # of which the end of a box lets some be


@dataclass(frozen=True)
class FitTiming:
    """How long the epochs of ``fit`` took, and how many steps each has."""

    epochs: Measurement
    steps_per_epoch: int

    @property
    def step(self) -> Measurement:
        """Seconds per step, as epochs divided by their steps.

        What every epoch begins with is in them, so with few steps in an epoch each seems longer.
        """
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
        however long compiling takes. Where five do not fit, the last one is cut off and a step is
        timed over stretches of steps; an epoch is then what epochs begin and end with, timed apart,
        and all its steps. A note says so.
    clock, name, keep : optional
        What returns the time in seconds; what is measured; under which name the epochs go on the
        result card, such as "03/epoch/cpu".

    Examples
    --------
    >>> import numpy
    >>> import keras
    >>> def make_model(width=8):
    ...     layers = [keras.Input((8,)), keras.layers.Dense(width), keras.layers.Dense(3)]
    ...     model = keras.Sequential(layers)
    ...     model.compile("adam", keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    ...     return model
    >>> x, y = numpy.ones((64, 8), "float32"), numpy.arange(64) % 3
    >>> len(time_fit(make_model(), x, y, epochs=2).epochs.samples)
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
    """Trainings of one model on its data, or on the first steps of them, each with a watch."""

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

    def run(self, steps: int, epochs: int) -> list[float]:
        """The seconds of each epoch of so many steps."""
        watch = stopwatch(self.clock)
        self._fit(steps, epochs, watch)
        return watch.epochs

    def run_until(self, end: float, latest: float):
        """Whole epochs until the `end`, the last one cut off: the watch, with its `marks`."""
        watch = stopwatch(self.clock, end=end, latest=latest)
        self._fit(self.steps, MANY_EPOCHS, watch)
        return watch

    def _fit(self, steps, epochs, watch):
        part = slice(steps * self.batch_size)
        self.model.fit(
            self.x[part],
            self.y[part],
            batch_size=self.batch_size,
            epochs=epochs,
            callbacks=[watch],
            verbose=0,
        )


def _in_a_box(fits: _Fits, seconds: float) -> tuple[float, list[float], list[str]]:
    """Time epochs in so many seconds: the first one, the others, and notes on them."""
    begin = fits.clock()
    pilot = min(PILOT, max(fits.full_steps, 1))
    first, once = fits.run(pilot, 2)
    compiling = max(first - once, 0)
    # a third of the box is for timing, however long compiling took
    end = max(begin + seconds, fits.clock() + seconds / 3)
    if fits.clock() + once / pilot * fits.steps < end:
        fits.compile_for_the_rest()

    watch = fits.run_until(end, latest=end + max(seconds, 1.0))
    steps_timed = sum(marks[-1][0] for marks in watch.marks if marks)
    samples, notes = watch.epochs, []
    if len(samples) < FEW_SAMPLES:
        samples = _from_stretches(watch, fits.steps) or samples
        notes.append(
            f"{steps_timed:,} steps were timed, in stretches, where an epoch has {fits.steps:,}. "
            "What an epoch begins with was timed apart, and is not multiplied."
        )
    if not samples:
        samples = [once / pilot * fits.steps]
        notes = [f"The time was up: {pilot} of {fits.steps:,} steps were timed, and multiplied."]

    first_epoch = compiling + statistics.median(samples)  # it has all its steps, too
    count = f"{len(samples)} sample{'' if len(samples) == 1 else 's'}"
    notes.append(f"{count} fitted into {seconds:.3g} s.")
    return first_epoch, samples, notes


def _from_stretches(watch, steps: int) -> list[float]:
    """Seconds of an epoch of so many steps, from stretches of what a watch has seen of some."""
    # the first step of each epoch is left out: what the epoch begins with lies before its end
    timed = sum(marks[-1][0] - marks[0][0] for marks in watch.marks if marks)
    length = max(timed // STRETCHES, 1)
    per_step = []
    for marks in watch.marks:
        for (before, start), (after, stop) in _stretches(marks, length):
            per_step.append((stop - start) / (after - before))
    if not per_step:
        return []

    middle = statistics.median(per_step)
    before_first = [
        marks[0][1] - ticks[0] - middle * marks[0][0]
        for ticks, marks in zip(watch.ticks, watch.marks, strict=True)
        if marks
    ]
    after_last = [
        ticks[-1] - marks[-1][1]
        for ticks, marks in zip(watch.ticks, watch.marks, strict=True)
        if len(ticks) > 1 and marks
    ]
    fixed = max(statistics.median(before_first), 0.0)
    fixed += statistics.median(after_last) if after_last else 0.0
    return [fixed + steps * each for each in per_step]


def _in_order(marks):
    """Marks by their steps, none of them later than the one that follows.

    Fit may report from several threads, one overtaking another; but where a step is done, all
    steps before it are.
    """
    ordered, earliest = [], float("inf")
    for steps_done, seen in sorted(marks, reverse=True):
        earliest = min(earliest, seen)
        ordered.append((steps_done, earliest))
    return ordered[::-1]


def _stretches(marks, length: int):
    """Pairs of marks that are at least so many steps apart, one beginning where one ends."""
    start = None
    for mark in marks:
        if start is None:
            start = mark
        elif mark[0] - start[0] >= length and mark[1] > start[1]:
            yield start, mark
            start = mark


def stopwatch(clock: Callable[[], float] = time.perf_counter, steps=False, end=None, latest=None):
    """A Keras callback that times every epoch until the device is done, in its list `epochs`.

    For each epoch `ticks` has the time at its beginning, at the end of each step if these are asked
    for, and at its end. Each end is waited for.

    With an `end`, a time of the clock, it ends the training then, within an epoch, too, which then
    has no end among its ticks; but not before it has a few `marks`, or the `latest` time has come.
    These are, for each epoch, (steps done, time) as fit reports them.
    """
    import keras

    class Stopwatch(keras.callbacks.Callback):
        async_safe = not steps  # lets fit run ahead as it would without a stopwatch

        def __init__(self):
            super().__init__()
            self.ticks = []
            self.marks = []

        def on_epoch_begin(self, epoch, logs=None):
            self.ticks.append([clock()])
            self.marks.append([])

        def on_epoch_end(self, epoch, logs=None):
            backend.wait(self.model)
            self.marks[-1] = _in_order(self.marks[-1])
            cut_off = end is not None and self.model.stop_training
            if not cut_off:
                self.ticks[-1].append(clock())

        def on_train_end(self, logs=None):
            backend.look_for_idle()

        if steps:

            def on_train_batch_end(self, batch, logs=None):
                backend.wait(self.model)
                self.ticks[-1].append(clock())

        elif end is not None:

            def on_train_batch_end(self, batch, logs=None):
                self.marks[-1].append((batch + 1, clock()))

            def on_train_batch_begin(self, batch, logs=None):
                # Not at the end of a batch: fit may call that from another thread, and on JAX a
                # training that is stopped from there has lost what its metrics stand in.
                enough = sum(map(len, self.marks)) >= FEWEST_MARKS
                if clock() > (end if enough else latest):
                    self.model.stop_training = True

        @property
        def epochs(self):
            return [ticks[-1] - ticks[0] for ticks in self.ticks if len(ticks) > 1]

    return Stopwatch()
