"""Published peaks of the accelerators, and one question of a measurement: can this be true?"""

import csv
import functools
import math
import re
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from accel_helpers._values.records import positive
from accel_helpers._values.words import format_rate

#: A rate is too high only when it is beyond the limit by this factor. A chip's clock can boost
#: (the H100's own sheet implies 1.83 GHz for one figure and 1.98 for another, 8%), and sources
#: differ (TPU v3: 123 TFLOP/s, and 140 in JAX's table, 14%). Not waiting gives far more.
MARGIN = 1.15

# Number type -> the columns of those units of a chip that can compute in it, the fastest first.
# TPUs have no figures for wider floats than bfloat16: by default they multiply those in it.
_COLUMNS = {
    "tfloat32": ("peak_tf32_tflops_dense",),
    # TensorFlow and JAX multiply float32 in TF32 by default where the chip has it.
    "float32": ("peak_tf32_tflops_dense", "peak_fp32_tflops", "peak_bf16_tflops_dense"),
    # A chip with no bfloat16 units (T4, V100, P100) widens it to float32 first.
    "bfloat16": ("peak_bf16_tflops_dense", "peak_fp32_tflops"),
    "float16": ("peak_fp16_tflops_dense", "peak_fp32_tflops", "peak_bf16_tflops_dense"),
    "float8": ("peak_fp8_tflops_dense",),
    "int8": ("peak_int8_tops_dense",),
    "float64": (),
}
#: A figure of the table. None: no such units, or no figure published.
Figure = float | None
Names = tuple[str, ...]


@dataclass(frozen=True)
class Accelerator:
    """One row of ``data/accelerators.csv``."""

    name: str
    kind: str  # "GPU", "TPU" or "CPU"
    peak_fp32_tflops: Figure  # all peaks are dense, never doubled for sparse matrices
    peak_tf32_tflops_dense: Figure
    peak_fp16_tflops_dense: Figure
    peak_bf16_tflops_dense: Figure
    peak_fp8_tflops_dense: Figure
    peak_int8_tops_dense: Figure
    mem_gb: Figure
    mem_bw_gb_s: Figure  # bandwidth, in 1e9 B/s
    power_w: Figure
    confidence: str  # "high", "medium" or "low"
    less_sure: Names  # columns that deserve less trust than the row
    on_chip_mib: Figure  # a GPU's L2 cache, a TPU's vector memory
    names: Names  # those that systems give it, without "NVIDIA" and "Tesla"


@dataclass(frozen=True)
class Plausibility:
    """What `judge` answers: a verdict, a rate and its limit, their ratio, a sentence.

    And what it was asked about: the work, the time that it took, and the device's row.
    """

    verdict: str  # "plausible", "above ceiling", "impossible" or "unknown"
    rate: float  # in FLOP/s or B/s
    limit: Figure  # the published rate, in the same unit
    share: Figure  # rate / limit
    reason: str
    work: float  # operations or bytes
    time: Any  # as it was passed: seconds, or a measurement
    chip: Accelerator | None  # None: the device is not in the table

    def __str__(self) -> str:
        return f"{self.verdict}: {self.reason}"


@functools.cache
def load() -> tuple[Accelerator, ...]:
    """Return the rows of the table of accelerators; it has more columns, for people to read."""
    file = Path(__file__).parents[1] / "data" / "accelerators.csv"
    rows = []
    for cells in csv.DictReader(file.read_text("utf-8").splitlines()):
        values = [_value(cells[column.name], column.type) for column in fields(Accelerator)]
        rows.append(Accelerator(*values))
    return tuple(rows)


def _value(cell: str, kind: Any) -> Any:
    """Return what a cell of the table holds: a text, a figure, or names as in "T4;Tesla T4"."""
    if kind is str:
        return cell
    if kind is Names:
        return tuple(filter(None, cell.split(";")))
    return float(cell) if cell else None


def match(name: str) -> Accelerator | None:
    """Return the row of a device by the name that a system has for it; None where it has no row.

    A close relative's row is never returned: it has other figures. JAX shows each *core* of a TPU
    v2 or v3 as a device, so for those names the core's row is returned.

    Parameters
    ----------
    name : str
        As reported by nvidia-smi or a framework, or as in Colab's menu ("v5e-1").

    Examples
    --------
    >>> match("Tesla T4").name, match("NVIDIA A100")
    ('NVIDIA T4', None)
    """
    rows = {_plain(each): row for row in load() for each in row.names}
    return rows.get(_plain(name))


def _plain(name: str) -> str:
    """Return a device's name in the form in which names are compared: "Tesla T4" -> "t4"."""
    return re.sub("nvidia|tesla|[- ]", "", name.lower())


def peak(accelerator: Accelerator | None, dtype: str = "float32") -> float | None:
    """Return the fastest dense rate at which a chip really computes in a number type.

    By default TensorFlow and JAX multiply float32 in TF32 on a GPU that has it, and a TPU
    multiplies floats in bfloat16. A 16-bit type with no units of its own is widened first.

    Parameters
    ----------
    accelerator : Accelerator
        A row of the table, as `match` gives it.
    dtype : str or a dtype object
        float64, float32, tfloat32, float16, bfloat16, float8 or int8, or what means one of them,
        such as bf16 and mixed_float16.

    Returns
    -------
    float or None
        In TFLOP/s (int8: TOP/s); None where the table has no figure.

    Raises
    ------
    ValueError
        If `dtype` is another number type.

    Examples
    --------
    >>> peak(match("NVIDIA A100-SXM4-40GB"), "float32")    # TF32, not the 19.5 of plain float32
    156.0
    """
    column = _first_known(accelerator, _COLUMNS[_dtype_name(dtype)])
    return getattr(accelerator, column, None)


