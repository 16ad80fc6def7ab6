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

__all__ = ["judge", "match", "peak"]

#: A rate is too high only when it is beyond the limit by this factor. A chip's clock can boost
#: (the H100's own sheet implies 1.83 GHz for one figure and 1.98 for another, 8 %), and sources
#: differ (TPU v3: 123 TFLOP/s, and 140 in JAX's table, 14 %). Not waiting gives far more.
MARGIN = 1.15

# Number type -> the columns of those units of a chip that can compute in it. Of these columns, the
# one with the highest rate is the peak.
_GPU_PATHS = {
    # TensorFlow and JAX multiply float32 in TF32 by default where the chip has it.
    "float32": ("peak_tf32_tflops_dense", "peak_fp32_tflops"),
    "tfloat32": ("peak_tf32_tflops_dense",),
    "float16": ("peak_fp16_tflops_dense", "peak_fp32_tflops"),
    # A chip with no bfloat16 units (T4, V100, P100) widens it to float32 first.
    "bfloat16": ("peak_bf16_tflops_dense", "peak_fp32_tflops"),
    "float8": ("peak_fp8_tflops_dense",),
    "int8": ("peak_int8_tops_dense",),
    "float64": (),
}
# A TPU's matrix unit multiplies in bfloat16 by default, whatever the float type of the arrays.
_TPU_PATHS = _GPU_PATHS | {
    name: ("peak_bf16_tflops_dense",) for name in ("float32", "float16", "bfloat16")
}
# Unit of a rate -> what its figures in the table are of.
_SCALES = {"FLOP/s": 1e12, "B/s": 1e9}


@dataclass(frozen=True)
class Accelerator:
    """One row of ``data/accelerators.csv``; None: no such units, or no figure published."""

    name: str
    kind: str  # "GPU", "TPU" or "CPU"
    unit: str  # what the figures are of, such as "card", "chip" or "core"
    peak_fp32_tflops: float | None  # all peaks are dense, never doubled for sparse matrices
    peak_tf32_tflops_dense: float | None
    peak_fp16_tflops_dense: float | None
    peak_bf16_tflops_dense: float | None
    peak_fp8_tflops_dense: float | None
    peak_int8_tops_dense: float | None
    mem_gb: float | None
    mem_bw_gb_s: float | None  # bandwidth, in 1e9 B/s
    power_w: float | None
    confidence: str  # "high", "medium" or "low"
    less_sure: tuple[str, ...]  # columns that deserve less trust than the row
    on_chip_mib: float | None  # a GPU's L2 cache, a TPU's vector memory
    names: tuple[str, ...]  # those that systems give it, without "NVIDIA" and "Tesla"


@dataclass(frozen=True)
class Plausibility:
    """What `judge` answers: a verdict, a rate and its limit, their ratio, a sentence.

    And what it was asked about: the work, the time that it took, and the device's row.
    """

    verdict: str  # "plausible", "above ceiling", "impossible" or "unknown"
    rate: float  # in FLOP/s or B/s
    limit: float | None  # the published rate, in the same unit; None: none is published
    share: float | None  # rate / limit
    reason: str
    work: float | None = None  # operations or bytes
    time: Any = None  # as it was passed: seconds, or a measurement
    chip: Accelerator | None = None  # None: the device is not in the table

    def __str__(self) -> str:
        return f"{self.verdict}: {self.reason}"


# The sentences that follow the numbers of an answer.
_IMPOSSIBLE = (
    " Either the clock stopped before the work was done (wait for the result), or less was done"
    " than was counted: fewer operations or bytes, or a narrower number type."
)
_DOUBTED = " The table doubts that figure (see its confidence_note): a warning, and no proof."
_ON_CHIP = " So little data may stay in the chip's own, faster memory: use a larger array."
_JUST_ABOVE = f" Up to {MARGIN - 1:.0%} above is possible: clocks and sources differ."


@functools.cache
def load() -> tuple[Accelerator, ...]:
    """Return the rows of the table of accelerators; it has more columns, for people to read."""
    file = Path(__file__).parents[1] / "data" / "accelerators.csv"
    rows = csv.DictReader(file.read_text("utf-8").splitlines())
    return tuple(map(_accelerator, rows))


def _accelerator(cells: dict[str, str]) -> Accelerator:
    """Return a row of the table, in which a number may be missing; a list is "T4;Tesla T4"."""
    values: dict[str, Any] = {column.name: cells[column.name] for column in fields(Accelerator)}
    for name, text in values.items():
        if name in ("less_sure", "names"):
            values[name] = tuple(filter(None, text.split(";")))
        elif name not in ("name", "kind", "unit", "confidence"):
            values[name] = float(text) if text else None
    return Accelerator(**values)


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
    plain_name = _plain(name)
    rows = [row for row in load() if plain_name in map(_plain, row.names)]
    # A name that fits several rows names none of them.
    if len(rows) != 1:
        return None
    return rows[0]


