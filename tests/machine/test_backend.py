"""Loading Keras, waiting for it, placing work, training in a scope: with the real frameworks."""

import re
import sys
from functools import partial
from unittest.mock import Mock

import pytest
from machines import keras_on, python, tpu_files, write

import accel_helpers as ah
from accel_helpers.course.quickstart import quickstart_model
from accel_helpers.machine import backend
from accel_helpers.machine.facts import Facts
from accel_helpers.machine.strategy import Strategy

# On a CPU of two logical devices, which JAX has by XLA_FLAGS.
CHILD = """
import sys, pytest
import accel_helpers as ah
from accel_helpers.machine import backend
from accel_helpers.machine.strategy import Strategy

picked = ah.pick_strategy()
assert not {"keras", "tensorflow", "jax"} & set(sys.modules), "to pick loads no framework"
with pytest.raises(RuntimeError, match="use_backend"):
    backend.devices()

on_tensorflow = picked.backend == "tensorflow"
if on_tensorflow:
    import tensorflow as tf
    (cpu,) = tf.config.list_physical_devices("CPU")
    halves = [tf.config.LogicalDeviceConfiguration()] * 2
    tf.config.set_logical_device_configuration(cpu, halves)
assert ah.use_backend().name == picked.backend
import keras, numpy as np
with pytest.raises(RuntimeError, match=f"runs on {picked.backend} already.*restart"):
    ah.use_backend("torch")

assert backend.devices() == ("cpu",)
with pytest.raises(ValueError, match="got 'gpu'"):
    backend.on("gpu")
with backend.on("cpu"):
    model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(3)])
double = backend.jit(lambda v: keras.ops.add(v, v))
x = keras.ops.convert_to_tensor(np.ones(3, "float32"))
y = backend.wait({"a": [double(x), model, None, "text", 3]})
assert float(keras.ops.sum(y["a"][0])) == 6
for value in (model, model.weights[0], y["a"], np.zeros(2)):
    assert backend.where(value) == "cpu"
if not on_tensorflow:
    square = backend.jit(lambda v: keras.ops.matmul(v, v))
    x = keras.ops.ones((1500, 1500))
    backend.wait(square(x))
    y = square(x)
    backend.wait([x, y])  # x was finished long ago
    assert y.is_ready(), "JAX runs ahead, and every result is waited for"

def losses(strategy):
    with strategy.scope():
        x = np.random.default_rng(0).normal(size=(256, 20)).astype("float32")
        y = (x.sum(axis=1) > 0).astype("int32")
        keras.utils.set_random_seed(0)
        model = keras.Sequential([keras.Input((20,)), keras.layers.Dense(2)])
        model.compile("adam", keras.losses.SparseCategoricalCrossentropy(from_logits=True))
        fitted = model.fit(x, y, batch_size=64, epochs=2, shuffle=False, verbose=0)
        if strategy.replicas == 1:  # it refuses several
            ah.fit_resident(model, x, y, batch_size=64, verbose=0)
    return fitted.history["loss"]

two = Strategy("cpu", picked.backend, 2, "")
kind = "MirroredStrategy" if on_tensorflow else "DataParallel"
assert type(two.build()).__name__ == kind
on_two = losses(two)
if on_tensorflow:
    assert not tf.distribute.has_strategy()
else:
    assert keras.distribution.distribution() is None
on_one = losses(picked)
assert on_one[1] < on_one[0]
# Gradients are added up in another order, in float32.
assert on_two == pytest.approx(on_one, rel=1e-5)
"""
# What Keras on JAX would import with the first seed, and the kernel would die.
TENSORFLOW_TPU = {
    "tensorflow/__init__.py": "import os\nos.abort()\n",
    "tensorflow_tpu-2.20.0.dist-info/METADATA": (
        "Metadata-Version: 2.1\nName: tensorflow-tpu\nVersion: 2.20.0\n"
    ),
}


@pytest.mark.parametrize("name", ["tensorflow", "jax"])
def test_the_real_frameworks_compute_and_train_alike_on_one_device_and_two(name, tmp_path):
    write(tmp_path, TENSORFLOW_TPU if name == "jax" else {})
    two_cpus = "--xla_force_host_platform_device_count=2"
    done = python(CHILD, path=[tmp_path], KERAS_BACKEND=name, XLA_FLAGS=two_cpus)
    assert done.returncode == 0, done.stderr
    assert name == "tensorflow" or done.stderr == ""


def test_start_up_notices_are_held_back():
    code = "import accel_helpers as ah; print(ah.use_backend().name)"
    done = python(code, KERAS_BACKEND="tensorflow")
    assert (done.stdout, done.stderr) == ("tensorflow\n", "")


