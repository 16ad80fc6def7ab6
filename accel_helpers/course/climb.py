"""The climb: from default ``fit`` to resident epochs, one change at a time.

Up to tf.data each stage keeps the changes before it; resident takes the place of all of ``fit``;
and the last one goes back to the small batch, since a large one can cost accuracy.
"""

import math
import time
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from statistics import mean, median
from typing import Any, ClassVar, Self

from accel_helpers._values.words import wrapped
from accel_helpers.course.ways import (
    BATCH_SIZE,
    BIGGER,
    DEFAULT,
    RESIDENT,
    RESIDENT_SMALL,
    SMALL_BATCH,
    STAGES,
    Way,
    in_turns,
    ways_on,
)
from accel_helpers.machine import backend
from accel_helpers.machine.quiet import held_back, without_remarks
from accel_helpers.measure import results, timing
from accel_helpers.measure.measurement import FEW_SAMPLES, Measurement, Speedup
from accel_helpers.train.stopwatch import stopwatch

__all__ = ["Climb", "measure"]

SEEDS, LEARNING_EPOCHS = 3, 5  # of the trainings that tell the accuracy
SHORT_BOX = 1  # second: in less, one seed must do
ROUNDS = 7  # turns, of an epoch each, after the one that also compiles
PART, LARGER = 4_096, 8_192  # pictures of an epoch: default fit, others
FIRST = (DEFAULT, BIGGER, RESIDENT_SMALL)  # never left out


@dataclass(frozen=True)
class Stage:
    """One way to train the same model; `accuracy` is the share of test images right, by seed."""

    id: str  # as in STAGES
    batch_size: int
    steps: int
    epoch: Measurement
    accuracy: tuple[float, ...]

    @property
    def name(self) -> str:
        """What a learner reads."""
        return STAGES.get(self.id, self.id)

    @property
    def step(self) -> float:
        """Seconds per step: the median epoch divided by its steps."""
        return self.epoch.median / self.steps


@dataclass(frozen=True)
class Climb:
    """All stages, in the order climbed, and notes on how they were measured.

    A stage is taken by its id; the tables name stages as a learner reads them.

    >>> epoch = Measurement.from_samples([2.0, 2.1, 1.9, 2.0, 2.0], first_call=3.0)
    >>> Climb((Stage("default", 32, 10, epoch, (0.9,)),))["default"].step
    0.2
    """

    OUTCOMES: ClassVar = Speedup.OUTCOMES  # of its `verdict`

    stages: tuple[Stage, ...]
    notes: tuple[str, ...] = ()

    def __getitem__(self, id: str) -> Stage:
        return {stage.id: stage for stage in self.stages}[id]

    @property
    def epochs(self) -> dict[str, Measurement]:
        """The seconds per epoch of every stage."""
        return {stage.name: stage.epoch for stage in self.stages}

    @property
    def accuracy(self) -> dict[str, float]:
        """The mean over the seeds."""
        return {stage.name: mean(stage.accuracy) for stage in self.stages}

    @property
    def gains(self) -> dict[str, Speedup]:
        """Every stage but the first against the one before it, turn by turn."""
        return {after.name: _turns(before, after) for before, after in pairwise(self.stages)}

    @property
    def overall(self) -> dict[str, Speedup]:
        """Every stage but the first against the first, turn by turn."""
        return {stage.name: _turns(self.stages[0], stage) for stage in self.stages[1:]}

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
        """Of the last stage against the first: one of `OUTCOMES`."""
        return self.overall[self.stages[-1].name].verdict

    def record_as(self, prefix: str) -> tuple[dict[str, Measurement], dict[str, tuple[float, ...]]]:
        """Give the climb as `results.save_on_card` takes it: measurements, and numbers."""
        epochs = {}
        numbers = {}
        for stage in self.stages:
            epoch, accuracy, sizes = keys(prefix, stage.id)
            epochs[epoch] = stage.epoch
            numbers[accuracy] = stage.accuracy
            numbers[sizes] = (stage.batch_size, stage.steps)
        return epochs, numbers

    @classmethod
    def from_card(cls, measurements: Mapping, numbers: Mapping, prefix: str) -> Self:
        """The climb that `record_as` put on a card; a stage that is not whole there is left out."""
        stages = []
        for key, timed in measurements.items():
            id = key.removeprefix(f"{prefix}/epoch/")
            epoch, accuracy, sizes = keys(prefix, id)
            if key == epoch and accuracy in numbers and sizes in numbers:
                batch_size, steps = map(int, numbers[sizes])
                stages.append(Stage(id, batch_size, steps, timed, tuple(numbers[accuracy])))
        return cls(tuple(stages))

    def __str__(self) -> str:
        width = max(len(stage.name) for stage in self.stages)
        gains = self.gains
        lines = []
        for stage in self.stages:
            epoch = timing.format_seconds(stage.epoch.median)
            accuracy = f"{100 * mean(stage.accuracy):5.1f} % right"
            gain = gains.get(stage.name, "")
            lines.append(f"{stage.name:<{width}}  {epoch:>8}  {accuracy}  {gain}")
        lines += [f"Note: {note}" for note in self.notes]
        return "\n".join(lines)


