"""Recorded machines, as data: every runtime the course knows, and some that are broken.

`kwargs` builds the small tree of files of one and gives what `runtime.describe`, `strategy.pick`
and `doctor.diagnose` take.

Sources. The packages of Colab: the list of googlecolab/backend-info at commit a724079 (2026-08-19),
of which tests/colab has the pins. The variables of its TPU runtime (v5e-1): as printed in
github.com/mdda/getting-to-aha-with-tpus. The PCI numbers of TPUs: jax/_src/hardware_utils.py. The
variables of Kaggle: KAGGLE_KERNEL_RUN_TYPE, as github.com/Kaggle/docker-python sets it; its
versions are examples, not a record. GPUs: the line that nvidia-smi prints.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

RELEASE = {"COLAB_RELEASE_TAG": "release-colab_20260819-060000_RC00"}
COLAB_CPU = {**RELEASE, "COLAB_BACKEND_VERSION": "next", "COLAB_GPU": "", "COLAB_TPU_1VM": ""}
COLAB_GPU = {**COLAB_CPU, "COLAB_GPU": "1"}
COLAB_TPU = {
    **COLAB_CPU,
    "COLAB_TPU_1VM": "1",
    "TPU_ACCELERATOR_TYPE": "v5e-1",
    "TPU_SKIP_MDS_QUERY": "1",
    "TPU_WORKER_HOSTNAMES": "localhost",
}
KAGGLE = {"KAGGLE_KERNEL_RUN_TYPE": "Interactive"}

JAX_ONLY = {"keras": "3.13.2", "jax": "0.7.2", "jaxlib": "0.7.2", "numpy": "2.1.3",
            "matplotlib": "3.10.0", "ipywidgets": "7.7.1", "ipython": "7.34.0"}  # fmt: skip
CPU_PACKAGES = {**JAX_ONLY, "tensorflow": "2.20.0"}
GPU_PACKAGES = {**CPU_PACKAGES, "jax-cuda12-plugin": "0.7.2", "jax-cuda12-pjrt": "0.7.2"}
TPU_PACKAGES = {**JAX_ONLY, "libtpu": "0.0.21.1"}

PLAIN_FILES = {
    "proc/cpuinfo": "processor\t: 0\nmodel name\t: Intel(R) Xeon(R) CPU @ 2.20GHz\n",
    "proc/meminfo": "MemTotal:       13286960 kB\nMemFree:  100 kB\n",
}


def gpu_files(count=1):
    """The files of NVIDIA's driver."""
    version = "NVRM version: NVIDIA UNIX x86_64 Kernel Module  550.54.15  Tue Mar  5 22:23\n"
    nodes = {f"dev/nvidia{number}": "" for number in range(count)}
    return {"proc/driver/nvidia/version": version, "dev/nvidiactl": "", **nodes}


def tpu_files(chips=1, device="0x0063"):
    """The PCI devices of TPU chips; 0x0063 is a v5e."""
    files = {}
    for chip in range(chips):
        folder = f"sys/bus/pci/devices/0000:00:{chip + 4:02x}.0"
        files |= {f"{folder}/vendor": "0x1ae0\n", f"{folder}/device": f"{device}\n"}
        files |= {f"{folder}/class": "0x120000\n", f"dev/vfio/{chip}": ""}
    return files


@dataclass(frozen=True)
class Machine:
    """One recorded machine: its variables, its files, what nvidia-smi prints, its packages."""

    environ: dict = field(default_factory=dict)
    files: dict = field(default_factory=dict)
    smi: str | None = None
    packages: dict = field(default_factory=dict)


def _gpu(line, count=1, environ=COLAB_GPU, packages=GPU_PACKAGES):
    return Machine(environ, gpu_files(count), line * count, packages)


