"""The energy of some work, where the CPU (by RAPL) or the GPU (by NVML) has a counter to read.

RAPL's ``energy_uj`` starts again from 0 after ``max_energy_range_uj``; since CVE-2020-8694 Linux
keeps it for root. Source: https://docs.kernel.org/power/powercap/powercap.html. NVML's is of a
board, in mJ since the driver was loaded. Source: https://docs.nvidia.com/deploy/nvml-api.
"""

import contextlib
import itertools
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from accel_helpers._values.words import format_rate, format_seconds, wrapped
from accel_helpers.machine import attached, hardware

__all__ = ["meter", "upper_limit"]

MOST_W = 2000  # no CPU package or GPU takes as much; the most in accelerators.csv is 700


@dataclass
class Energy:
    """What `meter` gives; it is filled in when the block ends."""

    OUTCOMES: ClassVar = ("measured", "no counter")  # of its `verdict`

    joules: float | None = None
    how: str = "not measurable here"  # or "RAPL", "NVML", "RAPL and NVML"
    seconds: float = 0.0
    notes: tuple[str, ...] = ()  # what is not in it, and why

    @property
    def verdict(self) -> str:
        """Whether there was a counter to read."""
        return self.OUTCOMES[self.joules is None]

    def __str__(self) -> str:
        said = f"Energy in {format_seconds(self.seconds)}: "
        if self.joules is None:
            reasons = "; ".join(self.notes)
            return wrapped(f"{said}{self.how}, as on most virtual machines ({reasons}).", indent=2)
        measured = f"{said}{format_rate(self.joules, 'J')} by {self.how}"
        return wrapped("; ".join([measured, *self.notes]) + ".", indent=2)


@contextlib.contextmanager
def meter(*, root=Path("/"), gpu=None, clock=time.monotonic, every=2.0):
    """Measure what all CPU packages (not their memory) and NVIDIA GPUs take in a ``with`` block.

    It gives an Energy, filled in at the end: `joules` (None: not measured), `how`, `seconds`,
    `notes`. A gap in the readings leaves no number. A GPU's are up to a second old: let it last
    ten. For tests: the folder of /sys, what answers as ``pynvml``, a clock, seconds between looks.

    >>> with meter() as energy:
    ...     work = sum(range(1_000))
    >>> (energy.joules is None) == (energy.how == "not measurable here")
    True
    """
    energy, samples, done = Energy(), [], threading.Event()
    looks = {"RAPL": lambda: _rapl(root), "NVML": lambda: _nvml(gpu)}

    def sample():
        parts = []
        for how, look in [*looks.items()]:
            try:
                parts += look()
            except Exception as error:  # NVML has errors of its own
                energy.notes += (f"no {how}: {error}",)
                del looks[how]
        samples.append((clock(), parts))

    def watch():
        while not done.wait(every):
            sample()

    thread = threading.Thread(target=watch, daemon=True)
    sample()
    thread.start()
    try:
        yield energy
    finally:
        done.set()
        thread.join()
        sample()
        energy.seconds = samples[-1][0] - samples[0][0]
        energy.joules = _total(samples) or None
        if energy.joules is not None:
            energy.how = " and ".join(looks)
        elif looks:
            energy.notes += ("the readings have a gap, or stand still",)


def _total(samples) -> float | None:
    """Joules from (seconds, parts); a part is the joules so far, and where they begin anew."""
    joules = 0.0
    for (start, first), (end, last) in itertools.pairwise(samples):
        if not first or len(first) != len(last):
            return None
        for (before, span), (now, _) in zip(first, last, strict=True):
            used = (now - before) % span
            if end - start > span / MOST_W or used > MOST_W * (end - start + 1):
                return None
            joules += used
    return joules


def _rapl(root):
    zones = attached.files(root, "sys/class/powercap/intel-rapl:*")
    zones = [zone for zone in zones if attached.read(zone / "name").startswith("package")]
    if not zones:
        raise LookupError("Linux shows no counter of a CPU package")
    files = "energy_uj", "max_energy_range_uj"
    return [tuple(int((zone / file).read_text()) / 1e6 for file in files) for zone in zones]


def _nvml(gpu):
    if gpu is None:
        import pynvml as gpu
    gpu.nvmlInit()
    boards = map(gpu.nvmlDeviceGetHandleByIndex, range(gpu.nvmlDeviceGetCount()))
    return [(gpu.nvmlDeviceGetTotalEnergyConsumption(b) / 1e3, 2**64 / 1e3) for b in boards]


def upper_limit(seconds: float, accelerator: str) -> tuple[float | None, str]:
    """Give joules by design power times time, and whose power that is: never a measurement.

    None where none is published. The name is as for `hardware.match`.

    >>> upper_limit(100, "Tesla T4")
    (7000.0, '70 W (TDP) of NVIDIA T4, published and not measured')
    """
    row = hardware.match(accelerator)
    if not (row and row.power_w) or row.power_kind.startswith("measured"):
        return None, f"no design power of {accelerator} is published"
    power = f"{row.power_w:g} W ({row.power_kind}) of {row.name}"
    return row.power_w * seconds, f"{power}, published and not measured"
