"""The stored answers of the TPU compiler on the lessons' models; nothing has to be installed."""

from dataclasses import dataclass
from pathlib import Path

from accel_helpers._values import records
from accel_helpers.tpu.answers import CompiledStep

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
    arrays: tuple[str, ...]  # inputs and output in memory: "bf16[128,10]{0,1:T(8,128)(2,1)}"

    @property
    def shape(self) -> tuple[int, int, int]:
        """The sizes m, k and n."""
        return (self.m, self.k, self.n)


def stored(name: str, chip: str = "v5e") -> CompiledStep:
    """Load the stored answer for one of the lessons' models.

    Parameters
    ----------
    name : str
        The model, such as "quickstart".
    chip : str, optional
        "v5e" or "v6e".

    Raises
    ------
    ValueError
        Where no such program is stored; the message lists the stored ones.

    Examples
    --------
    >>> print(stored("quickstart").headline)
    quickstart, batch of 32, in float32, written by JAX, for one TPU v5e (no TPU was used)
    """
    paths = sorted(DATA.glob("*-v?e.json"))
    path = DATA / f"{name}-{chip}.json"
    # Compared with the files that are there and not just opened: a name such as "../x" would lead
    # elsewhere.
    if path not in paths:
        stems = ", ".join(candidate.stem for candidate in paths)
        raise ValueError(f"There is no stored program {name!r} for {chip!r}. There are: {stems}.")
    tables = records.load(path, "compiled step")
    return records.read(CompiledStep, tables, path.name)


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
    tables = records.load(PRODUCTS, "list")
    products = records.read(tuple[Product, ...], tables, PRODUCTS.name)
    for product in products:
        if product.chip == chip and product.shape == (m, k, n):
            return product
    listed = ", ".join(f"{product.shape} {product.chip}" for product in products)
    raise ValueError(f"No product ({m}, {k}, {n}) is stored for {chip!r}. There are: {listed}.")
