"""What lesson 06 draws, and its exercises: counting cycles, rounding to bfloat16."""

import struct
from collections.abc import Callable, Mapping
from itertools import pairwise
from math import ceil

from accel_helpers.course.checks import calls
from accel_helpers.course.slips import Slips
from accel_helpers.plots import style


def bits(number: float) -> int:
    """Return the 32 bits of a number in float32, as a whole number."""
    data = struct.pack("<f", number)
    (pattern,) = struct.unpack("<I", data)
    return pattern


def number(bits: int) -> float:
    """Return the number that 32 bits of float32, a whole number, stand for: undo `bits`."""
    data = struct.pack("<I", bits)
    (value,) = struct.unpack("<f", data)
    return value


def useful_cells(shares: Mapping[int, float], *, title: str) -> style.Picture:
    """Draw the share of a matrix unit's cells that do useful work, over the size of the product.

    Where the next size has a smaller share, both are marked with a dot and their numbers.

    Parameters
    ----------
    shares : mapping of int to float
        The shares, from 0 to 1, by n for products of (n, n) and (n, n), in ascending order.
    title : str
    """
    percentages = {n: 100 * share for n, share in shares.items()}
    sizes = list(percentages)
    heights = list(percentages.values())
    drops = _drops(percentages)
    top = 1.2 * max(heights)
    with style.figure(style.WIDE, 2.5, title) as (figure, axes):
        axes.plot(sizes, heights, color=style.OWN, lw=1.8)
        for before, after in drops:
            # The text of each is some points away from its dot: the two dots lie close together.
            _mark(axes, before, percentages[before], (-9, 9), "right")
            _mark(axes, after, percentages[after], (9, -10), "left")
        axes.set(xlabel="n, for (n, n) times (n, n), in the model")
        style.scale(axes.yaxis, "useful cells", 0, top, "{:g} %".format)
        finding = _finding(percentages, drops)
        return style.picture(figure, f"Line plot. {finding}.")


def _drops(percentages: dict[int, float]) -> list[tuple[int, int]]:
    """Return (size, next size) wherever the next one has a smaller share.

    {127: 50.0, 128: 60.0, 129: 20.0} -> [(128, 129)]
    """
    drops = []
    for size, next_size in pairwise(percentages):
        if percentages[next_size] < percentages[size]:
            drops.append((size, next_size))
    return drops


def _finding(percentages: dict[int, float], drops: list[tuple[int, int]]) -> str:
    """Return the shares at the smallest and the largest size, and at both sides of each drop.

    {127: 50.0, 128: 60.0, 129: 20.0} with [(128, 129)] -> "Useful share of the cells over n, in the
    model: 50.0 % at 127, 20.0 % at 129; 60.0 % at 128, but 20.0 % at 129"
    """
    smallest = min(percentages)
    largest = max(percentages)
    at_smallest = _percentage_at(percentages, smallest)
    at_largest = _percentage_at(percentages, largest)
    sentences = [f"{at_smallest}, {at_largest}"]
    for before, after in drops:
        high = _percentage_at(percentages, before)
        low = _percentage_at(percentages, after)
        sentences.append(f"{high}, but {low}")
    listed = "; ".join(sentences)
    return f"Useful share of the cells over n, in the model: {listed}"


def _percentage_at(percentages: dict[int, float], size: int) -> str:
    """Return the share at a size, such as "25.1 % at 128"."""
    return f"{percentages[size]:.1f} % at {size}"


def _mark(axes, n: int, percentage: float, offset: tuple[int, int], side: str) -> None:
    """Mark a point of the line with a dot, and write its numbers beside it.

    `offset` leads from the dot to the text, in points; `side` is the end of the text, "left" or
    "right", that lies there.
    """
    axes.plot([n], [percentage], "o", color=style.OWN, mec="black", ms=5)
    text = f"{n}: {percentage:.1f} %"
    font = {"textcoords": "offset points", "ha": side, "va": "center"}
    axes.annotate(text, (n, percentage), offset, **font)


# --- cycles: of m, k, n and the size of the unit -------------------------------------------------


