"""The exercises of lesson 06: counting cycles, rounding to bfloat16, and padding a layer."""

from __future__ import annotations

import math
import struct
from operator import index

from accel_helpers.learn.checks import Result, called, shown
from accel_helpers.lessons import mistakes_06
from accel_helpers.tpu.systolic import MatrixUnit

# m, k, n, size: the first can be done on paper, the others are where rules differ
PRODUCTS = (
    *((20, 6, 9, 4), (128, 128, 128, 128), (1_024, 300, 500, 128)),
    *((10, 3, 2, 1), (5, 20, 7, 8)),
)

# numbers to round: exact, near, in the middle (both ways), just off the middle, over a power of 2
NUMBERS = (
    *(1.0, 257.0, 259.0, 0.1, 1 + 2**-8, 1 + 3 * 2**-8, 1 + 2**-8 + 2**-20, 1 + 3 * 2**-8 - 2**-20),
    *(0.0, 1000.0, 1001.0, 1003.0, 255.75, 3.14159, 1e30, 1e-20),
    *(-2.5, -257.0, -259.0, -0.1, -1001.0, -255.75),
)

# first, bias, second, width, inputs: two layers become wider, the third is as wide as asked
NETWORKS = (
    (
        [[1.0, -2.0, 0.5], [3.0, 1.0, -1.0]],
        [0.5, 1.0, -0.25],
        [[1.0, 2.0, -1.0, 4.0], [-3.0, 1.0, 2.0, 0.5], [2.0, -1.0, 1.0, 3.0]],
        8,
        [[1.0, 2.0], [-1.0, 0.5], [4.0, -3.0]],
    ),
    ([[2.0], [1.0], [-1.0]], [-0.5], [[4.0, -2.0]], 3, [[1.0, 1.0, 1.0], [0.0, -2.0, 5.0]]),
    ([[1.0, 3.0]], [2.0, -1.0], [[2.0], [-4.0]], 2, [[1.5], [-0.5]]),
)

TRY = "Call it yourself first, on small numbers."  # where a function stops with an error


def bits(number: float) -> int:
    """Give the 32 bits of a number in float32, as a whole number.

    Parameters
    ----------
    number : float

    Returns
    -------
    int
        From 0 to 2**32 - 1.

    Raises
    ------
    OverflowError
        If the number is too large for float32.

    Examples
    --------
    >>> f"{bits(1.0):032b}"
    '00111111100000000000000000000000'
    >>> hex(bits(-2.5))
    '0xc0200000'
    """
    return struct.unpack("<I", struct.pack("<f", number))[0]


def number(bits: int) -> float:
    """Give the number that 32 bits of float32 stand for: the way back from `bits`.

    Parameters
    ----------
    bits : int
        From 0 to 2**32 - 1.

    Returns
    -------
    float

    Raises
    ------
    TypeError, ValueError
        If it is no whole number, or does not fit into 32 bits.

    Examples
    --------
    >>> number(0b00111111100000000000000000000000)
    1.0
    >>> number(0xC0200000)
    -2.5
    """
    if not 0 <= _index("bits", bits) < 2**32:
        raise ValueError(f"bits must be from 0 to 2**32 - 1; got {shown(bits)}")
    return struct.unpack("<f", struct.pack("<I", bits))[0]


def pad_hidden(first, bias, second, width: int):
    """Make the hidden layer of a network wider by zeros. The outputs stay the same.

    Parameters
    ----------
    first : array of shape (inputs, hidden)
    bias : array of shape (hidden,)
    second : array of shape (hidden, outputs)
    width : int
        How wide the hidden layer is to be.

    Returns
    -------
    tuple of numpy.ndarray
        first, bias and second, as new arrays.

    Raises
    ------
    TypeError, ValueError
        If `width` is no whole number, or smaller than the hidden layer; if the shapes do not fit.

    Examples
    --------
    >>> first, bias, second = pad_hidden([[1, 2]], [3, 4], [[5], [6]], 3)
    >>> first.tolist(), bias.tolist(), second.tolist()
    ([[1, 2, 0]], [3, 4, 0], [[5], [6], [0]])
    """
    import numpy as np

    first, bias, second = _network(first, bias, second)
    more = _index("width", width) - len(bias)
    if more < 0:
        raise ValueError(
            f"width is {width}, and the hidden layer has {len(bias)} already. Padding makes it "
            "wider; cut_hidden makes it narrower."
        )
    second = np.pad(second, ((0, more), (0, 0)))
    return np.pad(first, ((0, 0), (0, more))), np.pad(bias, (0, more)), second


