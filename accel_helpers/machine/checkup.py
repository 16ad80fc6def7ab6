"""What is wrong with a machine, as far as files, settings and metadata tell.

Each rule looks at one thing and names a finding of ``data/checkup.toml``. They are asked in the
order in which a learner should mend things: first what keeps a device away, then what keeps a
framework from it, last what only old code trips over.
"""

from __future__ import annotations

import functools
import os
import re
import sys
import time
import tomllib
from collections.abc import Callable, Iterator, Mapping
from importlib import resources
from pathlib import Path

from accel_helpers import probe
from accel_helpers.machine import runtime
from accel_helpers.machine.decision import (
    BLACKWELL,
    FIRST_FOR_BLACKWELL,
    RESTART,
    visible_gpus,
)
from accel_helpers.machine.recipe import fits
from accel_helpers.machine.runtime import Runtime
from accel_helpers.machine.symptoms import Finding

SCAN_SECONDS = 0.5  # the most that looking through the processes may take
_KERAS_KNOWS = ("tensorflow", "jax", "torch")


def examine(
    here: Runtime,
    *,
    environ: Mapping[str, str],
    root: str | Path = "/",
    versions: Callable[[str], str | None],
    loaded: Mapping[str, object] | None = None,
) -> tuple[Finding, ...]:
    """Say what is wrong with a machine, in the order in which to mend it.

    Parameters
    ----------
    here : Runtime
        What `runtime.describe` said of it.
    environ : mapping of str to str
        Its environment variables.
    root : path, optional
        The folder under which ``proc``, ``tmp`` and ``usr`` are.
    versions : callable of str -> str or None
        Gives the installed version of a distribution.
    loaded : mapping of str to module, optional
        The modules that are loaded; looked at, never added to.

    Returns
    -------
    tuple of Finding
        Empty where nothing is wrong.

    Examples
    --------
    >>> here = runtime.describe(environ={}, versions={"jax": "0.7.2"}.get)
    >>> where = {"environ": {"KERAS_BACKEND": "theano"}, "versions": {"jax": "0.7.2"}.get}
    >>> [finding.id for finding in examine(here, **where)]
    ['keras-backend-unknown']
    """
    it = _Machine(here, environ, Path(root), versions, sys.modules if loaded is None else loaded)
    return tuple(finding for rule in RULES for finding in rule(it))


class _Machine:
    """What the rules look at."""

    def __init__(self, here, environ, root, versions, loaded, may_open=None):
        self.here, self.environ, self.root = here, environ, root
        self.versions, self.loaded, self.may_open = versions, loaded, may_open or _may_open
        self.kind = here.accelerator.kind if here.accelerator else "none"
        self.restart = RESTART[here.place]
        self.asked = environ.get("KERAS_BACKEND", "")

    def keras(self) -> str:
        """The framework on which Keras already runs; empty if it is not loaded."""
        keras = self.loaded.get("keras")
        try:
            return keras.backend.backend() if keras else ""
        except AttributeError:  # it is being imported, or is no Keras
            return ""

    def undo(self, packages: str) -> str:
        """How to be rid of packages that somebody installed."""
        if self.here.place == "local":
            return f"Run: python -m pip uninstall {packages}. Then restart ({self.restart})."
        again = "Runtime → Disconnect and delete runtime" if self.here.place == "colab" else (
            "stop the session and start it again"
        )  # fmt: skip
        return f"Go back to the packages that came with this machine: {again}."

    def finding(self, key: str, evidence: str = "", **words) -> Finding:
        entry = _entries()[key]
        words = {"restart": self.restart, **words}
        cause, fix = (entry[part].format(**words) for part in ("cause", "fix"))
        return Finding(key, cause, fix, entry["source"], evidence)


def _devices(it: _Machine) -> Iterator[Finding]:
    """Is what should be attached attached?"""
    silent = [note for note in it.here.notes if note.startswith(runtime.SILENT_GPU)]
    claimed = [note for note in it.here.notes if note.startswith(runtime.CLAIMED_TPU)]
    for note in silent:
        lost = "no device file here" in note
        yield it.finding("gpu-not-handed-over" if lost else "gpu-silent", note)
    for note in claimed:
        yield it.finding("tpu-claimed", note)
    known = it.kind != "none" or silent or claimed
    if not known and it.here.place in ("colab", "kaggle"):
        yield it.finding(f"no-accelerator-{it.here.place}")


