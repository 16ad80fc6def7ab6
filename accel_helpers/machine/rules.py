"""A rule for every fault of `data/faults.toml`: whether a machine has it."""

import re

from accel_helpers.machine import attached
from accel_helpers.machine.facts import RECIPE, SPOKEN, Machine

# NVIDIA's chips that XLA, in every release of TensorFlow up to 2.21, does not compile for.
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


def rules(machine: Machine) -> dict[str, bool]:
    """Return for every fault, by its id, whether the machine has it."""
    results: dict[str, bool] = {}
    for apply_rules in (
        _device_rules,
        _place_rules,
        _package_rules,
        _jax_rules,
        _keras_rules,
        _tpu_rules,
    ):
        results |= apply_rules(machine)
    return results


def _device_rules(machine: Machine) -> dict[str, bool]:
    """Return the rules about the device, and whether this process was given it."""
    seen = machine.seen
    has_device = machine.device is not None
    withheld = bool(seen.not_given)
    hidden = machine.kind == "GPU" and machine.visible_gpus == 0
    trained_on_cpu = machine.used == ("cpu",)
    results: dict[str, bool] = {}
    results["gpu-not-handed-over"] = withheld
    results["gpu-silent"] = seen.silent and not withheld and not has_device
    results["gpu-by-list"] = seen.silent and has_device
    # A claim may be empty: then nothing is known about the TPU.
    results["tpu-claimed"] = seen.claim is not None
    results["cuda-hidden"] = hidden
    results["attached-and-idle"] = has_device and trained_on_cpu
    return results


def _place_rules(machine: Machine) -> dict[str, bool]:
    """Return the rules about what Colab or Kaggle gave, beside what was asked for."""
    no_device = machine.device is None
    on_colab = machine.place == "colab"
    on_kaggle = machine.place == "kaggle"
    results: dict[str, bool] = {}
    results["no-accelerator-colab"] = no_device and on_colab
    results["no-accelerator-kaggle"] = no_device and on_kaggle
    results["kaggle-not-the-tpu-image"] = on_kaggle and _misses_tpu_image(machine)
    results["another-chip"] = _has_another_chip(machine)
    return results


def _package_rules(machine: Machine) -> dict[str, bool]:
    """Return the rules about which TensorFlow is installed."""
    gpu = machine.kind == "GPU"
    tpu = machine.kind == "TPU"
    local = machine.place == "local"
    for_tpus = bool(machine.for_tpus)
    results: dict[str, bool] = {}
    results["framework-missing"] = not machine.backends
    # The builds are names with a blank between them.
    results["tensorflow-twice"] = " " in machine.builds
    results["tensorflow-tpu-without-tpu"] = for_tpus and not tpu
    results["tensorflow-tpu-pins"] = for_tpus and tpu and not machine.tensorflow_drives_tpu
    results["tensorflow-cpu-build"] = gpu and machine.builds == "tensorflow-cpu"
    results["cuda-libraries-missing"] = gpu and local and _without_cudnn(machine)
    results["gpu-too-new"] = gpu and _too_new(machine)
    return results


def _jax_rules(machine: Machine) -> dict[str, bool]:
    """Return the rules about JAX: what it may look for, its plugins, and wrong releases."""
    has_jax = "jax" in machine.frameworks
    jax_on_gpu = has_jax and machine.kind == "GPU"
    jax_on_tpu = has_jax and machine.kind == "TPU"
    no_device = machine.device is None
    results: dict[str, bool] = {}
    results["jax-platforms"] = _hidden_from_jax(machine)
    results["jax-without-libtpu"] = jax_on_tpu and machine.libtpu == "missing"
    results["jax-libtpu-too-old"] = jax_on_tpu and machine.libtpu == RECIPE["libtpu"]
    results["jax-without-cuda"] = jax_on_gpu and not _has_jax_plugin(machine)
    results["jax-trains-wrongly"] = no_device and _trains_wrongly(machine)
    results["jax-computes-wrongly"] = no_device and _computes_wrongly(machine)
    return results