def cut_hidden(first, bias, second, width: int):
    """Keep the first cells of a hidden layer: the way back from `pad_hidden`.

    Where the cells that go are padding, the outputs stay the same. Others are lost.

    Parameters
    ----------
    first : array of shape (inputs, hidden)
    bias : array of shape (hidden,)
    second : array of shape (hidden, outputs)
    width : int
        How many cells stay.

    Returns
    -------
    tuple of numpy.ndarray
        first, bias and second, as new arrays.

    Raises
    ------
    TypeError, ValueError
        If `width` is no whole number, below 1, or larger than the hidden layer; if the shapes do
        not fit.

    Examples
    --------
    >>> first, bias, second = cut_hidden([[1, 2, 0]], [3, 4, 0], [[5], [6], [0]], 2)
    >>> first.tolist(), bias.tolist(), second.tolist()
    ([[1, 2]], [3, 4], [[5], [6]])
    """
    first, bias, second = _network(first, bias, second)
    if not 1 <= _index("width", width) <= len(bias):
        raise ValueError(
            f"width is {width}; of a hidden layer of {len(bias)}, 1 to {len(bias)} can stay. "
            "pad_hidden makes it wider."
        )
    return first[:, :width].copy(), bias[:width].copy(), second[:width].copy()


# ---------------------------------------------------------------------------------------------


def _index(name: str, value) -> int:
    try:
        return index(value)
    except TypeError:
        raise TypeError(f"{name} must be a whole number; got {shown(value)}") from None


def _network(*arrays):
    import numpy as np

    first, bias, second = map(np.asarray, arrays)
    shapes = first.shape, bias.shape, second.shape
    if [len(shape) for shape in shapes] != [2, 1, 2] or not (
        first.shape[1] == bias.shape[0] == second.shape[0]
    ):
        raise ValueError(
            "first, bias and second must have the shapes (inputs, hidden), (hidden,) and "
            f"(hidden, outputs); they have {shapes[0]}, {shapes[1]} and {shapes[2]}."
        )
    return first, bias, second


def _numbers(function, cases, what: str, hint: str):
    """One float for each case, or the Result that says what is missing."""
    given = []
    for case in cases:
        said, problem = called(function, *case, hint=TRY)
        if problem is not None:
            return None, problem
        try:
            if isinstance(said, (str, bytes, bool)) or getattr(said, "ndim", 0):
                raise TypeError
            value = float(said)
        except Exception:
            value = math.nan
        if math.isnan(value):
            return None, Result(False, f"{what} is needed; got {shown(said)}.", hint)
        given.append(value)
    return given, None


def _told(value: float) -> str:
    return f"{value:,.0f}" if value == value // 1 and abs(value) < 1e15 else f"{value:,g}"


def _cycles(answer) -> Result:
    given, problem = _numbers(
        answer, PRODUCTS, "One whole number", "Return the cycles: tiles times the cycles of one."
    )
    if problem is not None:
        return problem
    right = [MatrixUnit(size, size).cycles(m, k, n) for m, k, n, size in PRODUCTS]
    if given == right:
        return Result(True, "Tiles, loading, rows and the way through: every cycle is counted.")
    for rules, message, hint in mistakes_06.CYCLES:
        for rule in rules:
            if all(math.isclose(a, rule(*b)) for a, b in zip(given, PRODUCTS, strict=True)):
                return Result(False, message, hint)
    for off in (1, 2, -1, -2):
        if all(
            said - true == off * MatrixUnit(size, size).tiles(k, n)
            for said, true, (_, k, n, size) in zip(given, right, PRODUCTS, strict=True)
        ):
            much = f"{abs(off)} cycle{'s' * (abs(off) > 1)} too {'many' if off > 0 else 'few'}"
            return Result(
                False,
                f"Almost: you count {much} for each tile.",
                "Take a unit of one cell: nobody walks there. What must the way through be then?",
            )
    for case, said in zip(PRODUCTS, given, strict=True):
        if said % 1 or math.isinf(said):
            return Result(
                False,
                f"{_case(case)} you have {_told(said)} cycles. Cycles are whole.",
                "Which number did you divide? Half a tile takes as long as a whole one.",
            )
    return Result(
        False,
        f"{_case(PRODUCTS[0])} you have {_told(given[0])} cycles.",
        "Go in steps: how many tiles? How long does one load? How long until its last row is out?",
    )


