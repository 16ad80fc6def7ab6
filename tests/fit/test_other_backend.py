"""The same training on Keras's other backend: what travels, how it compiles, what is left over."""

import os
import signal
import subprocess
import sys
import time

import numpy as np
import psutil
import pytest

from accel_helpers.fit import other_backend
from accel_helpers.fit.checked import checked
from accel_helpers.fit.profile_result import Change

X = np.arange(400_000, dtype="float32").reshape(4000, 100) / 400_000
Y = np.ones((4000, 1), "float32")


def make_model():
    import keras

    model = keras.Sequential([keras.Input((100,)), keras.layers.Dense(1)])
    # what `compile` chooses on a CPU with TensorFlow, and what a file keeps
    model.compile("sgd", "mse", jit_compile=False)
    return model


def of_own_class():
    import keras

    class Own(keras.layers.Layer):
        def call(self, x):
            return x

    model = keras.Sequential([keras.Input((100,)), Own(), keras.layers.Dense(1)])
    model.compile("sgd", "mse")
    return model


def of_a_lambda():
    import keras

    doubled = keras.layers.Lambda(lambda x: 2 * x)
    model = keras.Sequential([keras.Input((100,)), doubled, keras.layers.Dense(1)])
    model.compile("sgd", "mse")
    return model


@pytest.fixture
def other(keras):
    """The name of the other backend."""
    if not other_backend.other_backend():
        pytest.skip("one framework is installed")
    return other_backend.other_backend()


def environments():
    """The backends of the processes that this one has started."""
    return [
        child.environ().get("KERAS_BACKEND")
        for child in psutil.Process().children(recursive=True)
        if child.status() != psutil.STATUS_ZOMBIE
    ]


@pytest.mark.usefixtures("keras")
def test_the_first_batches_travel_and_keras_decides_there_on_xla(tmp_path, monkeypatch):
    monkeypatch.setattr(other_backend, "MOST_BYTES", 40_000)
    arguments = {"batch_size": 50, "validation_data": (X[:10], Y[:10]), "sample_weight": Y[:, 0]}
    arguments["class_weight"] = {1: 2.0}
    call = checked(make_model, {"a": [X]}, Y, arguments)
    times_as_many = other_backend._pack(call, tmp_path)
    sent = other_backend._unpack(tmp_path)
    assert sent.steps * times_as_many == call.steps == 80
    assert np.array_equal(sent.arguments["x"]["a"][0], X[:100])
    assert np.array_equal(sent.arguments["validation_data"][0], X[:10])
    assert sent.arguments["class_weight"] == {1: 2.0}
    assert [len(sent.arguments[name]) for name in ("y", "sample_weight")] == [100, 100]
    as_new = make_model()
    as_new.compile("sgd", "mse")
    assert sent.make_model().jit_compile == as_new.jit_compile


@pytest.mark.usefixtures("keras")
def test_a_model_that_is_too_large_is_not_written(tmp_path, monkeypatch):
    monkeypatch.setattr(other_backend, "MOST_WEIGHTS", 100)
    with pytest.raises(ValueError, match="too large"):
        other_backend._pack(checked(make_model, X, Y, {}), tmp_path)
    assert not list(tmp_path.iterdir())


def test_what_cannot_travel_has_the_line_to_try(other, monkeypatch):
    def batches():
        yield X, Y

    call = checked(make_model, X, Y, {})
    validated = call.changed(validation_data=(X, Y))
    assert other_backend.why_not(call) == other_backend.why_not(validated) == ""
    monkeypatch.setattr(other_backend, "MOST_BYTES", X.nbytes)
    for cannot in (
        validated,
        call.changed(validation_data=batches),
        call.changed(x=batches, y=None),
    ):
        assert f"set KERAS_BACKEND={other} in a new session" in other_backend.why_not(cannot)


@pytest.mark.slow
def test_the_other_backend_takes_turns_in_a_process_that_ends(other):
    before = environments()
    call = checked(make_model, X, Y, {"validation_data": (X[:64], Y[:64]), "epochs": 3})
    training = other_backend.OtherBackend(call, turn_seconds=0.05, extra_seconds=1000.0)
    try:
        turn = training.turn()
        assert other in environments()
    finally:
        training.close()
    assert 1000.0 < turn.epoch < 2000.0, "the callbacks' seconds are added"
    assert 0 < turn.validation < turn.epoch - 1000.0
    assert environments() == before


@pytest.mark.slow
@pytest.mark.usefixtures("other")
@pytest.mark.parametrize("make", [of_own_class, of_a_lambda])
def test_a_model_with_code_of_ones_own_is_told_what_to_do(make):
    before = environments()
    with pytest.raises(ValueError, match="of your own: set KERAS_BACKEND"):
        other_backend.OtherBackend(checked(make, X, Y, {}), 0.05, 0.0)
    assert environments() == before


def test_another_backend_cannot_be_applied_in_this_session():
    change = Change("KERAS_BACKEND=jax", gain=None, note="", training=None)
    with pytest.raises(ValueError, match="new session"):
        change.apply()


KILLED = """
import sys, tempfile
tempfile.tempdir = sys.argv[1]
import numpy as np, keras
from accel_helpers.fit import other_backend
from accel_helpers.fit.checked import checked
def make_model():
    model = keras.Sequential([keras.Input((100,)), keras.layers.Dense(1)])
    model.compile("sgd", "mse")
    return model
call = checked(make_model, np.ones((4000, 100)), np.ones((4000, 1)), {})
other_backend.OtherBackend(call, 0.1, 0.0)
print("never")
"""


@pytest.mark.slow
@pytest.mark.usefixtures("other")
def test_nothing_stays_behind_when_the_session_is_killed(tmp_path):
    command = [sys.executable, "-c", KILLED, str(tmp_path)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE)
    until(lambda: list(tmp_path.glob("*/model.json")))
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    until(lambda: not list(tmp_path.glob("accel-backend-*")))


def until(holds) -> None:
    """Wait until something holds; a minute and a half, on machines however slow."""
    for _ in range(900):
        if holds():
            return
        time.sleep(0.1)
    raise AssertionError("it did not happen")
