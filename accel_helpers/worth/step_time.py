"""What a step takes on a chip that is not here: the bar of lesson 03, calculated.

A roofline taken apart (Williams, Waterman and Patterson, 2009,
https://doi.org/10.1145/1498765.1498785), its terms fitted once and added up: **compute** is matmuls
over a share of the published peak, **memory** is bytes over the published bandwidth, and
**overhead** is a time for each operation, which starts when the last one has.
"""

import functools
from collections import namedtuple
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace

from accel_helpers._values import records
from accel_helpers._values.words import shown
from accel_helpers.machine import hardware

FITTED = Path(__file__).parents[1] / "data" / "forecast.toml"
SCORE = FITTED.with_name("forecast_score.toml")
FULL = {
    **{"A100": "A100-SXM4-40GB", "H100": "H100-SXM5-80GB"},
    **{"V100": "V100-SXM2-16GB", "P100": "P100-PCIE-16GB"},
}
LOW_POWER = 75  # watts; such cards reach less of their peaks, for want of power
KEPT = 3  # numbers kept for the way back for each that a product makes; at least one
# The work of a forward pass, and how many numbers the optimizer keeps; `made`: by the layers that
# multiply with weights. Two parts of it, a Load each, go back less than the rest in training: what
# has `no_way_back`, since nothing up to there is trained, and what is `frozen` above a layer that
# is trained: it hands a gradient on and needs none for its own weights.
Load = namedtuple(
    "Load",
    "product_flops made parameters operations kept no_way_back frozen",
    defaults=[0, None, None],
)
NOTHING = Load(0, 0, 0, 0)


@functools.cache
def fitted() -> SimpleNamespace:
    """The constants and widths that were fitted (`python -m tools.forecast --fit`)."""
    return SimpleNamespace(**records.load(FITTED, "table of constants"))


@functools.cache
def score() -> dict:
    """How many rows lay in their intervals (`python -m benchmarks.forecast_page`)."""
    return records.load(SCORE, "score")


@dataclass(frozen=True)
class Row:
    """What is said of one chip; of a TPU neither terms nor an interval."""

    chip: str
    terms: Mapping[str, float]  # seconds of compute, memory, overhead
    step: tuple[float, float, float]  # seconds, low and high; of a TPU thrice the least
    memory: str  # "fits", "may not fit" or "does not fit"
    fitted: bool  # rows of this chip were

    @property
    def largest(self) -> str:
        return max(self.terms, key=self.terms.get, default="")


def terms(load, chip, dtype="tfloat32", training=True, casts=False, constants=None):
    """Seconds of compute, memory and overhead.

    A `dtype` that the chip has no units for runs as float32; `casts` is mixed precision where
    Python sends off each operation.
    """
    load = _whole(load)
    constants = constants or fitted().constants
    half = chip.peak_bf16_tflops_dense if dtype == "bfloat16" else chip.peak_fp16_tflops_dense
    peaks = {"16_bit": half, "tfloat32": chip.peak_tf32_tflops_dense}
    kind = "16_bit" if "16" in dtype else dtype
    kind = kind if peaks.get(kind) else "float32"
    peak = peaks.get(kind, chip.peak_fp32_tflops)
    reached = constants["low_power"] if chip.power_w <= LOW_POWER else 1
    flops = _flops(load, training) / constants[f"share_of_{kind}"]
    moved = _moved(load, _size(dtype), training, constants)
    seconds = _starting(load, training, constants)
    return {
        "compute": flops / (1e12 * peak * reached),
        "memory": moved / (1e9 * chip.mem_bw_gb_s * reached),
        "overhead": seconds * (constants["casts"] if casts else 1),
    }


def _whole(load: Load) -> Load:
    """The same, with parts that can be subtracted."""
    return load._replace(no_way_back=load.no_way_back or NOTHING, frozen=load.frozen or NOTHING)


def _flops(load, training: bool) -> float:
    """Products, of a forward pass or of a step.

    What is trained has two more on the way back, for its weights and for its input; the first
    layer has one less, but published counts, which the constants were fitted to, have both.
    """
    if not training:
        return load.product_flops
    return 3 * load.product_flops - 2 * load.no_way_back.product_flops - load.frozen.product_flops


def _moved(load, size: int, training: bool, constants) -> float:
    """Bytes that cross the memory; `size` is that of a number."""
    forward, whole = constants["passes_inference"], constants["passes_training"]
    if not training:
        return forward * load.made * size + size * load.parameters
    # of two gradients a frozen layer makes one: half of what training adds to a forward pass
    learning = load.made - load.no_way_back.made - load.frozen.made
    numbers = whole * learning + forward * load.no_way_back.made
    numbers += (forward + whole) / 2 * load.frozen.made
    # weights that are not trained are read, once on each way; neither gradient nor optimizer
    learning = load.parameters - load.no_way_back.parameters - load.frozen.parameters
    weights = 4 * constants["weights_training"] * learning
    weights += size * (load.no_way_back.parameters + 2 * load.frozen.parameters)
    return numbers * size + weights


def _starting(load, training: bool, constants) -> float:
    """Seconds in which operations start one after the other."""
    forward, whole = constants["operation_inference"], constants["operation_training"]
    if not training:
        return forward * load.operations
    learning = load.operations - load.no_way_back.operations - load.frozen.operations
    seconds = whole * learning + forward * load.no_way_back.operations
    return seconds + (forward + whole) / 2 * load.frozen.operations


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
        known = ", ".join(["T4", "L4", "G4", *FULL, "K80", "v5e-1", "v6e-1"])
        raise ValueError(f"no such chip: {shown(name)}. Known: {known}, and full names.")
    load = _whole(load)
    memory, known = _memory(load, chip, dtype, training), chip.name in fitted().chips
    if chip.kind == "TPU":
        done = _flops(load, training) / (1e12 * hardware.peak(chip, dtype))
        moved = (load.made + load.parameters) * _size(dtype) / (1e9 * chip.mem_bw_gb_s)
        return Row(name, {}, (max(done, moved),) * 3, memory, known)
    found = terms(load, chip, "tfloat32" if dtype == "float32" else dtype, training)
    seconds = sum(found.values())
    return Row(name, found, (seconds, *interval(chip, seconds)), memory, known)


def _memory(load, chip, dtype, training) -> str:
    """Weights, gradients and the optimizer's state, and what is kept for the way back."""
    if training:
        learning = load.parameters - load.no_way_back.parameters - load.frozen.parameters
        weights = 4 * (load.parameters + learning + load.kept)
        made = (load.made - load.no_way_back.made) * _size(dtype)
    else:
        weights, made = _size(dtype) * load.parameters, 0
    if weights + made > 1e9 * chip.mem_gb:
        return "does not fit"
    return "fits" if weights + KEPT * made < 0.9e9 * chip.mem_gb else "may not fit"
