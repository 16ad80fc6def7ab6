"""What a step of a model has to do: frozen layers take less than those that are trained."""

import pytest

from accel_helpers.worth import step_time
from accel_helpers.worth.model_load import load_of


def transfer(keras, which):
    """A base of two convolutions and a dense layer, and which of these are trained."""
    convolution = keras.layers.Conv2D
    base = [convolution(32, 3, name="low"), convolution(64, 3, name="high")]
    layers = [keras.Input((48, 48, 3)), keras.layers.Rescaling(1 / 255), *base]
    layers += [keras.layers.GlobalAveragePooling2D(), keras.layers.Dense(10, name="head")]
    model = keras.Sequential(layers)
    for layer in model.layers:
        layer.trainable = layer.name in which
    return model


def on_a_t4(model, training=True):
    load, _ = load_of(model, 32)
    return step_time.row_of_chip(load, "T4", "float32", training).terms


ALL = ["low", "high", "head", "rescaling"]


def test_a_frozen_base_takes_little_more_than_a_forward_pass(keras):
    ahead, whole = on_a_t4(transfer(keras, ALL), False), on_a_t4(transfer(keras, ALL))
    frozen = on_a_t4(transfer(keras, ["head"]))
    for term in ("compute", "memory", "overhead"):
        assert ahead[term] < frozen[term] < whole[term]
    assert sum(frozen.values()) < 1.4 * sum(ahead.values()) < 0.5 * sum(whole.values())


def test_a_frozen_layer_above_a_trained_one_makes_one_gradient_of_two(keras):
    whole = on_a_t4(transfer(keras, ALL))
    upper, lower = (on_a_t4(transfer(keras, [each, "head"])) for each in ("high", "low"))
    assert max(upper["compute"], lower["compute"]) < whole["compute"]
    # products of what is trained count three times, and those of what is frozen above it twice
    model = transfer(keras, ["low", "head"])
    names = [layer.name for layer in model.layers]
    rows = dict(zip(names, load_of(model, 32)[1].rows, strict=True))
    assert [rows[name].learns for name in ("low", "high", "head")] == [True, False, True]
    assert [rows[name].passes_back for name in ("low", "high", "head")] == [False, True, True]
    once = {name: row.product_flops for name, row in rows.items()}
    share = (once["low"] * 3 + once["high"] * 2 + once["head"] * 3) / (3 * sum(once.values()))
    assert lower["compute"] == pytest.approx(share * whole["compute"])


def test_frozen_weights_have_no_gradient_and_no_place_in_the_optimizer(keras):
    model = transfer(keras, ["head"])
    model.compile("adam", "mse")
    head = model.layers[-1].count_params()
    assert load_of(model, 32)[0].kept == 2 * head  # also before the optimizer is built
    billion = step_time.Load(1, made=0, parameters=1e9, operations=1, kept=2e9)
    base = step_time.Load(0, made=0, parameters=1e9, operations=0)
    frozen = billion._replace(no_way_back=base, kept=0)
    rows = [step_time.row_of_chip(load, "T4", "float32", True) for load in (billion, frozen)]
    assert [row.memory for row in rows] == ["may not fit", "fits"]
    assert rows[1].terms["memory"] < 0.2 * rows[0].terms["memory"]


def test_what_is_kept_for_the_way_back_is_kept_only_where_there_is_one():
    made = step_time.Load(1, made=3e9, parameters=1, operations=1)
    frozen = made._replace(no_way_back=step_time.Load(0, 2.9e9, 0, 0))
    rows = [step_time.row_of_chip(load, "T4", "float32", True) for load in (made, frozen)]
    assert [row.memory for row in rows] == ["may not fit", "fits"]
