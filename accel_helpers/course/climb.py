"""The climb: from default ``fit`` to resident epochs, one change at a time.

Up to tf.data each stage keeps the changes before it; resident takes the place of all of ``fit``;
and the last one goes back to the small batch, since a large one can cost accuracy.
"""

import math
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import pairwise
from statistics import mean
from typing import ClassVar

from accel_helpers._values.words import wrapped
from accel_helpers.course.climb_plan import LEARNING_EPOCHS, Plan
from accel_helpers.course.ways import (
    BIGGER,
    DEFAULT,
    RESIDENT,
    RESIDENT_SMALL,
    STAGES,
    TAKES_AWAY,
    Way,
    in_turns,
    ways_on,
)
from accel_helpers.machine import backend
from accel_helpers.machine.quiet import held_back
from accel_helpers.measure import timing
from accel_helpers.measure.measurement import FEW_SAMPLES, Measurement, Speedup
from accel_helpers.train.images import Images
from accel_helpers.train.stopwatch import stopwatch

__all__ = ["Climb", "measure"]

ROUNDS = 7  # turns, of one epoch of each way, after the epoch that also compiles
FIRST = (DEFAULT, BIGGER, RESIDENT_SMALL)  # ids of the ways that are never left out
LAST_WAY = 0.7  # share of the time after which no further way is begun
LAST_TURN = 0.85  # share of the time after which no further turn is taken


@dataclass(frozen=True)
class Stage:
    """What was measured of one way to train the model."""

    id: str  # as in STAGES
    batch_size: int
    steps: int  # of an epoch
    epoch: Measurement  # the seconds of an epoch of all pictures
    accuracy: tuple[float, ...]  # the share of test images that are right, for each seed

    @property
    def name(self) -> str:
        """What a learner reads for the id; the id itself where this course has no such stage."""
        return STAGES.get(self.id, self.id)

    @property
    def takes_away(self) -> str:
        """Which parts of an epoch it makes smaller, such as "overhead"; "" of the first stage."""
        return TAKES_AWAY.get(self.id, "")

    @property
    def step(self) -> float:
        """Seconds per step: the median epoch divided by its steps."""
        return self.epoch.median / self.steps


@dataclass(frozen=True)
class Climb:
    """All stages, in the order climbed, and notes on how they were measured.

    A stage is looked up by its id, `climb["default"]`, which raises KeyError where it has none. The
    tables are by the stages' names, as a learner reads them.

    >>> epoch = Measurement.from_samples([2.0, 2.1, 1.9, 2.0, 2.0], first_call=3.0)
    >>> Climb((Stage("default", 32, 10, epoch, (0.9,)),))["default"].step
    0.2
    """

    OUTCOMES: ClassVar = Speedup.OUTCOMES  # of its `verdict`

    stages: tuple[Stage, ...]
    notes: tuple[str, ...] = ()

    def __getitem__(self, id: str) -> Stage:
        stages = {stage.id: stage for stage in self.stages}
        return stages[id]

    @property
    def epochs(self) -> dict[str, Measurement]:
        """The seconds per epoch of every stage."""
        return {stage.name: stage.epoch for stage in self.stages}

    @property
    def accuracy(self) -> dict[str, float]:
        """The mean over the seeds, of every stage."""
        return {stage.name: mean(stage.accuracy) for stage in self.stages}

    @property
    def gains(self) -> dict[str, Speedup]:
        """Every stage but the first against the one before it, turn by turn."""
        gains = {}
        for before, after in pairwise(self.stages):
            gains[after.name] = _compared_in_turns(before, after)
        return gains

    @property
    def overall(self) -> dict[str, Speedup]:
        """Every stage but the first against the first, turn by turn."""
        first = self.stages[0]
        overall = {}
        for stage in self.stages[1:]:
            overall[stage.name] = _compared_in_turns(first, stage)
        return overall

    @property
    def best(self) -> str:
        """The stage that gained most on the one before it; "none of them" where nothing did."""
        ratios = {}
        for name, gain in self.gains.items():
            if gain.verdict == "faster":
                ratios[name] = gain.ratio
        return max(ratios, key=ratios.__getitem__, default="none of them")

    @property
    def verdict(self) -> str:
        """One of `OUTCOMES`: of the last stage against the first."""
        last = self.stages[-1]
        return self.overall[last.name].verdict

    def __str__(self) -> str:
        width = max(len(stage.name) for stage in self.stages)
        gains = self.gains
        lines = []
        for stage in self.stages:
            name = f"{stage.name:<{width}}"
            epoch = timing.format_seconds(stage.epoch.median)
            percentage = 100 * mean(stage.accuracy)
            accuracy = f"{percentage:5.1f} % right"
            # The first stage has no gain.
            gain = gains.get(stage.name, "")
            line = f"{name}  {epoch:>8}  {accuracy}  {stage.takes_away:<19}  {gain}"
            lines.append(line.rstrip())
        for note in self.notes:
            lines.append(f"Note: {note}")
        return "\n".join(lines)


def _compared_in_turns(slow: Stage, fast: Stage) -> Speedup:
    """Return how many times as fast an epoch of the second stage is.

    The epochs of all stages were taken in turns, so they are compared turn by turn.
    """
    return timing.compare(slow.epoch, fast.epoch, in_turns=True)


