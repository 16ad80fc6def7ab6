"""Recorded machines, as data: every runtime the course knows, healthy ones and faulty ones.

Each says what the doctor must find on it and where a model must train, so that a new machine is one
entry here and every test walks over it. `Machine.build` makes the small tree of files of one and
gives what `runtime.describe`, `doctor.diagnose`, `strategy.pick` and `backend.choose` take.

Sources. The packages of Colab: the list of googlecolab/backend-info at commit a724079 (2026-08-19),
of which tests/colab has the pins. The variables of its TPU runtime (v5e-1): as printed in
github.com/mdda/getting-to-aha-with-tpus. The PCI numbers of TPUs: jax/_src/hardware_utils.py. The
variables of Kaggle: KAGGLE_KERNEL_RUN_TYPE, as github.com/Kaggle/docker-python sets it; its
versions are examples, not a record. GPUs: the line that nvidia-smi prints.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from types import SimpleNamespace

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
NVIDIA = "NVRM version: NVIDIA UNIX x86_64 Kernel Module  550.54.15  Tue Mar  5 22:23\n"
LISTED = {"proc/driver/nvidia/gpus/0000:00:04.0/information": "Model: Tesla T4\nDevice Minor: 0\n"}
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


def answering(smi=None, sysctl=()):
    """Run nothing: nvidia-smi says, or raises, what is given; no other command is there."""

    def run(command, timeout):
        assert timeout <= 3
        if command[0] == "sysctl" and sysctl:
            return sysctl[command[-1]]
        if command[0] != "nvidia-smi" or smi is None:
            raise FileNotFoundError(command[0])
        if isinstance(smi, Exception):
            raise smi
        return smi

    return run


def keras_on(name):
    """Modules as they are where Keras is loaded; the library only looks at them."""
    return {"keras": SimpleNamespace(backend=SimpleNamespace(backend=lambda: name)),
            name: SimpleNamespace()}  # fmt: skip


@dataclass(frozen=True)
class Machine:
    """A recorded machine, and what must be said of it.

    ``smi`` is what nvidia-smi prints, ``links`` are symbolic links. ``finds`` are the ids of the
    doctor's findings; ``picks`` is the kind, the framework and the replicas of `strategy.pick`.
    """

    environ: dict = field(default_factory=dict)
    files: dict = field(default_factory=dict)
    smi: str | None = None
    packages: dict = field(default_factory=dict)
    finds: tuple[str, ...] = ()
    picks: tuple[str, str, int] = ("cpu", "tensorflow", 1)
    loaded: dict = field(default_factory=dict)
    links: dict = field(default_factory=dict)
    sysctl: dict = field(default_factory=dict)

    def but(self, *, environ=(), packages=(), files=(), **changes) -> Machine:
        """The same machine with some things changed; a package that is None is not there."""
        there = {**self.packages, **dict(packages)}
        changes["packages"] = {name: version for name, version in there.items() if version}
        changes["environ"] = {**self.environ, **dict(environ)}
        changes["files"] = {**self.files, **dict(files)}
        return replace(self, **changes)

    def build(self, folder: Path) -> dict:
        """Make its files in an empty folder; give ``environ``, ``root``, ``run``, ``versions``."""
        root = Path(folder) / "machine"
        root.mkdir()
        plain = {} if self.sysctl else PLAIN_FILES  # a Mac has no such files
        write(root, {**plain, **self.files})
        for path, target in self.links.items():
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).symlink_to(target)

        run = answering(self.smi, self.sysctl)
        versions = self.packages.get
        return {"environ": dict(self.environ), "root": root, "run": run, "versions": versions}


def _gpu(line, count=1, environ=COLAB_GPU, packages=GPU_PACKAGES, **said):
    said.setdefault("picks", ("one gpu", "tensorflow", 1))
    return Machine(environ, gpu_files(count), line * count, packages, **said)


_COLAB_CPU = Machine(COLAB_CPU, {}, None, CPU_PACKAGES, ("no-accelerator-colab",))
_COLAB_T4 = _gpu(T4)
_G4 = _gpu("NVIDIA RTX PRO 6000 Blackwell Server Edition, 97887, 580.82.07\n",
           finds=("gpu-too-new",), picks=("one gpu", "jax", 1))  # fmt: skip
_V5E = Machine(COLAB_TPU, tpu_files(), None, TPU_PACKAGES, ("tpu-no-tensorflow",),
               ("tpu on jax", "jax", 1))  # fmt: skip
_CLAIMED = replace(_V5E, files={}, finds=("tpu-claimed",), picks=("cpu", "jax", 1))
# On the runtime 2026.07 (Python 3.12) pip replaces libtpu by the one that 2.19.1 pins.
_FITTING = {"tensorflow-tpu": "2.19.1", "libtpu": "0.0.10"}
_KAGGLE_T4 = _gpu(T4, 2, KAGGLE, picks=("several gpus", "tensorflow", 2))
_LAPTOP = Machine({}, {}, None, CPU_PACKAGES)
_LAPTOP_GPU = _gpu("NVIDIA GeForce RTX 3060 Laptop GPU, 6144, 550.54.15\n", environ={},
                   packages={"tensorflow": "2.20.0", "keras": "3.13.2", "numpy": "2.1.3",
                             "nvidia-cudnn-cu12": "9.3"})  # fmt: skip
_MAC = Machine({}, {}, None, {"tensorflow": "2.20.0", "keras": "3.13.2"}, sysctl={
    "machdep.cpu.brand_string": "Apple M2\n", "hw.memsize": "17179869184\n",
})  # fmt: skip
_JAX = {"KERAS_BACKEND": "jax"}
_TENSORFLOW = {"KERAS_BACKEND": "tensorflow"}
_ON_CPU_WITH_JAX = ("cpu", "jax", 1)

HEALTHY = {
    "colab t4": _COLAB_T4,
    "colab l4": _gpu("NVIDIA L4, 23034, 550.54.15\n"),
    "colab a100": _gpu("NVIDIA A100-SXM4-40GB, 40960, 550.54.15\n"),
    "colab t4, keras on jax": _COLAB_T4.but(environ=_JAX, picks=("one gpu", "jax", 1)),
    "colab t4, the only gpu is chosen": _COLAB_T4.but(environ={"CUDA_VISIBLE_DEVICES": "0"}),
    "colab g4, tensorflow 2.21": _G4.but(
        packages={"tensorflow": "2.21.0"}, finds=(), picks=("one gpu", "tensorflow", 1)
    ),
    "colab v5e-1, after choose": _V5E.but(environ=_JAX, finds=()),
    "colab v5e-1, named local": _V5E.but(environ={**_JAX, "TPU_NAME": "local"}, finds=()),
    "colab v5e-1, platforms": _V5E.but(environ={**_JAX, "JAX_PLATFORMS": "tpu,cpu"}, finds=()),
    "colab v5e-1, a name of its own": _V5E.but(environ={**_JAX, "TPU_NAME": "node-1"}, finds=()),
    "colab v5e-1, tensorflow-tpu 2.19.1": _V5E.but(
        packages=_FITTING, finds=(),
        picks=("tpu on tensorflow", "tensorflow", 1),
    ),
    "kaggle t4 x2": _KAGGLE_T4,
    "kaggle t4 x2, both chosen": _KAGGLE_T4.but(environ={"CUDA_VISIBLE_DEVICES": "0,1"}),
    "laptop": _LAPTOP,
    "laptop, a tensorflow for cpus": _LAPTOP.but(
        packages={"tensorflow": None, "tensorflow-cpu": "2.21.0"},
        environ={"CUDA_VISIBLE_DEVICES": "-1"},
    ),
    "laptop, torch": Machine({}, {}, None, {"torch": "2.9.0"}),
    "laptop, tensorflow and a gpu": _LAPTOP_GPU,
    "a mac": _MAC,
    "a mac, two packages of tensorflow": _MAC.but(packages={"tensorflow-macos": "2.15.0"}),
}  # fmt: skip
FAULTY = {
    "colab cpu": _COLAB_CPU,
    "kaggle cpu": Machine(KAGGLE, {}, None, CPU_PACKAGES, ("no-accelerator-kaggle",)),
    "colab g4": _G4,
    "colab g4, keras on tensorflow": _G4.but(
        environ=_TENSORFLOW, picks=("one gpu", "tensorflow", 1)
    ),
    "colab v5e-1": _V5E,
    "colab v5e-1, keras loaded by half": _V5E.but(loaded={"keras": SimpleNamespace()}),
    "colab v5e-1, stock tensorflow": _V5E.but(
        packages={"tensorflow": "2.20.0"}, finds=("tpu-stock-tensorflow",)
    ),
    "colab v5e-1, stock tensorflow asked for": _V5E.but(
        packages={"tensorflow": "2.20.0"}, environ=_TENSORFLOW, finds=("tpu-stock-tensorflow",),
        picks=("cpu", "tensorflow", 1),
    ),
    "colab v5e-1, keras on tensorflow": _V5E.but(
        packages={"tensorflow": "2.20.0"}, loaded=keras_on("tensorflow"),
        finds=("keras-not-on-jax",), picks=("cpu", "tensorflow", 1),
    ),
    # https://github.com/Kaggle/docker-python: its TPU image has tensorflow-cpu beside JAX.
    "kaggle v5e-8": Machine(
        {**KAGGLE, "TPU_ACCELERATOR_TYPE": "v5e-8"}, tpu_files(8), None,
        {**TPU_PACKAGES, "tensorflow-cpu": "2.20.0"}, ("tpu-stock-tensorflow",),
        ("tpu on jax", "jax", 8),
    ),
    "colab v5e-1, tensorflow-tpu 2.20.0": _V5E.but(
        packages={"tensorflow-tpu": "2.20.0"}, finds=("tensorflow-tpu-pins",)
    ),
    "colab v5e-1, tensorflow-tpu 2.20.0 asked for": _V5E.but(
        packages={"tensorflow-tpu": "2.20.0"}, environ=_TENSORFLOW, finds=("tensorflow-tpu-pins",)
    ),
    "colab v5e-1, tensorflow-tpu without its libtpu": _V5E.but(
        packages={"tensorflow-tpu": "2.19.1"}, environ=_JAX, finds=("tensorflow-tpu-pins",)
    ),
    "colab v5e-1, two packages of tensorflow": _V5E.but(
        packages={"tensorflow": "2.20.0", **_FITTING}, environ=_TENSORFLOW,
        finds=("tensorflow-twice",), picks=("tpu on tensorflow", "tensorflow", 1),
    ),
    "colab v5e-1, keras on jax beside tensorflow-tpu": _V5E.but(
        packages=_FITTING, environ=_JAX, finds=("jax-libtpu-too-old",), picks=_ON_CPU_WITH_JAX
    ),
    "colab v5e-1, no libtpu": _V5E.but(
        packages={"libtpu": None}, environ=_JAX, finds=("jax-without-libtpu",),
        picks=_ON_CPU_WITH_JAX,
    ),
    "colab v5e-1, jax kept off": _V5E.but(
        environ={**_JAX, "JAX_PLATFORMS": "cpu"}, finds=("jax-platforms",), picks=_ON_CPU_WITH_JAX
    ),
    "colab v5e-1, held by another": _V5E.but(
        environ=_JAX, finds=("tpu-in-use",),
        links={"proc/4711/fd/3": "/dev/null", "proc/4711/fd/7": "/dev/vfio/0"},
    ),
    "colab, claimed tpu": _CLAIMED,
    "colab, claimed tpu and more": _CLAIMED.but(
        environ={"KERAS_BACKEND": "theano", "TPU_NAME": "my-tpu"},
        finds=("tpu-claimed", "keras-backend-unknown", "tpu-name"),
    ),
    "colab, a driver that does not answer": _COLAB_CPU.but(
        files={"dev/nvidiactl": ""}, finds=("gpu-silent",)
    ),
    "colab t4, only in the driver's list": _COLAB_T4.but(
        files=LISTED, smi=None, finds=("gpu-by-list",)
    ),
    "a container that was given no gpu": _LAPTOP.but(
        files={"proc/driver/nvidia/version": NVIDIA, **LISTED}, finds=("gpu-not-handed-over",)
    ),
    "colab t4, hidden": _COLAB_T4.but(
        environ={"CUDA_VISIBLE_DEVICES": "-1"}, finds=("cuda-hidden",),
        picks=("cpu", "tensorflow", 1),
    ),
    "colab t4, a tensorflow for cpus": _COLAB_T4.but(
        packages={"tensorflow": None, "tensorflow-cpu": "2.21.0"},
        finds=("tensorflow-cpu-build",), picks=("one gpu", "jax", 1),
    ),
    "colab t4, nothing for gpus": _COLAB_T4.but(
        packages={"tensorflow": None, "tensorflow-cpu": "2.21.0", "jax-cuda12-plugin": None},
        finds=("tensorflow-cpu-build",), picks=("cpu", "tensorflow", 1),
    ),
    "colab t4, jax without its plugin": _COLAB_T4.but(
        packages={"jax-cuda12-plugin": None}, environ=_JAX, finds=("jax-without-cuda",),
        picks=_ON_CPU_WITH_JAX,
    ),
    "colab t4, jax kept off": _COLAB_T4.but(
        environ={**_JAX, "JAX_PLATFORMS": "cpu"}, finds=("jax-platforms",), picks=_ON_CPU_WITH_JAX
    ),
    "laptop, a gpu without its libraries": _LAPTOP_GPU.but(
        packages={"nvidia-cudnn-cu12": None}, finds=("cuda-libraries-missing",)
    ),
    "laptop, nothing": Machine(finds=("framework-missing",)),
    "laptop, a backend that nobody knows": _LAPTOP.but(
        environ={"KERAS_BACKEND": "theano"}, finds=("keras-backend-unknown",)
    ),
    "laptop, a backend that is not there": _LAPTOP.but(
        environ={"KERAS_BACKEND": "torch"}, finds=("keras-backend-not-installed",)
    ),
    "laptop, a tensorflow for tpus": _LAPTOP.but(
        packages={"tensorflow": None, "tensorflow-tpu": "2.20.0", "libtpu": "0.0.51"},
        finds=("tensorflow-tpu-without-tpu",), picks=_ON_CPU_WITH_JAX,
    ),
    "laptop, an old address": _LAPTOP.but(
        environ={"COLAB_TPU_ADDR": "10.0.0.2:8470"}, finds=("old-tpu-node",)
    ),
    "laptop, an old name": _LAPTOP.but(environ={"TPU_NAME": "my-tpu"}, finds=("tpu-name",)),
    # Until 2024: TensorFlow on one machine, the TPU on another.
    "old tpu node": Machine(
        {
            **RELEASE,
            "COLAB_TPU_ADDR": "10.255.255.1:8470",
            "TPU_NAME": "grpc://10.255.255.1:8470",
        }, {}, None, {"tensorflow": "2.12.0", "keras": "2.12.0", "numpy": "1.23.5"},
        ("no-accelerator-colab", "old-tpu-node", "grpc-address"),
    ),
}  # fmt: skip


MACHINES = HEALTHY | FAULTY
