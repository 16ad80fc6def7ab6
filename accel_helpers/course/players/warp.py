"""A warp of a GPU at work, as a player: 32 lanes that follow one instruction; lengths in inches."""

from contextlib import contextmanager

from accel_helpers._values.records import whole
from accel_helpers.course.players.unit import FRAMES, KINDS, TEXT, Animation, _box
from accel_helpers.plots import style

LANES, ACROSS = 32, 8  # of a warp, and drawn in a row
CELL, TALL, GAP, TOP = 0.56, 0.36, 0.08, 1.12  # a lane, the way to the next, and where they begin
DOES = {  # what the warp is told, and what a lane then holds, for its number x
    "load x": lambda x: x,
    "multiply by 2": lambda x: 2 * x,
    "add 1": lambda x: 2 * x + 1,
    "store": lambda x: 2 * x + 1,
}
WIDE, HIGH = 0.3 + ACROSS * (CELL + GAP) - GAP, TOP + LANES // ACROSS * (TALL + GAP) + 0.66


def warp_animation(count: int) -> Animation:
    """Play 2x + 1 for the numbers 1 to `count`, by one warp: all lanes obey, or wait.

    For 480 numbers at most, which are 15 rounds of four instructions.

    >>> warp = warp_animation(33)
    >>> len(warp.frames), warp.alt[-47:]
    (8, 'In all 132 of 256 lane-steps are useful (52 %).')
    """
    rounds = -(-whole(count, "count") // LANES)
    if rounds * len(DOES) > FRAMES:
        raise ValueError(f"count must be at most {FRAMES // len(DOES) * LANES}; got {count}.")
    frames, said = [], [f"{count} numbers on a warp of {LANES} lanes."]
    for now in range(rounds):
        for step in range(len(DOES)):
            with sheet(count, now, step) as (figure, _):
                frames.append(style.picture(figure, "", dpi=100).png)
        said.append(f"Round {now + 1} of {rounds}: {', '.join(DOES)}; {_told(count, now)}.")
    useful, spent = count * len(DOES), len(frames) * LANES
    said.append(f"In all {useful} of {spent} lane-steps are useful ({100 * useful / spent:.0f} %).")
    return Animation(tuple(frames), f"Animation of {len(frames)} steps. {' '.join(said)}")


def _told(count: int, now: int) -> str:
    """Who works in a round, in words."""
    busy = min(LANES, count - now * LANES)
    works = f"{busy} of {LANES} lanes work{'s' * (busy == 1)}"
    return works + f", {LANES - busy} wait" * (busy < LANES)


@contextmanager
def sheet(count: int, now: int, step: int):
    """The figure of one instruction of one round."""
    (told, hold), rounds = [*DOES.items()][step], -(-count // LANES)
    with style.figure(WIDE, HIGH) as (figure, axes):
        figure.set_layout_engine("none")
        axes.set(position=(0, 0, 1, 1), xlim=(0, WIDE), ylim=(HIGH, 0))
        axes.set_axis_off()
        head = f"Round {now + 1} of {rounds}, instruction {step + 1} of {len(DOES)}"
        axes.text(0.15, 0.1, head, va="top", fontsize=11, weight="bold")
        axes.text(0.15, 0.36, f"{_told(count, now)}.", va="top", fontsize=9.5)
        _box(axes, 0.15, 0.66, WIDE - 0.3, 0.3, style.THIRD)
        axes.text(WIDE / 2, 0.81, f"to all {LANES} lanes: {told}", **TEXT | {"fontsize": 10.5})
        for lane in range(LANES):
            x, y = 0.15 + lane % ACROSS * (CELL + GAP), TOP + lane // ACROSS * (TALL + GAP)
            number = now * LANES + lane + 1
            *look, letters = KINDS["useful" if number <= count else "waiting"]
            _box(axes, x, y, CELL, TALL, *look)
            text = f"{hold(number)}" if number <= count else "–"
            axes.text(x + CELL / 2, y + TALL / 2, text, **TEXT | {"color": letters})
        done = min(count, (now + (step == len(DOES) - 1)) * LANES)
        for x, name, kind in ((0.15, "working", "useful"), (1.3, "waiting", "waiting")):
            _box(axes, x, HIGH - 0.59, 0.24, 0.18, *KINDS[kind][:4])
            axes.text(x + 0.31, HIGH - 0.5, name, va="center", fontsize=9.5)
        axes.text(0.15, HIGH - 0.2, f"Stored so far: {done} of {count}.", va="center", fontsize=9.5)
        yield figure, axes