def measure(images: Images, *, device: str | None = None, seconds: float = 10.0) -> Climb:
    """Train the quickstart model in every way that this machine has, and time an epoch of each.

    Dropout is left out: on a CPU, TensorFlow's XLA makes its random numbers so slowly that they
    hide what the stages do.

    Parameters
    ----------
    images : Images
        As `load_images` returns them. Pictures that repeat others are timed like all, but accuracy
        is not trained on them.
    device : str, optional
        One of `backend.devices`; by default the accelerator, or the CPU where there is none.
    seconds : float, optional
        About how long it may take. To keep to that, epochs are timed on fewer pictures, and the
        last stages are left out where compiling the others took most of the time. For less than a
        second there is one seed.

    Returns
    -------
    Climb
        Of the stages in `STAGES` that this machine has and that there was time for; its notes say
        which are missing, and why.

    Raises
    ------
    ValueError
        Where this machine has no such device.

    Examples
    --------
    >>> from accel_helpers.train.images import load_images
    >>> _, images = backend.choose(), load_images(320, source="bundled")
    >>> list(measure(images, seconds=0.3).epochs)[0]
    'default fit'
    """
    time_box = _TimeBox(time.perf_counter(), seconds)
    if device is None:
        # The CPU is always listed first.
        device = backend.devices()[-1]
    plan = Plan.of(images, seconds)
    ways, notes = ways_on(device)
    with backend.on(device):
        epochs = _time_epochs(ways, plan, time_box)
        # Ways with the same batch size learn alike, so one way of each is enough: the fastest with
        # small batches, and with large ones the one that needs no new program.
        accuracy_by_batch_size = {}
        for id in (BIGGER, RESIDENT_SMALL):
            way = ways[id]
            accuracy_by_batch_size[way.batch_size] = _accuracy(way, images, plan)
    stages = []
    for id, seconds_of_epochs in epochs.items():
        batch_size = ways[id].batch_size
        epoch = plan.scaled_up(id, seconds_of_epochs)
        steps = math.ceil(plan.count / batch_size)
        accuracy = accuracy_by_batch_size[batch_size]
        stage = Stage(id, batch_size, steps, epoch, accuracy)
        stages.append(stage)
    # All stages took the same number of turns.
    turns = len(stages[-1].epoch.samples)
    note = plan.note(epochs, turns, len(images.x_test))
    late_ids = [id for id in _in_order_of_urgency(ways) if id not in epochs]
    late_notes = [f"{STAGES[id]} is left out: the time was up." for id in late_ids]
    return Climb(tuple(stages), (wrapped(note), *notes, *late_notes))


@dataclass(frozen=True)
class _TimeBox:
    """The time that a climb may take."""

    began: float  # by `time.perf_counter`
    seconds: float

    def is_past(self, share: float) -> bool:
        """Return whether more than this share (from 0 to 1) of the time is over."""
        elapsed = time.perf_counter() - self.began
        return elapsed > share * self.seconds


def _time_epochs(ways: Mapping[str, Way], plan: Plan, box: _TimeBox) -> dict[str, list[float]]:
    """Train in each way, in turns, and return the seconds of its epochs by the way's id.

    The first of them also compiled. The ways are in the order climbed; those to which the time did
    not reach are left out, but none of `FIRST`.
    """
    watches = {}
    trainings = {}
    for id in _in_order_of_urgency(ways):
        if id not in FIRST and box.is_past(LAST_WAY):
            continue
        x, y = plan.part(id)
        train = ways[id].on(x, y)
        watch = stopwatch()
        # The first epoch compiles the program, and the compiler prints notices.
        with held_back():
            train(epochs=1, callbacks=[watch])
        trainings[id] = train
        watches[id] = watch
    # From the order of urgency back to the order climbed.
    climbed = {id: trainings[id] for id in ways if id in trainings}

    def is_enough(turns: int) -> bool:
        # With fewer samples no interval could be told.
        return turns >= FEW_SAMPLES and box.is_past(LAST_TURN)

    in_turns(climbed, watches, ROUNDS, enough=is_enough)
    return {id: watches[id].epochs for id in climbed}


def _in_order_of_urgency(ids: Iterable[str]) -> list[str]:
    """Return the ids of ways in the order in which they are begun.

    First those of `FIRST`, which are never left out, then "resident", then the others as they come.
    """

    def urgency(id: str) -> tuple[bool, bool]:
        # False sorts before True.
        return (id not in FIRST, id != RESIDENT)

    return sorted(ids, key=urgency)


def _accuracy(way: Way, images: Images, plan: Plan) -> tuple[float, ...]:
    """Train a way's model anew with each seed, and return the share of right test pictures of each.

    Only different pictures are trained on, since repeated ones would hide what is learned.
    """
    import keras

    x_test = images.x_test.astype("float32") / 255
    x = plan.x[: plan.different]
    y = plan.y[: plan.different]
    train = way.on(x, y)
    shares = []
    for seed in range(plan.seeds):
        way.start_anew(seed)
        with held_back():
            train(epochs=LEARNING_EPOCHS)
        # The model is called itself, since `predict` would compile a further program.
        scores = way.model(x_test, training=False)
        answers = keras.ops.convert_to_numpy(scores).argmax(axis=-1)
        is_right = answers == images.y_test
        share = float(is_right.mean())
        shares.append(share)
    return tuple(shares)
