"""Turns: each variant has a fresh model, and gives the seconds of an epoch."""

import itertools
import math
from functools import partial

import numpy as np
import pytest

from accel_helpers import worth
from accel_helpers.course.quickstart import quickstart_model
from accel_helpers.train.stopwatch import stopwatch
from accel_helpers.worth.fresh_models import FreshModels
from accel_helpers.worth.training_data import training_data
from accel_helpers.worth.turns import FIT, NOTHING, RESIDENT, ResidentTraining, Turns, Variant

VARIANTS = {
    "as it is": Variant("cpu", 32, 1, jit_compile=False),
    "larger batches": Variant("cpu", 256, 1, jit_compile=False),
    "grouped": Variant("cpu", 32, 4, jit_compile=False),
    "xla": Variant("cpu", 32, 1, jit_compile=True),
    "resident": Variant("cpu", 32, 1, jit_compile=False, method=RESIDENT),
    "nothing": Variant("cpu", 32, 1, jit_compile=False, method=NOTHING),
}


@pytest.fixture
def made():
    """The models that were made, the first one included."""
    return []


@pytest.fixture
def turns(keras, digits, made):
    def make_model():
        made.append(quickstart_model())
        return made[-1]

    return Turns(FreshModels(make_model), training_data(*digits, 32), turn_seconds=0.02)


@pytest.mark.parametrize("name", VARIANTS)
def test_each_kind_of_variant_is_timed(turns, name):
    turns(VARIANTS["as it is"])
    seconds = [turns(VARIANTS[name]) for _ in range(2)]
    assert min(seconds) > 0


def test_a_turn_of_resident_training_counts_for_a_whole_epoch(keras, digits, monkeypatch):
    x, y = (np.concatenate(20 * [array]) for array in digits)
    times = itertools.count()
    watch = partial(stopwatch, clock=lambda: float(next(times)))
    monkeypatch.setattr(worth.turns, "stopwatch", watch)
    data = training_data(x, y, 32)
    variant = VARIANTS["resident"]
    training = ResidentTraining(quickstart_model(), data, variant, most_steps=64, turn_seconds=1.0)
    epoch_steps = math.ceil(len(x) / 32)
    assert training.seconds_per_epoch() == epoch_steps / 2, "two steps took a second"


def test_what_computes_nothing_is_faster_than_a_wide_model(keras, digits):
    models = FreshModels(partial(quickstart_model, width=4096))
    turns = Turns(models, training_data(*digits, 32), turn_seconds=0.02)
    seconds = {}
    for name in ("as it is", "nothing"):
        turns(VARIANTS[name])  # compiles
        seconds[name] = min(turns(VARIANTS[name]) for _ in range(3))
    assert seconds["nothing"] < seconds["as it is"]


def test_each_variant_is_trained_on_a_model_of_its_own(turns, made):
    trained = [VARIANTS["as it is"], VARIANTS["larger batches"], VARIANTS["resident"]]
    for variant in trained:
        turns(variant)
        turns(variant)
    assert len(made) == 1 + len(trained)
    assert made[0].optimizer.iterations == 0
    for model in made[1:]:
        assert model.optimizer.iterations > 0


def test_a_variant_that_was_forgotten_begins_with_a_fresh_model(turns, made):
    turns(VARIANTS["as it is"])
    turns.forget(VARIANTS["as it is"])
    turns.forget(VARIANTS["xla"])  # never made
    turns(VARIANTS["as it is"])
    assert len(made) == 3


@pytest.mark.filterwarnings("ignore:Model doesn't support")
def test_a_layer_that_xla_cannot_compile_is_said(keras, digits):
    class Eager(keras.layers.Layer):
        def __init__(self):
            super().__init__()
            self.supports_jit = False

        def call(self, x):
            return x

    def make_model():
        layers = [keras.layers.Flatten(), Eager(), keras.layers.Dense(10)]
        model = keras.Sequential([keras.Input((28, 28)), *layers])
        loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
        model.compile("sgd", loss, jit_compile=False)
        return model

    turns = Turns(FreshModels(make_model), training_data(*digits, 32), turn_seconds=0.02)
    with pytest.raises(ValueError, match="XLA cannot compile"):
        turns(VARIANTS["xla"])


def test_arrays_are_cut_to_what_a_turn_needs(keras):
    x, y = {"a": np.zeros((1000, 3)), "b": np.zeros((1000, 2))}, np.zeros(1000)
    data = training_data(x, y, 32)
    arguments, steps = data.for_fit(batch_size=32, most_steps=5)
    assert steps == 5
    assert arguments["x"]["b"].shape == (160, 2)
    _, steps = data.for_fit(batch_size=32, most_steps=50)
    assert steps == data.steps(32) == 32


@pytest.mark.parametrize("method", [FIT, NOTHING])
def test_a_batch_that_is_larger_than_the_data_is_one_step(keras, digits, method):
    x, y = digits
    data = training_data(x[:20], y[:20], 32)
    assert data.steps(32) == 1
    turns = Turns(FreshModels(quickstart_model), data, turn_seconds=0.01)
    assert turns(Variant("cpu", 32, 1, jit_compile=False, method=method)) > 0
