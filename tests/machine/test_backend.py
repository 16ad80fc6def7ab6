"""Loading Keras, waiting for it, placing work: with the real frameworks."""

import json
import re
import sys
from types import SimpleNamespace

import pytest
from machines import python, tpu_files, write

from accel_helpers.machine import backend
from accel_helpers.machine.facts import Facts

REAL = """
import json, sys
import accel_helpers as ah
from accel_helpers.machine import backend
def refused(call, *given):
    try: call(*given)
    except Exception as error: return f"{type(error).__name__}: {error}"
out = {"refused": [refused(backend.devices)]}
choice = ah.use_backend()
import keras, numpy as np
with backend.on("cpu"):
    model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(3)])
double = backend.jit(lambda v: keras.ops.add(v, v))
x = keras.ops.convert_to_tensor(np.ones(3, "float32"))
y = backend.wait({"a": [double(x), model, None, "text", 3]})
out["sum"] = float(keras.ops.sum(y["a"][0]))
out["where"] = [backend.where(v) for v in (model, model.weights[0], y["a"], np.zeros(2))]
out["devices"] = backend.devices()
out["same"] = ah.use_backend(choice.name).name
out["refused"] += [refused(backend.on, "gpu"), refused(ah.use_backend, "torch")]
print(json.dumps(out))
"""


@pytest.mark.parametrize("name", ["tensorflow", "jax"])
def test_the_real_frameworks(name):
    done = python(REAL, KERAS_BACKEND=name)
    assert done.stderr.strip() == "", "start-up notices are held back"
    out = json.loads(done.stdout)
    assert out["devices"] == ["cpu"]
    assert out["where"] == ["cpu"] * 4
    assert out["sum"] == 6.0
    assert out["same"] == name
    words = ("RuntimeError: .*use_backend", "ValueError: .*got 'gpu'",
             f"RuntimeError: .*runs on {name} already.*restart")  # fmt: skip
    for said, expected in zip(out["refused"], words, strict=True):
        assert re.match(expected, said)


def settled(name, environ, **versions):
    """The framework for a machine with these packages alone."""
    facts = Facts(environ=environ, root="/nowhere", versions=versions.get)
    return backend.settle(facts, name).name


def test_the_framework_that_is_named_is_taken_before_keras_is_loaded():
    both = {"jax": "0.7.2", "tensorflow": "2.20.0"}
    environ = {"KERAS_BACKEND": "tensorflow"}
    assert settled("jax", environ, **both) == "jax"
    assert environ["KERAS_BACKEND"] == "jax"
    with pytest.raises(ValueError, match="'theano'.* tensorflow, jax and torch"):
        settled("theano", {}, **both)


@pytest.mark.parametrize(("jax", "set_there"), [("0.7.1", False), ("0.8.0", True)])
def test_a_jax_that_trains_wrongly_on_a_cpu_gets_a_flag_and_no_other(jax, set_there):
    environ = {"XLA_FLAGS": "--mine"}
    settled("", environ, jax=jax)
    assert environ["XLA_FLAGS"] == "--xla_cpu_use_xnnpack=false " * set_there + "--mine"


def test_who_has_a_jax_that_computes_wrongly_hears_of_it(tmp_path):
    metadata = "Metadata-Version: 2.1\nName: jax\nVersion: 0.10.2\n"
    write(tmp_path, {"keras.py": "", "jax-0.10.2.dist-info/METADATA": metadata})
    code = "import accel_helpers as ah; ah.use_backend()"
    done = python(code, path=[tmp_path], KERAS_BACKEND="jax", XLA_FLAGS="")
    assert "computes some sums wrongly" in done.stdout


def test_a_framework_that_fails_at_import_is_not_silenced(tmp_path):
    (tmp_path / "keras.py").write_text(
        "import os\nos.write(2, b'native words\\n')\nraise ImportError('broken wheel')\n"
    )
    done = python("import accel_helpers as ah; ah.use_backend()", path=[tmp_path])
    assert done.returncode != 0
    assert "broken wheel" in done.stderr
    assert "native words" in done.stderr


def test_jax_runs_ahead_and_wait_catches_up():
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


class Tensor:
    __module__ = "tensorflow.fake"

    def __init__(self, device):
        self.device = f"/job:localhost/replica:0/task:0/device:{device}"

    def __array__(self):
        raise AssertionError("a copy")


@pytest.mark.parametrize(
    ("devices", "waited"), [(["GPU:0"], 1), (["CPU:0"], 0), (["CPU:0", "GPU:0"], 1)]
)
def test_tensors_on_a_gpu_are_waited_for_without_a_copy(monkeypatch, devices, waited):
    calls = []
    experimental = SimpleNamespace(sync_devices=lambda: calls.append("sync"))
    framework = SimpleNamespace(test=SimpleNamespace(experimental=experimental))
    monkeypatch.setitem(sys.modules, "tensorflow", framework)
    held = {"all": [Tensor(device) for device in devices], "none": None}
    assert backend.wait(held) is held
    assert len(calls) == waited
    assert backend.where(held) == devices[0][:3].lower()


ASKS = """
import functools, sys, google.colab, accel_helpers as ah
from accel_helpers.machine import backend
from accel_helpers.course import quickstart
from accel_helpers.fit.time_fit import time_fit
from accel_helpers.fit.images import load_images
ah.use_backend()
print("--")
images = load_images(64, source="bundled")
time_fit(quickstart.quickstart_model(), images.x_train, images.y_train, seconds=1)
assert backend.look_for_idle.cache_info().currsize == 1, "fit has asked"
backend.look_for_idle.cache_clear()
backend.Facts = functools.partial(backend.Facts, root=sys.argv[1])
for _ in range(2): backend.look_for_idle()
"""
COLABS = """
def blocking_request(kind, timeout_sec):
    return {"ipynb": {"metadata": {"accelerator": "GPU", "colab": {"gpuType": "L4"}}}}
"""


@pytest.mark.parametrize("page", [COLABS, pytest.param("", marks=pytest.mark.night)])
def test_a_chip_that_was_asked_for_and_did_not_come_and_one_that_does_nothing(page, tmp_path):
    write(tmp_path, tpu_files())
    write(tmp_path / "google/colab", {"__init__.py": "", "output.py": "", "_message.py": page})
    told = python(ASKS, str(tmp_path), path=[tmp_path], COLAB_RELEASE_TAG="x", KERAS_BACKEND="jax")
    assert told.returncode == 0, told.stderr
    first, second = told.stdout.split("--\n")
    assert ("(L4)" in first and "only a CPU" in first) == bool(page)
    assert second.count("The TPU v5e that is attached does nothing") == 1, "once"


@pytest.mark.parametrize(
    ("name", "version", "grouped"),
    [
        ("tensorflow", "3.8.0", True),
        ("jax", "3.15.2", False),
        ("jax", "3.16.0", True),
        ("jax", "4.0.0.dev2026112300", True),
        ("torch", "3.16.0", False),
    ],
)
def test_steps_are_grouped_on_jax_from_keras_3_16_on(monkeypatch, name, version, grouped):
    keras = SimpleNamespace(backend=SimpleNamespace(backend=lambda: name), __version__=version)
    monkeypatch.setitem(sys.modules, "keras", keras)
    assert backend.groups_steps() is grouped
