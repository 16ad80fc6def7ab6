"""The same training on Keras's other backend: what travels and what is refused."""

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


def of_layers(keras, *layers, loss="mse"):
    model = keras.Sequential([keras.Input((100,)), *layers, keras.layers.Dense(1)])
    # what `compile` chooses on a CPU with TensorFlow, and what a file keeps
    model.compile("sgd", loss, jit_compile=False)
    return model


@pytest.fixture
def other(keras):
    """The name of the other backend."""
    if not other_backend.other_backend():
        pytest.skip("one framework is installed")
    return other_backend.other_backend()


def test_the_first_batches_travel_and_keras_decides_there_on_xla(keras, tmp_path, monkeypatch):
    monkeypatch.setattr(other_backend, "MOST_BYTES", 40_000)
    model = of_layers(keras)
    call = checked(model, [X], Y, {"batch_size": 50, "sample_weight": Y[:, 0]})
    times_as_many = other_backend._pack(call, tmp_path)
    sent = other_backend._unpack(tmp_path)
    assert sent.steps * times_as_many == 80
    assert np.array_equal(sent.arguments["x"][0], X[:100])
    assert len(sent.arguments["sample_weight"]) == 100
    model.compile("sgd", "mse")
    assert sent.make_model().jit_compile == model.jit_compile, "as of a model that is new there"


def test_what_keras_cannot_make_again_is_named_and_not_written(keras, tmp_path):
    class Own(keras.layers.Layer):
        pass

    def own_loss(y, prediction):
        return prediction

    doubled = keras.layers.Lambda(lambda x: 2 * x, name="doubled")
    for words, model in {
        "'Own' is your own": of_layers(keras, keras.Sequential([keras.Input((100,)), Own()])),
        "'own_loss' is your own": of_layers(keras, loss=own_loss),
        "'doubled' has a lambda": of_layers(keras, doubled),
    }.items():
        with pytest.raises(ValueError, match=words + ".*register_keras_serializable"):
            saved_model.save(model, tmp_path)
    assert not list(tmp_path.iterdir())


@pytest.mark.slow
def test_the_other_backend_takes_turns_in_a_process_that_ends(keras, other, tmp_path, monkeypatch):
    (tmp_path / "my_layers.py").write_text(MODULE)
    monkeypatch.syspath_prepend(tmp_path)
    import my_layers

    def backends():
        children = psutil.Process().children(recursive=True)
        alive = [child for child in children if child.status() != psutil.STATUS_ZOMBIE]
        return [child.environ().get("KERAS_BACKEND") for child in alive]

    before = backends()
    model = of_layers(keras, my_layers.Twice())
    call = checked(model, X, Y, {"validation_data": (X[:64], Y[:64]), "epochs": 3})
    training = other_backend.OtherBackend(call, turn_seconds=0.05, extra_seconds=1000.0)
    try:
        turn = training.turn()
        assert other in backends()
    finally:
        training.close()
    assert 1000.0 < turn.epoch < 2000.0, "the callbacks' seconds are added"
    assert 0 < turn.validation < turn.epoch - 1000.0
    assert backends() == before
