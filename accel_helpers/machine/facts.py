"""The facts of a machine: its place, its device, its packages and what its environment asks for."""

import functools
import importlib.metadata
import os
import sys
from collections.abc import Callable, Mapping, MutableMapping
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import takewhile
from pathlib import Path
from types import ModuleType

from accel_helpers._values import records
from accel_helpers.machine import attached

# The distributions that are looked for -> the package that each of them installs.
PACKAGES = {
    "tensorflow": "tensorflow",
    "tensorflow-cpu": "tensorflow",
    "tensorflow-tpu": "tensorflow",
    "tensorflow-rocm": "tensorflow",
    "tf-nightly": "tensorflow",
    "keras": "keras",
    "keras-nightly": "keras",
    "jax": "jax",
    "jaxlib": "jaxlib",
    "libtpu": "libtpu",
    "torch": "torch",
    "numpy": "numpy",
    "matplotlib": "matplotlib",
    "ipywidgets": "ipywidgets",
    "ipython": "IPython",
}
#: The frameworks that Keras runs on, and how their names are written.
SPOKEN = {"tensorflow": "TensorFlow", "jax": "JAX", "torch": "PyTorch"}
# Colab's name of a chip in a notebook's metadata -> a part of the chip's usual name. Other names of
# Colab's, such as "T4", are themselves a part of the usual name.
_CHIPS = {"V28": "TPU v2", "V5E1": "TPU v5e", "V6E1": "TPU v6e", "G4": "RTX PRO 6000"}


@functools.cache
def tables(name: str) -> dict:
    """Return the tables of a TOML file of the package's data, such as "faults.toml"."""
    return records.load(Path(__file__).parents[1] / "data" / name, "table")


#: For each place ("colab", "kaggle", "local"): what it calls its restart, its accelerators, ...
PLACES: dict[str, dict[str, str]] = tables("faults.toml")["place"]
#: How TensorFlow could drive a TPU; nobody of this course has seen it do so.
RECIPE = tables("tpu_recipe.toml")


def installed(distribution: str) -> str | None:
    """Return the installed version of a distribution, or None; nothing is imported."""
    with suppress(ImportError, KeyError):  # not there, or its metadata is broken
        return importlib.metadata.version(distribution)
    return None


def place(environ: Mapping[str, str]) -> str:
    """Return where a machine is: "kaggle", "colab" or "local"."""
    # Kaggle first: its image may be built on Colab's and carry Colab's variables.
    if environ.get("KAGGLE_KERNEL_RUN_TYPE"):
        return "kaggle"
    if environ.get("COLAB_RELEASE_TAG"):
        return "colab"
    return "local"


@functools.cache
def page_metadata() -> Mapping:
    """Return the metadata of the notebook that runs here, as Colab's page has it; empty elsewhere.

    Colab is asked once in a process, which takes up to three seconds.
    """
    # In a process beside the notebook's there is nobody to ask.
    if "google.colab" not in sys.modules:
        return {}
    # As Colab's own tools ask; Colab promises nothing.
    try:
        from google.colab import _message

        return _message.blocking_request("get_ipynb", timeout_sec=3)["ipynb"]["metadata"]
    except Exception:
        return {}


@dataclass(eq=False)
class Facts:
    """What a machine is, without any decision about it; the sentences of ``faults.toml`` name it.

    What is handed in is a recorded machine; without, it is this one.
    """

    environ: MutableMapping[str, str] = field(default_factory=lambda: os.environ)
    root: Path = Path("/")
    run: attached.Run = attached.run_command
    versions: Callable[[str], str | None] = installed
    loaded: Mapping[str, ModuleType] = field(default_factory=lambda: sys.modules)
    page: Mapping = field(default_factory=page_metadata)
    used: tuple[str, ...] = ()  # the kinds of devices on which Keras trained

    def __post_init__(self) -> None:
        self.root = Path(self.root)
        self.place = place(self.environ)
        # What this place calls its restart, its accelerators, ...
        self.place_words = PLACES[self.place]
        # What KERAS_BACKEND asks for.
        self.asked = self.environ.get("KERAS_BACKEND", "")
        # The framework under a loaded Keras, whose name a file of one's own may have, too.
        self.keras_on = ""
        with suppress(KeyError, AttributeError):
            self.keras_on = self.loaded["keras"].backend.backend()
        # Package -> version. Of several distributions that install it, the first counts.
        self.frameworks: dict[str, str] = {}
        tensorflows = []
        for distribution, package in PACKAGES.items():
            version = self.versions(distribution)
            if version:
                self.frameworks.setdefault(package, version)
                if package == "tensorflow":
                    tensorflows.append(distribution)
        self.builds = " ".join(tensorflows)
        # Those that Keras runs on, TensorFlow first.
        self.backends = [name for name in SPOKEN if name in self.frameworks]
        self.device = attached.find_tpu(self.root) or attached.find_gpu(self.run)
        self.kind = self.device.kind if self.device else "none"
        self.device_text = str(self.device or "only a CPU")
        # NVIDIA's driver is there, and nvidia-smi does not answer.
        driver = attached.files(self.root, "proc/driver/nvidia/version")
        driver += attached.files(self.root, "dev/nvidia*")
        self.is_silent = bool(driver) and self.kind == "none"
        self.cpu_name = attached.find_cpu(self.root, self.run)
        # A GPU that neither TensorFlow nor JAX can use as they come.
        self.other_gpu = attached.find_other_gpu(self.root, self.cpu_name)

    @property
    def bound(self) -> str:
        """The framework to which Keras is bound: it is loaded on it, or a variable asks for it."""
        return self.keras_on or self.asked

    @property
    def ordered(self) -> str:
        """The accelerator that the notebook asks Colab for, such as "T4" or "GPU"; or empty."""
        accelerator = self.page.get("accelerator")
        if accelerator not in ("GPU", "TPU"):
            return ""
        # A TPU's type is under this key, too.
        chip = self.page.get("colab", {}).get("gpuType", accelerator)
        return _CHIPS.get(chip, chip)

    @property
    def visible_gpus(self) -> int:
        """How many of the attached GPUs CUDA_VISIBLE_DEVICES leaves visible.

        As in CUDA, only the entries before the first wrong one count: of two GPUs "1,0" leaves
        two, and "0,7,1" one.
        """
        count = self.device.count if self.device else 0
        numbers = [str(number) for number in range(count)]
        setting = self.environ.get("CUDA_VISIBLE_DEVICES", ",".join(numbers))
        entries = [entry.strip() for entry in setting.split(",")]
        # https://docs.nvidia.com/cuda/cuda-c-programming-guide/#cuda-environment-variables
        visible = takewhile(lambda e: e in numbers or e.startswith(("GPU-", "MIG-")), entries)
        return len(list(visible))
