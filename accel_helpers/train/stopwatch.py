"""A Keras callback that times epochs until the device is done with them."""

import time
from collections.abc import Callable

from accel_helpers.machine import backend

FEWEST_MARKS = 6  # ends of steps, before a box that is full ends the training


def stopwatch(
    clock: Callable[[], float] = time.perf_counter,
    steps: bool = False,
    end: float | None = None,
    latest: float | None = None,
):
    """Make a callback that times every epoch until the device is done, in its list `epochs`.

    For each epoch `ticks` has the time at its beginning, at the end of each step if these are asked
    for, and at its end. Each end is waited for.

    With an `end`, a time of the clock, it ends the training then, within an epoch, too, which then
    has no end among its ticks; but not before it has a few `marks`, or the `latest` time has come.
    These are, for each epoch, (steps done, time) as fit reports them.
    """
    watch_class = _watch_class()
    if steps:
        return _with_steps(watch_class)(clock)
    if end is not None:
        return _with_an_end(watch_class)(clock, end, latest)
    return watch_class(clock)


def _watch_class():
    """Give the class of a callback that times whole epochs; it exists once Keras is there."""
    import keras

    class Stopwatch(keras.callbacks.Callback):
        # Lets fit run ahead as it would without a stopwatch.
        async_safe = True

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

    return Stopwatch


def _with_steps(watch_class):
    """Give a class that waits for every step and notes its end, too."""

    class StepStopwatch(watch_class):  # type: ignore[valid-type, misc]
        async_safe = False

        def on_train_batch_end(self, batch, logs=None):
            backend.wait(self.model)
            self.ticks[-1].append(self.clock())

    return StepStopwatch


def _with_an_end(watch_class):
    """Give a class that ends the training at a time of the clock."""

    class BoxedStopwatch(watch_class):  # type: ignore[valid-type, misc]
        def __init__(self, clock, end, latest):
            super().__init__(clock)
            self.end = end
            self.latest = latest

        def on_train_batch_begin(self, batch, logs=None):
            # Not at the end of a batch: fit may call that from another thread, and on JAX a
            # training that is stopped from there has lost what its metrics stand in.
            marks_so_far = sum(len(marks) for marks in self.marks)
            limit = self.end if marks_so_far >= FEWEST_MARKS else self.latest
            if self.clock() > limit:
                self.model.stop_training = True

        def on_train_batch_end(self, batch, logs=None):
            self.marks[-1].append((batch + 1, self.clock()))

        def on_epoch_end(self, epoch, logs=None):
            backend.wait(self.model)
            self.marks[-1] = _in_order(self.marks[-1])
            was_cut_off = self.model.stop_training
            if not was_cut_off:
                self.ticks[-1].append(self.clock())

    return BoxedStopwatch


def _in_order(marks: list[tuple[int, float]]) -> list[tuple[int, float]]:
    """Give marks by their steps, none of them later than the one that follows.

    Fit may report from several threads, one overtaking another; but where a step is done, all
    steps before it are.
    """
    ordered = []
    earliest = float("inf")
    for steps_done, reported in sorted(marks, reverse=True):
        earliest = min(earliest, reported)
        ordered.append((steps_done, earliest))
    ordered.reverse()
    return ordered
