"""A Keras callback that times epochs until the device is done with them."""

import time
from collections.abc import Callable
from typing import Any, NamedTuple

from accel_helpers.machine import backend

FEWEST_MARKS = 6  # ends of steps, before a box that is full ends the training


class Mark(NamedTuple):
    """How many steps of an epoch were done, and when fit reported so."""

    steps: int
    reported: float


def stopwatch(
    clock: Callable[[], float] = time.perf_counter,
    steps: bool = False,
    end: float | None = None,
    latest: float | None = None,
):
    """Make a callback that times every epoch until the device is done, in its list `epochs`.

    For each epoch, `ticks` holds the times of its beginning and of its end, and with `steps` that
    of the end of each step, too. The device is waited for at each end.

    With an `end`, a time of the clock, the callback stops the training then, even within an epoch;
    such an epoch has no end among its ticks. It waits until there are a few `marks`, a list of
    `Mark` for each epoch, or until the `latest` time has come.
    """
    import keras

    def callback(watch_class):
        # Made here, since a Keras callback is a class of Keras's, which is loaded now.
        return type(watch_class.__name__, (watch_class, keras.callbacks.Callback), {})

    if steps:
        return callback(StepWatch)(clock)
    if end is not None:
        return callback(BoxWatch)(clock, end, latest)
    return callback(EpochWatch)(clock)


class EpochWatch:
    """Times whole epochs."""

    # Lets fit run ahead as it would without a stopwatch.
    async_safe = True
    # Keras's callback has it.
    model: Any

    def __init__(self, clock):
        super().__init__()
        self.clock = clock
        self.ticks = []
        self.marks = []

    @property
    def epochs(self):
        """The seconds of every epoch that was not cut off."""
        return [ticks[-1] - ticks[0] for ticks in self.ticks if len(ticks) > 1]

    def on_epoch_begin(self, epoch, logs=None):
        self.ticks.append([self.clock()])
        self.marks.append([])

    def on_epoch_end(self, epoch, logs=None):
        backend.wait(self.model)
        self.ticks[-1].append(self.clock())

    def on_train_end(self, logs=None):
        backend.look_for_idle()


class StepWatch(EpochWatch):
    """Waits for every step and notes its end, too."""

    async_safe = False

    def on_train_batch_end(self, batch, logs=None):
        backend.wait(self.model)
        self.ticks[-1].append(self.clock())


class BoxWatch(EpochWatch):
    """Ends the training at a time of the clock."""

    def __init__(self, clock, end, latest):
        super().__init__(clock)
        self.end = end
        self.latest = latest

    def on_train_batch_begin(self, batch, logs=None):
        # Not at the end of a batch: fit may call that from another thread, and on JAX a training
        # that is stopped from there has lost what its metrics stand in.
        marks_so_far = sum(len(marks) for marks in self.marks)
        limit = self.latest
        if marks_so_far >= FEWEST_MARKS:
            limit = self.end
        if self.clock() > limit:
            self.model.stop_training = True

    def on_train_batch_end(self, batch, logs=None):
        mark = Mark(batch + 1, self.clock())
        self.marks[-1].append(mark)

    def on_epoch_end(self, epoch, logs=None):
        backend.wait(self.model)
        self.marks[-1] = _in_order(self.marks[-1])
        was_cut_off = self.model.stop_training
        if not was_cut_off:
            self.ticks[-1].append(self.clock())


def _in_order(marks: list[Mark]) -> list[Mark]:
    """Marks by their steps, none of them reported later than the one that follows.

    Fit may report from several threads, one of which overtakes another. But when a step is done,
    all steps before it are.
    """
    ordered = []
    earliest = float("inf")
    for mark in sorted(marks, reverse=True):
        earliest = min(earliest, mark.reported)
        ordered.append(Mark(mark.steps, earliest))
    ordered.reverse()
    return ordered
