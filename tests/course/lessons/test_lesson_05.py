"""Lesson 05 with a learner's own model in it: data of other shapes go through every cell."""

import itertools
import json
import math
import re
import sys
from pathlib import Path

import kernel
import numpy as np
import pytest

import accel_helpers as ah
from accel_helpers.course import outcomes, record
from accel_helpers.course.lessons.lesson_05 import crossing
from accel_helpers.measure.measurement import Measurement
from accel_helpers.worth import answer
from accel_helpers.worth.step_time import ChipRow

PAGE = Path(__file__).parents[3] / "notebooks" / "05_is_it_worth_it.ipynb"


def table(keras):
    """A table of 600 rows, in batches of 64."""
    dice = np.random.default_rng(0)
    layers = [keras.Input((12,)), keras.layers.Dense(32, "relu"), keras.layers.Dense(3)]
    x, y = dice.random((600, 12), "float32"), dice.integers(0, 3, 600)
    return keras.Sequential(layers), {"x": x, "y": y, "batch_size": 64, "samples": 20_000}


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
    return model, {"x": x, "y": None, "batch_size": 16}


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
    code = [kernel.in_small_boxes(text) for text in code]
    first = next(at for at, text in enumerate(code) if "load_images" in text)
    last = next(at for at, text in enumerate(code) if '"05/verdict"' in text)
    return code[first : last + 1]


def run(keras, bring):
    """Every cell from the data to the verdict, with a model and data of one's own."""
    model, given = bring(keras)

    def make_model():
        mine = keras.models.clone_model(model)
        for layer, original in zip(mine.layers, model.layers, strict=True):
            layer.trainable = original.trainable
        loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
        mine.compile("adam", loss, metrics=["accuracy"], jit_compile=False)
        return mine

    space = {"ah": ah, "lesson": ah.course.lesson("05")}
    for code in cells():
        if "ah.compare(" in code:  # time for the five epochs of an interval
            code = re.sub(r"\bseconds=[\d.]+", "seconds=5", code)
        exec(code, space)
        if "load_images" in code:
            space |= given
        if "def make_model" in code:
            space["make_model"] = make_model
    return space


@pytest.mark.parametrize("bring", [table, frozen, dataset, two_inputs])
def test_the_lesson_goes_through_with_a_model_of_ones_own(keras, bring):
    space = run(keras, bring)
    assert space["forecast"].steps == -(-space["samples"] // space["batch_size"])
    assert space["choice"].verdict in space["choice"].OUTCOMES
    assert space["race"] is None
    assert len(space["choice"].rows) == 4
    assert space["factor"] > 0
    assert any(name.startswith("T4") for name in record.newest("05/")["bars"].numbers)
    assert record.newest("guess/")["05/verdict"].given == space["choice"].advice


class Counter:
    """An NVIDIA board that takes 7 joules from each reading to the next."""

    def __init__(self):
        self.millijoules = itertools.count(0, 7000)

    def nvmlInit(self):
        pass

    def nvmlDeviceGetHandleByIndex(self, index):
        return self.millijoules

    nvmlDeviceGetTotalEnergyConsumption = staticmethod(next)


@pytest.mark.slow
def test_where_a_gpu_is_it_races_and_the_page_goes_on_with_what_came_out(keras, monkeypatch):
    places = {"gpu:0": "cpu:0"}  # the CPU plays the GPU
    on = keras.device
    monkeypatch.setattr(keras, "device", lambda name: on(places.get(name, name)))
    monkeypatch.setattr(keras.distribution, "list_devices", lambda kind=None: ["gpu:0"])
    monkeypatch.setattr(outcomes, "attached", lambda: "T4")
    monkeypatch.setitem(sys.modules, "pynvml", Counter())
    space = run(keras, table)
    assert space["joules"] == 7
    race = space["race"]
    timings = (space["forecast"].here, race.slow, race.fast)
    # on a machine that is very busy there may be fewer
    has_five = min(len(each.samples) for each in timings) >= 5
    expected = ("held", "missed") if has_five else ("too few samples",)
    assert record.newest("05/")["race"].outcome in expected
    measured, *forecasts = space["choice"].rows
    assert [row.chip for row in forecasts] == ["T4", "L4", "A100", "H100"]
    assert space["choice"].row is measured
    assert measured.faster == space["race"].interval


@pytest.mark.parametrize(
    ("faster", "finding"),
    [
        ((3, 6), "Under 6 minutes of training here, stay; over 7.5, change"),
        ((0.6, 3), "Under 7.5 minutes of training here, stay where you are"),  # it may never pay
        ((0.6, 0.9), "The T4: it never pays"),
        ((0.0, math.inf), "Under 5 minutes of training here, stay where you are"),
    ],
)
def test_the_finding_of_the_crossing_is_known_by_arithmetic(faster, finding):
    here = Measurement.from_samples([60.0] * 5)
    rows = (ChipRow("T4", {}, (0, 0, 0), faster=faster),)
    found = answer.Answer("m", rows, epochs=9, setup_minutes=5, steps=1, here=here)
    assert crossing(found).alt.startswith(f"{finding}: ")


@pytest.mark.parametrize(
    ("chip", "count", "outcome"),
    [
        ("T4", 5, "held"),
        ("L4", 5, "missed"),
        ("G4", 5, "not forecast"),
        ("T4", 4, "too few samples"),
    ],
)
def test_a_forecast_held_or_missed(monkeypatch, chip, count, outcome):
    monkeypatch.setattr(outcomes, "attached", lambda: chip)
    cpu, gpu = (Measurement.from_samples([seconds] * count) for seconds in (1.0, 0.25))
    rows = tuple(
        ChipRow(name, {}, (0, 0, 0), faster=faster)
        for name, faster in [("T4", (3, 5)), ("L4", (5, 8))]
    )
    forecast = answer.Answer("m", rows, epochs=9, setup_minutes=5, steps=1, here=cpu)
    result = {"forecast": forecast, "race": ah.compare(cpu, gpu)}
    assert outcomes.outcome_of(result, "held") == outcome
