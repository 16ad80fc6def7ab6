"""The bar of a step and the profile of a training have the same largest part."""

from functools import partial

import numpy as np
import pytest

from accel_helpers import profile_fit
from accel_helpers.fit.time_fit import step_parts

TRIES = 3  # a busy machine may spoil one measurement; a wrong bar is wrong each time


def make_model(width):
    import keras

    layers = [keras.layers.Dense(width, "relu"), keras.layers.Dense(10)]
    model = keras.Sequential([keras.Input((784,)), *layers])
    model.compile("adam", "mse", jit_compile=keras.config.backend() == "jax")
    return model


def by_the_library(x, y, width, batch):
    """By the function that lessons 07 and 08 use."""
    return step_parts(make_model, x, y, width=width, batch_size=batch, seconds=3).shares


def by_the_profile(x, y, width, batch):
    """By `profile_fit`, which also tells the input apart."""
    profile = profile_fit(partial(make_model, width), x, y, batch_size=batch, seconds=15)
    shares = dict(profile.shares)
    shares.pop("input", None)
    return shares


@pytest.mark.slow
@pytest.mark.usefixtures("keras")
@pytest.mark.parametrize(
    ("width", "batch", "largest"),
    [
        (4, 2, "overhead"),
        (1024, 1024, "compute"),
        pytest.param(8192, 1, "memory", marks=pytest.mark.night),
    ],
)
@pytest.mark.parametrize("bar", [by_the_library, by_the_profile])
def test_the_largest_part_is_the_same_wherever_it_is_measured(bar, width, batch, largest):
    random = np.random.default_rng(0)
    rows = max(50 * batch, 256)
    x = random.random((rows, 784), dtype="float32")
    y = random.random((rows, 10), dtype="float32")
    found = []
    for _ in range(TRIES):
        shares = bar(x, y, width, batch)
        found.append(max(shares, key=shares.get))
    assert largest in found
