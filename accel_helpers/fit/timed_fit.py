"""A training whose ``fit`` is timed for a moment in every turn."""

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from math import ceil

from accel_helpers.fit.checked_call import new_model
from accel_helpers.fit.fit_call import ARRAYS, FitCall, form_of
from accel_helpers.fit.fit_watch import EpochMarks, fit_watch
from accel_helpers.machine import backend
from accel_helpers.machine.quiet import held_back

# a first turn, while it is unknown how long a step takes, has data for so many groups of steps
PILOT_STEPS = 64
# an epoch that is shorter than so many turns is timed whole
WHOLE_EPOCHS = 8
# where it is shorter than so many, another epoch goes before it, to warm up
WARMED_EPOCHS = 2
SHORTEST_STEP = 1e-5  # seconds; no fit is faster, and a clock may say so
MOST_VALIDATION = 2  # turns: a longer validation is cut
FEW_STEPS = 4  # a turn has at least so many, even where it takes longer, up to so many times


@dataclass(frozen=True)
class Turn:
    """What a turn says of an epoch, in seconds."""

    epoch: float  # all of it
    validation: float  # within it


@dataclass(frozen=True)
class WarmUp:
    """What the first ``fit`` of a model took, in seconds."""

    first_step: float  # from the call of fit to the end of the first step: building, compiling
    passed: float  # from the call of fit to the end of its last step
    steps: int  # that were trained
    step: float  # of the steps behind the first one


