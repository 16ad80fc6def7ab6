"""How large the parts of a matrix unit are drawn; lengths in inches."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from accel_helpers.course.players.step import Step
from accel_helpers.course.players.systolic import MatrixUnit
from accel_helpers.course.players.unit_texts import number_text

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike

LARGEST = 8  # rows or columns, of a unit and of a matrix: with more, no one could read the numbers
LONGEST_QUEUE = 7  # columns of the queue that are drawn at most
DIGIT = 0.08  # the width of a digit at 9 points
TALL = 0.56  # the height of a cell
GAP = 0.15  # between a cell and the next
RESULT = 0.26  # the height of a number of the product
TOP = 0.95  # the height of the text above the cells


@dataclass(frozen=True)
class Plan:
    """How large the parts of a panel are drawn; all panels of a picture are alike.

    A panel shows one cycle: the queue of activations, to its right the cells, and below these the
    results, which are the numbers of the product so far.
    """

    name: str  # the unit, and the shapes of the matrices
    has_padding: bool  # whether a cell multiplies by padding in any cycle
    ahead: int  # columns of the queue that are drawn
    slot: float  # the width of an activation in the queue
    cell: float  # the width of a cell
    left: float  # where the cells begin, from the left edge of the panel
    below: float  # where the results begin, from its upper edge
    width: float
    height: float


def planned(unit: MatrixUnit, a: "ArrayLike", b: "ArrayLike") -> tuple[list[Step], Plan]:
    """Return all cycles of the product of a and b on a unit, and the plan of their panels.

    Raises a ValueError where the unit or a matrix has more than `LARGEST` rows or columns, and
    what `MatrixUnit.multiply` raises.
    """
    import numpy as np

    # This refuses matrices that cannot be multiplied, before their shapes are taken apart.
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
    """Return a plan in which the longest numbers of all steps have room.

    The product has m rows and n columns, and `steps` are all of its cycles.
    """
    activation_digits = _most_digits(step.queue for step in steps)
    weight_digits = _most_digits(step.weights for step in steps)
    sum_digits = _most_digits(step.sums for step in steps)
    # The m activations of the last row come after as many empty places as there are rows above.
    ahead = min(m + unit.rows - 1, LONGEST_QUEUE)
    slot = max(0.24, DIGIT * (activation_digits + 1))
    # A cell has "activation × weight" on a line, and "= sum" below. The numbers that are added
    # here stand for the signs, the blanks and the margins, in digits.
    upper_line = DIGIT * (2 * max(activation_digits, weight_digits) + 4)
    lower_line = DIGIT * (sum_digits + 3)
    cell = max(0.56, upper_line, lower_line)
    queue_width = ahead * slot
    left = 0.4 + max(1.05, queue_width)
    below = TOP + unit.rows * (TALL + GAP) + 0.08
    # Results stand below the cells in columns of the same width, and may be more than these.
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


def _most_digits(arrays: Iterable["np.ma.MaskedArray"]) -> int:
    """Return how many characters the longest number in some arrays is written with.

    Masked places do not count; there is at least one that is not masked.
    """
    lengths = []
    for array in arrays:
        for value in array.compressed():
            text = number_text(value)
            lengths.append(len(text))
    return max(lengths)
