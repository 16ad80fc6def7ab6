"""The facts of a machine: its place, its device, its packages and what its environment asks for."""

import functools
import importlib.metadata
import os
import platform
import re
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from types import ModuleType

from accel_helpers._values import records
from accel_helpers.machine import attached

# The distributions that install the module tensorflow. The other packages that are looked for have
# the names of their modules.
TENSORFLOWS = ("tensorflow", "tensorflow-cpu", "tensorflow-tpu", "tensorflow-macos", "tf-nightly")
PACKAGES = (
    "keras", "jax", "jaxlib", "libtpu", "torch", "numpy", "matplotlib", "ipywidgets", "IPython",
)  # fmt: skip
# The frameworks with which `strategy.pick` can train.
STRATEGIES_KNOW = ("tensorflow", "jax")
#: The frameworks that Keras runs on, and how their names are written.
SPOKEN = {"tensorflow": "TensorFlow", "jax": "JAX", "torch": "PyTorch"}
# Colab's name of a chip in a notebook's metadata -> a part of the chip's usual name. Other names of
# Colab's, such as "T4", are themselves a part of the usual name.
_CHIPS = {"V28": "TPU v2", "V5E1": "TPU v5e", "V6E1": "TPU v6e", "G4": "RTX PRO 6000"}
# The device files of a TPU: "/dev/accel0" or "/dev/vfio/0".
_TPU_FILE = re.compile(r"/dev/(accel\d|vfio/\d)")
_DATA = Path(__file__).parents[1] / "data"


@functools.cache
def tables(name: str) -> dict:
    """Return the plain tables of a TOML file of the package's data, such as "faults.toml".

    Raises DataError (a ValueError) where the file is not there or is no TOML.
    """
    return records.load(_DATA / name, "list of faults")


