"""The pictures of a matrix unit at work: some cycles as a strip, or all of them in a player."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

from accel_helpers._values.words import percent
from accel_helpers.course.player import CAPTION, QUEUED, Player, drawn, played
from accel_helpers.course.unit import MatrixUnit, Step

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from accel_helpers.measure.pictures import Picture

MOST = 60  # cycles of a product that is drawn: each is a PNG inside the page
READING = "activation × weight\n+ sum from above\n= sum below"
QUEUES = "queues: columns of\nthe activations,\nfront on the right →"


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
        Where the product takes more than 60 cycles; also for what `MatrixUnit.multiply` refuses.

    Examples
    --------
    >>> print(unit_strip(MatrixUnit(1, 1), [[3]], [[4]], cycles=[2]))
    Cycle 2 of 2, computing. 1 of 1 cells useful; 1 sum leaves below.
    """
    (strip,) = drawn(*_framed(unit, a, b, cycles))
    return strip


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
    return played(*_framed(unit, a, b))


def _framed(unit: MatrixUnit, a: ArrayLike, b: ArrayLike, cycles=None) -> tuple:
    """Return a product's cycles as frames, or the chosen ones as one frame, and their title."""
    run = unit.multiply(a, b)
    if run.cycles > MOST:
        raise ValueError(
            f"a picture has room for {MOST} cycles; {unit} take {run.cycles} for this product. "
            "Try MatrixUnit(3, 3)."
        )
    sheets = [[step] for step in unit.steps(a, b)]
    if cycles is not None:
        sheets = [[step for (step,) in sheets if step.cycle in cycles]]
    m = len(run.product)
    # The longest queue ends there.
    left = -max(QUEUED * (m + unit.rows) + 0.6, 2.6)
    below = unit.rows + m / 2 + 0.3
    # Two cycles stand beside each other, and the legend below the last ones.
    across = max(CAPTION, unit.columns - left)
    pair = below + 2.4
    bottom = below + (len(sheets[0]) - 1) // 2 * pair
    key = {(-0.9, left): ("text", QUEUES)}
    place = left + 0.5
    for kind, count in run.use.items():
        if count:
            key[bottom, place] = (kind, kind)
            place += 1.2
    key[bottom, place - 0.4] = ("text", READING)
    frames = {}
    for steps in sheets:
        frame = dict(key)
        for place, step in enumerate(steps):
            down, right = divmod(place, 2)
            for (row, column), box in _frame(step, left, unit.rows).items():
                frame[row + down * pair, column + right * across] = box
        words = " ".join(map(str, steps))
        frames[words] = frame
    useful = percent(run.use["useful"] / sum(run.use.values()))
    title = f"{useful} of the cells' time is useful: work crosses them as a slanted wave"
    return frames, title


def _frame(step: Step, left: float, rows: int) -> dict:
    """Draw the unit at the end of a cycle: its queues, its cells and the product."""
    import numpy as np

    frame = {(-1.9, left): ("text", str(step).replace(". ", ".\n", 1)), **step.cells}
    for (turn, row), activation in np.ndenumerate(step.queues):
        column = max(step.time, -1) - row - turn
        if column < 0:
            place = QUEUED * (column + 0.5) - 0.6
            frame[row, place] = ("queued", f"{activation:.4g}")
    frame[rows, left] = ("text", "product so far")
    for (i, j), number in np.ma.ndenumerate(step.product):
        look = "number"
        if step.leaving[i, j]:
            look = "new"
        frame[rows + i / 2, j] = (look, f"{number:.4g}")
    return frame
