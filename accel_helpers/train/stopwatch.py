"""A Keras callback that times epochs until the device is done with them."""

import time
from collections.abc import Callable
from typing import Any

from accel_helpers.machine import backend

# A training is not ended at its time before fit has reported the end of so many steps.
FEWEST_MARKS = 6


def stopwatch(
    clock: Callable[[], float] = time.perf_counter,
    steps: bool = False,
    end: float | None = None,
    latest: float | None = None,
):
    """Return a Keras callback that times every epoch of a ``fit``, waiting for the device.

    Parameters
    ----------
    clock : callable, optional
        What returns the time in seconds.
    steps : bool, optional
        Time every step, too, and wait for the device after each.
    end : float, optional
        A time of the clock at which the training is ended, also within an epoch; not with `steps`.
    latest : float, optional
        A time of the clock, needed with `end` and not before it. From `end` to `latest` the
        training goes on as long as ``fit`` has not reported six steps.

    Returns
    -------
    EpochWatch, StepWatch or BoxWatch
        As a Keras callback. Its `epochs` are the seconds of every epoch that was not cut off.
    """
    import keras

    def callback(watch_class: type):
        # The class is made here, since its base is a class of Keras's, which is loaded only now.
        return type(watch_class.__name__, (watch_class, keras.callbacks.Callback), {})

    if steps:
        return callback(StepWatch)(clock)
    if end is not None:
        return callback(BoxWatch)(clock, end, latest)
    return callback(EpochWatch)(clock)


class EpochWatch:
    """Times whole epochs.

    Ticks are times of the clock for which the device was waited: for each epoch a list that begins
    with its beginning and ends with its end. An epoch that was cut off has no end. Marks are, for
    each epoch, a list of (steps done, time) as ``fit`` reports them, without waiting; only a
    `BoxWatch` has any.
    """

    # Keras reads this: with True, fit runs ahead as it would without a stopwatch.
    async_safe = True
    # Keras sets it before the training begins.
    model: Any

    def __init__(self, clock: Callable[[], float]):
        super().__init__()
        self.clock = clock
        self.ticks: list[list[float]] = []
        self.marks: list[list[tuple[int, float]]] = []

    @property
    def epochs(self) -> list[float]:
        """The seconds of every epoch that was not cut off."""
        return [ticks[-1] - ticks[0] for ticks in self.ticks if len(ticks) > 1]

    def on_epoch_begin(self, epoch: int, logs: dict | None = None) -> None:
        self.ticks.append([self.clock()])
        self.marks.append([])

    def on_epoch_end(self, epoch: int, logs: dict | None = None) -> None:
        backend.wait(self.model)
        self.ticks[-1].append(self.clock())

    def on_train_end(self, logs: dict | None = None) -> None:
        # It prints a warning if there is an accelerator that Keras did not use.
        backend.look_for_idle()


class StepWatch(EpochWatch):
    """Times every step as well: the ticks of an epoch have the end of each, waited for."""

    async_safe = False

    def on_train_batch_end(self, batch: int, logs: dict | None = None) -> None:
        backend.wait(self.model)
        self.ticks[-1].append(self.clock())


class BoxWatch(EpochWatch):
    """Times whole epochs, and ends the training at a time of the clock, also within an epoch.

    With fewer than `FEWEST_MARKS` marks at that time, it waits for more, until a latest time.
    """

    def __init__(self, clock: Callable[[], float], end: float, latest: float):
        super().__init__(clock)
        self.end = end
        self.latest = latest

    def on_train_batch_begin(self, batch: int, logs: dict | None = None) -> None:
        """End the training if it is time."""
        # Not at the end of a batch: fit may call that from another thread, and on JAX a training
        # that is stopped from there has lost what its metrics stand in.
        marks_so_far = sum(len(marks) for marks in self.marks)
        limit = self.end if marks_so_far >= FEWEST_MARKS else self.latest
        if self.clock() > limit:
            self.model.stop_training = True

    def on_train_batch_end(self, batch: int, logs: dict | None = None) -> None:
        # Keras counts the batches of an epoch from 0.
        self.marks[-1].append((batch + 1, self.clock()))

    def on_epoch_end(self, epoch: int, logs: dict | None = None) -> None:
        """Sort the marks of the epoch, and note its end unless it was cut off."""
        backend.wait(self.model)
        self.marks[-1] = _in_order(self.marks[-1])
        was_cut_off = self.model.stop_training
        if not was_cut_off:
            self.ticks[-1].append(self.clock())


def _in_order(marks: list[tuple[int, float]]) -> list[tuple[int, float]]:
    """Return marks sorted by steps, each time lowered to the earliest of those that follow it.

    [(2, 4.0), (1, 5.0)] -> [(1, 4.0), (2, 4.0)]: ``fit`` may report from several threads, one of
    which overtakes another; but when a step is done, all steps before it are done as well.
    """
    ordered_marks = []
    earliest = float("inf")
    for steps_done, reported_at in sorted(marks, reverse=True):
        earliest = min(earliest, reported_at)
        ordered_marks.append((steps_done, earliest))
    ordered_marks.reverse()
    return ordered_marks