def keys(prefix: str, id: str) -> tuple[str, str, str]:
    """Give the names of a stage on a card: its epoch, its accuracy, its batch size and steps."""
    return (
        f"{prefix}/epoch/{id}",
        f"{prefix}/accuracy/{id}",
        f"{prefix}/batch size and steps/{id}",
    )


def needed(prefix: str) -> list[str]:
    """Give what a card must have, so that there is a climb to show: the stages never left out."""
    names = []
    for id in FIRST:
        names += keys(prefix, id)
    return names


def _turns(slow: Stage, fast: Stage) -> Speedup:
    return timing.compare(slow.epoch, fast.epoch, in_turns=True)


def measure(images, *, device: str | None = None, seconds=10.0, keep="") -> Climb:
    """Train the quickstart model in every way that this machine has, and time an epoch of each.

    Dropout is left out: on a CPU, TensorFlow's XLA makes its random numbers so slowly that they
    hide what the stages do.

    Parameters
    ----------
    images : Images
        Of `load_images`: those that repeat others are left out of the accuracy.
    device : str, optional
        One of `backend.devices`; by default the accelerator, or the CPU where there is none.
    seconds, keep : float, str, optional
        About how long it may take: with fewer pictures, the last stages left out where translating
        the others took most of it; under which prefix the result card keeps it ("03/climb"). In
        less than SHORT_BOX seconds there is one seed.

    Examples
    --------
    >>> from accel_helpers.train.images import load_images
    >>> _, images = backend.choose(), load_images(320, source="bundled")
    >>> list(measure(images, seconds=0.3).epochs)[0]
    'default fit'
    """
    began = time.perf_counter()
    if device is None:
        device = backend.devices()[-1]
    plan = _Plan.of(images, seconds)
    ways, notes = ways_on(device)
    watches = {id: stopwatch() for id in ways}
    trainings = {}

    def is_late(share: float) -> bool:
        return time.perf_counter() - began > share * seconds

    with backend.on(device):
        for id in sorted(ways, key=_urgency):
            if is_late(0.7) and id not in FIRST:
                notes += (f"{STAGES[id]} is left out: the time was up.",)
                continue
            trainings[id] = ways[id].on(*plan.part(id))
            # Each translates its program, with notices.
            with held_back(), without_remarks():
                trainings[id](epochs=1, callbacks=[watches[id]])
        # In the order climbed.
        ways = {id: way for id, way in ways.items() if id in trainings}
        trainings = {id: trainings[id] for id in ways}
        in_turns(
            trainings,
            watches,
            ROUNDS,
            enough=lambda turns: turns >= FEW_SAMPLES and is_late(0.85),
        )
        # The fastest of the small batches, and of the large ones what needs no new program.
        accuracy = {
            BATCH_SIZE: _accuracy(ways[BIGGER], images, plan),
            SMALL_BATCH: _accuracy(ways[RESIDENT_SMALL], images, plan),
        }
    stages = []
    for id, way in ways.items():
        epoch = plan.whole_epoch(id, watches[id].epochs)
        steps = math.ceil(plan.count / way.batch_size)
        stages.append(Stage(id, way.batch_size, steps, epoch, accuracy[way.batch_size]))
    turns = len(stages[-1].epoch.samples)
    note = plan.note(ways, turns, len(images.x_test))
    climb = Climb(tuple(stages), (wrapped(note), *notes))
    results.keep(keep, *climb.record_as(keep))
    return climb


