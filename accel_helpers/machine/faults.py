"""The facts of a machine, and rules for what is wrong with it; their words: data/faults.toml."""

import functools
import importlib.metadata
import os
import platform
import re
import sys
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Literal

from accel_helpers._values import records
from accel_helpers.machine import attached

# All of these install one module; the other packages that are looked for are named as modules are.
TENSORFLOWS = ("tensorflow", "tensorflow-cpu", "tensorflow-tpu", "tensorflow-macos", "tf-nightly")
PACKAGES = "keras jax jaxlib libtpu torch numpy matplotlib ipywidgets IPython".split()
STRATEGIES_KNOW = ("tensorflow", "jax")
SPOKEN = {"tensorflow": "TensorFlow", "jax": "JAX", "torch": "PyTorch"}  # what Keras runs on
_FIRST_FOR_BLACKWELL = (2, 21)  # the release of TensorFlow
_BLACKWELL = re.compile(r"Blackwell|\bRTX 50\d\d\b|\bB[1-3]00\b")
_JAX_NAMES = {"GPU": {"cuda", "gpu"}, "TPU": {"tpu"}}
# What Colab's metadata calls a chip whose name does not have it.
_CHIPS = {"V28": "TPU v2", "V5E1": "TPU v5e", "V6E1": "TPU v6e", "G4": "RTX PRO 6000"}
# On AMD's processors products of 10 million multiply-adds and more use donated weights of an
# earlier step. The flag is set everywhere: on other processors it changes nothing.
STALE, FRESH = ("0.7.2", "0.8.0", "0.8.1"), "--xla_cpu_use_xnnpack=false"
# A small product under vmap, then a sum, over more than 32,768 rows; any processor. Tried: 0.10.0,
# 0.10.1, 0.11.0 and 0.11.2 compute rightly, and so does 0.10.2 with this setting.
_MISCOUNTS, _COUNTS = "0.10.2", "--xla_cpu_experimental_ynn_fusion_type="
_PLUGINS = ("jax-cuda13-plugin", "jax-cuda12-plugin", "jax-rocm7-plugin", "jax-rocm60-plugin")


@dataclass(frozen=True)
class Finding:
    """One thing that is wrong: why, and the one thing to do next; what was seen of it."""

    id: str
    cause: str
    fix: str
    source: str
    evidence: str = ""


@dataclass(frozen=True)
class Fault:
    """An entry of ``data/faults.toml``, which says what its fields mean."""

    cause: str
    fix: str
    source: str
    seen: str = ""
    fix_local: str = ""
    keeps_off: tuple[Literal["tensorflow", "jax"], ...] = ()
    doubtful: bool = False
    only_on: Literal["tensorflow", "jax", ""] = ""
    unless: tuple[str, ...] = ()
    note: bool = False


def installed(distribution: str) -> str | None:
    """The installed version of a distribution, or None; nothing is imported."""
    try:
        return importlib.metadata.version(distribution)
    except (ImportError, KeyError, OSError, ValueError):  # not there, or its metadata is broken
        return None


def place(environ: Mapping[str, str]) -> tuple[str, str | None]:
    # Kaggle first: its image may be built on Colab's and carry Colab's variables.
    if environ.get("KAGGLE_KERNEL_RUN_TYPE"):
        return "kaggle", None
    if release := environ.get("COLAB_RELEASE_TAG"):
        return "colab", release
    if environ.get("VERTEX_PRODUCT") == "COLAB_ENTERPRISE":
        return "colab", "Colab Enterprise"
    return "local", None


@functools.cache
def tables(name: str) -> dict:
    return records.load(resources.files("accel_helpers") / "data" / name, "list of faults")


_BOOK = tables("faults.toml")
#: What a place calls its restart, its accelerators, and the way back to its own packages.
PLACES: dict[str, dict[str, str]] = _BOOK["place"]
#: In the order in which to mend them.
FAULTS = records.read(dict[str, Fault], _BOOK["fault"], "faults.toml")
#: How TensorFlow could drive a TPU; nobody of this course has seen it do so.
RECIPE = tables("tpu_recipe.toml")


