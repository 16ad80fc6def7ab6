"""The climb: from default ``fit`` to resident epochs, one change at a time.

Up to tf.data each stage keeps the changes before it; resident takes the place of all of ``fit``;
and the last one goes back to the small batch, since a large one can cost accuracy.
"""

import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from statistics import mean, median
from typing import ClassVar, Self

from accel_helpers._values.words import wrapped
from accel_helpers.course import quickstart
from accel_helpers.machine import backend, runtime
from accel_helpers.machine.quiet import held_back, without_remarks
from accel_helpers.measure import results, timing
from accel_helpers.measure.measurement import FEW_SAMPLES, Measurement, Speedup
from accel_helpers.train import epochs as epochs_of_fit
from accel_helpers.train.resident import fit_resident
from accel_helpers.train.stopwatch import stopwatch

__all__ = ["Climb", "measure"]

SMALL_BATCH = epochs_of_fit.BATCH_SIZE
BATCH_SIZE = 256  # of the bigger batches
GROUP = 16  # steps between two returns to Python, where that is changed
SEEDS, LEARNING_EPOCHS = 3, 5  # of the trainings that tell the accuracy
SHORT_BOX = 1  # second: in less, one seed must do
ROUNDS = 7  # turns, of an epoch each, after the one that also compiles
PART, LARGER = 4_096, 8_192  # pictures of an epoch: default fit, others
# Of every stage, in the order climbed: what a result card calls it, and what a learner reads.
STAGES = {
    "default": "default fit",
    "bigger-batches": "bigger batches",
    "grouped-steps": "steps per execution",
    "xla": "XLA",
    "tf-data": "tf.data with prefetch",
    "resident": "resident",
    "resident-small": "resident, small batches",
}
DEFAULT, BIGGER, GROUPED, XLA, TF_DATA, RESIDENT, RESIDENT_SMALL = STAGES
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
        sure = {name: g.ratio for name, g in self.gains.items() if g.verdict == "faster"}
        return max(sure, key=sure.get, default="none of them")

    @property
    def verdict(self) -> str:
        """Of the last stage against the first: one of `OUTCOMES`."""
        return self.overall[self.stages[-1].name].verdict

    def record_as(self, prefix: str) -> tuple[dict[str, Measurement], dict[str, tuple[float, ...]]]:
        """The climb as what `results.save_on_card` takes: measurements, and numbers."""
        epochs, numbers = {}, {}
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
        wide, gains, lines = max(len(stage.name) for stage in self.stages), self.gains, []
        for stage in self.stages:
            line = f"{stage.name:<{wide}}  {timing.format_seconds(stage.epoch.median):>8}"
            line += f"  {100 * mean(stage.accuracy):5.1f} % right"
            lines.append(f"{line}  {gains.get(stage.name, '')}")
        return "\n".join([*lines, *(f"Note: {note}" for note in self.notes)])


def keys(prefix: str, id: str) -> tuple[str, str, str]:
    """By what a card keeps a stage: its epoch, its accuracy, its batch size and steps."""
    return tuple(f"{prefix}/{what}/{id}" for what in ("epoch", "accuracy", "batch size and steps"))


