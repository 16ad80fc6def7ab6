"""What a step of a model has to do: products, launches, and less of both where layers are frozen.

models.json has layers in a row, and what a batch of 32 asks for: the operations of products, the
numbers that these make, parameters, operations that start, numbers that Adam keeps, the batch;
then the part without a way back, and the frozen part above what is trained.
"""

import json
from pathlib import Path

from accel_helpers.worth.model_load import dtype_of, load_of

MODELS = json.loads(Path(__file__).with_name("models.json").read_text("utf-8"))


def made(keras, kind, **given):
    if "layer" in given:
        given["layer"] = made(keras, **given["layer"])
    return getattr(keras.layers, kind)(**given)


def in_a_row(keras, name):
    model = keras.Sequential([keras.Input(MODELS[name]["input"])])
    for layer in MODELS[name]["layers"]:
        model.add(made(keras, **layer))
    return model


def test_a_model_asks_for_what_its_layers_do(keras):
    for name in MODELS:
        load, _ = load_of(in_a_row(keras, name), 32)
        # parts of a load become lists, as in the file
        assert json.loads(json.dumps(load)) == MODELS[name]["load"], name


def test_the_number_type_is_that_of_the_layers(keras):
    model = in_a_row(keras, "mlp")
    assert dtype_of(model) == "float32"
    model.add(keras.layers.Dense(8, dtype="mixed_bfloat16"))
    assert dtype_of(model) == "bfloat16"
