"""Which GPU or TPU is attached, as files under /proc, /sys and /dev and nvidia-smi tell.

Nothing here raises: a file that cannot be read counts as an empty one. Every `root` is the folder
that has ``proc``, ``sys`` and ``dev`` in it: "/", or the folder of a recorded machine.
"""

import glob
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from accel_helpers._values import probe

GIB = 2**30

# Google's TPUs by their PCI numbers. Source: jax/_src/hardware_utils.py in JAX 0.10.2.
_TPUS = {
    "0x0027": "TPU v2 or v3",
    "0x005e": "TPU v4",
    "0x0062": "TPU v5p",
    "0x0063": "TPU v5e",
    "0x006f": "TPU v6e",
    "0x0076": "TPU v7",
}
# Google's disks (PCI class 01) and network cards (02) for virtual machines are no TPUs.
_NOT_TPU_CLASSES = ("0x01", "0x02")
# It answers with a line for each GPU, its memory in MiB: "Tesla T4, 15360, 535.104.05". Where the
# memory is shared, "[N/A]" stands in its place. An error message can come with commas, too.
_QUERY = ["nvidia-smi", "--query-gpu=name,memory.total,driver_version",
          "--format=csv,noheader,nounits"]  # fmt: skip
_ANSWER = re.compile(r"^(.+), *(\d+|\[.*\]),", re.MULTILINE)

# Runs a command and returns its output, empty where it fails.
Run = Callable[[list[str]], str]


@dataclass(frozen=True)
class Attached:
    """GPUs or TPU chips of one type: how many, and the memory of one of them where it is known."""

    kind: str  # "GPU" or "TPU"
    name: str
    count: int = 1
    memory_bytes: int | None = None

    def __str__(self) -> str:
        """Return a text such as "GPU, 2 x Tesla T4 of 15.0 GiB"."""
        text = f"{self.kind}, {self.count} x {self.name}"
        if self.memory_bytes:
            text += f" of {self.memory_bytes / GIB:.1f} GiB"
        return text


def find_tpu(root: Path) -> Attached | None:
    """Return the TPU chips on the PCI bus; None where there are none."""
    names = []
    for folder in files(root, "sys/bus/pci/devices/*"):
        is_google = read(folder / "vendor").strip() == "0x1ae0"
        if is_google and not read(folder / "class").startswith(_NOT_TPU_CLASSES):
            # What the table doesn't have is newer than the table.
            name = _TPUS.get(read(folder / "device").strip(), "TPU of unknown type")
            names.append(name)
    if not names:
        return None
    return Attached("TPU", names[0], len(names))


def find_gpu(run: Run) -> Attached | None:
    """Return the NVIDIA GPUs that nvidia-smi lists, those of the first model; None without one."""
    rows = _ANSWER.findall(run(_QUERY))
    if not rows:
        return None
    name, size = rows[0]
    count = sum(row[0] == name for row in rows)
    return Attached("GPU", name, count, whole_number(size) * 2**20 or None)


def find_other_gpu(root: Path, cpu_name: str) -> str:
    """Return the name of a GPU of AMD's or Apple's; empty without one."""
    if cpu_name.startswith("Apple"):
        return f"{cpu_name} GPU"
    # The driver that computes on AMD's GPUs.
    return "AMD GPU" if files(root, "dev/kfd") else ""


def find_cpu(root: Path, run: Run) -> str:
    """Return the name of the processor, such as "Intel Xeon CPU"; empty where it is unknown."""
    match = re.search(r"model name\s*:\s*(.*\S)", read(root / "proc/cpuinfo"))
    if match:
        return match[1].replace("(R)", "")
    # A Mac has no such file.
    return run(["sysctl", "-n", "machdep.cpu.brand_string"]).strip()


def run_command(command: list[str], seconds: float = 3.0) -> str:
    """Return what a command writes; empty where it fails or is not done after some seconds.

    A broken driver can make nvidia-smi hang.
    """
    outcome = probe.run_command(command, seconds=seconds)
    if outcome.kind != "finished":
        return ""
    return outcome.output


def read(path: Path) -> str:
    """Return the text of a file; empty where it cannot be read."""
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


def files(root: Path, pattern: str) -> list[Path]:
    """Return the files under a folder that fit a pattern, such as "dev/nvidia*"."""
    return [root / name for name in glob.glob(pattern, root_dir=root)]


def whole_number(text: str) -> int:
    """Return the whole number that a text is; 0 for "max", for "-1" and for what is no number."""
    if not text.strip().isdecimal():
        return 0
    return int(text)
