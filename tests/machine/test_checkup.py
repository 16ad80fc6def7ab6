"""What the doctor says of recorded machines, each rule broken and whole."""

from types import SimpleNamespace

import pytest

from accel_helpers.machine import checkup, runtime
from accel_helpers.machine.runtime import Attached, Runtime

T4 = Attached("GPU", "Tesla T4", 1, 15 * 2**30, "550", ("nvidia-smi",))
TWO = Attached("GPU", "Tesla T4", 2, 15 * 2**30, "550", ("nvidia-smi",))
G4 = Attached("GPU", "NVIDIA RTX PRO 6000 Blackwell Server Edition", 1, None, "580", ())
V5E = Attached("TPU", "TPU v5e", 1, None, None, ("PCI bus",))
STOCK = {"tensorflow": "2.20.0", "jax": "0.7.2", "keras": "3.13.2"}
TPU_PACKAGES = {"jax": "0.7.2", "keras": "3.13.2", "libtpu": "0.0.21.1"}


def examine(tmp_path, accelerator=None, place="colab", packages=STOCK, notes=(), environ=(),
            loaded=()):  # fmt: skip
    """Examine a machine; give its findings by id."""
    frameworks = {}
    for name, distributions in runtime.FRAMEWORKS.items():
        there = [packages[d] for d in distributions if d in packages]
        if there:
            frameworks[name] = there[0]
    here = Runtime(place, None, accelerator, frameworks, "3.12.1", "Linux x86_64", "CPU", 2, 1,
                   tuple(notes))  # fmt: skip
    found = checkup.examine(here, environ=dict(environ), root=tmp_path,
                            versions=dict(packages).get, loaded=dict(loaded))  # fmt: skip
    for finding in found:
        assert finding.cause and finding.fix and finding.source.startswith("https://")
        assert "{" not in finding.cause + finding.fix, "every brace was filled in"
    return {finding.id: finding for finding in found}


def keras_on(name):
    return {"keras": SimpleNamespace(backend=SimpleNamespace(backend=lambda: name))}


@pytest.mark.parametrize(
    ("accelerator", "place", "packages", "environ"),
    [
        (T4, "colab", STOCK | {"jax-cuda12-plugin": "0.7.2"}, {"COLAB_GPU": "1"}),
        (T4, "colab", STOCK, {"CUDA_VISIBLE_DEVICES": "0"}),
        (TWO, "kaggle", STOCK, {"CUDA_VISIBLE_DEVICES": "0,1"}),
        (T4, "local", STOCK | {"nvidia-cudnn-cu12": "9.3"}, {}),
        (V5E, "colab", TPU_PACKAGES, {"KERAS_BACKEND": "jax", "COLAB_TPU_1VM": "1"}),
        (V5E, "colab", TPU_PACKAGES, {"KERAS_BACKEND": "jax", "TPU_NAME": "local"}),
        (V5E, "colab", TPU_PACKAGES, {"KERAS_BACKEND": "jax", "JAX_PLATFORMS": "tpu,cpu"}),
        (V5E, "local", TPU_PACKAGES, {"KERAS_BACKEND": "jax", "TPU_NAME": "my-node-1"}),
        (V5E, "colab", {"tensorflow-tpu": "2.19.1", "libtpu": "0.0.10", "keras": "3.13.2"},
         {"KERAS_BACKEND": "tensorflow"}),
        (None, "local", STOCK, {}),
        (None, "local", {"tensorflow-cpu": "2.21.0"}, {"CUDA_VISIBLE_DEVICES": "-1"}),
        (None, "local", {"torch": "2.9"}, {}),
        (G4, "colab", STOCK | {"tensorflow": "2.21.0"}, {}),
    ],
)  # fmt: skip
def test_a_machine_in_order_has_no_finding(tmp_path, accelerator, place, packages, environ):
    assert examine(tmp_path, accelerator, place, packages, environ=environ) == {}


