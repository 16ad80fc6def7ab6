"""The turns of a training by `fit_resident`, whose data lie on the device."""

from functools import partial
from math import ceil, log2
from typing import Any

from accel_helpers.fit.clock import Timed
from accel_helpers.fit.resident import fit_resident
from accel_helpers.fit.training import ARRAYS, Training
from accel_helpers.fit.watch import EpochMarks, epoch_watch
from accel_helpers.machine.quiet import held_back

LONGER_TURNS = 5  # times as long as those of others
# arguments with which it can be timed: a part of an epoch, without validation
ARGUMENTS = {"x", "y", "batch_size", "epochs", "shuffle", "verbose"}


def why_not(training: Training) -> str:
    """Return why `fit_resident` cannot take this training; "" where it can."""
    if training.form != ARRAYS:
        return "it takes arrays"
    others = sorted(set(training.arguments) - ARGUMENTS)
    return f"it is not timed with {', '.join(others)}" if others else ""


def resident_training(training: Training) -> Training:
    """Return a training whose models are trained by `fit_resident` when ``fit`` is called."""

    def make_model():
        model = training.make_model()
        model.fit = partial(fit_resident, model)
        return model

    return training.with_model(make_model)


class TimedResident(Timed):
    """A training of `resident_training`, timed on the first steps of the data."""

    def __init__(self, training: Training, turn_seconds: float, **options: Any):
        # what an epoch begins with is not told from its steps, so it has to be a small part
        super().__init__(training, LONGER_TURNS * turn_seconds, **options)

    def _short_epoch(self, steps: int) -> int:
        # each length of an epoch compiles, so there are few of them
        return super()._short_epoch(2 ** ceil(log2(steps)))

    def _fit(self, steps, epochs, warm_steps, is_enough=None) -> list[EpochMarks]:
        """Train by `fit_resident`, an epoch more: the first one of each length compiles."""
        import keras

        watch = epoch_watch(self._clock)
        watch.set_model(self.model)
        # what would act within an epoch is refused
        between_epochs = keras.callbacks.LambdaCallback(
            on_epoch_begin=watch.on_epoch_begin,
            on_epoch_end=watch.on_epoch_end,
            on_train_end=watch.on_train_end,
        )
        arguments = self.training.shortened(steps)
        arguments |= {"epochs": 1 + epochs, "verbose": 0, "seed": 0}
        with self.training.on_its_device(), held_back():
            self.model.fit(**arguments, callbacks=[between_epochs])
        return watch.epochs[1:]
