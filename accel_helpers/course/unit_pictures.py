"""The pictures of a matrix unit at work: some cycles as a strip, or all of them in a player."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

from accel_helpers.course.player import QUEUED, Frame, Player, drawn, moved, played, written
from accel_helpers.course.unit import MatrixUnit, Step, matrices

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from accel_helpers.measure.pictures import Picture

MOST = 60  # cycles of a product that is drawn: each is a PNG inside the page
KEY = ("useful", "padding", "waiting")  # what a cell does in a cycle
READING = "In a cell: activation × weight + sum from above = sum below."
QUEUES = "queues: columns of\nthe activations,\nfront on the right"


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
    rows, columns = zip(*_frame(chosen[0]), strict=True)
    height = max(rows) - min(rows) + 1.2
    width = max(columns) - min(columns) + 1.5
    strip = {}
    texts = []
    # Two cycles stand beside each other.
    for place, step in enumerate(chosen):
        down, right = divmod(place, 2)
        strip |= moved(_frame(step), down * height, right * width)
        texts.append(str(step))
    words = " ".join(texts)
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
    a, b = matrices(a, b)
    m, k = a.shape
    n = b.shape[1]
    cycles = unit.cycles(m, k, n)
    if cycles > MOST:
        told = f"{unit} take {cycles} for this product"
        raise ValueError(f"a picture has room for {MOST} cycles; {told}. Try MatrixUnit(3, 3).")
    steps = list(unit.steps(a, b))
    spent = unit.cells * cycles
    useful = steps[-1].useful_so_far
    share = 100 * useful / spent
    name = f"Matrix unit of {unit}, {a.shape} times {b.shape}"
    total = f"In all {useful} of {spent} cell-cycles are useful ({share:.1f} %)."
    return steps, name, total


def _frame(step: Step) -> Frame:
    """Draw the unit at the end of a cycle: its queues, its cells and the product."""
    import numpy as np

    unit = step.unit
    m, n = step.product.shape
    # Room for the queues, and beside a small unit for the lines of text.
    queues = QUEUED * (m + unit.rows) + 0.6
    left = -max(queues, 6.4 - unit.columns)
    spent = step.cycle * unit.cells
    counter = f"Useful so far: {step.useful_so_far} of {spent} cell-cycles."
    frame = written(-3, left, f"{step.heading}.", step.event, counter, READING)
    frame[-0.9, left / 2] = ("text", QUEUES)
    for (row, column), activation in step.activations.items():
        if column < 0:
            place = QUEUED * (column + 0.5) - 0.6
            frame[row, place] = ("queued", _text(activation))
    for row, column in np.ndindex(unit.rows, unit.columns):
        frame[row, column] = cell(step, (row, column))
        # It hands its activation to the right, and its sum down.
        if (row, column) in step.sums:
            frame[row, column + 0.5] = ("text", "→")
            frame[row + 0.5, column] = ("text", "↓")
    frame[unit.rows, -1.4] = ("text", "product so far")
    for (i, j), number in np.ma.ndenumerate(step.product):
        look = "number"
        if (i, j) in step.leaving:
            look = "new"
        frame[unit.rows + i / 2, j] = (look, _text(number))
    bottom = unit.rows + m / 2 + 0.5
    for place, kind in enumerate(KEY):
        middle = left + 0.5 + 1.2 * place
        frame[bottom, middle] = (kind, kind)
    return frame


def cell(step: Step, place: tuple[int, int]) -> tuple[str, str]:
    """Return what a cell does, as in `KEY`, and its weight and computation as text."""
    if place not in step.weights:
        return "waiting", ""
    weight = _text(step.weights[place])
    if place not in step.sums:
        return "waiting", f"{weight}\n\n"
    kind = "padding"
    if place in step.given:
        kind = "useful"
    activation = _text(step.activations[place])
    above = _text(step.above[place])
    total = _text(step.sums[place])
    return kind, f"{activation} × {weight}\n+ {above}\n= {total}"