def test_who_asks_for_a_tensorflow_that_aborts_hears_of_it(tmp_path):
    write(tmp_path, TENSORFLOW_TPU)
    code = "import accel_helpers as ah\nah.pick_strategy().build()"
    told = python(code, path=[tmp_path], KERAS_BACKEND="tensorflow")
    assert told.returncode == 1
    assert 'ah.use_backend("jax")' in told.stderr


def test_a_gpu_that_keras_does_not_see_is_an_error_and_no_silent_cpu(keras):
    for kind, replicas in (("one gpu", 1), ("several gpus", 2)):
        with pytest.raises(RuntimeError, match="Keras sees only .*cpu:0"):
            Strategy(kind, keras.backend.backend(), replicas, "").build()


def test_the_framework_that_is_named_is_taken_before_keras_is_loaded():
    both = {"jax": "0.7.2", "tensorflow": "2.20.0"}
    facts = Facts({"KERAS_BACKEND": "tensorflow"}, "/nowhere", versions=both.get)
    assert backend.settle(facts, "jax").name == "jax"
    assert facts.environ["KERAS_BACKEND"] == "jax"


def test_a_jax_that_trains_wrongly_on_a_cpu_gets_a_flag_and_no_other():
    flags = {"0.7.1": "--mine", "0.8.0": "--xla_cpu_use_xnnpack=false --mine"}
    for version, expected in flags.items():
        facts = Facts({"XLA_FLAGS": "--mine"}, "/nowhere", versions={"jax": version}.get)
        backend.settle(facts)
        assert facts.environ["XLA_FLAGS"] == expected


def test_who_has_a_jax_that_computes_wrongly_or_another_chip_than_asked_for_hears_of_it(tmp_path):
    page = {"ipynb": {"metadata": {"accelerator": "GPU", "colab": {"gpuType": "L4"}}}}
    jax = {"jax-0.10.2.dist-info/METADATA": "Metadata-Version: 2.1\nName: jax\nVersion: 0.10.2\n"}
    colab = {"google/colab/_message.py": f"blocking_request = lambda *_, **__: {page}"}
    write(tmp_path, {"keras.py": ""} | jax | colab)
    code = "import google.colab, accel_helpers as ah; ah.use_backend()"
    done = python(code, path=[tmp_path], KERAS_BACKEND="jax", XLA_FLAGS="", COLAB_RELEASE_TAG="x")
    assert "computes some sums wrongly" in done.stdout
    assert re.search(r"\(L4\).*only a CPU", done.stdout)


def test_a_framework_that_fails_at_import_is_not_silenced(tmp_path):
    broken = "import os\nos.write(2, b'native words\\n')\nraise ImportError('broken wheel')\n"
    write(tmp_path, {"keras.py": broken})
    done = python("import accel_helpers as ah; ah.use_backend()", path=[tmp_path])
    assert done.returncode != 0
    assert "broken wheel" in done.stderr
    assert "native words" in done.stderr


def test_tensors_on_a_gpu_are_waited_for(monkeypatch):
    framework = Mock()
    monkeypatch.setitem(sys.modules, "tensorflow", framework)
    tensor = type("Tensor", (), {"__module__": "tensorflow", "device": "/job:x/device:CPU:0"})
    on_cpu, on_gpu = tensor(), tensor()
    on_gpu.device = "/job:x/device:GPU:0"
    backend.wait([on_cpu])
    framework.test.experimental.sync_devices.assert_not_called()
    backend.wait({"both": [on_cpu, on_gpu], "none": None})
    framework.test.experimental.sync_devices.assert_called_once()
    assert backend.where(on_gpu) == "gpu"


def test_a_chip_that_does_nothing_while_a_model_trains_is_told_of_once(
    keras, digits, monkeypatch, tmp_path, capsys
):
    write(tmp_path, tpu_files(1))
    monkeypatch.setattr(backend, "Facts", partial(Facts, root=tmp_path))
    backend.look_for_idle.cache_clear()
    for _ in range(2):
        ah.time_fit(quickstart_model(), *digits, seconds=0.1)
    assert capsys.readouterr().out.count("The TPU v5e that is attached does nothing") == 1


def test_steps_are_grouped_on_jax_from_keras_3_16_on(monkeypatch):
    for version in ("tensorflow 3.8.0", "jax 3.16.0", "jax 4.0.0.dev2026112300"):
        monkeypatch.setitem(sys.modules, "keras", keras_on(*version.split()))
        assert backend.groups_steps()
    for version in ("jax 3.15.2", "torch 3.16.0"):
        monkeypatch.setitem(sys.modules, "keras", keras_on(*version.split()))
        assert not backend.groups_steps()
