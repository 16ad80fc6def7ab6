"""Every lesson's bar of a step, and the library's, have the same largest part, on five models."""

import re
from functools import partial
from types import SimpleNamespace

import numpy as np
import pytest
from cells import cells, the_cell

from accel_helpers.fit.parts import StepParts, step_parts
from accel_helpers.fit.profile import profile_fit

STEPS = 50  # of an epoch in lesson 03's cell, which has 100
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


def by_hand(case):
    """The largest part in the bar of lesson 03's cells."""
    x, y = data(case)
    space = {"make_model": case.make_model, "x": x, "y": y}
    space["lesson"] = SimpleNamespace(plot=lambda *given: None)
    exec(the_cell("03", "class EpochTimer").source, space)
    step_of = the_cell("03", "def step_of(").source
    exec(step_of.replace("steps=100", f"steps={STEPS}"), space)
    bar = the_cell("03", "with_memory =").source.replace("width=128", f"width={case.width}")
    exec(bar.replace("batch_size=32", f"batch_size={case.batch}"), space)
    return max(space["parts"], key=space["parts"].get)


def by_the_library(case):
    """The largest part by the function that lessons 07 to 09 use."""
    sizes = {"width": case.width, "batch_size": case.batch}
    return step_parts(case.make_model, *data(case), **sizes, seconds=3).largest


def by_the_profile(case):
    """The largest of the same three parts by `profile_fit`, which also tells the input apart."""
    make_model = partial(case.make_model, case.width)
    profile = profile_fit(make_model, *data(case), batch_size=case.batch, seconds=15)
    shares = {part: profile.shares.get(part, 0.0) for part in StepParts.OUTCOMES}
    return max(shares, key=shares.__getitem__)


BY_DAY = [("narrow", by_hand), ("large", by_the_library), ("narrow", by_the_profile)]
BARS = []
for name in CASES:
    for bar in (by_hand, by_the_library, by_the_profile):
        mark = pytest.mark.slow if (name, bar) in BY_DAY else pytest.mark.night
        BARS.append(pytest.param(CASES[name], bar, marks=mark, id=f"{name}-{bar.__name__}"))


@pytest.mark.usefixtures("keras")
@pytest.mark.parametrize(("case", "bar"), BARS)
def test_the_largest_part_is_the_same_wherever_it_is_measured(case, bar):
    tries = (bar(case) for _ in range(TRIES))
    assert case.largest in tries


@pytest.mark.slow
@pytest.mark.parametrize("number", ["07", "08"])
def test_a_lesson_after_03_measures_its_bar_by_the_library(number):
    """A bar that a page takes apart itself would be a second model of a step."""
    assert cells(number, "step_parts(")
    assert not [cell for cell in cells(number) if re.search(r"\bwith_memory\b", cell.source)]
