"""A TPU's matrix unit as a cycle model: numbers walk through a grid of cells, hand to hand.

The grid is a weight-stationary systolic array (Kung, IEEE Computer 15(1), 1982; that a TPU works
so: Jouppi and others, ISCA 2017, section 2, arXiv:1704.04760). Each cell keeps one weight. In every
cycle it takes an activation from its left neighbour and a partial sum from the one above,
multiplies, adds, and hands both on: the activation to the right, the sum down.

This is a model, no measurement: here loading weights and computing never overlap, so that every
cycle can be seen. A real unit loads the next tile's weights while it computes with this one.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from accel_helpers._values.records import whole
from accel_helpers.course.players.grid import Grid
from accel_helpers.course.players.operands import operands
from accel_helpers.course.players.step import KINDS, Step, count_cells

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike

__all__ = ["MatrixUnit"]


@dataclass(frozen=True, eq=False)
class Run:
    """A product of two matrices, and how the unit's cells spent their cycles.

    A cell-cycle is one cell in one cycle; each is useful, padding or waiting, so that the three
    counts add up to the unit's cells times `cycles`.
    """

    unit: MatrixUnit
    shape: tuple[int, int, int]  # (m, k, n)
    product: np.ndarray = field(repr=False)  # of shape (m, n)
    cycles: int
    tiles: int
    useful: int  # cell-cycles that multiply an element of a by an element of b: m·k·n
    padding: int  # cell-cycles that multiply by a zero which only fills the grid up
    waiting: int  # cell-cycles without an activation: while loading, at the start and the end

    def __str__(self) -> str:
        m, k, n = self.shape
        total = self.unit.cells * self.cycles
        shares = []
        for kind in KINDS:
            count = getattr(self, kind)
            percentage = 100 * count / total
            shares.append(f"{kind} {percentage:.1f} %")
        tile_word = "tile" if self.tiles == 1 else "tiles"
        product = f"({m}, {k}) times ({k}, {n}) on {self.unit}"
        length = f"{self.cycles:,} cycles, {self.tiles} {tile_word}"
        use = ", ".join(shares)
        return f"{product}: {length}.\nOf {total:,} cell-cycles: {use}."


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
        for name in ("rows", "columns"):
            # A NumPy integer becomes an int. A frozen dataclass can be changed in this way only.
            size = whole(getattr(self, name), name)
            object.__setattr__(self, name, size)

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
        down = math.ceil(whole(k, "k") / self.rows)
        across = math.ceil(whole(n, "n") / self.columns)
        return down * across

    def cycles(self, m: int, k: int, n: int) -> int:
        """Calculate the cycles of the product of matrices of shapes (m, k) and (k, n).

        That is tiles · (rows + m + rows + columns - 2). Raises for sizes below 1.
        """
        # The weights of a tile are loaded row by row.
        loading = self.rows
        streaming = self.streaming_cycles(m)
        tiles = self.tiles(k, n)
        return tiles * (loading + streaming)

    def streaming_cycles(self, m: int) -> int:
        """Calculate the cycles that m rows of activations take through a loaded tile.

        One row enters in each cycle, and the last one still has to cross the whole grid. Raises
        for m below 1.
        """
        return whole(m, "m") + self.rows + self.columns - 2

    def utilisation(self, m: int, k: int, n: int) -> float:
        """Calculate the share of useful cell-cycles, from 0 to 1.

        The matrices have the shapes (m, k) and (k, n). Raises for sizes below 1.
        """
        spent = self.cells * self.cycles(m, k, n)
        return float(m * k * n / spent)

    def multiply(self, a: ArrayLike, b: ArrayLike, *, dtype: str | None = None) -> Run:
        """Multiply a matrix of activations by a matrix of weights, and count what the cells do.

        Parameters
        ----------
        a : array_like
            The activations, of shape (m, k).
        b : array_like
            The weights, of shape (k, n).
        dtype : {None, "bfloat16"}, optional
            None computes integers exactly, as int64, and all else in float64. "bfloat16" rounds
            both matrices to bfloat16 and adds up in float32, as a TPU does.

        Raises
        ------
        ValueError
            Where a matrix has not two dimensions or is empty, the shapes do not fit each other, or
            `dtype` is another one.
        TypeError
            Where a matrix holds anything but real numbers.

        Examples
        --------
        >>> run = MatrixUnit(2, 2).multiply([[1, 2, 3]], [[1], [10], [100]])
        >>> run.product.tolist(), run.cycles, run.useful, run.padding, run.waiting
        ([[321]], 10, 3, 5, 32)
        """
        cell_cycles = dict.fromkeys(KINDS, 0)
        for step in self.steps(a, b, dtype=dtype):
            for kind in KINDS:
                cell_cycles[kind] += count_cells(step, kind)
        # `step` is the last one now, which has the whole product.
        product = step.product.data
        m, n = product.shape
        k = len(b)
        return Run(
            unit=self,
            shape=(m, k, n),
            product=product,
            cycles=step.cycle,
            tiles=step.tile,
            **cell_cycles,
        )

    def steps(self, a: ArrayLike, b: ArrayLike, *, dtype: str | None = None) -> Iterator[Step]:
        """Return an iterator over the cycles of a product, each as a `Step`.

        Takes and refuses what `multiply` does, already when it is called.

        >>> for step in MatrixUnit(1, 2).steps([[3]], [[4, 5]]):
        ...     print(step, step.product.tolist())
        Cycle 1 of 3, loading: 0 useful, 0 padding, 2 waiting. [[None, None]]
        Cycle 2 of 3, computing: 1 useful, 0 padding, 1 waiting. [[12, None]]
        Cycle 3 of 3, computing: 1 useful, 0 padding, 1 waiting. [[12, 15]]
        """
        activations, weights = operands(a, b, dtype)
        return _Simulation(self, activations, weights).steps()


@dataclass(frozen=True)
class _Tile:
    """The weights that are in the grid at the same time, and the activations that pass them.

    Its arrays have the unit's shape (rows, columns), except for the queue.
    """

    number: int  # from 1
    left: int  # the first column of the product that it adds to, from 0
    width: int  # the number of columns of the product that it adds to
    weights: np.ndarray  # with a zero in each cell that has no weight of the matrix
    is_given: np.ndarray  # True in the cells that have a weight of the matrix
    queue: np.ma.MaskedArray  # of shape (rows, cycles): what enters each row in each cycle


class _Simulation:
    """A product on a matrix unit, cycle by cycle.

    Words: the unit first *loads* the weights of a tile into its grid, one row in each cycle; then
    the activations *stream* through it. A *time* is the number of a streaming cycle, from 0 in
    each tile. A sum *arrives* when it leaves the last row of the grid and is added to the product.
    """

    def __init__(self, unit: MatrixUnit, a: np.ndarray, b: np.ndarray):
        import numpy as np

        self.unit = unit
        self.a = a  # activations, of shape (m, k)
        self.b = b  # weights, of shape (k, n)
        m, k = a.shape
        _, n = b.shape
        self.cycles = unit.cycles(m, k, n)  # of the whole product
        self.tile_count = unit.tiles(k, n)
        self.tiles_for_a_sum = unit.tiles(k, 1)  # how many tiles add to each number of the product
        self.streaming_cycles = unit.streaming_cycles(m)  # of each tile
        self.product = np.zeros((m, n), a.dtype)
        self.arrivals = np.zeros((m, n), int)  # how many tiles have added to each number so far
        self.cycle = 0  # the number of the last cycle that was yielded
        self.useful = 0  # cell-cycles so far

    def steps(self) -> Iterator[Step]:
        """Yield a `Step` for every cycle, and add to the product meanwhile; call it once."""
        for tile in self._tiles():
            grid = Grid.empty(self.unit.rows, self.unit.columns, self.a.dtype)
            # The last row of weights goes in first, since it has the longest way down.
            for row in reversed(tile.weights):
                grid.load(row)
                yield self._step(tile, grid, "loading", tile.queue)
            for time in range(self.streaming_cycles):
                entering_values = tile.queue[:, time]
                queue = tile.queue[:, time + 1 :]
                grid.compute(entering_values)
                places = self._add_arrivals(tile, grid, time)
                yield self._step(tile, grid, "computing", queue, places)

    def _tiles(self) -> Iterator[_Tile]:
        """Yield the tiles of the weights, those of the same columns one after the other."""
        k, n = self.b.shape
        number = 0
        # Down before across, so that the sums of a column are soon complete.
        for left in range(0, n, self.unit.columns):
            for top in range(0, k, self.unit.rows):
                number += 1
                yield self._tile(number, top, left)

    def _tile(self, number: int, top: int, left: int) -> _Tile:
        """Return the tile whose upper left weight stands at row `top` and column `left` of b.

        `number` is the tile's place in the order of work, from 1; `top` and `left` are from 0.
        """
        import numpy as np

        grid_shape = (self.unit.rows, self.unit.columns)
        bottom = top + self.unit.rows
        right = left + self.unit.columns
        # At the lower and right edges of the matrix, a part can be smaller than the grid.
        part = self.b[top:bottom, left:right]
        height, width = part.shape
        weights = np.zeros(grid_shape, self.b.dtype)
        weights[:height, :width] = part
        is_given = np.zeros(grid_shape, bool)
        is_given[:height, :width] = True
        queue = self._queue(top, height)
        return _Tile(number, left, width, weights, is_given, queue)

    def _queue(self, top: int, height: int) -> np.ma.MaskedArray:
        """Return what enters each row of the grid in each cycle; masked where nothing does.

        The tile has `height` rows of weights, of which the first is row `top` of b. Row r begins r
        cycles late, so that an activation meets the partial sum from the row above:
        a = [[1, 2], [3, 4]] enters a unit of 2 x 1 cells as [[1, 3, -], [-, 2, 4]].
        """
        import numpy as np

        rows = self.unit.rows
        m = len(self.a)
        zeros = np.zeros((rows, self.streaming_cycles), self.a.dtype)
        queue = np.ma.masked_array(zeros, mask=True)
        for row in range(rows):
            # Rows that have no weight of the matrix get zeros.
            entering_values = 0
            if row < height:
                entering_values = self.a[:, top + row]
            # To assign values also takes the mask away there.
            end = row + m
            queue[row, row:end] = entering_values
        return queue

    def _add_arrivals(self, tile: _Tile, grid: Grid, time: int) -> tuple[np.ndarray, np.ndarray]:
        """Add the sums that leave the grid at this time to the product, in place.

        Returns their rows and their columns in the product, as NumPy indexes by; both are empty
        where no sum leaves.
        """
        import numpy as np

        # Columns of the grid beyond the tile's width belong to no column of the product.
        is_leaving = grid.is_passed[-1, : tile.width]
        columns = np.flatnonzero(is_leaving)
        leaving_sums = grid.sums[-1, columns]
        # Row i of a enters at time i. Its sum leaves column c at time i + rows - 1 + c.
        rows = time - (self.unit.rows - 1) - columns
        places = (rows, tile.left + columns)
        self.product[places] += leaving_sums
        self.arrivals[places] += 1
        return places

    def _step(
        self,
        tile: _Tile,
        grid: Grid,
        phase: str,
        queue: np.ma.MaskedArray,
        places: tuple = (),
    ) -> Step:
        """Count one more cycle, and return the unit at its end.

        `places` are the rows and columns where the product grew, as `_add_arrivals` returns them;
        empty while loading. The other parameters are as in `Step`.
        """
        import numpy as np

        masked = np.ma.masked_array
        waiting = ~grid.is_passed
        useful = grid.is_passed & tile.is_given
        padding = grid.is_passed & ~tile.is_given
        # A copy, since the step keeps it while later cycles add to the product.
        product = self.product.copy()
        is_missing = self.arrivals == 0
        leaving = np.zeros(self.product.shape, bool)
        if places:
            leaving[places] = True
        self.cycle += 1
        self.useful += int(np.count_nonzero(useful))
        return Step(
            cycle=self.cycle,
            cycles=self.cycles,
            tile=tile.number,
            tiles=self.tile_count,
            phase=phase,
            weights=masked(grid.weights, ~grid.is_loaded),
            activations=masked(grid.activations, waiting),
            from_above=masked(grid.from_above, waiting),
            sums=masked(grid.sums, waiting),
            useful=useful,
            padding=padding,
            waiting=waiting,
            queue=queue,
            product=masked(product, is_missing),
            leaving=leaving,
            finished=self.arrivals == self.tiles_for_a_sum,
            useful_so_far=self.useful,
        )
