"""Lesson 05 with a learner's own model in it: data of other shapes go through every cell."""

import re

import kernel
import numpy as np
import pytest
from cells import cells as of_the_lesson

import accel_helpers as ah
from accel_helpers.course import outcomes, record
from accel_helpers.course.lessons.lesson_05 import crossing
from accel_helpers.measure.measurement import Measurement
from accel_helpers.worth import answer
from accel_helpers.worth.step_time import ChipRow

DICE = np.random.default_rng(0)
LABELS = DICE.integers(0, 3, 600)


def dataset(keras):
    """A tf.data.Dataset of a table, which has its targets in it."""
    tf = pytest.importorskip("tensorflow")
    layers = [keras.Input((12,)), keras.layers.Dense(32, "relu"), keras.layers.Dense(3)]
    rows = DICE.random((600, 12), "float32")
    x = tf.data.Dataset.from_tensor_slices((rows, LABELS)).batch(16)
    return layers, {"x": x, "y": None, "batch_size": 16}


def pictures(keras):
    """Pictures, of which a base was trained before."""
    base = keras.layers.Conv2D(8, 3, trainable=False)
    layers = [keras.Input((24, 24, 3)), base, keras.layers.GlobalAveragePooling2D()]
    x = DICE.random((600, 24, 24, 3), "float32")
    return [*layers, keras.layers.Dense(3)], {"x": x, "y": LABELS}


def cells():
    """The code of the lesson, from its data to its verdict."""
    begun = False
    for cell in of_the_lesson("05"):
        begun = begun or "load_images" in cell.source
        if begun:
            yield kernel.in_small_boxes(cell.source)
        if '"05/verdict"' in cell.source:
            return


def run(keras, bring):
    """Every cell from the data to the verdict, with a model and data of one's own."""

    def make_model():
        model = keras.Sequential(bring(keras)[0])
        loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
        model.compile("adam", loss, metrics=["accuracy"], jit_compile=False)
        return model

    space = {"ah": ah, "lesson": ah.course.lesson("05")}
    for code in cells():
        if "ah.compare(" in code:  # time for the five epochs of an interval
            code = re.sub(r"\bseconds=[\d.]+", "seconds=5", code)
        exec(code, space)
        if "load_images" in code:
            space |= bring(keras)[1]
        if "def make_model" in code:
            space["make_model"] = make_model
    return space


@pytest.mark.parametrize("bring", [dataset, pictures])
def test_the_lesson_goes_through_with_a_model_of_ones_own(keras, bring):
    space = run(keras, bring)
    bars = record.newest("05/")["bars"].numbers
    guess = record.newest("guess/")["05/verdict"]
    assert space["forecast"].steps == -(-space["samples"] // space["batch_size"])
    assert any(name.startswith("T4") for name in bars)
    assert guess.given == space["choice"].advice


@pytest.mark.slow
def test_where_a_gpu_is_it_races_and_the_page_goes_on_with_what_came_out(keras, monkeypatch):
    on = keras.device
    # the CPU plays the GPU
    monkeypatch.setattr(keras, "device", lambda name: on(name.replace("gpu", "cpu")))
    monkeypatch.setattr(keras.distribution, "list_devices", lambda kind=None: ["gpu:0"])
    monkeypatch.setattr(outcomes, "attached", lambda: "T4")
    space = run(keras, pictures)
    measured, *forecasts = space["choice"].rows
    assert [row.chip for row in forecasts] == ["T4", "L4", "A100", "H100"]
    assert space["choice"].row is measured
    assert measured.faster == space["race"].interval


def in_place(faster, here, *others):
    """An answer on a T4 that is so many times as fast, beside other chips."""
    rows = []
    for name, times in [("T4", faster), *others]:
        rows.append(ChipRow(name, {}, (0, 0, 0), faster=times))
    return answer.Answer("m", tuple(rows), epochs=9, setup_minutes=5, steps=1, here=here)


def test_the_finding_of_the_crossing_is_known_by_arithmetic():
    here = Measurement.from_samples([60.0] * 5)
    for faster, finding in [
        ((3, 6), "Under 6 minutes of training here, stay; over 7.5, change"),
        ((0.6, 3), "Under 7.5 minutes of training here, stay where you are"),  # it may never pay
        ((0.6, 0.9), "The T4: it never pays"),
    ]:
        said = crossing(in_place(faster, here)).alt
        assert said.startswith(f"{finding}: ")


def test_a_forecast_held_or_missed(monkeypatch):
    cpu = Measurement.from_samples([1.0] * 5)
    race = ah.compare(cpu, Measurement.from_samples([0.25] * 5))
    forecast = in_place((3, 5), cpu, ("L4", (5, 8)), ("A100", (2, 3)))
    for chip, outcome in {
        "T4": "held",
        "L4": "missed",
        "A100": "missed",
        "G4": "not forecast",
    }.items():
        monkeypatch.setattr(outcomes, "attached", lambda chip=chip: chip)
        result = {"forecast": forecast, "race": race}
        assert outcomes.outcome_of(result, "held") == outcome
