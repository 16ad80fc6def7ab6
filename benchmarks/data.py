"""Images as files that every child process can read, whatever it has installed."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from pathlib import Path

PARTS = ("x", "y", "x_test", "y_test")


@dataclass(frozen=True)
class Data:
    """Images as floats from 0 to 1 and their labels, as NumPy arrays.

    Attributes
    ----------
    x, x_test : numpy.ndarray
        float32 of shape (n, 28, 28).
    y, y_test : numpy.ndarray
        Integers of shape (n,).
    """

    x: object
    y: object
    x_test: object
    y_test: object


def save(folder, count: int) -> dict:
    """Write images into a folder.

    Parameters
    ----------
    folder : path-like
    count : int
        Training images; real ones are repeated to reach it.

    Returns
    -------
    dict
        What they are: name, count, how many differ, test_count.
    """
    import numpy as np

    from accel_helpers.fit.images import load_images

    images = load_images(count)
    arrays = (
        (images.x_train / 255).astype("float32"),
        images.y_train,
        (images.x_test / 255).astype("float32"),
        images.y_test,
    )
    for part, array in zip(PARTS, arrays, strict=True):
        np.save(Path(folder) / f"{part}.npy", array)
    sizes = {"count": count, "different": images.different, "test_count": len(images.x_test)}
    return {"name": images.name, **sizes}


def load(folder) -> Data:
    """Read what `save` wrote."""
    import numpy as np

    return Data(*(np.load(Path(folder) / f"{part}.npy") for part in PARTS))


if __name__ == "__main__":
    print(json.dumps(save(sys.argv[1], int(sys.argv[2]))))