def roof(accelerator: Accelerator | None) -> tuple[float, float] | None:
    """Return the bytes and the float32 FLOP of a second by the data sheet; None if one is unknown.

    >>> roof(match("Tesla T4"))
    (320000000000.0, 8100000000000.0)
    """
    flops = peak(accelerator)
    moved = getattr(accelerator, "mem_bw_gb_s", None)
    if not flops or not moved:
        return None
    return 1e9 * moved, 1e12 * flops


def _first_known(chip: Accelerator | None, columns: Names) -> str:
    """Return the first of some columns in which a chip has a figure; empty without one."""
    for column in columns:
        if getattr(chip, column, None):
            return column
    return ""


def judge(
    *,
    flops: float | None = None,
    bytes_moved: float | None = None,
    seconds: Any,
    accelerator: Accelerator | str | None = None,
    dtype: str = "float32",
) -> Plausibility:
    """Say whether a measured time on one device can be true.

    A rate beyond a trusted figure of a GPU or TPU is "impossible". It is "above ceiling" if the
    table doubts the figure, or if the data may have stayed in the chip's own memory. Any lower
    rate is "plausible". Without a published figure the verdict is "unknown", as it is where no
    device is named.

    Parameters
    ----------
    flops, bytes_moved : float
        One of the two: operations done (those of convolutions are overstated by counting), or
        bytes read and written in one pass over the data.
    seconds : float or Measurement
        The measured time of that work; of a measurement it is the median.
    accelerator : Accelerator or str, optional
        The device, or its name as for `match`.
    dtype : str
        As for `peak`; of no account for bytes.

    Returns
    -------
    Plausibility
        The ``verdict``, a ``reason`` in words, the ``rate``, the ``limit`` and its ``share``.

    Raises
    ------
    ValueError
        If not exactly one of `flops` and `bytes_moved` is passed, if it or the time is no finite
        number above zero, or if `dtype` is none of those of `peak`.

    Examples
    --------
    >>> judge(bytes_moved=100e6, seconds=0.038e-3, accelerator="Tesla T4").verdict
    'impossible'
    """
    if None not in (flops, bytes_moved):
        raise ValueError("judge takes flops or bytes_moved, and not both.")
    if bytes_moved is None:
        work, unit, scale = flops, "FLOP/s", 1e12
        limited = _dtype_name(dtype)
        columns = _COLUMNS[limited]
    else:
        work, unit, scale = bytes_moved, "B/s", 1e9
        limited = "memory"
        columns = ("mem_bw_gb_s",)
    work = positive(work, "flops or bytes_moved")
    elapsed = positive(getattr(seconds, "median", seconds), "seconds")
    rate = work / elapsed
    chip = match(accelerator) if isinstance(accelerator, str) else accelerator
    column = _first_known(chip, columns)
    if chip is None or not column:
        device = getattr(chip, "name", accelerator)
        reason = f"No limit is published for accelerator={device!r} and {limited}."
        return Plausibility("unknown", rate, None, None, reason, work, seconds, chip)
    limit = scale * getattr(chip, column)
    share = lowest_share = rate / limit
    if bytes_moved is not None:
        # In one pass the chip's own memory saves each byte that it holds one read and one write.
        # How much an unknown one holds is unknown, too: then it may have saved all of them.
        saved_bytes = 2 * (chip.on_chip_mib or math.inf) * 2**20
        lowest_share = (work - saved_bytes) / elapsed / limit
    is_doubted = chip.confidence != "high" or column in chip.less_sure
    verdict, comment = _verdict(share, lowest_share, is_doubted)
    published = f"the published {format_rate(limit, unit)} of {chip.name} ({limited})"
    reason = f"{format_rate(rate, unit)} is {share:.3g} times {published}.{comment}"
    return Plausibility(verdict, rate, limit, share, reason, work, seconds, chip)


def _verdict(share: float, lowest_share: float, is_doubted: bool) -> tuple[str, str]:
    """Return the verdict on a share of the limit, and a sentence where one is needed.

    `lowest_share` is the share if the data that the chip's own memory can hold was never moved; it
    may be below zero. `is_doubted`: the table doubts the limit.
    """
    if share <= 1:
        return "plausible", ""
    if share <= MARGIN:
        return "plausible", f" Up to {MARGIN - 1:.0%} above is possible: clocks and sources differ."
    if is_doubted:
        comment = (
            " The table doubts that figure (see its confidence_note): a warning, and no proof."
        )
        return "above ceiling", comment
    if lowest_share <= MARGIN:
        comment = " So little data may stay in the chip's own, faster memory: use a larger array."
        return "above ceiling", comment
    return "impossible", (
        " Either the clock stopped before the work was done (wait for the result), or less was done"
        " than was counted: fewer operations or bytes, or a narrower number type."
    )


def _dtype_name(dtype: Any) -> str:
    """Return the table's name of a number type: "bf16" and "mixed_bfloat16" -> "bfloat16".

    Raises ValueError for a type that the table does not know.
    """
    text = re.sub(r"f(p|loat)?(?=\d)", "float", str(dtype).lower())
    # "float16" is a part of "bfloat16", which comes first in the table.
    for name in _COLUMNS:
        if name in text:
            return name
    raise ValueError(f"dtype is {dtype!r}; the table knows {', '.join(_COLUMNS)}.")
