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

from accel_helpers._values.records import whole
from accel_helpers.course.player import moved

if TYPE_CHECKING:
    from numpy import ndarray
    from numpy.typing import ArrayLike


@dataclass(frozen=True, eq=False, repr=False)
class Step:
    """The unit at the end of one cycle; what isn't in a dictionary isn't there.

    A place is (row, column). An activation is in its row's queue while its column is below 0.
    """

    unit: MatrixUnit
    cycle: int  # from 1
    phase: str  # "loading" or "computing"
    heading: str  # which cycle of how many it is
    useful_so_far: int  # cell-cycles, this cycle included
    product: ndarray  # so far, of shape (m, n); masked where no sum has arrived yet
    leaving: set  # the places in the product at which a sum arrives in this cycle
    given: dict  # the tile's weights that are of the matrix; zeros fill it up
    weights: dict  # by the place of the cell, as all below
    activations: dict
    above: dict  # the partial sum that a cell got
    sums: dict  # the partial sum that a cell hands down

    @property
    def event(self) -> str:
        """What happens in the cycle, in a sentence."""
        if self.phase == "loading":
            rows = len(self.weights) // self.unit.columns
            if rows == self.unit.rows:
                return "All weights are in place; from now on they stay."
            return f"Weights move down: {rows} of {self.unit.rows} rows are in."
        useful = len(self.sums.keys() & self.given)
        padding = len(self.sums) - useful
        zeros = ""
        if padding:
            zeros = f", {padding} with padding"
        count = len(self.leaving)
        sums = f"{count} sums leave"
        if count < 2:
            sums = ("no sum leaves", "1 sum leaves")[count]
        return f"{useful} of {self.unit.cells} cells useful{zeros}; {sums} below."

    def __str__(self) -> str:
        return f"{self.heading}. {self.event}"

    __repr__ = __str__  # its numbers would fill a page


@dataclass(frozen=True, eq=False, repr=False)
class Run:
    """A product of two matrices, and how the unit's cells spent their cycles."""

    product: ndarray  # of shape (m, n)
    cycles: int
    tiles: int
    # How many cell-cycles (one cell in one cycle) are "useful", are "padding", which multiplies by
    # a zero that only fills the grid up, or "waiting": without an activation.
    use: dict[str, int]
    text: str  # all of it in words

    def __str__(self) -> str:
        return self.text

    __repr__ = __str__


