"""The one list of what can be wrong with a machine: for each fault a rule here, its words in data.

A rule looks at the facts and gives the words that its sentences in ``data/faults.toml`` need; a
false value where all is well. Whoever adds a fault writes one rule and one entry.
"""

from __future__ import annotations

import functools
import os
import re
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Literal

from accel_helpers import _records
from accel_helpers.machine import attached, recipe
from accel_helpers.machine.attached import Attached, Seen

STRATEGIES_KNOW = ("tensorflow", "jax")
KERAS_KNOWS = (*STRATEGIES_KNOW, "torch")
SCAN_SECONDS = 0.5  # the most that looking through the processes may take
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

    def to_dict(self) -> dict[str, str]:
        """Give ``id``, ``cause``, ``fix`` and ``source`` as a dictionary, ready for JSON."""
        return {"id": self.id, "cause": self.cause, "fix": self.fix, "source": self.source}


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


@functools.cache
def known() -> Book:
    """The faults and the places that come with the package."""
    file = resources.files("accel_helpers") / "data" / "faults.toml"
    return _records.read(Book, _records.load(file, "list of faults"), file.name)


@dataclass(frozen=True)
class Facts:
    """What the rules look at; each is a fact, none a decision. `runtime.look` gathers them.

    ``versions`` gives the version of a distribution, ``loaded`` are modules. Under ``root`` some
    rules look for more; ``may_open`` says whether this process may open a file, and ``ask`` what
    is at an old TPU node's address, where somebody is to be asked.
    """

    place: str
    system: str
    seen: Seen
    frameworks: Mapping[str, str]
    environ: Mapping[str, str]
    root: Path
    versions: Callable[[str], str | None]
    loaded: Mapping[str, object]
    may_open: Callable[[Path], bool] = lambda file: os.access(file, os.R_OK | os.W_OK)
    ask: Callable[[str], str] | None = None

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
    def keras_on(self) -> str:
        """The framework under a loaded Keras, by looking only; empty where there is none."""
        try:
            return str(self.loaded["keras"].backend.backend())
        except Exception:  # not loaded, loaded by half, or a module of another kind by that name
            return ""

    @property
    def builds(self) -> list[str]:
        """The packages that install TensorFlow; on a Mac the plain one installs another."""
        names = ("tensorflow", "tensorflow-cpu", "tensorflow-tpu", "tf-nightly")
        return [name for name in names if self.versions(name)]

    @property
    def tensorflow_drives_tpu(self) -> bool:
        """A TensorFlow for TPUs is installed, and its libtpu beside it."""
        return recipe.fits(self.versions("tensorflow-tpu"), self.versions("libtpu"))

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


def find(it: Facts) -> tuple[Finding, ...]:
    """What is wrong with a machine and matters to whoever uses it, the first to mend first."""
    found = among(it)
    there = {one.id for one in found}

    def matters(fault: Fault) -> bool:
        return not there & set(fault.unless) and fault.only_on in ("", *it.runs_on)

    return tuple(one for one in found if matters(known().fault[one.id]))


def notes(it: Facts) -> tuple[str, ...]:
    """The causes of those faults that `runtime.describe` tells of."""
    return tuple(one.cause for one in among(it, *(n for n, f in known().fault.items() if f.note)))


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
        words = (name in names or not names) and RULES[name](it)
        for each in words if isinstance(words, list) else [words] if words else []:
            each = {"seen": "", "restart": it.here.restart, "undo": it.here.undo} | dict(each)
            fix = fault.fix_local if fault.fix_local and it.place == "local" else fault.fix
            cause, fix = fault.cause.format(**each), fix.format(**each)
            found.append(Finding(name, cause, fix, fault.source, each["seen"]))
    return tuple(found)


# The rules: what is not there is false; what is there gives the words of its sentences.


def _cuda_hidden(it: Facts):
    value = it.environ.get("CUDA_VISIBLE_DEVICES")
    if it.kind == "GPU" and it.visible_gpus == 0:
        return {"value": f"{value:.60}", "seen": f"CUDA_VISIBLE_DEVICES={value:.60}"}


def _jax_platforms(it: Facts):
    value = it.environ.get("JAX_PLATFORMS", "")
    names = {"GPU": {"cuda", "gpu"}, "TPU": {"tpu"}}.get(it.kind)
    if value and names and not names & {each.strip() for each in value.lower().split(",")}:
        return {"value": f"{value:.60}", "kind": it.kind, "seen": f"JAX_PLATFORMS={value:.60}"}


def _backend(it: Facts):
    installed = [name for name in KERAS_KNOWS if name in it.frameworks]
    return {"backend": it.asked[:60], "installed": ", ".join(installed) or "nothing yet"}


def _for_tpus(it: Facts):
    version, libtpu = it.versions("tensorflow-tpu"), it.versions("libtpu")
    return version and {"version": version, "libtpu": libtpu or "missing"}


def _tpu_name(it: Facts):
    value = it.environ.get("TPU_NAME", "").strip()
    if value not in ("", "local") and not value.startswith("grpc://") and it.kind != "TPU":
        return {"value": f"{value:.60}", "seen": f"TPU_NAME={value:.60}"}


def _old_node(it: Facts):
    value = it.environ.get("COLAB_TPU_ADDR", "").strip()
    return value and not value.startswith("grpc://") and {"seen": f"COLAB_TPU_ADDR={value:.60}"}


def _grpc(it: Facts):
    values = {name: it.environ.get(name, "").strip() for name in ("COLAB_TPU_ADDR", "TPU_NAME")}
    return [
        {
            "variable": name,
            "seen": f"{name}={value:.60}" + (f": {it.ask(value)}" if it.ask else ""),
        }
        for name, value in values.items()
        if value.startswith("grpc://")
    ]


