"""What the TPU compiler said of the lessons' models: stored, so that nothing has to be installed.

The files in `data/tpu_programs` are made by `tools/tpu_programs.py` and held against a
fresh compile in the tests.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from importlib import resources

from accel_helpers.tpu.answers import CompiledStep

PRODUCTS = "products.json"  # single matrix products, beside the lessons' models


def stored(name: str, chip: str = "v5e") -> CompiledStep:
    """Give the stored answer for one of the lessons' models; nothing needs to be installed.

    Parameters
    ----------
    name : str
        Such as "quickstart".
    chip : str, optional
        "v5e" or "v6e".

    Returns
    -------
    CompiledStep

    Raises
    ------
    ValueError
        If there is none; the message names those that there are.

    Examples
    --------
    >>> print(stored("quickstart").headline)
    quickstart, batch of 32, written by JAX, for one TPU v5e (no TPU was used)
    """
    folder = resources.files("accel_helpers") / "data" / "tpu_programs"
    known = {entry.name for entry in folder.iterdir() if entry.name != PRODUCTS}
    file = f"{name}-{chip}.json"
    if file not in known:
        names = ", ".join(sorted({entry.rpartition("-")[0] for entry in known}))
        raise ValueError(
            f"There is no stored program {name!r} for {chip!r}. There are: {names}; each for "
            "'v5e' and 'v6e'."
        )
    return CompiledStep.from_dict(json.loads((folder / file).read_text("utf-8")))


@dataclass(frozen=True)
class Product:
    """A single matrix product in bfloat16, as the compiler lays it out for a TPU.

    Attributes
    ----------
    chip : str
    m, k, n : int
        It multiplies (m, k) by (k, n).
    instructions : int
        How often the program feeds the matrix unit.
    estimated_cycles : int
        The compiler's estimate for the whole product, moving its numbers included. No measurement.
    arrays : tuple of str
        Both inputs and the output as they lie in memory, such as
        "bf16[128,10]{0,1:T(8,128)(2,1)}".
    """

    chip: str
    m: int
    k: int
    n: int
    instructions: int
    estimated_cycles: int
    arrays: tuple[str, ...]


def stored_product(m: int, k: int, n: int, chip: str = "v5e") -> Product:
    """Give what the compiler made of a matrix product; nothing needs to be installed.

    Parameters
    ----------
    m, k, n : int
        It multiplies (m, k) by (k, n).
    chip : str, optional
        "v5e" or "v6e".

    Returns
    -------
    Product

    Raises
    ------
    ValueError
        If that product is not stored; the message names those that are.

    Examples
    --------
    >>> [stored_product(n, n, n).instructions for n in (128, 129)]
    [8, 36]
    """
    file = resources.files("accel_helpers") / "data" / "tpu_programs" / PRODUCTS
    rows = json.loads(file.read_text("utf-8"))
    for row in rows:
        if (row["chip"], row["m"], row["k"], row["n"]) == (chip, m, k, n):
            return Product(**{**row, "arrays": tuple(row["arrays"])})
    known = ", ".join(f"({row['m']}, {row['k']}, {row['n']}) {row['chip']}" for row in rows)
    raise ValueError(f"No product ({m}, {k}, {n}) is stored for {chip!r}. There are: {known}.")
