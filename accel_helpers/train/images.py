"""Real images for the lesson model, with a network or without."""

import io
import os
import threading
from contextlib import redirect_stdout
from dataclasses import dataclass

from accel_helpers._values.records import whole
from accel_helpers._values.words import wrapped


@dataclass(frozen=True)
class Images:
    """Pictures as uint8 of shape (n, 28, 28), and labels; those after `different` repeat others."""

    x_train: object
    y_train: object
    x_test: object
    y_test: object
    name: str
    note: str
    different: int

    def __str__(self) -> str:
        said = f"{self.name}: {len(self.x_train):,} training images. {self.note}"
        return wrapped(said, width=92)


def load_images(
    count: int = 60_000, *, source: str | None = None, time_limit: float = 30.0
) -> Images:
    """Handwritten digits: MNIST where it can be had, scikit-learn's where not.

    `x_train`, `y_train`, `x_test`, `y_test`, their `name`, a `note` on where they come from.

    Parameters
    ----------
    count : int, optional
        Training images, by default as many as MNIST has. Real ones are repeated to reach it,
        which says nothing about accuracy.
    source : str, optional
        "bundled" looks for no network; so does the environment variable ``ACCEL_DATA``.
    time_limit : float, optional
        Seconds that a download may take.

    Examples
    --------
    >>> load_images(640, source="bundled").x_train.shape
    (640, 28, 28)
    """
    import numpy as np

    count, name = whole(count, "count"), "MNIST"
    note, arrays, why = "The set that the study material uses.", None, ""
    if (source or os.environ.get("ACCEL_DATA")) != "bundled":
        arrays, why = _mnist(time_limit)
    if arrays is None:
        arrays, name = _digits(), "scikit-learn digits"
        note = "Real handwriting, 8x8 points brought to 28x28; it needs no network."
        note += f" (MNIST could not be had: {why})" if why else ""

    (x, y), test = arrays
    if count > len(x):
        note += f" There are {len(x):,} of them, so they are repeated."
    keep = np.arange(count) % len(x)
    return Images(x[keep], y[keep], *test, name, note, min(count, len(x)))


def _mnist(seconds: float):
    """MNIST by Keras, or why it is not to be had: a network may answer, refuse, or never answer."""
    import keras

    ended = []

    def load():
        try:
            ended.append((keras.datasets.mnist.load_data(), ""))
        except Exception:  # whatever a network, or what poses as one, may give
            ended.append((None, "the download failed."))

    thread = threading.Thread(target=load, daemon=True)  # one that hangs is left behind
    with redirect_stdout(io.StringIO()):  # Keras's progress
        thread.start()
        thread.join(seconds)
    return ended[0] if ended else (None, f"no answer within {seconds:g} s.")


def _digits():
    import numpy as np
    from sklearn.datasets import load_digits

    x, y = load_digits(return_X_y=True)
    x = np.kron(x.reshape(-1, 8, 8), np.ones((1, 3, 3))) * (255 / 16)  # each point becomes 3x3
    x = np.pad(x, ((0, 0), (2, 2), (2, 2))).astype("uint8")
    order = np.random.default_rng(0).permutation(len(x))
    return [(x[part], y[part].astype("int32")) for part in (order[:1500], order[1500:])]
