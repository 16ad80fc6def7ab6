"""What a step takes on a chip that is not here: three terms, fitted once, one after the other.

A roofline taken apart (Williams, Waterman and Patterson, 2009,
https://doi.org/10.1145/1498765.1498785): products over a share of the published peak, traffic over
the published bandwidth, and a time for each operation that starts when the last one has.
"""

import functools
import importlib.resources
from collections.abc import Mapping
from dataclasses import dataclass

from accel_helpers import _records
from accel_helpers._words import shown
from accel_helpers.machine import hardware

FULL = {
    **{"A100": "A100-SXM4-40GB", "H100": "H100-SXM5-80GB"},
    **{"V100": "V100-SXM2-16GB", "P100": "P100-PCIE-16GB"},
}
LOW_POWER = 75  # watts; such cards reach less of their peaks, for want of power
KEPT = 3  # numbers kept for the way back for each that a product makes; at least one


@dataclass(frozen=True)
class Fit:
    """What `tools/forecast.py --fit` found in the published measurements: data/forecast.toml."""

    made_on: str
    rows: int
    sources: tuple[str, ...]
    chips: tuple[str, ...]  # of which rows were fitted
    width: float  # 8 of 10 published times lie within the forecast times and over this
    width_of_new_chips: float
    constants: Mapping[str, float]


@functools.cache
def fitted() -> Fit:
    path = importlib.resources.files("accel_helpers") / "data" / "forecast.toml"
    return _records.read(Fit, _records.load(path, "table of constants"), "forecast.toml")


@dataclass(frozen=True)
class Load:
    """The work of one forward pass, and what the optimizer keeps."""

    product_flops: float
    made: float  # numbers made by the layers that multiply with weights
    parameters: float
    operations: float
    kept: float = 0.0


@dataclass(frozen=True)
class Row:
    """What is said of one chip; of a TPU neither terms nor an interval."""

    chip: str
    terms: Mapping[str, float]  # seconds in products, traffic, operations
    step: tuple[float, float, float]  # seconds, low and high; of a TPU thrice the least
    memory: str  # "fits", "may not fit" or "does not fit"
    fitted: bool  # rows of this chip were

    @property
    def largest(self) -> str:
        return max(self.terms, key=self.terms.get, default="")


def terms(
    load: Load,
    chip: hardware.Accelerator,
    dtype: str = "tfloat32",
    training: bool = True,
    casts: bool = False,
    constants: Mapping[str, float] | None = None,
) -> dict[str, float]:
    """Seconds in products, traffic and operations.

    A `dtype` that the chip has no units for runs as float32; `casts` is mixed precision where
    Python sends off each operation.
    """
    constants = constants or fitted().constants
    half = chip.peak_bf16_tflops_dense if dtype == "bfloat16" else chip.peak_fp16_tflops_dense
    peaks = {"16_bit": half, "tfloat32": chip.peak_tf32_tflops_dense}
    kind = "16_bit" if "16" in dtype else dtype
    kind = kind if peaks.get(kind) else "float32"
    peaks["float32"] = chip.peak_fp32_tflops
    reached = constants["low_power"] if chip.power_w <= LOW_POWER else 1
    size, when = _size(dtype), "training" if training else "inference"
    rate = 1e12 * peaks[kind] * constants[f"share_of_{kind}"] * reached
    weights = 4 * constants["weights_training"] if training else size
    moved = constants[f"passes_{when}"] * load.made * size + weights * load.parameters
    each = constants[f"operation_{when}"] * (constants["casts"] if casts else 1)
    return {
        "products": (3 if training else 1) * load.product_flops / rate,
        "traffic": moved / (1e9 * chip.mem_bw_gb_s * reached),
        "operations": each * load.operations,
    }


def _size(dtype: str) -> int:
    return 2 if "16" in dtype else 4


def interval(chip: hardware.Accelerator, seconds: float) -> tuple[float, float]:
    """In which 8 of 10 published times of such a forecast lie."""
    fit = fitted()
    width = fit.width if chip.name in fit.chips else fit.width_of_new_chips
    return seconds / width, seconds * width


def on_chip(load: Load, name: str, dtype: str, training: bool) -> Row:
    """The row of a chip; a ValueError where it is unknown."""
    chip = hardware.match(FULL.get(name, name)) if isinstance(name, str) else None
    if chip is None or not chip.mem_bw_gb_s:
        known = ", ".join(["T4", "L4", *FULL, "K80", "v5e-1", "v6e-1"])
        raise ValueError(f"no such chip: {shown(name)}. Known: {known}, and full names.")
    known = chip.name in fitted().chips
    memory = _memory(load, chip, dtype, training)
    if chip.kind == "TPU":
        done = (3 if training else 1) * load.product_flops / (1e12 * hardware.peak(chip, dtype))
        moved = (load.made + load.parameters) * _size(dtype) / (1e9 * chip.mem_bw_gb_s)
        return Row(name, {}, (max(done, moved),) * 3, memory, known)
    found = terms(load, chip, "tfloat32" if dtype == "float32" else dtype, training)
    seconds = sum(found.values())
    return Row(name, found, (seconds, *interval(chip, seconds)), memory, known)


def _memory(load: Load, chip: hardware.Accelerator, dtype: str, training: bool) -> str:
    """Weights, gradients and the optimizer's state, and what is kept for the way back."""
    size = _size(dtype)
    if training:
        weights, least = 8 * load.parameters + 4 * load.kept, load.made * size
    else:
        weights, least = size * load.parameters, 0
    if weights + least > 1e9 * chip.mem_gb:
        return "does not fit"
    fits = weights + KEPT * load.made * size < 0.9e9 * chip.mem_gb
    return "fits" if fits else "may not fit"
