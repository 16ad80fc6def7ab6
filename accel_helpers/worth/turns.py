"""Turns at training variants of a model: each is timed for a moment, one after the other."""

import time
from dataclasses import dataclass
from math import ceil

from accel_helpers.machine import backend
from accel_helpers.machine.quiet import held_back, without_remarks
from accel_helpers.train import device_memory
from accel_helpers.train.resident import fit_resident
from accel_helpers.train.stopwatch import stopwatch
from accel_helpers.worth.fresh_models import FreshModels
from accel_helpers.worth.training_data import TrainingData

FIT = "fit"
RESIDENT = "resident"  # by `fit_resident`
NOTHING = "nothing"  # by ``fit``, a model that computes nothing

LONGEST_TURN = 8  # times the samples of a turn of the first variant
PILOT_GROUPS = 64  # groups of steps that are at hand while it is unknown how long a step takes
MANY_EPOCHS = 10**6  # a callback ends them


@dataclass(frozen=True)
class Variant:
    """One way to train a model."""

    device: str
    batch_size: int
    steps_per_execution: int
    jit_compile: bool
    method: str = FIT  # or RESIDENT or NOTHING


class Turns:
    """Train variants of a model in turns, each on a fresh model that is thrown away afterwards.

    `turn_seconds` is about how long a turn is to take.
    """

    def __init__(self, models: FreshModels, data: TrainingData, turn_seconds: float):
        self.data = data
        self._models = models
        self._turn_seconds = turn_seconds
        # of a turn; the first variant sets it, so that a fast one does not read all data
        self._most_samples = 0
        self._trainings: dict[Variant, FitTraining | ResidentTraining] = {}

    def __call__(self, variant: Variant) -> float:
        """Take a turn, and return the seconds of an epoch; the first turn also compiles."""
        if variant in self._trainings:
            return self._trainings[variant].seconds_per_epoch()
        training: FitTraining | ResidentTraining
        if variant.method == RESIDENT:
            training = self._resident(variant)
            epoch = training.seconds_per_epoch()
        else:
            training = self._fit(variant)
            epoch = training.seconds_per_epoch()
            # planned again: the steps while it was compiled may have been slower than these
            step = epoch / self.data.steps(variant.batch_size)
            training.plan(step, self._most_steps(variant))
        self._trainings[variant] = training
        return epoch

    def forget(self, variant: Variant) -> None:
        """Throw the model of a variant away, if there is one: its memory is free again."""
        self._trainings.pop(variant, None)

    def _fit(self, variant: Variant) -> "FitTraining":
        """Return a training by ``fit``, compiled and planned."""
        if variant.method == NOTHING:
            with backend.on(variant.device):
                model = idle_model()
        else:
            model = self._models.on(variant.device)
        training = FitTraining(model, self.data, variant, self._turn_seconds)
        step = training.compile()
        if not self._most_samples:
            steps = _steps_in(self._turn_seconds, step)
            self._most_samples = LONGEST_TURN * steps * variant.batch_size
        training.plan(step, self._most_steps(variant))
        return training

    def _resident(self, variant: Variant) -> "ResidentTraining":
        """Return a training by `fit_resident`, with its data on the device."""
        model = self._models.on(variant.device)
        most_steps = self._most_steps(variant)
        return ResidentTraining(model, self.data, variant, most_steps, self._turn_seconds)

    def _most_steps(self, variant: Variant) -> int:
        """Return how many steps a turn has at most."""
        return self._most_samples // variant.batch_size


def _steps_in(seconds: float, step: float) -> int:
    """Return how many steps, each of so many seconds, take about so long; at least one."""
    return max(1, round(seconds / step))