def _keras_rules(machine: Machine) -> dict[str, bool]:
    """Return the rules about the framework that Keras is to run on."""
    known_frameworks = ("", *SPOKEN)
    missing_backends = set(SPOKEN) - set(machine.backends)
    loaded = machine.keras_on != ""
    on_another = loaded and machine.keras_on != "jax"
    needs_jax = machine.kind == "TPU" and not machine.tensorflow_drives_tpu
    results: dict[str, bool] = {}
    results["keras-backend-unknown"] = machine.asked not in known_frameworks
    results["keras-backend-not-installed"] = machine.asked in missing_backends and not loaded
    results["keras-not-on-jax"] = needs_jax and on_another
    return results


def _tpu_rules(machine: Machine) -> dict[str, bool]:
    """Return the rules about TensorFlow on a TPU, its holder, and addresses of TPUs elsewhere."""
    tpu = machine.kind == "TPU"
    has_tensorflow = "tensorflow" in machine.frameworks
    old_address = machine.environ.get("COLAB_TPU_ADDR", "").strip()
    by_grpc = machine.tpu_name.startswith("grpc://")
    by_name = machine.tpu_name != "" and not by_grpc
    results: dict[str, bool] = {}
    results["tpu-stock-tensorflow"] = tpu and has_tensorflow and not machine.for_tpus
    results["tpu-no-tensorflow"] = tpu and not has_tensorflow
    results["tpu-in-use"] = tpu and machine.holder != ""
    results["old-tpu-node"] = old_address != ""
    results["grpc-address"] = by_grpc
    results["tpu-name"] = by_name and not tpu
    return results


def _misses_tpu_image(machine: Machine) -> bool:
    """Return whether there is a TPU, or is said to be, and no libtpu that could drive it."""
    has_tpu = machine.kind == "TPU" or bool(machine.seen.claim)
    return has_tpu and machine.libtpu == "missing"


def _has_another_chip(machine: Machine) -> bool:
    """Return whether the notebook asked for a chip that is not the attached one."""
    if not machine.ordered:
        return False
    attached_chip = f"{machine.kind} {machine.device}"
    return machine.ordered not in attached_chip


def _has_jax_plugin(machine: Machine) -> bool:
    """Return whether one of the plugins is installed that JAX finds a GPU with."""
    return any(map(machine.versions, _PLUGINS))


def _trains_wrongly(machine: Machine) -> bool:
    """Return whether this JAX uses donated weights of an earlier step on this processor."""
    if machine.frameworks.get("jax") not in STALE:
        return False
    flags = machine.environ.get("XLA_FLAGS", "")
    return FRESH not in flags and machine.by_amd


def _computes_wrongly(machine: Machine) -> bool:
    """Return whether this JAX sums small products wrongly."""
    if machine.frameworks.get("jax") != _MISCOUNTS:
        return False
    flags = machine.environ.get("XLA_FLAGS", "")
    return _COUNTS not in flags


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
    """Return whether the GPU is too new for the TensorFlow that is installed."""
    if machine.versions("tensorflow") is None or machine.device is None:
        return False
    return _BLACKWELL.search(machine.device.name) is not None


def _without_cudnn(machine: Machine) -> bool:
    """Return whether TensorFlow would find no cuDNN, neither as a package nor in a folder."""
    if not machine.versions("tensorflow"):
        return False
    if any(map(machine.versions, _CUDNN_PACKAGES)):
        return False
    folders = list(_CUDA_FOLDERS)
    folders += machine.environ.get("LD_LIBRARY_PATH", "").split(":")
    if "CONDA_PREFIX" in machine.environ:
        conda = machine.environ["CONDA_PREFIX"]
        folders.append(f"{conda}/lib")
    for folder in folders:
        if not folder:
            continue
        # The root may be that of a recorded machine, so an absolute folder is taken below it.
        below_root = folder.lstrip("/")
        if attached.files(machine.root, f"{below_root}/libcudnn.so*"):
            return False
    return True
