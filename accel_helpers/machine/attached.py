"""Which GPU or TPU is attached, as files under /proc, /sys and /dev and nvidia-smi tell.

Nothing here raises: a file that cannot be read counts as an empty one. Every `root` is the folder
that has ``proc``, ``sys`` and ``dev`` in it: "/", or the folder of a recorded machine.
"""

import functools
import glob
import importlib
import re
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from accel_helpers._values import probe

NVIDIA_SMI_SECONDS = 3.0  # a broken driver can make nvidia-smi hang
GIB = 2**30

# The PCI number of the maker, and that of each of its TPUs.
# Source: jax/_src/hardware_utils.py in JAX 0.10.2. TPU v2 and v3 share an id.
_GOOGLE = "0x1ae0"
_TPU_DEVICES = {
    "0x0027": "TPU v2 or v3",
    "0x005e": "TPU v4",
    "0x0062": "TPU v5p",
    "0x0063": "TPU v5e",
    "0x006f": "TPU v6e",
    "0x0076": "TPU v7",
}
# A PCI class is written as "0x020000". Google's disks (class 01) and network cards (class 02) for
# virtual machines are no TPUs.
_NOT_TPU_CLASSES = ("0x01", "0x02")
# It answers with a line for each GPU, its memory in MiB: "Tesla T4, 15360, 535.104.05".
_QUERY = ["nvidia-smi", "--query-gpu=name,memory.total,driver_version",
          "--format=csv,noheader,nounits"]  # fmt: skip
# In "NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.104.05  Sat Aug 19 01:15:15 UTC 2023";
# the open driver writes "Kernel Module for x86_64  535.104.05".
_DRIVER_VERSION = re.compile(r"Kernel Module\s+(?:for \S+\s+)?(?P<number>[\d.]+)")
# A type of TPU as an environment variable names it, such as "v5e-1".
_TPU_TYPE = re.compile(r"v\d\w{0,9}-\d{1,4}")

# Runs a command within a number of seconds and returns its output, empty where it fails.
Run = Callable[[list[str], float], str]


@dataclass(frozen=True)
class Attached:
    """GPUs or TPU chips of one type: how many, and the memory of one of them where it is known."""

    kind: str  # "GPU" or "TPU"
    name: str
    count: int
    memory_bytes: int | None = None
    driver: str | None = None  # the version of NVIDIA's driver

    def __str__(self) -> str:
        """Return a text such as "GPU, 2 x Tesla T4, 15.0 GiB memory each"."""
        text = self.name
        if self.count > 1:
            text = f"{self.count} x {text}"
        # A TPU's name begins with its kind.
        if not self.name.startswith(self.kind):
            text = f"{self.kind}, {text}"
        if self.memory_bytes:
            text += f", {self.memory_bytes / GIB:.1f} GiB memory"
        if self.memory_bytes and self.count > 1:
            text += " each"
        return text


@dataclass(frozen=True)
class DeviceSearch:
    """What a search for a TPU or a GPU found; without arguments: nothing."""

    device: Attached | None = None
    silent: bool = False  # there is an NVIDIA driver, and nvidia-smi did not answer
    not_given: str = ""  # the model of a GPU that the driver lists and this machine may not use
    # What the environment says of a TPU that is not there, such as " (v5e-1)". An empty string: it
    # claims a TPU in words that are not repeated. None: it claims no TPU.
    claim: str | None = None


def look(root: Path, environ: Mapping[str, str], run: Run) -> DeviceSearch:
    """Search the machine for a TPU and, where it has none, for NVIDIA GPUs.

    Returns the devices that were found. Where no TPU was found and a variable in `environ` claims
    one, the result's `claim` is set, too. `run` starts nvidia-smi.
    """
    tpu = _tpu(root)
    if tpu:
        return DeviceSearch(tpu)
    search = _gpu(root, run)
    # The variable exists on every Colab runtime and is empty where there is no TPU.
    claim = environ.get("TPU_ACCELERATOR_TYPE") or environ.get("COLAB_TPU_1VM")
    if not claim:
        return search
    # What is not the type of a TPU is not repeated to the reader.
    is_type = _TPU_TYPE.fullmatch(claim)
    return replace(search, claim=f" ({claim})" if is_type else "")


def _tpu(root: Path) -> Attached | None:
    """Return the TPU chips on the PCI bus; None where there are none.

    Where there are several types, only the one with the most chips is returned.
    """
    device_ids = []
    for folder in files(root, "sys/bus/pci/devices/*"):
        if read(folder / "vendor").strip() != _GOOGLE:
            continue
        device_id = read(folder / "device").strip()
        is_disk_or_network = read(folder / "class").startswith(_NOT_TPU_CLASSES)
        # An unknown device of Google's counts as a TPU that is newer than the table.
        if device_id in _TPU_DEVICES or not is_disk_or_network:
            device_ids.append(device_id)
    if not device_ids:
        return None
    device_id, count = Counter(device_ids).most_common(1)[0]
    name = _TPU_DEVICES.get(device_id, "TPU of unknown type")
    return Attached("TPU", name, count)


