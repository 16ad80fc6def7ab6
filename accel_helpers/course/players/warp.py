"""A warp of a GPU at work, as a player: 32 lanes that follow one instruction; lengths in inches."""

import math
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from accel_helpers._values.records import whole
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
from accel_helpers.plots import style

LANES = 32  # of a warp
ACROSS = 8  # lanes drawn in a row
ROWS = LANES // ACROSS
CELL = 0.56  # the width of a lane
TALL = 0.36  # its height
GAP = 0.08  # between a lane and the next
EDGE = 0.15  # left and right of everything
TOP = 1.12  # where the lanes begin
FOOT = 0.66  # the height of the key and the counter at the bottom
# The size of a frame.
WIDE = 2 * EDGE + ACROSS * (CELL + GAP) - GAP
HIGH = TOP + ROWS * (TALL + GAP) + FOOT


@dataclass(frozen=True)
class Instruction:
    """What all lanes are told; a lane with the number x then holds factor * x + offset."""

    text: str  # the instruction in words
    factor: int
    offset: int


INSTRUCTIONS = (
    Instruction("load x", 1, 0),
    Instruction("multiply by 2", 2, 0),
    Instruction("add 1", 2, 1),
    Instruction("store", 2, 1),
)


@dataclass(frozen=True)
class Moment:
    """One instruction of one round.

    The numbers 1 to `count` are dealt out in *rounds*: in each, every lane has one number or, where
    none is left, waits. All instructions are given in each round.
    """

    count: int  # of all numbers
    round: int  # from 0
    step: int  # the index of the instruction in INSTRUCTIONS

    @property
    def instruction(self) -> Instruction:
        """The instruction that all lanes get."""
        return INSTRUCTIONS[self.step]

    @property
    def busy(self) -> int:
        """How many lanes have a number in this round; the others wait."""
        remaining = self.count - self.round * LANES
        return min(LANES, remaining)

    @property
    def stored(self) -> int:
        """How many numbers are stored at the end of this instruction."""
        rounds_done = self.round
        # Only the last instruction of a round stores.
        if self.step == len(INSTRUCTIONS) - 1:
            rounds_done += 1
        return min(self.count, rounds_done * LANES)

    def number(self, lane: int) -> int:
        """Return which number a lane (from 0) has in this round; above `count`, the lane waits."""
        return self.round * LANES + lane + 1


def warp_animation(count: int) -> Animation:
    """Make a player of one warp that computes 2x + 1 for the numbers 1 to `count`.

    All 32 lanes follow the same instruction, or wait.

    Parameters
    ----------
    count : int
        From 1 to 480, which are 15 rounds of four instructions.

    Raises
    ------
    ValueError
        Where `count` is no whole number, below 1 or above 480.

    Examples
    --------
    >>> warp = warp_animation(33)
    >>> len(warp.frames), warp.alt[-47:]
    (8, 'In all 132 of 256 lane-steps are useful (52 %).')
    """
    # Only for the check: it raises for anything but a whole number of at least 1.
    whole(count, "count")
    rounds = _rounds(count)
    if rounds * len(INSTRUCTIONS) > FRAMES:
        most = FRAMES // len(INSTRUCTIONS) * LANES
        raise ValueError(f"count must be at most {most}; got {count}.")
    instructions = ", ".join(instruction.text for instruction in INSTRUCTIONS)
    frames = []
    sentences = [f"{count} numbers on a warp of {LANES} lanes."]
    for round_index in range(rounds):
        moments = [Moment(count, round_index, step) for step in range(len(INSTRUCTIONS))]
        for moment in moments:
            with sheet(moment) as (figure, _):
                frame = style.picture(figure, "", dpi=100)
            frames.append(frame.png)
        # In a round the same lanes work at each instruction.
        work = _work_text(moments[0])
        sentences.append(f"Round {round_index + 1} of {rounds}: {instructions}; {work}.")
    useful = count * len(INSTRUCTIONS)
    spent = len(frames) * LANES
    share = 100 * useful / spent
    sentences.append(f"In all {useful} of {spent} lane-steps are useful ({share:.0f} %).")
    text = " ".join(sentences)
    alt = f"Animation of {len(frames)} steps. {text}"
    return Animation(tuple(frames), alt)


def _rounds(count: int) -> int:
    """Return how many rounds a warp needs for so many numbers."""
    return math.ceil(count / LANES)


def _work_text(moment: Moment) -> str:
    """Return how many lanes work in a round: "1 of 32 lanes works, 31 wait"."""
    busy = moment.busy
    if busy == LANES:
        return f"{busy} of {LANES} lanes work"
    waiting = LANES - busy
    verb = "works" if busy == 1 else "work"
    return f"{busy} of {LANES} lanes {verb}, {waiting} wait"


@contextmanager
def sheet(moment: Moment):
    """Draw one instruction of one round, and yield (figure, axes)."""
    with blank(WIDE, HIGH) as (figure, axes):
        _write_heading(axes, moment)
        for lane in range(LANES):
            _draw_lane(axes, moment, lane)
        _draw_foot(axes, moment)
        yield figure, axes


def _write_heading(axes: Any, moment: Moment) -> None:
    """Write above the lanes which instruction of which round it is, and what all lanes are told."""
    rounds = _rounds(moment.count)
    round_text = f"Round {moment.round + 1} of {rounds}"
    step_text = f"instruction {moment.step + 1} of {len(INSTRUCTIONS)}"
    axes.text(EDGE, 0.1, f"{round_text}, {step_text}", **HEADING)
    work = _work_text(moment)
    axes.text(EDGE, 0.36, f"{work}.", **BODY)
    width = WIDE - 2 * EDGE
    # One box above all lanes, since one instruction is for all of them.
    look = Look(style.THIRD)
    draw_box(axes, EDGE, 0.66, width, 0.3, look)
    order = f"to all {LANES} lanes: {moment.instruction.text}"
    font = TEXT | {"fontsize": 10.5}
    axes.text(WIDE / 2, 0.81, order, **font)


def _draw_lane(axes: Any, moment: Moment, lane: int) -> None:
    """Draw a lane (from 0) with the number that it holds after the instruction of this moment.

    A lane that has no number in this round shows "–" and looks as waiting.
    """
    row, column = divmod(lane, ACROSS)
    x = EDGE + column * (CELL + GAP)
    y = TOP + row * (TALL + GAP)
    number = moment.number(lane)
    look = KINDS["waiting"]
    text = "–"
    if number <= moment.count:
        look = KINDS["useful"]
        instruction = moment.instruction
        value = instruction.factor * number + instruction.offset
        text = str(value)
    draw_box(axes, x, y, CELL, TALL, look)
    center = x + CELL / 2
    middle = y + TALL / 2
    axes.text(center, middle, text, color=look.letters, **TEXT)


def _draw_foot(axes: Any, moment: Moment) -> None:
    """Draw what the looks of a lane mean, and write how many numbers are stored so far."""
    key = HIGH - 0.5
    draw_key_entry(axes, EDGE, key, "working", KINDS["useful"])
    draw_key_entry(axes, 1.3, key, "waiting", KINDS["waiting"])
    counter = f"Stored so far: {moment.stored} of {moment.count}."
    axes.text(EDGE, HIGH - 0.2, counter, va="center", fontsize=9.5)
