"""The cells of a matrix unit: what each of them holds, and how it changes in a cycle."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np


@dataclass
class Grid:
    """What the cells hold at the end of a cycle."""

    weights: np.ndarray
    is_loaded: np.ndarray  # which cells have a weight
    activations: np.ndarray
    is_passed: np.ndarray  # which cells have an activation
    from_above: np.ndarray
    sums: np.ndarray

    @classmethod
    def empty(cls, rows: int, columns: int, dtype) -> Grid:
        """Make a grid whose cells hold nothing."""
        import numpy as np

        zeros = np.zeros((rows, columns), dtype)
        nowhere = np.zeros((rows, columns), bool)
        return cls(zeros, nowhere, zeros, nowhere, zeros, zeros)

    # Every method makes new arrays, since a `Step` keeps those of its cycle.

    def load(self, row) -> None:
        """Move all weights down by a row, and put a row in at the top."""
        import numpy as np

        filled = np.ones(len(row), bool)
        self.weights = _moved_down(self.weights, row)
        self.is_loaded = _moved_down(self.is_loaded, filled)

    def compute(self, entering) -> None:
        """Let each cell take what its left and its upper neighbour had a cycle ago."""
        import numpy as np

        is_entering = ~entering.mask
        self.activations = _moved_right(self.activations, entering.data)
        self.is_passed = _moved_right(self.is_passed, is_entering)
        # No sum comes into the first row.
        zeros = np.zeros_like(self.sums[0])
        self.from_above = _moved_down(self.sums, zeros)
        products = self.activations * self.weights
        self.sums = self.from_above + products


def _moved_down(values: np.ndarray, first_row) -> np.ndarray:
    """Return an array whose rows are one further down, below a new first row."""
    import numpy as np

    kept = values[:-1]
    return np.vstack([first_row, kept])


def _moved_right(values: np.ndarray, first_column) -> np.ndarray:
    """Return an array whose columns are one further right, behind a new first column."""
    import numpy as np

    kept = values[:, :-1]
    return np.column_stack([first_column, kept])
