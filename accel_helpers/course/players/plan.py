"""How large the parts of a matrix unit are drawn; lengths in inches."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from accel_helpers.course.players.systolic import MatrixUnit, Step
from accel_helpers.course.players.unit_texts import number_text

LARGEST = 8  # rows and columns, of a unit and of a matrix, that can be drawn
LONGEST_QUEUE = 7  # columns
DIGIT = 0.08  # the width of a digit at 9 points
TALL = 0.56  # the height of a cell
GAP = 0.15  # between a cell and the next
RESULT = 0.26  # the height of a result
TOP = 0.95  # what the text above the cells takes


@dataclass(frozen=True)
class Plan:
    """How large the parts of a panel are drawn; all panels of a picture are alike."""

    name: str  # the unit, and the product that it computes
    has_padding: bool  # in any of its cycles
    ahead: int  # columns of the queue that are drawn
    slot: float  # the width of an activation in the queue
    cell: float  # the width of a cell
    left: float  # where the cells begin
    below: float  # where the results begin
    width: float
    height: float


def planned(unit: MatrixUnit, a, b) -> tuple[list[Step], Plan]:
    """Return all steps, and how large their parts are drawn; refuse what nobody could read."""
    import numpy as np

    # It refuses what is no product before the shapes are looked at.
    walk = unit.steps(a, b)
    m, k = np.shape(a)
    _, n = np.shape(b)
    product = f"({m}, {k}) times ({k}, {n})"
    if max(unit.rows, unit.columns, m, k, n) > LARGEST:
        raise ValueError(
            f"a drawing has room for {LARGEST} rows and columns, of cells and of numbers; got "
            f"{unit}, {product}. MatrixUnit(3, 3) can show the same."
        )
    steps = list(walk)
    name = f"Matrix unit of {unit}, {product}"
    return steps, _plan(name, unit, m, n, steps)


def _plan(name: str, unit: MatrixUnit, m: int, n: int, steps: Sequence[Step]) -> Plan:
    """Return a plan in which the longest numbers of all steps have room."""
    activation_digits = _most_digits(step.queue for step in steps)
    weight_digits = _most_digits(step.weights for step in steps)
    sum_digits = _most_digits(step.sums for step in steps)
    ahead = min(m + unit.rows - 1, LONGEST_QUEUE)
    slot = max(0.24, DIGIT * (activation_digits + 1))
    # A cell has a weight beside an activation, and a sum below them.
    upper_line = DIGIT * (2 * max(activation_digits, weight_digits) + 4)
    lower_line = DIGIT * (sum_digits + 3)
    cell = max(0.56, upper_line, lower_line)
    queue_width = ahead * slot
    left = 0.4 + max(1.05, queue_width)
    below = TOP + unit.rows * (TALL + GAP) + 0.08
    # The product may have more columns than the unit.
    columns = max(unit.columns, n)
    right = left + columns * (cell + GAP)
    result_rows = max(2, m)
    return Plan(
        name=name,
        has_padding=any(step.padding.any() for step in steps),
        ahead=ahead,
        slot=slot,
        cell=cell,
        left=left,
        below=below,
        width=max(3.75, right),
        height=below + result_rows * RESULT + 0.5,
    )


def _most_digits(arrays: Iterable) -> int:
    """Return the length of the longest number in some masked arrays, as it is written."""
    lengths = []
    for array in arrays:
        for value in array.compressed():
            text = number_text(value)
            lengths.append(len(text))
    return max(lengths)
