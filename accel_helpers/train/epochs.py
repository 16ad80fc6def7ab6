"""How long the epochs of ``fit`` take, whole or in parts, within a time box."""

import math
import statistics
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

from accel_helpers._values.records import whole
from accel_helpers.machine import backend
from accel_helpers.measure import results
from accel_helpers.measure.measurement import FEW_SAMPLES, Measurement

BATCH_SIZE = 32
PILOT_STEPS = 2  # trained before anything else, once to compile and once to see how long they take
FEWEST_MARKS = 6  # ends of steps to be seen before the end of a box may stop the training
STRETCHES = 10  # into which the steps are cut where too few whole epochs fit into a box
MANY_EPOCHS = 1000  # more than any box lets finish


@dataclass(frozen=True)
class FitTiming:
    """How long the epochs of ``fit`` took, and how many steps each has."""

    epochs: Measurement
    steps_per_epoch: int

    @property
    def step(self) -> Measurement:
        """Seconds per step: each epoch divided by its number of steps.

        This includes what an epoch does before its first step, so that in a short epoch a step
        seems longer than it is.
        """
        steps = self.steps_per_epoch
        note = f"Each sample is an epoch of {steps} steps, divided by {steps}."
        samples = [epoch / steps for epoch in self.epochs.samples]
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
    """Train with ``model.fit`` and time every epoch, the first one apart.

    Parameters
    ----------
    model : keras.Model
        Compiled.
    x, y : arrays
        As for ``fit``.
    batch_size : int, optional
        As for ``fit``.
    epochs : int, optional
        Two or more, since the first one also compiles.
    seconds : float, optional
        In place of `epochs`: train as many epochs as fit into this time. A third of it is kept for
        timing, however long compiling takes. Where five epochs do not fit, the last one is cut off
        and a step is timed over stretches of steps. An epoch is then the sum of all its steps and
        of what epochs begin and end with, which is timed apart; a note says so.
    clock : callable, optional
        Returns the time in seconds.
    name : str, optional
        What is measured.
    keep : str, optional
        The name under which the epochs go on the result card, such as "03/epoch/cpu".

    Returns
    -------
    FitTiming
        The epochs, and how many steps each has.

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
    trainer = _Trainer(model, x, y, batch_size, clock)
    notes = []
    if seconds is None:
        epochs = whole(epochs, "epochs", 2)
        first, *others = trainer.time_epochs(trainer.steps, epochs)
    else:
        first, others, notes = _time_in_box(trainer, seconds)
    measured = Measurement.from_samples(others, first_call=first, name=name, notes=notes)
    results.keep(keep, {keep: measured})
    return FitTiming(measured, trainer.steps)


class _Trainer:
    """Trains one model on all of its data or on the first steps of them, with a stopwatch."""

    def __init__(self, model, x, y, batch_size: int, clock: Callable[[], float]):
        self.model = model
        self.x = x
        self.y = y
        self.batch_size = batch_size
        self.clock = clock
        self.steps = math.ceil(len(x) / batch_size)
        self.full_steps = len(x) // batch_size

    def compile_last_batch(self) -> None:
        """Train on the last batch if it is not full: some frameworks compile its size anew."""
        if self.full_steps == self.steps:
            return
        rest = slice(self.full_steps * self.batch_size, None)
        self.model.fit(self.x[rest], self.y[rest], batch_size=self.batch_size, verbose=0)

    def time_epochs(self, steps: int, epochs: int) -> list[float]:
        """Train epochs of only so many steps, and return the seconds of each."""
        watch = stopwatch(self.clock)
        self._fit(steps, epochs, watch)
        return watch.epochs

    def time_until(self, end: float, latest: float):
        """Train whole epochs until the `end`, cut off the last one, and return the stopwatch."""
        watch = stopwatch(self.clock, end=end, latest=latest)
        self._fit(self.steps, MANY_EPOCHS, watch)
        return watch

    def _fit(self, steps: int, epochs: int, watch) -> None:
        part = slice(steps * self.batch_size)
        self.model.fit(
            self.x[part],
            self.y[part],
            batch_size=self.batch_size,
            epochs=epochs,
            callbacks=[watch],
            verbose=0,
        )


def _time_in_box(trainer: _Trainer, seconds: float) -> tuple[float, list[float], list[str]]:
    """Time epochs for so many seconds; return the first one, the others, and notes on them."""
    begin = trainer.clock()
    pilot_steps = min(PILOT_STEPS, max(trainer.full_steps, 1))
    pilot_compiling, pilot = trainer.time_epochs(pilot_steps, 2)
    compiling = max(pilot_compiling - pilot, 0)
    expected_epoch = pilot / pilot_steps * trainer.steps

    # A third of the box is for timing, however long compiling took.
    end = max(begin + seconds, trainer.clock() + seconds / 3)
    if trainer.clock() + expected_epoch < end:
        trainer.compile_last_batch()

    watch = trainer.time_until(end, latest=end + max(seconds, 1.0))
    samples = watch.epochs
    notes = []
    if len(samples) < FEW_SAMPLES:
        samples = _epochs_from_stretches(watch, trainer.steps) or samples
        steps_timed = sum(marks[-1].steps_done for marks in watch.marks if marks)
        notes.append(
            f"{steps_timed:,} steps were timed, in stretches, where an epoch has "
            f"{trainer.steps:,}. What an epoch begins with was timed apart, and is not multiplied."
        )
    if not samples:
        samples = [expected_epoch]
        notes = [
            f"The time was up: {pilot_steps} of {trainer.steps:,} steps were timed, and multiplied."
        ]

    # The pilot compiled, but the first epoch of a training has all its steps, too.
    first_epoch = compiling + statistics.median(samples)
    plural = "" if len(samples) == 1 else "s"
    notes.append(f"{len(samples)} sample{plural} fitted into {seconds:.3g} s.")
    return first_epoch, samples, notes


class Mark(NamedTuple):
    """A moment of an epoch at which this many of its steps were done."""

    steps_done: int
    time: float


def _epochs_from_stretches(watch, steps: int) -> list[float]:
    """Estimate epochs of so many steps, one from each stretch of steps that a watch has seen."""
    # The first step of each epoch is left out: its mark comes after what the epoch begins with.
    steps_timed = sum(marks[-1].steps_done - marks[0].steps_done for marks in watch.marks if marks)
    length = max(steps_timed // STRETCHES, 1)
    step_times = []
    for marks in watch.marks:
        for start, stop in _stretches(marks, length):
            step_times.append((stop.time - start.time) / (stop.steps_done - start.steps_done))
    if not step_times:
        return []
    fixed = _seconds_around_steps(watch, statistics.median(step_times))
    return [fixed + steps * step_time for step_time in step_times]


def _seconds_around_steps(watch, step_time: float) -> float:
    """What an epoch takes before its first step and after its last one, in seconds."""
    before_first = []
    after_last = []
    for ticks, marks in zip(watch.ticks, watch.marks, strict=True):
        if not marks:
            continue
        first = marks[0]
        before_first.append(first.time - ticks[0] - step_time * first.steps_done)
        epoch_was_finished = len(ticks) > 1
        if epoch_was_finished:
            after_last.append(ticks[-1] - marks[-1].time)

    seconds = max(statistics.median(before_first), 0.0)
    if after_last:
        seconds += statistics.median(after_last)
    return seconds


def _stretches(marks: list[Mark], length: int) -> Iterator[tuple[Mark, Mark]]:
    """Pairs of marks at least so many steps apart, each beginning where the one before ends."""
    start = None
    for mark in marks:
        if start is None:
            start = mark
            continue
        long_enough = mark.steps_done - start.steps_done >= length
        if long_enough and mark.time > start.time:
            yield start, mark
            start = mark


def _in_order(marks: list[Mark]) -> list[Mark]:
    """Sort marks by their steps, and let none be later than the one that follows it.

    Fit may report from several threads, one overtaking another. But where a step is done, all
    steps before it are.
    """
    ordered = []
    earliest = float("inf")
    for mark in sorted(marks, reverse=True):
        earliest = min(earliest, mark.time)
        ordered.append(Mark(mark.steps_done, earliest))
    ordered.reverse()
    return ordered


def stopwatch(clock: Callable[[], float] = time.perf_counter, steps=False, end=None, latest=None):
    """Make a Keras callback that times every epoch, in its list `epochs` of seconds.

    Parameters
    ----------
    clock : callable, optional
        Returns the time in seconds.
    steps : bool, optional
        Also time the end of every step, for which each is waited for.
    end : float, optional
        A time of the clock at which the training is ended, within an epoch, too.
    latest : float, optional
        Goes with `end`: until then the training goes on if it has only a few `marks`.

    Notes
    -----
    `ticks` has a list for each epoch: the time at its beginning, at the end of each step if these
    are asked for, and at its end. An epoch that was cut off has no end. `marks` has a list for each
    epoch, too: with an `end`, the `Mark` of each step as fit reports it, which is not waited for.
    """
    import keras

    behaviour = _EpochWatch
    if steps:
        behaviour = _StepWatch
    elif end is not None:
        behaviour = _BoxWatch

    callback_class = type("Stopwatch", (behaviour, keras.callbacks.Callback), {})
    return callback_class(clock, end, latest)


class _EpochWatch:
    """Notes when epochs begin and when the device is done with them."""

    # Lets fit run ahead of the device, as it would without a stopwatch.
    async_safe = True

    def __init__(self, clock: Callable[[], float], end: float | None, latest: float | None):
        super().__init__()
        self.clock = clock
        self.end = end
        self.latest = latest
        self.ticks: list[list[float]] = []
        self.marks: list[list[Mark]] = []

    def on_epoch_begin(self, epoch, logs=None):
        self.ticks.append([self.clock()])
        self.marks.append([])

    def on_epoch_end(self, epoch, logs=None):
        backend.wait(self.model)
        self.marks[-1] = _in_order(self.marks[-1])
        cut_off = self.end is not None and self.model.stop_training
        if not cut_off:
            self.ticks[-1].append(self.clock())

    def on_train_end(self, logs=None):
        backend.look_for_idle()

    @property
    def epochs(self) -> list[float]:
        """The seconds of each epoch that was not cut off."""
        return [ticks[-1] - ticks[0] for ticks in self.ticks if len(ticks) > 1]


class _StepWatch(_EpochWatch):
    """Also waits for every step, and notes when it is done."""

    async_safe = False

    def on_train_batch_end(self, batch, logs=None):
        backend.wait(self.model)
        self.ticks[-1].append(self.clock())


class _BoxWatch(_EpochWatch):
    """Also notes the steps that fit reports, and ends the training when its time is up."""

    def on_train_batch_end(self, batch, logs=None):
        self.marks[-1].append(Mark(batch + 1, self.clock()))

    def on_train_batch_begin(self, batch, logs=None):
        # Not at the end of a batch: fit may call that from another thread, and on JAX a training
        # that is stopped from there has lost what its metrics stand in.
        marks_so_far = sum(len(marks) for marks in self.marks)
        enough = marks_so_far >= FEWEST_MARKS
        end = self.end if enough else self.latest
        if self.clock() > end:
            self.model.stop_training = True
