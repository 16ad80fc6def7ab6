"""What is written about the cycles of a matrix unit."""

from collections.abc import Sequence

from accel_helpers.course.players.systolic import Step


def number_text(value) -> str:
    """Return a number as it stands in a cell."""
    if isinstance(value, float):
        return f"{value:.3g}"
    return str(value)


def heading(step: Step) -> str:
    """Return which cycle it is."""
    tile = ""
    if step.tiles > 1:
        tile = f", tile {step.tile} of {step.tiles}"
    return f"Cycle {step.cycle} of {step.cycles}{tile}, {step.phase}"


def event(step: Step) -> str:
    """Return what happens in a cycle, as a sentence."""
    if step.phase == "loading":
        return _loading_event(step)
    useful = int(step.useful.sum())
    padding = int(step.padding.sum())
    zeros = f", {padding} with padding" if padding else ""
    leaving = _leaving_text(int(step.leaving.sum()))
    return f"{useful} of {step.useful.size} cells useful{zeros}; {leaving} below."


def _loading_event(step: Step) -> str:
    """Return how many rows of weights are in, as a sentence."""
    rows = len(step.weights)
    is_empty = step.weights.mask[:, 0]
    empty_rows = int(is_empty.sum())
    if empty_rows == 0:
        return "All weights are in place; from now on they stay."
    return f"Weights move down: {rows - empty_rows} of {rows} rows are in."


def _leaving_text(count: int) -> str:
    """Return how many sums leave."""
    if count == 0:
        return "no sum leaves"
    if count == 1:
        return "1 sum leaves"
    return f"{count} sums leave"


def total(steps: Sequence[Step]) -> str:
    """Return the useful share of all cycles, as a sentence."""
    last = steps[-1]
    useful = last.useful_so_far
    spent = len(steps) * last.useful.size
    share = 100 * useful / spent
    return f"In all {useful} of {spent} cell-cycles are useful ({share:.1f} %)."


def title(name: str, steps: Sequence[Step]) -> str:
    """Return the heading of a strip: the unit and its product, and the cycles that are drawn."""
    cycles = [str(step.cycle) for step in steps]
    if len(cycles) == 1:
        return f"{name}: cycle {cycles[0]}"
    first_cycles = ", ".join(cycles[:-1])
    return f"{name}: cycles {first_cycles} and {cycles[-1]}"
