"""Which GPU or TPU is attached, as files under /proc, /sys and /dev and nvidia-smi tell."""

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
# Google's disks (class 01) and network cards (class 02) for virtual machines are no TPUs.
_NOT_TPU_CLASSES = ("0x01", "0x02")
_QUERY = ["nvidia-smi", "--query-gpu=name,memory.total,driver_version",
          "--format=csv,noheader,nounits"]  # fmt: skip

Run = Callable[[list[str], float], str]


@dataclass(frozen=True)
class Attached:
    """GPUs or TPU chips of one type: how many, and the memory of one of them where it is known."""

    kind: str
    name: str
    count: int
    memory_bytes: int | None = None
    driver: str | None = None

    def __str__(self) -> str:
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
class Seen:
    """What a look at the devices gave."""

    device: Attached | None = None
    silent: bool = False  # there is an NVIDIA driver, and nvidia-smi did not answer
    not_given: str = ""  # a GPU that the driver lists and that this machine was not given
    claim: str | None = None  # what the environment says of a TPU that is not there


def look(root: Path, environ: Mapping[str, str], run: Run) -> Seen:
    """Look for a TPU, then for GPUs."""
    tpu = _tpu(root)
    if tpu:
        return Seen(tpu)
    seen = _gpu(root, run)
    # The variable exists on every Colab runtime and is empty where there is no TPU.
    claim = environ.get("TPU_ACCELERATOR_TYPE") or environ.get("COLAB_TPU_1VM")
    if not claim:
        return seen
    # Such as "v5e-1"; anything else is not repeated.
    is_type = re.fullmatch(r"v\d\w{0,9}-\d{1,4}", claim)
    return replace(seen, claim=f" ({claim})" if is_type else "")


def _tpu(root: Path) -> Attached | None:
    """Find the TPU chips among the devices on the PCI bus."""
    device_ids = []
    for folder in files(root, "sys/bus/pci/devices/*"):
        if read(folder / "vendor").strip() != _GOOGLE:
            continue
        device_id = read(folder / "device").strip()
        is_other_device = read(folder / "class").startswith(_NOT_TPU_CLASSES)
        if device_id in _TPU_DEVICES or not is_other_device:
            device_ids.append(device_id)
    if not device_ids:
        return None
    device_id, count = Counter(device_ids).most_common(1)[0]
    name = _TPU_DEVICES.get(device_id, "TPU of unknown type")
    return Attached("TPU", name, count)


def _gpu(root: Path, run: Run) -> Seen:
    """Ask nvidia-smi for GPUs where there is a driver, and its files where it does not answer."""
    version = read(root / "proc/driver/nvidia/version")
    nodes = {node.name for node in files(root, "dev/nvidia*")}
    has_driver = bool(version or nodes)
    # Under Windows' WSL the driver has no file but the one that all GPUs share.
    is_on_windows = (root / "dev/dxg").exists()
    if not has_driver and not is_on_windows:
        return Seen()
    answer = run(_QUERY, NVIDIA_SMI_SECONDS)
    device = _gpu_of_nvidia_smi(answer)
    if device:
        return Seen(device)
    if not has_driver:
        return Seen()
    return _gpu_of_the_driver(root, version, nodes)


def _gpu_of_nvidia_smi(answer: str) -> Attached | None:
    """Read nvidia-smi's table; GPUs of another model than the first are not counted."""
    rows = []
    for line in answer.splitlines():
        cells = [cell.strip() for cell in line.rsplit(",", 2)]
        if len(cells) != 3:
            continue
        # An error message can come with commas, too. A size is a number, or "[N/A]" where the
        # memory is shared.
        memory = cells[1]
        if memory.isdecimal() or memory.startswith("["):
            rows.append(cells)
    if not rows:
        return None
    name, memory, driver = rows[0]
    size = int(memory) * 2**20 if memory.isdecimal() else None
    count = sum(row[0] == name for row in rows)
    return Attached("GPU", name, count, size, driver)


def _gpu_of_the_driver(root: Path, version: str, nodes: set[str]) -> Seen:
    """Read the driver's own list, which has every GPU of the host.

    A container was given only those with a device file.
    """
    models = []
    missing = []
    for folder in files(root, "proc/driver/nvidia/gpus/*"):
        text = read(folder / "information")
        model = field(text, "Model") or "NVIDIA GPU of unknown type"
        minor = field(text, "Device Minor")
        node = f"nvidia{minor}" if minor else "nvidiactl"
        if node in nodes:
            models.append(model)
        else:
            missing.append(model)
    if not models:
        return Seen(silent=True, not_given=missing[0] if missing else "")
    name, count = Counter(models).most_common(1)[0]
    number = re.search(r"Kernel Module\s+(?:for \S+\s+)?([\d.]+)", version)
    driver = number[1] if number else None
    return Seen(Attached("GPU", name, count, None, driver), silent=True)


def run_command(command: list[str], seconds: float) -> str:
    """What a command writes; empty where it fails or meets its limit."""
    outcome = probe.run_command(command, seconds=seconds)
    if outcome.kind != "finished":
        return ""
    return outcome.output


@functools.cache
def page_metadata() -> Mapping:
    """The metadata of the notebook that runs here, as Colab's page has it; empty elsewhere."""
    # As Colab's own tools ask; Colab promises nothing.
    try:
        message = importlib.import_module("google.colab._message")
        return message.blocking_request("get_ipynb", timeout_sec=3)["ipynb"]["metadata"]
    except Exception:
        return {}


def read(path: Path) -> str:
    """The text of a file; empty where it cannot be read."""
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


def files(root: Path, pattern: str) -> list[Path]:
    """The files that fit a pattern under a folder; none where it cannot be read."""
    return sorted(root / name for name in glob.glob(pattern, root_dir=root))


def field(text: str, label: str) -> str | None:
    """The value of the first line ``label : value``."""
    line = re.search(rf"^{label}[ \t]*:[ \t]*(\S.*?)[ \t]*$", text, re.MULTILINE)
    if line is None:
        return None
    return line[1]