@dataclass(frozen=True)
class MatrixUnit:
    """A matrix unit of `rows` times `columns` cells, each with one weight.

    Parameters
    ----------
    rows, columns : int
        At least 1; a ValueError says so for anything else.

    Examples
    --------
    >>> print(MatrixUnit(2, 2).multiply([[1, 2], [3, 4]], [[5, 6], [7, 8]]))
    (2, 2) times (2, 2) on 2 x 2 cells: 6 cycles, 1 tile.
    Of 24 cell-cycles: useful 33.3 %, padding 0.0 %, waiting 66.7 %.
    """

    rows: int
    columns: int

    def __post_init__(self):
        whole(self.rows, "rows")
        whole(self.columns, "columns")

    def __str__(self) -> str:
        return f"{self.rows} x {self.columns} cells"

    @property
    def cells(self) -> int:
        """The number of cells."""
        return self.rows * self.columns

    def tiles(self, k: int, n: int) -> int:
        """Count the tiles that a weight matrix of shape (k, n) is cut into.

        A tile has at most as many rows and columns as the unit. Raises for sizes below 1.
        """
        down = ceil(whole(k, "k") / self.rows)
        across = ceil(whole(n, "n") / self.columns)
        return down * across

    def cycles(self, m: int, k: int, n: int) -> int:
        """Calculate the cycles of the product of matrices of shapes (m, k) and (k, n).

        That is tiles · (rows + m + rows + columns - 2): a tile's weights are loaded row by row,
        then m rows of activations enter, and the last one crosses. Raises for sizes below 1.
        """
        streaming = whole(m, "m") + self.rows + self.columns - 2
        return self.tiles(k, n) * (self.rows + streaming)

    def utilisation(self, m: int, k: int, n: int) -> float:
        """Calculate the share of useful cell-cycles, from 0 to 1.

        The matrices have the shapes (m, k) and (k, n). Raises for sizes below 1.
        """
        spent = self.cells * self.cycles(m, k, n)
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
            Where a matrix has not two dimensions, is empty or holds no numbers, or the shapes do
            not fit each other.

        Examples
        --------
        >>> run = MatrixUnit(2, 2).multiply([[1, 2, 3]], [[1], [10], [100]])
        >>> run.product.tolist(), run.cycles, run.use
        ([[321]], 10, {'useful': 3, 'padding': 5, 'waiting': 32})
        """
        a, b = matrices(a, b)
        m, k = a.shape
        n = b.shape[1]
        cycles = self.cycles(m, k, n)
        tiles = self.tiles(k, n)
        spent = self.cells * cycles
        # In each tile, every row of activations passes every cell.
        busy = m * tiles * self.cells
        useful = m * k * n
        padding = busy - useful
        waiting = spent - busy
        use = {"useful": useful, "padding": padding, "waiting": waiting}
        shares = []
        for kind, count in use.items():
            share = 100 * count / spent
            shares.append(f"{kind} {share:.1f} %")
        tile_word = "tiles"
        if tiles == 1:
            tile_word = "tile"
        work = f"{a.shape} times {b.shape} on {self}: {cycles:,} cycles, {tiles} {tile_word}."
        text = f"{work}\nOf {spent:,} cell-cycles: {', '.join(shares)}."
        product = a @ b
        return Run(product, cycles, tiles, use, text)

    def steps(self, a: ArrayLike, b: ArrayLike) -> Iterator[Step]:
        """Return an iterator over the cycles of a product, each as a `Step`.

        Takes and refuses what `multiply` does, already when it is called.

        >>> for step in MatrixUnit(1, 2).steps([[3]], [[4, 5]]):
        ...     print(step, step.product.tolist())
        Cycle 1 of 3, loading. All weights are in place; from now on they stay. [[None, None]]
        Cycle 2 of 3, computing. 1 of 2 cells useful; 1 sum leaves below. [[12, None]]
        Cycle 3 of 3, computing. 1 of 2 cells useful; 1 sum leaves below. [[12, 15]]
        """
        return self._steps(*matrices(a, b))

    def _steps(self, a: ndarray, b: ndarray) -> Iterator[Step]:
        """Yield the unit after every cycle, tile after tile."""
        import numpy as np

        m, k = a.shape
        n = b.shape[1]
        cycles = self.cycles(m, k, n)
        tiles = self.tiles(k, n)
        # Rows of cells without weights of the matrix get zeros for activations.
        empty_rows = -k % self.rows
        a = np.pad(a, ((0, 0), (0, empty_rows)))
        number_type = np.result_type(a, b)
        product = np.ma.masked_all((m, n), number_type)
        cycle = 0
        useful = 0
        # Down before across, so that the sums of a column are soon complete.
        lefts = range(0, n, self.columns)
        tops = range(0, k, self.rows)
        for tile, (left, top) in enumerate(itertools.product(lefts, tops), 1):
            name = ""
            if tiles > 1:
                name = f", tile {tile} of {tiles}"
            bottom = top + self.rows
            right = left + self.columns
            given = dict(np.ndenumerate(b[top:bottom, left:right]))
            queues = a[:, top:bottom]
            for time, cells in enumerate(self._tile(queues, given), -self.rows):
                leaving = set()
                for (row, column), total in cells["sums"].items():
                    place = (time - row - column, left + column)
                    if row == self.rows - 1 and left + column < n:
                        product[place] = product.filled(0)[place] + total
                        leaving.add(place)
                cycle += 1
                useful += len(cells["sums"].keys() & given)
                phase = "computing"
                if time < 0:
                    phase = "loading"
                heading = f"Cycle {cycle} of {cycles}{name}, {phase}"
                so_far = product.copy()
                yield Step(self, cycle, phase, heading, useful, so_far, leaving, given, **cells)

    def _tile(self, a: ndarray, given: dict) -> Iterator[dict]:
        """Yield what the cells hold after every cycle of a tile, by the fields of `Step`."""
        import numpy as np

        # A queue is a column of a. It starts a cycle after the one above, so that an activation
        # meets the sum from there.
        activations = {}
        for (turn, row), value in np.ndenumerate(a):
            column = -1 - row - turn
            activations[row, column] = value
        weights = {}
        sums = {}
        zeros = {(0, column): 0 for column in range(self.columns)}
        end = len(a) + self.rows + self.columns - 2
        for time in range(-self.rows, end):
            if time < 0:
                weights = moved(weights, 1, 0)
                # The last row of weights goes in first, since it has the longest way down.
                row = -1 - time
                for column in range(self.columns):
                    weights[0, column] = given.get((row, column), 0)
            else:
                activations = moved(activations, 0, 1)
            above = zeros | moved(sums, 1, 0)
            sums = {}
            for place in activations.keys() & weights:
                product = activations[place] * weights[place]
                sums[place] = above[place] + product
            yield {"weights": weights, "activations": activations, "above": above, "sums": sums}


def matrices(a: ArrayLike, b: ArrayLike) -> list[ndarray]:
    """Return two matrices that can be multiplied, each as int64 or float64."""
    import numpy as np

    matrices = []
    for matrix in (np.asarray(a), np.asarray(b)):
        # NumPy's kinds "i" and "u" are integers with a sign and without.
        number_type = "int64" if matrix.dtype.kind in "iu" else "float64"
        matrices.append(matrix.astype(number_type))
    a, b = matrices
    if a.ndim != 2 or b.ndim != 2 or a.shape[1] != len(b):
        raise ValueError(
            "a and b must be matrices, a with as many columns as b has rows; got the shapes "
            f"{a.shape} and {b.shape}. Does one of them need a .T?"
        )
    return matrices
