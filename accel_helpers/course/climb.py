"""The climb: from default ``fit`` to resident epochs, one change at a time.

Up to tf.data each stage keeps the changes before it; resident takes the place of all of ``fit``;
and the last one goes back to the small batch, since a large one can cost accuracy.
"""

import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from itertools import pairwise
from statistics import median
from typing import TYPE_CHECKING, ClassVar

from accel_helpers._values.words import wrapped
from accel_helpers.course.ways import (
    BATCH_SIZE,
    BIGGER,
    DEFAULT,
    GROUPED,
    RESIDENT,
    RESIDENT_SMALL,
    STAGES,
    TAKES_AWAY,
    TF_DATA,
    XLA,
    Way,
    in_turns,
    ways_on,
)
from accel_helpers.fit.images import Images
from accel_helpers.fit.stopwatch import stopwatch
from accel_helpers.machine import backend
from accel_helpers.machine.quiet import held_back
from accel_helpers.measure import timing
from accel_helpers.measure.measurement import FEW_SAMPLES, Measurement, Speedup

if TYPE_CHECKING:
    import numpy as np

__all__ = ["Climb", "measure"]

ROUNDS = 7  # turns, of one epoch of each way, after the epoch that also compiles
# The order in which ways are begun; the first ones are never left out.
URGENT = (DEFAULT, BIGGER, RESIDENT_SMALL, RESIDENT, GROUPED, XLA, TF_DATA)
FIRST = URGENT[:3]
LAST_WAY = 0.7  # share of the time after which no further way is begun
LAST_TURN = 0.85  # share of the time after which no further turn is taken
SEEDS = 3  # trainings whose accuracy is averaged
LEARNING_EPOCHS = 5  # epochs of each of these trainings
PART = 4_096  # pictures of an epoch of default fit, and of a training for accuracy, at most
LARGER = 8_192  # pictures of an epoch of the other ways, at most


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
        About how long it may take. To keep to that, epochs are timed on fewer pictures, and the
        last stages are left out where compiling the others took most of the time.

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
    began = time.perf_counter()

    def is_past(share: float) -> bool:
        elapsed = time.perf_counter() - began
        return elapsed > share * seconds

    if device is None:
        # The CPU is always listed first.
        device = backend.devices()[-1]
    x = images.x_train.astype("float32") / 255
    different = min(len(x), images.different, PART)
    # A batch that is not full would take a new program, so only full ones are trained on.
    if different >= BATCH_SIZE:
        different -= different % BATCH_SIZE
    ways, notes = ways_on(device)
    with backend.on(device):
        epochs = _time_epochs(ways, x, images.y_train, is_past)
        # Ways with the same batch size learn alike, so one way of each is enough: the fastest with
        # small batches, and with large ones the one that needs no new program.
        accuracy_by_batch_size = {}
        for id in (BIGGER, RESIDENT_SMALL):
            way = ways[id]
            # Repeated pictures would hide what is learned.
            part = (x[:different], images.y_train[:different])
            accuracy_by_batch_size[way.batch_size] = _accuracy(way, *part, images)
    stages = []
    for id, seconds_of_epochs in epochs.items():
        batch_size = ways[id].batch_size
        epoch = _scaled_up(id, seconds_of_epochs, len(x))
        stage = Stage(id, batch_size, epoch, accuracy_by_batch_size[batch_size])
        stages.append(stage)
    # All stages took the same number of turns.
    turns = len(epoch.samples)
    note = _note(epochs, turns, different, images)
    late_notes = []
    for id in URGENT:
        if id in ways and id not in epochs:
            late_notes.append(f"{STAGES[id]} is left out: the time was up.")
    return Climb(tuple(stages), (wrapped(note), *notes, *late_notes))


def _size(id: str, count: int) -> int:
    """Return how many of the pictures a timed epoch of a stage has.

    They are so many that starting an epoch takes a small share of it.
    """
    most = LARGER
    if id == DEFAULT:
        most = PART
    return min(count, most)


def _time_epochs(
    ways: Mapping[str, Way], x: "np.ndarray", y: "np.ndarray", is_past: Callable[[float], bool]
) -> dict[str, list[float]]:
    """Train in each way, in turns, and return the seconds of its epochs by the way's id.

    The first of them also compiled. The ways are in the order climbed; those to which the time did
    not reach are left out, but none of `FIRST`.
    """
    watches = {}
    trainings = {}
    for id in URGENT:
        is_late = id not in FIRST and is_past(LAST_WAY)
        if id not in ways or is_late:
            continue
        size = _size(id, len(x))
        train = ways[id].on(x[:size], y[:size])
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
        return turns >= FEW_SAMPLES and is_past(LAST_TURN)

    in_turns(climbed, watches, ROUNDS, enough=is_enough)
    return {id: watches[id].epochs for id in climbed}


def _scaled_up(id: str, epochs: list[float], count: int) -> Measurement:
    """Return what an epoch of all pictures would take, from a stage's epochs in seconds.

    The first of these also compiled; there is at least one more.
    """
    first, *later = epochs
    factor = count / _size(id, count)
    # Compiling takes as long for any number of pictures: only the training is scaled up.
    first += (factor - 1) * median(later)
    samples = [factor * epoch for epoch in later]
    return Measurement.from_samples(samples, first_call=first, name=STAGES[id])


def _accuracy(way: Way, x: "np.ndarray", y: "np.ndarray", images: Images) -> tuple[float, ...]:
    """Train a way's model anew with each seed, and return the share of right test pictures."""
    import keras

    x_test = images.x_test.astype("float32") / 255
    train = way.on(x, y)
    shares = []
    for seed in range(SEEDS):
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


def _note(ids: Iterable[str], turns: int, different: int, images: Images) -> str:
    """Return a note that says what the accuracy was trained on, and what epochs were timed on."""
    count = len(images.x_train)
    text = (
        f'"right" is the mean of {SEEDS} trainings of {LEARNING_EPOCHS} epochs on {different:,} '
        f"different pictures, for each batch size, tested on {len(images.x_test):,} others."
    )
    sizes = [_size(id, count) for id in ids]
    smallest = min(sizes)
    if smallest < count:
        text += (
            f" Each of {turns} timed epochs is of {smallest:,} to {max(sizes):,} of the "
            f"{count:,} pictures, scaled up with all that an epoch begins with, so whole epochs "
            "are a little shorter."
        )
    return text
