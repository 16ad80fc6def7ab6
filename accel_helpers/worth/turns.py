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

# how a variant is trained
FIT = "fit"
RESIDENT = "resident"  # by `fit_resident`
NOTHING = "nothing"  # by ``fit``, but with a model that computes nothing

LONGEST_TURN = 8  # a turn has at most so many times the samples of a turn of the first variant
# a first turn, while it is unknown how long a step takes, has data for so many groups of steps
PILOT_GROUPS = 64
MANY_EPOCHS = 10**6  # of a fit that a callback ends


@dataclass(frozen=True)
class Variant:
    """One way to train a model."""

    device: str  # "cpu", "gpu" or "tpu"
    batch_size: int  # samples in a step
    steps_per_execution: int  # steps that Keras groups into one call of its program
    jit_compile: bool  # whether XLA compiles the step
    method: str = FIT  # or RESIDENT or NOTHING


class Turns:
    """Train variants of a model in turns, each variant on a model of its own.

    In a turn one variant trains for a moment, about `turn_seconds`, and is timed. Its model stays
    for the next turn of the variant, until `forget`. What a turn returns is the seconds of a whole
    epoch at the pace of that moment.
    """

    def __init__(self, models: FreshModels, data: TrainingData, turn_seconds: float):
        self.data = data
        self._models = models
        self._turn_seconds = turn_seconds
        # The most samples of a turn; 0 until the first variant sets it. Without it a variant that
        # is much faster than the first one would read all the data in every turn.
        self._most_samples = 0
        self._trainings: dict[Variant, FitTraining | ResidentTraining] = {}

    def __call__(self, variant: Variant) -> float:
        """Take a turn of a variant, and return the seconds of an epoch.

        The first turn of a variant also makes its model and compiles it, which is not timed. What
        Keras raises is raised, as is ValueError where XLA cannot compile the model; and MemoryError
        where the data of a RESIDENT variant do not fit into the computer's memory.
        """
        if variant in self._trainings:
            return self._trainings[variant].seconds_per_epoch()
        training: FitTraining | ResidentTraining
        if variant.method == RESIDENT:
            training = self._new_resident_training(variant)
            epoch = training.seconds_per_epoch()
        else:
            training = self._new_fit_training(variant)
            epoch = training.seconds_per_epoch()
            # planned again: the steps of the compilation may have been slower than those since
            seconds_per_step = epoch / self.data.steps(variant.batch_size)
            training.plan(seconds_per_step, self._most_steps(variant))
        self._trainings[variant] = training
        return epoch

    def forget(self, variant: Variant) -> None:
        """Throw the model of a variant away, which frees its memory; nothing if there is none."""
        self._trainings.pop(variant, None)

    def _new_fit_training(self, variant: Variant) -> "FitTraining":
        """Return a new training by ``fit``, compiled and planned.

        The first one also sets `_most_samples`, for all that come later.
        """
        if variant.method == NOTHING:
            with backend.on(variant.device):
                model = idle_model()
        else:
            model = self._models.on(variant.device)
        training = FitTraining(model, self.data, variant, self._turn_seconds)
        seconds_per_step = training.compile()
        if not self._most_samples:
            steps = _steps_in(self._turn_seconds, seconds_per_step)
            self._most_samples = LONGEST_TURN * steps * variant.batch_size
        training.plan(seconds_per_step, self._most_steps(variant))
        return training

    def _new_resident_training(self, variant: Variant) -> "ResidentTraining":
        """Return a new training by `fit_resident`, with its data on the device.

        Raises MemoryError where there is no room for them.
        """
        model = self._models.on(variant.device)
        most_steps = self._most_steps(variant)
        return ResidentTraining(model, self.data, variant, most_steps, self._turn_seconds)

    def _most_steps(self, variant: Variant) -> int:
        """Return how many steps a turn of a variant has at most."""
        return self._most_samples // variant.batch_size


def _steps_in(seconds: float, seconds_per_step: float) -> int:
    """Return how many steps go into so many seconds, at least one."""
    return max(1, round(seconds / seconds_per_step))


