"""What several of the tests on real Keras models begin with."""

import pytest

from accel_helpers import backend, training

collect_ignore = ["conftest.py"]  # it has no doctest, and shares its name with those further down


@pytest.fixture(scope="session")
def keras():
    backend.choose()
    import keras

    return keras


@pytest.fixture(scope="session")
def digits(keras):
    """500 real pictures as a model takes them, and their labels."""
    found = training.load_images(500, source="bundled")
    x, y = (found.x_train / 255).astype("float32"), found.y_train.astype("int32")
    x.flags.writeable = y.flags.writeable = False  # the tests share them
    return x, y
