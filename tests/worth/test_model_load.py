"""What a step of a model has to do: products, launches, and less of both where layers are frozen.

models.json has layers in a row, and what a batch of 32 asks for: the operations of products, the
numbers that these make, parameters, operations that start, numbers that Adam keeps, the batch;
then the part without a way back, and the frozen part above what is trained.
"""

import json
from pathlib import Path

import pytest

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


def test_the_number_type_is_that_of_the_layers(keras):
    layers = [keras.layers.Dense(8, dtype="mixed_bfloat16"), keras.layers.Dense(3)]
    assert dtype_of(keras.Sequential([keras.Input((4,)), *layers])) == "bfloat16"
    assert dtype_of(in_a_row(keras, "mlp")) == "float32"
