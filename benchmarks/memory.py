"""How much memory this process holds, and how much the machine has left."""

from __future__ import annotations

from pathlib import Path


def resident_bytes() -> int | None:
    """Bytes of memory that this process holds now; None where Linux does not tell.

    Examples
    --------
    >>> held = resident_bytes()
    >>> held is None or held > 1_000_000
    True
    """
    return _kib("/proc/self/status", "VmRSS")


def free_bytes() -> int | None:
    """Bytes of memory that the machine can still give; None where Linux does not tell."""
    return _kib("/proc/meminfo", "MemAvailable")


def _kib(path: str, label: str) -> int | None:
    try:
        lines = Path(path).read_text().splitlines()
    except OSError:
        return None
    for line in lines:
        if line.startswith(label + ":"):
            return int(line.split()[1]) * 1024
    return None