class FitTraining:
    """A model that ``fit`` trains for a few steps in every turn.

    A turn begins with steps of warm-up, which are not timed, and goes on with the timed steps. The
    order of calls is `compile`, `plan`, and then `seconds_per_epoch` as often as wanted. Raises
    ValueError where XLA is to compile the model, and Keras knows that it cannot.
    """

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
        # `plan` sets these two, once it is known how long a step takes
        self._warmup_steps = variant.steps_per_execution
        self._timed_steps = 1

    def compile(self) -> float:
        """Train for the first time, for about `turn_seconds`; return the seconds of a step."""
        spare_steps = PILOT_GROUPS * self._variant.steps_per_execution
        return self._fit(spare_steps, min_seconds=self._turn_seconds)

    def plan(self, seconds_per_step: float, most_steps: int) -> None:
        """Set how many steps a turn has, so that it takes about `turn_seconds`.

        That is at most `most_steps`, but where it is over half an epoch, it is whole epochs.
        """
        epoch_steps = self._data.steps(self._variant.batch_size)
        steps = _steps_in(self._turn_seconds, seconds_per_step)
        steps = max(1, min(steps, most_steps))
        # fit is slower at first, while it starts the pipeline that brings the data
        self._warmup_steps = max(self._variant.steps_per_execution, steps // 2)
        if 2 * steps > epoch_steps:
            # whole epochs, so that what Keras does between two epochs is timed in its due share
            steps = epoch_steps * ceil(steps / epoch_steps)
        self._timed_steps = steps

    def seconds_per_epoch(self) -> float:
        """Take a turn, and return the seconds of an epoch at the pace of its steps."""
        spare_steps = 2 * self._variant.steps_per_execution
        seconds_per_step = self._fit(spare_steps)
        return seconds_per_step * self._data.steps(self._variant.batch_size)

    def _fit(self, spare_steps: int, min_seconds: float = 0.0) -> float:
        """Train through the warm-up and the timed steps; return the seconds of a timed step.

        It times more steps than planned until `min_seconds` are over. There are data for
        `spare_steps` more, since ``fit`` reads ahead of the step that ends the training.
        """
        most_steps = self._warmup_steps + self._timed_steps + spare_steps
        arguments, epoch_steps = self._data.for_fit(self._variant.batch_size, most_steps)
        watch = _step_watch(epoch_steps, self._warmup_steps, self._timed_steps, min_seconds)
        with backend.on(self._variant.device), held_back(), without_remarks():
            self._model.fit(**arguments, epochs=MANY_EPOCHS, verbose=0, callbacks=[watch])
        first_step, started = watch.ticks[0]
        last_step, ended = watch.ticks[1]
        return (ended - started) / (last_step - first_step)


def _step_watch(epoch_steps: int, warmup_steps: int, timed_steps: int, min_seconds: float):
    """Return a Keras callback that times steps after a warm-up, and then ends the training.

    It times at least `timed_steps` steps, and at least `min_seconds`. An epoch has `epoch_steps`.
    In the end its `ticks` are two pairs: the number of a step, from 0 and across epochs, and the
    time in seconds at which that step began.
    """
    import keras

    class StepWatch(keras.callbacks.Callback):
        def __init__(self):
            super().__init__()
            self.ticks: list[tuple[int, float]] = []
            self.steps_before_this_epoch = 0

        def on_epoch_begin(self, epoch: int, logs: dict | None = None) -> None:
            self.steps_before_this_epoch = epoch * epoch_steps

        # not at the end of a batch: fit would wait for its logs, and no longer run ahead
        def on_train_batch_begin(self, batch: int, logs: dict | None = None) -> None:
            step = self.steps_before_this_epoch + batch
            if not self._is_due(step):
                return
            backend.wait(self.model)
            self.ticks.append((step, time.perf_counter()))
            # the first tick starts the clock, the second stops it
            self.model.stop_training = len(self.ticks) > 1

        def _is_due(self, step: int) -> bool:
            """Return whether this step ends the warm-up, or what is timed."""
            if not self.ticks:
                return step >= warmup_steps
            first_step, started = self.ticks[0]
            enough_steps = step >= first_step + timed_steps
            enough_time = time.perf_counter() >= started + min_seconds
            return enough_steps and enough_time

    return StepWatch()


class ResidentTraining:
    """A model that `fit_resident` trains on the first steps of the data, which lie on its device.

    `data` are arrays; `most_steps` is how many steps the longest turn by ``fit`` would have. Raises
    MemoryError where the computer has no room for all of the data, and TypeError or ValueError
    where they are not what `fit_resident` takes.
    """

    def __init__(
        self,
        model,
        data: TrainingData,
        variant: Variant,
        most_steps: int,
        turn_seconds: float,
    ):
        needed = device_memory.memory_needed(data.x, data.y)
        device_memory.check_room(needed, variant.device)
        # The longer a step takes, the fewer of them, from four times the usual steps down to two:
        # XLA's convolutions in a loop take 20 times as long as those of fit.
        usual_steps = most_steps // LONGEST_TURN
        steps = min(4 * usual_steps, int(1e-3 * (usual_steps / turn_seconds) ** 2))
        # steps of a whole epoch of the data, and of each epoch of a turn
        self._epoch_steps = data.steps(variant.batch_size)
        self._steps = min(self._epoch_steps, max(2, steps))
        arrays = data.first_steps(self._steps, variant.batch_size)
        arrays = device_memory.as_arrays(arrays, "x and y")
        self._tensors = device_memory.as_tensors(arrays, variant.device)
        self._batch_size = variant.batch_size
        self._model = model

    def seconds_per_epoch(self) -> float:
        """Take a turn, and return the seconds of a whole epoch at its pace."""
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
    """Return a compiled Keras model that computes nothing and learns nothing.

    What its ``fit`` takes is feeding and Python, which no other chip would do faster.
    """
    import keras

    class Idle(keras.Model):
        def call(self, x):
            return x

        def train_step(self, *arguments):
            # the arguments are (data,) on TensorFlow, and (state, data) on JAX
            logs = {"loss": keras.ops.zeros(())}
            if backend.framework() == "jax":
                # there a step must return its state, too
                state = arguments[0]
                return logs, state
            return logs

    model = Idle()
    # it has no weights to build, and fit asks
    model.built = True
    model.compile("sgd")
    return model
