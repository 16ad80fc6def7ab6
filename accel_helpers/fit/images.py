"""Real images for the lesson model, with a network or without."""

import io
import os
import threading
from contextlib import redirect_stdout, suppress
from dataclasses import dataclass
from typing import Any

from accel_helpers._values.records import whole
from accel_helpers._values.words import wrapped

FOR_TRAINING = 1500  # of scikit-learn's 1,797 digits; the others are for tests


@dataclass(frozen=True)
class Images:
    """Pictures of handwritten digits, for training and for tests, and their labels."""

    # Pictures are arrays of uint8 of shape (n, 28, 28), labels arrays of n numbers from 0 to 9.
    x_train: Any
    y_train: Any
    x_test: Any
    y_test: Any
    name: str  # of the data set
    note: str  # sentences on where the pictures come from
    different: int  # how many training images there are before they repeat

    def __str__(self) -> str:
        text = f"{self.name}: {len(self.x_train):,} training images. {self.note}"
        return wrapped(text, width=92)


def load_images(
    count: int = 60_000, *, source: str | None = None, time_limit: float = 30.0
) -> Images:
    """Load handwritten digits: MNIST where it can be had, scikit-learn's where not.

    Parameters
    ----------
    count : int, optional
        Training images, by default as many as MNIST has. Real ones are repeated to reach it,
        which says nothing about accuracy.
    source : str, optional
        "bundled" looks for no network; so does the environment variable ``ACCEL_DATA``.
    time_limit : float, optional
        Seconds that a download may take.

    Returns
    -------
    Images
        `x_train`, `y_train`, `x_test`, `y_test`, their `name`, and a `note` on where they come
        from.

    Raises
    ------
    ValueError
        If `count` is no whole number from 1 on.

    Examples
    --------
    >>> load_images(640, source="bundled").x_train.shape
    (640, 28, 28)
    """
    import numpy as np

    count = whole(count, "count")
    name = "MNIST"
    note = "The set that the study material uses."
    arrays = None
    is_bundled = (source or os.environ.get("ACCEL_DATA")) == "bundled"
    if not is_bundled:
        arrays = _mnist(time_limit)
    if arrays is None:
        arrays = _digits()
        name = "scikit-learn digits"
        note = "Real handwriting, 8x8 points brought to 28x28; it needs no network."
        if not is_bundled:
            note += f" (MNIST could not be had within {time_limit:g} s.)"
    (x, y), (x_test, y_test) = arrays
    different = min(count, len(x))
    if count > different:
        note += f" There are {different:,} of them, so they are repeated."
    rows = np.arange(count) % len(x)
    return Images(x[rows], y[rows], x_test, y_test, name, note, different)


def _mnist(seconds: float) -> tuple | None:
    """Return MNIST as ((x, y), (x_test, y_test)), or None if it cannot be had in so many seconds.

    Keras loads it from its cache or a network.
    """
    import keras

    found = []

    def load() -> None:
        # whatever a network, or what stands in for one, may answer
        with suppress(Exception):
            found.append(keras.datasets.mnist.load_data())

    # A network may never answer: then the thread is left behind, and ends with the process. What
    # Keras prints meanwhile, a progress bar, is not shown.
    thread = threading.Thread(target=load, daemon=True)
    with redirect_stdout(io.StringIO()):
        thread.start()
        thread.join(seconds)
    return found[0] if found else None


def _digits() -> tuple[tuple, tuple]:
    """Return scikit-learn's digits as ((x, y), (x_test, y_test)), in the form of MNIST."""
    import numpy as np
    from sklearn.datasets import load_digits

    points, labels = load_digits(return_X_y=True)
    # Each of 8 x 8 points, from 0 to 16, becomes 3 x 3 pixels; a margin of 2 makes it 28 x 28.
    enlarged = points.reshape(-1, 8, 8).repeat(3, axis=1).repeat(3, axis=2) * (255 / 16)
    pictures = np.pad(enlarged, ((0, 0), (2, 2), (2, 2))).astype("uint8")
    order = np.random.default_rng(0).permutation(len(pictures))
    x, x_test = np.split(pictures[order], [FOR_TRAINING])
    y, y_test = np.split(labels[order].astype("int32"), [FOR_TRAINING])
    return (x, y), (x_test, y_test)
