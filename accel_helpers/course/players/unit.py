"""Pictures of the matrix unit of `systolic`: a strip of cycles, and a player; lengths in inches."""

import base64
import textwrap
import uuid
from collections.abc import Iterable, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from types import SimpleNamespace

from accel_helpers._values.words import fragment
from accel_helpers.course.players.systolic import MatrixUnit, Step
from accel_helpers.plots import style
from accel_helpers.plots.style import Picture

LARGEST = 8  # rows and columns, of a unit and of a matrix, that can be drawn
FRAMES = 60  # the most cycles of an animation
WIDEST, FOOT = 8.0, 0.74  # inches of a picture, and what its key takes
LETTER, DIGIT = 0.075, 0.08  # inches of one at 9 points; letters are narrower on the whole
TALL, GAP, RESULT, TOP = 0.56, 0.15, 0.26, 0.95  # a cell, the way to the next, a result, the text
KINDS = {  # face, edge, its width, hatch, colour of letters: no kind differs by colour alone
    "useful": (style.OWN, "black", 1.8, None, "white"),
    "padding": (style.THIRD, style.BROWN, 1.0, "////", "black"),
    "waiting": (style.EMPTY, style.QUIET, 0.8, None, style.SAID),
}
TEXT = {"ha": "center", "va": "center", "fontsize": 9}
READING = "In a cell: activation × weight + sum from above\n= sum handed down."


@dataclass(frozen=True, repr=False)
class Animation:
    """A player with a PNG for each cycle, and the sentence that says what it shows."""

    frames: tuple[bytes, ...]
    alt: str

    def __repr__(self) -> str:
        return self.alt

    def _repr_html_(self) -> str | None:
        frames = [f"data:image/png;base64,{base64.b64encode(png).decode()}" for png in self.frames]
        return fragment(
            "course/templates/player/player", f"player-{uuid.uuid4().hex}", frames, self.alt
        )