def _gpu(root: Path, run: Run) -> DeviceSearch:
    """Return the GPUs that nvidia-smi lists or, where it does not answer, the driver's files.

    Without an NVIDIA driver nvidia-smi is not started, and nothing is found.
    """
    version_text = read(root / "proc/driver/nvidia/version")
    device_files = {file.name for file in files(root, "dev/nvidia*")}
    has_driver = bool(version_text or device_files)
    # Under Windows' WSL the driver has no file but the one that all GPUs share.
    is_on_windows = (root / "dev/dxg").exists()
    if not has_driver and not is_on_windows:
        return DeviceSearch()
    answer = run(_QUERY, NVIDIA_SMI_SECONDS)
    device = _gpu_of_nvidia_smi(answer)
    if device:
        return DeviceSearch(device)
    if not has_driver:
        return DeviceSearch()
    return _gpu_of_the_driver(root, version_text, device_files)


def _gpu_of_nvidia_smi(answer: str) -> Attached | None:
    """Return the GPUs in nvidia-smi's answer; None where it lists none, as in an error message.

    "Tesla T4, 15360, 535.104.05" -> Attached("GPU", "Tesla T4", 1, 15360 * 2**20, "535.104.05").
    GPUs of another model than the first are not counted.
    """
    rows = []
    for line in answer.splitlines():
        # From the right: a name may have a comma in it.
        cells = [cell.strip() for cell in line.rsplit(",", 2)]
        if len(cells) != 3:
            continue
        # An error message can come with commas, too. A size is a number of MiB, or "[N/A]" where
        # the memory is shared.
        size_text = cells[1]
        if size_text.isdecimal() or size_text.startswith("["):
            rows.append(cells)
    if not rows:
        return None
    name, size_text, driver = rows[0]
    memory_bytes = None
    if size_text.isdecimal():
        memory_bytes = int(size_text) * 2**20
    count = sum(row[0] == name for row in rows)
    return Attached("GPU", name, count, memory_bytes, driver)


def _gpu_of_the_driver(root: Path, version_text: str, device_files: set[str]) -> DeviceSearch:
    """Return the GPUs that the driver's own list has and that this machine may use.

    The list has every GPU of the host. A container may use only those with a device file, such as
    "nvidia0", in `device_files`, the names under /dev; the model of the first of the others is
    returned as `not_given` where it may use none. `version_text` is what /proc says of the driver.
    """
    models = []
    missing_models = []
    for folder in files(root, "proc/driver/nvidia/gpus/*"):
        information = read(folder / "information")
        model = field(information, "Model") or "NVIDIA GPU of unknown type"
        minor = field(information, "Device Minor")
        # Where the driver tells no number, the file that all GPUs share must do.
        device_file = f"nvidia{minor}" if minor else "nvidiactl"
        if device_file in device_files:
            models.append(model)
        else:
            missing_models.append(model)
    if not models:
        return DeviceSearch(silent=True, not_given=missing_models[0] if missing_models else "")
    name, count = Counter(models).most_common(1)[0]
    version = _DRIVER_VERSION.search(version_text)
    driver = version["number"] if version else None
    return DeviceSearch(Attached("GPU", name, count, None, driver), silent=True)


def run_command(command: list[str], seconds: float) -> str:
    """Return what a command writes; empty where it fails or is not done after some seconds."""
    outcome = probe.run_command(command, seconds=seconds)
    if outcome.kind != "finished":
        return ""
    return outcome.output


@functools.cache
def page_metadata() -> Mapping:
    """Return the metadata of the notebook that runs here, as Colab's page has it; empty elsewhere.

    Colab is asked once in a process, which takes up to three seconds.
    """
    # As Colab's own tools ask; Colab promises nothing.
    try:
        message = importlib.import_module("google.colab._message")
        return message.blocking_request("get_ipynb", timeout_sec=3)["ipynb"]["metadata"]
    except Exception:
        return {}


def read(path: Path) -> str:
    """Return the text of a file; empty where it cannot be read."""
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


def files(root: Path, pattern: str) -> list[Path]:
    """Return the files under a folder that fit a pattern, such as "dev/nvidia*", sorted by path.

    The list is empty where the folder cannot be read.
    """
    return sorted(root / name for name in glob.glob(pattern, root_dir=root))


def field(text: str, label: str) -> str | None:
    """Return the value in the first line ``label : value`` of a text; None where there is none.

    ("MemTotal:  13290480 kB", "MemTotal") -> "13290480 kB". `label` is put into a regular
    expression as it is.
    """
    line = re.search(rf"^{label}[ \t]*:[ \t]*(\S.*?)[ \t]*$", text, re.MULTILINE)
    if line is None:
        return None
    return line[1]