def needed(prefix: str) -> list[str]:
    """What a card must have, so that there is a climb to show: the stages never left out."""
    return [key for id in FIRST for key in keys(prefix, id)]


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
    begin, count = time.perf_counter(), len(images.x_train)
    device = device or backend.devices()[-1]
    seeds = SEEDS if seconds >= SHORT_BOX else 1
    different = min(count, images.different, PART)
    different = different // BATCH_SIZE * BATCH_SIZE or different  # a part of one is a new program
    x, y = images.x_train[:count].astype("float32") / 255, images.y_train[:count]
    ways, notes = ways_on(device)
    watches = {name: stopwatch() for name in ways}
    # so many steps that what begins an epoch is a small share of each
    parts = {id: min(count, PART if id == DEFAULT else LARGER) for id in ways}

    def on_part(name):
        return ways[name].on(x[: parts[name]], y[: parts[name]])

    def late(share, done=math.inf):
        return done >= FEW_SAMPLES and time.perf_counter() - begin > share * seconds

    with backend.on(device):
        for name in sorted(ways, key=lambda id: (id not in FIRST, id != RESIDENT)):
            if late(0.7) and name not in FIRST:
                notes += (f"{STAGES[name]} is left out: the time was up.",)
                continue
            with held_back(), without_remarks():  # each translates its program
                on_part(name)(epochs=1, callbacks=[watches[name]])
        ways = {name: way for name, way in ways.items() if watches[name].ticks}
        trainings = {name: on_part(name) for name in ways}
        in_turns(trainings, watches, ROUNDS, partial(late, 0.85))
        # the fastest of the small batches, and of the large ones what needs no new program
        best = {BATCH_SIZE: ways[BIGGER], SMALL_BATCH: ways[RESIDENT_SMALL]}
        right = {size: _accuracy(way, images, different, seeds) for size, way in best.items()}
    stages = []
    for name, way in ways.items():
        (first, *rest), times = watches[name].epochs, count / parts[name]
        first += (times - 1) * median(rest)
        samples, steps = [times * each for each in rest], -(-count // way.batch_size)
        epoch = Measurement.from_samples(samples, first_call=first, name=STAGES[name])
        stages.append(Stage(name, way.batch_size, steps, epoch, right[way.batch_size]))
    told = (
        f'"right" is the mean of {seeds} trainings of {LEARNING_EPOCHS} epochs on {different:,} '
        f"different pictures, for each batch size, tested on {len(images.x_test):,} others."
    )
    if min(parts.values()) < count:
        told += f" Each of {len(rest)} timed epochs is of {min(parts.values()):,} to "
        told += f"{max(parts.values()):,} of the {count:,} pictures, scaled up with all that an "
        told += "epoch begins with, so whole epochs are a little shorter."
    found = Climb(tuple(stages), (wrapped(told), *notes))
    results.keep(keep, *found.record_as(keep))
    return found


class Way:
    """One way to train: a model compiled for it, and where it wants its data (as `data` says)."""

    def __init__(self, batch_size, data="arrays", **compiled):
        self.batch_size, self.data = batch_size, data
        self.model = quickstart.quickstart_model(dropout=0, **compiled)

    def on(self, x, y) -> Callable:
        """What trains on these data, and takes options as ``fit`` does."""
        fit = partial(self.model.fit, verbose=0)
        if self.data == "pipeline":  # it makes the batches itself, and their order
            import tensorflow as tf

            batches = tf.data.Dataset.from_tensor_slices((x, y)).cache().shuffle(len(x))
            whole = len(x) % self.batch_size == 0  # said, it is the program for arrays
            batches = batches.batch(self.batch_size, whole).prefetch(tf.data.AUTOTUNE)
            return partial(fit, batches, shuffle=False)
        if self.data == "resident":
            import keras

            x, y = keras.ops.convert_to_tensor(x), keras.ops.convert_to_tensor(y)
            fit = partial(fit_resident, self.model, verbose=0)
        return partial(fit, x, y, batch_size=self.batch_size)

    def start_anew(self, seed):
        """Bring it to where a model of this seed begins."""
        self.model.set_weights(quickstart.quickstart_model(dropout=0, seed=seed).get_weights())
        for variable in self.model.optimizer.variables:
            if variable is not self.model.optimizer.learning_rate:
                variable.assign(variable.value * 0)


def in_turns(trainings: Mapping, watches: Mapping, turns: int, enough=lambda done: False) -> None:
    """An epoch each, there and back, so that what slowly changes meanwhile changes all alike."""
    for turn in range(turns):
        if enough(turn):
            break
        for name in trainings if turn % 2 == 0 else reversed(trainings):
            with without_remarks():
                trainings[name](epochs=1, callbacks=[watches[name]])


def ways_on(device: str) -> tuple[dict[str, Way], tuple[str, ...]]:
    """All ways that there are here, by their ids, and notes on those that there are not."""
    small, notes, group = SMALL_BATCH, [], {"steps_per_execution": GROUP}
    with backend.on(device):
        ways = {DEFAULT: Way(small), BIGGER: Way(BATCH_SIZE)}
        if backend.groups_steps():
            ways[GROUPED] = Way(BATCH_SIZE, **group)
        else:
            group = {}
            notes.append("Steps per execution are left out: this Keras loops over them in Python.")
        if backend.framework() == "jax":
            notes.append("XLA is on in all stages: without it, Keras on JAX compiles nothing.")
        else:
            group["jit_compile"] = True
            ways[XLA] = Way(BATCH_SIZE, **group)
        if "tensorflow" in runtime.describe().frameworks:
            ways[TF_DATA] = Way(BATCH_SIZE, "pipeline", **group)
            if XLA in ways:  # the same program, translated once
                ways[TF_DATA].model = ways[XLA].model
        else:
            notes.append("tf.data is left out: TensorFlow is not installed here.")
        ways[RESIDENT] = Way(BATCH_SIZE, "resident")
        ways[RESIDENT_SMALL] = Way(small, "resident")
    return ways, tuple(notes)


def _accuracy(way: Way, images, count: int, seeds: int) -> tuple[float, ...]:
    """Trained anew on different images only, since repeated ones would hide what is learned."""
    import keras

    x, x_test = (a.astype("float32") / 255 for a in (images.x_train[:count], images.x_test))
    train, found = way.on(x, images.y_train[:count]), []
    for seed in range(seeds):
        way.start_anew(seed)
        with without_remarks():
            train(epochs=LEARNING_EPOCHS)
        said = keras.ops.convert_to_numpy(way.model(x_test, training=False)).argmax(axis=-1)
        found.append(float((said == images.y_test).mean()))
    return tuple(found)
