"""What the pictures of a matrix unit say about its cycles in words."""

from collections.abc import Sequence

from accel_helpers.course.players.step import Step


def number_text(value: float) -> str:
    """Return a number as a cell shows it: a float with three digits, an integer whole.

    2.0 -> "2", 0.12345 -> "0.123", 12345 -> "12345".
    """
    if isinstance(value, float):
        return f"{value:.3g}"
    return str(value)


def heading(step: Step) -> str:
    """Return which cycle it is: "Cycle 3 of 12, tile 1 of 2, computing"; one tile is not named."""
    tile = ""
    if step.tiles > 1:
        tile = f", tile {step.tile} of {step.tiles}"
    return f"Cycle {step.cycle} of {step.cycles}{tile}, {step.phase}"


def event(step: Step) -> str:
    """Return a sentence on what happens in a cycle.

    While computing: "2 of 4 cells useful, 1 with padding; 1 sum leaves below." While loading:
    "Weights move down: 1 of 2 rows are in."
    """
    if step.phase == "loading":
        return _loading_event(step)
    useful = int(step.useful.sum())
    padding = int(step.padding.sum())
    zeros = f", {padding} with padding" if padding else ""
    leaving = _leaving_text(int(step.leaving.sum()))
    return f"{useful} of {step.useful.size} cells useful{zeros}; {leaving} below."


def _loading_event(step: Step) -> str:
    """Return a sentence on how many rows of cells have weights at the end of a loading cycle."""
    rows = len(step.weights)
    # A row gets all of its weights at once, so its first cell tells.
    is_empty = step.weights.mask[:, 0]
    empty_rows = int(is_empty.sum())
    if empty_rows == 0:
        return "All weights are in place; from now on they stay."
    return f"Weights move down: {rows - empty_rows} of {rows} rows are in."


def _leaving_text(count: int) -> str:
    """Return how many sums leave: "no sum leaves", "1 sum leaves", "2 sums leave"."""
    if count == 0:
        return "no sum leaves"
    if count == 1:
        return "1 sum leaves"
    return f"{count} sums leave"


def total(steps: Sequence[Step]) -> str:
    """Return a sentence on the useful share of a product; `steps` are all of its cycles."""
    last = steps[-1]
    useful = last.useful_so_far
    spent = len(steps) * last.useful.size
    share = 100 * useful / spent
    return f"In all {useful} of {spent} cell-cycles are useful ({share:.1f} %)."


def title(name: str, steps: Sequence[Step]) -> str:
    """Return the heading of a strip: `name`, and the cycles of `steps`, of which there is one.

    "Matrix unit of 2 x 2 cells, (2, 2) times (2, 2): cycles 1, 3 and 6".
    """
    cycles = [str(step.cycle) for step in steps]
    if len(cycles) == 1:
        return f"{name}: cycle {cycles[0]}"
    first_cycles = ", ".join(cycles[:-1])
    return f"{name}: cycles {first_cycles} and {cycles[-1]}"
