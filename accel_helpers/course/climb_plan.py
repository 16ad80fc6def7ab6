"""What the climb of lesson 03 trains on, so that it fits into the time that it may take."""

from collections.abc import Iterable
from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING, Self

from accel_helpers.course.ways import BATCH_SIZE, DEFAULT, STAGES
from accel_helpers.measure.measurement import Measurement
from accel_helpers.train.images import Images

if TYPE_CHECKING:
    import numpy as np

SEEDS = 3  # trainings whose accuracy is averaged
LEARNING_EPOCHS = 5  # epochs of each of these trainings
SHORT_BOX = 1  # seconds: a climb that may take less has one seed
PART = 4_096  # pictures of an epoch of default fit, and of a training for accuracy, at most
LARGER = 8_192  # pictures of an epoch of the other ways, at most


@dataclass(frozen=True)
class Plan:
    """What a climb trains on, and how often."""

    x: "np.ndarray"  # pictures, from 0 to 1
    y: "np.ndarray"  # their labels
    different: int  # the pictures from the first on that accuracy is trained with: none repeats
    seeds: int  # trainings for accuracy

    @classmethod
    def of(cls, images: Images, seconds: float) -> Self:
        """Plan a climb on some images that may take about so many seconds."""
        count = len(images.x_train)
        different = min(count, images.different, PART)
        # A batch that is not full would take a new program, so only full ones are trained on.
        if different >= BATCH_SIZE:
            different -= different % BATCH_SIZE
        seeds = SEEDS if seconds >= SHORT_BOX else 1
        x = images.x_train.astype("float32") / 255
        return cls(x, images.y_train, different, seeds)

    @property
    def count(self) -> int:
        """The number of pictures."""
        return len(self.x)

    def size(self, id: str) -> int:
        """Return how many pictures a timed epoch of a stage has.

        They are so many that starting an epoch takes a small share of it.
        """
        most = PART if id == DEFAULT else LARGER
        return min(self.count, most)

    def part(self, id: str) -> "tuple[np.ndarray, np.ndarray]":
        """Return (pictures, labels) that a stage is timed on."""
        size = self.size(id)
        x = self.x[:size]
        y = self.y[:size]
        return x, y

    def scaled_up(self, id: str, epochs: list[float]) -> Measurement:
        """Return what an epoch of all pictures would take, from a stage's epochs in seconds.

        The first of these also compiled; there is at least one more.
        """
        first, *later = epochs
        factor = self.count / self.size(id)
        # Compiling takes as long for any number of pictures: only the training is scaled up.
        first += (factor - 1) * median(later)
        samples = [factor * epoch for epoch in later]
        return Measurement.from_samples(samples, first_call=first, name=STAGES[id])

    def note(self, ids: Iterable[str], turns: int, test_count: int) -> str:
        """Return a note that says what the accuracy was trained on, and what epochs were timed on.

        `ids` are the stages, `turns` how many timed epochs each has, and `test_count` the number of
        test pictures.
        """
        trainings = f"{self.seeds} trainings of {LEARNING_EPOCHS} epochs"
        text = (
            f'"right" is the mean of {trainings} on {self.different:,} different pictures, for '
            f"each batch size, tested on {test_count:,} others."
        )
        sizes = [self.size(id) for id in ids]
        smallest = min(sizes)
        largest = max(sizes)
        if smallest < self.count:
            pictures = f"{smallest:,} to {largest:,} of the {self.count:,} pictures"
            text += (
                f" Each of {turns} timed epochs is of {pictures}, scaled up with all that an epoch "
                "begins with, so whole epochs are a little shorter."
            )
        return text
