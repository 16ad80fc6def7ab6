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

from accel_helpers._words import format_rate, format_seconds
from accel_helpers.machine import attached, hardware

__all__ = ["meter", "upper_limit"]

MOST_W = 2000  # no CPU package or GPU takes as much; the most in accelerators.csv is 700
SMI = ["nvidia-smi", "--query-gpu=power.draw", "--format=csv,noheader,nounits"]


@dataclass
class Energy:
    """What `meter` gives; it is filled in when the block ends."""

    joules: float | None = None
    how: str = "not measurable here"  # or "RAPL", "NVML", "RAPL and NVML"
    seconds: float = 0.0
    notes: tuple[str, ...] = ()  # what is not in it, and why

    def __str__(self) -> str:
        what = self.how if self.joules is None else f"{format_rate(self.joules, 'J')} by {self.how}"
        return "; ".join([f"Energy in {format_seconds(self.seconds)}: {what}", *self.notes]) + "."


@contextlib.contextmanager
def meter(*, root=Path("/"), gpu=None, run=attached.run_command, clock=time.monotonic, every=2.0):
    """Measure what all CPU packages (not their memory) and NVIDIA GPUs take in a ``with`` block.

    A gap in the readings leaves no number. A GPU's are up to a second old: let the block last ten.

    Parameters
    ----------
    root, gpu, run, clock, every : optional
        The folder of /sys, what answers as ``pynvml``, what runs nvidia-smi where that does not
        (its watts are integrated), a clock in seconds, and the seconds between two readings.

    Yields
    ------
    Energy
        After the block: ``joules`` (None: not measured), ``how``, ``seconds``, ``notes``.

    Examples
    --------
    >>> with meter() as energy:
    ...     work = sum(range(1_000))
    >>> (energy.joules is None) == (energy.how == "not measurable here")
    True
    """
    energy, samples, done = Energy(), [], threading.Event()
    looks = {"RAPL": lambda: _rapl(root), "NVML": lambda: _nvml(gpu, run)}

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
        energy.joules = total(samples, every) or None
        if energy.joules is not None:
            energy.how = " and ".join(looks)
        elif looks:
            energy.notes += ("the readings have a gap, or stand still",)


def total(samples, every: float = 2.0) -> float | None:
    """Joules from (seconds, parts), a part being (joules so far, where they wrap) or (watts, 0)."""
    joules = 0.0
    for (start, first), (end, last) in itertools.pairwise(samples):
        gap = end - start
        if not first or len(first) != len(last):
            return None
        for (before, span), (now, _) in zip(first, last, strict=True):
            used = (now - before) % span if span else gap * (before + now) / 2
            if gap > (span / MOST_W if span else 5 * every) or used > MOST_W * (gap + 1):
                return None
            joules += used
    return joules


def upper_limit(seconds: float, accelerator: str) -> tuple[float | None, str]:
    """Give design power times time, which one chip can hardly exceed: never a measurement.

    Parameters
    ----------
    seconds, accelerator : float, str
        How long it works, and its name as for `hardware.match`.

    Returns
    -------
    float or None, str
        The joules, and whose power that is, or that there is none.

    Examples
    --------
    >>> upper_limit(100, "Tesla T4")
    (7000.0, '70 W (TDP) of NVIDIA T4, published and not measured')
    """
    row = hardware.match(accelerator)
    if not (row and row.power_w) or row.power_kind.startswith("measured"):
        return None, f"no design power of {accelerator} is published"
    joules, power = row.power_w * seconds, f"{row.power_w:g} W ({row.power_kind}) of {row.name}"
    return joules, f"{power}, published and not measured"


def _rapl(root):
    zones = attached.files(root, "sys/class/powercap/intel-rapl:*")
    zones = [zone for zone in zones if attached.read(zone / "name").startswith("package")]
    if not zones:
        raise LookupError("Linux shows no counter of a CPU package")
    files = "energy_uj", "max_energy_range_uj"
    return [tuple(int((zone / file).read_text()) / 1e6 for file in files) for zone in zones]


def _nvml(gpu, run):
    with contextlib.suppress(Exception):  # no pynvml, driver or board, or one before Volta
        if gpu is None:
            import pynvml as gpu
        gpu.nvmlInit()
        boards = map(gpu.nvmlDeviceGetHandleByIndex, range(gpu.nvmlDeviceGetCount() or 1))
        return [(gpu.nvmlDeviceGetTotalEnergyConsumption(b) / 1e3, 2**64 / 1e3) for b in boards]
    watts = [(float(line), 0) for line in run(SMI, attached.NVIDIA_SMI_SECONDS).splitlines()]
    if not watts:
        raise LookupError("no NVIDIA GPU answers")
    return watts
