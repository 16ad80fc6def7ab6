"""A TPU's matrix unit as a cycle model, and its pictures: numbers walk through a grid of cells.

The grid is a weight-stationary systolic array (Kung, IEEE Computer 15(1), 1982; that a TPU works
so: Jouppi and others, ISCA 2017, section 2, arXiv:1704.04760). Each cell keeps one weight. In every
cycle it takes an activation from its left neighbour and a partial sum from the one above,
multiplies, adds, and hands both on: the activation to the right, the sum down.

This is a model, no measurement: here loading weights and computing never overlap, so that every
cycle can be seen. A real unit loads the next tile's weights while it computes with this one.
"""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from math import ceil
from typing import TYPE_CHECKING

from accel_helpers._values.records import whole
from accel_helpers.course.player import QUEUED, Frame, Player, drawn, moved, played, written

if TYPE_CHECKING:
    from numpy import ndarray
    from numpy.typing import ArrayLike

    from accel_helpers.measure.pictures import Picture

MOST = 60  # cycles of a product that is drawn: each is a PNG inside the page
KEY = ("useful", "padding", "waiting")  # what a cell does in a cycle
READING = "In a cell: activation × weight + sum from above = sum below."
QUEUES = "queues: columns of\nthe activations,\nfront on the right"


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
        zeros = f", {padding} with padding" if padding else ""
        leaving = len(self.leaving)
        sums = {0: "no sum leaves", 1: "1 sum leaves"}.get(leaving, f"{leaving} sums leave")
        return f"{useful} of {self.unit.cells} cells useful{zeros}; {sums} below."

    def cell(self, place: tuple[int, int]) -> tuple[str, str]:
        """Return what a cell does, as in `KEY`, and its weight and computation as text."""
        if place not in self.weights:
            return "waiting", ""
        weight = _text(self.weights[place])
        if place not in self.sums:
            return "waiting", f"{weight}\n\n"
        kind = "useful" if place in self.given else "padding"
        activation = _text(self.activations[place])
        above = _text(self.above[place])
        return kind, f"{activation} × {weight}\n+ {above}\n= {_text(self.sums[place])}"

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
        a, b = _matrices(a, b)
        m, k = a.shape
        n = b.shape[1]
        cycles = self.cycles(m, k, n)
        tiles = self.tiles(k, n)
        spent = self.cells * cycles
        # In each tile, every row of activations passes every cell.
        busy = m * tiles * self.cells
        useful = m * k * n
        use = {"useful": useful, "padding": busy - useful, "waiting": spent - busy}
        shares = [f"{kind} {100 * count / spent:.1f} %" for kind, count in use.items()]
        tile_word = "tile" if tiles == 1 else "tiles"
        text = (
            f"{a.shape} times {b.shape} on {self}: {cycles:,} cycles, {tiles} {tile_word}.\n"
            f"Of {spent:,} cell-cycles: {', '.join(shares)}."
        )
        return Run(a @ b, cycles, tiles, use, text)

    def steps(self, a: ArrayLike, b: ArrayLike) -> Iterator[Step]:
        """Return an iterator over the cycles of a product, each as a `Step`.

        Takes and refuses what `multiply` does, already when it is called.

        >>> for step in MatrixUnit(1, 2).steps([[3]], [[4, 5]]):
        ...     print(step, step.product.tolist())
        Cycle 1 of 3, loading. All weights are in place; from now on they stay. [[None, None]]
        Cycle 2 of 3, computing. 1 of 2 cells useful; 1 sum leaves below. [[12, None]]
        Cycle 3 of 3, computing. 1 of 2 cells useful; 1 sum leaves below. [[12, 15]]
        """
        return self._steps(*_matrices(a, b))

    def _steps(self, a: ndarray, b: ndarray) -> Iterator[Step]:
        """Yield the unit after every cycle, tile after tile."""
        import numpy as np

        m, k = a.shape
        n = b.shape[1]
        cycles = self.cycles(m, k, n)
        tiles = self.tiles(k, n)
        # Rows of cells without weights of the matrix get zeros for activations.
        a = np.pad(a, ((0, 0), (0, -k % self.rows)))
        product = np.ma.masked_all((m, n), np.result_type(a, b))
        cycle = useful = 0
        # Down before across, so that the sums of a column are soon complete.
        corners = itertools.product(range(0, n, self.columns), range(0, k, self.rows))
        for tile, (left, top) in enumerate(corners, 1):
            name = f", tile {tile} of {tiles}" if tiles > 1 else ""
            given = dict(np.ndenumerate(b[top : top + self.rows, left : left + self.columns]))
            queues = a[:, top : top + self.rows]
            for time, cells in enumerate(self._tile(queues, given), -self.rows):
                leaving = set()
                for (row, column), total in cells["sums"].items():
                    place = (time - row - column, left + column)
                    if row == self.rows - 1 and left + column < n:
                        product[place] = product.filled(0)[place] + total
                        leaving.add(place)
                cycle += 1
                useful += len(cells["sums"].keys() & given)
                phase = "computing" if time >= 0 else "loading"
                heading = f"Cycle {cycle} of {cycles}{name}, {phase}"
                yield Step(
                    self, cycle, phase, heading, useful, product.copy(), leaving, given, **cells
                )

    def _tile(self, a: ndarray, given: dict) -> Iterator[dict]:
        """Yield what the cells hold after every cycle of a tile, by the fields of `Step`."""
        import numpy as np

        # A queue is a column of a. It starts a cycle after the one above, so that an activation
        # meets the sum from there.
        activations = {(row, -1 - row - i): value for (i, row), value in np.ndenumerate(a)}
        weights = {}
        sums = {}
        zeros = {(0, column): 0 for column in range(self.columns)}
        for time in range(-self.rows, len(a) + self.rows + self.columns - 2):
            if time < 0:
                # The last row of weights goes in first, since it has the longest way down.
                entering = {(0, column): given.get((-1 - time, column), 0) for _, column in zeros}
                weights = moved(weights, 1, 0) | entering
            else:
                activations = moved(activations, 0, 1)
            above = zeros | moved(sums, 1, 0)
            busy = activations.keys() & weights
            sums = {place: above[place] + activations[place] * weights[place] for place in busy}
            yield {"weights": weights, "activations": activations, "above": above, "sums": sums}


