"""A model in a folder: made again elsewhere as it was, or refused by the name of what is own."""

import json
import subprocess
import sys

import pytest

from accel_helpers._values import probe
from accel_helpers.fit import saved_model

MODULE = """
import keras

def twice(x):
    return 2 * x

@keras.saving.register_keras_serializable("mine")
class Twice(keras.layers.Layer):
    def call(self, x):
        return twice(x)
"""
# in a folder from which the module cannot be imported
LOAD = """
import sys
import keras
from pathlib import Path
from accel_helpers.fit import saved_model
model = saved_model.load(Path(sys.argv[1]))
print(type(model.layers[0]).__name__, float(model(keras.ops.ones((1, 1)))[0, 0]), model.loss)
"""


def sequential(keras, *layers, loss="mse", **options):
    model = keras.Sequential([keras.Input((1,)), *layers])
    model.compile("adam", loss, **options)
    return model


def test_a_registered_class_of_a_file_travels_with_its_code(keras, tmp_path, monkeypatch):
    (tmp_path / "my_layers.py").write_text(MODULE)
    with monkeypatch.context() as here:
        here.syspath_prepend(tmp_path)
        import my_layers

        saved_model.save(sequential(keras, my_layers.Twice()), tmp_path)
    command = [sys.executable, "-c", LOAD, str(tmp_path)]
    done = subprocess.run(command, env=probe.variables({}), capture_output=True, text=True)
    assert done.stdout.splitlines()[-1:] == ["Twice 2.0 mse"], done.stderr[-2000:]


def test_what_keras_cannot_find_again_is_named_with_what_to_do(keras, tmp_path, monkeypatch):
    class Own(keras.layers.Layer):
        def call(self, x):
            return x

    @keras.saving.register_keras_serializable()
    class Registered(Own):
        pass

    def own_loss(y, prediction):
        return prediction

    class Unsaved(keras.layers.Dense):
        def get_config(self):
            raise NotImplementedError("Unsaved has no get_config")

    make = keras.layers
    deep = keras.Sequential([keras.Input((1,)), Own()])
    doubled = make.Lambda(lambda x: 2 * x, name="doubled")
    register = "register_keras_serializable"
    refused = {
        "'Own' is your own.*" + register: sequential(keras, deep),
        "'own_loss' is your own.*" + register: sequential(keras, loss=own_loss),
        "'doubled' has a lambda.*" + register: sequential(keras, doubled),
        "Unsaved has no get_config": sequential(keras, Unsaved(1)),
    }
    for words, model in refused.items():
        with pytest.raises(ValueError, match=words):
            saved_model.save(model, tmp_path)
    monkeypatch.setitem(sys.modules, "cloudpickle", None)
    with pytest.raises(ValueError, match="Registered: .*pip install cloudpickle"):
        saved_model.save(sequential(keras, Registered()), tmp_path)
    assert not list(tmp_path.iterdir())


def test_what_is_keras_own_needs_no_code(keras, tmp_path):
    left, right = keras.Input((4,), name="left"), keras.Input((6,), name="right")
    joined = keras.layers.Concatenate()([left, right])
    out = keras.layers.Dense(2, activation=keras.activations.gelu)(joined)
    model = keras.Model({"left": left, "right": right}, out)
    model.compile(
        "adam",
        keras.losses.mean_squared_error,
        metrics=[keras.metrics.mean_absolute_error],
    )
    saved_model.save(model, tmp_path)
    again = saved_model.load(tmp_path)
    assert json.dumps(again.get_config()) == json.dumps(model.get_config())
    assert again.compiled
