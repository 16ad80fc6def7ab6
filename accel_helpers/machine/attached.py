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
        many = f"{self.count} x " if self.count > 1 else ""
        memory = f", {self.memory_bytes / GIB:.1f} GiB memory" if self.memory_bytes else ""
        kind = "" if self.name.startswith(self.kind) else f"{self.kind}, "
        return f"{kind}{many}{self.name}{memory}{' each' if many and memory else ''}"


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
    seen = Seen(tpu) if tpu else _gpu(root, run)
    # The variable exists on every Colab runtime and is empty where there is no TPU.
    claim = environ.get("TPU_ACCELERATOR_TYPE") or environ.get("COLAB_TPU_1VM")
    if tpu or not claim:
        return seen
    kind = f" ({claim})" if re.fullmatch(r"v\d\w{0,9}-\d{1,4}", claim) else ""
    return replace(seen, claim=kind)


def _tpu(root: Path) -> Attached | None:
    ids = []
    for folder in files(root, "sys/bus/pci/devices/*"):
        if read(folder / "vendor").strip() == _GOOGLE:
            device = read(folder / "device").strip()
            if device in _TPU_DEVICES or not read(folder / "class").startswith(_NOT_TPU_CLASSES):
                ids.append(device)
    if not ids:
        return None
    device, count = Counter(ids).most_common(1)[0]
    return Attached("TPU", _TPU_DEVICES.get(device, "TPU of unknown type"), count)


def _gpu(root: Path, run: Run) -> Seen:
    version = read(root / "proc/driver/nvidia/version")
    nodes = {node.name for node in files(root, "dev/nvidia*")}
    # Under Windows' WSL the driver has no file but the one that all GPUs share.
    if not (version or nodes or (root / "dev/dxg").exists()):
        return Seen()
    lines = run(_QUERY, NVIDIA_SMI_SECONDS).splitlines()
    rows = [[cell.strip() for cell in line.rsplit(",", 2)] for line in lines if line.count(",") > 1]
    # An error message can come with commas; a size is a number, or "[N/A]" where memory is shared.
    rows = [row for row in rows if row[1].isdecimal() or row[1].startswith("[")]
    if rows:
        name, memory, driver = rows[0]
        size = int(memory) * 2**20 if memory.isdecimal() else None
        count = sum(row[0] == name for row in rows)
        return Seen(Attached("GPU", name, count, size, driver))
    if not (version or nodes):
        return Seen()
    # The driver lists every GPU of the host; a container has only those with a device file.
    models, missing = [], []
    for folder in files(root, "proc/driver/nvidia/gpus/*"):
        text = read(folder / "information")
        model = field(text, "Model") or "NVIDIA GPU of unknown type"
        minor = field(text, "Device Minor")
        here = f"nvidia{minor}" in nodes if minor else "nvidiactl" in nodes
        (models if here else missing).append(model)
    if not models:
        return Seen(silent=True, not_given=missing[0] if missing else "")
    name, count = Counter(models).most_common(1)[0]
    number = re.search(r"Kernel Module\s+(?:for \S+\s+)?([\d.]+)", version)
    return Seen(Attached("GPU", name, count, None, number and number[1]), silent=True)


def run_command(command: list[str], seconds: float) -> str:
    """What a command writes; empty where it fails or meets its limit."""
    done = probe.run_command(command, seconds=seconds)
    return done.output if done.kind == "finished" else ""


@functools.cache
def page_metadata() -> Mapping:
    """The metadata of the notebook that runs here, as Colab's page has it; empty elsewhere."""
    try:  # as Colab's own tools ask; Colab promises nothing
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
    return sorted(root / found for found in glob.glob(pattern, root_dir=root))


def field(text: str, label: str) -> str | None:
    """The value of the first line ``label : value``."""
    found = re.search(rf"^{label}[ \t]*:[ \t]*(\S.*?)[ \t]*$", text, re.MULTILINE)
    return found[1] if found else None
