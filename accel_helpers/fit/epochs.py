"""How long the epochs of ``fit`` take, whole or in parts, within a time box."""

import math
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from accel_helpers._values.records import whole
from accel_helpers._values.words import format_seconds
from accel_helpers.fit.device_memory import as_array
from accel_helpers.fit.stopwatch import stopwatch
from accel_helpers.measure.measurement import FEW_SAMPLES, Measurement
from accel_helpers.measure.pictures import Picture

BATCH_SIZE = 32
PILOT = 2  # steps that are trained first: the first of them compiles
STRETCHES = 10  # of equally many steps, into which the trained steps are cut
MANY_EPOCHS = 1000  # more than a box has room for


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
        steps = self.steps_per_epoch
        note = f"Each sample is an epoch of {steps} steps, divided by {steps}."
        samples = [epoch / steps for epoch in self.epochs.samples]
        return Measurement.from_samples(samples, name=self.epochs.name, notes=[note])

    @property
    def finding(self) -> str:
        """The title of its picture."""
        return f"an epoch takes {format_seconds(self.epochs.median)}"

    def drawn(self, title: str) -> Picture:
        """Return the picture of its epochs; see `pictures.plot`."""
        return self.epochs.drawn(title)

    def __str__(self) -> str:
        return f"{self.epochs}\nAn epoch has {self.steps_per_epoch:,} steps."


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
) -> FitTiming:
    """Train with ``model.fit`` and time every epoch, the first one apart: a `FitTiming`.

    Parameters
    ----------
    model : keras.Model
        A compiled model.
    x, y : array, or list, tuple or dict of arrays
        The samples and their labels, as for ``fit``.
    batch_size : int, optional
        As for ``fit``.
    epochs : int, optional
        Two or more, since the first one also compiles.
    seconds : float, optional
        In place of `epochs`: train as many as fit into this time. A third of it is for timing,
        however long compiling takes. If fewer than five fit, the last one is cut off and a step is
        timed over stretches of steps. An epoch is then the sum of its steps and of what epochs
        begin and end with, which is timed apart. A note says so.
    clock : callable, optional
        What returns the time in seconds.
    name : str, optional
        What is measured.

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
    epochs = whole(epochs, "epochs", 2)
    fits = _Fits(model, x, y, batch_size, clock)
    if seconds is None:
        first_epoch, *later_epochs = fits.run(fits.steps, epochs)
        notes: list[str] = []
    else:
        first_epoch, later_epochs, notes = _in_a_box(fits, seconds)
    measured = Measurement.from_samples(
        later_epochs, first_call=first_epoch, name=name, notes=notes
    )
    return FitTiming(measured, fits.steps)


class _Fits:
    """Trains one model several times on its data, or on the first steps of them, and times it."""

    def __init__(self, model, x, y, batch_size, clock):
        import keras

        self.model = model
        self.x = x
        self.y = y
        self.batch_size = batch_size
        self.clock = clock
        for name, data in (("x", x), ("y", y)):
            keras.tree.map_structure(partial(as_array, what=name), data)
        samples = len(keras.tree.flatten(x)[0])
        self.steps = math.ceil(samples / batch_size)
        self.full_steps = samples // batch_size

    def compile_for_the_rest(self) -> None:
        """Train on the last batch alone if it is not full, which some frameworks compile for."""
        if self.full_steps == self.steps:
            return
        x, y = self._samples(slice(self.full_steps * self.batch_size, None))
        self.model.fit(x, y, batch_size=self.batch_size, verbose=0)

    def _samples(self, rows: slice) -> tuple:
        """Return x and y of some samples."""
        import keras

        return keras.tree.map_structure(lambda array: array[rows], (self.x, self.y))

    def run(self, steps: int, epochs: int) -> list[float]:
        """Train epochs of so many steps, and return the seconds of each."""
        watch = stopwatch(self.clock)
        self._fit(steps, epochs, watch)
        return watch.epochs

    def run_until(self, end: float, latest: float):
        """Train until the `end`, where the last epoch is cut off, and return the watch."""
        watch = stopwatch(self.clock, end=end, latest=latest)
        self._fit(self.steps, MANY_EPOCHS, watch)
        return watch

    def _fit(self, steps, epochs, watch):
        x, y = self._samples(slice(steps * self.batch_size))
        self.model.fit(
            x,
            y,
            batch_size=self.batch_size,
            epochs=epochs,
            callbacks=[watch],
            verbose=0,
        )


def _in_a_box(fits: _Fits, seconds: float) -> tuple[float, list[float], list[str]]:
    """Time epochs in so many seconds: the first one, the others, and notes on them."""
    began = fits.clock()
    # A few steps twice: what the first time takes longer is compiling.
    pilot_steps = min(PILOT, max(fits.full_steps, 1))
    compiling_pilot, pilot = fits.run(pilot_steps, 2)
    compiling = max(compiling_pilot - pilot, 0)
    expected_epoch = pilot / pilot_steps * fits.steps
    # A third of the box is for timing, however long compiling took.
    compiled = fits.clock()
    end = max(began + seconds, compiled + seconds / 3)
    expected_end = fits.clock() + expected_epoch
    if expected_end < end:
        fits.compile_for_the_rest()

    latest = end + max(seconds, 1.0)
    watch = fits.run_until(end, latest)
    samples = watch.epochs
    notes = []
    if len(samples) < FEW_SAMPLES:
        epochs_of_stretches = _from_stretches(watch, fits.steps)
        if epochs_of_stretches:
            samples = epochs_of_stretches
        steps_timed = sum(marks[-1].steps_done for marks in watch.marks if marks)
        notes.append(
            f"{steps_timed:,} steps were timed, in stretches, where an epoch has {fits.steps:,}. "
            "What an epoch begins with was timed apart, and is not multiplied."
        )
    if not samples:
        samples = [expected_epoch]
        notes = [
            f"The time was up: {pilot_steps} of {fits.steps:,} steps were timed, and multiplied."
        ]

    # The first epoch has all its steps, too.
    first_epoch = compiling + statistics.median(samples)
    count = len(samples)
    plural = "" if count == 1 else "s"
    notes.append(f"{count} sample{plural} fitted into {seconds:.3g} s.")
    return first_epoch, samples, notes


def _from_stretches(watch, steps: int) -> list[float]:
    """Return the seconds of epochs of so many steps, one from each stretch that a watch has seen.

    A stretch is a run of steps within an epoch, between two marks. Empty where there is none.
    """
    # The first step of each epoch is left out: what the epoch begins with lies before its end.
    timed_steps = 0
    for marks in watch.marks:
        if marks:
            timed_steps += marks[-1].steps_done - marks[0].steps_done
    length = max(timed_steps // STRETCHES, 1)
    step_seconds = []
    for marks in watch.marks:
        for start, end in _stretches(marks, length):
            elapsed = end.reported_at - start.reported_at
            steps_between = end.steps_done - start.steps_done
            step_seconds.append(elapsed / steps_between)
    if not step_seconds:
        return []
    median_step = statistics.median(step_seconds)
    fixed = _outside_the_steps(watch, median_step)
    return [fixed + steps * step for step in step_seconds]


def _outside_the_steps(watch, step: float) -> float:
    """Return the seconds of an epoch that are not its steps, each of which takes `step` seconds.

    That is what it begins with and what it ends with; never less than 0 for the beginning.
    """
    before_steps = []
    after_steps = []
    for ticks, marks in zip(watch.ticks, watch.marks, strict=True):
        if not marks:
            continue
        first_mark = marks[0]
        elapsed = first_mark.reported_at - ticks[0]
        before_steps.append(elapsed - step * first_mark.steps_done)
        # An epoch that was cut off has no end.
        if len(ticks) > 1:
            last_mark = marks[-1]
            after_steps.append(ticks[-1] - last_mark.reported_at)
    fixed = max(statistics.median(before_steps), 0.0)
    if after_steps:
        fixed += statistics.median(after_steps)
    return fixed


def _stretches(marks, length: int):
    """Yield pairs of marks at least so many steps apart, one beginning where one ends."""
    start = None
    for mark in marks:
        if start is None:
            start = mark
            continue
        steps = mark.steps_done - start.steps_done
        elapsed = mark.reported_at - start.reported_at
        if steps >= length and elapsed > 0:
            yield start, mark
            start = mark
