"""What this machine is, from files, variables and package metadata; no framework is imported."""

import json
import math
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

# Where Linux keeps the limits of a container, its control groups.
_LIMITS = "sys/fs/cgroup"
# Place -> its name on the card.
_PLACES = {"colab": "Google Colab", "kaggle": "Kaggle", "local": "local (neither Colab nor Kaggle)"}
#: The faults of a GPU whose driver is there and whose nvidia-smi did not answer.
SILENT_GPU = {"gpu-not-handed-over", "gpu-by-list", "gpu-silent"}


@dataclass(frozen=True)
class Runtime:
    """What `describe` found. It prints as a card, and as a small table in a notebook.

    The *card* has lines of a label and a text, such as "Memory:  12.7 GiB".
    """

    OUTCOMES: ClassVar = (  # of its `verdict`
        *("a GPU", "a TPU", "a driver that does not answer", "a TPU that is not there"),
        *("nothing in Colab", "nothing here"),
    )

    place: str  # "colab", "kaggle" or "local"
    release: str | None  # of Colab's image
    accelerator: Attached | None
    frameworks: dict[str, str]  # package -> version
    python: str  # its version
    system: str  # such as "Linux x86_64"
    cpu_name: str | None  # None: unknown, here and in the next two
    cores: int | None  # those that this process may use
    memory_bytes: int | None
    notes: tuple[str, ...]
    faults: tuple[str, ...] = ()  # the ids of what the notes say

    @property
    def verdict(self) -> str:
        """Which accelerator is attached, in a few words: one of `OUTCOMES`.

        >>> describe(environ={"TPU_ACCELERATOR_TYPE": "v5e-1"}, root="/nowhere").verdict
        'a TPU that is not there'
        """
        if SILENT_GPU & {*self.faults}:
            return "a driver that does not answer"
        if self.accelerator:
            return f"a {self.accelerator.kind}"
        if "tpu-claimed" in self.faults:
            return "a TPU that is not there"
        if self.place == "colab":
            return "nothing in Colab"
        return "nothing here"

    @property
    def kind(self) -> str:
        """What computes here: "gpu", "tpu" or "cpu"."""
        if self.accelerator:
            return self.accelerator.kind.lower()
        return "cpu"

    @property
    def name(self) -> str:
        """The chip that computes here, such as "NVIDIA T4" or "AMD EPYC, 2 cores"."""
        if self.accelerator:
            return self.accelerator.name
        name = self.cpu_name or "unknown processor"
        if not self.cores:
            return name
        return f"{name}, {self.cores} cores"

    def to_dict(self) -> dict:
        """Return all fields as plain JSON types: no host name, no user name, no path."""
        return json.loads(json.dumps(asdict(self)))

    def issue(self) -> str:
        """Return a block of Markdown to paste into a question: no host, user or folder is in it.

        >>> print(describe(environ={}, root="/nowhere").issue().splitlines()[0])
        ```text
        """
        return f"```text\n{self}\n```"

    def _lines(self) -> Iterator[tuple[str, str]]:
        """Yield the label and the text of every line of the card, in order."""
        place = _PLACES.get(self.place, self.place)
        if self.release:
            place += f" ({self.release})"
        yield "Place", place
        yield "Accelerator", self._accelerator_line()
        yield "CPU", self._cpu_line()
        memory = "unknown"
        if self.memory_bytes:
            memory = f"{self.memory_bytes / GIB:.1f} GiB"
        yield "Memory", memory
        yield "System", f"{self.system}, Python {self.python}"
        versions = [f"{name} {version}" for name, version in self.frameworks.items()]
        yield "Frameworks", ", ".join(versions) or "none installed"
        for note in self.notes:
            yield "Note", note

    def _accelerator_line(self) -> str:
        """Return the card's text about the accelerator, also where there is none."""
        if self.accelerator:
            return str(self.accelerator)
        if SILENT_GPU & {*self.faults}:
            return "none that answers (see the note)"
        if self.system.startswith("macOS"):
            return "none attached (no NVIDIA GPU and no TPU; Apple's own GPU is not looked for)"
        return "none attached (this machine has only its CPU)"

    def _cpu_line(self) -> str:
        """Return the card's text about the processor: "Intel Xeon @ 2.20GHz, 2 usable cores"."""
        name = self.cpu_name or "name unknown"
        if not self.cores:
            return name
        plural = "s" if self.cores > 1 else ""
        return f"{name}, {self.cores} usable core{plural}"

    def __str__(self) -> str:
        rows = []
        for label, text in self._lines():
            # All texts begin in the same column.
            lead = f"{label}:"
            rows.append(wrapped(text, f"{lead:<14}", 14))
        return "\n".join(rows)

    def _repr_html_(self) -> str | None:
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
        The environment variables; by default those of this process.
    root : path
        The folder under which ``proc``, ``sys`` and ``dev`` are.
    run : callable of (list of str, seconds) -> str, optional
        Runs a command and returns its output, which is empty where it fails; by default it is
        really run.
    versions : callable of str -> str or None, optional
        Returns the installed version of a distribution, or None; by default that of this
        environment.

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
    facts = faults.Facts(environ, root, run, versions)
    findings = [finding for finding in facts.faults.values() if faults.FAULTS[finding.id].note]
    cpu_name, memory = _cpu_name_and_memory(facts.root, facts.run)
    return Runtime(
        place=facts.place,
        release=facts.release,
        accelerator=facts.device,
        frameworks=facts.frameworks,
        python=platform.python_version(),
        system=facts.system,
        cpu_name=cpu_name,
        cores=_cores(facts.root),
        memory_bytes=memory,
        notes=tuple(finding.cause for finding in findings),
        faults=tuple(finding.id for finding in findings),
    )


