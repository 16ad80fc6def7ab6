"""A TPU's matrix unit as a cycle model: numbers walk through a grid of cells.

The grid is a weight-stationary systolic array (Kung, IEEE Computer 15(1), 1982; that a TPU works
so: Jouppi and others, ISCA 2017, section 2, arXiv:1704.04760). Each cell keeps one weight. In every
cycle it takes an activation from its left neighbour and a partial sum from the one above,
multiplies, adds, and hands both on: the activation to the right, the sum down.

This is a model, no measurement: here loading weights and computing never overlap, so that every
cycle can be seen. A real unit loads the next tile's weights while it computes with this one.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from math import ceil
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from numpy import ndarray
    from numpy.typing import ArrayLike


@dataclass(repr=False)
class Step:
    """The unit at the end of one cycle."""

    cycle: int  # from 1
    phase: str  # "loading" or "computing"
    text: str  # which cycle it is, and what happens in it
    product: ndarray  # so far, of shape (m, n); masked where no sum has arrived yet
    leaving: ndarray  # True for the places in the product at which a sum arrives in this cycle
    time: int  # of the tile: 0 where its first activation enters
    queues: ndarray  # each column is a queue: the activations that enter a row of cells
    # By (row, column) what each cell does ("useful", "padding" or "waiting"), and what stands in
    # it: its weight, or its computation, as in "2 × 3\n+ 1\n= 7", where 1 is the sum from above.
    cells: dict

    def __str__(self) -> str:
        return self.text

    __repr__ = __str__  # its numbers would fill a page


@dataclass
class Run:
    """A product of two matrices, and how the unit's cells spent their cycles."""

    product: ndarray  # of shape (m, n)
    cycles: int
    # How many cell-cycles (one cell in one cycle) are "useful", are "padding", which multiplies by
    # a zero that only fills the grid up, or "waiting": without an activation.
    use: dict
    text: str  # all of it in words

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True)
class MatrixUnit:
    """A matrix unit of `rows` times `columns` cells, each with one weight.

    Parameters
    ----------
    rows, columns : int
        At least 1.

    Examples
    --------
    >>> print(MatrixUnit(2, 2).multiply([[1, 2], [3, 4]], [[5, 6], [7, 8]]))
    (2, 2) times (2, 2) on 2 x 2 cells: 6 cycles, 1 tile.
    Of 24 cell-cycles: useful 33.3%, padding 0.0%, waiting 66.7%.
    """

    rows: int
    columns: int

    def __str__(self) -> str:
        return f"{self.rows} x {self.columns} cells"

    def tiles(self, k: int, n: int) -> int:
        """Count the tiles that a weight matrix of shape (k, n) is cut into.

        A tile has at most as many rows and columns as the unit.
        """
        return ceil(k / self.rows) * ceil(n / self.columns)

    def cycles(self, m: int, k: int, n: int) -> int:
        """Calculate the cycles of the product of matrices of shapes (m, k) and (k, n).

        That is tiles · (rows + m + rows + columns - 2): a tile's weights are loaded row by row,
        then m rows of activations enter, and the last one crosses.
        """
        streaming = m + self.rows + self.columns - 2
        return self.tiles(k, n) * (self.rows + streaming)

    def utilisation(self, m: int, k: int, n: int) -> float:
        """Calculate the share of useful cell-cycles, from 0 to 1.

        The matrices have the shapes (m, k) and (k, n).
        """
        spent = self.rows * self.columns * self.cycles(m, k, n)
        return m * k * n / spent

    def multiply(self, a: ArrayLike, b: ArrayLike) -> Run:
        """Multiply a matrix of activations by a matrix of weights, and count what the cells do.

        Parameters
        ----------
        a, b : array_like
            The activations, of shape (m, k), and the weights, of shape (k, n). Integers are
            multiplied exactly, as int64, and all else in float64.

        Raises
        ------
        ValueError
            Where a and b are no matrices, or their shapes do not fit each other.

        Examples
        --------
        >>> run = MatrixUnit(2, 2).multiply([[1, 2, 3]], [[1], [10], [100]])
        >>> run.product.tolist(), run.cycles, run.use
        ([[321]], 10, {'useful': 3, 'padding': 5, 'waiting': 32})
        """
        a, b, m, k, n = _matrices(a, b)
        cells = self.rows * self.columns
        cycles = self.cycles(m, k, n)
        tiles = self.tiles(k, n)
        spent = cells * cycles
        # In each tile, every row of activations passes every cell.
        busy = m * tiles * cells
        useful = m * k * n
        use = {"useful": useful, "padding": busy - useful, "waiting": spent - busy}
        shares = [f"{kind} {100 * count / spent:.1f}%" for kind, count in use.items()]
        tiles_in_words = "1 tile" if tiles == 1 else f"{tiles} tiles"
        work = f"{a.shape} times {b.shape} on {self}: {cycles:,} cycles, {tiles_in_words}."
        text = f"{work}\nOf {spent:,} cell-cycles: {', '.join(shares)}."
        return Run(a @ b, cycles, use, text)

    def steps(self, a: ArrayLike, b: ArrayLike) -> Iterator[Step]:
        """Yield the unit after every cycle of a product, each as a `Step`.

        Takes and refuses what `multiply` does.

        >>> for step in MatrixUnit(1, 2).steps([[3]], [[4, 5]]):
        ...     print(step, step.product.tolist())
        Cycle 1 of 3, loading. All weights are in place; from now on they stay. [[None, None]]
        Cycle 2 of 3, computing. 1 of 2 cells useful; 1 sum leaves below. [[12, None]]
        Cycle 3 of 3, computing. 1 of 2 cells useful; 1 sum leaves below. [[12, 15]]
        """
        import numpy as np

        a, b, m, k, n = _matrices(a, b)
        rows, columns = self.rows, self.columns
        cycles = self.cycles(m, k, n)
        product = np.ma.masked_all_like(a @ b)
        i, j = np.indices((m, n))
        # Tiles down before across, so that the sums of a column are soon complete.
        lefts = range(0, n, columns)
        tops = range(0, k, rows)
        times = range(-rows, m + rows + columns - 2)
        for cycle, (left, top, time) in enumerate(itertools.product(lefts, tops, times), 1):
            queues = a[:, top : top + rows]
            weights = b[top : top + rows]
            sums = product.filled(0) + queues @ weights
            column = j % columns
            leaving = (j - column == left) & (i + column + rows - 1 == time)
            product = product.copy()
            product[leaving] = sums[leaving]
            cells = self._cells(time, queues, weights[:, left : left + columns])
            phase = "computing"
            event = _event(cells, leaving.sum())
            if time < 0:
                phase = "loading"
                event = f"Weights move down: {rows + time + 1} of {rows} rows are in."
            if time == -1:
                event = "All weights are in place; from now on they stay."
            text = f"Cycle {cycle} of {cycles}, {phase}. {event}"
            yield Step(cycle, phase, text, product, leaving, time, queues, cells)

    def _cells(self, time: int, a: ndarray, b: ndarray) -> dict:
        """Return what the cells do at a time of a tile, as in `Step`."""
        import numpy as np

        # The last row of weights goes in first, since it has the longest way down.
        missing = max(-1 - time, 0)
        cells = {}
        for row, column in np.ndindex(self.rows, self.columns):
            # A queue starts a cycle after the one above, so that an activation meets the sum from
            # there.
            turn = time - row - column
            is_busy = 0 <= turn < len(a)
            kind = "waiting"
            text = ""
            if is_busy:
                kind = "padding"
            if column < b.shape[1] and row + missing < len(b):
                weight = b[row + missing, column]
                text = f"{weight:.4g}\n\n"
                if is_busy:
                    kind = "useful"
                    above = a[turn, :row] @ b[:row, column]
                    total = above + a[turn, row] * weight
                    text = f"{a[turn, row]:.4g} × {weight:.4g}\n+ {above:.4g}\n= {total:.4g}"
            cells[row, column] = (kind, text)
        return cells


def _event(cells: dict, leaving: int) -> str:
    """Say what the cells do, and how many sums leave them."""
    kinds = [kind for kind, _ in cells.values()]
    useful = kinds.count("useful")
    padding = kinds.count("padding")
    zeros = ""
    if padding:
        zeros = f", {padding} with padding"
    sums = f"{leaving} sums leave"
    if leaving < 2:
        sums = ("no sum leaves", "1 sum leaves")[leaving]
    return f"{useful} of {len(kinds)} cells useful{zeros}; {sums} below."


def _matrices(a: ArrayLike, b: ArrayLike) -> tuple:
    """Return two matrices that can be multiplied, and their m, k and n.

    Integers become int64, and all else float64.
    """
    import numpy as np

    a, b = np.add(a, np.int64(0)), np.add(b, np.int64(0))
    if a.ndim != 2 or b.ndim != 2 or a.shape[1] != len(b):
        raise ValueError(
            "a and b must be matrices, a with as many columns as b has rows; got the shapes "
            f"{a.shape} and {b.shape}. Does one of them need a .T?"
        )
    return a, b, *a.shape, b.shape[1]
