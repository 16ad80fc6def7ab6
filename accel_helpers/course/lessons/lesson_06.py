"""Lesson 06: its exercises: counting cycles, rounding to bfloat16."""

import math
import struct
from collections.abc import Callable

from accel_helpers.course.checks import FunctionCheck
from accel_helpers.measure.pictures import plot


def cycles(
    m: int,
    k: int,
    n: int,
    size: int,
    *,
    whole: Callable = math.ceil,
    loads: int = 1,
    ways: int = 2,
    more: int = 0,
) -> float:
    """Return the cycles of a product of (m, k) and (k, n), as `MatrixUnit` counts them.

    The unit has `size` rows and columns of cells. What comes after that makes slips: how parts of
    tiles are counted, how often a tile is loaded, how many ways lead through the unit, and how many
    cycles are too many for each tile.
    """
    tiles = whole(k / size) * whole(n / size)
    loading = loads * size
    # To the right over the row, and down the column to the far corner.
    way_through = ways * (size - 1)
    return tiles * (loading + m + way_through + more)


_ONE_CELL = "Take a unit of one cell: nobody walks there. What must the way through be then?"


class Cycles(FunctionCheck):
    # (m, k, n, size): the first can be done on paper, in the others wrong rules differ.
    cases = (
        (20, 6, 9, 4),
        (128, 128, 128, 128),
        (1_024, 300, 500, 128),
        (10, 3, 2, 1),
        (5, 20, 7, 8),
    )
    hint = "How many tiles? How long does one load? m isn't cut: all rows walk through each tile."
    right = "Tiles, loading, rows and the way through: every cycle is counted."
    slips = (
        (
            {"whole": math.floor},
            "Your tiles leave out weights: what does not fill a tile is rounded away.",
            "6 rows of weights on 4 rows of cells: how often is the unit loaded until all were in?",
        ),
        (
            {"whole": float},
            "You count parts of tiles. A tile that is not full takes as many cycles as a full one.",
            "Make a whole number of k / size and of n / size. Which of the two next to it?",
        ),
        (
            {"loads": 0},
            "Loading is forgotten: your cells have their weights from the start.",
            "Before a row can enter, the weights of the tile must be in their cells.",
        ),
        (
            {"ways": 0},
            "You left out the way through: your last result is out as soon as its row enters.",
            "Follow the last row of activations. How far is it to the cell in the far corner?",
        ),
        (
            {"ways": 1},
            "You count the way through in one direction only.",
            "Activations walk to the right and sums walk down. "
            "The last sum has both ways to wait for.",
        ),
        ({"more": 1}, "Almost: for each tile you count 1 too many.", _ONE_CELL),
        ({"more": 2}, "Almost: for each tile you count 2 too many.", _ONE_CELL),
        ({"more": -1}, "Almost: for each tile you count 1 too few.", _ONE_CELL),
        ({"more": -2}, "Almost: for each tile you count 2 too few.", _ONE_CELL),
    )


def _number(bits: int) -> float:
    """Return the number that 32 bits of float32, a whole number, stand for."""
    (value,) = struct.unpack("<f", struct.pack("<I", bits))
    return value


def bfloat16(x: float, *, carry: int = 0x7FFF, odd: int = 1, returned: Callable = _number) -> float:
    """Return the bfloat16 that is nearest to x; of two as near, the even one.

    `carry` is added before the lower 16 bits are cut off, and `odd` where the last bit that stays
    is odd: together just enough that in the middle the even neighbour wins. Slips change these, and
    what is `returned` of the bits.
    """
    (bits,) = struct.unpack("<I", struct.pack("<f", x))
    last_kept_bit = bits >> 16 & 1
    carried = bits + carry + odd * last_kept_bit
    return returned(carried & 0xFFFF0000)


_EVEN_WINS = "In the middle the even neighbour wins: look at the last bit that stays."
_HALF = "Before you cut, look at what goes: is it more than half of what the last bit counts?"
# What was rounded rightly, its upper half, and what was cut off.
_BITS = "You return bits. They are a whole number that only stands for the one asked for."
_WAY_BACK = "One of the two tools leads from bits to the number. It takes all 32 of them."
# Exact, near, over a power of 2.
_NUMBERS = (1.0, 0.1, 1000.0, 1001.0, 1003.0, 255.75, 3.14159, 1e30, 1e-20)
# In the middle between two neighbours, where the even one wins: down and up.
_TIES = (257.0, 259.0, 1.00390625, 1.01171875, -257.0, -259.0)
# By 2**-20 off two of them, above and below; and what is not above zero.
_EDGES = (*_TIES, 1.0039072036743164, 1.0117177963256836, 0.0, -0.1, -2.5, -1001.0, -255.75)


class Rounding(FunctionCheck):
    cases = [(x,) for x in _NUMBERS]
    edges = [(x,) for x in _EDGES]
    hint = "Find its two neighbours: keep the upper 16 bits, or go one step on. Which is nearer?"
    right = "Rounded to the nearest, and to the even one in the middle."
    slips = (
        (
            {"carry": 0, "odd": 0},
            "You cut off the lower 16 bits. Then 1.999 of a step becomes 1.",
            _HALF,
        ),
        (
            {"carry": 0xFFFF, "odd": 0},
            "You go away from zero wherever anything is cut off.",
            _HALF,
        ),
        (
            {"carry": 0x8000, "odd": 0},
            "Nearly: your rule always rounds a tie away from zero.",
            _EVEN_WINS,
        ),
        (
            {"odd": 0},
            "Nearly: your rule always rounds a tie towards zero.",
            _EVEN_WINS,
        ),
        ({"returned": int}, _BITS, _WAY_BACK),
        ({"returned": lambda bits: bits >> 16}, _BITS, _WAY_BACK),
        ({"carry": 0, "odd": 0, "returned": int}, _BITS, _WAY_BACK),
    )


CHECKS = {"06/cycles": Cycles(cycles), "06/bfloat16": Rounding(bfloat16)}


PICTURES = {"product": plot}
