"""One cycle of a matrix unit, drawn: its queue, its cells and the product; lengths in inches."""

import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from accel_helpers.course.players import unit_texts
from accel_helpers.course.players.drawing import BODY, HEADING, KINDS, TEXT, Look, draw_box
from accel_helpers.course.players.plan import GAP, RESULT, TALL, TOP, Plan
from accel_helpers.course.players.step import Step
from accel_helpers.course.players.unit_texts import number_text

if TYPE_CHECKING:
    import numpy as np

LETTER = 0.075  # the mean width of a letter at 9 points
MARGIN = 0.15  # left of the texts
QUEUE_GAP = 0.28  # between the queue and the cells
ENTRY = 0.24  # the height of an activation in the queue
# In a cell the weight has a fixed place, since it stays; the activation is left of it.
WEIGHT = 0.06  # how far right of the middle it begins
ACTIVATION = 0.03  # how far right of the middle it ends
LINES = (0.13, 0.28, 0.43)  # the middles of a cell's lines, from its top


@dataclass(frozen=True)
class Panel:
    """The drawing of the unit at the end of one cycle.

    A *place* is the (row, column) of a cell, from 0. All x go to the right and all y down, in
    inches from the upper left corner of the axes.
    """

    axes: Any  # of `drawing.blank`
    step: Step
    plan: Plan
    x: float  # of the panel's left edge
    y: float  # of the panel's upper edge

    @property
    def left(self) -> float:
        """The x of the left edge of the cells."""
        return self.x + self.plan.left

    @property
    def top(self) -> float:
        """The y of the upper edge of the cells."""
        return self.y + TOP

    def draw(self) -> None:
        """Draw the whole panel: its texts, its queue, its results, and each cell."""
        self._write_texts()
        self._draw_queue()
        self._draw_results()
        for place, weight in _entries(self.step.weights):
            self._draw_cell(place, weight)
            self._draw_arrows(place, has_weight=weight is not None)

    def _column_left(self, column: int) -> float:
        """Return the x of the left edge of a column of cells, which is numbered from 0."""
        return self.left + column * (self.plan.cell + GAP)

    def _row_top(self, row: int) -> float:
        """Return the y of the upper edge of a row of cells, which is numbered from 0."""
        return self.top + row * (TALL + GAP)

    def _write_texts(self) -> None:
        """Write the heading and the cycle's event above the cells, and the useful share below."""
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
        """Draw the activations that wait left of the cells, the next ones nearest to them.

        They look like a staircase, since each row begins one cycle later than the row above.
        """
        slot = self.plan.slot
        end = self.left - QUEUE_GAP
        self.axes.text(end, self.top - 0.15, "activations", ha="right", va="center", fontsize=9)
        # A longer queue has no room: the columns that enter soonest are drawn.
        next_columns = self.step.queue[:, : self.plan.ahead]
        for (row, column), value in _entries(next_columns):
            if value is None:
                continue
            # The queue is read from right to left: column 0 is at its right end.
            x = end - (column + 1) * slot
            y = self._row_top(row) + TALL / 2
            draw_box(self.axes, x, y - ENTRY / 2, slot, ENTRY)
            text = self._queue_text(row, column, value)
            center = x + slot / 2
            self.axes.text(center, y, text, **TEXT)
            # While weights are loaded, no activation enters.
            enters_next = column == 0 and not _is_loading(self.step)
            if enters_next:
                gap_middle = self.left - QUEUE_GAP / 2
                _draw_arrow(self.axes, gap_middle, y, ">")

    def _queue_text(self, row: int, column: int, value: float) -> str:
        """Return what is written for an activation in the queue, at a row and column from 0.

        That is its value; but "…" in the last column that is drawn where more activations of the
        row are behind it, which have no room.
        """
        ahead = self.plan.ahead
        is_behind = ~self.step.queue.mask[row, ahead:]
        is_last = column == ahead - 1
        if is_last and is_behind.any():
            return "…"
        return number_text(value)

    def _draw_cell(self, place: tuple[int, int], weight: float | None) -> None:
        """Draw a cell with its weight, which is None where the cell has none yet.

        A cell that has an activation also shows its computation in three lines: activation ×
        weight, + the sum from above, = the sum handed down.
        """
        axes = self.axes
        row, column = place
        x = self._column_left(column)
        y = self._row_top(row)
        kind = _kind(self.step, place)
        look = KINDS[kind]
        draw_box(axes, x, y, self.plan.cell, TALL, look)
        font = {"fontsize": 9, "va": "center", "color": look.letters}
        if look.hatch:
            # A box behind the letters, so that no line of the hatch crosses them.
            font["bbox"] = {"fc": look.face, "ec": "none", "pad": 0.6}
        middle = x + self.plan.cell / 2
        first_line, second_line, third_line = [y + line for line in LINES]
        if weight is not None:
            text = number_text(weight)
            axes.text(middle + WEIGHT, first_line, text, ha="left", weight="bold", **font)
        # A waiting cell has no activation, and so computes nothing.
        if kind == "waiting":
            return
        activation = number_text(self.step.activations[place])
        from_above = number_text(self.step.from_above[place])
        total = number_text(self.step.sums[place])
        axes.text(middle + ACTIVATION, first_line, f"{activation} ×", ha="right", **font)
        axes.text(middle, second_line, f"+ {from_above}", ha="center", **font)
        axes.text(middle, third_line, f"= {total}", ha="center", **font)

    def _draw_arrows(self, place: tuple[int, int], *, has_weight: bool) -> None:
        """Draw an arrow for each number that goes out of a cell, or into the first row from above.

        While loading, weights move down; while computing, sums move down and activations right.
        """
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
        # A further row of weights comes in at the top.
        if is_loading and row == 0:
            _draw_arrow(axes, center, above, "v")
        hands_weight_down = is_loading and has_weight
        if is_busy or hands_weight_down:
            _draw_arrow(axes, center, below, "v")
        # The activation of the last column has no cell to go to.
        is_last = column == self.step.weights.shape[1] - 1
        if is_busy and not is_last:
            middle = y + TALL / 2
            _draw_arrow(axes, right, middle, ">")

    def _draw_results(self) -> None:
        """Draw the product so far: a box for each number, empty where no sum has arrived yet.

        "…" follows a number to which a later tile will add.
        """
        step = self.step
        top = self.y + self.plan.below
        label = "product so far"
        # Numbers that have got some of their sums, and not all of them.
        is_unfinished = ~step.finished & ~step.product.mask
        if is_unfinished.any():
            label = f"{label}\n… more is added"
        label_end = self.left - 0.15
        self.axes.text(label_end, top + RESULT, label, ha="right", va="center", fontsize=9)
        for (row, column), value in _entries(step.product):
            x = self._column_left(column)
            y = top + row * RESULT
            is_new = bool(step.leaving[row, column])
            look = _result_look(is_new=is_new, is_empty=value is None)
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
    """Return a text broken into lines that fit into a panel so many inches wide."""
    # The margins at both sides are taken off.
    letters = int((width - 0.25) / LETTER)
    return textwrap.fill(text, letters)


def _draw_arrow(axes: Any, x: float, y: float, shape: str) -> None:
    """Draw a black arrow, down ("v") or to the right (">"), with its middle at (x, y)."""
    axes.plot([x], [y], shape, color="black", ms=5)


def _entries(values: "np.ma.MaskedArray") -> Iterator[tuple[tuple[int, int], float | None]]:
    """Yield ((row, column), value) for each place of a masked array with two dimensions.

    A value is a plain int or float, and None where the array is masked.
    """
    for row, line in enumerate(values.tolist()):
        for column, value in enumerate(line):
            place = (row, column)
            yield place, value


def _is_loading(step: Step) -> bool:
    """Return whether weights still move down after this cycle: until all cells have one."""
    return step.weights.mask.any()


def _kind(step: Step, place: tuple[int, int]) -> str:
    """Return what a cell does in a cycle: one of `KINDS`."""
    if step.useful[place]:
        return "useful"
    if step.padding[place]:
        return "padding"
    return "waiting"


def _result_look(*, is_new: bool, is_empty: bool) -> Look:
    """Return the look of a result's box: bold where it grew in this cycle, dotted where empty."""
    if is_new:
        return Look(line=1.8, edge="black")
    if is_empty:
        return Look(dashes=":")
    return Look()