def unit_strip(unit: MatrixUnit, a, b, cycles: Iterable[int] | None = None) -> Picture:
    """A strip of cycles of a small matrix unit: what enters, what each cell does, what has left.

    The unit has at most 8 x 8 cells, and no side of `a` and `b` is longer than 8. The `cycles` are
    counted from 1, and by default up to six, evenly spread.

    >>> print(unit_strip(MatrixUnit(1, 1), [[3]], [[4]], cycles=[2]))
    Strip. Matrix unit of 1 x 1 cells, (1, 1) times (1, 1). Cycle 2 of 2, computing. 1 of 1 cells \
useful; 1 sum leaves below. In all 1 of 2 cell-cycles are useful (50.0 %).
    """
    steps, plan = planned(unit, a, b)
    spread = (1 + i * (len(steps) - 1) // 5 for i in range(6))
    numbers = sorted(set(spread if cycles is None else cycles))
    chosen = [step for step in steps if step.cycle in numbers]
    if not chosen:
        raise ValueError(f"cycles must be between 1 and {len(steps)}; got {numbers}.")
    said = " ".join(". ".join(_told(step)) for step in chosen)
    done, total = steps[-1].useful_so_far, len(steps) * steps[-1].useful.size
    said += f" In all {done} of {total} cell-cycles are useful ({100 * done / total:.1f} %)."
    with sheet(chosen, plan, strip_title(chosen, plan)) as (figure, _):
        return style.picture(figure, f"Strip. {plan.name}. {said}", dpi=136)  # shown smaller


def unit_animation(unit: MatrixUnit, a, b) -> Animation:
    """Every cycle of a small matrix unit as a player: play, pause, or go step by step.

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
            frames.append(style.picture(figure, "", dpi=100).png)
    strip = unit_strip(unit, a, b).alt
    return Animation(tuple(frames), strip.replace("Strip", f"Animation of {len(steps)} cycles", 1))


def planned(unit, a, b):
    """All steps, and how large their parts are drawn; refuses what nobody could read."""
    import numpy as np

    walk = unit.steps(a, b)  # refuses what is no product
    (m, k), n = np.shape(a), np.shape(b)[1]
    if max(unit.rows, unit.columns, m, k, n) > LARGEST:
        raise ValueError(
            f"a drawing has room for {LARGEST} rows and columns, of cells and of numbers; got "
            f"{unit}, ({m}, {k}) times ({k}, {n}). MatrixUnit(3, 3) can show the same."
        )
    steps = list(walk)
    entering, weight, total = (
        max(len(_text(v)) for step in steps for v in getattr(step, name).compressed())
        for name in ("queue", "weights", "sums")
    )
    plan = SimpleNamespace(name=f"Matrix unit of {unit}, ({m}, {k}) times ({k}, {n})")
    plan.padded = any(step.padding.any() for step in steps)
    plan.ahead = min(m + unit.rows - 1, 7)  # columns of the queue, and how wide each is
    plan.slot = max(0.24, DIGIT * (entering + 1))
    plan.cell = max(0.56, DIGIT * (2 * max(entering, weight) + 4), DIGIT * (total + 3))
    plan.left = 0.4 + max(1.05, plan.ahead * plan.slot)  # where the cells begin
    plan.below = TOP + unit.rows * (TALL + GAP) + 0.08  # where the results begin
    plan.width = max(3.75, plan.left + max(unit.columns, n) * (plan.cell + GAP))
    plan.height = plan.below + max(2, m) * RESULT + 0.5
    return steps, plan


def strip_title(chosen: Sequence[Step], plan) -> str:
    """Name the unit, the product, and the cycles that are drawn."""
    *others, last = (str(step.cycle) for step in chosen)
    cycles = f"cycles {', '.join(others)} and {last}" if others else f"cycle {last}"
    return f"{plan.name}: {cycles}"


@contextmanager
def sheet(chosen: Sequence[Step], plan, heading: str = ""):
    """A figure with a panel for each of some steps; a frame of the player has one."""
    across = max(1, min(int(WIDEST // plan.width), len(chosen)))
    wide = across * plan.width
    heading = _wrapped(heading, wide / 1.4)
    top = 0.4 + 0.2 * heading.count("\n") if heading else 0
    high = top + -(-len(chosen) // across) * plan.height + FOOT
    with style.figure(wide, high) as (figure, axes):
        figure.set_layout_engine("none")
        axes.set(position=(0, 0, 1, 1), xlim=(0, wide), ylim=(high, 0))
        axes.set_axis_off()
        axes.text(0.15, 0.1, heading, va="top", fontsize=11.5, weight="bold")
        for place, step in enumerate(chosen):
            row, column = divmod(place, across)
            _panel(axes, step, plan, column * plan.width, top + row * plan.height)
        y = high - FOOT + 0.12  # the key: what the looks of a cell mean, and what stands in it
        for number, kind in enumerate(k for k in KINDS if plan.padded or k != "padding"):
            _box(axes, 0.15 + 1.15 * number, y - 0.09, 0.24, 0.18, *KINDS[kind][:4])
            axes.text(0.46 + 1.15 * number, y, kind, va="center", fontsize=9.5)
        axes.text(0.15, y + 0.16, READING, va="top", fontsize=9, linespacing=1.15)
        yield figure, axes


def _panel(axes, step: Step, plan, x: float, y: float) -> None:
    """The unit at the end of one cycle, with its upper left corner at (x, y)."""
    heading, text = _told(step)
    axes.text(x + 0.15, y + 0.1, heading, va="top", fontsize=11, weight="bold")
    text = _wrapped(text, plan.width)
    axes.text(x + 0.15, y + 0.33, text, va="top", fontsize=9.5, linespacing=1.15)
    counter = f"Useful so far: {step.useful_so_far} of {step.cycle * step.useful.size} cell-cycles."
    axes.text(x + 0.15, y + plan.height - 0.3, counter, va="center", fontsize=9.5)
    left, top = x + plan.left, y + TOP
    _queue(axes, step, plan, left, top)
    _results(axes, step, plan, left, y + plan.below)
    moving = step.weights.mask.any()  # weights go on down until all are in place
    for (row, column), weight in _entries(step.weights):
        at = left + column * (plan.cell + GAP), top + row * (TALL + GAP)
        _cell(axes, step, plan, row, column, weight, *at)
        middle, busy = at[0] + plan.cell / 2, not step.waiting[row, column]
        if moving and row == 0:
            axes.plot([middle], [at[1] - GAP / 2], "kv", ms=5)
        if busy or moving and weight is not None:
            axes.plot([middle], [at[1] + TALL + GAP / 2], "kv", ms=5)
        if busy and column < step.weights.shape[1] - 1:
            axes.plot([at[0] + plan.cell + GAP / 2], [at[1] + TALL / 2], "k>", ms=5)


def _cell(axes, step, plan, row, column, weight, x, y) -> None:
    """One cell: activation times weight, plus the sum from above, is the sum handed down."""
    kind = next(kind for kind in KINDS if getattr(step, kind)[row, column])
    *look, letters = KINDS[kind]
    _box(axes, x, y, plan.cell, TALL, *look)
    behind = {"fc": look[0], "ec": "none", "pad": 0.6}  # so that no hatch crosses letters
    font = {"fontsize": 9, "va": "center", "color": letters, "bbox": behind if look[3] else None}
    middle = x + plan.cell / 2
    if weight is not None:  # always at the same place, for it stays
        axes.text(middle + 0.06, y + 0.13, _text(weight), ha="left", weight="bold", **font)
    if kind != "waiting":
        parts = (step.activations, step.from_above, step.sums)
        took, above, sums = (_text(part[row, column]) for part in parts)
        axes.text(middle + 0.03, y + 0.13, f"{took} ×", ha="right", **font)
        axes.text(middle, y + 0.28, f"+ {above}", ha="center", **font)
        axes.text(middle, y + 0.43, f"= {sums}", ha="center", **font)


def _queue(axes, step, plan, left, top) -> None:
    """The activations that wait before the left edge: a staircase, one step for each row."""
    axes.text(left - 0.28, top - 0.15, "activations", ha="right", va="center", fontsize=9)
    for (row, column), value in _entries(step.queue[:, : plan.ahead]):
        if value is None:
            continue
        x, y = left - 0.28 - (column + 1) * plan.slot, top + row * (TALL + GAP) + TALL / 2
        _box(axes, x, y - 0.12, plan.slot, 0.24)
        hidden = column == plan.ahead - 1 and not step.queue.mask[row, plan.ahead :].all()
        axes.text(x + plan.slot / 2, y, "…" if hidden else _text(value), **TEXT)
        if column == 0 and not step.weights.mask.any():  # it enters next
            axes.plot([left - 0.14], [y], "k>", ms=5)


def _results(axes, step, plan, left, top) -> None:
    """The product as far as it has left the unit, each column under the cells it comes from."""
    more = (~step.finished & ~step.product.mask).any()
    label = "product so far" + ("\n… more is added" if more else "")
    axes.text(left - 0.15, top + RESULT, label, ha="right", va="center", fontsize=9)
    for (row, column), value in _entries(step.product):
        x, y = left + column * (plan.cell + GAP), top + row * RESULT
        new = step.leaving[row, column]
        edge = {"line": 1.8, "edge": "black"} if new else {"ls": ":" if value is None else "-"}
        _box(axes, x, y + 0.02, plan.cell, RESULT - 0.05, **edge)
        if value is not None:
            text = _text(value) + ("" if step.finished[row, column] else "…")
            font = TEXT | {"weight": "bold" if new else "normal"}
            axes.text(x + plan.cell / 2, y + RESULT / 2, text, **font)


def _wrapped(text: str, width: float) -> str:
    return textwrap.fill(text, int((width - 0.25) / LETTER))


def _box(axes, x, y, width, height, face="white", edge=style.EDGE, line=0.8, hatch=None, ls="-"):
    from matplotlib.patches import Rectangle

    axes.add_patch(Rectangle((x, y), width, height, fc=face, ec=edge, lw=line, hatch=hatch, ls=ls))


def _entries(values):
    """Each place of a masked array with what is there: a plain number, or None."""
    for row, line in enumerate(values.tolist()):
        for column, value in enumerate(line):
            yield (row, column), value


def _text(value) -> str:
    return f"{value:.3g}" if isinstance(value, float) else str(value)


def _told(step) -> tuple[str, str]:
    """Which cycle it is, and what happens in it."""
    tile = f", tile {step.tile} of {step.tiles}" if step.tiles > 1 else ""
    heading = f"Cycle {step.cycle} of {step.cycles}{tile}, {step.phase}"
    if step.phase == "loading":
        rows, loaded = len(step.weights), int((~step.weights.mask[:, 0]).sum())
        if rows > loaded:
            return heading, f"Weights move down: {loaded} of {rows} rows are in."
        return heading, "All weights are in place; from now on they stay."
    useful, padding, leave = (int(x.sum()) for x in (step.useful, step.padding, step.leaving))
    zeros = f", {padding} with padding" if padding else ""
    sums = f"{leave or 'no'} {'sum leaves' if leave < 2 else 'sums leave'} below"
    return heading, f"{useful} of {step.useful.size} cells useful{zeros}; {sums}."
