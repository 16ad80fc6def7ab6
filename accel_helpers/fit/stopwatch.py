"""A Keras callback that times epochs until the device is done with them."""

import time
from collections.abc import Callable
from typing import Any, NamedTuple

from accel_helpers.machine import backend

FEWEST_MARKS = 6  # ends of steps, before a box that is full ends the training


class Mark(NamedTuple):
    """How many steps of an epoch were done, and at which time of the clock fit reported it."""

    steps_done: int
    reported_at: float


def stopwatch(
    clock: Callable[[], float] = time.perf_counter,
    end: float | None = None,
    latest: float | None = None,
):
    """Return a Keras callback that times every epoch until the device is done with it.

    Its list `epochs` has the seconds of every epoch. Its list `ticks` has for each epoch the time
    at its beginning and at its end.

    With an `end`, a time of the `clock`, the callback also ends the training at that time, within
    an epoch, too; an epoch that was cut off has no end in `ticks`. It first waits for a few steps
    to be reported, but not beyond the time `latest`. Its list `marks` has for each epoch a list of
    `Mark`, one for each step that fit reported.
    """
    import keras

    def callback(watch_class):
        # Made here, since a Keras callback is a class of Keras's, which is loaded now.
        return type(watch_class.__name__, (watch_class, keras.callbacks.Callback), {})

    if end is not None:
        return callback(BoxWatch)(clock, end, latest)
    return callback(EpochWatch)(clock)


class EpochWatch:
    """Times whole epochs: a tick is a time of the clock, and each epoch has a list of them."""

    # Lets fit run ahead as it would without a stopwatch.
    async_safe = True
    # Keras's callback has it.
    model: Any

    def __init__(self, clock: Callable[[], float]):
        super().__init__()
        self.clock = clock
        self.ticks: list[list[float]] = []
        # by epoch, as fit reported them
        self.marks: list[list[Mark]] = []

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


class BoxWatch(EpochWatch):
    """Ends the training at a time of the clock."""

    def __init__(self, clock: Callable[[], float], end: float, latest: float):
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
    """Sort marks by steps done, and lower each time to the earliest of those that follow it.

    Fit may report from several threads, and one report may overtake another. But when a step is
    done, all steps before it are done, too: [(1, 5.0), (2, 4.0)] -> [(1, 4.0), (2, 4.0)].
    """
    ordered = []
    earliest = float("inf")
    # from the last step back to the first
    for mark in sorted(marks, reverse=True):
        earliest = min(earliest, mark.reported_at)
        ordered.append(Mark(mark.steps_done, earliest))
    ordered.reverse()
    return ordered
