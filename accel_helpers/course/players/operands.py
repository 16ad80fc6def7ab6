"""The two matrices that a matrix unit multiplies, checked and in the computation's number type."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike


def operands(a: ArrayLike, b: ArrayLike, dtype: str | None) -> list[np.ndarray]:
    """Return [a, b] in the number type of the computation: int64, float64 or float32.

    Raises ValueError for another `dtype` than None or "bfloat16" and for shapes that do not fit,
    and what `_matrix` raises.
    """
    import numpy as np

    if dtype not in (None, "bfloat16"):
        raise ValueError(f"dtype must be None or 'bfloat16'; got {dtype!r}.")
    a = _matrix("a", a)
    b = _matrix("b", b)
    columns = a.shape[1]
    rows = b.shape[0]
    if columns != rows:
        raise ValueError(
            f"a of shape {a.shape} cannot be multiplied by b of shape {b.shape}: a must have as "
            "many columns as b has rows. Does one of them need a .T?"
        )
    if dtype == "bfloat16":
        return [_rounded(a), _rounded(b)]
    number_type = np.float64
    # NumPy's kinds "i" and "u" are integers with a sign and without.
    if a.dtype.kind in "iu" and b.dtype.kind in "iu":
        number_type = np.int64
    return [a.astype(number_type), b.astype(number_type)]


def _rounded(matrix: np.ndarray) -> np.ndarray:
    """Return a matrix rounded to bfloat16, stored as float32, in which sums are added up."""
    import ml_dtypes
    import numpy as np

    bfloat16_matrix = matrix.astype(ml_dtypes.bfloat16)
    return bfloat16_matrix.astype(np.float32)


def _matrix(name: str, values: ArrayLike) -> np.ndarray:
    """Return some values as an array with two dimensions; messages call it `name`.

    Raises ValueError for another number of dimensions and for an empty matrix, and TypeError for
    what holds no real numbers (also for bools, texts and complex numbers).
    """
    import numpy as np

    matrix = np.asarray(values)
    if matrix.ndim != 2 or not matrix.size:
        raise ValueError(f"{name} must have two dimensions; its shape is {matrix.shape}.")
    type_name = matrix.dtype.name
    # NumPy counts bfloat16 to no kind of number: ml_dtypes adds it.
    is_number = matrix.dtype.kind in "iuf" or type_name == "bfloat16"
    if not is_number:
        raise TypeError(f"{name} holds {type_name}; the unit multiplies numbers only.")
    return matrix
