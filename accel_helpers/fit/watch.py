"""Callbacks that note when the parts of an epoch begin and end, and that end a training in time."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from accel_helpers.machine import backend

# the methods of a callback that fit calls between the begin and the end of a training
HOOKS = (
    "on_train_batch_begin",
    "on_train_batch_end",
    "on_batch_begin",
    "on_batch_end",
    "on_epoch_begin",
    "on_epoch_end",
)
NOT_YET = math.nan  # the time of what has not happened


@dataclass
class EpochMarks:
    """Times of one epoch, in seconds of a clock."""

    began: float
    last_step: int = 0  # the number of the last step that began, from 0
    # the step from which on it is timed, and when it began: then the device had caught up
    warm_step: int = 0
    warm: float = NOT_YET
    # when the last step of the epoch began, if it was another one; the device had caught up again
    last_began: float = NOT_YET
    steps_over: float = NOT_YET  # when the device was done with the last step
    validation_began: float = NOT_YET
    validation_steps: int = 0
    validation_over: float = NOT_YET
    over: float = NOT_YET  # after all callbacks
    was_cut: bool = False  # before its last step

    @property
    def is_warm(self) -> bool:
        """Whether a step was reached that is timed."""
        return not math.isnan(self.warm)

    @property
    def is_paced(self) -> bool:
        """Whether the pace is taken to the beginning of the last step, and not to its end."""
        return not math.isnan(self.last_began)

    @property
    def validation(self) -> float:
        """Seconds of the validation; 0 where there was none."""
        seconds = self.validation_over - self.validation_began
        return 0.0 if math.isnan(seconds) else seconds

    def pace(self, steps: int) -> float:
        """Return the seconds of a step in an epoch of so many.

        It is taken to the beginning of the last one: behind that fit may prepare the validation.
        """
        if self.is_paced:
            return (self.last_began - self.warm) / (self.last_step - self.warm_step)
        if self.is_warm:
            return (self.steps_over - self.warm) / (steps - self.warm_step)
        return (self.steps_over - self.began) / steps


def epoch_watch(
    clock: Callable[[], float],
    warm_steps: int = 0,
    last_step: int = 0,
    is_enough: Callable[[EpochMarks, float], bool] | None = None,
):
    """Return a Keras callback, the first one of a training, whose `epochs` are `EpochMarks`.

    It waits for the device before the step that comes after `warm_steps`, before the one with the
    number `last_step`, and after the last one. The training ends when `is_enough`, which is asked
    before each step with the marks of the epoch and the time. A callback that ends an epoch before
    its last step gets a ValueError: no epoch is there to time.
    """
    import keras

    # Made here, since a Keras callback is a class of Keras's, which is loaded now.
    watch_class = type("EpochWatch", (EpochWatch, keras.callbacks.Callback), {})
    return watch_class(clock, warm_steps, last_step, is_enough)


class EpochWatch:
    """Notes the times of each epoch, before any other callback does something."""

    model: Any  # Keras sets it

    def __init__(self, clock, warm_steps, last_step, is_enough):
        super().__init__()
        self.epochs: list[EpochMarks] = []
        self._clock = clock
        self._warm_steps = warm_steps
        self._last_step = last_step
        self._is_enough = is_enough

    def on_epoch_begin(self, epoch, logs=None):
        now = self._clock()
        self._end_epoch(now)
        self.epochs.append(EpochMarks(now))

    # not at the end of a batch: fit would wait for its logs, and no longer run ahead
    def on_train_batch_begin(self, batch, logs=None):
        marks = self.epochs[-1]
        if not marks.is_warm and batch >= self._warm_steps:
            backend.wait(self.model)
            marks.warm_step = batch
            marks.warm = self._clock()
        elif marks.is_warm and batch == self._last_step:
            backend.wait(self.model)
            marks.last_began = self._clock()
        marks.last_step = batch
        if self._is_enough is not None and self._is_enough(marks, self._clock()):
            marks.was_cut = True
            self.model.stop_training = True

    def on_test_begin(self, logs=None):
        self._end_steps()
        self.epochs[-1].validation_began = self._clock()

    def on_test_batch_begin(self, batch, logs=None):
        self.epochs[-1].validation_steps = batch + 1

    def on_test_end(self, logs=None):
        self.epochs[-1].validation_over = self._clock()

    def on_epoch_end(self, epoch, logs=None):
        self._end_steps()

    def on_train_end(self, logs=None):
        self._end_epoch(self._clock())
        backend.look_for_idle()

    def _end_steps(self):
        marks = self.epochs[-1]
        if math.isnan(marks.steps_over):
            if self.model.stop_training and not marks.was_cut:
                raise ValueError(
                    f"A callback ended the epoch at step {marks.last_step + 1}, as TerminateOnNaN "
                    "does where the loss is NaN. Mend that first, or leave the callback out."
                )
            backend.wait(self.model)
            marks.steps_over = self._clock()

    def _end_epoch(self, now):
        if self.epochs and math.isnan(self.epochs[-1].over):
            self.epochs[-1].over = now


def goes_on(watch):
    """Return a Keras callback, the last one of a training, that another one does not end.

    EarlyStopping would; the training ends where its `watch` has cut it.
    """
    import keras

    def go_on(epoch, logs):
        watch.model.stop_training = watch.epochs[-1].was_cut

    return keras.callbacks.LambdaCallback(on_epoch_end=go_on)


def timed_callbacks(callbacks: list, clock: Callable[[], float]) -> dict[str, list[float]]:
    """Time the methods of callbacks from now on: {"ModelCheckpoint": [0.0], …}, in seconds.

    Each list holds one number, the sum so far. Two callbacks of one class share it.
    """
    seconds: dict[str, list[float]] = {}
    for callback in callbacks:
        total = seconds.setdefault(type(callback).__name__, [0.0])
        for name in HOOKS:
            method = getattr(callback, name)
            # fit skips the methods that Keras itself defines, which do nothing
            if not getattr(method, "_is_default", False):
                setattr(callback, name, _timed(method, total, clock))
    return seconds


def _timed(method: Callable, total: list[float], clock: Callable[[], float]) -> Callable:
    """Return a function that calls a method and adds the seconds to a total."""

    def timed(*arguments, **named):
        started = clock()
        try:
            return method(*arguments, **named)
        finally:
            total[0] += clock() - started

    return timed
