"""Pictures of handwritten digits to train on, with a network or without."""

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
    """Pictures as uint8 of shape (n, 28, 28), and their labels."""

    x_train: Any
    y_train: Any
    x_test: Any
    y_test: Any
    name: str
    note: str  # where they come from
    different: int  # training pictures; those after them repeat the first ones

    def __str__(self) -> str:
        count = len(self.x_train)
        return wrapped(f"{self.name}: {count:,} training images. {self.note}", width=92)


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
        `x_train`, `y_train`, `x_test`, `y_test`, their `name`, a `note` on where they come from.

    Examples
    --------
    >>> load_images(640, source="bundled").x_train.shape
    (640, 28, 28)
    """
    import numpy as np

    count = whole(count, "count")
    source = source or os.environ.get("ACCEL_DATA")
    arrays = None
    failure = ""
    if source != "bundled":
        arrays, failure = _download_mnist(time_limit)
    if arrays is not None:
        name = "MNIST"
        note = "The set that the study material uses."
    else:
        arrays = _bundled_digits()
        name = "scikit-learn digits"
        note = "Real handwriting, 8x8 points brought to 28x28; it needs no network."
        if failure:
            note += f" (MNIST could not be had: {failure})"

    (x, y), (x_test, y_test) = arrays
    different = len(x)
    if count > different:
        note += f" There are {different:,} of them, so they are repeated."
    rows = np.arange(count) % different
    return Images(x[rows], y[rows], x_test, y_test, name, note, min(count, different))


def _download_mnist(seconds: float):
    """MNIST by Keras and "", or None and why: a network may answer, refuse, or never answer."""
    import keras

    outcomes = []

    def download():
        try:
            arrays = keras.datasets.mnist.load_data()
        except Exception:  # whatever a network, or what poses as one, may give
            outcomes.append((None, "the download failed."))
        else:
            outcomes.append((arrays, ""))

    # A daemon, since one that hangs is left behind.
    thread = threading.Thread(target=download, daemon=True)
    # Keras prints its progress.
    with redirect_stdout(io.StringIO()):
        thread.start()
        thread.join(seconds)
    if not outcomes:
        return None, f"no answer within {seconds:g} s."
    return outcomes[0]


def _bundled_digits():
    """scikit-learn's digits as ((x_train, y_train), (x_test, y_test)), always in the same order."""
    import numpy as np
    from sklearn.datasets import load_digits

    x, y = load_digits(return_X_y=True)
    # Each of 8x8 points becomes 3x3, and 0 to 16 becomes 0 to 255; a frame of 2 makes 28x28 of it.
    x = np.kron(x.reshape(-1, 8, 8), np.ones((1, 3, 3))) * (255 / 16)
    x = np.pad(x, ((0, 0), (2, 2), (2, 2))).astype("uint8")
    y = y.astype("int32")
    order = np.random.default_rng(0).permutation(len(x))
    train = order[:1500]
    test = order[1500:]
    return (x[train], y[train]), (x[test], y[test])
