"""What a step of a model has to do: products, launches, and less of both where layers are frozen.

models.json has layers in a row, and what a batch of 32 asks for: the operations of products, the
numbers that these make, parameters, operations that start, numbers that Adam keeps, the batch;
then the part without a way back, and the frozen part above what is trained.
"""

import json
from pathlib import Path

import pytest

from accel_helpers.worth import step_time
from accel_helpers.worth.model_load import dtype_of, load_of

MODELS = json.loads(Path(__file__).with_name("models.json").read_text("utf-8"))


def made(keras, kind, **given):
    if "layer" in given:
        given["layer"] = made(keras, **given["layer"])
    return getattr(keras.layers, kind)(**given)


def in_a_row(keras, name):
    layers = [made(keras, **layer) for layer in MODELS[name]["layers"]]
    return keras.Sequential([keras.Input(MODELS[name]["input"]), *layers])


@pytest.mark.parametrize("name", MODELS)
def test_a_model_asks_for_what_its_layers_do(keras, name):
    load, _ = load_of(in_a_row(keras, name), 32)
    # parts of a load become lists, as in the file
    assert json.loads(json.dumps(load)) == MODELS[name]["load"]


def test_a_frozen_base_takes_little_more_than_a_forward_pass(keras):
    def on_a_t4(name, training=True):
        load, _ = load_of(in_a_row(keras, name), 32)
        return step_time.row_of_chip(load, "T4", "float32", training).terms

    whole = on_a_t4("nothing frozen")
    ahead = on_a_t4("nothing frozen", training=False)
    frozen = on_a_t4("only the head")
    for term in ("compute", "memory", "overhead"):
        assert ahead[term] < frozen[term] < whole[term]
    assert sum(frozen.values()) < 1.4 * sum(ahead.values()) < 0.5 * sum(whole.values())


def test_an_optimizer_takes_room_for_what_it_keeps(keras):
    model = in_a_row(keras, "mlp")
    model.compile("sgd", "mse")
    model.optimizer.build(model.trainable_variables)
    assert load_of(model, 32)[0].kept == 2, "SGD keeps a count and its rate"


def test_the_number_type_is_that_of_the_layers(keras):
    layers = [keras.layers.Dense(8, dtype="mixed_bfloat16"), keras.layers.Dense(3)]
    assert dtype_of(keras.Sequential([keras.Input((4,)), *layers])) == "bfloat16"
    assert dtype_of(in_a_row(keras, "mlp")) == "float32"
