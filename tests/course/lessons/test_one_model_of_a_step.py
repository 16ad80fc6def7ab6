"""The bar of a step and the profile of a training have the same largest part, on five models."""

from functools import partial
from types import SimpleNamespace

import numpy as np
import pytest

from accel_helpers import profile_fit
from accel_helpers.fit.time_fit import step_parts

STEPS = 50  # of an epoch
PARTS = ("compute", "memory", "overhead")
TRIES = 3  # a busy machine may spoil one measurement; a wrong bar is wrong each time


class Case(SimpleNamespace):
    """A model by its width, what it is fed, the real sizes, and the part that must be largest."""


def compiled(shape, layers):
    import keras

    model = keras.Sequential([keras.Input(shape), *layers, keras.layers.Dense(10)])
    model.compile("adam", "mse", jit_compile=keras.config.backend() == "jax")
    return model


def dense(width):
    import keras

    return compiled((784,), [keras.layers.Dense(width, "relu")])


def deep(width):
    import keras

    return compiled((784,), [keras.layers.Dense(width, "relu") for _ in range(20)])


def convolutional(width):
    import keras

    layers = [keras.layers.Conv2D(width, 3, activation="relu") for _ in range(2)]
    return compiled((32, 32, 3), [*layers, keras.layers.GlobalAveragePooling2D()])


CASES = {
    "narrow": Case(make_model=dense, shape=(784,), width=4, batch=2, largest="overhead"),
    "deep": Case(make_model=deep, shape=(784,), width=8, batch=2, largest="overhead"),
    "one row": Case(make_model=dense, shape=(784,), width=8192, batch=1, largest="memory"),
    "large": Case(make_model=dense, shape=(784,), width=1024, batch=1024, largest="compute"),
    "pictures": Case(
        make_model=convolutional, shape=(32, 32, 3), width=32, batch=32, largest="compute"
    ),
}


def data(case):
    random = np.random.default_rng(0)
    rows = max(STEPS * case.batch, 256)
    x = random.random((rows, *case.shape), dtype="float32")
    return x, random.random((rows, 10), dtype="float32")


def by_the_library(case):
    """The largest part by the function that lessons 07 and 08 use."""
    sizes = {"width": case.width, "batch_size": case.batch}
    shares = step_parts(case.make_model, *data(case), **sizes, seconds=3).shares
    return max(shares, key=shares.__getitem__)


def by_the_profile(case):
    """The largest of the same three parts by `profile_fit`, which also tells the input apart."""
    make_model = partial(case.make_model, case.width)
    profile = profile_fit(make_model, *data(case), batch_size=case.batch, seconds=15)
    shares = {part: profile.shares.get(part, 0.0) for part in PARTS}
    return max(shares, key=shares.__getitem__)


BY_DAY = [("large", by_the_library), ("narrow", by_the_profile)]
BARS = []
for name in CASES:
    for bar in (by_the_library, by_the_profile):
        mark = pytest.mark.slow if (name, bar) in BY_DAY else pytest.mark.night
        BARS.append(pytest.param(CASES[name], bar, marks=mark, id=f"{name}-{bar.__name__}"))


@pytest.mark.usefixtures("keras")
@pytest.mark.parametrize(("case", "bar"), BARS)
def test_the_largest_part_is_the_same_wherever_it_is_measured(case, bar):
    tries = (bar(case) for _ in range(TRIES))
    assert case.largest in tries
