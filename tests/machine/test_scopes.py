"""The scopes of strategies: they train with the real frameworks, and leave a process as it was."""

import json
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from accel_helpers.machine import faults
from accel_helpers.machine.strategy import RestartNeeded, Strategy

SCRIPT = Path(__file__).with_name("train_in_scopes.py")
ROOT = SCRIPT.parents[2]
SAME_LOSS = 1e-5  # relative: gradients are added up in another order, in float32


# Scopes, without a framework


@pytest.mark.parametrize("place", ["colab", "kaggle", "local"])
def test_the_sentence_says_where_to_restart(place):
    said = str(RestartNeeded("It has started", place, 4))
    assert faults.known().place[place].restart in said and "pick(replicas=4).scope()" in said


def test_what_a_strategy_says_of_itself():
    assert str(Strategy("several gpus", "jax", 2, "Why.")) == (
        "Train on 2 GPUs, with Keras on JAX. Why."
    )
    assert str(Strategy("tpu on jax", "jax", 1, "Why.")).startswith("Train on a TPU, ")


# The real ones, in processes of their own


def python(code, home, *arguments, path=(), **environ):
    """Run code, or a script, where no accelerator is and nothing is settled yet."""
    dropped = ("KERAS_", "TF_", "JAX_", "TPU_", "COLAB_", "PYTEST_")
    clean = {k: v for k, v in os.environ.items() if not k.startswith(dropped)}
    roots = os.pathsep.join(map(str, [*path, ROOT]))
    full = {**clean, "CUDA_VISIBLE_DEVICES": "", "PYTHONPATH": roots, **environ}
    start = [str(code)] if isinstance(code, Path) else ["-c", code]
    return subprocess.run(
        [sys.executable, *start, *arguments],
        env=full,
        cwd=home,
        capture_output=True,
        text=True,
        timeout=200,
    )


def said(done):
    assert done.returncode == 0, done.stderr[-3000:]
    assert not done.stderr.strip(), "a notebook would show this in red"
    return json.loads(done.stdout)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["tensorflow", "jax"])
def test_several_sizes_in_one_kernel_train_alike(name, tmp_path):
    out = said(python(SCRIPT, tmp_path, "sizes", "1,2,4,2", KERAS_BACKEND=name))
    one, *others = out["runs"]
    assert [run["used"] for run in out["runs"]] == [1, 2, 4, 2], "every replica has the weights"
    assert one["kind"] == "cpu" and others[0]["kind"] == "virtual replicas"
    assert one["losses"][1] < one["losses"][0]
    for run in others:
        assert run["losses"] == pytest.approx(one["losses"], rel=SAME_LOSS)
    assert out["clean"]


@pytest.fixture
def without_tensorflow(tmp_path):
    """A folder that makes TensorFlow as good as absent; with it, Keras on JAX starts sooner."""
    folder = tmp_path / "absent"
    folder.mkdir()
    (folder / "tensorflow.py").write_text("raise ModuleNotFoundError(__name__)\n")
    return folder


@pytest.mark.slow
@pytest.mark.parametrize("name", ["tensorflow", "jax"])
def test_mishaps_leave_the_process_as_it_was(name, tmp_path, without_tensorflow):
    path = [without_tensorflow] if name == "jax" else []
    out = said(python(SCRIPT, tmp_path, "mishaps", path=path, KERAS_BACKEND=name))
    assert out["clean"] and "A scope is open already" in out["nested"]
    assert out["after"]["used"] == 2
    if name == "jax":  # said in the docstring of `Strategy.scope`
        assert out["partial"] in ("IndivisibleError", "ValueError")
    else:
        assert len(out["partial"]) == 2


@pytest.mark.parametrize(
    ("name", "spoken"),
    [("tensorflow", "TensorFlow"), pytest.param("jax", "JAX", marks=pytest.mark.slow)],
)
def test_after_a_look_at_the_devices_a_restart_is_asked_for_and_one_replica_trains(
    name, spoken, tmp_path, without_tensorflow
):
    path = [without_tensorflow] if name == "jax" else []
    environ = {"KERAS_BACKEND": name, "COLAB_RELEASE_TAG": "r"}
    out = said(python(SCRIPT, tmp_path, "late", path=path, **environ))
    assert out["refused"].startswith(f"{spoken} has already started with 1 CPU device")
    assert "Runtime → Restart session" in out["refused"]
    assert "pick(replicas=2).scope()" in out["refused"]
    assert out["one"]["used"] == 1


