"""What a step takes on a chip that is not here: the bar of lesson 03, calculated.

A roofline taken apart (Williams, Waterman and Patterson, 2009,
https://doi.org/10.1145/1498765.1498785), its terms fitted once and added up: **compute** is matmuls
over a share of the published peak, **memory** is bytes over the published bandwidth, and
**overhead** is a time for each operation, which starts when the last one has.
"""

import functools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import NamedTuple

from accel_helpers._values import records
from accel_helpers._values.words import shown
from accel_helpers.machine import hardware
from accel_helpers.machine.hardware import Accelerator

Span = tuple[float, float]  # low and high
NOT_KNOWN = (0.0, math.inf)  # a span that says nothing

FITTED = Path(__file__).parents[1] / "data" / "forecast.toml"
SCORE = FITTED.with_name("forecast_score.toml")
# the short names of Colab and of most papers; other chips are found by theirs
FULL_NAMES = {
    "A100": "A100-SXM4-40GB",
    "H100": "H100-SXM5-80GB",
    "V100": "V100-SXM2-16GB",
    "P100": "P100-PCIE-16GB",
}
LOW_POWER = 75  # watts; such cards reach less of their peaks, for want of power
KEPT = 3  # numbers kept for the way back for each that a product makes; at least one
# the chip that Colab lends for free: its units for short numbers do nothing for float32
FREE_CHIP = "NVIDIA T4"
# the units that a chip multiplies a number type with, and the column of their TFLOP/s
UNITS = {
    "float32": ("float32", "peak_fp32_tflops"),
    "tfloat32": ("tfloat32", "peak_tf32_tflops_dense"),
    "float16": ("16_bit", "peak_fp16_tflops_dense"),
    "bfloat16": ("16_bit", "peak_bf16_tflops_dense"),
}
# what `ChipRow.memory` says
FITS = "fits"
MAY_NOT_FIT = "may not fit"
DOES_NOT_FIT = "does not fit"


class Load(NamedTuple):
    """What a model, or a part of it, asks of a chip in a forward pass.

    Two parts of a model, a Load each, go back less than the rest in training: what has
    `no_way_back`, since nothing up to there is trained, and what is `frozen` above a layer that is
    trained: it hands a gradient on and needs none for its own weights.
    """

    product_flops: float
    made: float  # numbers made by the layers that multiply with weights
    parameters: float
    operations: float
    kept: float = 0  # numbers that the optimizer keeps
    examples: int = 0  # in the batch; 0 where it is not known
    no_way_back: "Load | None" = None
    frozen: "Load | None" = None


NOTHING = Load(0, 0, 0, 0)


@functools.cache
def fitted() -> SimpleNamespace:
    """Return the constants and widths that were fitted (`python -m tools.forecast --fit`)."""
    return SimpleNamespace(**records.load(FITTED))


@functools.cache
def score() -> dict:
    """Return how many rows lay in their intervals (`python -m benchmarks.forecast_page`)."""
    return records.load(SCORE)


@dataclass(frozen=True)
class ChipRow:
    """What is said of one chip; of a TPU neither terms nor an interval."""

    chip: str
    terms: Mapping  # seconds of compute, memory, overhead; {} where nothing was forecast
    step: Sequence[float]  # seconds, low and high; of a TPU thrice the least
    memory: str = FITS  # or "may not fit", or "does not fit"
    fitting_batch: int = 0  # of what does not fit, the largest power of two that does; 0: none
    float16_seconds: float = 0.0  # of a float32 model on a T4, the step in float16; 0 elsewhere
    price: str = "paid"  # or "free", or "measured", where it was timed and not forecast
    faster: Span = NOT_KNOWN  # times as fast as the machine beside it
    seconds: Span = NOT_KNOWN  # of a whole training, set-up included
    # seconds of training on the other machine from which the chip may pay, and surely pays
    pays_from: Span = NOT_KNOWN
    pays: str = ""  # a verdict

    @property
    def measured(self) -> bool:
        """Whether it was timed, and not forecast."""
        return self.price == "measured"

    @property
    def mostly(self) -> str:
        """The name of the term that is more than half of a step; "" where none is."""
        for name, seconds in self.terms.items():
            if seconds > sum(self.terms.values()) / 2:
                return name
        return ""


