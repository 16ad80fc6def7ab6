"""Recorded machines, as data: every runtime the course knows, healthy ones and faulty ones.

Each says what the doctor must find on it and where a model must train, so that a new machine is one
entry here and every test walks over it. `Machine.build` makes the small tree of files of one and
gives what `runtime.describe`, `doctor.diagnose` and `strategy.pick` take.

Sources. The packages of Colab: the list of googlecolab/backend-info at commit a724079 (2026-08-19),
of which tests/colab has the pins. The variables of its TPU runtime (v5e-1): as printed in
github.com/mdda/getting-to-aha-with-tpus. The PCI numbers of TPUs: jax/_src/hardware_utils.py. The
variables of Kaggle: KAGGLE_KERNEL_RUN_TYPE, as github.com/Kaggle/docker-python sets it; its
versions are examples, not a record. GPUs: the line that nvidia-smi prints.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import SimpleNamespace

ROOT = Path(__file__).parents[2]
RELEASE = {"COLAB_RELEASE_TAG": "release-colab_20260819-060000_RC00"}
_COLAB = json.loads((ROOT / "tests" / "colab" / "variables.json").read_text("utf-8"))
COLAB_CPU, COLAB_TPU = _COLAB["cpu"], _COLAB["tpu"]
COLAB_GPU = {**COLAB_CPU, "COLAB_GPU": "1"}
KAGGLE = {"KAGGLE_KERNEL_RUN_TYPE": "Interactive"}

JAX_ONLY = {"keras": "3.13.2", "jax": "0.7.2", "jaxlib": "0.7.2", "numpy": "2.1.3",
            "matplotlib": "3.10.0", "ipywidgets": "7.7.1", "ipython": "7.34.0"}  # fmt: skip
CPU_PACKAGES = {**JAX_ONLY, "tensorflow": "2.20.0"}
GPU_PACKAGES = {**CPU_PACKAGES, "jax-cuda12-plugin": "0.7.2", "jax-cuda12-pjrt": "0.7.2"}
TPU_PACKAGES = {**JAX_ONLY, "libtpu": "0.0.21.1"}

PLAIN_FILES = {
    "proc/cpuinfo": "processor\t: 0\nmodel name\t: Intel(R) Xeon(R) CPU @ 2.20GHz\n",
}
AMD = {"proc/cpuinfo": "vendor_id\t: AuthenticAMD\nmodel name\t: AMD EPYC 7B12\n"}
NVIDIA = "NVRM version: NVIDIA UNIX x86_64 Kernel Module  550.54.15  Tue Mar  5 22:23\n"
T4 = "Tesla T4, 15360, 550.54.15\n"


def gpu_files(count=1):
    """The files of NVIDIA's driver."""
    nodes = {f"dev/nvidia{number}": "" for number in range(count)}
    return {"proc/driver/nvidia/version": NVIDIA, "dev/nvidiactl": "", **nodes}


def tpu_files(chips=1, device="0x0063", vendor="0x1ae0", kind="0x120000"):
    """The PCI devices of TPU chips; 0x0063 is a v5e."""
    files = {}
    for chip in range(chips):
        folder = f"sys/bus/pci/devices/0000:00:{chip + 4:02x}.0"
        files |= {f"{folder}/vendor": f"{vendor}\n", f"{folder}/device": f"{device}\n"}
        files |= {f"{folder}/class": f"{kind}\n", f"dev/vfio/{chip}": ""}
    return files


def write(root, files):
    """Write files under a folder."""
    for path, text in files.items():
        (Path(root) / path).parent.mkdir(parents=True, exist_ok=True)
        (Path(root) / path).write_text(text)


def answering(smi="", sysctl=()):
    """Run nothing: answer as nvidia-smi, and as a Mac's sysctl where that is given."""
    answers = {"nvidia-smi": smi, **dict(sysctl)}
    return lambda command: answers.get(command[0], answers.get(command[-1], ""))


def python(code, *arguments, path=(), **environ):
    """Run code, or a script, where no accelerator is and nothing is settled yet."""
    dropped = ("KERAS_", "TF_", "JAX_", "TPU_", "COLAB_", "PYTEST_")
    clean = {k: v for k, v in os.environ.items() if not k.startswith(dropped)}
    roots = os.pathsep.join(map(str, [*path, ROOT]))
    start = [str(code)] if isinstance(code, Path) else ["-c", code]
    return subprocess.run(
        [sys.executable, *start, *arguments],
        env={**clean, "CUDA_VISIBLE_DEVICES": "", "PYTHONPATH": roots, **environ},
        capture_output=True,
        text=True,
        timeout=280,
    )


def keras_on(name):
    """Modules as they are where Keras is loaded; the library only looks at them."""
    return {"keras": SimpleNamespace(backend=SimpleNamespace(backend=lambda: name)),
            name: SimpleNamespace()}  # fmt: skip


