"""One cycle of a matrix unit, drawn: its queue, its cells and the product; lengths in inches."""

import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from accel_helpers.course.players import unit_texts
from accel_helpers.course.players.drawing import BODY, HEADING, KINDS, TEXT, Look, draw_box
from accel_helpers.course.players.plan import GAP, RESULT, TALL, TOP, Plan
from accel_helpers.course.players.systolic import Step
from accel_helpers.course.players.unit_texts import number_text

LETTER = 0.075  # the width of a letter at 9 points, on the whole
MARGIN = 0.15  # left of the texts
QUEUE_GAP = 0.28  # between the queue and the cells
ENTRY = 0.24  # the height of an activation in the queue
# In a cell the weight has a fixed place, since it stays; the activation is left of it.
WEIGHT = 0.06  # how far right of the middle it begins
ACTIVATION = 0.03  # how far right of the middle it ends
LINES = (0.13, 0.28, 0.43)  # the middles of a cell's lines, from its top


@dataclass(frozen=True)
class Panel:
    """The unit at the end of one cycle, with its upper left corner at (x, y) of some axes."""

    axes: Any
    step: Step
    plan: Plan
    x: float
    y: float

    @property
    def left(self) -> float:
        """Where the cells begin."""
        return self.x + self.plan.left

    @property
    def top(self) -> float:
        """Where the cells begin, from above."""
        return self.y + TOP

    def draw(self) -> None:
        """Draw everything."""
        self._write_texts()
        self._draw_queue()
        self._draw_results()
        for place, weight in _entries(self.step.weights):
            self._draw_cell(place, weight)
            self._draw_arrows(place, weight)

    def _column_left(self, column: int) -> float:
        """Return where a column of cells begins."""
        return self.left + column * (self.plan.cell + GAP)

    def _row_top(self, row: int) -> float:
        """Return where a row of cells begins."""
        return self.top + row * (TALL + GAP)

    def _write_texts(self) -> None:
        """Write what happens in a cycle above the cells, and what was useful so far at the end."""
        step = self.step
        x = self.x + MARGIN
        heading = unit_texts.heading(step)
        self.axes.text(x, self.y + 0.1, heading, **HEADING)
        event = unit_texts.event(step)
        lines = wrapped(event, self.plan.width)
        self.axes.text(x, self.y + 0.33, lines, linespacing=1.15, **BODY)
        spent = step.cycle * step.useful.size
        counter = f"Useful so far: {step.useful_so_far} of {spent} cell-cycles."
        bottom = self.y + self.plan.height - 0.3
        self.axes.text(x, bottom, counter, va="center", fontsize=9.5)

    def _draw_queue(self) -> None:
        """Draw the activations before the left edge, a staircase with a step for each row."""
        slot = self.plan.slot
        end = self.left - QUEUE_GAP
        self.axes.text(end, self.top - 0.15, "activations", ha="right", va="center", fontsize=9)
        nearest = self.step.queue[:, : self.plan.ahead]
        for (row, column), value in _entries(nearest):
            if value is None:
                continue
            x = end - (column + 1) * slot
            y = self._row_top(row) + TALL / 2
            draw_box(self.axes, x, y - ENTRY / 2, slot, ENTRY)
            text = self._queue_text(row, column, value)
            center = x + slot / 2
            self.axes.text(center, y, text, **TEXT)
            enters_next = column == 0 and not _is_loading(self.step)
            if enters_next:
                gap_middle = self.left - QUEUE_GAP / 2
                _draw_arrow(self.axes, gap_middle, y, ">")

    def _queue_text(self, row: int, column: int, value) -> str:
        """Return an activation as it is written; the last one that is drawn may stand for more."""
        ahead = self.plan.ahead
        is_behind = ~self.step.queue.mask[row, ahead:]
        is_last = column == ahead - 1
        if is_last and is_behind.any():
            return "…"
        return number_text(value)

    def _draw_cell(self, place: tuple[int, int], weight) -> None:
        """Draw a cell: activation times weight, plus the sum from above, is the sum handed down."""
        axes = self.axes
        row, column = place
        x = self._column_left(column)
        y = self._row_top(row)
        kind = _kind(self.step, place)
        look = KINDS[kind]
        draw_box(axes, x, y, self.plan.cell, TALL, look)
        font = {"fontsize": 9, "va": "center", "color": look.letters}
        if look.hatch:
            # So that no hatch crosses letters.
            font["bbox"] = {"fc": look.face, "ec": "none", "pad": 0.6}
        middle = x + self.plan.cell / 2
        first_line, second_line, third_line = [y + line for line in LINES]
        if weight is not None:
            text = number_text(weight)
            axes.text(middle + WEIGHT, first_line, text, ha="left", weight="bold", **font)
        if kind == "waiting":
            return
        activation = number_text(self.step.activations[place])
        from_above = number_text(self.step.from_above[place])
        total = number_text(self.step.sums[place])
        axes.text(middle + ACTIVATION, first_line, f"{activation} ×", ha="right", **font)
        axes.text(middle, second_line, f"+ {from_above}", ha="center", **font)
        axes.text(middle, third_line, f"= {total}", ha="center", **font)

    def _draw_arrows(self, place: tuple[int, int], weight) -> None:
        """Draw where the numbers of a cell go, and from where a weight comes into it."""
        axes = self.axes
        row, column = place
        x = self._column_left(column)
        y = self._row_top(row)
        center = x + self.plan.cell / 2
        above = y - GAP / 2
        below = y + TALL + GAP / 2
        right = x + self.plan.cell + GAP / 2
        is_busy = not self.step.waiting[place]
        is_loading = _is_loading(self.step)
        if is_loading and row == 0:
            _draw_arrow(axes, center, above, "v")
        hands_weight_down = is_loading and weight is not None
        if is_busy or hands_weight_down:
            _draw_arrow(axes, center, below, "v")
        is_last = column == self.step.weights.shape[1] - 1
        if is_busy and not is_last:
            middle = y + TALL / 2
            _draw_arrow(axes, right, middle, ">")

    def _draw_results(self) -> None:
        """Draw the product so far, each of its columns under the cells that it comes from."""
        step = self.step
        top = self.y + self.plan.below
        label = "product so far"
        is_unfinished = ~step.finished & ~step.product.mask
        if is_unfinished.any():
            label = f"{label}\n… more is added"
        label_end = self.left - 0.15
        self.axes.text(label_end, top + RESULT, label, ha="right", va="center", fontsize=9)
        for (row, column), value in _entries(step.product):
            x = self._column_left(column)
            y = top + row * RESULT
            is_new = step.leaving[row, column]
            look = _result_look(value, is_new)
            draw_box(self.axes, x, y + 0.02, self.plan.cell, RESULT - 0.05, look)
            if value is None:
                continue
            text = number_text(value)
            if not step.finished[row, column]:
                text = f"{text}…"
            weight = "bold" if is_new else "normal"
            center = x + self.plan.cell / 2
            middle = y + RESULT / 2
            self.axes.text(center, middle, text, weight=weight, **TEXT)


def wrapped(text: str, width: float) -> str:
    """Return a text in lines of so many inches."""
    letters = int((width - 0.25) / LETTER)
    return textwrap.fill(text, letters)


def _draw_arrow(axes, x: float, y: float, shape: str) -> None:
    """Draw a black arrow, down ("v") or to the right (">"), with its middle at (x, y)."""
    axes.plot([x], [y], shape, color="black", ms=5)


def _entries(values) -> Iterator[tuple[tuple[int, int], Any]]:
    """Yield each place of a masked array with its value: a plain number, or None."""
    for row, line in enumerate(values.tolist()):
        for column, value in enumerate(line):
            place = (row, column)
            yield place, value


def _is_loading(step: Step) -> bool:
    """Return whether weights go on down: they do until all cells have one."""
    return step.weights.mask.any()


def _kind(step: Step, place: tuple[int, int]) -> str:
    """Return what a cell does in a cycle: one of `KINDS`."""
    if step.useful[place]:
        return "useful"
    if step.padding[place]:
        return "padding"
    return "waiting"


def _result_look(value, is_new: bool) -> Look:
    """Return what the box of a result looks like."""
    if is_new:
        return Look(line=1.8, edge="black")
    if value is None:
        return Look(dashes=":")
    return Look()
