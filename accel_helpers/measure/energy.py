"""The energy that NVIDIA GPUs took for some work, by the counter of each board.

NVML counts the millijoules of a board since its driver was loaded; GPUs from Volta on have that
counter. Source: https://docs.nvidia.com/deploy/nvml-api. A CPU is not measured: Linux lets only
root read its counter.
"""

import contextlib
import importlib
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

from accel_helpers._values.words import format_rate, format_seconds, wrapped
from accel_helpers.machine import hardware

__all__ = ["meter", "upper_limit"]


@dataclass
class Energy:
    """The energy that the NVIDIA GPUs took for a block of code; `meter` fills it in.

    A board is one GPU; its counter is the joules that it took since its driver was loaded.
    """

    OUTCOMES: ClassVar = ("measured", "no counter")  # of its `verdict`

    joules: float | None = None  # of all boards together; None: not measured
    how: str = "not measurable here"  # or "NVML"
    seconds: float = 0.0  # how long the block took
    notes: tuple[str, ...] = ()  # why `joules` is None

    @property
    def verdict(self) -> str:
        """Return "measured", or "no counter" where `joules` is None."""
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
def meter(*, gpu: Any = None, clock: Callable[[], float] = time.monotonic) -> Iterator[Energy]:
    """Measure the energy that all NVIDIA GPUs of this machine take in a ``with`` block.

    A reading of a counter is up to a second old: let the block last ten seconds or more. Without
    an NVIDIA GPU nothing is raised: `joules` stays None, and `notes` says why.

    Parameters
    ----------
    gpu : optional
        For tests: an object to use in place of the module ``pynvml``.
    clock : callable, optional
        For tests: returns the time in seconds.

    Yields
    ------
    Energy
        Filled in when the block ends: `joules` (None: not measured), `how`, `seconds`, `notes`.

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


def _read(gpu: Any, energy: Energy) -> list[float] | None:
    """Return the joules that each board has counted so far, or None where NVML cannot be read.

    In that case a note with the reason is added to `energy`. `gpu` is that of `meter`.
    """
    try:
        return _counters(gpu)
    except Exception as error:  # NVML has errors of its own
        energy.notes += (f"no NVML: {error}",)
        return None


def _counters(gpu: Any) -> list[float]:
    """Return the joules that each board has counted since the driver was loaded.

    `gpu` is the module ``pynvml``, or None to import it. Raises ImportError without that module,
    LookupError where the driver lists no GPU, and errors of NVML's own.
    """
    if gpu is None:
        gpu = importlib.import_module("pynvml")
    gpu.nvmlInit()
    count = gpu.nvmlDeviceGetCount()
    if count == 0:
        raise LookupError("the driver lists no GPU")
    boards = [gpu.nvmlDeviceGetHandleByIndex(index) for index in range(count)]
    # NVML counts in millijoules.
    return [gpu.nvmlDeviceGetTotalEnergyConsumption(board) / 1e3 for board in boards]


def _fill_in(energy: Energy, before: list[float], after: list[float]) -> None:
    """Set `joules` and `how` of `energy`, or add a note to it if the readings cannot be used.

    `before` and `after` are the joules that each board had counted.
    """
    if len(before) != len(after):
        energy.notes += ("a GPU came or went in between",)
        return
    differences = [end - start for start, end in zip(before, after, strict=True)]
    # The driver counts from 0 again when it is loaded anew, and no board takes nothing at all.
    if min(differences) < 0 or sum(differences) == 0:
        energy.notes += ("a counter stood still, or started again",)
        return
    energy.joules = sum(differences)
    energy.how = "NVML"


def upper_limit(seconds: float, accelerator: str) -> tuple[float | None, str]:
    """Return the joules that a chip takes at its design power: a limit, and no measurement.

    Parameters
    ----------
    seconds : float
        How long the work takes.
    accelerator : str
        The name of a chip, as for `hardware.match`, such as "Tesla T4".

    Returns
    -------
    tuple of (float or None, str)
        The joules, and whose power that is. None, and a sentence that says so, where no design
        power of the chip is published.

    Examples
    --------
    >>> upper_limit(100, "Tesla T4")
    (7000.0, '70 W (TDP) of NVIDIA T4, published and not measured')
    """
    row = hardware.match(accelerator)
    if row is None or not row.power_w or row.power_kind.startswith("measured"):
        return None, f"no design power of {accelerator} is published"
    power = f"{row.power_w:g} W ({row.power_kind}) of {row.name}"
    return row.power_w * seconds, f"{power}, published and not measured"
