"""The bar of a step and the profile of a training have the same largest part."""

from functools import partial

import numpy as np
import pytest

from accel_helpers import profile_fit
from accel_helpers.fit.time_fit import step_parts

STEPS = 50  # of an epoch
TRIES = 3  # a busy machine may spoil one measurement; a wrong bar is wrong each time


def make_model(shape, width):
    import keras

    pictures = len(shape) == 3
    layers = [keras.layers.Dense(width, "relu")]
    if pictures:
        layers = [keras.layers.Conv2D(width, 3, activation="relu") for _ in range(2)]
        layers.append(keras.layers.GlobalAveragePooling2D())
    model = keras.Sequential([keras.Input(shape), *layers, keras.layers.Dense(10)])
    model.compile("adam", "mse", jit_compile=keras.config.backend() == "jax")
    return model


def by_the_library(make_model, x, y, width, batch):
    """By the function that lessons 07 and 08 use."""
    return step_parts(make_model, x, y, width=width, batch_size=batch, seconds=3).shares


def by_the_profile(make_model, x, y, width, batch):
    """By `profile_fit`, which also tells the input apart."""
    profile = profile_fit(partial(make_model, width), x, y, batch_size=batch, seconds=15)
    return {part: profile.shares.get(part, 0.0) for part in ("compute", "memory", "overhead")}


@pytest.mark.usefixtures("keras")
@pytest.mark.parametrize(
    ("shape", "width", "batch", "largest"),
    [
        pytest.param((784,), 4, 2, "overhead", marks=pytest.mark.slow),
        pytest.param((784,), 1024, 1024, "compute", marks=pytest.mark.slow),
        pytest.param((784,), 8192, 1, "memory", marks=pytest.mark.night),
        pytest.param((32, 32, 3), 32, 32, "compute", marks=pytest.mark.night),
    ],
)
@pytest.mark.parametrize("bar", [by_the_library, by_the_profile])
def test_the_largest_part_is_the_same_wherever_it_is_measured(bar, shape, width, batch, largest):
    random = np.random.default_rng(0)
    rows = max(STEPS * batch, 256)
    x = random.random((rows, *shape), dtype="float32")
    y = random.random((rows, 10), dtype="float32")
    shares = (bar(partial(make_model, shape), x, y, width, batch) for _ in range(TRIES))
    assert largest in (max(parts, key=parts.get) for parts in shares)