T4 = "Tesla T4, 15360, 550.54.15\n"
MACHINES = {
    "colab cpu": Machine(COLAB_CPU, {}, None, CPU_PACKAGES),
    "colab t4": _gpu(T4),
    "colab l4": _gpu("NVIDIA L4, 23034, 550.54.15\n"),
    "colab a100": _gpu("NVIDIA A100-SXM4-40GB, 40960, 550.54.15\n"),
    # G4 is Colab's name for this one, of the Blackwell generation.
    "colab g4": _gpu("NVIDIA RTX PRO 6000 Blackwell Server Edition, 97887, 580.82.07\n"),
    "colab v5e-1": Machine(COLAB_TPU, tpu_files(), None, TPU_PACKAGES),
    "colab v5e-1, stock tensorflow": Machine(
        COLAB_TPU, tpu_files(), None, {**TPU_PACKAGES, "tensorflow": "2.20.0"}
    ),
    # On the runtime 2026.07 (Python 3.12) pip replaces libtpu by the one that 2.19.1 pins.
    "colab v5e-1, tensorflow-tpu 2.19.1": Machine(
        COLAB_TPU,
        tpu_files(),
        None,
        {**JAX_ONLY, "tensorflow-tpu": "2.19.1", "libtpu": "0.0.10"},
    ),
    "colab v5e-1, tensorflow-tpu 2.20.0": Machine(
        COLAB_TPU, tpu_files(), None, {**TPU_PACKAGES, "tensorflow-tpu": "2.20.0"}
    ),
    "colab, claimed tpu": Machine(COLAB_TPU, {}, None, TPU_PACKAGES),
    # Until 2024: TensorFlow on one machine, the TPU on another.
    "old tpu node": Machine(
        {
            **RELEASE,
            "COLAB_TPU_ADDR": "10.255.255.1:8470",
            "TPU_NAME": "grpc://10.255.255.1:8470",
        },
        {},
        None,
        {"tensorflow": "2.12.0", "keras": "2.12.0", "numpy": "1.23.5"},
    ),
    "kaggle cpu": Machine(KAGGLE, {}, None, CPU_PACKAGES),
    "kaggle t4 x2": _gpu(T4, 2, KAGGLE),
    # https://github.com/Kaggle/docker-python: its TPU image has tensorflow-cpu beside JAX.
    "kaggle v5e-8": Machine(
        {**KAGGLE, "TPU_ACCELERATOR_TYPE": "v5e-8"},
        tpu_files(8),
        None,
        {**TPU_PACKAGES, "tensorflow-cpu": "2.20.0"},
    ),
    "laptop, nothing": Machine(),
    "laptop, tensorflow and a gpu": _gpu(
        "NVIDIA GeForce RTX 3060 Laptop GPU, 6144, 550.54.15\n",
        environ={},
        packages={"tensorflow": "2.20.0", "keras": "3.13.2", "numpy": "2.1.3"},
    ),
    "a mac": Machine({}, {}, None, {"tensorflow": "2.20.0", "keras": "3.13.2"}),
}
_SYSCTL = {"machdep.cpu.brand_string": "Apple M2\n", "hw.memsize": "17179869184\n"}


def kwargs(name: str, folder: Path) -> dict:
    """Build a machine under a folder.

    Parameters
    ----------
    name : str
        One of `MACHINES`.
    folder : Path
        An empty folder of the test, such as pytest's ``tmp_path``.

    Returns
    -------
    dict
        ``environ``, ``root``, ``run`` and ``versions``, as `runtime.describe` takes them.
    """
    machine, root = MACHINES[name], Path(folder) / "machine"
    root.mkdir()
    plain = {} if name == "a mac" else PLAIN_FILES  # a Mac has no such files
    for path, text in {**plain, **machine.files}.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)

    def run(command: list[str], timeout: float) -> str:
        if command[0] == "nvidia-smi" and machine.smi is not None:
            return machine.smi
        if command[0] == "sysctl" and name == "a mac":
            return _SYSCTL[command[-1]]
        raise FileNotFoundError(command[0])

    versions: Callable = machine.packages.get
    return {"environ": dict(machine.environ), "root": root, "run": run, "versions": versions}
