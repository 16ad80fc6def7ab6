"""What the compiler for TPUs made of the lessons' models, kept so that nothing needs installing."""

from dataclasses import dataclass
from pathlib import Path

from accel_helpers._values import records
from accel_helpers.tpu.answers import CompiledStep

# The lessons' models, made by `tools/tpu_programs.py`; and single matrix products.
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
    estimated_cycles: int  # for all of it, moving its numbers included; no measurement
    arrays: tuple[str, ...]  # inputs and output in memory: "bf16[128,10]{0,1:T(8,128)(2,1)}"


def stored(name: str, chip: str = "v5e") -> CompiledStep:
    """Give the stored answer for one of the lessons' models; nothing needs to be installed.

    Parameters
    ----------
    name, chip : str
        Such as "quickstart", and "v5e" or "v6e"; a ValueError names those that there are.

    Examples
    --------
    >>> print(stored("quickstart").headline)
    quickstart, batch of 32, in float32, written by JAX, for one TPU v5e (no TPU was used)
    """
    files, file = sorted(DATA.glob("*-v?e.json")), DATA / f"{name}-{chip}.json"
    if file not in files:
        known = ", ".join(path.stem for path in files)
        raise ValueError(f"There is no stored program {name!r} for {chip!r}. There are: {known}.")
    return records.read(CompiledStep, records.load(file, "compiled step"), file.name)


def stored_product(m: int, k: int, n: int, chip: str = "v5e") -> Product:
    """Give what the compiler made of a matrix product; nothing needs to be installed.

    Parameters
    ----------
    m, k, n : int
        It multiplies (m, k) by (k, n). A ValueError names the products that are stored.
    chip : str

    Examples
    --------
    >>> [stored_product(n, n, n).instructions for n in (128, 129)]
    [8, 36]
    """
    rows = records.read(tuple[Product, ...], records.load(PRODUCTS, "list"), PRODUCTS.name)
    for row in rows:
        if (row.chip, row.m, row.k, row.n) == (chip, m, k, n):
            return row
    known = ", ".join(f"({row.m}, {row.k}, {row.n}) {row.chip}" for row in rows)
    raise ValueError(f"No product ({m}, {k}, {n}) is stored for {chip!r}. There are: {known}.")
