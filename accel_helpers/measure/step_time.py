"""What a step takes on a chip that is not here: three terms, fitted once, one after the other.

A roofline taken apart (Williams, Waterman and Patterson, 2009,
https://doi.org/10.1145/1498765.1498785): products over a share of the published peak, traffic over
the published bandwidth, and a time for each operation that starts when the last one has.
"""

import functools
from collections import namedtuple
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace

from accel_helpers import _records
from accel_helpers._words import shown
from accel_helpers.machine import hardware

FITTED = Path(__file__).parents[1] / "data" / "forecast.toml"
FULL = {
    **{"A100": "A100-SXM4-40GB", "H100": "H100-SXM5-80GB"},
    **{"V100": "V100-SXM2-16GB", "P100": "P100-PCIE-16GB"},
}
LOW_POWER = 75  # watts; such cards reach less of their peaks, for want of power
KEPT = 3  # numbers kept for the way back for each that a product makes; at least one
# The work of a forward pass, and how many numbers the optimizer keeps; `made`: by the layers that
# multiply with weights
Load = namedtuple("Load", "product_flops made parameters operations kept", defaults=[0])


@functools.cache
def fitted() -> SimpleNamespace:
    """The constants and widths that `tools/forecast.py --fit` found in published measurements."""
    return SimpleNamespace(**_records.load(FITTED, "table of constants"))


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


def terms(load, chip, dtype="tfloat32", training=True, casts=False, constants=None):
    """Seconds in products, traffic and operations.

    A `dtype` that the chip has no units for runs as float32; `casts` is mixed precision where
    Python sends off each operation.
    """
    constants = constants or fitted().constants
    half = chip.peak_bf16_tflops_dense if dtype == "bfloat16" else chip.peak_fp16_tflops_dense
    peaks = {"16_bit": half, "tfloat32": chip.peak_tf32_tflops_dense}
    kind = "16_bit" if "16" in dtype else dtype
    kind = kind if peaks.get(kind) else "float32"
    peak = peaks.get(kind, chip.peak_fp32_tflops)
    reached = constants["low_power"] if chip.power_w <= LOW_POWER else 1
    size, when = _size(dtype), "training" if training else "inference"
    weights = 4 * constants["weights_training"] if training else size
    moved = constants[f"passes_{when}"] * load.made * size + weights * load.parameters
    each = constants[f"operation_{when}"] * (constants["casts"] if casts else 1)
    done = (3 if training else 1) * load.product_flops / constants[f"share_of_{kind}"]
    return {
        "products": done / (1e12 * peak * reached),
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
    memory, known = _memory(load, chip, dtype, training), chip.name in fitted().chips
    if chip.kind == "TPU":
        done = (3 if training else 1) * load.product_flops / (1e12 * hardware.peak(chip, dtype))
        moved = (load.made + load.parameters) * _size(dtype) / (1e9 * chip.mem_bw_gb_s)
        return Row(name, {}, (max(done, moved),) * 3, memory, known)
    found = terms(load, chip, "tfloat32" if dtype == "float32" else dtype, training)
    seconds = sum(found.values())
    return Row(name, found, (seconds, *interval(chip, seconds)), memory, known)


def _memory(load, chip, dtype, training) -> str:
    """Weights, gradients and the optimizer's state, and what is kept for the way back."""
    made = load.made * _size(dtype) * training
    weights = 8 * load.parameters + 4 * load.kept if training else _size(dtype) * load.parameters
    if weights + made > 1e9 * chip.mem_gb:
        return "does not fit"
    return "fits" if weights + KEPT * made < 0.9e9 * chip.mem_gb else "may not fit"
