"""What can be wrong with a machine: a rule here for each fault, its words in data/faults.toml."""

from __future__ import annotations

import functools
import importlib.util
import os
import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Literal

from accel_helpers import _records
from accel_helpers.machine import attached
from accel_helpers.machine.attached import Attached, Seen

STRATEGIES_KNOW = ("tensorflow", "jax")
KERAS_KNOWS = (*STRATEGIES_KNOW, "torch")
_FIRST_FOR_BLACKWELL = (2, 21)  # the release of TensorFlow
_BLACKWELL = re.compile(r"Blackwell|\bRTX 50\d\d\b|\bB[1-3]00\b")


@dataclass(frozen=True)
class Finding:
    """One thing that is wrong: why, and the one thing to do next; what was seen of it."""

    id: str
    cause: str
    fix: str
    source: str
    evidence: str = ""


@dataclass(frozen=True)
class Place:
    """What a place calls its restart, its accelerators, and the way back to its own packages."""

    restart: str
    accelerator: str
    undo: str


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


@dataclass(frozen=True)
class Book:
    """All of ``data/faults.toml``; the faults stand in the order in which to mend them."""

    place: dict[str, Place]
    fault: dict[str, Fault]


@dataclass(frozen=True)
class Recipe:
    """``data/tpu_recipe.toml``: the pair of packages that fit, the settings, and the text."""

    as_of: str
    tensorflow_tpu: str
    libtpu: str
    python_at_most: tuple[int, int]
    runtime_version: str
    sources: tuple[str, ...]
    step: tuple[str, ...]
    text: str
    settings: dict[str, str]


@functools.cache
def _data(kind, name: str):
    file = resources.files("accel_helpers") / "data" / name
    return _records.read(kind, _records.load(file, "list of faults"), name)


def known() -> Book:
    """The faults and the places that come with the package."""
    return _data(Book, "faults.toml")


def recipe() -> Recipe:
    """How TensorFlow could drive a TPU; nobody of this course has seen it do so."""
    return _data(Recipe, "tpu_recipe.toml")


def tpu_settings() -> dict[str, str]:
    """The variables that TensorFlow needs, before it is imported, to drive a TPU v5e or v6e."""
    found, spec = dict(recipe().settings), importlib.util.find_spec("libtpu")
    for folder in (spec.submodule_search_locations or ()) if spec else ():
        found["TF_PLUGGABLE_DEVICE_LIBRARY_PATH"] = os.path.join(folder, "libtpu.so")
    return found


