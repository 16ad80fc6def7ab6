"""A forecast follows from chip and work, and from a step that is timed here."""

import tomllib
from pathlib import Path

import pytest

from accel_helpers.course.quickstart import quickstart_model
from accel_helpers.machine import backend
from accel_helpers.worth.forecast import forecast
from accel_helpers.worth.model_load import expected_rows

TRUST = tomllib.loads(Path(__file__).with_name("verdicts.toml").read_text("utf-8"))["trust"]


@pytest.mark.usefixtures("keras")
def test_a_new_chip_has_a_wider_interval_and_a_tpu_none():
    t4, l4, tpu = forecast(quickstart_model, 32, ("T4", "L4", "v5e-1"), seconds=0).rows
    widths = []
    for row in (t4, l4, tpu):
        _, shortest, longest = row.step
        widths.append(longest / shortest)
    assert widths[1] > widths[0] > widths[2] == 1


def test_with_data_there_is_an_epoch_and_a_factor(keras, digits):
    x, y = digits
    found = forecast(quickstart_model, 32, "T4", x=x, y=y, seconds=0.1)
    low, high = found.row.faster
    assert found.steps == 16
    assert 0 < low < high
    of_65 = forecast(quickstart_model(), 32, "T4", x=x, y=y, samples=65, seconds=0)
    assert of_65.steps == 3


def test_numbers_are_made_up_for_several_inputs_and_losses(keras):
    def make_model():
        words = keras.Input((), dtype="int32")
        more = keras.Input((6,))
        both = keras.layers.Embedding(50, 6)(words) + more
        kind = keras.layers.Dense(3, "softmax", name="kind")(both)
        size = keras.layers.Dense(3, name="size")(both)
        model = keras.Model([words, more], [kind, size])
        model.compile("sgd", {"kind": "sparse_categorical_crossentropy", "size": "mse"})
        return model

    found = forecast(make_model, 8, "T4", seconds=0.1)
    assert found.here.median > 0
    assert found.verdict == "cannot be told yet", "nobody knows how long an epoch is"


def test_a_model_without_an_input_is_told_what_to_do_instead(keras):
    model = keras.Sequential([keras.layers.Dense(2)], name="bare")
    with pytest.raises(TypeError, match=r"'bare' is no functional.* T4 instead"):
        expected_rows(model, 32, "T4")


@pytest.mark.usefixtures("keras")
def test_an_attached_gpu_has_the_first_row_by_the_name_that_people_use(monkeypatch):
    monkeypatch.setattr(backend, "devices", lambda: ["cpu", "gpu"])
    names = {"Tesla T4": "T4", "RTX PRO 6000 Blackwell Server Edition": "G4"}
    for name, used in names.items():
        monkeypatch.setattr(backend, "device_name", lambda kind, name=name: name)
        found = forecast(quickstart_model, 32, seconds=0)
        chips = [row.chip for row in found.rows]
        assert chips[0] == used
        assert chips.count(used) == 1


@pytest.mark.parametrize("name", TRUST)
def test_how_far_to_trust_it_is_said_by_the_models_that_are_most_like_this_one(keras, name):
    case = TRUST[name]
    make = getattr(keras.layers, name)
    model = keras.Sequential([keras.Input(case["input"]), make(*case["sizes"])])
    (row,), notes = expected_rows(model, case["batch"], "T4")
    assert case["said"] in notes[0]
    # how fast a fused kernel is nobody knows, so no chip is ruled out
    assert bool(row.step[1]) == (name != "LSTM")
