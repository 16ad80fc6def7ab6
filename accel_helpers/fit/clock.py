"""The one clock of a training: ``fit`` trains a model for a moment, in turns with others."""

import statistics
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from math import ceil
from typing import Protocol

from accel_helpers.fit.training import ARRAYS, Training
from accel_helpers.fit.watch import EpochMarks, epoch_watch, goes_on
from accel_helpers.machine.quiet import held_back
from accel_helpers.measure.measurement import FEW_SAMPLES

# a first turn, while it is unknown how long a step takes, has data for so many groups of steps
PILOT_STEPS = 64
SHORTEST_STEP = 1e-5  # seconds; no fit is faster, and a clock may say so
MOST_VALIDATION = 2  # turns: of a longer validation a part is timed
LONG_STEP = 4  # turns
# An epoch that is shorter than so many turns is timed whole: a cache keeps nothing of a part.
WHOLE_EPOCHS = 8
# where it is shorter than so many, another epoch goes before it, to warm up
WARMED_EPOCHS = 2
MOST_ROUNDS = 12


class TimeBox:
    """So many seconds of a clock, which begin when the box is made."""

    def __init__(self, seconds: float, clock: Callable[[], float] = time.perf_counter):
        self.seconds = seconds
        self.clock = clock
        self._end = clock() + seconds

    def seconds_left(self) -> float:
        """Return the seconds until the time is up; below zero afterwards."""
        return self._end - self.clock()


@dataclass(frozen=True)
class Turn:
    """What a turn says of an epoch, in seconds."""

    epoch: float  # all of it
    validation: float = 0.0  # within it


@dataclass(frozen=True)
class FirstFit:
    """The first training of a model, which compiles."""

    steps: int = 0
    seconds: float = 0.0  # until the last step was done
    first_step: float = 0.0  # until the first one was


class TakesTurns(Protocol):
    """Something that is timed for a moment in each turn."""

    def turn(self) -> Turn:
        """Take a turn."""


def take_turns(
    trainings: Mapping[str, TakesTurns], is_enough: Callable[[dict[str, list[Turn]]], bool]
) -> dict[str, list[Turn]]:
    """Give each training a turn, round after round, and return its turns by its name.

    Every other round goes backwards: a machine that gets slower is then unfair to nobody.
    `is_enough` is asked after each round, with the turns so far.
    """
    turns: dict[str, list[Turn]] = {name: [] for name in trainings}
    for number in range(MOST_ROUNDS):
        names = list(trainings)
        if number % 2 == 1:
            names.reverse()
        for name in names:
            turns[name].append(trainings[name].turn())
        if is_enough(turns):
            break
    return turns


def until(
    box: TimeBox,
    *,
    overtime: float = 1.0,
    is_clear: Callable[[dict[str, list[Turn]]], bool] = lambda turns: False,
) -> Callable[[dict[str, list[Turn]]], bool]:
    """Return when it is enough: after five rounds, once the time is up or all is clear.

    For the sake of the five it may take this share of the box longer.
    """

    def is_enough(turns: dict[str, list[Turn]]) -> bool:
        rounds = min(map(len, turns.values()))
        if rounds < FEW_SAMPLES:
            return box.seconds_left() < -overtime * box.seconds
        return box.seconds_left() < 0 or is_clear(turns)

    return is_enough


def epochs_of(turns: Iterable[Turn]) -> tuple[float, ...]:
    """Return the seconds of an epoch in each of some turns."""
    return tuple(turn.epoch for turn in turns)


