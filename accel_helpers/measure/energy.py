"""The energy that NVIDIA GPUs took for some work, by the counter of each board.

NVML counts the millijoules of a board since its driver was loaded; GPUs from Volta on have that
counter. Source: https://docs.nvidia.com/deploy/nvml-api. A CPU is not measured: Linux lets only
root read its counter.
"""

import contextlib
import importlib
import time
from dataclasses import dataclass
from typing import ClassVar

from accel_helpers._values.words import format_rate, format_seconds, wrapped
from accel_helpers.machine import hardware

__all__ = ["meter", "upper_limit"]


@dataclass
class Energy:
    """What `meter` gives; it is filled in when the block ends."""

    OUTCOMES: ClassVar = ("measured", "no counter")  # of its `verdict`

    joules: float | None = None
    how: str = "not measurable here"  # or "NVML"
    seconds: float = 0.0
    notes: tuple[str, ...] = ()  # why there is no number

    @property
    def verdict(self) -> str:
        """Whether there was a counter to read."""
        measured, no_counter = self.OUTCOMES
        if self.joules is None:
            return no_counter
        return measured

    def __str__(self) -> str:
        start = f"Energy in {format_seconds(self.seconds)}: "
        if self.joules is None:
            reasons = "; ".join(self.notes)
            text = f"{start}{self.how}, where no NVIDIA GPU has a counter to read ({reasons})."
        else:
            text = f"{start}{format_rate(self.joules, 'J')} by {self.how}."
        return wrapped(text, indent=2)


@contextlib.contextmanager
def meter(*, gpu=None, clock=time.monotonic):
    """Measure what all NVIDIA GPUs of this machine take in a ``with`` block.

    The block gets an Energy, filled in at its end: `joules` (None: not measured), `how`,
    `seconds`, `notes`. A reading is up to a second old: let the block last ten.

    Parameters
    ----------
    gpu : optional
        For tests: what answers in place of the module ``pynvml``.
    clock : callable, optional
        For tests: the time in seconds.

    Examples
    --------
    >>> with meter() as energy:
    ...     work = sum(range(1_000))
    >>> (energy.joules is None) == (energy.how == "not measurable here")
    True
    """
    energy = Energy()
    before = _read(gpu, energy)
    started = clock()
    try:
        yield energy
    finally:
        energy.seconds = clock() - started
        if before is not None:
            after = _read(gpu, energy)
            if after is not None:
                _fill_in(energy, before, after)


def _read(gpu, energy: Energy) -> list[float] | None:
    """The joules that each board has counted so far; None, with a note, where NVML gives none."""
    try:
        return _counters(gpu)
    except Exception as error:  # NVML has errors of its own
        energy.notes += (f"no NVML: {error}",)
        return None


def _counters(gpu) -> list[float]:
    """The joules that each board has counted since the driver was loaded."""
    if gpu is None:
        gpu = importlib.import_module("pynvml")
    gpu.nvmlInit()
    count = gpu.nvmlDeviceGetCount()
    if count == 0:
        raise LookupError("the driver lists no GPU")
    boards = [gpu.nvmlDeviceGetHandleByIndex(index) for index in range(count)]
    return [gpu.nvmlDeviceGetTotalEnergyConsumption(board) / 1e3 for board in boards]


def _fill_in(energy: Energy, before: list[float], after: list[float]) -> None:
    """Set the joules between two readings, or say why they give none."""
    if len(before) != len(after):
        energy.notes += ("a GPU came or went in between",)
        return
    differences = [end - start for start, end in zip(before, after, strict=True)]
    # A driver that was loaded anew counts from 0 again. A board that takes nothing does not exist.
    if min(differences) < 0 or sum(differences) == 0:
        energy.notes += ("a counter stood still, or started again",)
        return
    energy.joules = sum(differences)
    energy.how = "NVML"


def upper_limit(seconds: float, accelerator: str) -> tuple[float | None, str]:
    """Give joules by design power times time, and whose power that is: never a measurement.

    None where none is published. The name is as for `hardware.match`.

    >>> upper_limit(100, "Tesla T4")
    (7000.0, '70 W (TDP) of NVIDIA T4, published and not measured')
    """
    row = hardware.match(accelerator)
    if row is None or not row.power_w or row.power_kind.startswith("measured"):
        return None, f"no design power of {accelerator} is published"
    power = f"{row.power_w:g} W ({row.power_kind}) of {row.name}"
    return row.power_w * seconds, f"{power}, published and not measured"
