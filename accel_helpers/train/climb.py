"""The climb: from default ``fit`` to resident epochs, one change at a time.

All stages take turns, an epoch each, so that a machine that slowly changes meanwhile changes all of
them alike. Up to tf.data each keeps the changes before it; resident takes the place of all of
``fit``; and the last stage goes back to the small batch, since a large one can cost accuracy.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from dataclasses import dataclass
from statistics import mean

from accel_helpers.machine import backend
from accel_helpers.machine.quiet import held_back, without_remarks
from accel_helpers.measure import timing
from accel_helpers.measure.measurement import Measurement, Speedup
from accel_helpers.train import training
from accel_helpers.train.resident_options import whole

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
    """One way to train the same model.

    Attributes
    ----------
    name : str
        One of `NAMES`.
    batch_size, steps : int
        Pictures in a step, and steps in an epoch.
    epoch : Measurement
        Seconds per epoch, waited for; the first epoch, which also compiles, is its `first_call`.
    accuracy : tuple of float
        Share of the test images that was right after equally many epochs, for each seed.
    """

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
    """All stages, in the order climbed, and notes on how they were measured."""

    stages: tuple[Stage, ...]
    notes: tuple[str, ...] = ()

    def __getitem__(self, name: str) -> Stage:
        """The stage of that name."""
        found = {stage.name: stage for stage in self.stages}
        if name not in found:
            raise KeyError(f"no stage is called {name!r}; there are: {', '.join(found)}.")
        return found[name]

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
        """What the bigger batch did to the accuracy: "lower", "higher" or "cannot tell".

        The first two only if the results of all seeds lie on one side.
        """
        small, large = self.stages[0].accuracy, self.stages[1].accuracy
        if max(large) < min(small):
            return "lower"
        return "higher" if min(large) > max(small) else "cannot tell"

    def record_as(self, prefix: str) -> tuple[dict[str, Measurement], dict[str, tuple[float, ...]]]:
        """The climb as what `results.record` takes: measurements, and numbers.

        Parameters
        ----------
        prefix : str
            Such as "03/climb".
        """
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
        if len(names) < 2:
            raise ValueError(
                f"there is no climb under {prefix!r}; known: {', '.join(measurements)}."
            )
        return cls(
            tuple(
                Stage(
                    name,
                    *(int(n) for n in numbers[f"{prefix}/batch size and steps/{name}"]),
                    measurements[f"{prefix}/epoch/{name}"],
                    tuple(numbers[f"{prefix}/accuracy/{name}"]),
                )
                for name in names
            )
        )

    def __str__(self) -> str:
        wide = max(len(stage.name) for stage in self.stages)
        lines = []
        for stage in self.stages:
            line = f"{stage.name:<{wide}}  {timing.format_seconds(stage.epoch.median):>8}"
            line += f"  {100 * mean(stage.accuracy):5.1f} % right"
            if stage.name in self.gains:
                line += f"  {_in_words(self.gains[stage.name])}"
            lines.append(line)
        return "\n".join([*lines, *(f"Note: {note}" for note in self.notes)])


def measure(
    images: training.Images,
    *,
    rounds: int = 7,
    batch_size: int = BATCH_SIZE,
    dropout: float = 0.0,
    device: str = "cpu",
    quick: bool = False,
    progress: Callable[[str], None] | None = None,
    clock: Callable[[], float] = time.perf_counter,
) -> Climb:
    """Train the quickstart model in every way that this machine has, and time an epoch of each.

    Parameters
    ----------
    images : training.Images
        All training images are used for the timing, the different ones for the accuracy.
    rounds : int, optional
        Turns, of an epoch each, after the one that also compiles; five or more give an interval.
    batch_size : int, optional
        Of the bigger batches.
    dropout : float, optional
        As in the model. By default the layer is left out: on a CPU, TensorFlow's XLA makes its
        random numbers so slowly that they hide what the stages do.
    device : str, optional
        One of `backend.devices`.
    quick : bool, optional
        Few stages, few pictures and one seed: for a test, not for a result.
    progress : callable, optional
        Called with a line of text before each turn.
    clock : callable, optional
        Returns the time in seconds.

    Returns
    -------
    Climb

    Raises
    ------
    ValueError
        If an argument is not as above.
    """
    rounds, batch_size = whole("rounds", rounds, 1), whole("batch_size", batch_size, 2)
    count, seeds = (QUICK, 1) if quick else (len(images.x_train), SEEDS)
    x, y = (images.x_train[:count] / 255).astype("float32"), images.y_train[:count]
    ways, notes = _ways(batch_size, dropout, device)
    if quick:
        ways, notes = {name: ways[name] for name in QUICK_NAMES}, ()
    watches = {}
    for turn in range(rounds + 1):
        for name in ways if turn % 2 == 0 else reversed(ways):
            if progress:
                progress(f"{device}: {name}, turn {turn}")
            way = ways[name]
            with backend.on(device):
                if turn == 0:
                    watches[name] = training.stopwatch(clock)
                    way.prepare(x, y)
                # what XLA says when it starts, and TensorFlow of the fifth model
                with held_back() if turn == 0 else nullcontext(), without_remarks():
                    way.train(epochs=1, callbacks=[watches[name]])
    different = min(count, images.different, DIFFERENT)
    accuracy = {n: _accuracy(way, images, different, seeds, device) for n, way in ways.items()}
    stages = []
    for name, way in ways.items():
        first, *rest = watches[name].epochs
        epoch = Measurement.from_samples(rest, first_call=first, name=name)
        stages.append(
            Stage(name, way.batch_size, -(-count // way.batch_size), epoch, accuracy[name])
        )
    right = (
        f'"right" is the mean of {seeds} trainings of {LEARNING_EPOCHS} epochs on {different:,} '
        f"different pictures; {len(images.x_test):,} others are asked."
    )
    return Climb(tuple(stages), (right, *notes))


# ---------------------------------------------------------------------------------------------


class _Way:
    """One way to train: a model compiled for it, and its data where it wants them."""

    def __init__(self, batch_size, make, *, pipeline=False, resident=False, **compiled):
        self.batch_size, self.pipeline, self.resident = batch_size, pipeline, resident
        self.make, self.model = make, make()
        if compiled:
            loss = self.model.loss
            self.model.compile("adam", loss, metrics=["accuracy"], **compiled)

    def prepare(self, x, y):
        if self.resident:
            import keras

            self.data = [keras.ops.convert_to_tensor(array) for array in (x, y)]
        elif self.pipeline:
            import tensorflow as tf

            batches = tf.data.Dataset.from_tensor_slices((x, y)).cache().shuffle(len(x))
            self.data = [batches.batch(self.batch_size).prefetch(tf.data.AUTOTUNE)]
        else:
            self.data = [x, y]

    def train(self, **options):
        options["verbose"] = 0
        if self.pipeline:  # it makes the batches itself, and their order
            options["shuffle"] = False
        else:
            options["batch_size"] = self.batch_size
        if self.resident:
            training.fit_resident(self.model, *self.data, **options)
        else:
            self.model.fit(*self.data, **options)

    def start_anew(self, seed):
        self.model.set_weights(self.make(seed=seed).get_weights())
        for variable in self.model.optimizer.variables:
            if variable is not self.model.optimizer.learning_rate:
                variable.assign(variable.value * 0)


def _ways(large: int, dropout: float, device: str) -> tuple[dict[str, _Way], tuple[str, ...]]:
    small, notes = training.BATCH_SIZE, []
    group = {"steps_per_execution": GROUP}

    def make(seed=0):
        with backend.on(device):
            return training.quickstart_model(dropout=dropout, seed=seed)

    ways = {
        "default fit": _Way(small, make),
        "bigger batches": _Way(large, make),
        "steps per execution": _Way(large, make, **group),
    }
    if ways["default fit"].model.jit_compile:
        notes.append("XLA is on by default here, so it is no stage of its own.")
    else:
        group["jit_compile"] = True
        ways["XLA"] = _Way(large, make, **group)
    if _has_tensorflow():
        ways["tf.data with prefetch"] = _Way(large, make, pipeline=True, **group)
    else:
        notes.append("tf.data is left out: TensorFlow is not installed here.")
    ways["resident"] = _Way(large, make, resident=True)
    ways["resident, small batches"] = _Way(small, make, resident=True)
    return ways, tuple(notes)


def _has_tensorflow() -> bool:
    from accel_helpers.machine import runtime

    return "tensorflow" in runtime.describe().frameworks


def _accuracy(way: _Way, images, count: int, seeds: int, device: str) -> tuple[float, ...]:
    """Trained anew on different images only, since repeated ones would hide what is learned."""
    import keras

    x, x_test = ((a / 255).astype("float32") for a in (images.x_train[:count], images.x_test))
    found = []
    with backend.on(device):
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
    low, high = gain.interval
    if not gain.conclusive:
        return "no measurable difference to the stage before"
    return f"{gain.ratio:.2g} times as fast as the stage before ({low:.2g} to {high:.2g})"
