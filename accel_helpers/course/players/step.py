"""One cycle of a matrix unit: what its cells hold and do when the cycle ends."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np

# What a cell can do in a cycle. These are fields of `Run` (counts) and of `Step` (masks), too.
KINDS = ("useful", "padding", "waiting")


@dataclass(frozen=True, eq=False, repr=False)
class Step:
    """The unit at the end of one cycle.

    Places that hold nothing are masked in the masked arrays, and so None in their `tolist()`.
    """

    cycle: int  # the number of this cycle, from 1
    cycles: int  # of the whole product
    tile: int  # the number of the tile whose weights are at work, from 1
    tiles: int  # of the whole product
    phase: str  # "loading" or "computing"
    # One value for each cell, of shape (rows, columns).
    weights: np.ma.MaskedArray
    activations: np.ma.MaskedArray
    from_above: np.ma.MaskedArray  # the partial sum that the cell got
    sums: np.ma.MaskedArray  # the partial sum that the cell hands down
    # What each cell does, of the same shape: exactly one of the three is True.
    useful: np.ndarray
    padding: np.ndarray
    waiting: np.ndarray
    queue: np.ma.MaskedArray  # activations that have yet to enter each row; column 0 comes next
    product: np.ma.MaskedArray  # so far, of shape (m, n)
    leaving: np.ndarray  # True where `product` grew in this cycle, of shape (m, n)
    finished: np.ndarray  # True where nothing more will be added to `product`, of shape (m, n)
    useful_so_far: int  # cell-cycles, this cycle included

    def __str__(self) -> str:
        counts = []
        for kind in KINDS:
            count = count_cells(self, kind)
            counts.append(f"{count} {kind}")
        use = ", ".join(counts)
        return f"Cycle {self.cycle} of {self.cycles}, {self.phase}: {use}."

    __repr__ = __str__  # seventeen arrays would fill a page


def count_cells(step: Step, kind: str) -> int:
    """Return how many cells of a step are of a kind, which is one of `KINDS`."""
    cells = getattr(step, kind)
    return int(cells.sum())
