"""The climb: from default ``fit`` to resident epochs, one change at a time.

Up to tf.data each stage keeps the changes before it; resident takes the place of all of ``fit``;
and the last one goes back to the small batch, since a large one can cost accuracy.
"""

import math
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Any, ClassVar

from accel_helpers._values.words import wrapped
from accel_helpers.course.quickstart import quickstart_model
from accel_helpers.fit.clock import TimeBox, Timed, epochs_of, take_turns, until
from accel_helpers.fit.images import Images
from accel_helpers.fit.resident import fit_seeds
from accel_helpers.fit.resident_turns import TimedResident, resident_training
from accel_helpers.fit.training import BATCH_SIZE, Training
from accel_helpers.machine import backend, runtime
from accel_helpers.measure import timing
from accel_helpers.measure.measurement import Measurement, Speedup

__all__ = ["Climb", "measure"]

LARGE_BATCH = 256
GROUP = 16  # steps between two returns to Python, where that is changed
# Of every stage, in the order climbed: its id, and what a learner reads.
STAGES = {
    "default": "default fit",
    "bigger-batches": "bigger batches",
    "grouped-steps": "steps per execution",
    "xla": "XLA",
    "tf-data": "tf.data with prefetch",
    "resident": "resident",
    "resident-small": "resident, small batches",
}
# Which parts of an epoch the change of a stage makes smaller, in the words of `profile_fit`. With
# XLA it is overhead, since operations that are fused are launched once.
TAKES_AWAY = {
    "bigger-batches": "overhead and memory",
    "grouped-steps": "overhead",
    "xla": "overhead",
    "tf-data": "input",
    "resident": "overhead and input",
    "resident-small": "overhead and input",
}
DEFAULT, BIGGER, GROUPED, XLA, TF_DATA, RESIDENT, RESIDENT_SMALL = STAGES
# The order in which stages are begun; the first ones are never left out.
URGENT = (DEFAULT, BIGGER, RESIDENT_SMALL, RESIDENT, GROUPED, XLA, TF_DATA)
FIRST = URGENT[:3]
LAST_STAGE = 0.3  # share of the time that is left when no further stage is begun
TURNS = 100  # a turn takes about this part of the seconds: one in 100
SEEDS = 3  # trainings whose accuracy is averaged
LEARNING_EPOCHS = 5  # epochs of each of these trainings
LEARNING_PICTURES = 4_096  # of each of these trainings, at most


@dataclass(frozen=True)
class Stage:
    """What was measured of one way to train the model."""

    id: str  # as in STAGES
    batch_size: int
    epoch: Measurement  # the seconds of an epoch of all pictures
    accuracy: tuple[float, ...]  # the share of test images that are right, for each seed

    @property
    def name(self) -> str:
        """What a learner reads for the id."""
        return STAGES[self.id]

    @property
    def takes_away(self) -> str:
        """Which parts of an epoch it makes smaller, such as "overhead"; "" of the first stage."""
        return TAKES_AWAY.get(self.id, "")


@dataclass(frozen=True)
class Climb:
    """All stages, in the order climbed, and notes on how they were measured.

    The tables are by the stages' names, as a learner reads them.
    """

    OUTCOMES: ClassVar = Speedup.OUTCOMES  # of its `verdict`

    stages: tuple[Stage, ...]
    notes: tuple[str, ...] = ()

    @property
    def epochs(self) -> dict[str, Measurement]:
        """The seconds per epoch of every stage."""
        return {stage.name: stage.epoch for stage in self.stages}

    @property
    def gains(self) -> dict[str, Speedup]:
        """Every stage but the first against the one before it, turn by turn."""
        return {after.name: _compared(before, after) for before, after in pairwise(self.stages)}

    @property
    def overall(self) -> dict[str, Speedup]:
        """Every stage but the first against the first, turn by turn."""
        first, *others = self.stages
        return {stage.name: _compared(first, stage) for stage in others}

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
        return _compared(self.stages[0], self.stages[-1]).verdict