@dataclass(frozen=True)
class Facts:
    """What the rules look at; each is a fact, none a decision. `runtime.look` gathers them."""

    place: str
    system: str
    seen: Seen
    frameworks: Mapping[str, str]
    environ: Mapping[str, str]
    root: Path
    versions: Callable[[str], str | None]  # of a distribution
    loaded: Mapping[str, object]  # modules
    may_open: Callable[[Path], bool] = lambda file: os.access(file, os.R_OK | os.W_OK)

    @property
    def device(self) -> Attached | None:
        return self.seen.device

    @property
    def kind(self) -> str:
        return self.device.kind if self.device else "none"

    @property
    def here(self) -> Place:
        return known().place[self.place]

    @property
    def asked(self) -> str:
        """The framework that KERAS_BACKEND asks for."""
        return self.environ.get("KERAS_BACKEND", "")

    @property
    def installed(self) -> str:
        """Those of Keras's frameworks that are installed, as words."""
        there = [name for name in KERAS_KNOWS if name in self.frameworks]
        return ", ".join(there) or "nothing yet"

    @property
    def keras_on(self) -> str:
        """The framework under a loaded Keras; empty where there is none."""
        try:
            return str(self.loaded["keras"].backend.backend())
        except Exception:  # not loaded, loaded by half, or a module of another kind by that name
            return ""

    @property
    def builds(self) -> str:
        """The packages here that install TensorFlow."""
        names = ("tensorflow", "tensorflow-cpu", "tensorflow-tpu", "tf-nightly")
        return " ".join(name for name in names if self.versions(name))

    @property
    def for_tpus(self) -> str:
        """The version of a TensorFlow that is built for TPUs; empty where there is none."""
        return self.versions("tensorflow-tpu") or ""

    @property
    def libtpu(self) -> str:
        return self.versions("libtpu") or "missing"

    @property
    def tensorflow_drives_tpu(self) -> bool:
        return (self.for_tpus, self.libtpu) == (recipe().tensorflow_tpu, recipe().libtpu)

    @property
    def runs_on(self) -> set[str]:
        """What Keras runs on, or would: a plain ``import keras`` looks for TensorFlow."""
        settled = self.keras_on or self.asked
        jax = not settled and "tensorflow" not in self.frameworks
        if self.kind == "TPU" and not self.tensorflow_drives_tpu:
            jax = True
        return {settled or "tensorflow"} | ({"jax"} if jax else set())

    @property
    def visible_gpus(self) -> int:
        """How many GPUs CUDA_VISIBLE_DEVICES leaves; it counts up to the first that names none.

        Source: https://docs.nvidia.com/cuda/cuda-c-programming-guide/#cuda-environment-variables
        """
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

    @property
    def platforms(self) -> set[str]:
        """What JAX_PLATFORMS lets JAX look for; empty where it lets it look for all."""
        setting = self.environ.get("JAX_PLATFORMS", "").lower()
        return {each.strip() for each in setting.split(",")} - {""}

    @property
    def tpu_name(self) -> str:
        """What TPU_NAME names, unless it is a TPU of this machine."""
        name = self.environ.get("TPU_NAME", "").strip()
        return "" if name == "local" else name

    @property
    def has_cudnn(self) -> bool:
        if any(map(self.versions, ("nvidia-cudnn-cu12", "nvidia-cudnn-cu13"))):
            return True
        folders = ["usr/lib/x86_64-linux-gnu", "usr/lib/aarch64-linux-gnu", "usr/lib64",
                   "usr/local/cuda/lib64", "usr/local/lib"]  # fmt: skip
        folders += self.environ.get("LD_LIBRARY_PATH", "").split(":")
        folders += [f"{self.environ['CONDA_PREFIX']}/lib"] if "CONDA_PREFIX" in self.environ else []
        places = (self.root / folder.lstrip("/") for folder in folders if folder)
        return any(attached.files(place, "libcudnn.so*") for place in places)

    @functools.cached_property
    def holder(self) -> str:
        """The number of another process that has a TPU's device file open."""
        for process in attached.files(self.root / "proc", "[0-9]*"):
            with suppress(OSError):  # it ended meanwhile, or belongs to somebody else
                opened = [os.readlink(file.path) for file in os.scandir(process / "fd")]
                held = any(re.match(r"/dev/(accel\d|vfio/\d)", file) for file in opened)
                if held and process.name != str(os.getpid()):
                    return process.name
        return ""


def find(it: Facts) -> tuple[Finding, ...]:
    """What is wrong with a machine and matters to whoever uses it, the first to mend first."""
    found = {one: known().fault[one.id] for one in among(it)}
    there = {one.id for one in found}
    return tuple(
        one
        for one, fault in found.items()
        if not there & set(fault.unless) and fault.only_on in ("", *it.runs_on)
    )


def notes(it: Facts) -> tuple[Finding, ...]:
    """The faults that `runtime.describe` tells of."""
    return among(it, *(name for name, fault in known().fault.items() if fault.note))


def against(it: Facts, framework: str) -> tuple[Finding, ...]:
    """The faults that keep a framework off the accelerator, or make it no good without one."""
    return among(it, *(n for n, fault in known().fault.items() if framework in fault.keeps_off))


def doubtful(findings: tuple[Finding, ...]) -> bool:
    """Whether none of the faults is sure to keep a framework off the device."""
    return all(known().fault[one.id].doubtful for one in findings)


def able(it: Facts) -> list[str]:
    """The installed frameworks that nothing is sure to keep off the device, the best first."""
    order = sorted(STRATEGIES_KNOW, reverse=it.kind != "TPU")  # JAX drives a TPU
    found = {name: against(it, name) for name in order if name in it.frameworks}
    return sorted((name for name in found if doubtful(found[name])), key=lambda n: bool(found[n]))


def said(it: Facts, *names: str) -> list[str]:
    """Cause and fix of those of the named faults that this machine has."""
    return [text for one in among(it, *names) for text in (one.cause, one.fix)]


