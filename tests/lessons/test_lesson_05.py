"""Lesson 05 with a learner's own model in it: data of other shapes go through every cell."""

import json
from pathlib import Path

import numpy as np
import pytest

import accel_helpers as ah
from accel_helpers.lessons import lesson_05
from accel_helpers.measure import step_time
from accel_helpers.train.forecast import Forecast

PAGE = Path(__file__).parents[2] / "notebooks" / "05_is_it_worth_it.ipynb"


def table(keras):
    """A table of 600 rows, in batches of 64."""
    dice = np.random.default_rng(0)
    layers = [keras.Input((12,)), keras.layers.Dense(32, "relu"), keras.layers.Dense(3)]
    x, y = dice.random((600, 12), "float32"), dice.integers(0, 3, 600)
    return keras.Sequential(layers), {"x": x, "y": y, "batch": 64, "examples": 20_000}


def frozen(keras):
    """Pictures, and a base of which nothing is trained."""
    dice = np.random.default_rng(0)
    inside = keras.layers.Conv2D(8, 3), keras.layers.BatchNormalization()
    base = keras.Sequential([keras.Input((24, 24, 3)), *inside], name="base")
    base.trainable = False
    layers = [keras.Input((24, 24, 3)), base, keras.layers.GlobalAveragePooling2D()]
    x, y = dice.random((320, 24, 24, 3), "float32"), dice.integers(0, 5, 320)
    return keras.Sequential([*layers, keras.layers.Dense(5)]), {"x": x, "y": y}


def dataset(keras):
    """A tf.data.Dataset, which has its targets in it."""
    tf = pytest.importorskip("tensorflow")
    model, own = table(keras)
    x = tf.data.Dataset.from_tensor_slices((own["x"], own["y"])).batch(16)
    return model, {"x": x, "y": None, "batch": 16}


def two_inputs(keras):
    """A dictionary of arrays."""
    parts = {name: keras.Input((6,), name=name) for name in ("left", "right")}
    made = keras.layers.Dense(3)(keras.layers.Concatenate()([*parts.values()]))
    dice = np.random.default_rng(0)
    x = {name: dice.random((320, 6), "float32") for name in parts}
    return keras.Model(parts, made), {"x": x, "y": dice.integers(0, 3, 320)}


def cells():
    """The code of the lesson, from its data to its verdict."""
    page = json.loads(PAGE.read_text("utf-8"))["cells"]
    code = ["".join(cell["source"]) for cell in page if cell["cell_type"] == "code"]
    first = next(at for at, text in enumerate(code) if "load_images" in text)
    last = next(at for at, text in enumerate(code) if '"05/verdict"' in text)
    return code[first : last + 1]


@pytest.mark.parametrize("bring", [table, frozen, dataset, two_inputs])
def test_the_lesson_goes_through_with_a_model_of_ones_own(keras, bring, capsys):
    model, given = bring(keras)

    def make_model():
        mine = keras.models.clone_model(model)
        for layer, original in zip(mine.layers, model.layers, strict=True):
            layer.trainable = original.trainable
        loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
        mine.compile("adam", loss, metrics=["accuracy"], jit_compile=False)
        return mine

    space = {"ah": ah}
    for code in cells():
        exec(code, space)
        if "load_images" in code:
            space |= given
        if "def make_model" in code:
            space["make_model"] = make_model
    said = capsys.readouterr().out
    large = 8 * space["batch"]
    assert [*space["tries"]] == [
        "your model, as above",
        f"your model, batches of {large}",
        "dense model, batches of 32",
        "dense model, batches of 256",
    ]
    assert said.count("minutes here,") == 4
    labels = {each.verdict for each in space["tries"].values()}
    assert labels <= {"worth it", "not worth it", "the interval holds both", "cannot be told yet"}


def test_steps_of_an_epoch_are_counted_for_data_of_any_shape(keras):
    tf = pytest.importorskip("tensorflow")
    x = np.zeros((100, 4), "float32")
    data = tf.data.Dataset.from_tensor_slices((x, x)).batch(10)
    assert [lesson_05.batches_in(each, 32) for each in (x, {"a": x}, [x, x], data)] == [4, 4, 4, 4]
    assert lesson_05.batches_in(data, 10) == 10


def known(here, chips=("T4",), count=5):
    """A forecast of a small model, where a step takes a known time here."""
    load = step_time.Load(1e9, made=1e6, parameters=1e5, operations=20)
    rows = tuple(step_time.on_chip(load, chip, "float32", True) for chip in chips)
    times = ([each] * count for each in (here, 1e-3))
    both = [ah.timing.Measurement.from_samples(each) for each in times]
    return Forecast("small", 32, True, "float32", rows, (), 100, *both)


def test_the_guess_is_held_against_the_forecast_where_nothing_raced():
    found = known(here=0.1)
    middle, remark = lesson_05.answer(found, race=None)
    low, high = found.faster(found.rows[0])
    assert low < middle < high and "nothing was measured" in remark
    assert lesson_05.answer(known(here=0.1, count=1), race=None) is None
    assert lesson_05.met(known(here=0.1, count=1), None, False)[0] == "too few samples"


def test_the_table_names_one_chip_to_choose():
    found = known(here=1.0, chips=("T4", "A100", "H100"))
    here, there = lesson_05.plans(found, None, 0, setup_minutes=5)
    text = lesson_05.choices(found, here, there, epochs=40, prices={})
    assert "a T4 is the first in this table" in text
    at_once = lesson_05.choices(found, here, there, epochs=1, prices={})
    assert "this CPU is the first in this table" in at_once
    lines = text.splitlines()
    assert [line.split("  ")[0] for line in lines[1:5]] == [
        "this CPU",
        "a T4",
        "an A100",
        "an H100",
    ]