def test_a_keras_on_another_framework_asks_for_a_restart(tmp_path):
    code = (
        "import os, sys; import keras\n"
        "from accel_helpers.machine.strategy import Strategy, RestartNeeded\n"
        "try:\n"
        "    with Strategy('cpu', 'tensorflow', 1, '').scope(): pass\n"
        "except RestartNeeded as error: print(error, 'tensorflow' in sys.modules)"
    )
    done = python(code, tmp_path, KERAS_BACKEND="jax")
    assert "already loaded on jax, not on tensorflow" in done.stdout, done.stderr
    assert done.stdout.strip().endswith("False")


def refused(kind, name, replicas, tmp_path, before="", **how):
    """What the scope of a strategy that does not suit this machine says, and what it loaded."""
    code = (
        f"import os, sys, types\n{before}\n"
        "from accel_helpers.machine.strategy import Strategy\n"
        "had = dict(os.environ)\n"
        "try:\n"
        f"    with Strategy({kind!r}, {name!r}, {replicas}, '', 'colab').scope(): pass\n"
        "except RuntimeError as error: print(type(error).__name__, error)\n"
        "print({'keras', 'tensorflow'} & set(sys.modules), had == dict(os.environ))"
    )
    return python(code, tmp_path, **how).stdout.splitlines()


def test_tensorflow_that_is_loaded_without_the_settings_of_a_tpu_needs_a_restart(tmp_path):
    before = "sys.modules['tensorflow'] = types.ModuleType('tensorflow')"
    said, after = refused("tpu on tensorflow", "tensorflow", 1, tmp_path, before)
    assert said.startswith("RestartNeeded TensorFlow is already loaded, without the settings")
    assert "Runtime → Restart session" in said and after == "{'tensorflow'} True"


def test_a_tpu_that_does_not_start_is_met_in_a_child_first(tmp_path):
    said, after = refused("tpu on tensorflow", "tensorflow", 1, tmp_path)
    assert said.startswith("RuntimeError Starting the TPU with TensorFlow in a child process ended")
    assert "set KERAS_BACKEND=jax" in said
    assert after == "set() True", "nothing is loaded and nothing set"


def test_what_is_refused_settles_nothing(tmp_path, without_tensorflow):
    """JAX has started, and Keras is not loaded yet."""
    before = "import jax; jax.devices()\nos.environ['TF_CPP_MIN_LOG_LEVEL'] = '2'"
    how = {"path": [without_tensorflow]}
    said, after = refused("virtual replicas", "jax", 2, tmp_path, before, **how)
    assert said.startswith("RestartNeeded JAX has already started with 1 CPU device")
    assert after == "set() True"


def test_devices_that_the_framework_does_not_see_are_said(tmp_path, without_tensorflow):
    said, _ = refused("several gpus", "jax", 2, tmp_path, path=[without_tensorflow])
    assert said.startswith("RuntimeError 2 GPUs were asked for and JAX sees 0")
    assert "ah.doctor.diagnose()" in said


# Hostile machines: no framework is imported, and the CPU still trains