@dataclass(frozen=True)
class Machine:
    """A recorded machine, and what must be said of it."""

    environ: dict = field(default_factory=dict)
    files: dict = field(default_factory=dict)
    smi: str = ""  # what nvidia-smi prints
    packages: dict = field(default_factory=dict)
    finds: tuple[str, ...] = ()  # of the doctor
    picks: tuple[str, str, int] = ("cpu", "tensorflow", 1)  # kind, framework, replicas
    loaded: dict = field(default_factory=dict)
    sysctl: dict = field(default_factory=dict)
    page: dict = field(default_factory=dict)  # the metadata of its notebook
    used: tuple[str, ...] = ()  # what Keras has trained with

    def but(self, *finds, environ=(), packages=(), files=(), **changes) -> Machine:
        """The same machine with some things changed; a package that is None is not there."""
        there = {**self.packages, **dict(packages)}
        changes["packages"] = {name: version for name, version in there.items() if version}
        changes["environ"] = {**self.environ, **dict(environ)}
        changes["files"] = {**self.files, **dict(files)}
        return replace(self, **{"finds": finds or self.finds, **changes})

    def build(self, folder: Path) -> dict:
        """Make its files in an empty folder; give ``environ``, ``root``, ``run``, ``versions``."""
        root = Path(folder) / "machine"
        root.mkdir()
        plain = {} if self.sysctl else PLAIN_FILES  # a Mac has no such files
        write(root, {**plain, **self.files})
        run = answering(self.smi, self.sysctl)
        return {
            "environ": dict(self.environ),
            "root": root,
            "run": run,
            "versions": self.packages.get,
        }


def _page(accelerator, *chip):
    return {"accelerator": accelerator, "colab": dict(zip(["gpuType"], chip, strict=False))}


def _gpu(line, count=1, environ=COLAB_GPU, packages=GPU_PACKAGES, **said):
    said.setdefault("picks", ("one gpu", "tensorflow", 1))
    return Machine(environ, gpu_files(count), line * count, packages, **said)


_COLAB_CPU = Machine(COLAB_CPU, {}, "", CPU_PACKAGES, ("no-accelerator",))
_COLAB_T4 = _gpu(T4)
_COLAB_L4 = _gpu("NVIDIA L4, 23034, 550.54.15\n")
_G4 = _gpu("NVIDIA RTX PRO 6000 Blackwell Server Edition, 97887, 580.82.07\n",
           finds=("gpu-too-new",), picks=("one gpu", "jax", 1))  # fmt: skip
_V5E = Machine(COLAB_TPU, tpu_files(), "", TPU_PACKAGES, ("tensorflow-on-tpu",),
               ("tpu on jax", "jax", 1))  # fmt: skip
# On the runtime 2026.07 (Python 3.12) pip replaces libtpu by the one that 2.19.1 pins.
_FITTING = {"tensorflow-tpu": "2.19.1", "libtpu": "0.0.10"}
_STOCK, _FOR_CPUS = {"tensorflow": "2.20.0"}, {"tensorflow": None, "tensorflow-cpu": "2.21.0"}
# https://github.com/Kaggle/docker-python: its TPU image has tensorflow-cpu beside JAX.
_KAGGLE_V5E = Machine({**KAGGLE, "TPU_ACCELERATOR_TYPE": "v5e-8"}, tpu_files(8), "",
                      {**TPU_PACKAGES, "tensorflow-cpu": "2.20.0"}, ("tensorflow-on-tpu",),
                      ("tpu on jax", "jax", 8))  # fmt: skip
_LAPTOP = Machine({}, {}, "", CPU_PACKAGES)
_MAC = Machine({}, {}, "", CPU_PACKAGES, ("gpu-of-another-maker",),
               sysctl={"machdep.cpu.brand_string": "Apple M2\n"})  # fmt: skip
_JAX, _TENSORFLOW = {"KERAS_BACKEND": "jax"}, {"KERAS_BACKEND": "tensorflow"}
_KEPT_OFF = {**_JAX, "JAX_PLATFORMS": "cpu"}
_CPU, _CPU_WITH_JAX = ("cpu", "tensorflow", 1), ("cpu", "jax", 1)
_MISCOUNTS = {"jax": "0.10.2"}
_OFF_TPU = {"tensorflow": None, "tensorflow-tpu": "2.20.0"}

