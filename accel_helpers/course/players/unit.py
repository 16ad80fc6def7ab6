"""Pictures of the matrix unit of `systolic`: a strip of cycles, and a player; lengths in inches."""

import math
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from accel_helpers.course.players.drawing import (
    BODY,
    FRAMES,
    HEADING,
    KINDS,
    TEXT,
    Animation,
    Look,
    blank,
    draw_box,
    draw_key_entry,
)
from accel_helpers.course.players.systolic import MatrixUnit, Step
from accel_helpers.plots import style
from accel_helpers.plots.style import Picture

LARGEST = 8  # rows and columns, of a unit and of a matrix, that can be drawn
WIDEST = 8.0  # of a picture
FOOT = 0.74  # what the key takes at the bottom
LETTER = 0.075  # the width of a letter at 9 points, on the whole
DIGIT = 0.08  # and of a digit, which is wider
TALL = 0.56  # the height of a cell
GAP = 0.15  # between a cell and the next
RESULT = 0.26  # the height of a result
TOP = 0.95  # what the text above the cells takes
QUEUE_GAP = 0.28  # between the queue and the cells
READING = "In a cell: activation × weight + sum from above\n= sum handed down."


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

    def cell_left(self, left: float, column: int) -> float:
        """Where a column of cells begins, if the first one begins at `left`."""
        return left + column * (self.cell + GAP)


def _cell_top(top: float, row: int) -> float:
    """Where a row of cells begins, if the first one begins at `top`."""
    return top + row * (TALL + GAP)