class FitTraining:
    """A model that ``fit`` trains for a few steps in every turn."""

    def __init__(self, model, data: TrainingData, variant: Variant, turn_seconds: float):
        if variant.method == FIT:
            model.jit_compile = variant.jit_compile
            # Keras leaves it off, with a warning, where it knows that XLA cannot compile a layer
            if bool(model.jit_compile) != variant.jit_compile:
                raise ValueError("Keras says that XLA cannot compile this model")
        model.steps_per_execution = variant.steps_per_execution
        self._model = model
        self._data = data
        self._variant = variant
        self._turn_seconds = turn_seconds
        # until it is known how long a step takes
        self._warmup_steps = variant.steps_per_execution
        self._timed_steps = 1

    def compile(self) -> float:
        """Train for the first time, for the length of a turn; return the seconds of a step."""
        spare_steps = PILOT_GROUPS * self._variant.steps_per_execution
        return self._fit(spare_steps, min_seconds=self._turn_seconds)

    def plan(self, step: float, most_steps: int) -> None:
        """Set how many steps a turn has, where each takes so many seconds."""
        epoch_steps = self._data.steps(self._variant.batch_size)
        steps = _steps_in(self._turn_seconds, step)
        steps = max(1, min(steps, most_steps))
        # meanwhile the pipeline starts, and fit is slower
        self._warmup_steps = max(self._variant.steps_per_execution, steps // 2)
        if 2 * steps > epoch_steps:
            # whole epochs, with what Keras does between them
            steps = epoch_steps * ceil(steps / epoch_steps)
        self._timed_steps = steps

    def seconds_per_epoch(self) -> float:
        """Take a turn, and return what an epoch takes at that pace."""
        spare_steps = 2 * self._variant.steps_per_execution
        step = self._fit(spare_steps)
        return step * self._data.steps(self._variant.batch_size)

    def _fit(self, spare_steps: int, min_seconds: float = 0.0) -> float:
        """Return the seconds of a step in ``fit``, without the steps of the warm-up."""
        # fit reads some steps ahead of the one that ends the training
        most_steps = self._warmup_steps + self._timed_steps + spare_steps
        arguments, epoch_steps = self._data.for_fit(self._variant.batch_size, most_steps)
        watch = _step_watch(epoch_steps, self._warmup_steps, self._timed_steps, min_seconds)
        with backend.on(self._variant.device), held_back(), without_remarks():
            self._model.fit(**arguments, epochs=MANY_EPOCHS, verbose=0, callbacks=[watch])
        first_step, started = watch.ticks[0]
        last_step, ended = watch.ticks[1]
        return (ended - started) / (last_step - first_step)


def _step_watch(epoch_steps: int, warmup_steps: int, timed_steps: int, min_seconds: float):
    """Return a callback that times steps after a warm-up, and then ends the training.

    Its `ticks` are two pairs: the number of a step, and the time at which it began.
    """
    import keras

    class StepWatch(keras.callbacks.Callback):
        def __init__(self):
            super().__init__()
            self.ticks = []
            self.steps_before_this_epoch = 0

        def on_epoch_begin(self, epoch, logs=None):
            self.steps_before_this_epoch = epoch * epoch_steps

        # not at the end of a batch: fit would wait for its logs, and no longer run ahead
        def on_train_batch_begin(self, batch, logs=None):
            step = self.steps_before_this_epoch + batch
            if not self._is_due(step):
                return
            backend.wait(self.model)
            self.ticks.append((step, time.perf_counter()))
            # the first tick starts the clock, the second stops it
            self.model.stop_training = len(self.ticks) > 1

        def _is_due(self, step):
            if not self.ticks:
                return step >= warmup_steps
            first_step, started = self.ticks[0]
            enough_steps = step >= first_step + timed_steps
            enough_time = time.perf_counter() >= started + min_seconds
            return enough_steps and enough_time

    return StepWatch()


class ResidentTraining:
    """A model that `fit_resident` trains on the first steps of the data, as far as there is room.

    `most_steps` is the longest turn that ``fit`` would have.
    """

    def __init__(self, model, data: TrainingData, variant: Variant, most_steps, turn_seconds):
        needed = device_memory.memory_needed(data.x, data.y)
        device_memory.check_room(needed, variant.device)
        # the longer a step, the fewer: XLA's convolutions in a loop take 20 times as long
        usual_steps = most_steps // LONGEST_TURN
        steps = min(4 * usual_steps, int(1e-3 * (usual_steps / turn_seconds) ** 2))
        self._epoch_steps = data.steps(variant.batch_size)
        self._steps = min(self._epoch_steps, max(2, steps))
        arrays = data.first_steps(self._steps, variant.batch_size)
        arrays = device_memory.as_arrays(arrays, "x and y")
        self._tensors = device_memory.as_tensors(arrays, variant.device)
        self._batch_size = variant.batch_size
        self._model = model

    def seconds_per_epoch(self) -> float:
        """Take a turn, and return what an epoch takes at that pace."""
        x, y = self._tensors
        watch = stopwatch()
        with held_back(), without_remarks():
            fit_resident(
                self._model,
                x,
                y,
                batch_size=self._batch_size,
                epochs=2,
                callbacks=[watch],
                verbose=0,
                seed=0,
            )
        # the first epoch may have compiled
        return watch.epochs[1] * self._epoch_steps / self._steps


def idle_model():
    """Return a model that computes nothing: no chip takes over what is left of its ``fit``."""
    import keras

    class Idle(keras.Model):
        def call(self, x):
            return x

        def train_step(self, *arguments):
            logs = {"loss": keras.ops.zeros(())}
            if backend.framework() == "jax":
                # there a step is handed the state, which it returns, and the data
                state = arguments[0]
                return logs, state
            return logs

    model = Idle()
    # it has no weights to build, and fit asks
    model.built = True
    model.compile("sgd")
    return model