def terms(
    load: Load,
    chip: Accelerator,
    dtype: str = "tfloat32",
    training: bool = True,
    casts: bool = False,
    constants: Mapping[str, float] | None = None,
) -> dict[str, float]:
    """Return the seconds of compute, memory and overhead.

    A `dtype` that the chip has no units for runs as float32; `casts` is mixed precision where
    Python sends off each operation. The `constants` are those that were fitted, unless others are
    tried out.
    """
    if constants is None:
        constants = fitted().constants
    units, peak = _units(chip, dtype)
    assert chip.power_w and chip.mem_bw_gb_s  # of the chips here both are published
    # a share of both peaks
    reached = 1.0
    if chip.power_w <= LOW_POWER:
        reached = constants["low_power"]
    share_of_peak = constants[f"share_of_{units}"]
    flops = _flops(load, training) / share_of_peak
    compute = flops / (1e12 * peak * reached)
    moved_bytes = _moved_bytes(load, _bytes_of(dtype), training, constants)
    memory = moved_bytes / (1e9 * chip.mem_bw_gb_s * reached)
    overhead = _overhead(load, training, constants)
    if casts:
        overhead *= constants["casts"]
    return {"compute": compute, "memory": memory, "overhead": overhead}


def _units(chip: Accelerator, dtype: str) -> tuple[str, float]:
    """Return the units that a chip multiplies a dtype with, and their TFLOP/s."""
    units, column = UNITS[dtype]
    peak = getattr(chip, column)
    if peak:
        return units, peak
    # older chips multiply these as float32
    units, column = UNITS["float32"]
    return units, getattr(chip, column)


def _counts(load: Load, name: str) -> tuple[float, float, float]:
    """Return a count of a load, such as "made": of what learns, has no way back, and is frozen."""
    still = getattr(load.no_way_back or NOTHING, name)
    frozen = getattr(load.frozen or NOTHING, name)
    learning = getattr(load, name) - still - frozen
    return learning, still, frozen


def _flops(load: Load, training: bool) -> float:
    """Return the operations of all products, of a forward pass or of a step.

    What is trained has two more on the way back, for its weights and for its input; the first
    layer has one less, but published counts, which the constants were fitted to, have both.
    """
    if not training:
        return load.product_flops
    learning, still, frozen = _counts(load, "product_flops")
    return 3 * learning + still + 2 * frozen


def _weighed(load: Load, name: str, forward: float, whole_step: float) -> float:
    """Return a count of a load, each part of it times what its step does.

    That is `whole_step` for what learns, and `forward` for what has no way back.
    """
    learning, still, frozen = _counts(load, name)
    # of two gradients a frozen layer makes one: half of what training adds to a forward pass
    half_step = (forward + whole_step) / 2
    return whole_step * learning + forward * still + half_step * frozen


def _moved_bytes(load: Load, size: int, training: bool, constants) -> float:
    """Return the effective bytes of a step: counts times fitted passes, `size` bytes a number."""
    forward = constants["passes_inference"]
    if not training:
        return forward * load.made * size + size * load.parameters
    numbers = _weighed(load, "made", forward, constants["passes_training"])
    learning, still, frozen = _counts(load, "parameters")
    weights = 4 * constants["weights_training"] * learning
    # weights that are not trained are read, once on each way; neither gradient nor optimizer
    weights += size * (still + 2 * frozen)
    return numbers * size + weights


def _overhead(load: Load, training: bool, constants) -> float:
    """Return the seconds in which operations start one after the other."""
    forward = constants["operation_inference"]
    if not training:
        return forward * load.operations
    return _weighed(load, "operations", forward, constants["operation_training"])


def _bytes_of(dtype: str) -> int:
    """Return the bytes of a number."""
    return 2 if "16" in dtype else 4