def cycles(
    m: int,
    k: int,
    n: int,
    size: int,
    tiles: float | None = None,
    tile_cycles: int | None = None,
) -> float:
    """Return the cycles of a product of (m, k) and (k, n), as `systolic.MatrixUnit` counts them.

    The unit has `size` rows and columns of cells. The wrong answers below pass their own number of
    tiles, or their own cycles of one tile; by default both are the right ones.
    """
    if tiles is None:
        tiles = ceil(k / size) * ceil(n / size)
    if tile_cycles is None:
        loading = size
        # To the right over the row, and down the column to the far corner.
        way_through = 2 * (size - 1)
        tile_cycles = loading + m + way_through
    return tiles * tile_cycles


# (m, k, n, size) of each case: the first can be done on paper, in the others wrong rules differ.
PRODUCTS = (
    (20, 6, 9, 4),
    (128, 128, 128, 128),
    (1_024, 300, 500, 128),
    (10, 3, 2, 1),
    (5, 20, 7, 8),
)
# Wrong answers to the first exercise; each takes (m, k, n, size) as `cycles` does.
_CYCLES = Slips()


@_CYCLES.add(
    "Your tiles leave out weights: what does not fill a tile is rounded away.",
    "6 rows of weights on 4 rows of cells: how often is the unit loaded until all were in?",
)
def _tiles_rounded_down(m, k, n, size):
    full_rows = k // size
    full_columns = n // size
    return cycles(m, k, n, size, tiles=full_rows * full_columns)


@_CYCLES.add(
    "You count parts of tiles. A tile that is not full takes as many cycles as a full one.",
    "Make a whole number of k / size and of n / size. Which of the two next to it?",
)
def _parts_of_tiles(m, k, n, size):
    rows = k / size
    columns = n / size
    return cycles(m, k, n, size, tiles=rows * columns)


@_CYCLES.add(
    "Loading is forgotten: your cells have their weights from the start.",
    "Before a row can enter, the weights of the tile must be in their cells.",
)
def _no_loading(m, k, n, size):
    way_through = 2 * (size - 1)
    tile_cycles = m + way_through
    return cycles(m, k, n, size, tile_cycles=tile_cycles)


@_CYCLES.add(
    "The way through is forgotten: your last result is out as soon as its row enters.",
    "Follow the last row of activations. How far has it to the cell in the far corner?",
)
def _no_way_through(m, k, n, size):
    loading = size
    tile_cycles = loading + m
    return cycles(m, k, n, size, tile_cycles=tile_cycles)


@_CYCLES.add(
    "You count the way through in one direction only.",
    "Activations walk to the right and sums walk down. The last sum has both ways to wait for.",
)
def _one_direction(m, k, n, size):
    loading = size
    way_through = size - 1
    tile_cycles = loading + m + way_through
    return cycles(m, k, n, size, tile_cycles=tile_cycles)


_ONE_CELL = "Take a unit of one cell: nobody walks there. What must the way through be then?"


def _off_by(error: int) -> Callable:
    """Return a function of (m, k, n, size) that counts `error` cycles too many for each tile."""

    def count(m, k, n, size):
        loading = size
        way_through = 2 * (size - 1)
        tile_cycles = loading + m + way_through + error
        return cycles(m, k, n, size, tile_cycles=tile_cycles)

    return count


_ERRORS = {1: "1 too many", 2: "2 too many", -1: "1 too few", -2: "2 too few"}
for _error, _text in _ERRORS.items():
    _add_slip = _CYCLES.add(f"Almost: for each tile you count {_text}.", _ONE_CELL)
    _add_slip(_off_by(_error))

# --- rounding ------------------------------------------------------------------------------------


# Patterns are the 32 bits of a float32 number as one whole number, which `bits` returns.


def cut(bits: int) -> int:
    """Return a pattern with its lower 16 bits set to zero: 0x3F80_1234 -> 0x3F80_0000."""
    return bits & 0xFFFF0000


