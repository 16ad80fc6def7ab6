"""What this machine is, from files, variables and package metadata; no framework is imported."""

import json
import os
import platform
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import ClassVar

from accel_helpers._values.words import html_card, wrapped
from accel_helpers.machine import attached, faults
from accel_helpers.machine.attached import GIB, Attached, Run

__all__ = ["describe"]

_LIMITS = "sys/fs/cgroup"
_PLACES = {"colab": "Google Colab", "kaggle": "Kaggle", "local": "local (neither Colab nor Kaggle)"}
#: The faults of a GPU whose driver is there and whose nvidia-smi did not answer.
SILENT_GPU = {"gpu-not-handed-over", "gpu-by-list", "gpu-silent"}


@dataclass(frozen=True)
class Runtime:
    """What `describe` found. It prints as a card, and as a small table in a notebook."""

    OUTCOMES: ClassVar = (  # of its `verdict`
        *("a GPU", "a TPU", "a driver that does not answer", "a TPU that is not there"),
        *("nothing in Colab", "nothing here"),
    )

    place: str
    release: str | None
    accelerator: Attached | None
    frameworks: dict[str, str]
    python: str
    system: str
    cpu_name: str | None
    cores: int | None
    memory_bytes: int | None
    notes: tuple[str, ...]
    faults: tuple[str, ...] = ()  # the ids of what the notes say

    @property
    def verdict(self) -> str:
        """What is attached, in a few words: one of `OUTCOMES`.

        >>> describe(environ={"TPU_ACCELERATOR_TYPE": "v5e-1"}, root="/nowhere").verdict
        'a TPU that is not there'
        """
        if SILENT_GPU & {*self.faults}:
            return "a driver that does not answer"
        if self.accelerator:
            return f"a {self.accelerator.kind}"
        if "tpu-claimed" in self.faults:
            return "a TPU that is not there"
        return "nothing in Colab" if self.place == "colab" else "nothing here"

    def to_dict(self) -> dict:
        """Give all of it as plain JSON types: no host name, no user name, no path."""
        return json.loads(json.dumps(asdict(self)))

    def _lines(self) -> Iterator[tuple[str, str]]:
        release = f" ({self.release})" if self.release else ""
        yield "Place", _PLACES.get(self.place, self.place) + release
        none = "none attached (this machine has only its CPU)"
        if SILENT_GPU & {*self.faults}:
            none = "none that answers (see the note)"
        elif self.system.startswith("macOS"):
            none = "none attached (no NVIDIA GPU and no TPU; Apple's own GPU is not looked for)"
        yield "Accelerator", str(self.accelerator or none)
        cores = f", {self.cores} usable core{'s' if self.cores > 1 else ''}" if self.cores else ""
        yield "CPU", (self.cpu_name or "name unknown") + cores
        yield "Memory", f"{self.memory_bytes / GIB:.1f} GiB" if self.memory_bytes else "unknown"
        yield "System", f"{self.system}, Python {self.python}"
        found = ", ".join(f"{name} {version}" for name, version in self.frameworks.items())
        yield "Frameworks", found or "none installed"
        for note in self.notes:
            yield "Note", note

    def __str__(self) -> str:
        rows = (wrapped(value, f"{label + ':':<14}", 14) for label, value in self._lines())
        return "\n".join(rows)

    def _repr_html_(self) -> str:
        return html_card("This runtime", self._lines())


def describe(
    *,
    environ: Mapping[str, str] | None = None,
    root: str | Path = "/",
    run: Run | None = None,
    versions: Callable[[str], str | None] | None = None,
) -> Runtime:
    """Describe this machine, or a recorded one, in under a second and importing no framework.

    Parameters
    ----------
    environ : mapping of str to str, optional
        The environment variables.
    root : path
        The folder under which ``proc``, ``sys`` and ``dev`` are.
    run : callable of (list of str, seconds) -> str, optional
        Runs a command and gives its output, which is empty where it fails.
    versions : callable of str -> str or None, optional
        Gives the installed version of a distribution.

    Returns
    -------
    Runtime
        ``place`` ("colab", "kaggle" or "local"); ``accelerator`` with ``kind`` ("GPU" or "TPU"),
        ``name``, ``count`` and ``memory_bytes``; ``frameworks`` with their versions; ``notes`` on
        what does not fit together.

    Examples
    --------
    >>> describe(environ={"KAGGLE_KERNEL_RUN_TYPE": "Interactive"}).place
    'kaggle'
    """
    it = faults.Facts(environ, root, run, versions)
    noted = [one for name, one in it.faults.items() if faults.FAULTS[name].note]
    cpu_name, memory = _cpu_name_and_memory(it.root, it.run)
    return Runtime(
        place=it.place,
        release=it.release,
        accelerator=it.device,
        frameworks=it.frameworks,
        python=platform.python_version(),
        system=it.system,
        cpu_name=cpu_name,
        cores=_cores(it.root),
        memory_bytes=memory,
        notes=tuple(one.cause for one in noted),
        faults=tuple(one.id for one in noted),
    )


def _cpu_name_and_memory(root: Path, run: Run) -> tuple[str | None, int | None]:
    cpuinfo = attached.read(root / "proc/cpuinfo")
    name = attached.field(cpuinfo, "model name") or attached.field(cpuinfo, "Model")
    total = attached.field(attached.read(root / "proc/meminfo"), "MemTotal") or ""
    memory = (_whole(total.removesuffix("kB")) or 0) * 1024
    if not cpuinfo and not memory:  # a Mac has no such files
        asked = ("machdep.cpu.brand_string", "hw.memsize")
        name, size = (run(["sysctl", "-n", key], 1.0).strip() for key in asked)
        memory = _whole(size) or 0
    for file in ("memory.max", "memory/memory.limit_in_bytes"):  # of a container, in two versions
        memory = min(memory, _whole(attached.read(root / _LIMITS / file)) or memory)
    name = (name or "").replace("(R)", "").replace("(TM)", "")  # Intel(R) Xeon(R)
    return name or None, memory or None


def _cores(root: Path) -> int | None:
    try:
        cores = len(os.sched_getaffinity(0))
    except (AttributeError, OSError):  # not on macOS and Windows
        cores = os.cpu_count()
    pair = attached.read(root / _LIMITS / "cpu.max").split() or [
        attached.read(root / _LIMITS / f"cpu/cpu.cfs_{each}_us") for each in ("quota", "period")
    ]
    quota, period = _whole(pair[0]), _whole(pair[-1])
    return min(cores, -(-quota // period)) if cores and quota and period else cores


def _whole(text: str) -> int | None:
    """A whole number above zero; "max" and -1 mean no limit."""
    text = text.strip()
    return int(text) or None if text.isdecimal() else None
