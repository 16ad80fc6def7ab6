"""The stored answers of the TPU compiler on the lessons' models; nothing has to be installed."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from accel_helpers._values import records
from accel_helpers.tpu.answers import Allocation, Collective, CompiledStep

# A file for each model and chip, and one for single matrix products. `tools/tpu_programs.py`
# makes them.
DATA = Path(__file__).parent / "tpu_programs"
PRODUCTS = DATA / "products.json"


@dataclass(frozen=True)
class Product:
    """A matrix product (m, k) times (k, n) in bfloat16, as the compiler lays it out for a TPU."""

    chip: str
    m: int
    k: int
    n: int
    instructions: int  # how often the program feeds the matrix unit
    estimated_cycles: int  # of the whole program, data movement included; no measurement
    arrays: Sequence[str]  # inputs and output in memory: "bf16[128,10]{0,1:T(8,128)(2,1)}"


def stored_step(name: str, chip: str = "v5e") -> CompiledStep:
    """Load the stored answer for one of the lessons' models.

    Parameters
    ----------
    name : str
        The model, such as "quickstart".
    chip : str, optional
        "v5e" or "v6e".

    Examples
    --------
    >>> print(stored_step("quickstart").headline)
    quickstart, batch of 32, in float32, written by JAX, for one TPU v5e (no TPU was used)
    """
    file = DATA / f"{name}-{chip}.json"
    fields = records.load(file)
    fields["largest"] = [Allocation(**each) for each in fields.get("largest", [])]
    fields["collectives"] = [Collective(**each) for each in fields.get("collectives", [])]
    return CompiledStep(**fields)


def stored_product(m: int, k: int, n: int, chip: str = "v5e") -> Product:
    """Load the stored answer for a product of matrices of shapes (m, k) and (k, n).

    Parameters
    ----------
    m, k, n : int
        The sizes.
    chip : str, optional
        "v5e" or "v6e".

    Raises
    ------
    ValueError
        Where no such product is stored; the message lists the stored ones.

    Examples
    --------
    >>> [stored_product(n, n, n).instructions for n in (128, 129)]
    [8, 36]
    """
    products = [Product(**table) for table in records.load(PRODUCTS)]
    by_name = {f"({it.m}, {it.k}, {it.n}) {it.chip}": it for it in products}
    name = f"({m}, {k}, {n}) {chip}"
    if name not in by_name:
        raise ValueError(f"No product {name} is stored. There are: {', '.join(by_name)}.")
    return by_name[name]
