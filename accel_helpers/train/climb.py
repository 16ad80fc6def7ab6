"""The climb: from default ``fit`` to resident epochs, one change at a time.

Up to tf.data each stage keeps the changes before it; resident takes the place of all of ``fit``;
and the last one goes back to the small batch, since a large one can cost accuracy.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import nullcontext
from dataclasses import dataclass
from statistics import mean

from accel_helpers.machine import backend, runtime
from accel_helpers.machine.quiet import held_back, without_remarks
from accel_helpers.measure import timing
from accel_helpers.measure.measurement import Measurement, Speedup
from accel_helpers.train import training

__all__ = ["Climb", "measure"]

BATCH_SIZE = 256  # of the bigger batches
GROUP = 16  # steps between two returns to Python, where that is changed
SEEDS, LEARNING_EPOCHS, DIFFERENT = 3, 5, 5_000  # of the trainings that tell the accuracy
NAMES = (
    "default fit",
    "bigger batches",
    "steps per execution",
    "XLA",
    "tf.data with prefetch",
    "resident",
    "resident, small batches",
)
QUICK = 320  # pictures, where it need not mean anything; and the stages that are tried then
QUICK_NAMES = ("default fit", "bigger batches", "resident, small batches")


@dataclass(frozen=True)
class Stage:
    """One way to train the same model; `accuracy` is the share of test images right, by seed."""

    name: str
    batch_size: int
    steps: int
    epoch: Measurement
    accuracy: tuple[float, ...]

    @property
    def step(self) -> float:
        """Seconds per step: the median epoch divided by its steps."""
        return self.epoch.median / self.steps


@dataclass(frozen=True)
class Climb:
    """All stages, in the order climbed, and notes on how they were measured.

    Parameters
    ----------
    stages : tuple of Stage
        Each with `name`, `batch_size`, `steps`, `epoch`, `step` and `accuracy`.
    notes : tuple of str, optional

    Examples
    --------
    >>> epoch = Measurement.from_samples([2.0, 2.1, 1.9, 2.0, 2.0], first_call=3.0)
    >>> Climb((Stage("default fit", 32, 10, epoch, (0.9,)),))["default fit"].step
    0.2
    """

    stages: tuple[Stage, ...]
    notes: tuple[str, ...] = ()

    def __getitem__(self, name: str) -> Stage:
        """The stage of that name."""
        return {stage.name: stage for stage in self.stages}[name]

    @property
    def epochs(self) -> dict[str, Measurement]:
        """The seconds per epoch of every stage."""
        return {stage.name: stage.epoch for stage in self.stages}

    @property
    def best(self) -> str:
        """The stage that gained most on the one before it; "none of them" where nothing did."""
        sure = {name: g.ratio for name, g in self.gains.items() if g.verdict == "faster"}
        return max(sure, key=sure.get, default="none of them")

    @property
    def gains(self) -> dict[str, Speedup]:
        """Every stage but the first against the one before it, turn by turn."""
        pairs = zip(self.stages, self.stages[1:], strict=False)
        return {after.name: _turns(before, after) for before, after in pairs}

    @property
    def overall(self) -> dict[str, Speedup]:
        """Every stage but the first against the first, turn by turn."""
        first, *others = self.stages
        return {stage.name: _turns(first, stage) for stage in others}

    @property
    def accuracy(self) -> dict[str, float]:
        """The mean over the seeds."""
        return {stage.name: mean(stage.accuracy) for stage in self.stages}

    @property
    def verdict(self) -> str:
        """Of the last stage against the first: a verdict of `timing.compare`."""
        return self.overall[self.stages[-1].name].verdict

    @property
    def large_batch(self) -> str:
        """The accuracy of bigger batches: "lower" or "higher" with all seeds, or "cannot tell"."""
        small, large = self.stages[0].accuracy, self.stages[1].accuracy
        if max(large) < min(small):
            return "lower"
        return "higher" if min(large) > max(small) else "cannot tell"

    def record_as(self, prefix: str) -> tuple[dict[str, Measurement], dict[str, tuple[float, ...]]]:
        """The climb as what `results.record` takes: measurements, and numbers."""
        epochs = {f"{prefix}/epoch/{stage.name}": stage.epoch for stage in self.stages}
        numbers = {f"{prefix}/accuracy/{stage.name}": stage.accuracy for stage in self.stages}
        for stage in self.stages:
            numbers[f"{prefix}/batch size and steps/{stage.name}"] = (stage.batch_size, stage.steps)
        return epochs, numbers

    @classmethod
    def from_card(cls, measurements: Mapping, numbers: Mapping, prefix: str) -> Climb:
        """The climb that `record_as` put on a card."""
        start = f"{prefix}/epoch/"
        names = [name[len(start) :] for name in measurements if name.startswith(start)]
        stages = []
        for name in names:
            sizes = map(int, numbers[f"{prefix}/batch size and steps/{name}"])
            accuracy = tuple(numbers[f"{prefix}/accuracy/{name}"])
            stages.append(Stage(name, *sizes, measurements[start + name], accuracy))
        return cls(tuple(stages))

    def __str__(self) -> str:
        wide, lines = max(len(stage.name) for stage in self.stages), []
        for stage in self.stages:
            line = f"{stage.name:<{wide}}  {timing.format_seconds(stage.epoch.median):>8}"
            line += f"  {100 * mean(stage.accuracy):5.1f} % right"
            if gain := self.gains.get(stage.name):
                line += f"  {_in_words(gain)}"
            lines.append(line)
        return "\n".join([*lines, *(f"Note: {note}" for note in self.notes)])


def measure(
    images: training.Images, *, rounds: int = 7, device: str = "cpu", quick: bool = False
) -> Climb:
    """Train the quickstart model in every way that this machine has, and time an epoch of each.

    Dropout is left out: on a CPU, TensorFlow's XLA makes its random numbers so slowly that they
    hide what the stages do.

    Parameters
    ----------
    images : Images
        Of `training.load_images`. All are used for the timing, the different ones for the accuracy.
    rounds : int, optional
        Turns, of an epoch each, after the one that also compiles; five or more give an interval.
    device : str, optional
    quick : bool, optional
        Few stages, few pictures and one seed: for a test, not for a result.

    Examples
    --------
    >>> _, images = backend.choose(), training.load_images(320, source="bundled")
    >>> list(measure(images, rounds=1, quick=True).epochs)
    ['default fit', 'bigger batches', 'resident, small batches']
    """
    count, seeds = (QUICK, 1) if quick else (len(images.x_train), SEEDS)
    x, y = (images.x_train[:count] / 255).astype("float32"), images.y_train[:count]
    ways, notes = ways_on(device)
    if quick:
        ways, notes = {name: ways[name] for name in QUICK_NAMES}, ()
    watches = {name: training.stopwatch() for name in ways}
    with backend.on(device):
        for way in ways.values():
            way.prepare(x, y)
        in_turns(ways, watches, rounds + 1)
    different = min(count, images.different, DIFFERENT)
    stages = []
    for name, way in ways.items():
        first, *rest = watches[name].epochs
        epoch = Measurement.from_samples(rest, first_call=first, name=name)
        with backend.on(device):
            accuracy = _accuracy(way, images, different, seeds)
        stages.append(Stage(name, way.batch_size, -(-count // way.batch_size), epoch, accuracy))
    right = (
        f'"right" is the mean of {seeds} trainings of {LEARNING_EPOCHS} epochs on {different:,} '
        f"different pictures; {len(images.x_test):,} others are asked."
    )
    return Climb(tuple(stages), (right, *notes))


class Way:
    """One way to train: a model compiled for it, and its data where it wants them."""

    def __init__(self, batch_size, *, pipeline=False, resident=False, **compiled):
        self.batch_size, self.pipeline, self.resident = batch_size, pipeline, resident
        self.model = training.quickstart_model(dropout=0)
        if compiled:
            self.model.compile("adam", self.model.loss, metrics=["accuracy"], **compiled)

    def prepare(self, x, y):
        """Bring the data to where this way of training begins with them."""
        self.data, self.options = [x, y], {"verbose": 0, "batch_size": self.batch_size}
        if self.resident:
            import keras

            self.data = [keras.ops.convert_to_tensor(array) for array in (x, y)]
        elif self.pipeline:  # it makes the batches itself, and their order
            import tensorflow as tf

            batches = tf.data.Dataset.from_tensor_slices((x, y)).cache().shuffle(len(x))
            self.data = [batches.batch(self.batch_size).prefetch(tf.data.AUTOTUNE)]
            self.options = {"verbose": 0, "shuffle": False}

    def train(self, **options):
        """Train, as ``fit`` takes it."""
        options |= self.options
        if self.resident:
            training.fit_resident(self.model, *self.data, **options)
        else:
            self.model.fit(*self.data, **options)

    def start_anew(self, seed):
        """Bring it to where a model of this seed begins."""
        self.model.set_weights(training.quickstart_model(dropout=0, seed=seed).get_weights())
        for variable in self.model.optimizer.variables:
            if variable is not self.model.optimizer.learning_rate:
                variable.assign(variable.value * 0)


def in_turns(ways: Mapping, watches: Mapping, turns: int) -> None:
    """An epoch each, there and back, so that what slowly changes meanwhile changes all alike."""
    for turn in range(turns):
        for name in ways if turn % 2 == 0 else reversed(ways):
            # what XLA says when it starts, and TensorFlow of the fifth model
            with held_back() if turn == 0 else nullcontext(), without_remarks():
                ways[name].train(epochs=1, callbacks=[watches[name]])


def ways_on(device: str) -> tuple[dict[str, Way], tuple[str, ...]]:
    """All ways that there are here, by their names, and notes on those that there are not."""
    small, notes, group = training.BATCH_SIZE, [], {"steps_per_execution": GROUP}
    with backend.on(device):
        ways = {
            "default fit": Way(small),
            "bigger batches": Way(BATCH_SIZE),
            "steps per execution": Way(BATCH_SIZE, **group),
        }
        if ways["default fit"].model.jit_compile:
            notes.append("XLA is on by default here, so it is no stage of its own.")
        else:
            group["jit_compile"] = True
            ways["XLA"] = Way(BATCH_SIZE, **group)
        if "tensorflow" in runtime.describe().frameworks:
            ways["tf.data with prefetch"] = Way(BATCH_SIZE, pipeline=True, **group)
        else:
            notes.append("tf.data is left out: TensorFlow is not installed here.")
        ways["resident"] = Way(BATCH_SIZE, resident=True)
        ways["resident, small batches"] = Way(small, resident=True)
    return ways, tuple(notes)


def _accuracy(way: Way, images, count: int, seeds: int) -> tuple[float, ...]:
    """Trained anew on different images only, since repeated ones would hide what is learned."""
    import keras

    x, x_test = ((a / 255).astype("float32") for a in (images.x_train[:count], images.x_test))
    found = []
    way.prepare(x, images.y_train[:count])
    for seed in range(seeds):
        way.start_anew(seed)
        with without_remarks():
            way.train(epochs=LEARNING_EPOCHS)
        said = keras.ops.convert_to_numpy(way.model(x_test, training=False)).argmax(axis=-1)
        found.append(float((said == images.y_test).mean()))
    return tuple(found)


def _turns(slow: Stage, fast: Stage) -> Speedup:
    return timing.compare(slow.epoch, fast.epoch, in_turns=True)


def _in_words(gain: Speedup) -> str:
    if not gain.conclusive:
        return "no measurable difference to the stage before"
    low, high = gain.interval
    return f"{gain.ratio:.2g} times as fast as the stage before ({low:.2g} to {high:.2g})"
