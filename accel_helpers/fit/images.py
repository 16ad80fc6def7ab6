"""Real images for the lesson model, with a network or without."""

import io
import os
import threading
from contextlib import redirect_stdout
from dataclasses import dataclass
from typing import Any

from accel_helpers._values.records import whole
from accel_helpers._values.words import wrapped


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
    obstacle = ""
    if (source or os.environ.get("ACCEL_DATA")) != "bundled":
        arrays, obstacle = _mnist(time_limit)
    if arrays is None:
        arrays = _digits()
        name = "scikit-learn digits"
        note = "Real handwriting, 8x8 points brought to 28x28; it needs no network."
        if obstacle:
            note += f" (MNIST could not be had: {obstacle})"

    (x, y), (x_test, y_test) = arrays
    different = min(count, len(x))
    if count > len(x):
        note += f" There are {len(x):,} of them, so they are repeated."
    rows = np.arange(count) % len(x)
    return Images(x[rows], y[rows], x_test, y_test, name, note, different)


def _mnist(seconds: float) -> tuple[tuple | None, str]:
    """Return (MNIST, "") or, where it cannot be had within so many seconds, (None, the reason).

    MNIST is ((x, y), (x_test, y_test)), as Keras loads it from its cache or a network.
    """
    import keras

    outcomes = []

    def load() -> None:
        try:
            outcomes.append((keras.datasets.mnist.load_data(), ""))
        except Exception:
            # Whatever a network, or what stands in for one, may answer.
            outcomes.append((None, "the download failed."))

    # A network may never answer: then the thread is left behind, and ends with the process. What
    # Keras prints meanwhile, a progress bar, is not shown.
    thread = threading.Thread(target=load, daemon=True)
    with redirect_stdout(io.StringIO()):
        thread.start()
        thread.join(seconds)
    if not outcomes:
        return None, f"no answer within {seconds:g} s."
    return outcomes[0]


def _digits() -> tuple[tuple, tuple]:
    """Return scikit-learn's digits as ((x, y), (x_test, y_test)), in the form of MNIST.

    1,500 of them are for training, the other 297 for tests.
    """
    import numpy as np
    from sklearn.datasets import load_digits

    points, labels = load_digits(return_X_y=True)
    # Each of 8 x 8 points, from 0 to 16, becomes 3 x 3 pixels; a margin of 2 makes it 28 x 28.
    enlarged = np.kron(points.reshape(-1, 8, 8), np.ones((1, 3, 3))) * (255 / 16)
    pictures = np.pad(enlarged, ((0, 0), (2, 2), (2, 2))).astype("uint8")
    labels = labels.astype("int32")
    order = np.random.default_rng(0).permutation(len(pictures))
    train = order[:1500]
    test = order[1500:]
    return (pictures[train], labels[train]), (pictures[test], labels[test])