def interval(chip: Accelerator, seconds: float) -> Span:
    """Return the seconds that are to hold 8 of 10 published times of such a forecast."""
    fit = fitted()
    width = fit.width_of_new_chips
    if chip.name in fit.chips:
        width = fit.width
    return seconds / width, seconds * width


def row_of_chip(load: Load, name: str, dtype: str, training: bool) -> ChipRow:
    """Return the row of a chip; a ValueError where it is unknown."""
    chip = None
    if isinstance(name, str):
        chip = hardware.match(FULL_NAMES.get(name, name))
    if chip is None or not chip.mem_bw_gb_s:
        names = ", ".join(["T4", "L4", "G4", *FULL_NAMES, "K80", "v5e-1", "v6e-1"])
        raise ValueError(f"no such chip: {shown(name)}. Known: {names}, and full names.")
    memory = _memory(load, chip, dtype, training)
    fitting_batch = 0
    if memory == DOES_NOT_FIT:
        fitting_batch = _fitting_batch(load, chip, dtype, training)
    parts = {}
    float16_seconds = 0.0
    if chip.kind == "TPU":
        seconds = low = high = _least_seconds(load, chip, dtype, training)
    else:
        # float32 is multiplied in TF32 where the chip has it, as TensorFlow and JAX do
        parts = terms(load, chip, "tfloat32" if dtype == "float32" else dtype, training)
        seconds = sum(parts.values())
        low, high = interval(chip, seconds)
    if chip.name == FREE_CHIP and dtype == "float32":
        float16_seconds = sum(terms(load, chip, "float16", training).values())
    return ChipRow(
        name,
        parts,
        step=(seconds, low, high),
        memory=memory,
        fitting_batch=fitting_batch,
        float16_seconds=float16_seconds,
        price="free" if chip.name == FREE_CHIP else "paid",
    )


def _least_seconds(load: Load, chip: Accelerator, dtype: str, training: bool) -> float:
    """Return what the published peaks of a chip allow at best."""
    peak = hardware.peak(chip, dtype)
    assert peak and chip.mem_bw_gb_s
    computing = _flops(load, training) / (1e12 * peak)
    numbers = load.made + load.parameters
    moved_bytes = numbers * _bytes_of(dtype)
    moving = moved_bytes / (1e9 * chip.mem_bw_gb_s)
    return max(computing, moving)


def _memory(load: Load, chip: Accelerator, dtype: str, training: bool) -> str:
    """Say whether weights, gradients, optimizer and what is kept for the way back fit."""
    size = _bytes_of(dtype)
    weights = size * load.parameters
    activations = 0.0
    if training:
        # each of these numbers has four bytes, also in mixed precision
        trained, _, _ = _counts(load, "parameters")
        weights = 4 * (load.parameters + trained + load.kept)
        _, without_way_back, _ = _counts(load, "made")
        activations = size * (load.made - without_way_back)
    assert chip.mem_gb
    room = 1e9 * chip.mem_gb
    if weights + activations > room:
        return DOES_NOT_FIT
    if weights + KEPT * activations < 0.9 * room:
        return FITS
    return MAY_NOT_FIT


def _fitting_batch(load: Load, chip: Accelerator, dtype: str, training: bool) -> int:
    """Return the largest power of two that fits as a batch, below that of the load; 0: none."""
    still = load.no_way_back or NOTHING
    batch = 2 ** load.examples.bit_length() // 2
    while batch > 0:
        share = batch / load.examples
        smaller_part = still._replace(made=share * still.made)
        smaller = load._replace(made=share * load.made, no_way_back=smaller_part)
        if _memory(smaller, chip, dtype, training) == FITS:
            return batch
        batch //= 2
    return 0


def is_light(load: Load) -> bool:
    """Return whether an example takes few multiplications, as those that `score` tells apart."""
    multiplications = load.product_flops / 2
    return multiplications < 1e9 * score()["light"]["below_gmac"] * load.examples
