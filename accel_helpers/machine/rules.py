"""A rule for every fault of `data/faults.toml`: whether a machine has it."""

import re

from accel_helpers.machine import attached
from accel_helpers.machine.facts import RECIPE, SPOKEN, Machine

# The first release of TensorFlow that runs on NVIDIA's Blackwell chips.
_FIRST_FOR_BLACKWELL = (2, 21)
_BLACKWELL = re.compile(r"Blackwell|\bRTX 50\d\d\b|\bB[1-3]00\b")
# What JAX_PLATFORMS calls a kind of device.
_JAX_NAMES = {"GPU": {"cuda", "gpu"}, "TPU": {"tpu"}}
# On AMD's processors products of 10 million multiply-adds and more use donated weights of an
# earlier step. The flag is set everywhere: on other processors it changes nothing.
STALE = ("0.7.2", "0.8.0", "0.8.1")
FRESH = "--xla_cpu_use_xnnpack=false"
# A small product under vmap, then a sum, over more than 32,768 rows; any processor. Tried: 0.10.0,
# 0.10.1, 0.11.0 and 0.11.2 compute rightly, and so does 0.10.2 with this setting.
_MISCOUNTS = "0.10.2"
_COUNTS = "--xla_cpu_experimental_ynn_fusion_type="
_PLUGINS = ("jax-cuda13-plugin", "jax-cuda12-plugin", "jax-rocm7-plugin", "jax-rocm60-plugin")
_CUDNN_PACKAGES = ("nvidia-cudnn-cu12", "nvidia-cudnn-cu13")
# Where a system keeps CUDA's libraries.
_CUDA_FOLDERS = (
    "usr/lib/x86_64-linux-gnu",
    "usr/lib/aarch64-linux-gnu",
    "usr/lib64",
    "usr/local/cuda/lib64",
    "usr/local/lib",
)


def rules(machine: Machine) -> dict[str, object]:
    """Return for every fault, by its id, whether the machine has it, as a truthy or falsy value."""
    return (
        _device_rules(machine)
        | _package_rules(machine)
        | _jax_rules(machine)
        | _keras_rules(machine)
        | _tpu_rules(machine)
    )


def _device_rules(machine: Machine) -> dict[str, object]:
    """Return the rules about the device, and whether this process was given it."""
    silent = machine.seen.silent
    no_device = not machine.device
    claimed = machine.seen.claim is not None
    no_libtpu = machine.libtpu == "missing"
    return {
        "gpu-not-handed-over": machine.seen.not_given,
        "gpu-silent": silent and not machine.seen.not_given and no_device,
        "gpu-by-list": silent and machine.device,
        "tpu-claimed": claimed,
        "kaggle-not-the-tpu-image": (
            machine.place == "kaggle"
            and no_libtpu
            and (machine.kind == "TPU" or machine.seen.claim)
        ),
        "another-chip": machine.ordered
        and machine.ordered not in f"{machine.kind} {machine.device}",
        "no-accelerator-colab": no_device and machine.place == "colab",
        "no-accelerator-kaggle": no_device and machine.place == "kaggle",
        "cuda-hidden": machine.kind == "GPU" and machine.visible_gpus == 0,
        "attached-and-idle": machine.device and machine.used == ("cpu",),
    }


def _package_rules(machine: Machine) -> dict[str, object]:
    """Return the rules about which TensorFlow is installed."""
    gpu = machine.kind == "GPU"
    tpu = machine.kind == "TPU"
    return {
        "framework-missing": not machine.backends,
        # The builds are names with a blank between them.
        "tensorflow-twice": " " in machine.builds,
        "tensorflow-tpu-without-tpu": machine.for_tpus and not tpu,
        "tensorflow-tpu-pins": machine.for_tpus and tpu and not machine.tensorflow_drives_tpu,
        "tensorflow-cpu-build": gpu and machine.builds == "tensorflow-cpu",
        "cuda-libraries-missing": gpu and machine.place == "local" and _without_cudnn(machine),
        "gpu-too-new": gpu and _too_new(machine),
    }


