"""What this machine is, from files, variables and package metadata; no framework is imported."""

import math
import os
import platform
import sys
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, ClassVar

from accel_helpers._values.words import html_card, wrapped
from accel_helpers.machine import faults
from accel_helpers.machine.attached import GIB, Attached, read, whole_number
from accel_helpers.machine.facts import PLACES, Facts

__all__ = ["describe"]

# What the card says beside what the machine is; all else that can be wrong is `diagnose`'s.
_NOTES = ("gpu-silent", "gpu-of-another-maker", "tpu-claimed", "another-chip")


@dataclass(frozen=True)
class Runtime:
    """What `describe` found. It prints as a card, and as a small table in a notebook."""

    OUTCOMES: ClassVar = (  # of its `verdict`
        "a GPU",
        "a TPU",
        "a driver that does not answer",
        "a TPU that is not there",
        "nothing in Colab",
        "nothing here",
    )

    place: str  # "colab", "kaggle" or "local"
    release: str | None  # of Colab's image
    accelerator: Attached | None
    frameworks: dict[str, str]  # package -> version
    python: str  # its version
    system: str  # such as "Linux x86_64"
    cpu_name: str | None  # None: unknown
    cores: int  # those that this process may use
    memory_bytes: int | None  # None: unknown
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
        return asdict(self)

    def _cpu(self) -> str:
        """Return the processor's name, as far as it is known, and its cores."""
        return f"{self.cpu_name or 'unknown processor'}, {self.cores} cores"

    def _lines(self) -> list[tuple[str, str]]:
        """Return the label and the text of every line of the card."""
        place = PLACES[self.place]["name"]
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
        ``run(command)`` returns the output of a command, which is empty where it fails;
        ``versions(name)`` returns the installed version of a distribution, or None. Its cores and
        its memory are this one's, within the limits under ``root``.

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
    noted = [fault for fault in faults.ids(facts) if fault in _NOTES]
    release = None
    # Kaggle's image may carry Colab's variable.
    if facts.place == "colab":
        release = facts.environ["COLAB_RELEASE_TAG"]
    return Runtime(
        place=facts.place,
        release=release,
        accelerator=facts.device,
        frameworks=facts.frameworks,
        python=platform.python_version(),
        system=f"{platform.system().replace('Darwin', 'macOS')} {platform.machine()}",
        cpu_name=facts.cpu_name or None,
        cores=_cores(facts.root / "sys/fs/cgroup/cpu.max"),
        memory_bytes=_memory(facts.root / "sys/fs/cgroup/memory.max"),
        notes=tuple(faults.in_words(facts, fault).cause for fault in noted),
        faults=tuple(noted),
    )


def _memory(limit_file: Path) -> int | None:
    """Return this machine's memory in bytes, or a container's limit if that is lower."""
    # Windows does not tell.
    if sys.platform == "win32":
        return None
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    limit = whole_number(read(limit_file))
    if limit:
        memory = min(memory, limit)
    return memory


def _cores(limit_file: Path) -> int:
    """Return how many cores this process may use; a container's limit counts, too."""
    try:
        cores = len(os.sched_getaffinity(0))
    except AttributeError:
        # macOS and Windows do not tell what a process may use.
        cores = os.cpu_count() or 1
    # Microseconds of processor time, and those in which it has them: "150000 100000", "max 100000".
    quota, _, period = read(limit_file).partition(" ")
    share = whole_number(quota) / max(whole_number(period), 1)
    # A part of a core is rounded up; 0 is no limit.
    return min(cores, math.ceil(share) or cores)
