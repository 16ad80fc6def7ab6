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

if TYPE_CHECKING:
    import numpy as np

__all__ = ["MatrixUnit"]
KINDS = ("useful", "padding", "waiting")  # of what a cell can do in a cycle


@dataclass(frozen=True, eq=False)
class Run:
    """A product, and what its cells did: each cell in each cycle is of one of three kinds."""

    unit: MatrixUnit
    shape: tuple[int, int, int]  # (m, k, n)
    product: np.ndarray = field(repr=False)  # of shape (m, n)
    cycles: int
    tiles: int
    useful: int  # cell-cycles spent on a product of two given numbers: m·k·n
    padding: int  # on a product with a zero that only fills the grid up
    waiting: int  # without an activation: while weights are loaded, at the start and the end

    def __str__(self) -> str:
        m, k, n = self.shape
        total = self.unit.cells * self.cycles
        shares = []
        for kind in KINDS:
            count = getattr(self, kind)
            share = 100 * count / total
            shares.append(f"{kind} {share:.1f} %")
        tile_word = "tile" if self.tiles == 1 else "tiles"
        product = f"({m}, {k}) times ({k}, {n}) on {self.unit}"
        length = f"{self.cycles:,} cycles, {self.tiles} {tile_word}"
        use = ", ".join(shares)
        return f"{product}: {length}.\nOf {total:,} cell-cycles: {use}."


@dataclass(frozen=True, eq=False, repr=False)
class Step:
    """The unit at the end of one cycle. What is empty is masked, and None in `tolist()`."""

    cycle: int  # from 1
    cycles: int
    tile: int  # of weights at work, from 1
    tiles: int
    phase: str  # "loading" or "computing"
    # In each cell, of shape (rows, columns): its weight, the activation it has, the sum it took
    # and the one it hands down; and what it does: exactly one of the three is True.
    weights: np.ma.MaskedArray
    activations: np.ma.MaskedArray
    from_above: np.ma.MaskedArray
    sums: np.ma.MaskedArray
    useful: np.ndarray
    padding: np.ndarray
    waiting: np.ndarray
    queue: np.ma.MaskedArray  # what has yet to enter each row; column 0 comes next
    product: np.ma.MaskedArray  # so far, of shape (m, n)
    leaving: np.ndarray  # where `product` grew in this cycle,
    finished: np.ndarray  # and where nothing more will be added
    useful_so_far: int  # cell-cycles, up to and with this cycle

    def __str__(self) -> str:
        counts = []
        for kind in KINDS:
            count = _count(self, kind)
            counts.append(f"{count} {kind}")
        use = ", ".join(counts)
        return f"Cycle {self.cycle} of {self.cycles}, {self.phase}: {use}."

    __repr__ = __str__  # seventeen arrays would fill a page


