"""How long a step takes on a chip that is not here: a sum of three terms, fitted once."""

import functools
import importlib.resources
from collections.abc import Mapping
from dataclasses import dataclass

from accel_helpers import _records
from accel_helpers.machine.hardware import Accelerator

LOW_POWER = 75  # watts; such cards reach less of their peaks, for want of power


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


def terms(
    work,
    chip: Accelerator,
    dtype: str = "tfloat32",
    training: bool = True,
    casts: bool = False,
    constants: Mapping[str, float] | None = None,
) -> dict[str, float]:
    """Seconds of one step: products, traffic and operations, one after the other.

    The `work` is that of a forward pass: `product_flops`, numbers `made` by the layers that
    multiply, `parameters`, `operations`. A `dtype` that the chip has no units for runs as
    float32; `casts` is mixed precision where each operation is sent off by Python.
    """
    constants = constants or fitted().constants
    half = chip.peak_bf16_tflops_dense if dtype == "bfloat16" else chip.peak_fp16_tflops_dense
    peaks = {
        "16_bit": half,
        "tfloat32": chip.peak_tf32_tflops_dense,
        "float32": chip.peak_fp32_tflops,
    }
    kind = "16_bit" if "16" in dtype else dtype
    kind = kind if peaks[kind] else "float32"
    reached = constants["low_power"] if chip.power_w <= LOW_POWER else 1
    size = 2 if "16" in dtype else 4
    when = "training" if training else "inference"
    rate = 1e12 * peaks[kind] * constants[f"share_of_{kind}"] * reached
    weights = 4 * constants["weights_training"] if training else size
    moved = constants[f"passes_{when}"] * work.made * size + weights * work.parameters
    each = constants[f"operation_{when}"] * (constants["casts"] if casts else 1)
    return {
        "products": (3 if training else 1) * work.product_flops / rate,
        "traffic": moved / (1e9 * chip.mem_bw_gb_s * reached),
        "operations": each * work.operations,
    }