def _gpu_too_new(it: Facts):
    version = it.versions("tensorflow") or ""
    release = tuple(int(part) for part in re.findall(r"\d+", version)[:2])
    if version and it.kind == "GPU" and _BLACKWELL.search(it.device.name):
        return release < _FIRST_FOR_BLACKWELL and {"name": it.device.name, "version": version}


def _cuda_libraries(it: Facts):
    if it.kind != "GPU" or it.place != "local" or not it.versions("tensorflow"):
        return None
    if it.versions("nvidia-cudnn-cu12") or it.versions("nvidia-cudnn-cu13"):
        return None
    folders = ["usr/lib/x86_64-linux-gnu", "usr/lib/aarch64-linux-gnu", "usr/lib64",
               "usr/local/cuda/lib64", "usr/local/lib"]  # fmt: skip
    folders += [f.lstrip("/") for f in it.environ.get("LD_LIBRARY_PATH", "").split(":") if f]
    if it.environ.get("CONDA_PREFIX"):
        folders.append(it.environ["CONDA_PREFIX"].lstrip("/") + "/lib")
    there = any(attached.files(it.root / folder, "libcudnn.so*") for folder in folders)
    return not there and _YES


def _tpu_in_use(it: Facts):
    """Another process that has a TPU's device file open."""
    until = time.monotonic() + SCAN_SECONDS
    for process in attached.files(it.root / "proc", "[0-9]*") if it.kind == "TPU" else ():
        if time.monotonic() > until:
            return None
        if process.name == str(os.getpid()):
            continue
        try:
            for file in os.scandir(process / "fd"):
                if re.match(r"/dev/(accel\d|vfio/\d)", os.readlink(file.path)):
                    pid = process.name
                    return {"pid": pid, "seen": f"process {pid} has the device open"}
        except OSError:  # it ended meanwhile, or belongs to somebody else
            continue


def _tpu_lock(it: Facts):
    lock = it.root / "tmp/libtpu_lockfile"
    if it.kind == "TPU" and os.path.exists(lock) and not it.may_open(lock):
        return {"seen": "/tmp/libtpu_lockfile cannot be opened"}


def _pinned(it: Facts):
    """A libtpu that was taken for a tensorflow-tpu, under a JAX that should drive the TPU."""
    libtpu = it.versions("libtpu")
    if it.kind == "TPU" and "jax" in it.frameworks and libtpu == recipe.known().libtpu:
        return {"libtpu": libtpu}


_YES = {"seen": ""}  # the fault is there, and its sentences need no words
_PLUGINS = ("jax-cuda13-plugin", "jax-cuda12-plugin", "jax-rocm7-plugin", "jax-rocm60-plugin")
RULES: dict[str, Callable[[Facts], dict | list[dict] | bool | None]] = {
    "gpu-not-handed-over": lambda it: it.seen.not_given and {"model": it.seen.not_given},
    "gpu-silent": lambda it: it.seen.silent and not it.seen.not_given and {
        "known": "; the name comes from the driver's own list" if it.device else
                 ": the GPU may be busy, broken or not handed to this machine"
    },
    "tpu-claimed": lambda it: it.seen.claim is not None and {"claim": it.seen.claim},
    "no-accelerator-colab": lambda it: it.kind == "none" and it.place == "colab" and _YES,
    "no-accelerator-kaggle": lambda it: it.kind == "none" and it.place == "kaggle" and _YES,
    "cuda-hidden": _cuda_hidden,
    "jax-platforms": _jax_platforms,
    "framework-missing": lambda it: not {*KERAS_KNOWS} & {*it.frameworks} and _YES,
    "tensorflow-twice": lambda it: len(it.builds) > 1 and {
        "packages": ", ".join(it.builds), "builds": " ".join(it.builds)
    },
    "tensorflow-tpu-without-tpu": lambda it: it.kind != "TPU" and _for_tpus(it),
    "tensorflow-tpu-pins": lambda it: (
        it.kind == "TPU" and not it.tensorflow_drives_tpu and _for_tpus(it)
    ),
    "jax-without-libtpu": lambda it: (
        it.kind == "TPU" and "jax" in it.frameworks and not it.versions("libtpu") and _YES
    ),
    "jax-libtpu-too-old": _pinned,
    "tensorflow-cpu-build": lambda it: (
        it.kind == "GPU" and it.builds == ["tensorflow-cpu"] and _YES
    ),
    "cuda-libraries-missing": _cuda_libraries,
    "jax-without-cuda": lambda it: (
        it.kind == "GPU" and "jax" in it.frameworks and not any(map(it.versions, _PLUGINS)) and _YES
    ),
    "gpu-too-new": _gpu_too_new,
    "keras-backend-unknown": lambda it: it.asked not in ("", *KERAS_KNOWS) and _backend(it),
    "keras-backend-not-installed": lambda it: (
        it.asked in {*KERAS_KNOWS} - {*it.frameworks} and not it.keras_on and _backend(it)
    ),
    "keras-not-on-jax": lambda it: (
        it.kind == "TPU" and it.keras_on not in ("", "jax") and not it.tensorflow_drives_tpu
        and {"backend": it.keras_on}
    ),
    "tpu-stock-tensorflow": lambda it: (
        it.kind == "TPU" and "tensorflow" in it.frameworks and "tensorflow-tpu" not in it.builds
        and {"version": it.frameworks["tensorflow"]}
    ),
    "tpu-no-tensorflow": lambda it: it.kind == "TPU" and "tensorflow" not in it.frameworks and _YES,
    "tpu-in-use": _tpu_in_use,
    "tpu-lock": _tpu_lock,
    "old-tpu-node": _old_node,
    "grpc-address": _grpc,
    "tpu-name": _tpu_name,
}  # fmt: skip
