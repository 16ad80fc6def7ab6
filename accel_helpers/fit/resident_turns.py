"""The turns of a training by `fit_resident`, whose data lie on the device."""

from functools import partial
from math import ceil, log2

from accel_helpers.fit.clock import Timed
from accel_helpers.fit.resident import fit_resident
from accel_helpers.fit.training import ARRAYS, Training
from accel_helpers.fit.watch import EpochMarks, epoch_watch
from accel_helpers.machine.quiet import held_back

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

    def _short_epoch(self, steps: int) -> int:
        # each length of an epoch compiles, so there are few of them
        return super()._short_epoch(2 ** ceil(log2(steps)))

    def _fit(self, steps, epochs, warm_steps, is_enough=None) -> list[EpochMarks]:
        """Train by `fit_resident`; parts of epochs once more: the first one may compile."""
        import keras

        watch = epoch_watch(self._clock)
        watch.set_model(self.model)
        # what would act within an epoch is refused
        between_epochs = keras.callbacks.LambdaCallback(
            on_epoch_begin=watch.on_epoch_begin,
            on_epoch_end=watch.on_epoch_end,
            on_train_end=watch.on_train_end,
        )
        before = 1 if steps else 0
        arguments = self.training.shortened(steps)
        arguments |= {"epochs": before + epochs, "verbose": 0, "seed": 0}
        with self.training.on_its_device(), held_back():
            self.model.fit(**arguments, callbacks=[between_epochs])
        return watch.epochs[before:]
