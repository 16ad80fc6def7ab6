"""Pictures of the matrix unit of `systolic`: a strip of cycles, and a player; lengths in inches."""

import math
from collections.abc import Iterable, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from accel_helpers.course.players import unit_texts
from accel_helpers.course.players.drawing import FRAMES, KINDS, Animation, blank, draw_key_entry
from accel_helpers.course.players.panel import MARGIN, Panel, wrapped
from accel_helpers.course.players.plan import Plan, planned
from accel_helpers.course.players.step import Step
from accel_helpers.course.players.systolic import MatrixUnit
from accel_helpers.plots import style
from accel_helpers.plots.style import Picture

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

STRIP = 6  # cycles of a strip, unless others are asked for
WIDEST = 8.0  # of a picture, unless a single panel is wider
FOOT = 0.74  # the height of the key at the bottom
# How to read a cell: it stands below the key.
READING = "In a cell: activation × weight + sum from above\n= sum handed down."


def unit_strip(
    unit: MatrixUnit, a: "ArrayLike", b: "ArrayLike", cycles: Iterable[int] | None = None
) -> Picture:
    """Draw some cycles of a small matrix unit: what enters, what each cell does, what has left.

    Parameters
    ----------
    unit : MatrixUnit
        Of at most 8 x 8 cells.
    a : array_like
        The activations, of shape (m, k), with no side longer than 8.
    b : array_like
        The weights, of shape (k, n), with no side longer than 8.
    cycles : iterable of int, optional
        The cycles to draw, counted from 1; those that the product does not have are left out. By
        default up to six, evenly spread.

    Raises
    ------
    ValueError
        Where the unit or a matrix is too large, or the product has none of the `cycles`; also, and
        a TypeError, for what `MatrixUnit.multiply` refuses.

    Examples
    --------
    >>> print(unit_strip(MatrixUnit(1, 1), [[3]], [[4]], cycles=[2]))
    Strip. Matrix unit of 1 x 1 cells, (1, 1) times (1, 1). Cycle 2 of 2, computing. 1 of 1 cells \
useful; 1 sum leaves below. In all 1 of 2 cell-cycles are useful (50.0 %).
    """
    steps, plan = planned(unit, a, b)
    if cycles is None:
        cycles = _evenly_spread(len(steps))
    numbers = sorted(set(cycles))
    chosen_steps = [step for step in steps if step.cycle in numbers]
    # Only where none of the numbers is a cycle: single ones that are not are left out.
    if not chosen_steps:
        raise ValueError(f"cycles must be between 1 and {len(steps)}; got {numbers}.")
    # The picture in words, for screen readers.
    sentences = []
    for step in chosen_steps:
        heading = unit_texts.heading(step)
        event = unit_texts.event(step)
        sentences += [f"{heading}.", event]
    total = unit_texts.total(steps)
    sentences.append(total)
    text = " ".join(sentences)
    alt = f"Strip. {plan.name}. {text}"
    title = unit_texts.title(plan.name, chosen_steps)
    with sheet(chosen_steps, plan, title) as (figure, _):
        # Fewer pixels than in other pictures, so that it is shown smaller.
        return style.picture(figure, alt, dpi=136)


def _evenly_spread(last_cycle: int) -> list[int]:
    """Return `STRIP` numbers of cycles from 1 to `last_cycle`, both among them.

    Where there are fewer cycles than that, numbers are repeated: 3 -> [1, 1, 1, 2, 2, 3].
    """
    intervals = STRIP - 1
    return [1 + place * (last_cycle - 1) // intervals for place in range(STRIP)]


def unit_animation(unit: MatrixUnit, a: "ArrayLike", b: "ArrayLike") -> Animation:
    """Make a player of every cycle of a small matrix unit: play, pause, or go step by step.

    Parameters
    ----------
    unit : MatrixUnit
        Of at most 8 x 8 cells.
    a, b : array_like
        As `unit_strip` takes them.

    Raises
    ------
    ValueError
        Where the product takes more than 60 cycles, and where `unit_strip` raises it.

    Examples
    --------
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
    # Sixty cycles in words would be too long to listen to: those of a strip must do.
    strip = unit_strip(unit, a, b)
    alt = strip.alt.replace("Strip", f"Animation of {len(steps)} cycles", 1)
    return Animation(tuple(frames), alt)


@contextmanager
def sheet(chosen_steps: Sequence[Step], plan: Plan, heading: str = ""):
    """Make a figure with a panel for each of the chosen steps, and yield (figure, axes).

    The panels stand in rows below the heading, which may be empty, and above a key.
    """
    room = int(WIDEST // plan.width)
    # A panel that is wider than the widest picture still gets a row of its own.
    across = max(1, min(room, len(chosen_steps)))
    rows = math.ceil(len(chosen_steps) / across)
    width = across * plan.width
    # The letters of a heading are larger and bold, so fewer of them go into a line.
    heading = wrapped(heading, width / 1.4)
    top = 0
    if heading:
        top = 0.4 + 0.2 * heading.count("\n")
    height = top + rows * plan.height + FOOT
    with blank(width, height) as (figure, axes):
        axes.text(MARGIN, 0.1, heading, va="top", fontsize=11.5, weight="bold")
        for place, step in enumerate(chosen_steps):
            row, column = divmod(place, across)
            x = column * plan.width
            y = top + row * plan.height
            panel = Panel(axes, step, plan, x, y)
            panel.draw()
        _draw_key(axes, plan, height - FOOT + 0.12)
        yield figure, axes


def _draw_key(axes: Any, plan: Plan, y: float) -> None:
    """Draw what the looks of a cell mean, side by side at the height y, and below `READING`.

    "padding" is left out where no cell ever has any.
    """
    x = MARGIN
    for name, look in KINDS.items():
        if name == "padding" and not plan.has_padding:
            continue
        draw_key_entry(axes, x, y, name, look)
        x += 1.15
    axes.text(MARGIN, y + 0.16, READING, va="top", fontsize=9, linespacing=1.15)