def unit_strip(unit: MatrixUnit, a, b, cycles: Iterable[int] | None = None) -> Picture:
    """Draw some cycles of a small matrix unit: what enters, what each cell does, what has left.

    The unit has at most 8 x 8 cells, and no side of `a` and `b` is longer than 8. The `cycles` are
    counted from 1, and by default up to six, evenly spread.

    >>> print(unit_strip(MatrixUnit(1, 1), [[3]], [[4]], cycles=[2]))
    Strip. Matrix unit of 1 x 1 cells, (1, 1) times (1, 1). Cycle 2 of 2, computing. 1 of 1 cells \
useful; 1 sum leaves below. In all 1 of 2 cell-cycles are useful (50.0 %).
    """
    steps, plan = planned(unit, a, b)
    if cycles is None:
        cycles = [1 + place * (len(steps) - 1) // 5 for place in range(6)]
    numbers = sorted(set(cycles))
    chosen = [step for step in steps if step.cycle in numbers]
    if not chosen:
        raise ValueError(f"cycles must be between 1 and {len(steps)}; got {numbers}.")
    sentences = []
    for step in chosen:
        sentences += [f"{_heading(step)}.", _event(step)]
    sentences.append(_total_text(steps))
    alt = f"Strip. {plan.name}. {' '.join(sentences)}"
    with sheet(chosen, plan, strip_title(chosen, plan)) as (figure, _):
        # Fewer pixels than in other pictures, so that it is shown smaller.
        return style.picture(figure, alt, dpi=136)


def unit_animation(unit: MatrixUnit, a, b) -> Animation:
    """Play every cycle of a small matrix unit: play, pause, or go step by step.

    For what `unit_strip` can draw, with at most 60 cycles.

    >>> len(unit_animation(MatrixUnit(1, 1), [[3]], [[4]]).frames)
    2
    """
    steps, plan = planned(unit, a, b)
    if len(steps) > FRAMES:
        raise ValueError(f"{len(steps)} cycles, over {FRAMES}: draw a few of them with unit_strip.")
    frames = []
    for step in steps:
        with sheet([step], plan) as (figure, _):
            frame = style.picture(figure, "", dpi=100)
        frames.append(frame.png)
    strip = unit_strip(unit, a, b)
    alt = strip.alt.replace("Strip", f"Animation of {len(steps)} cycles", 1)
    return Animation(tuple(frames), alt)


def planned(unit: MatrixUnit, a, b) -> tuple[list[Step], Plan]:
    """All steps, and how large their parts are drawn; refuses what nobody could read."""
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
    entering = _most_digits(step.queue for step in steps)
    weight = _most_digits(step.weights for step in steps)
    total = _most_digits(step.sums for step in steps)
    ahead = min(m + unit.rows - 1, 7)
    slot = max(0.24, DIGIT * (entering + 1))
    # A cell has a weight beside an activation, and a sum below them.
    upper_line = DIGIT * (2 * max(entering, weight) + 4)
    lower_line = DIGIT * (total + 3)
    cell = max(0.56, upper_line, lower_line)
    left = 0.4 + max(1.05, ahead * slot)
    below = TOP + unit.rows * (TALL + GAP) + 0.08
    columns = max(unit.columns, n)
    plan = Plan(
        name=f"Matrix unit of {unit}, {product}",
        has_padding=any(step.padding.any() for step in steps),
        ahead=ahead,
        slot=slot,
        cell=cell,
        left=left,
        below=below,
        width=max(3.75, left + columns * (cell + GAP)),
        height=below + max(2, m) * RESULT + 0.5,
    )
    return steps, plan


def _most_digits(arrays) -> int:
    """The length of the longest number in some masked arrays, as it is written."""
    lengths = []
    for array in arrays:
        lengths += [len(_number(value)) for value in array.compressed()]
    return max(lengths)


def strip_title(chosen: Sequence[Step], plan: Plan) -> str:
    """Name the unit, the product, and the cycles that are drawn."""
    numbers = [str(step.cycle) for step in chosen]
    if len(numbers) == 1:
        return f"{plan.name}: cycle {numbers[0]}"
    first_numbers = ", ".join(numbers[:-1])
    return f"{plan.name}: cycles {first_numbers} and {numbers[-1]}"


@contextmanager
def sheet(chosen: Sequence[Step], plan: Plan, heading: str = ""):
    """Make a figure with a panel for each of some steps; a frame of the player has one."""
    across = int(WIDEST // plan.width)
    across = max(1, min(across, len(chosen)))
    rows = math.ceil(len(chosen) / across)
    width = across * plan.width
    # Its letters are larger and bold, so fewer of them go into a line.
    heading = _wrapped(heading, width / 1.4)
    top = 0
    if heading:
        top = 0.4 + 0.2 * heading.count("\n")
    height = top + rows * plan.height + FOOT
    with blank(width, height) as (figure, axes):
        axes.text(0.15, 0.1, heading, va="top", fontsize=11.5, weight="bold")
        for place, step in enumerate(chosen):
            row, column = divmod(place, across)
            x = column * plan.width
            y = top + row * plan.height
            _draw_panel(axes, step, plan, x, y)
        _draw_key(axes, plan, height - FOOT + 0.12)
        yield figure, axes


def _draw_key(axes, plan: Plan, y: float) -> None:
    """Draw what the looks of a cell mean, and write what stands in it."""
    names = list(KINDS)
    if not plan.has_padding:
        names.remove("padding")
    x = 0.15
    for name in names:
        draw_key_entry(axes, x, y, name, KINDS[name])
        x += 1.15
    axes.text(0.15, y + 0.16, READING, va="top", fontsize=9, linespacing=1.15)


def _draw_panel(axes, step: Step, plan: Plan, x: float, y: float) -> None:
    """Draw the unit at the end of one cycle, with its upper left corner at (x, y)."""
    left = x + plan.left
    top = y + TOP
    _write_texts(axes, step, plan, x + 0.15, y)
    _draw_queue(axes, step, plan, left, top)
    _draw_results(axes, step, plan, left, y + plan.below)
    for (row, column), weight in _entries(step.weights):
        cell_x = plan.cell_left(left, column)
        cell_y = _cell_top(top, row)
        _draw_cell(axes, step, plan, (row, column), cell_x, cell_y)
        _draw_arrows(axes, step, plan, (row, column), weight, cell_x, cell_y)


def _write_texts(axes, step: Step, plan: Plan, x: float, y: float) -> None:
    """Write what happens in a cycle above the cells, and what was useful so far at the end."""
    heading = _heading(step)
    axes.text(x, y + 0.1, heading, **HEADING)
    event = _wrapped(_event(step), plan.width)
    axes.text(x, y + 0.33, event, linespacing=1.15, **BODY)
    spent = step.cycle * step.useful.size
    counter = f"Useful so far: {step.useful_so_far} of {spent} cell-cycles."
    bottom = y + plan.height - 0.3
    axes.text(x, bottom, counter, va="center", fontsize=9.5)


def _draw_arrows(axes, step: Step, plan: Plan, place, weight, x: float, y: float) -> None:
    """Draw where the numbers of the cell at (x, y) go, and from where a weight comes into it."""
    row, column = place
    last_column = step.weights.shape[1] - 1
    middle = x + plan.cell / 2
    busy = not step.waiting[place]
    loading = _is_loading(step)
    if loading and row == 0:
        above = y - GAP / 2
        _draw_arrow(axes, middle, above, "v")
    if busy or (loading and weight is not None):
        below = y + TALL + GAP / 2
        _draw_arrow(axes, middle, below, "v")
    if busy and column < last_column:
        right = x + plan.cell + GAP / 2
        _draw_arrow(axes, right, y + TALL / 2, ">")


def _draw_arrow(axes, x: float, y: float, shape: str) -> None:
    """Draw a black arrow, down ("v") or to the right (">"), with its middle at (x, y)."""
    axes.plot([x], [y], shape, color="black", ms=5)


def _is_loading(step: Step) -> bool:
    """Whether weights go on down: they do until all cells have one."""
    return step.weights.mask.any()


def _draw_cell(axes, step: Step, plan: Plan, place, x: float, y: float) -> None:
    """Draw a cell: activation times weight, plus the sum from above, is the sum handed down."""
    kind = next(name for name in KINDS if getattr(step, name)[place])
    look = KINDS[kind]
    draw_box(axes, x, y, plan.cell, TALL, look)
    font = {"fontsize": 9, "va": "center", "color": look.letters}
    if look.hatch:
        # So that no hatch crosses letters.
        font["bbox"] = {"fc": look.face, "ec": "none", "pad": 0.6}
    middle = x + plan.cell / 2
    weights = step.weights
    first_line = y + 0.13
    if not weights.mask[place]:
        # Always at the same place, for it stays.
        weight = weights[place].item()
        text = _number(weight)
        axes.text(middle + 0.06, first_line, text, ha="left", weight="bold", **font)
    if kind == "waiting":
        return
    activation = _number(step.activations[place])
    axes.text(middle + 0.03, first_line, f"{activation} ×", ha="right", **font)
    from_above = _number(step.from_above[place])
    axes.text(middle, y + 0.28, f"+ {from_above}", ha="center", **font)
    total = _number(step.sums[place])
    axes.text(middle, y + 0.43, f"= {total}", ha="center", **font)


def _draw_queue(axes, step: Step, plan: Plan, left: float, top: float) -> None:
    """Draw the activations that wait before the left edge, a staircase with a step for each row."""
    end = left - QUEUE_GAP
    axes.text(end, top - 0.15, "activations", ha="right", va="center", fontsize=9)
    last_column = plan.ahead - 1
    for (row, column), value in _entries(step.queue[:, : plan.ahead]):
        if value is None:
            continue
        x = end - (column + 1) * plan.slot
        y = _cell_top(top, row) + TALL / 2
        draw_box(axes, x, y - 0.12, plan.slot, 0.24)
        text = _number(value)
        more = ~step.queue.mask[row, plan.ahead :]
        if column == last_column and more.any():
            text = "…"
        axes.text(x + plan.slot / 2, y, text, **TEXT)
        enters_next = column == 0 and not _is_loading(step)
        if enters_next:
            _draw_arrow(axes, left - QUEUE_GAP / 2, y, ">")


def _draw_results(axes, step: Step, plan: Plan, left: float, top: float) -> None:
    """Draw the product so far, each of its columns under the cells that it comes from."""
    label = "product so far"
    unfinished = ~step.finished & ~step.product.mask
    if unfinished.any():
        label = f"{label}\n… more is added"
    axes.text(left - 0.15, top + RESULT, label, ha="right", va="center", fontsize=9)
    for (row, column), value in _entries(step.product):
        x = plan.cell_left(left, column)
        y = top + row * RESULT
        is_new = step.leaving[row, column]
        look = _result_look(value, is_new)
        draw_box(axes, x, y + 0.02, plan.cell, RESULT - 0.05, look)
        if value is None:
            continue
        text = _number(value)
        if not step.finished[row, column]:
            text = f"{text}…"
        weight = "bold" if is_new else "normal"
        center = x + plan.cell / 2
        middle = y + RESULT / 2
        axes.text(center, middle, text, weight=weight, **TEXT)


def _result_look(value, is_new: bool) -> Look:
    """What the box of a result looks like."""
    if is_new:
        return Look(line=1.8, edge="black")
    if value is None:
        return Look(dashes=":")
    return Look()


def _wrapped(text: str, width: float) -> str:
    """A text in lines of so many inches."""
    letters = int((width - 0.25) / LETTER)
    return textwrap.fill(text, letters)


def _entries(values) -> Iterator:
    """Each place of a masked array with what is there: a plain number, or None."""
    for row, line in enumerate(values.tolist()):
        for column, value in enumerate(line):
            yield (row, column), value


def _number(value) -> str:
    """A number as it stands in a cell."""
    if isinstance(value, float):
        return f"{value:.3g}"
    return str(value)


def _heading(step: Step) -> str:
    """Which cycle it is."""
    tile = ""
    if step.tiles > 1:
        tile = f", tile {step.tile} of {step.tiles}"
    return f"Cycle {step.cycle} of {step.cycles}{tile}, {step.phase}"


def _event(step: Step) -> str:
    """What happens in a cycle, as a sentence."""
    if step.phase == "loading":
        rows = len(step.weights)
        empty_rows = int(step.weights.mask[:, 0].sum())
        if empty_rows:
            return f"Weights move down: {rows - empty_rows} of {rows} rows are in."
        return "All weights are in place; from now on they stay."
    useful = int(step.useful.sum())
    padding = int(step.padding.sum())
    zeros = f", {padding} with padding" if padding else ""
    leaving = _leaving_text(int(step.leaving.sum()))
    return f"{useful} of {step.useful.size} cells useful{zeros}; {leaving} below."


def _leaving_text(count: int) -> str:
    """How many sums leave."""
    if count == 0:
        return "no sum leaves"
    if count == 1:
        return "1 sum leaves"
    return f"{count} sums leave"


def _total_text(steps: Sequence[Step]) -> str:
    """The useful share of all cycles, as a sentence."""
    last = steps[-1]
    useful = last.useful_so_far
    total = len(steps) * last.useful.size
    share = 100 * useful / total
    return f"In all {useful} of {total} cell-cycles are useful ({share:.1f} %)."
