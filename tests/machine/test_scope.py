"""The scope of a strategy: it trains with the real frameworks, and leaves a process as it was."""

import json
from pathlib import Path

import pytest
from machines import python, write

from accel_helpers.machine.strategy import Strategy

SCRIPT = Path(__file__).with_name("train_in_scope.py")
SAME_LOSS = 1e-5  # relative: gradients are added up in another order, in float32
TWO_CPUS = {"XLA_FLAGS": "--xla_force_host_platform_device_count=2"}
slow = pytest.mark.slow


def said(done):
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(done.stdout)


@pytest.fixture
def without_tensorflow(tmp_path):
    """A folder that makes TensorFlow as good as absent; with it, Keras on JAX starts sooner."""
    write(tmp_path / "absent", {"tensorflow.py": "raise ModuleNotFoundError(__name__)\n"})
    return [tmp_path / "absent"]


@pytest.fixture
def without_jax(tmp_path):
    write(tmp_path / "absent", {"jax.py": "raise ModuleNotFoundError(__name__)\n"})
    return [tmp_path / "absent"]


@pytest.mark.parametrize("framework", ["tensorflow", pytest.param("jax", marks=slow)])
def test_it_trains_alike_on_one_device_and_on_two_logical_ones(framework, request):
    other = {"tensorflow": "without_jax", "jax": "without_tensorflow"}[framework]
    how = {"path": request.getfixturevalue(other), "KERAS_BACKEND": framework}
    one = said(python(SCRIPT, "one", **how))
    two = said(python(SCRIPT, "two", **how, **TWO_CPUS))
    assert one["kind"] == "cpu"
    assert two["type"] == {"tensorflow": "MirroredStrategy", "jax": "DataParallel"}[framework]
    assert two["losses"] == pytest.approx(one["losses"], rel=SAME_LOSS)
    assert one["losses"][1] < one["losses"][0]
    assert one["clean"], "what was set for the block is gone after it"


@pytest.mark.parametrize(("kind", "replicas"), [("one gpu", 1), ("several gpus", 2)])
def test_a_gpu_that_keras_does_not_see_is_an_error_and_no_silent_cpu(keras, kind, replicas):
    with pytest.raises(RuntimeError, match="Keras sees only .*cpu:0"):
        Strategy(kind, keras.backend.backend(), replicas, "").build()


HOSTILE = """
import json, sys
from accel_helpers.machine import facts, faults, strategy
picked = strategy.pick(root=sys.argv[1])
out = {"reason": picked.reason, "backend": picked.backend}
out["finds"] = [one.id for one in faults.find(facts.Facts(root=sys.argv[1]))]
out["loaded"] = sorted({"keras", "tensorflow", "jax", "numpy", "torch"} & set(sys.modules))
with picked.scope():
    import keras
    keras.utils.set_random_seed(0)
    out["one"] = float(keras.ops.ones(1)[0])
out["tensorflow"] = bool(sys.modules.get("tensorflow"))
print(json.dumps(out))
"""


def hostile(root="/", **how):
    out = said(python(HOSTILE, str(root), **how))
    assert out["loaded"] == []
    assert out["one"] == 1
    return out


def test_an_environment_that_claims_a_tpu(without_tensorflow):
    out = hostile(path=without_tensorflow, KERAS_BACKEND="jax", COLAB_TPU_1VM="1")
    assert out["finds"] == ["tpu-claimed"]
    assert "claims a TPU" in out["reason"]


@pytest.fixture
def aborting(tmp_path):
    """A package tensorflow-tpu that ends the process when it is imported."""
    folder = tmp_path / "packages"
    write(folder, {
        "tensorflow/__init__.py": "import os\nos.abort()\n",
        "tensorflow_tpu-2.20.0.dist-info/METADATA":
            "Metadata-Version: 2.1\nName: tensorflow-tpu\nVersion: 2.20.0\n",
    })  # fmt: skip
    return [folder]


def test_a_tensorflow_that_aborts_at_import(aborting):
    """Keras on JAX would import it with the first seed."""
    out = hostile(path=aborting)
    assert out["backend"] == "jax"
    assert not out["tensorflow"]
    assert out["finds"] == ["two-tensorflows", "tensorflow-for-tpus"]


def test_who_asks_for_a_tensorflow_that_aborts_hears_of_it(aborting):
    code = "import accel_helpers as ah\nah.pick_strategy().build()"
    told = python(code, path=aborting, KERAS_BACKEND="tensorflow")
    assert told.returncode == 1
    assert 'ah.use_backend("jax")' in told.stderr