def _matrices(a: ArrayLike, b: ArrayLike) -> list[ndarray]:
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


def _text(number: float) -> str:
    """Return a number as a cell shows it: an integer whole, a float with three digits."""
    if isinstance(number, float):
        return f"{number:.3g}"
    return str(number)


def unit_strip(unit: MatrixUnit, a: ArrayLike, b: ArrayLike, cycles: Collection[int]) -> Picture:
    """Draw some cycles of a small matrix unit: what enters, what each cell does, what has left.

    Parameters
    ----------
    unit : MatrixUnit
    a, b : array_like
        The activations, of shape (m, k), and the weights, of shape (k, n).
    cycles : collection of int
        The cycles to draw, counted from 1; those that the product does not have are left out.

    Raises
    ------
    ValueError
        Where the product takes more than 60 cycles or has none of the `cycles`; also for what
        `MatrixUnit.multiply` refuses.

    Examples
    --------
    >>> print(unit_strip(MatrixUnit(1, 1), [[3]], [[4]], cycles=[2]))
    Strip. Matrix unit of 1 x 1 cells, (1, 1) times (1, 1). Cycle 2 of 2, computing. 1 of 1 cells \
useful; 1 sum leaves below. In all 1 of 2 cell-cycles are useful (50.0 %).
    """
    steps, name, total = _shown(unit, a, b)
    chosen = [step for step in steps if step.cycle in cycles]
    if not chosen:
        raise ValueError(f"cycles must be between 1 and {len(steps)}; got {cycles}.")
    frames = [_frame(step) for step in chosen]
    rows, columns = zip(*frames[0], strict=True)
    height = max(rows) - min(rows) + 1.2
    width = max(columns) - min(columns) + 1.5
    strip = {}
    for place, frame in enumerate(frames):
        down, right = divmod(place, 2)
        strip |= moved(frame, down * height, right * width)
    words = " ".join(str(step) for step in chosen)
    return drawn(strip, f"Strip. {name}. {words} {total}", [strip])


def unit_animation(unit: MatrixUnit, a: ArrayLike, b: ArrayLike) -> Player:
    """Make a player of every cycle of a small matrix unit: play, pause, or go step by step.

    Parameters
    ----------
    unit : MatrixUnit
    a, b : array_like
        As `unit_strip` takes them.

    Raises
    ------
    ValueError
        Where the product takes more than 60 cycles; also for what `MatrixUnit.multiply` refuses.

    Examples
    --------
    >>> len(unit_animation(MatrixUnit(1, 1), [[3]], [[4]]).frames)
    2
    """
    steps, name, total = _shown(unit, a, b)
    frames = [_frame(step) for step in steps]
    return played(frames, f"Animation of {len(steps)} cycles. {name}. {total}")


def _shown(unit: MatrixUnit, a: ArrayLike, b: ArrayLike) -> tuple[list[Step], str, str]:
    """Return the cycles of a small product, and in words: which it is, and its useful share."""
    a, b = _matrices(a, b)
    cycles = unit.cycles(*a.shape, b.shape[1])
    if cycles > MOST:
        told = f"{unit} take {cycles} for this product"
        raise ValueError(f"a picture has room for {MOST} cycles; {told}. Try MatrixUnit(3, 3).")
    steps = list(unit.steps(a, b))
    spent = unit.cells * cycles
    useful = steps[-1].useful_so_far
    total = f"In all {useful} of {spent} cell-cycles are useful ({100 * useful / spent:.1f} %)."
    return steps, f"Matrix unit of {unit}, {a.shape} times {b.shape}", total


def _frame(step: Step) -> Frame:
    """Draw the unit at the end of a cycle: its queues, its cells and the product."""
    import numpy as np

    unit = step.unit
    m, n = step.product.shape
    # Room for the queues, and beside a small unit for the lines of text.
    left = -max(QUEUED * (m + unit.rows) + 0.6, 6.4 - unit.columns)
    spent = step.cycle * unit.cells
    counter = f"Useful so far: {step.useful_so_far} of {spent} cell-cycles."
    frame = written(-3, left, f"{step.heading}.", step.event, counter, READING)
    frame[-0.9, left / 2] = ("text", QUEUES)
    for (row, column), activation in step.activations.items():
        if column < 0:
            frame[row, QUEUED * (column + 0.5) - 0.6] = ("queued", _text(activation))
    for row, column in np.ndindex(unit.rows, unit.columns):
        frame[row, column] = step.cell((row, column))
        # It hands its activation to the right, and its sum down.
        if (row, column) in step.sums:
            frame[row, column + 0.5] = ("text", "→")
            frame[row + 0.5, column] = ("text", "↓")
    frame[unit.rows, -1.4] = ("text", "product so far")
    for (i, j), number in np.ma.ndenumerate(step.product):
        look = "new" if (i, j) in step.leaving else "number"
        frame[unit.rows + i / 2, j] = (look, _text(number))
    for place, kind in enumerate(KEY):
        frame[unit.rows + m / 2 + 0.5, left + 0.5 + 1.2 * place] = (kind, kind)
    return frame