def _case(case) -> str:
    m, k, n, size = case
    return f"For ({m}, {k}) times ({k}, {n}) on {size} x {size} cells"


def _bfloat16(answer) -> Result:
    given, problem = _numbers(
        answer, [(x,) for x in NUMBERS], "One number", "Return the rounded number, as a float."
    )
    if problem is not None:
        return problem
    right = _by_bits(mistakes_06.nearest)
    if given == right:
        return Result(True, "Rounded to the nearest, and to the even one in the middle.")
    for rule, message, hint in mistakes_06.ROUNDINGS:
        if given == _by_bits(rule):
            return Result(False, message, hint)
    for rule in (mistakes_06.nearest, *(rule for rule, _, _ in mistakes_06.ROUNDINGS)):
        whole = [rule(bits(x)) for x in NUMBERS]
        upper = [pattern >> 16 for pattern in whole]
        if given in (whole, upper):
            return Result(
                False,
                "You return bits. They are a whole number that only stands for the one asked for.",
                "One of the two tools leads from bits to the number. It takes all 32 of them.",
            )
        if given == [number(pattern) for pattern in upper]:
            return Result(
                False,
                "Your 16 bits stand in the lower half: as float32 they mean a number close to 0.",
                "You shifted them down. Where must they stand before you make a number of them?",
            )
    for rules, message, hint in mistakes_06.NUMBERS:
        for rule in rules:
            if given == [rule(x) for x in NUMBERS]:
                return Result(False, message, hint)
    wrong = [place for place, x in enumerate(NUMBERS) if given[place] != right[place]]
    x, said = NUMBERS[wrong[0]], given[wrong[0]]
    if all(NUMBERS[place] < 0 for place in wrong):
        return Result(
            False,
            f"What is not negative comes out right. For {x!r} you have {said!r}.",
            "The sign is a bit of its own: a number and its negative are rounded alike.",
        )
    return Result(
        False,
        f"For {x!r} you have {said!r}.",
        "Find its two neighbours: keep the upper 16 bits, or go one step on. Which is nearer?",
    )


def _by_bits(rule) -> list[float]:
    return [number(rule(bits(x))) for x in NUMBERS]


def _pad(answer) -> Result:
    import numpy as np

    for *layers, width, inputs in NETWORKS:
        old = [np.array(layer) for layer in layers]
        lent = [layer.copy() for layer in old]
        said, problem = called(answer, *lent, width, hint=TRY)
        if problem is not None:
            return problem
        if not all(map(np.array_equal, lent, old)):
            return Result(
                False,
                "Your function changes the arrays that it was given: whoever lent them loses them.",
                "Make new arrays, and write into those.",
            )
        new, problem = _arrays(said)
        problem = problem or mistakes_06.shapes(old, new, width)
        problem = problem or mistakes_06.contents(old, new, inputs)
        if problem is not None:
            return Result(False, *problem)
    return Result(True, "The layer is wider, the old numbers are in place, the outputs the same.")


def _arrays(said):
    """Three arrays of floats, or the message and the hint that say what is missing."""
    import numpy as np

    try:
        said = [said] if isinstance(said, dict) else list(said)
    except Exception:
        said = [said]
    if len(said) != 3:
        return None, (
            f"Three arrays are needed; got {len(said)}: {shown(said)}.",
            "Return first, bias, second, in this order.",
        )
    new = []
    for name, layer in zip(mistakes_06.LAYERS, said, strict=True):
        try:
            found = np.asarray(layer)
            if found.dtype.kind not in "iuf" and found.dtype.name != "bfloat16":
                raise TypeError
            found = found.astype(float)
        except Exception:
            return None, (
                f"An array of numbers is needed for {name}; got {shown(layer)}.",
                "Return first, bias, second, in this order.",
            )
        new.append(found)
    return new, None


GRADERS = {"06/cycles": _cycles, "06/bfloat16": _bfloat16, "06/pad": _pad}