def _hidden(it: _Machine) -> Iterator[Finding]:
    """Is an attached device hidden from the frameworks?"""
    value = it.environ.get("CUDA_VISIBLE_DEVICES")
    if it.kind == "GPU" and value is not None:
        if visible_gpus(value, it.here.accelerator.count) == 0:
            yield it.finding("cuda-hidden", f"CUDA_VISIBLE_DEVICES={value}", value=value)
    value = it.environ.get("JAX_PLATFORMS", "")
    names = {"GPU": {"cuda", "gpu"}, "TPU": {"tpu"}}.get(it.kind)
    on_jax = it.kind == "TPU" or "jax" in (it.asked, it.keras())
    if value and names and on_jax and not names & set(value.lower().split(",")):
        seen = f"JAX_PLATFORMS={value}"
        yield it.finding("jax-platforms", seen, value=value, kind=it.kind)


def _packages(it: _Machine) -> Iterator[Finding]:
    """Do the installed packages fit each other, and the device?"""
    there = it.here.frameworks
    if "tensorflow" not in there and "jax" not in there and "torch" not in there:
        install = "Run: python -m pip install tensorflow"
        if it.here.place != "local":
            install = it.undo("")
        yield it.finding("framework-missing", install=install)
    builds = [name for name in ("tensorflow", "tensorflow-cpu", "tensorflow-tpu", "tf-nightly")
              if it.versions(name)]  # fmt: skip
    if len(builds) > 1:
        undo = it.undo(" ".join(builds)) + " Then keep one of them."
        yield it.finding("tensorflow-twice", packages=", ".join(builds), undo=undo)
    tpu_build, libtpu = it.versions("tensorflow-tpu"), it.versions("libtpu")
    if tpu_build and it.kind != "TPU":
        undo = it.undo("tensorflow-tpu libtpu")
        yield it.finding("tensorflow-tpu-without-tpu", version=tpu_build, undo=undo)
    elif tpu_build and not fits(tpu_build, libtpu):
        yield it.finding("tensorflow-tpu-pins", version=tpu_build, libtpu=libtpu or "missing")
    if it.kind == "TPU" and "jax" in there and not libtpu and not tpu_build:
        instead = 'Run: python -m pip install "jax[tpu]"'
        if it.here.place != "local":
            instead = it.undo("")
        yield it.finding("jax-without-libtpu", instead=instead)
    if it.kind != "GPU":
        return
    stock = it.versions("tensorflow")
    on_jax = "jax" in (it.asked, it.keras()) or (not builds and "jax" in there)
    if builds == ["tensorflow-cpu"] and not on_jax:
        instead = (
            "Run: python -m pip uninstall tensorflow-cpu; then: "
            'python -m pip install "tensorflow[and-cuda]"'
        )
        yield it.finding(
            "tensorflow-cpu-build",
            instead=instead if it.here.place == "local" else it.undo(""),
        )
    if stock and not on_jax and it.here.place == "local" and not _has_cudnn(it):
        yield it.finding("cuda-libraries-missing")
    plugins = ("jax-cuda13-plugin", "jax-cuda12-plugin", "jax-rocm7-plugin", "jax-rocm60-plugin")
    if on_jax and not any(map(it.versions, plugins)):
        instead = 'Run: python -m pip install "jax[cuda12]"'
        yield it.finding(
            "jax-without-cuda",
            instead=instead if it.here.place == "local" else it.undo(""),
        )
    new = BLACKWELL.search(it.here.accelerator.name)
    if stock and new and not on_jax and _number(stock) < FIRST_FOR_BLACKWELL:
        yield it.finding("gpu-too-new", name=it.here.accelerator.name, version=stock)


