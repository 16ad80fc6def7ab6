"""A warp of a GPU at work, as a player: 32 lanes that follow one instruction; lengths in inches."""

import math
from contextlib import contextmanager

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
CELL = 0.56  # the width of a lane
TALL = 0.36  # its height
GAP = 0.08  # between a lane and the next
TOP = 1.12  # where the lanes begin
WIDE = 0.3 + ACROSS * (CELL + GAP) - GAP
HIGH = TOP + LANES // ACROSS * (TALL + GAP) + 0.66
DOES = {  # what the warp is told, and what a lane then holds, for its number x
    "load x": lambda x: x,
    "multiply by 2": lambda x: 2 * x,
    "add 1": lambda x: 2 * x + 1,
    "store": lambda x: 2 * x + 1,
}


def warp_animation(count: int) -> Animation:
    """Play 2x + 1 for the numbers 1 to `count`, by one warp: all lanes obey, or wait.

    For 480 numbers at most, which are 15 rounds of four instructions.

    >>> warp = warp_animation(33)
    >>> len(warp.frames), warp.alt[-47:]
    (8, 'In all 132 of 256 lane-steps are useful (52 %).')
    """
    whole(count, "count")
    rounds = _rounds(count)
    if rounds * len(DOES) > FRAMES:
        most = FRAMES // len(DOES) * LANES
        raise ValueError(f"count must be at most {most}; got {count}.")
    frames = []
    sentences = [f"{count} numbers on a warp of {LANES} lanes."]
    for now in range(rounds):
        for step in range(len(DOES)):
            with sheet(count, now, step) as (figure, _):
                frame = style.picture(figure, "", dpi=100)
            frames.append(frame.png)
        instructions = ", ".join(DOES)
        work = _work_text(count, now)
        sentences.append(f"Round {now + 1} of {rounds}: {instructions}; {work}.")
    useful = count * len(DOES)
    spent = len(frames) * LANES
    share = 100 * useful / spent
    sentences.append(f"In all {useful} of {spent} lane-steps are useful ({share:.0f} %).")
    alt = f"Animation of {len(frames)} steps. {' '.join(sentences)}"
    return Animation(tuple(frames), alt)


def _rounds(count: int) -> int:
    """How many rounds a warp needs for so many numbers."""
    return math.ceil(count / LANES)


def _work_text(count: int, now: int) -> str:
    """Who works in a round, in words."""
    busy = min(LANES, count - now * LANES)
    if busy == LANES:
        return f"{busy} of {LANES} lanes work"
    verb = "works" if busy == 1 else "work"
    return f"{busy} of {LANES} lanes {verb}, {LANES - busy} wait"


@contextmanager
def sheet(count: int, now: int, step: int):
    """Make the figure of one instruction of one round; both are counted from 0."""
    with blank(WIDE, HIGH) as (figure, axes):
        _write_heading(axes, count, now, step)
        for lane in range(LANES):
            _draw_lane(axes, count, now, step, lane)
        _draw_foot(axes, count, now, step)
        yield figure, axes


def _write_heading(axes, count: int, now: int, step: int) -> None:
    """Write which instruction of which round it is, and what it tells all lanes."""
    instruction = list(DOES)[step]
    round_text = f"Round {now + 1} of {_rounds(count)}"
    heading = f"{round_text}, instruction {step + 1} of {len(DOES)}"
    axes.text(0.15, 0.1, heading, **HEADING)
    work = _work_text(count, now)
    axes.text(0.15, 0.36, f"{work}.", **BODY)
    draw_box(axes, 0.15, 0.66, WIDE - 0.3, 0.3, Look(style.THIRD))
    font = TEXT | {"fontsize": 10.5}
    axes.text(WIDE / 2, 0.81, f"to all {LANES} lanes: {instruction}", **font)


def _draw_lane(axes, count: int, now: int, step: int, lane: int) -> None:
    """Draw a lane with what it holds after an instruction; one without a number waits."""
    row, column = divmod(lane, ACROSS)
    x = 0.15 + column * (CELL + GAP)
    y = TOP + row * (TALL + GAP)
    number = now * LANES + lane + 1
    look = KINDS["waiting"]
    text = "–"
    if number <= count:
        look = KINDS["useful"]
        compute = list(DOES.values())[step]
        text = str(compute(number))
    draw_box(axes, x, y, CELL, TALL, look)
    center = x + CELL / 2
    middle = y + TALL / 2
    axes.text(center, middle, text, color=look.letters, **TEXT)


def _draw_foot(axes, count: int, now: int, step: int) -> None:
    """Draw what the looks of a lane mean, and write how many numbers are done."""
    draw_key_entry(axes, 0.15, HIGH - 0.5, "working", KINDS["useful"])
    draw_key_entry(axes, 1.3, HIGH - 0.5, "waiting", KINDS["waiting"])
    rounds_done = now
    if step == len(DOES) - 1:
        rounds_done += 1
    stored = min(count, rounds_done * LANES)
    counter = f"Stored so far: {stored} of {count}."
    axes.text(0.15, HIGH - 0.2, counter, va="center", fontsize=9.5)
