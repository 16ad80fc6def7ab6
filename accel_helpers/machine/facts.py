"""The facts of a machine: its place, its device, its packages and what its environment asks for."""

import functools
import importlib.metadata
import os
import platform
import re
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from importlib import resources
from pathlib import Path

from accel_helpers._values import records
from accel_helpers.machine import attached

# All of these install one module; the other packages that are looked for are named as modules are.
TENSORFLOWS = ("tensorflow", "tensorflow-cpu", "tensorflow-tpu", "tensorflow-macos", "tf-nightly")
PACKAGES = (
    "keras", "jax", "jaxlib", "libtpu", "torch", "numpy", "matplotlib", "ipywidgets", "IPython",
)  # fmt: skip
STRATEGIES_KNOW = ("tensorflow", "jax")
#: The frameworks that Keras runs on, and how their names are written.
SPOKEN = {"tensorflow": "TensorFlow", "jax": "JAX", "torch": "PyTorch"}
# What Colab's metadata calls a chip whose name does not have it.
_CHIPS = {"V28": "TPU v2", "V5E1": "TPU v5e", "V6E1": "TPU v6e", "G4": "RTX PRO 6000"}
# The device files of a TPU, under /dev.
_TPU_FILE = re.compile(r"/dev/(accel\d|vfio/\d)")


@functools.cache
def tables(name: str) -> dict:
    """Return the plain tables of a TOML file of the package's data."""
    return records.load(resources.files("accel_helpers") / "data" / name, "list of faults")


#: What a place calls its restart, its accelerators, and the way back to its own packages.
PLACES: dict[str, dict[str, str]] = tables("faults.toml")["place"]
#: How TensorFlow could drive a TPU; nobody of this course has seen it do so.
RECIPE = tables("tpu_recipe.toml")


def installed(distribution: str) -> str | None:
    """Return the installed version of a distribution, or None; nothing is imported."""
    try:
        return importlib.metadata.version(distribution)
    except (ImportError, KeyError, OSError, ValueError):  # not there, or its metadata is broken
        return None


def place(environ: Mapping[str, str]) -> tuple[str, str | None]:
    """Return where a machine is ("kaggle", "colab" or "local"), and its release if it has one."""
    # Kaggle first: its image may be built on Colab's and carry Colab's variables.
    if environ.get("KAGGLE_KERNEL_RUN_TYPE"):
        return "kaggle", None
    release = environ.get("COLAB_RELEASE_TAG")
    if release:
        return "colab", release
    if environ.get("VERTEX_PRODUCT") == "COLAB_ENTERPRISE":
        return "colab", "Colab Enterprise"
    return "local", None