def _keras(it: _Machine) -> Iterator[Finding]:
    """Will Keras start, and on the framework that drives the device?"""
    installed = [name for name in _KERAS_KNOWS if name in it.here.frameworks]
    if it.asked and it.asked not in _KERAS_KNOWS:
        yield it.finding("keras-backend-unknown", backend=it.asked)
    elif it.asked and it.asked not in installed and not it.keras():
        there = ", ".join(installed) or "nothing yet"
        yield it.finding("keras-backend-not-installed", backend=it.asked, installed=there)
    if it.kind != "TPU":
        return
    drives = fits(it.versions("tensorflow-tpu"), it.versions("libtpu"))
    if it.keras() and it.keras() != "jax" and not drives:
        yield it.finding("keras-not-on-jax", backend=it.keras())
    elif it.asked in ("", "tensorflow") and not it.keras() and not it.versions("tensorflow-tpu"):
        stock = it.here.frameworks.get("tensorflow")
        if stock:
            yield it.finding("tpu-stock-tensorflow", version=stock)
        elif it.asked == "":
            yield it.finding("tpu-no-tensorflow")


def _held(it: _Machine) -> Iterator[Finding]:
    """Does somebody else hold the TPU?"""
    if it.kind != "TPU":
        return
    holder = _holder(it.root)
    if holder:
        yield it.finding("tpu-in-use", f"process {holder} has the device open", pid=holder)
    lock = it.root / "tmp/libtpu_lockfile"
    if os.path.exists(lock) and not it.may_open(lock):
        yield it.finding("tpu-lock", "/tmp/libtpu_lockfile cannot be opened")


def _old_code(it: _Machine) -> Iterator[Finding]:
    """Are there settings that belong to Colab's old TPU nodes?"""
    for variable in ("COLAB_TPU_ADDR", "TPU_NAME"):
        value = it.environ.get(variable, "").strip()
        if value.startswith("grpc://"):
            said = probe.answer_at(value)
            yield it.finding("grpc-address", f"{variable}={value:.60}", variable=variable,
                             answer=said)  # fmt: skip
        elif value and variable == "COLAB_TPU_ADDR":
            yield it.finding("old-tpu-node", f"{variable}={value:.60}")
        elif value not in ("", "local") and it.kind != "TPU":
            yield it.finding("tpu-name", f"{variable}={value:.60}", value=f"{value:.60}")


RULES = (_devices, _hidden, _packages, _keras, _held, _old_code)

# ---------------------------------------------------------------------------------------------


@functools.cache
def _entries() -> dict[str, dict[str, str]]:
    text = (resources.files("accel_helpers") / "data" / "checkup.toml").read_text("utf-8")
    return tomllib.loads(text)


def _may_open(file: Path) -> bool:
    return os.access(file, os.R_OK | os.W_OK)


def _number(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", version)[:2])


def _has_cudnn(it: _Machine) -> bool:
    if it.versions("nvidia-cudnn-cu12") or it.versions("nvidia-cudnn-cu13"):
        return True
    folders = ["usr/lib/x86_64-linux-gnu", "usr/lib/aarch64-linux-gnu", "usr/lib64",
               "usr/local/cuda/lib64", "usr/local/lib"]  # fmt: skip
    folders += [f.lstrip("/") for f in it.environ.get("LD_LIBRARY_PATH", "").split(":") if f]
    if it.environ.get("CONDA_PREFIX"):
        folders.append(it.environ["CONDA_PREFIX"].lstrip("/") + "/lib")
    return any(_any(it.root / folder, "libcudnn.so*") for folder in folders)


def _any(folder: Path, pattern: str) -> bool:
    try:
        return any(folder.glob(pattern))
    except OSError:
        return False


def _holder(root: Path) -> int | None:
    """Give the number of another process that has a TPU's device file open."""
    until = time.monotonic() + SCAN_SECONDS
    try:
        processes = [name for name in os.listdir(root / "proc") if name.isdecimal()]
    except OSError:
        return None
    for name in processes:
        if time.monotonic() > until:
            return None
        if int(name) == os.getpid():
            continue
        try:
            for file in os.scandir(root / "proc" / name / "fd"):
                if re.match(r"/dev/(accel\d|vfio/\d)", os.readlink(file.path)):
                    return int(name)
        except OSError:  # it ended meanwhile, or belongs to somebody else
            continue
    return None