class Timed:
    """A model that ``fit`` trains for a moment in every turn.

    The order of calls is `warm_up`, and then `turn` as often as wanted. In a turn whole epochs are
    trained where these are short; otherwise a part of one, and the rest is calculated at the pace
    of its steps. What an epoch begins and ends with is timed in either case.
    """

    def __init__(
        self,
        training: Training,
        turn_seconds: float,
        *,
        model=None,
        callbacks: Iterable = (),
        clock: Callable[[], float] = time.perf_counter,
        traces: Callable[[], int] = lambda: 0,
    ):
        self.training = training
        self.model = training.new_model() if model is None else model
        self.cost = 0.0  # seconds that it took, with all that `fit` does around it
        self.first = FirstFit()
        self._callbacks = list(callbacks)
        self._clock = clock
        self._traces = traces
        self._turn_seconds = turn_seconds
        # `_plan` sets these, once it is known how long a step takes
        self._steps = 0  # of the only epoch of a turn; 0: whole epochs
        self._warm_epochs = 0
        self._epochs = 1
        # of the validation, that are timed and that there are; 0: it is timed whole
        self._validation_steps = 0
        self._all_validation_steps = 0

    def warm_up(self, most_seconds: float) -> None:
        """Train for the first time, which compiles, and plan the turns; then take a turn.

        The first training ends after a turn's time without a new trace, or with an epoch; at the
        latest when `most_seconds` are over, and then there is no turn.

        Raises ValueError where an epoch of unknown length did not end until then.
        """
        started = self._clock()
        marks = self._fit_until_quiet(started + most_seconds)
        if not self.training.steps:
            self._learn_steps(marks)
        steps = min(marks.last_step + self._group, self.training.steps)
        seconds = marks.steps_over - started
        first_step = marks.warm - started if marks.is_warm else seconds
        self.first = FirstFit(steps, seconds, first_step)
        self._shorten_validation(marks)
        self._plan(marks.pace(steps))
        if self._clock() - started < most_seconds:
            # the steps that compiled may have been slower than these
            turn = self.turn()
            self._plan((turn.epoch - turn.validation) / self.training.steps)

    def turn(self) -> Turn:
        """Take a turn."""
        started = self._clock()
        warm_steps = self._half or self._group
        epochs = self._fit(self._steps, self._warm_epochs + self._epochs, warm_steps)
        turns = [self._turn_of(marks) for marks in epochs[self._warm_epochs :]]
        epoch = statistics.fmean(turn.epoch for turn in turns)
        validation = statistics.fmean(turn.validation for turn in turns)
        self.cost = self._clock() - started
        return Turn(epoch, validation)

    @property
    def takes_whole_epochs(self) -> bool:
        """Whether a turn trains whole epochs, and not a part of one."""
        return not self._steps

    @property
    def notes(self) -> list[str]:
        """What to know about the seconds of an epoch, in sentences."""
        if self.takes_whole_epochs:
            return []
        return [
            f"Each turn times {self._steps:,} of an epoch's {self.training.steps:,} steps, and "
            "takes the others to be as fast."
        ]

    @property
    def _group(self) -> int:
        """How many steps Keras groups into one call of its program."""
        return self.model.steps_per_execution or 1

    @property
    def _half(self) -> int:
        """Half of the steps of a turn: fit is slower at first, while it begins to bring data."""
        return self._steps // self._group // 2 * self._group

    def _fit_until_quiet(self, end: float) -> EpochMarks:
        """Train until nothing was traced for a turn's time, or until `end`; at most an epoch."""
        traces = 0
        quiet_since = self._clock()

        def is_enough(marks: EpochMarks, now: float) -> bool:
            nonlocal traces, quiet_since
            if not marks.is_warm or self._traces() > traces:
                traces = self._traces()
                quiet_since = now
            # where the number of steps is not known, the end of the epoch tells it
            is_quiet = self.training.steps > 0 and now - quiet_since > self._turn_seconds
            return is_quiet or now > end

        steps = 0
        if self.training.form == ARRAYS:
            # fit would copy all of them, and their shapes do not change from step to step
            steps = self._short_epoch(PILOT_STEPS * self._group)
        return self._fit(steps, 1, self._group, is_enough)[-1]

    def _learn_steps(self, marks: EpochMarks) -> None:
        """Note how many steps an epoch turned out to have."""
        # fit begins one more step, in which it finds the data at their end
        steps = marks.last_step
        if marks.was_cut:
            raise ValueError(
                f"How many steps an epoch has is not known, and it did not end within {steps}: "
                "say steps_per_epoch=, as in fit."
            )
        self.training = replace(self.training, steps=steps)

    def _shorten_validation(self, marks: EpochMarks) -> None:
        """Plan to time a part of a validation that takes much longer than a turn."""
        if marks.validation > MOST_VALIDATION * self._turn_seconds:
            share = self._turn_seconds / marks.validation
            self._all_validation_steps = marks.validation_steps
            self._validation_steps = max(2, round(share * marks.validation_steps))

    def _short_epoch(self, steps: int) -> int:
        """Return a number of steps, or 0 where an epoch has no more than these."""
        if steps >= self.training.steps:
            return 0
        return steps

    def _plan(self, step: float) -> None:
        """Plan turns of about `turn_seconds`, by the seconds of a step."""
        step = max(step, SHORTEST_STEP)
        epoch = self.training.steps * step
        self._epochs = max(1, round(self._turn_seconds / epoch))
        self._warm_epochs = int(epoch < WARMED_EPOCHS * self._turn_seconds)
        self._steps = 0
        if epoch < WHOLE_EPOCHS * self._turn_seconds:
            return
        # half of the steps warm up; of very long ones one has to do
        fewest = 2 if step < LONG_STEP * self._turn_seconds else 1
        groups = max(fewest, ceil(self._turn_seconds / step / self._group))
        self._steps = self._short_epoch(2 * groups * self._group)

    def _fit(self, steps, epochs, warm_steps, is_enough=None) -> list[EpochMarks]:
        """Call ``fit`` for epochs of so many steps (0: all of them), and return their marks."""
        all_steps = steps or self.training.steps
        # the last step begins the last group of them
        last_step = (all_steps - 1) // self._group * self._group
        watch = epoch_watch(self._clock, warm_steps, last_step, is_enough)
        arguments = self.training.shortened(steps)
        # a turn may be one epoch alone, so every epoch validates here
        arguments.pop("validation_freq", None)
        if self._validation_steps:
            arguments["validation_steps"] = self._validation_steps
        callbacks = [watch, *self._callbacks, goes_on(watch)]
        with self.training.on_its_device(), held_back():
            self.model.fit(**arguments, epochs=epochs, verbose=0, callbacks=callbacks)
        return watch.epochs

    def _turn_of(self, marks: EpochMarks) -> Turn:
        """Return what an epoch of a turn says of a whole one."""
        steps = self._steps or self.training.steps
        pace = marks.pace(steps)
        validation = marks.validation
        seconds = marks.over - marks.began - validation
        seconds += (self.training.steps - steps) * pace
        if validation and not self._warm_epochs and marks.is_paced:
            # fit prepares the validation behind the last step, once in each call of it
            last_steps = (steps - marks.last_step) * pace
            seconds -= max(marks.steps_over - marks.last_began - last_steps, 0.0)
        if self._validation_steps:
            validation *= self._all_validation_steps / self._validation_steps
        # a list in its place names epochs, and may hold any
        every = self.training.arguments.get("validation_freq", 1)
        if isinstance(every, int):
            validation /= every
        return Turn(seconds + validation, validation)
