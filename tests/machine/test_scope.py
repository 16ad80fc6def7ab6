"""The scope of a strategy: it trains with the real frameworks, and leaves a process as it was."""

import json
import os
from pathlib import Path

import pytest
from machines import python, write

SCRIPT = Path(__file__).with_name("train_in_scope.py")
SAME_LOSS = 1e-5  # relative: gradients are added up in another order, in float32
JAX = {"KERAS_BACKEND": "jax"}
FOUR_CPUS = {"XLA_FLAGS": "--xla_force_host_platform_device_count=4"}
slow = pytest.mark.slow


def said(done):
    assert done.returncode == 0, done.stderr[-3000:]
    assert not done.stderr.strip(), "a notebook would show this in red"
    return json.loads(done.stdout)


@pytest.fixture
def without_tensorflow(tmp_path):
    """A folder that makes TensorFlow as good as absent; with it, Keras on JAX starts sooner."""
    folder = tmp_path / "absent"
    folder.mkdir()
    (folder / "tensorflow.py").write_text("raise ModuleNotFoundError(__name__)\n")
    return [folder]


@pytest.mark.parametrize(
    ("framework", "kind"), [("tensorflow", "_DefaultDistributionStrategy"), ("jax", "DataParallel")]
)
def test_the_frameworks_own_object_trains_on_this_machine(framework, kind, without_tensorflow):
    path = without_tensorflow if framework == "jax" else []
    out = said(python(SCRIPT, "one", path=path, KERAS_BACKEND=framework))
    assert out["kind"] == "cpu"
    assert out["type"] == kind
    assert out["losses"][1] < out["losses"][0]
    assert out["clean"], "what was set for the block is gone after it"


@pytest.mark.night
def test_a_process_that_made_four_devices_trains_as_before(without_tensorflow):
    """Logical devices are the learner's to make; a CPU is one place to train all the same."""
    alone = said(python(SCRIPT, "one", path=without_tensorflow, **JAX))
    beside = said(python(SCRIPT, "one", path=without_tensorflow, **JAX, **FOUR_CPUS))
    assert beside["devices"] == 4
    assert beside["losses"] == pytest.approx(alone["losses"], rel=SAME_LOSS)


REFUSED = """
import json, os, sys
{before}
from accel_helpers.machine.strategy import Strategy
before, error = dict(os.environ), None
try:
    with Strategy({kind!r}, {framework!r}, {replicas}, "").scope(): pass
except RuntimeError as caught: error = caught
loaded = sorted({{"keras", "tensorflow"}} & set(sys.modules))
print(json.dumps([str(error), loaded, before == dict(os.environ)]))
"""
ON_JAX = "os.environ['KERAS_BACKEND'] = 'jax'; import keras"


@pytest.mark.parametrize(
    ("kind", "framework", "replicas", "before", "words"),
    [
        ("several gpus", "jax", 2, "", "has 2 devices and JAX sees 1"),
        ("cpu", "tensorflow", 1, ON_JAX, "Keras is already loaded on jax"),
    ],
)
def test_a_scope_that_does_not_suit_this_machine_is_refused(
    without_tensorflow, kind, framework, replicas, before, words
):
    code = REFUSED.format(kind=kind, framework=framework, replicas=replicas, before=before)
    message, loaded, same = json.loads(python(code, path=without_tensorflow).stdout)
    assert words in message
    assert same or "keras" in loaded, "nothing is settled where Keras is not loaded"


HOSTILE = """
import json, sys
from accel_helpers.machine import doctor, strategy
picked = strategy.pick(root=sys.argv[1])
out = {"reason": picked.reason, "backend": picked.backend}
out["finds"] = [one.id for one in doctor.diagnose(root=sys.argv[1]).findings]
out["loaded"] = sorted({"keras", "tensorflow", "jax", "numpy", "torch"} & set(sys.modules))
with picked.scope():
    import keras, numpy as np
    keras.utils.set_random_seed(0)
    model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(1)])
    model.compile("sgd", "mse")
    x = np.ones((8, 4), "float32")
    fitted = model.fit(x, x[:, :1], batch_size=4, verbose=0)
out["loss"] = fitted.history["loss"][0]
out["tensorflow"] = bool(sys.modules.get("tensorflow"))
print(json.dumps(out))
"""


def hostile(root="/", **how):
    out = said(python(HOSTILE, str(root), **how))
    assert out["loaded"] == []
    assert out["loss"] > 0
    return out


@pytest.mark.parametrize(
    ("environ", "finds"),
    [
        ({"TPU_NAME": "grpc://10.255.255.1:8470"}, ["grpc-address"]),
        pytest.param({"JAX_PLATFORMS": "tpu,cpu", "TPU_NAME": "my-tpu", "COLAB_TPU_1VM": "1"},
                     ["tpu-claimed", "tpu-name"], marks=slow),
    ],
)  # fmt: skip
def test_a_nonsense_environment(environ, finds, without_tensorflow):
    out = hostile(path=without_tensorflow, **JAX, **environ)
    assert out["finds"] == finds
    assert "TPU" in out["reason"]


@slow
def test_files_that_cannot_be_read_and_an_nvidia_smi_that_hangs(tmp_path, without_tensorflow):
    for path in ("proc/cpuinfo", "proc/meminfo", "proc/driver/nvidia/version", "dev/nvidiactl"):
        (tmp_path / "root" / path).mkdir(parents=True)  # a folder cannot be read as a file
    (tmp_path / "bin").mkdir()
    hanging = tmp_path / "bin/nvidia-smi"
    hanging.write_text("#!/bin/sh\nexec sleep 600\n")
    hanging.chmod(0o755)
    found = f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}"
    how = {"path": without_tensorflow, "PATH": found, **JAX}
    assert hostile(tmp_path / "root", **how)["finds"] == ["gpu-silent"]


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


@pytest.mark.parametrize("environ", [{}, pytest.param({"KERAS_BACKEND": "tensorflow"}, marks=slow)])
def test_a_tensorflow_that_aborts_at_import(aborting, environ):
    out = hostile(path=aborting, **environ)
    assert out["backend"] == "jax"
    assert not out["tensorflow"]
    assert out["finds"] == ["tensorflow-twice", "tensorflow-tpu-without-tpu"]
    assert "tensorflow-tpu 2.20.0" in out["reason"]


def test_neither_a_scope_nor_choose_imports_a_tensorflow_that_aborts(aborting):
    """Keras on JAX would import it with the first seed."""
    code = (
        "import accel_helpers as ah\nfrom accel_helpers.machine import strategy\n"
        "try:\n"
        "    with strategy.Strategy('cpu', 'tensorflow', 1, '').scope(): pass\n"
        "except RuntimeError as error: print(error)\n"
        "print(ah.use_backend().name)\n"
        "import keras; keras.utils.set_random_seed(0)\n"
        "try:\n"
        "    import tensorflow\n"
        "except ImportError as error: print(error)"
    )
    first, second, third = python(code, path=aborting).stdout.splitlines()
    assert "tensorflow-tpu" in first
    assert "KERAS_BACKEND=jax" in first
    assert second == "jax"
    assert "import of tensorflow halted" in third
