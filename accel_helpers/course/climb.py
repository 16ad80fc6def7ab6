"""The climb: from default ``fit`` to resident epochs, one change at a time.

Up to tf.data each stage keeps the changes before it. The last one, resident, takes the place of all
of ``fit``, and goes back to the small batch, since a large one can cost accuracy.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from math import ceil

from accel_helpers.course.quickstart import quickstart_model
from accel_helpers.fit.clock import TimeBox, Timed, epochs_of, take_turns
from accel_helpers.fit.images import Images
from accel_helpers.fit.resident import fit_seeds
from accel_helpers.fit.resident_turns import TimedResident, resident_training
from accel_helpers.fit.training import BATCH_SIZE, Training
from accel_helpers.machine import backend, runtime
from accel_helpers.measure import timing
from accel_helpers.measure.measurement import Measurement, Speedup
from accel_helpers.measure.scores import Score

LARGE_BATCH = 256
GROUP = 16  # steps between two returns to Python, where that is changed
DEFAULT = "default fit"
BIGGER = "bigger batches"
GROUPED = "steps per execution"
XLA = "XLA"
TF_DATA = "tf.data with prefetch"
RESIDENT = "resident, small batches"
# The stages behind the first, in the order climbed, and which parts of an epoch each makes smaller,
# in the words of `profile_fit`. With XLA it is overhead: fused operations are launched once.
TAKES_AWAY = {
    BIGGER: "overhead and memory",
    GROUPED: "overhead",
    XLA: "overhead",
    TF_DATA: "input",
    RESIDENT: "overhead and input",
}
FIRST = 3  # stages are never left out
LAST_STAGE = 0.3  # share of the time that is left when no further stage is begun
ROUNDS = 6
TURNS = 250  # a turn takes about this part of the seconds: one in 250
# The epochs of all stages were taken in turns.
_compared = partial(timing.compare, in_turns=True)
SEEDS = 3  # trainings whose accuracy is averaged
LEARNING_EPOCHS = 5  # epochs of each of these trainings
LEARNING_PICTURES = 4_096  # of each of these trainings, at most


@dataclass(frozen=True)
class Stage:
    """What was measured of one way to train the model."""

    name: str  # DEFAULT, or a key of TAKES_AWAY
    batch_size: int
    epoch: Measurement  # the seconds of an epoch of all pictures
    accuracy: tuple[float, ...]  # the share of test images that are right, for each seed


@dataclass(frozen=True)
class Climb:
    """All stages, in the order climbed, and notes on how they were measured."""

    stages: tuple[Stage, ...]
    notes: str = ""

    @property
    def overall(self) -> dict[str, Speedup]:
        """Every stage but the first against the first, by its name."""
        first, *others = self.stages
        return {stage.name: _compared(first.epoch, stage.epoch) for stage in others}

    @property
    def verdict(self) -> str:
        """The verdict on the last stage against the first."""
        return self.overall[self.stages[-1].name].verdict


def measure_climb(images: Images, *, seconds: float = 10.0) -> Climb:
    """Train the quickstart model in every way that this machine has, and time an epoch of each.

    Dropout is left out: on a CPU, TensorFlow's XLA makes its random numbers so slowly that they
    hide what the stages do.

    Parameters
    ----------
    images : Images
        As `load_images` returns them. Pictures that repeat others are timed like all, but accuracy
        is not trained on them.
    seconds : float, optional
        About how long the timing may take. To keep to that, the last stages are left out where
        compiling the others took most of the time.

    Returns
    -------
    Climb
        Of the stages that this machine has and that there was time for; its notes say which are
        missing, and why.

    Examples
    --------
    >>> from accel_helpers.fit.images import load_images
    >>> _, images = backend.choose(), load_images(320, source="bundled")
    >>> measure_climb(images, seconds=0.3).stages[0].name
    'default fit'
    """
    box = TimeBox(seconds)
    x = images.x_train.astype("float32") / 255
    trainings, notes = trainings_of(x, images.y_train)
    timed: dict[str, Timed] = {}
    too_late = []
    for name, training in trainings.items():
        if len(timed) >= FIRST and box.seconds_left() < LAST_STAGE * seconds:
            too_late.append(name)
            continue
        clock = TimedResident if name == RESIDENT else Timed
        timed[name] = clock(training, seconds / TURNS)
        timed[name].warm_up(seconds)
    # From the order of urgency back to the order climbed.
    climbed = {name: timed[name] for name in (DEFAULT, *TAKES_AWAY) if name in timed}
    turns = take_turns(climbed, lambda turns: len(turns[DEFAULT]) == ROUNDS)
    # Repeated pictures would hide what is learned.
    count = min(len(x), images.different, LEARNING_PICTURES)
    accuracy = {}
    for size in (BATCH_SIZE, LARGE_BATCH):
        accuracy[size] = _accuracy(x[:count], images, size)
    stages = []
    for name in climbed:
        epoch = Measurement.from_samples(epochs_of(turns[name]), name=name)
        size = BATCH_SIZE if name in (DEFAULT, RESIDENT) else LARGE_BATCH
        stages.append(Stage(name, size, epoch, accuracy[size]))
    note = (
        f"Accuracy is on {len(images.x_test):,} new pictures, the mean of {SEEDS} training runs of "
        f"{LEARNING_EPOCHS} epochs on {count:,} others, for each batch size."
    )
    if too_late:
        notes.append(f"The time was up before {', '.join(too_late)}.")
    return Climb(tuple(stages), " ".join([note, *notes]))


def trainings_of(x, y) -> tuple[dict[str, Training], list[str]]:
    """Return the trainings by their stages, and a note on each that this machine lacks.

    They come in the order in which they are begun, since there may be no time for the last ones.
    """
    # A stage keeps the options of `compile` of the stages before it.
    make_model: Callable = partial(quickstart_model, dropout=0)
    arguments = {"x": x, "y": y, "batch_size": BATCH_SIZE}
    small = Training(make_model, arguments, ceil(len(x) / BATCH_SIZE))
    large = replace(small.changed(batch_size=LARGE_BATCH), steps=ceil(len(x) / LARGE_BATCH))
    trainings = {
        DEFAULT: small,
        BIGGER: large,
        RESIDENT: resident_training(small),
    }
    notes = []
    if backend.groups_steps():
        make_model = partial(make_model, steps_per_execution=GROUP)
        trainings[GROUPED] = large.with_model(make_model)
    else:
        notes.append("Steps per execution are left out: this Keras loops over them in Python.")
    if backend.framework() == "jax":
        notes.append("XLA is on in all stages: without it, Keras on JAX compiles nothing.")
    else:
        make_model = partial(make_model, jit_compile=True)
        trainings[XLA] = large.with_model(make_model)
    if "tensorflow" in runtime.describe().frameworks:
        import tensorflow as tf

        # This makes and shuffles the batches itself.
        pictures = tf.data.Dataset.from_tensor_slices((x, y)).cache().shuffle(len(x))
        pipeline = pictures.batch(LARGE_BATCH).prefetch(tf.data.AUTOTUNE)
        of_pipeline = large.changed(x=pipeline, y=None, batch_size=None)
        trainings[TF_DATA] = of_pipeline.with_model(make_model)
    else:
        notes.append("tf.data is left out: TensorFlow is not installed here.")
    return trainings, notes


def _accuracy(x, images: Images, batch_size: int) -> tuple[float, ...]:
    """Train a model on the first pictures, x, with each seed; return the shares of right ones."""
    import keras

    y = images.y_train[: len(x)]
    x_test = images.x_test.astype("float32") / 255
    make_model = partial(quickstart_model, dropout=0, seed=None)
    fit = {"batch_size": batch_size, "epochs": LEARNING_EPOCHS}
    answers = []
    for model in fit_seeds(make_model, x, y, seeds=SEEDS, **fit):
        # The model is called itself, since `predict` would compile a further program.
        scores = keras.ops.convert_to_numpy(model(x_test, training=False))
        answers.append(scores.argmax(axis=-1))
    return Score.of("", answers, images.y_test).by_seed
