"""Which GPU or TPU is attached, as files under /proc, /sys and /dev and nvidia-smi tell."""

from __future__ import annotations

import re
import subprocess
import threading
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

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
    """An accelerator that is attached to this machine, as one kind of device.

    ``count`` is the number of GPUs, or of TPU chips. ``memory_bytes`` is that of one of them and
    ``driver`` the driver's version, each ``None`` where unknown. ``evidence`` says how we know.
    """

    kind: str
    name: str
    count: int
    memory_bytes: int | None = None
    driver: str | None = None
    evidence: tuple[str, ...] = ()

    def __str__(self) -> str:
        many = f"{self.count} x " if self.count > 1 else ""
        memory = f", {self.memory_bytes / GIB:.1f} GiB memory" if self.memory_bytes else ""
        kind = "" if self.name.startswith(self.kind) else f"{self.kind}, "
        return f"{kind}{many}{self.name}{memory}{' each' if many and memory else ''}"


@dataclass(frozen=True)
class Seen:
    """What a look at the devices gave.

    ``silent``: there is an NVIDIA driver, and nvidia-smi did not answer. ``not_given`` is a GPU
    that the driver lists and that this machine was not given; ``others`` are GPUs of another type.
    ``claim`` is what the environment says of a TPU that is not there, or None.
    """

    device: Attached | None = None
    silent: bool = False
    not_given: str = ""
    others: tuple[str, ...] = ()
    claim: str | None = None


def look(root: Path, environ: Mapping[str, str], run: Run) -> Seen:
    """Look for a TPU, then for GPUs."""
    tpu = _tpu(root)
    seen = Seen(tpu) if tpu else _gpu(root, run)
    # The variable exists on every Colab runtime and is empty where there is no TPU.
    claim = environ.get("TPU_ACCELERATOR_TYPE") or environ.get("COLAB_TPU_1VM")
    if tpu or not claim:
        return seen
    kind = f" ({claim})" if re.fullmatch(r"v\d\w{0,9}-\d{1,4}", claim) else ""
    return Seen(seen.device, seen.silent, seen.not_given, seen.others, kind)


def _tpu(root: Path) -> Attached | None:
    ids = []
    for device in files(root / "sys/bus/pci/devices", "*"):
        if read(device / "vendor").strip() == _GOOGLE:
            known = (name := read(device / "device").strip()) in _TPU_DEVICES
            if known or not read(device / "class").startswith(_NOT_TPU_CLASSES):
                ids.append(name)
    if not ids:
        return None
    device, count = Counter(ids).most_common(1)[0]
    evidence = [f"PCI bus: vendor {_GOOGLE}, device {device or 'unknown'}"]
    # Up to TPU v4 the driver's files are accel0, ...; later chips use vfio.
    if files(root / "dev", "accel*") or files(root / "dev/vfio", "[0-9]*"):
        evidence.append("device files")
    name = _TPU_DEVICES.get(device, "TPU of unknown type")
    return Attached("TPU", name, count, evidence=tuple(evidence))


def _gpu(root: Path, run: Run) -> Seen:
    version = read(root / "proc/driver/nvidia/version")
    nodes = {node.name for node in files(root / "dev", "nvidia*")}
    evidence = ("NVIDIA driver",) if version or nodes else ()
    # Under Windows' WSL the driver has no file but the one that all GPUs share.
    if not evidence and not (root / "dev/dxg").exists():
        return Seen()
    try:
        rows = [line.rsplit(",", 2) for line in run(_QUERY, NVIDIA_SMI_SECONDS).splitlines()]
    except (OSError, subprocess.SubprocessError):
        rows = []
    rows = [[cell.strip() for cell in row] for row in rows if len(row) == 3]
    # An error message can come with commas; a size is a number, or "[N/A]" where memory is shared.
    rows = [row for row in rows if row[1].isdecimal() or row[1].startswith("[")]
    if rows:
        name, memory, driver = rows[0]
        others = tuple(sorted({row[0] for row in rows} - {name}))
        size = int(memory) * 2**20 if memory.isdecimal() else None
        count = sum(row[0] == name for row in rows)
        found = Attached("GPU", name, count, size, driver, (*evidence, "nvidia-smi"))
        return Seen(found, others=others)
    if not evidence:
        return Seen()
    # The driver lists every GPU of the host; a container has only those with a device file.
    models, missing = [], []
    for folder in files(root / "proc/driver/nvidia/gpus", "*"):
        text = read(folder / "information")
        model = field(text, "Model") or "NVIDIA GPU of unknown type"
        minor = field(text, "Device Minor")
        here = f"nvidia{minor}" in nodes if minor else "nvidiactl" in nodes
        (models if here else missing).append(model)
    if not models:
        return Seen(silent=True, not_given=missing[0] if missing else "")
    name, count = Counter(models).most_common(1)[0]
    number = re.search(r"Kernel Module\s+(?:for \S+\s+)?([\d.]+)", version)
    found = (*evidence, "the driver's list of GPUs")
    return Seen(Attached("GPU", name, count, None, number and number[1], found), silent=True)


def run_command(command: list[str], timeout: float) -> str:
    """Run a command and give its output; one that hangs is left behind at its limit."""
    process = subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
        text=True, errors="replace",
    )  # fmt: skip
    try:
        output, _ = process.communicate(timeout=timeout)
    except subprocess.TimeoutExpired:
        process.kill()
        # A child stuck inside the driver does not die at once: let a thread wait for it, not us.
        threading.Thread(target=process.communicate, daemon=True).start()
        raise
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, command)
    return output


def read(path: Path) -> str:
    """The text of a file; empty where it cannot be read."""
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


def files(folder: Path, pattern: str) -> list[Path]:
    """The files of a folder that fit a pattern; none where it cannot be read."""
    try:
        return sorted(folder.glob(pattern))
    except OSError:
        return []


def field(text: str, label: str) -> str | None:
    """The value of the first line ``label : value``."""
    found = re.search(rf"^{label}[ \t]*:[ \t]*(\S.*?)[ \t]*$", text, re.MULTILINE)
    return found[1] if found else None
