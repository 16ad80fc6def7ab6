"""A TPU's matrix unit as a cycle model: numbers walk through a grid of cells, hand to hand.

The grid is a weight-stationary systolic array (Kung, IEEE Computer 15(1), 1982; that a TPU works
so: Jouppi and others, ISCA 2017, section 2, arXiv:1704.04760). Each cell keeps one weight. In every
cycle it takes an activation from its left neighbour and a partial sum from the one above,
multiplies, adds, and hands both on: the activation to the right, the sum down.

This is a model, no measurement: here loading weights and computing never overlap, so that every
cycle can be seen. A real unit loads the next tile's weights while it computes with this one.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from accel_helpers._values.records import whole

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
        (m, k, n), total = self.shape, self.unit.cells * self.cycles
        shares = ", ".join(f"{kind} {100 * getattr(self, kind) / total:.1f} %" for kind in KINDS)
        return (
            f"({m}, {k}) times ({k}, {n}) on {self.unit}: {self.cycles:,} cycles, "
            f"{self.tiles} {'tile' if self.tiles == 1 else 'tiles'}.\n"
            f"Of {total:,} cell-cycles: {shares}."
        )


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
        cells = ", ".join(f"{int(getattr(self, kind).sum())} {kind}" for kind in KINDS)
        return f"Cycle {self.cycle} of {self.cycles}, {self.phase}: {cells}."

    __repr__ = __str__  # seventeen arrays would fill a page


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
        for name in ("rows", "columns"):  # a NumPy integer becomes an int
            object.__setattr__(self, name, whole(getattr(self, name), name))

    def __str__(self) -> str:
        return f"{self.rows} x {self.columns} cells"

    @property
    def cells(self) -> int:
        """How many cells there are."""
        return self.rows * self.columns

    def tiles(self, k: int, n: int) -> int:
        """How many pieces of at most rows times columns weights of shape (k, n) are cut into."""
        # -(-k // r) rounds k / r up
        return -(-whole(k, "k") // self.rows) * -(-whole(n, "n") // self.columns)

    def cycles(self, m: int, k: int, n: int) -> int:
        """Cycles for the product of (m, k) and (k, n): tiles · (rows + m + rows + columns - 2)."""
        loading = self.rows  # of one tile's weights, row by row
        # A row of activations enters in each cycle; the last one has the whole grid to go through.
        streaming = whole(m, "m") + self.rows + self.columns - 2
        return self.tiles(k, n) * (loading + streaming)

    def utilisation(self, m: int, k: int, n: int) -> float:
        """Share of all cell-cycles that is useful, from 0 to 1, by the formula of `cycles`."""
        return float(m * k * n / (self.cells * self.cycles(m, k, n)))

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
            for kind in counts:
                counts[kind] += int(getattr(step, kind).sum())
        (m, n), k = step.product.shape, len(b)
        return Run(self, (m, k, n), step.product.data, step.cycle, step.tile, **counts)

    def steps(self, a, b, *, dtype: str | None = None) -> Iterator[Step]:
        """The same simulation, cycle by cycle.

        >>> for step in MatrixUnit(1, 2).steps([[3]], [[4, 5]]):
        ...     print(step, step.product.tolist())
        Cycle 1 of 3, loading: 0 useful, 0 padding, 2 waiting. [[None, None]]
        Cycle 2 of 3, computing: 1 useful, 0 padding, 1 waiting. [[12, None]]
        Cycle 3 of 3, computing: 1 useful, 0 padding, 1 waiting. [[12, 15]]
        """
        return self._simulate(*_matrices(a, b, dtype))

    def _simulate(self, a, b) -> Iterator[Step]:
        import numpy as np

        rows, columns, (m, k), n = self.rows, self.columns, a.shape, b.shape[1]
        cycles, tiles, shares = self.cycles(m, k, n), self.tiles(k, n), self.tiles(k, 1)
        empty, nowhere = np.zeros((rows, columns), a.dtype), np.zeros((rows, columns), bool)
        product, arrived = np.zeros((m, n), a.dtype), np.zeros((m, n), int)
        masked = np.ma.masked_array
        corners = [(top, left) for left in range(0, n, columns) for top in range(0, k, rows)]
        cycle = total = 0  # total: useful so far
        for tile, (top, left) in enumerate(corners, start=1):
            part = b[top : top + rows, left : left + columns]
            high, wide = part.shape
            filled, real = empty.copy(), nowhere.copy()  # real: cells with a weight of b
            filled[:high, :wide], real[:high, :wide] = part, True
            # before the left edge, row r is delayed by r cycles; rows too many get zeros
            queue = masked(np.zeros((rows, m + rows + columns - 2), a.dtype), mask=True)
            for row in range(rows):  # what is written here is masked no more
                queue[row, row : row + m] = a[:, top + row] if row < high else 0
            weights, loaded = empty, nowhere
            activations, passing, from_above, sums = empty, nowhere, empty, empty
            for t in range(-rows, m + rows + columns - 2):
                leaving = np.zeros((m, n), bool)
                if t < 0:  # loading: the last row of weights goes in first, and moves down
                    weights = np.vstack([filled[-t - 1], weights[:-1]])
                    loaded = np.vstack([~nowhere[0], loaded[:-1]])
                else:  # each cell takes what its left and its upper neighbour had a cycle ago
                    activations = np.column_stack([queue.data[:, t], activations[:, :-1]])
                    passing = np.column_stack([~queue.mask[:, t], passing[:, :-1]])
                    from_above = np.vstack([empty[0], sums[:-1]])
                    sums = from_above + activations * weights
                    # row i of a enters at t = i; its sum leaves column c at t = i + rows - 1 + c
                    c = np.flatnonzero(passing[-1, :wide])
                    i = t - (rows - 1) - c
                    product[i, left + c] += sums[-1, c]
                    leaving[i, left + c] = True
                    arrived[i, left + c] += 1
                cycle += 1
                useful, waiting = passing & real, ~passing
                total += int(np.count_nonzero(useful))
                yield Step(
                    cycle=cycle, cycles=cycles, tile=tile, tiles=tiles,
                    phase="loading" if t < 0 else "computing",
                    weights=masked(weights, ~loaded), activations=masked(activations, waiting),
                    from_above=masked(from_above, waiting), sums=masked(sums, waiting),
                    useful=useful, padding=passing & ~real, waiting=waiting,
                    queue=queue[:, max(0, t + 1) :], product=masked(product.copy(), arrived == 0),
                    leaving=leaving, finished=arrived == shares, useful_so_far=total,
                )  # fmt: skip


def _matrices(a, b, dtype):
    """Both matrices in the number type of the computation, after every check."""
    import numpy as np

    if dtype not in (None, "bfloat16"):
        raise ValueError(f"dtype must be None or 'bfloat16'; got {dtype!r}.")
    a, b = np.asarray(a), np.asarray(b)
    for name, found in (("a", a), ("b", b)):
        if found.ndim != 2 or not found.size:
            raise ValueError(f"{name} must have two dimensions; its shape is {found.shape}.")
        if found.dtype.kind not in "iuf" and found.dtype.name != "bfloat16":
            raise TypeError(f"{name} holds {found.dtype.name}; the unit multiplies numbers only.")
    if a.shape[1] != b.shape[0]:
        raise ValueError(
            f"a of shape {a.shape} cannot be multiplied by b of shape {b.shape}: a must have as "
            "many columns as b has rows. Does one of them need a .T?"
        )
    if dtype == "bfloat16":
        import ml_dtypes

        return [x.astype(ml_dtypes.bfloat16).astype(np.float32) for x in (a, b)]
    whole_numbers = a.dtype.kind in "iu" and b.dtype.kind in "iu"
    return [x.astype(np.int64 if whole_numbers else np.float64) for x in (a, b)]
