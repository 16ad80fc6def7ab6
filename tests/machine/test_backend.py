"""Loading Keras, waiting for it, placing work: with the real frameworks."""

import json
from types import SimpleNamespace

import pytest
from machines import python

from accel_helpers.machine import backend

REAL = """
import json, sys
import accel_helpers as ah
choice = ah.backend.choose()
import keras, numpy as np
out = {"backend": keras.backend.backend(), "devices": ah.backend.devices()}
with ah.backend.on("cpu"):
    model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(3)])
try:
    ah.backend.where("x")
except TypeError as error:
    out["no array"] = str(error)
out["where"] = [ah.backend.where(v) for v in (model, model.weights[0], np.zeros(2))]
double = ah.backend.jit(lambda v: keras.ops.add(v, v))
x = keras.ops.convert_to_tensor(np.ones(3, "float32"))
y = ah.backend.wait({"a": [double(x), model, None, "text", 3]})
out["sum"] = float(keras.ops.sum(y["a"][0]))
try:
    ah.backend.on("gpu")
except ValueError as error:
    out["error"] = str(error)
out["again"] = ah.backend.choose().reason
print(json.dumps(out))
"""


@pytest.mark.parametrize("name", ["tensorflow", "jax"])
def test_the_real_frameworks(name):
    done = python(REAL, KERAS_BACKEND=name)
    assert done.returncode == 0, done.stderr
    out = json.loads(done.stdout)
    assert out["backend"] == name and out["devices"] == ["cpu"]
    assert "got str: 'x'" in out["no array"]
    assert out["where"] == ["cpu", "cpu", "cpu"] and out["sum"] == 6.0
    assert out["error"].endswith("got 'gpu'.")
    assert "restart" in out["again"]


@pytest.mark.slow
def test_start_up_notices_are_held_back():
    done = python(
        "import accel_helpers as ah; print(ah.backend.choose().name)",
        KERAS_BACKEND="tensorflow",
        TF_CPP_MIN_LOG_LEVEL="0",
    )
    assert done.stdout.strip() == "tensorflow" and done.stderr.strip() == ""


def test_a_framework_that_fails_at_import_is_not_silenced(tmp_path):
    (tmp_path / "keras.py").write_text(
        "import os\nos.write(2, b'native words\\n')\nraise ImportError('broken wheel')\n"
    )
    done = python("import accel_helpers as ah; ah.backend.choose()", path=[tmp_path])
    assert done.returncode != 0
    assert "broken wheel" in done.stderr and "native words" in done.stderr


def test_jax_runs_ahead_and_wait_catches_up():
    """The real thing: JAX on a CPU comes back before a large product is done."""
    code = """
import time, jax, jax.numpy as jnp
from accel_helpers.machine import backend
f = jax.jit(lambda a: a @ a)
x = jnp.ones((1500, 1500)); backend.wait(f(x))
start = time.perf_counter(); y = f(x); ordered = time.perf_counter() - start
backend.wait([y]); done = time.perf_counter() - start
print(y.is_ready(), done > ordered)
"""
    done = python(code)
    assert done.stdout.split() == ["True", "True"], done.stdout + done.stderr


@pytest.mark.parametrize(("device", "waited"), [("GPU:0", ["sync"]), ("CPU:0", [])])
def test_tensors_on_a_gpu_are_waited_for_without_a_copy(device, waited):
    """No GPU here: a tensor that says where it is, and a framework that notes the waiting."""
    calls = []
    experimental = SimpleNamespace(sync_devices=lambda: calls.append("sync"))
    framework = SimpleNamespace(test=SimpleNamespace(experimental=experimental))
    kind = type("Tensor", (), {"__module__": "tensorflow.fake", "dtype": "float32"})
    tensor = kind()
    tensor.device = f"/job:localhost/replica:0/task:0/device:{device}"
    held = [tensor, None]
    held.append(held)  # what holds itself is waited for once
    assert backend.wait(held, frameworks={"tensorflow": framework}) is held
    assert calls == waited and backend.where(tensor) == device[:3].lower()


def test_devices_before_keras_is_a_sentence():
    done = python("import accel_helpers as ah; ah.backend.devices()")
    assert "Call accel_helpers.backend.choose() first" in done.stderr