def _plain(name: str) -> str:
    """Return a device's name in the form in which names are compared: "Tesla T4" -> "t4"."""
    words = " ".join(name.lower().replace("-", " ").split())
    return words.removeprefix("nvidia ").removeprefix("tesla ")


def peak(accelerator: Accelerator, dtype: str = "float32") -> float | None:
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
    column = _peak_column(accelerator, dtype)
    if column is None:
        return None
    return getattr(accelerator, column)


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
    rate is "plausible". Without a published figure the verdict is "unknown", as it is for every
    CPU and where no device is named.

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
    unit, work = "FLOP/s", flops
    if bytes_moved is not None:
        unit, work = "B/s", bytes_moved
    work = positive(work, "flops or bytes_moved")
    elapsed = positive(getattr(seconds, "median", seconds), "seconds")
    rate = work / elapsed
    row = match(accelerator) if isinstance(accelerator, str) else accelerator
    column, meaning = _limit_column(row, unit, dtype)
    if row is None or column is None:
        cause = f"{getattr(row, 'name', accelerator)}: {meaning}"
        if accelerator is None:
            cause = "no accelerator was named"
        reason = f"There is no published limit for this rate ({cause})."
        return Plausibility("unknown", rate, None, None, reason, work, seconds, row)
    limit = getattr(row, column) * _SCALES[unit]
    # In one pass the chip's own memory saves each byte that it holds one read and one write. How
    # much an unknown one holds is unknown, too: then it may have saved all of them.
    saved_bytes = 0.0
    if unit == "B/s":
        saved_bytes = 2 * (row.on_chip_mib or math.inf) * 2**20
    lowest_rate = (work - saved_bytes) / elapsed
    is_doubted = row.confidence != "high" or column in row.less_sure
    verdict, comment = _verdict(rate, lowest_rate=lowest_rate, limit=limit, is_doubted=is_doubted)
    core = " core" if row.unit == "core" else ""
    published = f"the published {format_rate(limit, unit)} of {row.name}{core} ({meaning})"
    share = rate / limit
    reason = f"{format_rate(rate, unit)} is {share:.3g} times {published}.{comment}"
    return Plausibility(verdict, rate, limit, share, reason, work, seconds, row)


def _verdict(rate: float, *, lowest_rate: float, limit: float, is_doubted: bool) -> tuple[str, str]:
    """Return the verdict on a rate, and the sentence that explains it (empty: none is needed).

    All rates are in the same unit. `lowest_rate` is the rate if the data that the chip's own
    memory can hold was never moved; it may be below zero. `is_doubted`: the table doubts `limit`.
    """
    highest = MARGIN * limit
    if rate <= limit:
        return "plausible", ""
    if rate <= highest:
        return "plausible", _JUST_ABOVE
    if is_doubted:
        return "above ceiling", _DOUBTED
    if lowest_rate <= highest:
        return "above ceiling", _ON_CHIP
    return "impossible", _IMPOSSIBLE


def _limit_column(row: Accelerator | None, unit: str, dtype: Any) -> tuple[str | None, str]:
    """Return the column that limits a rate, and what it is of: ("peak_fp32_tflops", "float32").

    Without one, None and the reason are returned. Raises ValueError for an unknown `dtype`.
    """
    if row is None:
        return None, "it is not in the table"
    if row.kind == "CPU":
        return None, "no sheet is used for a CPU, too much differs between machines"
    if unit == "B/s":
        return "mem_bw_gb_s", "memory"
    name = _dtype_name(dtype)
    column = _peak_column(row, name)
    if column is None:
        return None, f"no figure for {name}"
    return column, name


def _peak_column(row: Accelerator, dtype: Any) -> str | None:
    """Return the name of the column with the highest rate at which a chip computes in a type.

    None where the row has no figure for that type. Raises ValueError for an unknown `dtype`.
    """
    paths = _TPU_PATHS if row.kind == "TPU" else _GPU_PATHS
    columns = paths[_dtype_name(dtype)]
    known_columns = [column for column in columns if getattr(row, column) is not None]
    return max(known_columns, key=lambda column: getattr(row, column), default=None)


def _dtype_name(dtype: Any) -> str:
    """Return the table's name of a number type: "bf16" and "mixed_bfloat16" -> "bfloat16".

    Raises ValueError for a type that the table does not know.
    """
    text = re.sub(r"f(p|loat)?(?=\d)", "float", str(dtype).lower())
    for name in re.findall(r"[a-z]+\d+", text):
        if name in _GPU_PATHS:
            return name
    raise ValueError(f"dtype is {dtype!r}; the table knows {', '.join(_GPU_PATHS)}.")
