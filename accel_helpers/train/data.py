"""Real pictures of handwritten digits: MNIST where it can be had, scikit-learn's where not."""

from __future__ import annotations

import os
import textwrap
from dataclasses import dataclass

from accel_helpers import probe

IMAGES = 60_000  # in MNIST's training set


@dataclass(frozen=True)
class Images:
    """Real pictures of handwritten digits, 28x28 bytes each, with their labels.

    Attributes
    ----------
    x_train, y_train, x_test, y_test : numpy.ndarray
        Pictures as uint8 of shape (n, 28, 28), labels as integers of shape (n,).
    name : str
        "MNIST" or "scikit-learn digits".
    note : str
        Where they come from, and what was done to them.
    different : int
        How many of the training images differ; the first so many. The others repeat them.
    """

    x_train: object
    y_train: object
    x_test: object
    y_test: object
    name: str
    note: str
    different: int

    def __str__(self) -> str:
        said = f"{self.name}: {len(self.x_train):,} training images. {self.note}"
        return textwrap.fill(said, 92, break_on_hyphens=False)


def load_images(
    count: int = IMAGES, *, source: str | None = None, time_limit: float = 30.0
) -> Images:
    """Handwritten digits: MNIST where it can be had, scikit-learn's where not.

    Parameters
    ----------
    count : int, optional
        Training images wanted. Real images are repeated to reach it, which is fair for
        timing and says nothing about accuracy.
    source : str, optional
        "mnist", "bundled" or "auto" (the default, or the environment variable ``ACCEL_DATA``).
    time_limit : float, optional
        Seconds that a download may take.

    Returns
    -------
    Images

    Raises
    ------
    ValueError
        If an argument is not as above.
    ConnectionError
        If `source` is "mnist" and MNIST could not be had.
    """
    if isinstance(count, bool) or not isinstance(count, int) or count < 1:
        raise ValueError(f"count must be a whole number of images, 1 or more; got {count!r}.")
    source = source or os.environ.get("ACCEL_DATA") or "auto"
    if source not in ("auto", "mnist", "bundled"):
        raise ValueError(f"source must be 'auto', 'mnist' or 'bundled'; got {source!r}.")
    arrays, why = (None, "") if source == "bundled" else _mnist(time_limit)
    if arrays is not None:
        name, note = "MNIST", "The set that the study material uses."
    elif source == "mnist":
        raise ConnectionError(f"MNIST could not be had: {why} source='bundled' needs no network.")
    else:
        arrays, name = _digits(), "scikit-learn digits"
        note = "Real handwriting, 8x8 points brought to 28x28; it needs no network."
        if why:
            note += f" (MNIST could not be had: {why})"
    (x, y), (x_test, y_test) = arrays
    if count > len(x):
        note += f" There are {len(x):,} of them, so they are repeated."
    import numpy as np

    keep = np.arange(count) % len(x)
    return Images(x[keep], y[keep], x_test, y_test, name, note, min(count, len(x)))


def fetch(code: str, time_limit: float) -> tuple[str, str]:
    """Run code that downloads something, in a child process that can be ended.

    Parameters
    ----------
    code : str
        Python code; Keras may be imported in it.
    time_limit : float
        Seconds.

    Returns
    -------
    tuple of str
        The last line that it printed, and why nothing came; one of the two is empty.

    Examples
    --------
    >>> fetch("print('there')", 30)
    ('there', '')
    """
    ended = probe.run(code, seconds=time_limit, environ={"KERAS_BACKEND": "numpy"})  # starts first
    if ended.kind == "too slow":
        return "", f"no answer within {time_limit:g} s."
    if ended.kind == "crashed":
        return "", "the download failed."
    return ended.output.rstrip().rpartition("\n")[2], ""


# ---------------------------------------------------------------------------------------------


def _mnist(time_limit: float):
    """MNIST through Keras, or None and the reason.

    A child process checks or downloads the file in Keras's own folder: a network may never
    answer, and a child can be ended, while a thread would go on beside the lesson's measurements.
    It is asked even where the file is there, since an ended download leaves half of one.
    """
    _, why = fetch("import keras; keras.datasets.mnist.load_data()", time_limit)
    if why:
        return None, why
    import keras

    return keras.datasets.mnist.load_data(), ""  # whole by now, so nothing is fetched here


def _digits():
    import numpy as np

    try:
        from sklearn.datasets import load_digits
    except ImportError:
        raise RuntimeError(
            "No images: MNIST could not be had and scikit-learn, which brings its own digits, is "
            "not installed. Run: pip install scikit-learn"
        ) from None
    x, y = load_digits(return_X_y=True)
    x = x.reshape(-1, 8, 8)
    x = np.kron(x, np.ones((1, 3, 3))) * (255 / 16)  # each point becomes 3x3 points
    x = np.pad(x, ((0, 0), (2, 2), (2, 2))).astype("uint8")
    order = np.random.default_rng(0).permutation(len(x))
    train, test = order[:1500], order[1500:]
    return (x[train], y[train].astype("int64")), (x[test], y[test].astype("int64"))