HOSTILE = """
import json, sys
from accel_helpers.machine import strategy
picked = strategy.pick(2, root=sys.argv[1])
out = {"reason": picked.reason, "backend": picked.backend}
out["loaded"] = sorted({"keras", "tensorflow", "jax", "numpy"} & set(sys.modules))
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


def hostile(home, root="/", **how):
    return said(python(HOSTILE, home, str(root), **how))


def survived(out):
    assert out["loaded"] == []
    assert out["loss"] > 0
    return out["reason"]


@pytest.mark.parametrize(
    "environ",
    [
        {"TPU_NAME": "grpc://10.255.255.1:8470"},
        pytest.param(
            {"COLAB_TPU_ADDR": "no such host anywhere:8470", "TPU_NAME": "\x01;'--"},
            marks=pytest.mark.slow,
        ),
        pytest.param(
            {"JAX_PLATFORMS": "tpu,cpu", "TPU_NAME": "my-tpu", "COLAB_TPU_1VM": "1"},
            marks=pytest.mark.slow,
        ),
    ],
)
def test_a_nonsense_environment(environ, tmp_path, without_tensorflow):
    reason = survived(hostile(tmp_path, path=[without_tensorflow], KERAS_BACKEND="jax", **environ))
    assert "TPU" in reason


@pytest.mark.slow
def test_an_unreadable_proc_and_a_hanging_nvidia_smi(tmp_path, without_tensorflow):
    for path in ("proc/cpuinfo", "proc/meminfo", "proc/driver/nvidia/version", "dev/nvidiactl"):
        (tmp_path / "root" / path).mkdir(parents=True)
    (tmp_path / "bin").mkdir()
    hanging = tmp_path / "bin/nvidia-smi"
    hanging.write_text("#!/bin/sh\nexec sleep 60\n")
    hanging.chmod(hanging.stat().st_mode | stat.S_IEXEC)
    found = f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}"
    how = {"path": [without_tensorflow], "KERAS_BACKEND": "jax", "PATH": found}
    out = hostile(tmp_path, root=tmp_path / "root", **how)
    assert "nvidia-smi did not answer" in survived(out)


@pytest.fixture
def aborting(tmp_path):
    """A package tensorflow-tpu that ends the process when it is imported."""
    folder = tmp_path / "packages"
    (folder / "tensorflow").mkdir(parents=True)
    (folder / "tensorflow/__init__.py").write_text("import os\nos.abort()\n")
    metadata = folder / "tensorflow_tpu-2.20.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text(
        "Metadata-Version: 2.1\nName: tensorflow-tpu\nVersion: 2.20.0\n"
    )
    return folder


@pytest.mark.parametrize(
    "environ", [{}, pytest.param({"KERAS_BACKEND": "tensorflow"}, marks=pytest.mark.slow)]
)
def test_a_tensorflow_that_aborts_at_import(aborting, tmp_path, environ):
    out = hostile(tmp_path, path=[aborting], **environ)
    reason = survived(out)
    assert out["backend"] == "jax" and not out["tensorflow"]
    assert "pip uninstall tensorflow-tpu" in reason
    assert ("SIGABRT" in reason) == bool(environ)


def test_a_scope_does_not_import_a_tensorflow_that_aborts(aborting, tmp_path):
    code = (
        "from accel_helpers.machine.strategy import Strategy\n"
        "try:\n"
        "    with Strategy('cpu', 'tensorflow', 1, '').scope(): pass\n"
        "except RuntimeError as error: print(error)"
    )
    done = python(code, tmp_path, path=[aborting])
    assert "ended with SIGABRT" in done.stdout and "KERAS_BACKEND=jax" in done.stdout


def test_keras_is_chosen_past_a_tensorflow_that_aborts(aborting, tmp_path):
    """Keras on JAX would import it with the first seed."""
    code = (
        "import accel_helpers as ah\n"
        "print(ah.backend.choose().name)\n"
        "import keras; keras.utils.set_random_seed(0)\n"
        "try:\n"
        "    import tensorflow\n"
        "except ImportError as error: print(error)"
    )
    done = python(code, tmp_path, path=[aborting])
    assert done.stdout.startswith("jax\n"), done.stderr
    assert "tensorflow-tpu is kept out of this kernel" in done.stdout


def test_nothing_changes_and_no_framework_is_imported(tmp_path):
    code = (
        "import os, sys; from accel_helpers.machine import strategy; before = dict(os.environ)\n"
        "strategy.pick(4); strategy.pick()\n"
        "print(before == dict(os.environ), "
        "sorted({'keras', 'tensorflow', 'jax', 'numpy', 'torch'} & set(sys.modules)))"
    )
    assert python(code, tmp_path).stdout.strip() == "True []"