def among(it: Facts, *names: str) -> tuple[Finding, ...]:
    """Those of the named faults, or of all, that this machine has."""
    found = []
    for name, fault in known().fault.items():
        if (name in names or not names) and RULES[name](it):
            fix = fault.fix_local if fault.fix_local and it.place == "local" else fault.fix
            cause, fix, seen = (
                text.format(it=it, **vars(it.here)) for text in (fault.cause, fix, fault.seen)
            )
            found.append(Finding(name, cause, fix, fault.source, seen))
    return tuple(found)


def _too_new(it: Facts) -> bool:
    release = tuple(int(part) for part in re.findall(r"\d+", it.versions("tensorflow") or "")[:2])
    new = it.kind == "GPU" and _BLACKWELL.search(it.device.name)
    return bool(new and release) and release < _FIRST_FOR_BLACKWELL


def _locked(it: Facts) -> bool:
    lock = it.root / "tmp/libtpu_lockfile"
    return it.kind == "TPU" and os.path.exists(lock) and not it.may_open(lock)


_PLUGINS = ("jax-cuda13-plugin", "jax-cuda12-plugin", "jax-rocm7-plugin", "jax-rocm60-plugin")
_JAX_NAMES = {"GPU": {"cuda", "gpu"}, "TPU": {"tpu"}}
RULES: dict[str, Callable[[Facts], object]] = {
    "gpu-not-handed-over": lambda it: it.seen.not_given,
    "gpu-silent": lambda it: it.seen.silent and not it.seen.not_given and not it.device,
    "gpu-by-list": lambda it: it.seen.silent and it.device,
    "tpu-claimed": lambda it: it.seen.claim is not None,
    "no-accelerator-colab": lambda it: not it.device and it.place == "colab",
    "no-accelerator-kaggle": lambda it: not it.device and it.place == "kaggle",
    "cuda-hidden": lambda it: it.kind == "GPU" and it.visible_gpus == 0,
    "jax-platforms": lambda it: (
        it.device and it.platforms and not it.platforms & _JAX_NAMES[it.kind]
    ),
    "framework-missing": lambda it: not {*KERAS_KNOWS} & {*it.frameworks},
    "tensorflow-twice": lambda it: " " in it.builds,
    "tensorflow-tpu-without-tpu": lambda it: it.kind != "TPU" and it.for_tpus,
    "tensorflow-tpu-pins": lambda it: (
        it.kind == "TPU" and it.for_tpus and not it.tensorflow_drives_tpu
    ),
    "jax-without-libtpu": lambda it: (
        it.kind == "TPU" and "jax" in it.frameworks and it.libtpu == "missing"
    ),
    "jax-libtpu-too-old": lambda it: (
        it.kind == "TPU" and "jax" in it.frameworks and it.libtpu == recipe().libtpu
    ),
    "tensorflow-cpu-build": lambda it: it.kind == "GPU" and it.builds == "tensorflow-cpu",
    "cuda-libraries-missing": lambda it: (
        it.kind == "GPU" and it.place == "local" and "tensorflow" in it.builds.split()
        and not it.has_cudnn
    ),
    "jax-without-cuda": lambda it: (
        it.kind == "GPU" and "jax" in it.frameworks and not any(map(it.versions, _PLUGINS))
    ),
    "gpu-too-new": _too_new,
    "keras-backend-unknown": lambda it: it.asked not in ("", *KERAS_KNOWS),
    "keras-backend-not-installed": lambda it: (
        it.asked in KERAS_KNOWS and it.asked not in it.frameworks and not it.keras_on
    ),
    "keras-not-on-jax": lambda it: (
        it.kind == "TPU" and it.keras_on not in ("", "jax") and not it.tensorflow_drives_tpu
    ),
    "tpu-stock-tensorflow": lambda it: (
        it.kind == "TPU" and "tensorflow" in it.frameworks and not it.for_tpus
    ),
    "tpu-no-tensorflow": lambda it: it.kind == "TPU" and "tensorflow" not in it.frameworks,
    "tpu-in-use": lambda it: it.kind == "TPU" and it.holder,
    "tpu-lock": _locked,
    "old-tpu-node": lambda it: it.environ.get("COLAB_TPU_ADDR", "").strip(),
    "grpc-address": lambda it: it.tpu_name.startswith("grpc://"),
    "tpu-name": lambda it: (
        it.tpu_name and it.kind != "TPU" and not it.tpu_name.startswith("grpc://")
    ),
}  # fmt: skip
