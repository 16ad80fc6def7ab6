"""What this machine is, from files, variables and package metadata; no framework is imported."""

import json
import math
import os
import platform
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, ClassVar

from accel_helpers._values.words import html_card, wrapped
from accel_helpers.machine import faults
from accel_helpers.machine.attached import GIB, Attached, ask_mac, field, read, whole_number
from accel_helpers.machine.faults import Facts

__all__ = ["describe"]

# Place -> its name on the card.
_PLACES = {"colab": "Google Colab", "kaggle": "Kaggle", "local": "local (neither Colab nor Kaggle)"}
# What the card says beside what the machine is; all else that can be wrong is `diagnose`'s.
_NOTES = ("gpu-silent", "gpu-of-another-maker", "tpu-claimed", "another-chip")


@dataclass(frozen=True)
class Runtime:
    """What `describe` found. It prints as a card, and as a small table in a notebook."""

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
        if "gpu-silent" in self.faults:
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
        return self.accelerator.kind.lower() if self.accelerator else "cpu"

    @property
    def name(self) -> str:
        """The chip that computes here, such as "NVIDIA T4" or "AMD EPYC, 2 cores"."""
        return self.accelerator.name if self.accelerator else self._cpu()

    def to_dict(self) -> dict:
        """Return all fields as plain JSON types: no host name, no user name, no path."""
        return json.loads(json.dumps(asdict(self)))

    def _cpu(self) -> str:
        """Return the processor's name and its cores, as far as they are known."""
        name = self.cpu_name or "unknown processor"
        return f"{name}, {self.cores} cores" if self.cores else name

    def _lines(self) -> list[tuple[str, str]]:
        """Return the label and the text of every line of the card."""
        place = _PLACES[self.place]
        if self.release:
            place += f" ({self.release})"
        memory = "unknown"
        if self.memory_bytes:
            memory = f"{self.memory_bytes / GIB:.1f} GiB"
        nothing = "none (this machine has only its CPU)"
        if self.notes:
            nothing = "none (see the note)"
        versions = [f"{name} {version}" for name, version in self.frameworks.items()]
        return [
            ("Place", place),
            ("Accelerator", str(self.accelerator or nothing)),
            ("CPU", self._cpu()),
            ("Memory", memory),
            ("System", f"{self.system}, Python {self.python}"),
            ("Frameworks", ", ".join(versions) or "none installed"),
            *(("Note", note) for note in self.notes),
        ]

    def __str__(self) -> str:
        # All texts begin in the same column.
        return "\n".join(wrapped(text, f"{label}:".ljust(14), 14) for label, text in self._lines())

    def _repr_html_(self) -> str | None:
        return html_card("This runtime", self._lines())


def describe(**machine: Any) -> Runtime:
    """Describe this machine, or a recorded one, in under a second and importing no framework.

    What is wrong with it says `diagnose`.

    Parameters
    ----------
    **machine : optional
        A recorded machine; by default this one. ``environ``, a mapping of str to str, has its
        variables; under the folder ``root`` are its ``proc``, ``sys`` and ``dev``;
        ``run(command, seconds)`` returns the output of a command, which is empty where it fails;
        ``versions(name)`` returns the installed version of a distribution, or None.

    Returns
    -------
    Runtime
        ``place`` ("colab", "kaggle" or "local"); ``accelerator``, None or an object with ``kind``
        ("GPU" or "TPU"), ``name``, ``count`` and ``memory_bytes``; ``frameworks`` with their
        versions; ``notes`` where the machine is not what it seems. It prints as a card.

    Examples
    --------
    >>> describe(environ={"KAGGLE_KERNEL_RUN_TYPE": "Interactive"}).place
    'kaggle'
    """
    facts = Facts(**machine)
    found = [finding for finding in faults.examine(facts) if finding.id in _NOTES]
    return Runtime(
        place=facts.place,
        release=facts.release,
        accelerator=facts.device,
        frameworks=facts.frameworks,
        python=platform.python_version(),
        system=f"{platform.system().replace('Darwin', 'macOS')} {platform.machine()}",
        cpu_name=facts.cpu_name or None,
        cores=_cores(facts.root / "sys/fs/cgroup"),
        memory_bytes=_memory(facts),
        notes=tuple(finding.cause for finding in found),
        faults=tuple(finding.id for finding in found),
    )


def _memory(facts: Facts) -> int | None:
    """Return the machine's memory in bytes, or a container's limit if that is lower."""
    total = field(read(facts.root / "proc/meminfo"), "MemTotal")
    memory = 1024 * whole_number(total.removesuffix("kB"))
    # A Mac has no such file.
    memory = memory or whole_number(ask_mac(facts.run, "hw.memsize"))
    # The limit, as the two versions of control groups write it.
    for file in ("memory.max", "memory/memory.limit_in_bytes"):
        limit = whole_number(read(facts.root / "sys/fs/cgroup" / file))
        if limit:
            memory = min(memory, limit)
    return memory or None


def _cores(limits: Path) -> int | None:
    """Return the number of cores that this process may use; None where it is unknown.

    A container's limit, a file in the folder `limits`, counts, too.
    """
    try:
        cores = len(os.sched_getaffinity(0))
    except (AttributeError, OSError):
        # macOS and Windows do not tell what a process may use.
        cores = os.cpu_count() or 0
    # Microseconds of processor time, and those in which it has them: "150000 100000", "max 100000".
    quota, _, period = read(limits / "cpu.max").partition(" ")
    share = whole_number(quota) / max(whole_number(period), 1)
    if share:
        # A part of a core is rounded up.
        cores = min(cores, math.ceil(share))
    return cores or None