class Machine:
    """What a machine is, without any decision about it.

    Parameters
    ----------
    environ, root, run, versions : optional
        A recorded machine, as for `runtime.describe`; by default this one.
    loaded : mapping of str to module, optional
        The modules that were imported; by default those of this process.
    page : mapping, optional
        The metadata of its notebook; by default Colab is asked for it.
    used : tuple of str
        The kinds of devices on which Keras trained.
    """

    def __init__(
        self,
        environ: Mapping[str, str] | None = None,
        root: str | Path = "/",
        run: attached.Run | None = None,
        versions: Callable[[str], str | None] | None = None,
        loaded: Mapping | None = None,
        page: Mapping | None = None,
        used: tuple[str, ...] = (),
    ):
        self.environ = os.environ if environ is None else environ
        self.root = Path(root)
        self.run = run or attached.run_command
        self.versions = versions or installed
        self.loaded = sys.modules if loaded is None else loaded
        self.page = page
        self.used = used
        system = platform.system().replace("Darwin", "macOS")
        self.system = f"{system} {platform.machine()}".strip()
        self.place, self.release = place(self.environ)
        self.here = PLACES[self.place]
        self._look_at_device()
        self._look_at_packages()
        self._look_at_environment()

    def _look_at_device(self) -> None:
        self.seen = attached.look(self.root, self.environ, self.run)
        self.device = self.seen.device
        self.kind = "none"
        self.got = "only a CPU"
        if self.device:
            self.kind = self.device.kind
            self.got = self.device.name

    def _look_at_packages(self) -> None:
        self.frameworks: dict[str, str] = {}
        tensorflows: dict[str, str] = {}
        for name in TENSORFLOWS:
            version = self.versions(name)
            if version:
                tensorflows[name] = version
                # The first of them is the one that the facts name.
                self.frameworks.setdefault("tensorflow", version)
        for name in PACKAGES:
            version = self.versions(name.lower())
            if version:
                self.frameworks[name] = version
        self.backends = [name for name in SPOKEN if name in self.frameworks]
        self.installed = ", ".join(self.backends) or "nothing yet"
        self.builds = " ".join(name for name in tensorflows if name != "tensorflow-macos")
        self.for_tpus = tensorflows.get("tensorflow-tpu", "")
        self.libtpu = self.frameworks.get("libtpu", "missing")
        recipe_versions = (RECIPE["tensorflow_tpu"], RECIPE["libtpu"])
        self.tensorflow_drives_tpu = (self.for_tpus, self.libtpu) == recipe_versions

    def _look_at_environment(self) -> None:
        # The framework that it asks for.
        self.asked = self.environ.get("KERAS_BACKEND", "")
        self.tpu_name = self.environ.get("TPU_NAME", "").strip()
        # "local" is a TPU of this machine; any other name is that of a TPU elsewhere.
        if self.tpu_name == "local":
            self.tpu_name = ""

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
        page = self.page
        if page is None and self.place == "colab" and "google.colab" in self.loaded:
            page = attached.page_metadata()
        if not page:
            return ""
        accelerator = page.get("accelerator")
        if accelerator not in ("GPU", "TPU"):
            return ""
        chip = page.get("colab", {}).get("gpuType") or accelerator
        return _CHIPS.get(chip, chip)

    @functools.cached_property
    def by_amd(self) -> bool:
        """Whether AMD made the processor."""
        return "AuthenticAMD" in attached.read(self.root / "proc/cpuinfo")

    @property
    def visible_gpus(self) -> int:
        """How many GPUs CUDA_VISIBLE_DEVICES leaves; it counts up to the first that names none."""
        count = 0
        if self.device and self.kind == "GPU":
            count = self.device.count
        setting = self.environ.get("CUDA_VISIBLE_DEVICES")
        if setting is None:
            return count
        visible: set[str] = set()
        # https://docs.nvidia.com/cuda/cuda-c-programming-guide/#cuda-environment-variables
        for entry in setting.split(","):
            entry = entry.strip()
            if entry in visible or not _names_gpu(entry, count):
                break
            visible.add(entry)
        return min(len(visible), count)

    @functools.cached_property
    def holder(self) -> str:
        """The number of another process that has a TPU's device file open."""
        own_number = str(os.getpid())
        for process in attached.files(self.root, "proc/[0-9]*"):
            if process.name != own_number and _holds_tpu(process):
                return process.name
        return ""


def _names_gpu(entry: str, count: int) -> bool:
    """Return whether an entry of CUDA_VISIBLE_DEVICES names one of `count` GPUs."""
    if entry.startswith(("GPU-", "MIG-")):
        return True
    # A digit of another script is decimal for Python, and not for CUDA.
    is_number = entry.isascii() and entry.isdecimal()
    return is_number and int(entry) < count


def _holds_tpu(process: Path) -> bool:
    """Return whether a process, a folder of /proc, has a TPU's device file open."""
    with suppress(OSError):  # it ended meanwhile, or belongs to somebody else
        targets = [os.readlink(link.path) for link in os.scandir(process / "fd")]
        return any(_TPU_FILE.match(target) for target in targets)
    return False
