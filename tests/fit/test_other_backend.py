"""The same training on Keras's other backend: what travels and what is refused."""

import subprocess
import sys

import numpy as np
import psutil
import pytest

from accel_helpers.fit import other_backend, saved_model
from accel_helpers.fit.checked import checked

X = np.arange(400_000, dtype="float32").reshape(4000, 100) / 400_000
Y = np.ones((4000, 1), "float32")
# a learner's file, in a folder that the process cannot import from
MODULE = """
import keras

def twice(x):
    return 2 * x

@keras.saving.register_keras_serializable("mine")
class Twice(keras.layers.Layer):
    def call(self, x):
        return twice(x)
"""


def of_layers(keras, *layers):
    model = keras.Sequential([keras.Input((100,)), *layers, keras.layers.Dense(1)])
    # what `compile` chooses on a CPU with TensorFlow, and what a file keeps
    model.compile("sgd", "mse", jit_compile=False)
    return model


def test_the_first_batches_travel_and_keras_decides_there_on_xla(keras, tmp_path, monkeypatch):
    monkeypatch.setattr(other_backend, "MOST_BYTES", 40_000)
    model = of_layers(keras)
    call = checked(model, [X], Y, {"batch_size": 50})
    times_as_many = other_backend._pack(call, tmp_path)
    sent = other_backend._unpack(tmp_path)
    assert sent.steps * times_as_many == 80
    assert np.array_equal(sent.arguments["x"][0], X[:100])
    model.compile("sgd", "mse")
    there = sent.make_model()
    assert there.jit_compile == model.jit_compile, "as of a model that is new there"


def test_what_keras_cannot_make_again_is_named_and_not_written(keras, tmp_path):
    class Own(keras.layers.Layer):
        pass

    nested = keras.Sequential([keras.Input((100,)), Own()])
    doubled = keras.layers.Lambda(lambda x: 2 * x, name="doubled")
    for words, layer in {"'Own' is your own": nested, "'doubled' has a lambda": doubled}.items():
        with pytest.raises(ValueError, match=words + ".*register_keras_serializable"):
            saved_model.save(of_layers(keras, layer), tmp_path)
    assert not list(tmp_path.iterdir())


@pytest.mark.slow
def test_the_other_backend_takes_turns_in_a_process_that_ends(keras, tmp_path, monkeypatch):
    if not other_backend.other_backend():
        pytest.skip("one framework is installed")
    module = tmp_path / "my_layers.py"
    module.write_text(MODULE)
    monkeypatch.syspath_prepend(tmp_path)
    import my_layers

    us = psutil.Process()
    before = us.children()
    model = of_layers(keras, my_layers.Twice())
    call = checked(model, X, Y, {"validation_data": (X[:64], Y[:64]), "epochs": 3})
    with other_backend.OtherBackend(call, turn_seconds=0.05, extra_seconds=1000.0) as training:
        turn = training.turn()
        (child,) = set(us.children()).difference(before)
        variables = child.environ()
    assert variables["KERAS_BACKEND"] == other_backend.other_backend()
    assert not child.is_running()
    assert 1000.0 < turn.epoch < 2000.0, "the callbacks' seconds are added"
    assert 0 < turn.validation < turn.epoch - 1000.0


@pytest.mark.slow
def test_what_travelled_is_deleted_where_we_are_gone(tmp_path):
    """Killed, we can do nothing: the child sees the end of its input."""
    folder = tmp_path / "sent"
    folder.mkdir()
    command = [sys.executable, "-m", other_backend.__name__, folder, "1.0"]
    subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True)
    assert not folder.exists()