def _jax_rules(machine: Machine) -> dict[str, object]:
    """Return the rules about JAX: what it may look for, its plugins, and wrong releases."""
    gpu = machine.kind == "GPU"
    jax_on_tpu = machine.kind == "TPU" and "jax" in machine.frameworks
    no_device = not machine.device
    version = machine.frameworks.get("jax")
    flags = machine.environ.get("XLA_FLAGS", "")
    stale = version in STALE and FRESH not in flags and machine.by_amd
    miscounts = version == _MISCOUNTS and _COUNTS not in flags
    return {
        "jax-platforms": _hidden_from_jax(machine),
        "jax-without-libtpu": jax_on_tpu and machine.libtpu == "missing",
        "jax-libtpu-too-old": jax_on_tpu and machine.libtpu == RECIPE["libtpu"],
        "jax-without-cuda": gpu
        and "jax" in machine.frameworks
        and not any(map(machine.versions, _PLUGINS)),
        "jax-trains-wrongly": no_device and stale,
        "jax-computes-wrongly": no_device and miscounts,
    }


def _keras_rules(machine: Machine) -> dict[str, object]:
    """Return the rules about the framework that Keras is to run on."""
    missing_backends = set(SPOKEN) - set(machine.backends)
    on_another = machine.keras_on not in ("", "jax")
    return {
        "keras-backend-unknown": machine.asked not in ("", *SPOKEN),
        "keras-backend-not-installed": machine.asked in missing_backends and not machine.keras_on,
        "keras-not-on-jax": machine.kind == "TPU"
        and on_another
        and not machine.tensorflow_drives_tpu,
    }


def _tpu_rules(machine: Machine) -> dict[str, object]:
    """Return the rules about TensorFlow on a TPU, its holder, and addresses of TPUs elsewhere."""
    tpu = machine.kind == "TPU"
    tensorflow = "tensorflow" in machine.frameworks
    by_grpc = machine.tpu_name.startswith("grpc://")
    return {
        "tpu-stock-tensorflow": tpu and tensorflow and not machine.for_tpus,
        "tpu-no-tensorflow": tpu and not tensorflow,
        "tpu-in-use": tpu and machine.holder,
        "old-tpu-node": machine.environ.get("COLAB_TPU_ADDR", "").strip(),
        "grpc-address": by_grpc,
        "tpu-name": machine.tpu_name and not tpu and not by_grpc,
    }


def _hidden_from_jax(machine: Machine) -> bool:
    """Return whether JAX_PLATFORMS keeps JAX from looking for the device."""
    if not machine.device:
        return False
    setting = machine.environ.get("JAX_PLATFORMS", "").lower()
    platforms = {platform.strip() for platform in setting.split(",")}
    platforms.discard("")
    # Where nothing is said, JAX looks for all.
    return bool(platforms) and platforms.isdisjoint(_JAX_NAMES[machine.kind])


def _too_new(machine: Machine) -> bool:
    """Return whether the GPU is younger than the installed TensorFlow."""
    numbers = re.findall(r"\d+", machine.versions("tensorflow") or "")
    release = tuple(int(number) for number in numbers[:2])
    if not release or machine.device is None:
        return False
    return bool(_BLACKWELL.search(machine.device.name)) and release < _FIRST_FOR_BLACKWELL


def _without_cudnn(machine: Machine) -> bool:
    """Return whether TensorFlow would find no cuDNN, neither as a package nor in a folder."""
    if not machine.versions("tensorflow"):
        return False
    if any(map(machine.versions, _CUDNN_PACKAGES)):
        return False
    folders = list(_CUDA_FOLDERS)
    folders += machine.environ.get("LD_LIBRARY_PATH", "").split(":")
    if "CONDA_PREFIX" in machine.environ:
        folders.append(f"{machine.environ['CONDA_PREFIX']}/lib")
    for folder in folders:
        # The root may be that of a recorded machine, so an absolute folder is taken below it.
        if folder and attached.files(machine.root, f"{folder.lstrip('/')}/libcudnn.so*"):
            return False
    return True