def nearest(bits: int) -> int:
    """Return the nearest pattern whose lower 16 bits are zero; in the middle, the even one.

    0x3F80_8000 lies in the middle -> 0x3F80_0000, whose last bit that stays is 0.
    """
    last_kept_bit = bits >> 16 & 1
    # Just under half of the last bit that stays. In the middle an odd one carries, an even not.
    almost_half = 0x7FFF
    return cut(bits + almost_half + last_kept_bit)


# exact, near, over a power of 2
NUMBERS = (1.0, 0.1, 1000.0, 1001.0, 1003.0, 255.75, 3.14159, 1e30, 1e-20)
# Above 1, bfloat16 goes in steps of 2**-7: half a step lies in the middle, where the even wins.
_TO_ROUND_DOWN = 1 + 2**-8
_TO_ROUND_UP = 1 + 3 * 2**-8
_A_LITTLE = 2**-20
_IN_THE_MIDDLE = (257.0, 259.0, _TO_ROUND_DOWN, _TO_ROUND_UP)
_OFF_THE_MIDDLE = (_TO_ROUND_DOWN + _A_LITTLE, _TO_ROUND_UP - _A_LITTLE)
_ZERO_OR_NEGATIVE = (0.0, -2.5, -257.0, -259.0, -0.1, -1001.0, -255.75)
EDGES = (*_IN_THE_MIDDLE, *_OFF_THE_MIDDLE, *_ZERO_OR_NEGATIVE)
_EVEN_WINS = "In the middle the even neighbour wins: look at the last bit that stays."
_HALF = "Before you cut, look at what goes: is it more than half of what the last bit counts?"
# Wrong answers to the second exercise; each takes a float and returns it rounded.
_ROUNDINGS = Slips()


@_ROUNDINGS.add("You cut off the lower 16 bits. Then 1.999 of a step becomes 1.", _HALF)
def _cut_off(x):
    pattern = cut(bits(x))
    return number(pattern)


@_ROUNDINGS.add("You go away from zero wherever anything is cut off.", _HALF)
def _away_from_zero(x):
    pattern = bits(x) + 0xFFFF
    return number(cut(pattern))


@_ROUNDINGS.add(
    "Nearly: a number in the middle between two always goes away from zero with you.", _EVEN_WINS
)
def _middle_away_from_zero(x):
    pattern = bits(x) + 0x8000
    return number(cut(pattern))


@_ROUNDINGS.add(
    "Nearly: a number in the middle between two always goes towards zero with you.", _EVEN_WINS
)
def _middle_towards_zero(x):
    pattern = bits(x) + 0x7FFF
    return number(cut(pattern))


# Three forms of one slip: what was rounded rightly, its upper half, and what was cut off.
_BITS = "You return bits. They are a whole number that only stands for the one asked for."
_WAY_BACK = "One of the two tools leads from bits to the number. It takes all 32 of them."


@_ROUNDINGS.add(_BITS, _WAY_BACK)
def _rounded_bits(x):
    return nearest(bits(x))


@_ROUNDINGS.add(_BITS, _WAY_BACK)
def _upper_bits(x):
    pattern = nearest(bits(x))
    return pattern >> 16


@_ROUNDINGS.add(_BITS, _WAY_BACK)
def _cut_bits(x):
    return cut(bits(x))


def _bfloat16(x: float) -> float:
    """Return the bfloat16 number that is nearest to x; of two as near, the even one."""
    pattern = nearest(bits(x))
    return number(pattern)


_COUNTING = calls(
    cycles,
    on=PRODUCTS,
    right="Tiles, loading, rows and the way through: every cycle is counted.",
    needs="One whole number is needed: tiles times the cycles of one.",
    hint="How many tiles? How long does one load? How long until its last row is out?",
    slips=_CYCLES,
)
_ROUNDING = calls(
    _bfloat16,
    on=[(x,) for x in NUMBERS],
    edges=[(x,) for x in EDGES],
    right="Rounded to the nearest, and to the even one in the middle.",
    needs="One number is needed: the rounded one, as a float.",
    hint="Find its two neighbours: keep the upper 16 bits, or go one step on. Which is nearer?",
    slips=_ROUNDINGS,
    within=0,
)
CHECKS = {"06/cycles": _COUNTING, "06/bfloat16": _ROUNDING}
