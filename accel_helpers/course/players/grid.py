"""The cells of a matrix unit: what each of them holds, and how that changes in a cycle."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np


@dataclass
class Grid:
    """What the cells hold at the end of a cycle, each array of shape (rows, columns)."""

    weights: np.ndarray  # 0 where `is_loaded` is False
    is_loaded: np.ndarray  # True in the cells that have a weight
    activations: np.ndarray  # without meaning where `is_passed` is False
    is_passed: np.ndarray  # True in the cells that have an activation
    from_above: np.ndarray  # the partial sum that each cell got
    sums: np.ndarray  # the partial sum that each cell hands down

    @classmethod
    def empty(cls, rows: int, columns: int, dtype: np.dtype) -> Grid:
        """Make a grid of zeros of this number type whose cells hold nothing yet."""
        import numpy as np

        zeros = np.zeros((rows, columns), dtype)
        nowhere = np.zeros((rows, columns), bool)
        return cls(zeros, nowhere, zeros, nowhere, zeros, zeros)

    # Every method makes new arrays, since a `Step` keeps those of its cycle.

    def load(self, row: np.ndarray) -> None:
        """Move all weights down by a row, and put `row`, a weight for each column, at the top."""
        import numpy as np

        filled = np.ones(len(row), bool)
        self.weights = _moved_down(self.weights, row)
        self.is_loaded = _moved_down(self.is_loaded, filled)

    def compute(self, entering_values: np.ma.MaskedArray) -> None:
        """Go on by one cycle: move activations right and sums down, multiply, and add.

        `entering` has the activation that enters each row from the left; masked where none does.
        """
        import numpy as np

        is_entering = ~entering_values.mask
        self.activations = _moved_right(self.activations, entering_values.data)
        self.is_passed = _moved_right(self.is_passed, is_entering)
        # No cell is above the first row, so its sums begin with 0.
        zeros = np.zeros_like(self.sums[0])
        self.from_above = _moved_down(self.sums, zeros)
        products = self.activations * self.weights
        self.sums = self.from_above + products


def _moved_down(values: np.ndarray, first_row: np.ndarray) -> np.ndarray:
    """Return a new array whose rows are one further down, below a new first row.

    The last row drops out: [[1], [2]] with [0] on top -> [[0], [1]].
    """
    import numpy as np

    kept_rows = values[:-1]
    return np.vstack([first_row, kept_rows])


def _moved_right(values: np.ndarray, first_column: np.ndarray) -> np.ndarray:
    """Return a new array whose columns are one further right, behind a new first column.

    The last column drops out: [[1, 2]] with [0] at the left -> [[0, 1]].
    """
    import numpy as np

    kept_columns = values[:, :-1]
    return np.column_stack([first_column, kept_columns])
