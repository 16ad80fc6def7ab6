"""A warp of a GPU at work, as a player: 32 lanes that follow one instruction."""

from accel_helpers._values.words import percent
from accel_helpers.course.player import Player, played

LANES = 32  # of a warp
ACROSS = 8  # lanes drawn in a row
# What lanes hold after each instruction, of a number x: so many times x, and so much added.
INSTRUCTIONS = {"load x": (1, 0), "multiply by 2": (2, 0), "add 1": (2, 1), "store": (2, 1)}
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
        Where `count` is above 480.

    Examples
    --------
    >>> warp = warp_animation(33)
    >>> print(warp)
    Animation of 8 frames. 52% of the lanes' time is useful: 33 numbers on a warp of 32 lanes.
    """
    if count > MOST:
        raise ValueError(f"count must be at most {MOST}; got {count}.")
    rounds = -(-count // LANES)
    frames = {}
    for now in range(rounds):
        done = now * LANES
        busy = min(count - done, LANES)
        for step, (order, (factor, added)) in enumerate(INSTRUCTIONS.items(), 1):
            words = (
                f"Round {now + 1} of {rounds}, instruction {step} of 4. To all 32 lanes: {order}. "
                f"{busy} of 32 lanes working, {LANES - busy} waiting."
            )
            frame = {(-1.3, -0.4): ("text", words.replace(". ", ".\n"))}
            for lane in range(LANES):
                box = ("waiting", "–")
                if lane < busy:
                    x = done + lane + 1
                    box = ("useful", str(factor * x + added))
                frame[divmod(lane, ACROSS)] = box
            frames[words] = frame
    useful = percent(count / (LANES * rounds))
    title = f"{useful} of the lanes' time is useful: {count} numbers on a warp of 32 lanes"
    return played(frames, title)