def _count(step: Step, kind: str) -> int:
    """Return how many cells do something of this kind in a cycle."""
    cells = getattr(step, kind)
    return int(cells.sum())


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
    Of 24 cell-cycles: useful 33.3 %, padding 0.0 %, waiting 66.7 %.
    """

    rows: int
    columns: int

    def __post_init__(self):
        for name in ("rows", "columns"):
            # A NumPy integer becomes an int.
            size = whole(getattr(self, name), name)
            object.__setattr__(self, name, size)

    def __str__(self) -> str:
        return f"{self.rows} x {self.columns} cells"

    @property
    def cells(self) -> int:
        """The number of cells."""
        return self.rows * self.columns

    def tiles(self, k: int, n: int) -> int:
        """Count the tiles, of at most rows times columns, that (k, n) weights are cut into."""
        down = math.ceil(whole(k, "k") / self.rows)
        across = math.ceil(whole(n, "n") / self.columns)
        return down * across

    def cycles(self, m: int, k: int, n: int) -> int:
        """Calculate the cycles of (m, k) times (k, n): tiles · (rows + m + rows + columns - 2)."""
        # The weights of a tile are loaded row by row.
        loading = self.rows
        streaming = self.streaming_cycles(m)
        tiles = self.tiles(k, n)
        return tiles * (loading + streaming)

    def streaming_cycles(self, m: int) -> int:
        """Calculate the cycles that m rows of activations take through a loaded tile.

        A row enters in each cycle; the last one has the whole grid to go through.
        """
        return whole(m, "m") + self.rows + self.columns - 2

    def utilisation(self, m: int, k: int, n: int) -> float:
        """Calculate the share of all cell-cycles that is useful, from 0 to 1, as `cycles` does."""
        spent = self.cells * self.cycles(m, k, n)
        return float(m * k * n / spent)

    def multiply(self, a, b, *, dtype: str | None = None) -> Run:
        """Multiply activations a (m, k) by weights b (k, n) cycle by cycle; count what cells do.

        Integers are exact, as int64, and all else is float64; dtype "bfloat16" rounds both matrices
        to it and adds up in float32, as a TPU does.

        >>> run = MatrixUnit(2, 2).multiply([[1, 2, 3]], [[1], [10], [100]])
        >>> run.product.tolist(), run.cycles, run.useful, run.padding, run.waiting
        ([[321]], 10, 3, 5, 32)
        """
        counts = dict.fromkeys(KINDS, 0)
        for step in self.steps(a, b, dtype=dtype):
            for kind in KINDS:
                counts[kind] += _count(step, kind)
        # The last step has the whole product.
        product = step.product.data
        m, n = product.shape
        k = len(b)
        return Run(self, (m, k, n), product, step.cycle, step.tile, **counts)

    def steps(self, a, b, *, dtype: str | None = None) -> Iterator[Step]:
        """Multiply as `multiply` does, and yield every cycle as a `Step`.

        >>> for step in MatrixUnit(1, 2).steps([[3]], [[4, 5]]):
        ...     print(step, step.product.tolist())
        Cycle 1 of 3, loading: 0 useful, 0 padding, 2 waiting. [[None, None]]
        Cycle 2 of 3, computing: 1 useful, 0 padding, 1 waiting. [[12, None]]
        Cycle 3 of 3, computing: 1 useful, 0 padding, 1 waiting. [[12, 15]]
        """
        activations, weights = _matrices(a, b, dtype)
        return _Simulation(self, activations, weights).steps()


@dataclass(frozen=True)
class _Tile:
    """The weights that are in the grid at the same time, and the activations that pass it."""

    number: int  # from 1
    left: int  # the first of the columns of the product that it adds to
    width: int  # and how many they are
    weights: np.ndarray  # with a zero in each cell that has no weight of the matrix
    is_given: np.ndarray  # in which cells there is a weight of the matrix
    queue: np.ma.MaskedArray  # what enters each row, cycle by cycle; masked where nothing does


class _Simulation:
    """A product on a matrix unit, cycle by cycle."""

    def __init__(self, unit: MatrixUnit, a, b):
        import numpy as np

        self.unit = unit
        self.a = a
        self.b = b
        m, k = a.shape
        _, n = b.shape
        self.cycles = unit.cycles(m, k, n)
        self.tile_count = unit.tiles(k, n)
        self.tiles_for_a_sum = unit.tiles(k, 1)
        self.streaming = unit.streaming_cycles(m)
        self.product = np.zeros((m, n), a.dtype)
        self.arrived = np.zeros((m, n), int)  # how many tiles have added to each number so far
        self.cycle = 0
        self.useful = 0  # cell-cycles so far

    def steps(self) -> Iterator[Step]:
        """Yield every cycle."""
        for tile in self._tiles():
            grid = Grid.empty(self.unit.rows, self.unit.columns, self.a.dtype)
            # The last row of weights goes in first.
            for row in reversed(tile.weights):
                grid.load(row)
                yield self._step(tile, grid, "loading", tile.queue)
            for time in range(self.streaming):
                entering = tile.queue[:, time]
                queue = tile.queue[:, time + 1 :]
                grid.compute(entering)
                places = self._arrivals(tile, grid, time)
                yield self._step(tile, grid, "computing", queue, places)

    def _tiles(self) -> Iterator[_Tile]:
        """Yield the tiles: down first, so that the sums of a column are soon complete."""
        k, n = self.b.shape
        number = 0
        for left in range(0, n, self.unit.columns):
            for top in range(0, k, self.unit.rows):
                number += 1
                yield self._tile(number, top, left)

    def _tile(self, number: int, top: int, left: int) -> _Tile:
        """Return the tile whose upper left weight is the one at (top, left)."""
        import numpy as np

        grid_shape = (self.unit.rows, self.unit.columns)
        bottom = top + self.unit.rows
        right = left + self.unit.columns
        # At the end of the matrix a part is smaller than the grid.
        part = self.b[top:bottom, left:right]
        height, width = part.shape
        weights = np.zeros(grid_shape, self.b.dtype)
        weights[:height, :width] = part
        is_given = np.zeros(grid_shape, bool)
        is_given[:height, :width] = True
        queue = self._queue(top, height)
        return _Tile(number, left, width, weights, is_given, queue)

    def _queue(self, top: int, height: int) -> np.ma.MaskedArray:
        """Return the activations before the left edge: row r is r cycles late, so a staircase."""
        import numpy as np

        rows = self.unit.rows
        m = len(self.a)
        zeros = np.zeros((rows, self.streaming), self.a.dtype)
        queue = np.ma.masked_array(zeros, mask=True)
        for row in range(rows):
            # Rows that have no weight of the matrix get zeros.
            entering = 0
            if row < height:
                entering = self.a[:, top + row]
            # What is written is masked no more.
            end = row + m
            queue[row, row:end] = entering
        return queue

    def _arrivals(self, tile: _Tile, grid: Grid, time: int) -> tuple:
        """Add the sums that leave the grid to the product; return their rows and columns."""
        import numpy as np

        is_leaving = grid.is_passed[-1, : tile.width]
        columns = np.flatnonzero(is_leaving)
        leaving_sums = grid.sums[-1, columns]
        # Row i of a enters at time i. Its sum leaves column c at time i + rows - 1 + c.
        rows = time - (self.unit.rows - 1) - columns
        places = (rows, tile.left + columns)
        self.product[places] += leaving_sums
        self.arrived[places] += 1
        return places

    def _step(self, tile: _Tile, grid: Grid, phase: str, queue, places: tuple = ()) -> Step:
        """Return the unit at the end of a cycle, in which `places` of the product grew."""
        import numpy as np

        masked = np.ma.masked_array
        waiting = ~grid.is_passed
        useful = grid.is_passed & tile.is_given
        padding = grid.is_passed & ~tile.is_given
        # A copy, since the step keeps it while later cycles add to the product.
        product = self.product.copy()
        is_missing = self.arrived == 0
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
            finished=self.arrived == self.tiles_for_a_sum,
            useful_so_far=self.useful,
        )


def _matrices(a, b, dtype: str | None) -> list[np.ndarray]:
    """Return both matrices in the number type of the computation, after every check."""
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
    exact = np.float64
    if a.dtype.kind in "iu" and b.dtype.kind in "iu":
        exact = np.int64
    return [a.astype(exact), b.astype(exact)]


def _rounded(matrix: np.ndarray) -> np.ndarray:
    """Return a matrix rounded to bfloat16, in float32, in which the sums are added up."""
    import ml_dtypes
    import numpy as np

    rounded = matrix.astype(ml_dtypes.bfloat16)
    return rounded.astype(np.float32)


def _matrix(name: str, values) -> np.ndarray:
    """Return a matrix of numbers; raise a ValueError or a TypeError for anything else."""
    import numpy as np

    matrix = np.asarray(values)
    if matrix.ndim != 2 or not matrix.size:
        raise ValueError(f"{name} must have two dimensions; its shape is {matrix.shape}.")
    type_name = matrix.dtype.name
    # NumPy counts bfloat16 to no kind of number.
    is_number = matrix.dtype.kind in "iuf" or type_name == "bfloat16"
    if not is_number:
        raise TypeError(f"{name} holds {type_name}; the unit multiplies numbers only.")
    return matrix