def _compared(slow: Stage, fast: Stage) -> Speedup:
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
        About how long the timing may take. To keep to that, the last stages are left out where
        compiling the others took most of the time.

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
    >>> from accel_helpers.fit.images import load_images
    >>> _, images = backend.choose(), load_images(320, source="bundled")
    >>> list(measure(images, seconds=0.3).epochs)[0]
    'default fit'
    """
    box = TimeBox(seconds)
    if device is None:
        # The CPU is always listed first.
        device = backend.devices()[-1]
    x = images.x_train.astype("float32") / 255
    trainings, notes = trainings_on(device, x, images.y_train)
    timed: dict[str, Timed] = {}
    for id in URGENT:
        if id not in trainings:
            continue
        if id not in FIRST and box.share_left() < LAST_STAGE:
            notes.append(f"{STAGES[id]} is left out: the time was up.")
            continue
        clock = TimedResident if id in (RESIDENT, RESIDENT_SMALL) else Timed
        timed[id] = clock(trainings[id], seconds / TURNS)
        timed[id].warm_up(seconds)
    # From the order of urgency back to the order climbed.
    climbed = {id: timed[id] for id in trainings if id in timed}
    # an interval takes five rounds, and a turn is short
    turns = take_turns(climbed, until(box, overtime=math.inf))
    accuracy = {size: _accuracy(size, device, images) for size in (BATCH_SIZE, LARGE_BATCH)}
    stages = []
    for id in climbed:
        epoch = Measurement.from_samples(epochs_of(turns[id]), name=STAGES[id])
        size = trainings[id].arguments.get("batch_size", LARGE_BATCH)
        stages.append(Stage(id, size, epoch, accuracy[size]))
    note = (
        f'"right" is the mean of {SEEDS} trainings of {LEARNING_EPOCHS} epochs on '
        f"{_different(images):,} different pictures, for each batch size, tested on "
        f"{len(images.x_test):,} others. Where an epoch is long, a part of it is timed in each of "
        f"{len(epoch.samples)} turns."
    )
    return Climb(tuple(stages), (wrapped(note), *notes))


def trainings_on(device: str, x, y) -> tuple[dict[str, Training], list[str]]:
    """Return the trainings on a device by their ids, in the order of `STAGES`, and notes.

    Each note is a sentence on one that this machine lacks. Raises a ValueError where this machine
    has no such device.
    """

    def training(batch_size: int, **compiled: Any) -> Training:
        make_model = partial(quickstart_model, dropout=0, **compiled)
        arguments = {"x": x, "y": y, "batch_size": batch_size}
        return Training(make_model, arguments, -(-len(x) // batch_size), device)

    with backend.on(device):
        groups_steps = backend.groups_steps()
    trainings = {DEFAULT: training(BATCH_SIZE), BIGGER: training(LARGE_BATCH)}
    notes = []
    # The options of `compile` so far: a stage keeps those of the stages before it.
    options: dict[str, Any] = {}
    if groups_steps:
        options["steps_per_execution"] = GROUP
        trainings[GROUPED] = training(LARGE_BATCH, **options)
    else:
        notes.append("Steps per execution are left out: this Keras loops over them in Python.")
    if backend.framework() == "jax":
        notes.append("XLA is on in all stages: without it, Keras on JAX compiles nothing.")
    else:
        options["jit_compile"] = True
        trainings[XLA] = training(LARGE_BATCH, **options)
    if "tensorflow" in runtime.describe().frameworks:
        pipeline = _pipeline(x, y)
        of_pipeline = training(LARGE_BATCH, **options)
        trainings[TF_DATA] = of_pipeline.changed(x=pipeline, y=None, batch_size=None)
    else:
        notes.append("tf.data is left out: TensorFlow is not installed here.")
    trainings[RESIDENT] = resident_training(training(LARGE_BATCH))
    trainings[RESIDENT_SMALL] = resident_training(training(BATCH_SIZE))
    return trainings, notes


def _pipeline(x, y):
    """Return a tf.data.Dataset that makes and shuffles large batches itself."""
    import tensorflow as tf

    pictures = tf.data.Dataset.from_tensor_slices((x, y)).cache().shuffle(len(x))
    return pictures.batch(LARGE_BATCH).prefetch(tf.data.AUTOTUNE)


def _different(images: Images) -> int:
    """Return how many pictures a model learns from: repeated ones would hide what is learned."""
    return min(len(images.x_train), images.different, LEARNING_PICTURES)


def _accuracy(batch_size: int, device: str, images: Images) -> tuple[float, ...]:
    """Train the model anew with each seed, and return the share of right test pictures."""
    import keras

    count = _different(images)
    x = images.x_train[:count].astype("float32") / 255
    x_test = images.x_test.astype("float32") / 255
    make_model = partial(quickstart_model, dropout=0)
    options = {"seeds": SEEDS, "batch_size": batch_size, "epochs": LEARNING_EPOCHS}
    shares = []
    with backend.on(device):
        for model in fit_seeds(make_model, x, images.y_train[:count], **options):
            # The model is called itself, since `predict` would compile a further program.
            scores = model(x_test, training=False)
            answers = keras.ops.convert_to_numpy(scores).argmax(axis=-1)
            shares.append(float((answers == images.y_test).mean()))
    return tuple(shares)
