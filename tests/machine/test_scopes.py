"""The scopes of strategies: they train with the real frameworks, and leave a process as it was."""

import json
import os
from pathlib import Path

import pytest
from machines import python, write

SCRIPT = Path(__file__).with_name("train_in_scopes.py")
SAME_LOSS = 1e-5  # relative: gradients are added up in another order, in float32
JAX = {"KERAS_BACKEND": "jax"}
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


@slow
@pytest.mark.parametrize("name", ["tensorflow", "jax"])
def test_several_sizes_in_one_kernel_train_alike(name):
    out = said(python(SCRIPT, "sizes", "1,2,4,2", KERAS_BACKEND=name))
    one, *others = out["runs"]
    assert [run["used"] for run in out["runs"]] == [1, 2, 4, 2], "every replica has the weights"
    assert one["kind"] == "cpu" and others[0]["kind"] == "virtual replicas"
    assert one["losses"][1] < one["losses"][0]
    for run in others:
        assert run["losses"] == pytest.approx(one["losses"], rel=SAME_LOSS)
    assert out["clean"]


@slow
@pytest.mark.parametrize("name", ["tensorflow", "jax"])
def test_mishaps_leave_the_process_as_it_was(name, without_tensorflow):
    path = without_tensorflow if name == "jax" else []
    out = said(python(SCRIPT, "mishaps", path=path, KERAS_BACKEND=name))
    assert out["clean"] and "A scope is open already" in out["nested"]
    assert out["after"]["used"] == 2
    if name == "jax":  # said in the docstring of `Strategy.scope`
        assert out["partial"] in ("IndivisibleError", "ValueError")
    else:
        assert len(out["partial"]) == 2


@pytest.mark.parametrize("name", ["tensorflow", pytest.param("jax", marks=slow)])
def test_after_a_look_at_the_devices_a_restart_is_asked_for_and_one_replica_trains(
    name, without_tensorflow
):
    path = without_tensorflow if name == "jax" else []
    environ = {"KERAS_BACKEND": name, "COLAB_RELEASE_TAG": "r"}
    out = said(python(SCRIPT, "late", path=path, **environ))
    assert "Runtime → Restart session" in out["refused"]
    assert "pick_strategy(replicas=2).scope()" in out["refused"]
    assert out["one"]["used"] == 1


REFUSED = """
import json, os, sys
{before}
from accel_helpers.machine import strategy
from accel_helpers.machine.strategy import Strategy
had, error = dict(os.environ), None
try:
    with Strategy({kind!r}, {name!r}, {replicas}, "", "kaggle").scope(): pass
except RuntimeError as caught: error = caught
loaded = sorted({{"keras", "tensorflow"}} & set(sys.modules))
print(json.dumps([type(error).__name__, str(error), loaded, had == dict(os.environ)]))
"""
STARTED = "import jax; jax.devices(); os.environ['TF_CPP_MIN_LOG_LEVEL'] = '2'"


@pytest.mark.parametrize(
    ("kind", "name", "replicas", "before", "error", "words", "loaded"),
    [
        ("virtual replicas", "jax", 2, STARTED, "RestartNeeded", "with 1 of the 2", []),
        ("several gpus", "jax", 2, STARTED, "RuntimeError", "2 GPUs were asked for", ["keras"]),
        ("cpu", "tensorflow", 1, "os.environ['KERAS_BACKEND'] = 'jax'; import keras",
         "RestartNeeded", "Run → Restart & clear", ["keras"]),
    ],
)  # fmt: skip
def test_a_scope_that_does_not_suit_this_machine_is_refused_and_settles_nothing(
    without_tensorflow, kind, name, replicas, before, error, words, loaded
):
    code = REFUSED.format(kind=kind, name=name, replicas=replicas, before=before)
    path = without_tensorflow if "jax" in before or name == "jax" else []
    done = python(code, path=path)
    raised, text, there, same = json.loads(done.stdout)
    assert (raised, there) == (error, loaded) and words in text
    assert same or "keras" in loaded, "nothing is settled where Keras is not loaded"


HOSTILE = """
import json, sys
from accel_helpers.machine import doctor, strategy
picked = strategy.pick(2, root=sys.argv[1])
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
out["tensorflow"] = "tensorflow" in sys.modules
print(json.dumps(out))
"""


def hostile(root="/", **how):
    out = said(python(HOSTILE, str(root), **how))
    assert out["loaded"] == [] and out["loss"] > 0
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
    assert out["finds"] == finds and "TPU" in out["reason"]


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
    assert out["backend"] == "jax" and not out["tensorflow"]
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
    assert "tensorflow-tpu" in first and "KERAS_BACKEND=jax" in first
    assert second == "jax" and "tensorflow-tpu is kept out of this kernel" in third
