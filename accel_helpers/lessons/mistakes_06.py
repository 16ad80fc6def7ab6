"""The wrong rules of lesson 06: what each one gives, what it is, and what leads on from it."""

from __future__ import annotations

import math
import struct


def up(number: int, size: int) -> int:
    """Divide and round up.

    Examples
    --------
    >>> up(6, 4)
    2
    """
    return -(-number // size)


def _tile(m: int, size: int) -> int:
    return size + m + 2 * size - 2


def _with_tiles(*tiles):
    """Rules that are wrong in the number of tiles only."""
    return [lambda m, k, n, s, count=count: count(m, k, n, s) * _tile(m, s) for count in tiles]


def _with_cycles(*cycles):
    """Rules that are wrong in the cycles of one tile only."""
    return [lambda m, k, n, s, one=one: up(k, s) * up(n, s) * one(m, k, n, s) for one in cycles]


# (rules of m, k, n, size; message; hint)
CYCLES = (
    (
        _with_tiles(
            lambda m, k, n, s: (k // s) * (n // s),
            lambda m, k, n, s: max(1, k // s) * max(1, n // s),
            lambda m, k, n, s: round(k / s) * round(n / s),
            lambda m, k, n, s: (k * n) // (s * s),
        ),
        "Your tiles leave out weights: what does not fill a tile is rounded away.",
        "6 rows of weights on 4 rows of cells: how often is the unit loaded until all were in?",
    ),
    (
        _with_tiles(lambda m, k, n, s: k / s * n / s),
        "You count parts of tiles. A tile that is not full takes as many cycles as a full one.",
        "Make a whole number of k / size and of n / size. Which of the two next to it?",
    ),
    (
        _with_tiles(lambda m, k, n, s: (k // s + 1) * (n // s + 1)),
        "You always add a tile. Where the weights come out even, nothing is left for it.",
        "128 rows of weights on 128 rows of cells: how many tiles? And 129?",
    ),
    (
        _with_tiles(lambda m, k, n, s: up(k * n, s * s)),
        "You divided the number of weights by the number of cells, as if a tile could be bent.",
        "Cut the rows and the columns of the weights one after the other. Draw it.",
    ),
    (
        _with_tiles(lambda m, k, n, s: 1),
        "You count one tile, however many weights there are.",
        "A cell keeps one weight at a time. How often must the unit be loaded?",
    ),
    (
        _with_tiles(lambda m, k, n, s: up(k, s) + up(n, s)),
        "You added the tiles along k and those along n.",
        "Draw a chocolate bar of 2 rows with 3 pieces each. How many pieces has it?",
    ),
    (
        _with_tiles(
            lambda m, k, n, s: up(m, s) * up(n, s),
            lambda m, k, n, s: up(m, s) * up(k, s),
            lambda m, k, n, s: up(m, s) * up(k, s) * up(n, s),
            lambda m, k, n, s: up(m, s),
        ),
        "Your tiles depend on m. The m rows of activations are not cut: they walk through.",
        "Only what stays in the cells is cut into tiles. Which matrix stays, and of what shape?",
    ),
    (
        [
            lambda m, k, n, s: up(m, s) * up(n, s) * _tile(k, s),
            lambda m, k, n, s: up(m, s) * up(k, s) * _tile(n, s),
        ],
        "m has changed places with k or n.",
        "Which of the three says how many rows enter, and which two are the shape of the weights?",
    ),
    (
        _with_cycles(lambda m, k, n, s: k + 3 * s - 2, lambda m, k, n, s: n + 3 * s - 2),
        "Your tiles are right, and the wrong matrix walks through them.",
        "The activations enter row by row. How many rows do they have?",
    ),
    (
        _with_cycles(lambda m, k, n, s: m + 2 * s - 2),
        "Loading is forgotten: your cells have their weights from the start.",
        "Before a row can enter, the weights of the tile must be in their cells.",
    ),
    (
        _with_cycles(lambda m, k, n, s: s + m),
        "The way through is forgotten: your last result is out as soon as its row enters.",
        "Follow the last row of activations. How far has it to the cell in the far corner?",
    ),
    (
        _with_cycles(lambda m, k, n, s: m),
        "You count only the cycles in which a row enters.",
        "What happens before the first row enters, and what after the last one?",
    ),
    (
        _with_cycles(lambda m, k, n, s: s + m + s - 1, lambda m, k, n, s: s + m + s),
        "You count the way through in one direction only.",
        "Activations walk to the right and sums walk down. The last sum has both ways to wait for.",
    ),
    (
        [lambda m, k, n, s: s + up(k, s) * up(n, s) * (m + 2 * s - 2)],
        "You load once. The other tiles never get their weights.",
        "Nothing overlaps here, and every tile has weights of its own.",
    ),
    (
        [lambda m, k, n, s: up(k, s) * up(n, s) * s + m + 2 * s - 2],
        "Every tile is loaded, and the rows walk through only once.",
        "The rows meet the weights of one tile at a time. How often must they enter?",
    ),
)


# --- rounding: what becomes of the 32 bits -----------------------------------------------------


def nearest(bits: int) -> int:
    """Round 32 bits to the upper 16, to the nearest, and in the middle to the even one.

    Examples
    --------
    >>> f"{nearest(0x3F808000):X}, {nearest(0x3F818000):X}, {nearest(0x3F808001):X}"
    '3F800000, 3F820000, 3F810000'
    """
    return cut(bits + 0x7FFF + (bits >> 16 & 1))


def cut(bits: int) -> int:
    """Set the lower 16 of 32 bits to zero.

    Examples
    --------
    >>> f"{cut(0x3F80FFFF):X}"
    '3F800000'
    """
    return bits & 0xFFFF0000


# (rule of the bits; message; hint)
ROUNDINGS = (
    (
        cut,
        "You cut off the lower 16 bits. Then 1.999 of a step becomes 1.",
        "Before you cut, look at what goes: is it more than half of what the last bit counts?",
    ),
    (
        lambda b: cut(b + 0xFFFF),
        "You go away from zero wherever anything is cut off.",
        "Before you cut, look at what goes: is it more than half of what the last bit counts?",
    ),
    (
        lambda b: cut(b + 0x8000),
        "Nearly: a number in the middle between two always goes away from zero with you.",
        "In the middle the even neighbour wins: look at the last bit that stays.",
    ),
    (
        lambda b: cut(b + 0x7FFF),
        "Nearly: a number in the middle between two always goes towards zero with you.",
        "In the middle the even neighbour wins: look at the last bit that stays.",
    ),
    (
        lambda b: cut(b + 0x7FFF + (b < 2**31)),
        "Nearly: a number in the middle between two always goes up with you, negative or not.",
        "In the middle the even neighbour wins: look at the last bit that stays.",
    ),
    (
        lambda b: cut(b + 0x8000 - (b >> 16 & 1)),
        "Nearly: a number in the middle between two goes to the odd one with you.",
        "Even means that the last bit that stays is 0. When does yours add the larger number?",
    ),
)


def _float16(value: float) -> float:
    try:
        return struct.unpack("<e", struct.pack("<e", value))[0]
    except OverflowError:
        return math.copysign(math.inf, value)


# (rules of the number; message; hint)
NUMBERS = (
    (
        [lambda x: x, lambda x: struct.unpack("<f", struct.pack("<f", x))[0]],
        "You give the number back as it came.",
        "Look at its bits. Which of them does bfloat16 keep, and what is in the place of the rest?",
    ),
    (
        [_float16],
        "That is float16. It has 16 bits too, and shares them out differently.",
        "bfloat16 has the exponent of float32. Cut the bits of float32, not those of float16.",
    ),
    (
        [lambda x, d=d: round(x, d) for d in range(8)]
        + [lambda x, d=d: float(f"{x:.{d}g}") for d in range(1, 8)],
        "You round decimals. bfloat16 has no decimals: its steps are powers of two.",
        "Work on the bits: bits(...) gives them, number(...) leads back.",
    ),
)


# --- padding -----------------------------------------------------------------------------------

LAYERS = ("first", "bias", "second")


def shapes(old, new, width: int) -> tuple[str, str] | None:
    """Give the message and the hint for shapes that do not fit, or None.

    Examples
    --------
    >>> from accel_helpers.lessons.lesson_06 import pad_hidden
    >>> import numpy as np
    >>> old = [np.ones((2, 3)), np.ones(3), np.ones((3, 4))]
    >>> shapes(old, pad_hidden(*old, 8), 8)
    >>> shapes(old, old, 8)[0]
    'All three are as wide as before. The hidden layer is to have 8 cells.'
    """
    (inputs, hidden), outputs = old[0].shape, old[2].shape[1]
    need = [(inputs, width), (width,), (width, outputs)]
    have = [layer.shape for layer in new]
    if have == need:
        return None
    if have == [layer.shape for layer in old]:
        return (
            f"All three are as wide as before. The hidden layer is to have {width} cells.",
            "One axis of each array counts the hidden cells. Append zeros there.",
        )
    if sorted(have) == sorted(need):
        return ("The shapes are right, and in another order.", "The order is first, bias, second.")
    if hidden + width in have[0][1:]:
        return (
            f"You append {width} cells to the {hidden}. Together they are more than {width}.",
            "width is how wide the layer is in the end. How many are missing?",
        )
    for place, name in enumerate(LAYERS):
        if have[place] != need[place]:
            return _why_shape(name, old[place].shape, have[place], need[place])


def _why_shape(name: str, before, has, needs) -> tuple[str, str]:
    if has == before:
        return (
            f"{name} is not padded: it still has the shape {before}.",
            f"Every hidden cell has its numbers in {name} too. Which axis counts the cells?",
        )
    if len(has) != len(needs):
        return (
            f"{name} has {len(has)} dimensions now, and had {len(before)}.",
            "Padding keeps the number of dimensions.",
        )
    if len(has) == 2 and has[0] > before[0] and has[1] > before[1]:
        return (
            f"{name} has grown along both axes: {before} became {has}.",
            "np.pad takes one pair for each axis: how many before, and how many after.",
        )
    axis = int(needs[0] == before[0])  # the one that is to grow
    if len(has) == 2 and has[axis] == before[axis] and has[1 - axis] > before[1 - axis]:
        return (
            f"{name} has grown along the wrong axis: {before} became {has}.",
            f"One axis of {name} counts hidden cells. The other one stays as it is.",
        )
    return (
        f"{name} has the shape {has} now, and had {before}.",
        "Only the axis of the hidden cells is to grow, to width.",
    )


def contents(old, new, inputs) -> tuple[str, str] | None:
    """Give the message and the hint for numbers that are not as asked, or None.

    Examples
    --------
    >>> import numpy as np
    >>> old = np.ones((1, 1)), np.ones(1), np.ones((1, 1))
    >>> contents(old, old, [[2.0]])
    >>> contents(old, (old[0], 2 * old[1], old[2]), [[2.0]])[0]
    'The old numbers are not in their places any more: look at bias.'
    """
    import numpy as np

    for name, layer in zip(LAYERS, new, strict=True):
        if not np.isfinite(layer).all():
            return (
                f"{name} holds something that is no finite number.",
                "np.empty gives whatever was in the memory. Which function gives zeros?",
            )
    hidden, width = len(old[1]), len(new[1])
    kept = new[0][:, :hidden], new[1][:hidden], new[2][:hidden]
    moved = [n for n, a, b in zip(LAYERS, old, kept, strict=True) if not np.allclose(a, b)]
    if moved:
        back = new[0][:, width - hidden :], new[1][width - hidden :], new[2][width - hidden :]
        if all(map(np.allclose, old, back)):
            return (
                "The outputs are right, and your zeros stand before the old numbers.",
                "The old numbers are to keep their places. Where do the zeros go then?",
            )
        return (
            f"The old numbers are not in their places any more: look at {moved[0]}.",
            "Make an array of zeros first. Then write the old numbers into its beginning.",
        )
    was, now = (_outputs(*layers, inputs) for layers in (old, new))
    for row, a, b in zip(inputs, was, now, strict=True):
        if not np.allclose(a, b):
            return (
                f"The outputs change: for the input {row} they were {a.tolist()}, and are now "
                f"{b.tolist()}.",
                "Follow a new cell: what does it hand on, and by what is that multiplied?",
            )
    added = new[0][:, hidden:], new[1][hidden:], new[2][hidden:]
    other = [name for name, part in zip(LAYERS, added, strict=True) if part.any()]
    if other:
        return (
            f"The outputs are the same. But zeros were asked for, and {' and '.join(other)} got "
            "other numbers.",
            "With zeros in all three, training leaves a new cell alone. Otherwise it may wake up.",
        )
    return None


def _outputs(first, bias, second, inputs):
    import numpy as np

    return np.maximum(np.array(inputs) @ first + bias, 0) @ second