class TimedFit:
    """A model that ``fit`` trains for a moment in every turn.

    The order of calls is `warm_up`, and then `turn` as often as wanted. In a turn whole epochs are
    trained where these are short; otherwise a part of one, and the rest is calculated at the pace
    of its steps. What an epoch begins and ends with is timed in either case.
    """

    def __init__(
        self,
        call: FitCall,
        turn_seconds: float,
        *,
        callbacks: list | None = None,
        clock: Callable[[], float] = time.perf_counter,
        model=None,
    ):
        self.call = call
        self.model = model
        if model is None:
            self.model = new_model(call)
        self.traces = _count_traces(self.model)
        self.cost = 0.0  # seconds that the last turn took, with all that `fit` does around it
        self._callbacks = callbacks or []
        self._clock = clock
        self._turn_seconds = turn_seconds
        # `_plan` sets these, once it is known how long a step takes
        self._steps = 0  # of a turn, its warm-up included; 0: whole epochs
        self._warmup_steps = 0
        self._epochs = 1
        self._warmup_epochs = 0
        self._validation_steps: int | None = None
        self._all_validation_steps = 0

    def warm_up(self, most_seconds: float) -> WarmUp:
        """Train for the first time, which compiles, and plan the turns.

        It ends after a turn's time without a new trace, or with an epoch; at the latest when
        `most_seconds` are over.
        """
        started = self._clock()
        traces = 0
        quiet_since = started

        def is_enough(marks: EpochMarks, now: float) -> bool:
            nonlocal traces, quiet_since
            if marks.last_step < 2 * self._group or self.traces() > traces:
                traces = self.traces()
                quiet_since = now
            # where the number of steps is not known, the end of the epoch tells it
            is_quiet = self.call.steps > 0 and now - quiet_since > self._turn_seconds
            return is_quiet or now - started > most_seconds

        steps = 0
        if self.call.form == ARRAYS:
            # fit would copy all of them, and their shapes do not change from step to step
            steps = self._short_epoch(PILOT_STEPS * self._group)
        [marks], is_over = self._fit(steps, 1, warmup_steps=self._group, is_enough=is_enough)
        done = marks.last_step + self._group
        if marks.is_warm:
            warm = marks.warm
            step = (marks.steps_over - warm) / (done - marks.warm_step)
        else:
            # an epoch of one step: the next turn will know better
            warm = marks.steps_over
            step = marks.steps_over - marks.began
        if not self.call.steps:
            # fit begins one more step, in which it finds the data at their end
            done = marks.last_step
            self.call = self._with_steps(done, was_cut=is_over)
        self._plan_validation(marks)
        self._plan(step)
        return WarmUp(warm - started, marks.steps_over - started, done, step)

    def turn(self) -> Turn:
        """Take a turn."""
        started = self._clock()
        turn = self._part_turn() if self._steps else self._whole_turn()
        self.cost = self._clock() - started
        return turn

    def replan(self) -> Turn:
        """Take a turn, and plan again by it: the steps that compiled may have been slower."""
        turn = self.turn()
        self._plan((turn.epoch - turn.validation) / self.call.steps)
        return turn

    @property
    def _group(self) -> int:
        """How many steps Keras groups into one call of its program."""
        return self.model.steps_per_execution or 1

    def _with_steps(self, done: int, was_cut: bool) -> FitCall:
        """Return the call with the number of steps that an epoch turned out to have."""
        if was_cut:
            raise ValueError(
                f"How many steps an epoch has is not known, and it did not end within {done}: "
                "say steps_per_epoch=, as in fit."
            )
        return replace(self.call, steps=done)

    def _short_epoch(self, steps: int) -> int:
        """Return a number of steps, or 0 where an epoch has no more than these."""
        if not self.call.steps or steps >= self.call.steps:
            return 0
        return steps

    def _plan(self, step: float) -> None:
        """Plan turns of about `turn_seconds`, by the seconds of a step."""
        step = max(step, SHORTEST_STEP)
        epoch = self.call.steps * step
        steps = self._turn_seconds / step
        steps = max(steps, min(FEW_STEPS, FEW_STEPS * steps))
        wanted = max(1, ceil(steps / self._group)) * self._group
        # fit is slower at first, while it starts the pipeline that brings the data
        self._warmup_steps = max(1, wanted // self._group // 2) * self._group
        self._steps = self._short_epoch(wanted + self._warmup_steps)
        if epoch < WHOLE_EPOCHS * self._turn_seconds:
            self._steps = 0
        if not self._steps:
            self._epochs = max(1, round(self._turn_seconds / epoch))
            is_short = epoch < WARMED_EPOCHS * self._turn_seconds
            self._warmup_epochs = 1 if is_short else 0

    def _plan_validation(self, marks: EpochMarks) -> None:
        """Have turns validate on a part of the data, where all of them take longer than a turn."""
        steps = self._steps_of_validation()
        if not marks.validation or not steps:
            return
        self._all_validation_steps = steps
        if marks.validation > MOST_VALIDATION * self._turn_seconds:
            share = self._turn_seconds / marks.validation
            few_steps = max(2, round(share * steps))
            if few_steps < steps:
                self._validation_steps = few_steps

    def _steps_of_validation(self) -> int | None:
        """Return how many steps a validation has; None where that is not known."""
        arguments = self.call.arguments
        if arguments.get("validation_steps"):
            return arguments["validation_steps"]
        data = arguments.get("validation_data")
        if data is None:
            return None
        if isinstance(data, (tuple, list)) and form_of(data[0]) == ARRAYS:
            import keras

            size = arguments.get("validation_batch_size") or self.call.batch_size
            return ceil(len(keras.tree.flatten(data[0])[0]) / size)
        if hasattr(data, "cardinality"):
            batches = int(data.cardinality())
        else:
            batches = getattr(data, "num_batches", None) or 0
        return batches if batches > 0 else None

    def _fit(self, steps, epochs, *, warmup_steps=0, is_enough=None) -> tuple[list, bool]:
        """Call ``fit``; return the `EpochMarks` of its epochs, and whether `is_enough` ended it."""
        # the last step begins the last group of them
        all_steps = steps or self.call.steps
        first, last = fit_watch(
            self._clock,
            warmup_steps=warmup_steps,
            last_step=(all_steps - 1) // self._group * self._group,
            is_enough=is_enough,
        )
        arguments = self.call.shortened(steps)
        if self._validation_steps:
            arguments["validation_steps"] = self._validation_steps
        # a turn may be one epoch alone, so every epoch validates here
        arguments.pop("validation_freq", None)
        callbacks = [first, *self._callbacks, last]
        with self.call.on_its_device(), held_back():
            self.model.fit(**arguments, epochs=epochs, verbose=0, callbacks=callbacks)
        return first.epochs, first.is_over

    def _validation_of(self, marks: EpochMarks) -> tuple[float, float]:
        """Return the seconds of validation in these marks, and those of an epoch of the training.

        They differ where a turn validates on a part of the data, or the training not every epoch.
        """
        measured = marks.validation
        whole = measured
        if self._validation_steps and measured:
            begin = marks.first_validation_batch - marks.validation_began
            pace = (marks.validation_over - marks.first_validation_batch) / self._validation_steps
            whole = begin + pace * self._all_validation_steps
        return measured, whole / _every(self.call.arguments.get("validation_freq", 1))

    def _whole_turn(self) -> Turn:
        """Train whole epochs, and return the mean of one; the first one may only warm up."""
        epochs, _ = self._fit(0, self._warmup_epochs + self._epochs)
        timed = epochs[self._warmup_epochs :]
        seconds = 0.0
        validation = 0.0
        for marks in timed:
            measured, weighed = self._validation_of(marks)
            seconds += marks.over - marks.began - measured + weighed
            validation += weighed
        if not self._warmup_epochs:
            seconds -= self._validation_setup(timed[0], self.call.steps)
        return Turn(seconds / len(timed), validation / len(timed))

    def _part_turn(self) -> Turn:
        """Train a part of an epoch, and return a whole one at the pace of its steps."""
        [marks], _ = self._fit(self._steps, 1, warmup_steps=self._warmup_steps)
        pace = _pace(marks, self._steps)
        begin = max(marks.warm - marks.began - marks.warm_step * pace, 0.0)
        measured, weighed = self._validation_of(marks)
        end = marks.over - marks.steps_over - measured
        return Turn(begin + self.call.steps * pace + end + weighed, weighed)

    def _validation_setup(self, marks: EpochMarks, steps: int) -> float:
        """Return the seconds in which fit prepares the validation data, once in each call of it."""
        if not marks.validation or math.isnan(marks.last_began):
            return 0.0
        steps_left = steps - marks.last_step
        steps_end = marks.last_began + steps_left * _pace(marks, steps)
        return max(marks.steps_over - steps_end, 0.0)


def _pace(marks: EpochMarks, steps: int) -> float:
    """Return the seconds of a step, from the first one that is timed to the beginning of the last.

    Behind the last one fit may prepare the validation, which is no step. Where no other step is
    timed, that counts as well.
    """
    if math.isnan(marks.last_began):
        return (marks.steps_over - marks.warm) / (steps - marks.warm_step)
    return (marks.last_began - marks.warm) / (marks.last_step - marks.warm_step)


def _every(frequency) -> float:
    """Return every how many epochs a training validates, by Keras's `validation_freq`.

    A list names the epochs; they are taken to be spread from the first to the last.
    """
    if isinstance(frequency, int):
        return frequency
    epochs = list(frequency)
    return max(epochs) / len(epochs)


def _count_traces(model) -> Callable[[], int]:
    """Count from now on how often a framework traces the training step; return a way to ask."""
    compiles = not model.run_eagerly
    if backend.framework() == "jax":
        compiles = compiles and bool(model.jit_compile)
    if not compiles:
        return lambda: 0
    count = getattr(model, "_accel_traces", None)
    if count is None:
        count = [0]
        step = model.train_step

        def train_step(*arguments, **named):
            # a framework runs this Python code only while it traces it
            count[0] += 1
            return step(*arguments, **named)

        model.train_step = train_step
        object.__setattr__(model, "_accel_traces", count)
    return lambda: count[0]