HEALTHY = {
    "colab t4": _COLAB_T4,
    "colab v5e-1, after choose": _V5E.but(environ=_JAX, finds=()),
    "kaggle t4 x2": _gpu(T4, 2, KAGGLE, picks=("several gpus", "tensorflow", 2)),
    "colab t4, a t4 asked for": _COLAB_T4.but(page=_page("GPU", "T4"), used=("cpu", "gpu")),
    "colab v5e-1, a v5e-1 asked for": _V5E.but(environ=_JAX, page=_page("TPU", "V5E1"), finds=()),
    "laptop": _LAPTOP,
    "laptop, the same jax, not used": _LAPTOP.but(packages=_MISCOUNTS, environ=_TENSORFLOW),
    "laptop, torch": Machine({}, {}, "", {"torch": "2.9.0"}),
}
FAULTY = {
    "laptop, a jax that computes wrongly": _LAPTOP.but(
        "jax-computes-wrongly", packages=_MISCOUNTS, environ=_JAX, picks=_CPU_WITH_JAX
    ),
    "laptop, a jax that writes slowly": _LAPTOP.but(
        "jax-writes-slowly", packages={"jax": "0.11.1"}, environ=_JAX, picks=_CPU_WITH_JAX
    ),
    "colab cpu": _COLAB_CPU,
    "kaggle cpu": _COLAB_CPU.but(environ=KAGGLE),
    "kaggle p100": _gpu("Tesla P100-PCIE-16GB, 16384, 560.35.03\n", 1, KAGGLE).but("kaggle-p100"),
    "colab g4, a g4 asked for, tensorflow 2.21": _G4.but(
        packages={"tensorflow": "2.21.0"}, page=_page("GPU", "G4")
    ),
    "colab g4, keras on tensorflow": _G4.but(
        environ=_TENSORFLOW, picks=("one gpu", "tensorflow", 1)
    ),
    "colab v5e-1": _V5E,
    "colab v5e-1, stock tensorflow asked for": _V5E.but(
        packages=_STOCK, environ=_TENSORFLOW, picks=_CPU
    ),
    "colab v5e-1, keras on tensorflow": _V5E.but(
        packages=_STOCK, loaded=keras_on("tensorflow"), picks=_CPU
    ),
    "kaggle v5e-8": _KAGGLE_V5E,
    "kaggle v5e-8, in the image for cpus": _KAGGLE_V5E.but(
        "jax-without-libtpu", packages={"libtpu": None}, environ=_JAX, picks=_CPU_WITH_JAX
    ),
    "colab l4, a t4 asked for": _COLAB_L4.but("another-chip", page=_page("GPU", "T4")),
    "colab cpu, a gpu asked for": _COLAB_CPU.but("another-chip", page=_page("GPU")),
    "colab v5e-1, a v6e-1 asked for": _V5E.but(
        "another-chip", environ=_JAX, page=_page("TPU", "V6E1")
    ),
    "colab cpu by amd, keras on jax": _COLAB_CPU.but(
        "no-accelerator", "jax-trains-wrongly", environ=_JAX, files=AMD, picks=_CPU_WITH_JAX
    ),
    "colab t4, idle": _COLAB_T4.but(
        "attached-and-idle", used=("cpu",), loaded=keras_on("tensorflow")
    ),
    "colab v5e-1, keras on jax beside tensorflow-tpu": _V5E.but(
        *("tensorflow-for-tpus", "jax-without-libtpu"),
        packages=_FITTING,
        environ=_JAX,
        picks=_CPU_WITH_JAX,
    ),
    "colab v5e-1, jax kept off": _V5E.but("jax-platforms", environ=_KEPT_OFF, picks=_CPU_WITH_JAX),
    "colab, claimed tpu": replace(
        _V5E, files=AMD, finds=("tpu-claimed", "jax-trains-wrongly"), picks=_CPU_WITH_JAX
    ),
    "colab, a driver that does not answer": _COLAB_CPU.but(
        "gpu-silent", files={"dev/nvidiactl": ""}
    ),
    "a container that was given no gpu": _LAPTOP.but(
        "gpu-silent", files={"proc/driver/nvidia/version": NVIDIA}
    ),
    "laptop, a gpu of amd's": _LAPTOP.but(
        "gpu-of-another-maker",
        files={"dev/kfd": ""},
    ),
    "a mac": _MAC,
    "colab t4, hidden": _COLAB_T4.but(
        "gpu-hidden", environ={"CUDA_VISIBLE_DEVICES": "-1"}, picks=_CPU
    ),
    "colab t4, a tensorflow for cpus": _COLAB_T4.but(
        "tensorflow-for-cpus", packages=_FOR_CPUS, picks=("one gpu", "jax", 1)
    ),
    "colab t4, nothing for gpus": _COLAB_T4.but(
        "tensorflow-for-cpus", packages=_FOR_CPUS | {"jax-cuda12-plugin": None}, picks=_CPU
    ),
    "colab t4, jax without its plugin": _COLAB_T4.but(
        "jax-without-cuda", packages={"jax-cuda12-plugin": None}, environ=_JAX, picks=_CPU_WITH_JAX
    ),
    "laptop, nothing": Machine(finds=("framework-missing",)),
    "laptop, a backend that nobody knows": _LAPTOP.but(
        "keras-backend-unknown", environ={"KERAS_BACKEND": "theano"}
    ),
    "laptop, a backend that is not there": _LAPTOP.but(
        "keras-backend-unknown", environ={"KERAS_BACKEND": "torch"}
    ),
    "laptop, a tensorflow for tpus": _LAPTOP.but(
        "tensorflow-for-tpus", picks=_CPU_WITH_JAX, packages=_OFF_TPU
    ),
    "laptop, two packages of tensorflow": _LAPTOP.but(
        "two-tensorflows", packages={"tensorflow-cpu": "2.20.0"}
    ),
}


MACHINES = HEALTHY | FAULTY