class Facts:
    """What a machine is, and no decision; it takes what `runtime.describe` takes, and more."""

    def __init__(self, environ=None, root="/", run=None, versions=None, loaded=None, page=None,
                 used=()):  # fmt: skip
        self.environ = environ = os.environ if environ is None else environ
        self.root, self.run = Path(root), run or attached.run_command
        self.versions = versions = versions or installed
        self.loaded = sys.modules if loaded is None else loaded
        self.system = f"{platform.system().replace('Darwin', 'macOS')} {platform.machine()}".strip()
        self.place, self.release = place(environ)
        self.page, self.used = page, used  # its notebook's metadata; what Keras trained with
        self.here = PLACES[self.place]
        self.seen = attached.look(self.root, environ, self.run)
        self.device = self.seen.device
        self.kind = self.device.kind if self.device else "none"
        self.got = self.device.name if self.device else "only a CPU"
        tensorflows = {name: versions(name) for name in TENSORFLOWS if versions(name)}
        found = {"tensorflow": next(iter(tensorflows.values()), None)}
        found |= {name: versions(name.lower()) for name in PACKAGES}
        self.frameworks = {name: version for name, version in found.items() if version}
        self.backends = [name for name in SPOKEN if name in self.frameworks]  # Keras runs on them
        self.installed = ", ".join(self.backends) or "nothing yet"
        self.builds = " ".join(name for name in tensorflows if name != "tensorflow-macos")
        self.for_tpus = tensorflows.get("tensorflow-tpu", "")
        self.libtpu = self.frameworks.get("libtpu", "missing")
        pair = RECIPE["tensorflow_tpu"], RECIPE["libtpu"]
        self.tensorflow_drives_tpu = (self.for_tpus, self.libtpu) == pair
        self.asked = environ.get("KERAS_BACKEND", "")  # the framework that it asks for
        name = environ.get("TPU_NAME", "").strip()
        self.tpu_name = "" if name == "local" else name  # unless it is a TPU of this machine

    @property
    def keras_on(self) -> str:
        """The framework under a loaded Keras; empty where there is none."""
        try:
            return str(self.loaded["keras"].backend.backend())
        except Exception:  # not loaded, loaded by half, or a module of another kind by that name
            return ""

    @functools.cached_property
    def ordered(self) -> str:
        """The accelerator that the notebook asks Colab for; empty where it asks for none."""
        here = self.place == "colab" and "google.colab" in self.loaded
        page = attached.page_metadata() if here and self.page is None else self.page or {}
        kind = page.get("accelerator")
        chip = page.get("colab", {}).get("gpuType") or kind
        return _CHIPS.get(chip, chip) if kind in ("GPU", "TPU") else ""

    @functools.cached_property
    def by_amd(self) -> bool:
        """Whether AMD made the processor."""
        return "AuthenticAMD" in attached.read(self.root / "proc/cpuinfo")

    @property
    def visible_gpus(self) -> int:
        """How many GPUs CUDA_VISIBLE_DEVICES leaves; it counts up to the first that names none."""
        # https://docs.nvidia.com/cuda/cuda-c-programming-guide/#cuda-environment-variables
        count = self.device.count if self.kind == "GPU" else 0
        setting = self.environ.get("CUDA_VISIBLE_DEVICES")
        if setting is None:
            return count
        named: set[str] = set()
        for entry in (each.strip() for each in setting.split(",")):
            by_number = entry.isascii() and entry.isdecimal() and int(entry) < count
            if entry in named or not (by_number or entry.startswith(("GPU-", "MIG-"))):
                break
            named.add(entry)
        return min(len(named), count)

    @functools.cached_property
    def holder(self) -> str:
        """The number of another process that has a TPU's device file open."""
        for process in attached.files(self.root, "proc/[0-9]*"):
            with suppress(OSError):  # it ended meanwhile, or belongs to somebody else
                opened = [os.readlink(file.path) for file in os.scandir(process / "fd")]
                held = any(re.match(r"/dev/(accel\d|vfio/\d)", file) for file in opened)
                if held and process.name != str(os.getpid()):
                    return process.name
        return ""

    @functools.cached_property
    def faults(self) -> dict[str, Finding]:
        """What is wrong with it, by id, in the order in which to mend it."""
        found, there = {}, rules(self)
        for name, fault in FAULTS.items():
            if there[name]:
                fix = (self.place == "local" and fault.fix_local) or fault.fix
                words = fault.cause, fix, fault.seen
                cause, fix, seen = (text.format(it=self, **self.here) for text in words)
                found[name] = Finding(name, cause, fix, fault.source, seen)
        return found


def find(it: Facts) -> tuple[Finding, ...]:
    """What is wrong with a machine and matters to whoever uses it, the first to mend first."""
    settled = it.keras_on or it.asked
    runs_on = {"", settled or "tensorflow"}  # what a plain `import keras` looks for
    plain = not settled and "tensorflow" not in it.frameworks
    if plain or (it.kind == "TPU" and not it.tensorflow_drives_tpu):
        runs_on.add("jax")
    return tuple(
        one
        for name, one in it.faults.items()
        if FAULTS[name].only_on in runs_on and not it.faults.keys() & FAULTS[name].unless
    )


def against(it: Facts, *frameworks: str) -> tuple[Finding, ...]:
    """The faults that keep them off the accelerator, or make them no good without one."""
    names = [name for name in it.faults if {*frameworks} & {*FAULTS[name].keeps_off}]
    return tuple(it.faults[name] for name in names)