def _cpu_name_and_memory(root: Path, run: Run) -> tuple[str | None, int | None]:
    """Return the processor's name and the bytes of memory that this machine may use.

    The memory is the machine's, or a container's limit if that is lower. Each is None where it is
    unknown. `run` asks a Mac.
    """
    cpuinfo = attached.read(root / "proc/cpuinfo")
    meminfo = attached.read(root / "proc/meminfo")
    name = attached.field(cpuinfo, "model name") or attached.field(cpuinfo, "Model")
    total = attached.field(meminfo, "MemTotal") or ""
    memory = 1024 * _positive_number(total.removesuffix("kB"))
    # A Mac has no such files.
    if not cpuinfo and not memory:
        name = run(["sysctl", "-n", "machdep.cpu.brand_string"], 1.0).strip()
        memory = _positive_number(run(["sysctl", "-n", "hw.memsize"], 1.0))
    # A container's limit, as the two versions of control groups write it.
    for file in ("memory.max", "memory/memory.limit_in_bytes"):
        limit = _positive_number(attached.read(root / _LIMITS / file))
        if limit:
            memory = min(memory, limit)
    # As in "Intel(R) Xeon(R)".
    plain_name = (name or "").replace("(R)", "").replace("(TM)", "")
    return plain_name or None, memory or None


def _cores(root: Path) -> int | None:
    """Return the number of cores that this process may use; None where it is unknown.

    A container's limit, read under `root`, counts, too.
    """
    try:
        cores = len(os.sched_getaffinity(0))
    except (AttributeError, OSError):
        # macOS and Windows do not tell what a process may use.
        cores = os.cpu_count() or 0
    quota, period = _processor_share(root)
    if cores and quota and period:
        # A container may have a part of a core, which is rounded up: 150 ms of processor time in
        # every 100 ms are two cores.
        cores = min(cores, math.ceil(quota / period))
    return cores or None


def _processor_share(root: Path) -> tuple[int, int]:
    """Return a container's processor time, in µs, and the time in which it has it, in µs.

    (150000, 100000) is one core and a half. Either number is 0 where there is no limit.
    """
    limits = root / _LIMITS
    # The second version of control groups writes "150000 100000", or "max 100000".
    words = attached.read(limits / "cpu.max").split()
    if not words:
        quota = attached.read(limits / "cpu/cpu.cfs_quota_us")
        period = attached.read(limits / "cpu/cpu.cfs_period_us")
        words = [quota, period]
    return _positive_number(words[0]), _positive_number(words[-1])


def _positive_number(text: str) -> int:
    """Return the whole number that a text is; 0 for "max", for "-1" and for what is no number."""
    digits = text.strip()
    if not digits.isdecimal():
        return 0
    return int(digits)
