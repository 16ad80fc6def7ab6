"""A warp of a GPU at work, as a player: 32 lanes that follow one instruction."""

from accel_helpers._values.records import whole
from accel_helpers.course.player import Player, played, written

LANES = 32  # of a warp
ACROSS = 8  # lanes drawn in a row
MOST = 480  # numbers: they take 60 frames, each of which is a PNG inside the page


def warp_animation(count: int) -> Player:
    """Make a player of one warp that computes 2x + 1 for the numbers 1 to `count`.

    The numbers are dealt out in rounds: in each, every lane has one number or, where none is left,
    waits. All 32 lanes follow the same instruction.

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
    count = whole(count, "count")
    if count > MOST:
        raise ValueError(f"count must be at most {MOST}; got {count}.")
    rounds = -(-count // LANES)
    frames = []
    for now in range(rounds):
        stored = now * LANES
        numbers = range(stored + 1, min(stored + LANES, count) + 1)
        results = [2 * x + 1 for x in numbers]
        # What the lanes hold after each instruction.
        instructions = {
            "load x": numbers,
            "multiply by 2": [2 * x for x in numbers],
            "add 1": results,
            "store": results,
        }
        work = f"{len(numbers)} of {LANES} lanes working, {LANES - len(numbers)} waiting."
        for step, (order, held) in enumerate(instructions.items(), 1):
            if order == "store":
                stored = numbers[-1]
            heading = f"Round {now + 1} of {rounds}, instruction {step} of {len(instructions)}."
            everyone = f"To all {LANES} lanes: {order}."
            counter = f"Stored so far: {stored} of {count}."
            frame = written(-2, -0.4, heading, everyone, work, counter)
            for lane in range(LANES):
                place = divmod(lane, ACROSS)
                frame[place] = ("waiting", "–")
                if lane < len(held):
                    frame[place] = ("working", str(held[lane]))
            frames.append(frame)
    useful = count * len(instructions)
    spent = len(frames) * LANES
    alt = (
        f"Animation of {len(frames)} steps. {count} numbers on a warp of {LANES} lanes. "
        f"In all {useful} of {spent} lane-steps are useful ({100 * useful / spent:.0f} %)."
    )
    return played(frames, alt)
