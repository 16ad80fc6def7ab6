"""A take-away cell runs in a notebook that has never heard of this library, on both frameworks."""

import importlib.util
import os
import subprocess
import sys

import lesson
import pytest
from cells import PATHS, cells

# The library cannot be imported: what a cell needs of it would fail.
BLOCK = "import sys; sys.modules['accel_helpers'] = None\n"
# What a reader has of their own.
OWN = """
import keras
import numpy as np
x = np.random.default_rng(0).random((640, 3), dtype="float32")
y = x.sum(axis=1)
def make_model():
    model = keras.Sequential([keras.Input((3,)), keras.layers.Dense(1)])
    model.compile("sgd", "mse")
    return model
model = make_model()
"""
WIDE = """
import keras
def make_model(width):
    return keras.Sequential([keras.Input((784,)), keras.layers.Dense(width)])
"""
# Each batch is waited for, so some share of an epoch is waiting, and some is not.
BATCHES = """
import time
class Batches(keras.utils.PyDataset):
    def __len__(self):
        return 10
    def __getitem__(self, index):
        time.sleep(0.1)
        return np.split(x, 10)[index], np.split(y, 10)[index]
say_waiting(model, Batches())
"""
# The same in a file of their own, where nothing is made before there are several devices.
OWN_FILE = '''
import sys, types
code = """
import keras
import numpy as np
x = np.random.default_rng(0).random((640, 3), dtype="float32")
losses = {}
def train(name):
    keras.utils.set_random_seed(0)
    model = keras.Sequential([keras.Input((3,)), keras.layers.Dense(1)])
    model.compile("sgd", "mse")
    fitted = model.fit(x, x.sum(axis=1), batch_size=64, epochs=3, shuffle=False, verbose=0)
    losses[name] = fitted.history["loss"]
"""
sys.modules["digits"] = digits = types.ModuleType("digits")
exec(code, digits.__dict__)
'''
ONE_LOSS = """
one, two = digits.losses.values()
assert digits.np.allclose(one, two, rtol=1e-4), (one, two)
"""
SAVED = """
again = keras.saving.load_model(f"{folder}/digits.keras")
assert again.evaluate(x_test, y_test)[1] > 0.9
"""
# What each cell says is to be done with it, by lesson; the data and the model are one's own.
USED = dict.fromkeys(PATHS, ("", "")) | {
    "00": (OWN, ""),
    "03": (OWN, "model.fit(x, y, epochs=4, callbacks=[timer], verbose=0)"),
    "05": (OWN, ""),
    "06": ("", "list_matmuls(784, 128, batch=32)"),
    "07": (WIDE, "flops, moved = step_work(make_model(100), 32)\nassert flops > moved"),
    "08": (OWN, BATCHES),
    "09": (OWN_FILE, ONE_LOSS),
    "10": ("", SAVED),
}
BACKENDS = [name for name in ("tensorflow", "jax") if importlib.util.find_spec(name)]
MARKS = {"tensorflow": pytest.mark.slow, "jax": pytest.mark.night}


@pytest.mark.parametrize("backend", [pytest.param(name, marks=MARKS[name]) for name in BACKENDS])
@pytest.mark.parametrize("number", PATHS)
def test_it_runs_without_this_library(number, backend, tmp_path):
    (away,) = cells(number, tag="take-away")
    before, after = USED[number]
    environ = {**os.environ, "KERAS_BACKEND": backend, "PYTHONPATH": ""}
    code = BLOCK + before + lesson.taken_away(away.source) + "\n" + after
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, env=environ, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-2000:]