def able(it: Facts) -> list[str]:
    """The installed frameworks that nothing is sure to keep off the device, the best first."""
    order = ("jax",) if it.kind == "TPU" else STRATEGIES_KNOW  # JAX drives a TPU
    found = {name: against(it, name) for name in order if name in it.frameworks}
    free = [name for name, wrong in found.items() if not wrong]
    doubted = [name for name in found if all(FAULTS[one.id].doubtful for one in found[name])]
    return list(dict.fromkeys(free + doubted))


def said(it: Facts, *names: str) -> list[str]:
    """Cause and fix of those of the named faults that this machine has."""
    found = [it.faults[name] for name in names if name in it.faults]
    return [text for one in found for text in (one.cause, one.fix)]


def rules(it: Facts) -> dict[str, object]:
    """A rule for every fault, by id: whether the machine has it."""
    gpu, tpu, no_device = it.kind == "GPU", it.kind == "TPU", not it.device
    jax, tensorflow = "jax" in it.frameworks, "tensorflow" in it.frameworks
    driven, silent = it.tensorflow_drives_tpu, it.seen.silent
    no_libtpu, version = it.libtpu == "missing", it.frameworks.get("jax")
    flags = it.environ.get("XLA_FLAGS", "")
    stale = version in STALE and FRESH not in flags and it.by_amd
    miscounts = version == _MISCOUNTS and _COUNTS not in flags
    by_grpc = it.tpu_name.startswith("grpc://")
    # What JAX may look for; where nothing is said, it looks for all.
    platforms = it.environ.get("JAX_PLATFORMS", "").lower().split(",")
    platforms = {each.strip() for each in platforms} - {""}
    return {
        "gpu-not-handed-over": it.seen.not_given,
        "gpu-silent": silent and not it.seen.not_given and no_device,
        "gpu-by-list": silent and it.device,
        "tpu-claimed": it.seen.claim is not None,
        "kaggle-not-the-tpu-image": it.place == "kaggle" and no_libtpu and (tpu or it.seen.claim),
        "another-chip": it.ordered and it.ordered not in f"{it.kind} {it.device}",
        "no-accelerator-colab": no_device and it.place == "colab",
        "no-accelerator-kaggle": no_device and it.place == "kaggle",
        "cuda-hidden": gpu and it.visible_gpus == 0,
        "jax-platforms": it.device and platforms and not platforms & _JAX_NAMES[it.kind],
        "framework-missing": not it.backends,
        "tensorflow-twice": " " in it.builds,
        "tensorflow-tpu-without-tpu": it.for_tpus and not tpu,
        "tensorflow-tpu-pins": it.for_tpus and tpu and not driven,
        "jax-without-libtpu": tpu and jax and no_libtpu,
        "jax-libtpu-too-old": tpu and jax and it.libtpu == RECIPE["libtpu"],
        "tensorflow-cpu-build": gpu and it.builds == "tensorflow-cpu",
        "cuda-libraries-missing": gpu and it.place == "local" and _without_cudnn(it),
        "jax-without-cuda": gpu and jax and not any(map(it.versions, _PLUGINS)),
        "gpu-too-new": gpu and _too_new(it),
        "jax-trains-wrongly": no_device and stale,
        "jax-computes-wrongly": no_device and miscounts,
        "attached-and-idle": it.device and it.used == ("cpu",),
        "keras-backend-unknown": it.asked not in ("", *SPOKEN),
        "keras-backend-not-installed": it.asked in {*SPOKEN} - {*it.backends} and not it.keras_on,
        "keras-not-on-jax": tpu and it.keras_on not in ("", "jax") and not driven,
        "tpu-stock-tensorflow": tpu and tensorflow and not it.for_tpus,
        "tpu-no-tensorflow": tpu and not tensorflow,
        "tpu-in-use": tpu and it.holder,
        "old-tpu-node": it.environ.get("COLAB_TPU_ADDR", "").strip(),
        "grpc-address": by_grpc,
        "tpu-name": it.tpu_name and not tpu and not by_grpc,
    }


def _too_new(it: Facts) -> bool:
    release = tuple(int(part) for part in re.findall(r"\d+", it.versions("tensorflow") or "")[:2])
    return bool(_BLACKWELL.search(it.device.name) and () < release < _FIRST_FOR_BLACKWELL)


def _without_cudnn(it: Facts) -> bool:
    packages = ("nvidia-cudnn-cu12", "nvidia-cudnn-cu13")
    if not it.versions("tensorflow") or any(map(it.versions, packages)):
        return False
    folders = ["usr/lib/x86_64-linux-gnu", "usr/lib/aarch64-linux-gnu", "usr/lib64",
               "usr/local/cuda/lib64", "usr/local/lib"]  # fmt: skip
    folders += it.environ.get("LD_LIBRARY_PATH", "").split(":")
    folders += [f"{it.environ['CONDA_PREFIX']}/lib"] if "CONDA_PREFIX" in it.environ else []
    places = (folder.lstrip("/") for folder in folders if folder)
    return not any(attached.files(it.root, f"{place}/libcudnn.so*") for place in places)