def _urgency(id: str) -> tuple[bool, bool]:
    """Sort what is never left out before the rest, and resident training before other ways."""
    return (id not in FIRST, id != RESIDENT)


@dataclass(frozen=True)
class _Plan:
    """What is trained on: the pictures, how many of them differ, and the seeds for accuracy."""

    x: Any
    y: Any
    different: int
    seeds: int

    @classmethod
    def of(cls, images, seconds: float) -> Self:
        count = len(images.x_train)
        different = min(count, images.different, PART)
        # A batch that is not full would be a new program.
        if different >= BATCH_SIZE:
            different -= different % BATCH_SIZE
        seeds = SEEDS if seconds >= SHORT_BOX else 1
        x = images.x_train.astype("float32") / 255
        return cls(x, images.y_train, different, seeds)

    @property
    def count(self) -> int:
        return len(self.x)

    def size(self, id: str) -> int:
        """Give the pictures of a stage's epoch: so many that what begins it is a small share."""
        most = PART if id == DEFAULT else LARGER
        return min(self.count, most)

    def part(self, id: str) -> tuple:
        """Give the pictures and labels that a stage is timed on."""
        size = self.size(id)
        return self.x[:size], self.y[:size]

    def whole_epoch(self, id: str, epochs: list[float]) -> Measurement:
        """Scale the epochs of a stage up to one of all pictures; the first also compiled."""
        first, *later = epochs
        factor = self.count / self.size(id)
        first += (factor - 1) * median(later)
        samples = [factor * epoch for epoch in later]
        return Measurement.from_samples(samples, first_call=first, name=STAGES[id])

    def note(self, ids, turns: int, test_count: int) -> str:
        """Say what the accuracy is of, and what an epoch was timed on."""
        text = (
            f'"right" is the mean of {self.seeds} trainings of {LEARNING_EPOCHS} epochs on '
            f"{self.different:,} different pictures, for each batch size, tested on "
            f"{test_count:,} others."
        )
        sizes = [self.size(id) for id in ids]
        if min(sizes) < self.count:
            text += (
                f" Each of {turns} timed epochs is of {min(sizes):,} to {max(sizes):,} of the "
                f"{self.count:,} pictures, scaled up with all that an epoch begins with, so whole "
                "epochs are a little shorter."
            )
        return text


def _accuracy(way: Way, images, plan: _Plan) -> tuple[float, ...]:
    """Train anew, seed by seed, and give the shares of test pictures that are right.

    Only on different pictures, since repeated ones would hide what is learned.
    """
    import keras

    x_test = images.x_test.astype("float32") / 255
    train = way.on(plan.x[: plan.different], plan.y[: plan.different])
    shares = []
    for seed in range(plan.seeds):
        way.start_anew(seed)
        with without_remarks():
            train(epochs=LEARNING_EPOCHS)
        outputs = keras.ops.convert_to_numpy(way.model(x_test, training=False))
        answers = outputs.argmax(axis=-1)
        shares.append(float((answers == images.y_test).mean()))
    return tuple(shares)