#: For each place ("colab", "kaggle", "local"): what it calls its restart, its accelerators, and the
#: way back to its own packages.
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
    """Return where a machine is ("kaggle", "colab" or "local"), and its release.

    The release is the tag of Colab's image, or "Colab Enterprise"; None on Kaggle and on a local
    machine.
    """
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

    A *place* is where the machine stands: Colab, Kaggle, or a computer of one's own. The *device*
    is its accelerator: its GPUs or TPU chips of one type. A *framework* is what Keras runs on:
    TensorFlow, JAX or PyTorch. The sentences of ``data/faults.toml`` name the attributes.

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
        loaded: Mapping[str, ModuleType] | None = None,
        page: Mapping | None = None,
        used: tuple[str, ...] = (),
    ):
        self.environ = os.environ if environ is None else environ
        self.root = Path(root)
        self.run = run or attached.run_command
        # The name of a distribution -> its installed version, or None.
        self.versions = versions or installed
        self.loaded = sys.modules if loaded is None else loaded
        self.page = page
        self.used = used
        # Such as "Linux x86_64".
        system = platform.system().replace("Darwin", "macOS")
        self.system = f"{system} {platform.machine()}".strip()
        self.place, self.release = place(self.environ)
        # What this place calls its restart, its accelerators, ...
        self.place_words = PLACES[self.place]
        self._look_at_device()
        self._look_at_packages()
        self._look_at_environment()

    def _look_at_device(self) -> None:
        """Set what is attached: `seen` (the search's result), `device`, `kind` and its name."""
        self.seen = attached.look(self.root, self.environ, self.run)
        self.device = self.seen.device
        self.kind = "none"  # or "GPU", "TPU"
        self.device_text = "only a CPU"
        if self.device:
            self.kind = self.device.kind
            self.device_text = self.device.name

    def _look_at_packages(self) -> None:
        """Set which packages are installed, and what follows for TensorFlow on a TPU."""
        # Package -> version; all distributions of TensorFlow are "tensorflow" here.
        self.frameworks: dict[str, str] = {}
        # Distribution of TensorFlow -> version.
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
        # The installed frameworks that Keras runs on, TensorFlow first, and as words.
        self.backends = [name for name in SPOKEN if name in self.frameworks]
        self.installed = ", ".join(self.backends) or "nothing yet"
        # The installed distributions of TensorFlow, with a blank between two of them.
        self.builds = " ".join(name for name in tensorflows if name != "tensorflow-macos")
        # The version of tensorflow-tpu; empty where it is not installed.
        self.for_tpus = tensorflows.get("tensorflow-tpu", "")
        # The version of libtpu.
        self.libtpu = self.frameworks.get("libtpu", "missing")
        recipe_versions = (RECIPE["tensorflow_tpu"], RECIPE["libtpu"])
        self.tensorflow_drives_tpu = (self.for_tpus, self.libtpu) == recipe_versions

    def _look_at_environment(self) -> None:
        """Set what variables ask for: a framework (`asked`), and a TPU elsewhere (`tpu_name`)."""
        self.asked = self.environ.get("KERAS_BACKEND", "")
        self.tpu_name = self.environ.get("TPU_NAME", "").strip()
        # "local" is a TPU of this machine; any other name is that of a TPU elsewhere.
        if self.tpu_name == "local":
            self.tpu_name = ""

    @property
    def keras_on(self) -> str:
        """The framework under a loaded Keras, such as "jax"; empty where Keras is not loaded."""
        try:
            return str(self.loaded["keras"].backend.backend())
        except Exception:  # not loaded, loaded by half, or a module of another kind by that name
            return ""

    @functools.cached_property
    def ordered(self) -> str:
        """The accelerator that the notebook asks Colab for; empty where it asks for none.

        A chip, such as "T4" or "TPU v5e", or only "GPU" or "TPU".
        """
        page = self.page
        if page is None and self.place == "colab" and "google.colab" in self.loaded:
            page = attached.page_metadata()
        if not page:
            return ""
        accelerator = page.get("accelerator")
        if accelerator not in ("GPU", "TPU"):
            return ""
        # A TPU's type is under this key, too.
        chip = page.get("colab", {}).get("gpuType") or accelerator
        return _CHIPS.get(chip, chip)

    @functools.cached_property
    def by_amd(self) -> bool:
        """Whether AMD made the processor."""
        return "AuthenticAMD" in attached.read(self.root / "proc/cpuinfo")

    @property
    def visible_gpus(self) -> int:
        """How many GPUs a framework may use: those that CUDA_VISIBLE_DEVICES leaves visible.

        Without the variable it is all GPUs; 0 where no GPU is attached. As in CUDA, only the
        entries before the first wrong one count: of two GPUs "1,0" leaves two, and "0,7,1" one.
        """
        gpu_count = 0
        if self.device and self.kind == "GPU":
            gpu_count = self.device.count
        setting = self.environ.get("CUDA_VISIBLE_DEVICES")
        if setting is None:
            return gpu_count
        visible_entries: set[str] = set()
        # https://docs.nvidia.com/cuda/cuda-c-programming-guide/#cuda-environment-variables
        for entry in setting.split(","):
            entry = entry.strip()
            if entry in visible_entries or not _names_gpu(entry, gpu_count):
                break
            visible_entries.add(entry)
        return min(len(visible_entries), gpu_count)

    @functools.cached_property
    def holder(self) -> str:
        """The id of another process that has a TPU's device file open; empty without one."""
        own_id = str(os.getpid())
        for process_folder in attached.files(self.root, "proc/[0-9]*"):
            if process_folder.name != own_id and _holds_tpu(process_folder):
                return process_folder.name
        return ""


def _names_gpu(entry: str, gpu_count: int) -> bool:
    """Return whether an entry of CUDA_VISIBLE_DEVICES names one of a machine's GPUs.

    Of four GPUs: "0", "3" and "GPU-8932f937-d72c" do; "4", "-1" and "" do not.
    """
    if entry.startswith(("GPU-", "MIG-")):
        return True
    # A digit of another script is decimal for Python, and not for CUDA.
    is_number = entry.isascii() and entry.isdecimal()
    return is_number and int(entry) < gpu_count


def _holds_tpu(process_folder: Path) -> bool:
    """Return whether a process has a TPU's device file open, by its folder, such as /proc/812.

    False, too, where the open files of the process cannot be listed.
    """
    with suppress(OSError):  # it ended meanwhile, or belongs to somebody else
        targets = [os.readlink(link.path) for link in os.scandir(process_folder / "fd")]
        return any(_TPU_FILE.match(target) for target in targets)
    return False