BROKEN = {
    "no-accelerator-colab": {},
    "no-accelerator-kaggle": {"place": "kaggle"},
    "tpu-claimed": {"notes": [runtime.CLAIMED_TPU + " (v5e-1), but none is attached."]},
    "gpu-silent": {"notes": [runtime.SILENT_GPU + ": the GPU may be busy."]},
    "gpu-not-handed-over": {
        "notes": [runtime.SILENT_GPU + ", and the Tesla T4 has no device file here: a container"]
    },
    "cuda-hidden": {"accelerator": T4, "environ": {"CUDA_VISIBLE_DEVICES": "-1"}},
    "jax-platforms": {
        "accelerator": V5E, "packages": TPU_PACKAGES,
        "environ": {"JAX_PLATFORMS": "cpu", "KERAS_BACKEND": "jax"},
    },
    "framework-missing": {"packages": {"keras": "3.13.2"}, "place": "local"},
    "tensorflow-twice": {
        "accelerator": V5E, "environ": {"KERAS_BACKEND": "jax"},
        "packages": STOCK | {"tensorflow-tpu": "2.19.1", "libtpu": "0.0.10"},
    },
    "tensorflow-tpu-without-tpu": {
        "place": "local", "packages": {"tensorflow-tpu": "2.20.0", "libtpu": "0.0.51"}
    },
    "tensorflow-tpu-pins": {
        "accelerator": V5E, "environ": {"KERAS_BACKEND": "jax"},
        "packages": {"tensorflow-tpu": "2.20.0", "libtpu": "0.0.21.1", "jax": "0.7.2"},
    },
    "tensorflow-cpu-build": {"accelerator": T4, "packages": {"tensorflow-cpu": "2.20.0"}},
    "cuda-libraries-missing": {"accelerator": T4, "place": "local"},
    "jax-without-cuda": {"accelerator": T4, "environ": {"KERAS_BACKEND": "jax"}},
    "gpu-too-new": {"accelerator": G4},
    "jax-without-libtpu": {
        "accelerator": V5E, "packages": {"jax": "0.7.2", "keras": "3.13.2"},
        "environ": {"KERAS_BACKEND": "jax"},
    },
    "keras-backend-unknown": {"place": "local", "environ": {"KERAS_BACKEND": "theano"}},
    "keras-backend-not-installed": {"place": "local", "environ": {"KERAS_BACKEND": "torch"}},
    "tpu-stock-tensorflow": {"accelerator": V5E, "packages": STOCK | {"libtpu": "0.0.21.1"}},
    "tpu-no-tensorflow": {"accelerator": V5E, "packages": TPU_PACKAGES},
    "keras-not-on-jax": {
        "accelerator": V5E, "packages": STOCK | {"libtpu": "0.0.21.1"},
        "loaded": keras_on("tensorflow"),
    },
    "old-tpu-node": {"place": "local", "environ": {"COLAB_TPU_ADDR": "10.0.0.2:8470"}},
    "tpu-name": {"place": "local", "environ": {"TPU_NAME": "my-tpu"}},
    "grpc-address": {"place": "local", "environ": {"TPU_NAME": "grpc://nobody.invalid:8470"}},
}  # fmt: skip


@pytest.mark.parametrize("key", BROKEN)
def test_one_thing_broken_is_the_one_thing_found(tmp_path, key):
    assert list(examine(tmp_path, **BROKEN[key])) == [key]


def test_every_finding_that_can_be_named_is_tried_here():
    assert set(BROKEN) | {"tpu-in-use", "tpu-lock"} == set(checkup._entries())


@pytest.mark.parametrize("value", ["", "-1", "1", "NoDevFiles", " "])
def test_a_gpu_can_be_hidden_in_several_ways(tmp_path, value):
    assert "cuda-hidden" in examine(tmp_path, T4, environ={"CUDA_VISIBLE_DEVICES": value})


def test_in_colab_nothing_is_ever_told_to_be_installed(tmp_path):
    for key, broken in BROKEN.items():
        for place in ("colab", "kaggle"):
            found = examine(tmp_path, **{**broken, "place": place})
            assert all("pip install" not in f.fix for f in found.values()), key


def test_a_restart_is_called_by_the_name_it_has_there(tmp_path):
    hidden = {"accelerator": T4, "environ": {"CUDA_VISIBLE_DEVICES": ""}}
    for place, words in checkup.RESTART.items():
        assert words in examine(tmp_path, **hidden, place=place)["cuda-hidden"].fix


def test_a_process_that_holds_the_tpu_is_named(tmp_path):
    files = tmp_path / "proc" / "4711" / "fd"
    files.mkdir(parents=True)
    (files / "3").symlink_to("/dev/null")
    on_jax = {"packages": TPU_PACKAGES, "environ": {"KERAS_BACKEND": "jax"}}
    assert examine(tmp_path, V5E, **on_jax) == {}
    (files / "7").symlink_to("/dev/vfio/0")
    found = examine(tmp_path, V5E, **on_jax)
    assert list(found) == ["tpu-in-use"] and "4711" in found["tpu-in-use"].cause
    assert "tpu-in-use" not in examine(tmp_path, None), "without a TPU nobody holds one"


def test_a_lock_file_of_a_healthy_run_is_no_finding(tmp_path):
    (tmp_path / "tmp").mkdir()
    (tmp_path / "tmp" / "libtpu_lockfile").touch()
    on_jax = {"packages": TPU_PACKAGES, "environ": {"KERAS_BACKEND": "jax"}}
    assert examine(tmp_path, V5E, **on_jax) == {}


def test_a_lock_file_of_somebody_else_is_told(tmp_path):
    (tmp_path / "tmp").mkdir()
    lock = tmp_path / "tmp" / "libtpu_lockfile"
    lock.touch()
    may_open = {lock: False}.get
    it = checkup._Machine(
        SimpleNamespace(accelerator=V5E, place="colab"), {}, tmp_path, {}.get, {}, may_open
    )
    assert [finding.id for finding in checkup._held(it)] == ["tpu-lock"]


def test_what_keeps_the_device_away_comes_first(tmp_path):
    found = examine(
        tmp_path,
        notes=[runtime.CLAIMED_TPU + ", but none is attached."],
        environ={"KERAS_BACKEND": "theano", "TPU_NAME": "my-tpu"},
    )
    assert list(found) == ["tpu-claimed", "keras-backend-unknown", "tpu-name"]


def test_a_keras_that_is_half_loaded_is_no_trouble(tmp_path):
    half = {"keras": SimpleNamespace()}
    assert list(examine(tmp_path, V5E, packages=TPU_PACKAGES, loaded=half)) == ["tpu-no-tensorflow"]
