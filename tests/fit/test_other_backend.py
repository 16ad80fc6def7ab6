"""The same training on Keras's other backend: what travels, how it compiles, what is left over."""

import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from accel_helpers.fit import other_backend
from accel_helpers.fit.checked_call import checked_call

X = np.ones((4000, 100), "float32")
Y = np.ones((4000, 1), "float32")


@pytest.fixture
def make_model(keras):
    def make_model():
        model = keras.Sequential([keras.Input((100,)), keras.layers.Dense(1)])
        # what `compile` chooses on a CPU with TensorFlow, and what a file keeps
        model.compile("sgd", "mse", jit_compile=False)
        return model

    return make_model


def test_keras_decides_there_whether_xla_compiles(make_model, tmp_path):
    call = checked_call(make_model, X, Y, {})
    other_backend._pack(call, tmp_path)
    there = other_backend._unpack(tmp_path).make_model()
    as_new = make_model()
    as_new.compile("sgd", "mse")
    assert there.jit_compile == as_new.jit_compile


def test_few_batches_travel(make_model, tmp_path, monkeypatch):
    monkeypatch.setattr(other_backend, "FEW_BYTES", 40_000)
    call = checked_call(make_model, X, Y, {"batch_size": 50, "validation_data": (X[:100], Y[:100])})
    times_as_many, of_validation = other_backend._pack(call, tmp_path)
    sent = other_backend._unpack(tmp_path)
    assert sent.steps * times_as_many == call.steps == 80
    assert len(sent.arguments["x"]) == len(sent.arguments["y"]) == 100
    assert of_validation == 1


def test_a_folder_without_room_is_not_filled(make_model, tmp_path, monkeypatch):
    usage = other_backend.shutil.disk_usage(tmp_path)._replace(free=1000)
    monkeypatch.setattr(other_backend.shutil, "disk_usage", lambda folder: usage)
    with pytest.raises(ValueError, match="no room"):
        other_backend._pack(checked_call(make_model, X, Y, {}), tmp_path)
    assert not list(tmp_path.iterdir())


KILLED = """
import sys, tempfile
tempfile.tempdir = sys.argv[1]
import numpy as np, keras
from accel_helpers.fit import other_backend
from accel_helpers.fit.checked_call import checked_call
def make_model():
    model = keras.Sequential([keras.Input((100,)), keras.layers.Dense(1)])
    model.compile("sgd", "mse")
    return model
call = checked_call(make_model, np.ones((4000, 100)), np.ones((4000, 1)), {})
other_backend.OtherBackend(call, 0.1, 0.0)
print("never")
"""


@pytest.mark.slow
def test_nothing_stays_behind_when_the_session_is_killed(keras, tmp_path):
    if not other_backend.other_backend():
        pytest.skip("one framework is installed")
    command = [sys.executable, "-c", KILLED, str(tmp_path)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE)
    until(lambda: list(tmp_path.glob("*/model.keras")))
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    # Keras may be saving just then, and leaves an empty folder of its own.
    until(lambda: not list(tmp_path.glob("accel-backend-*")))


def until(holds) -> None:
    """Wait until something holds; a minute and a half, on machines however slow."""
    for _ in range(900):
        if holds():
            return
        time.sleep(0.1)
    raise AssertionError("it did not happen")
