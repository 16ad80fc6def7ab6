"""The logarithmic axis of a picture on the class board."""

import math
from collections.abc import Callable, Sequence
from statistics import median


def scale(values: Sequence[float]) -> tuple[Callable[[float], float], list[float]]:
    """Return (position, ticks) of a logarithmic axis that has room for some values.

    `position` is a function from a value to its place on the axis, in percent of the axis's length
    from its low end: 0 to 100. `ticks` are the values to mark. There is at least one value.
    """
    # Cards come from strangers: zero has no logarithm, and infinity no place.
    values = [_within(value, 1e-9, 1e9) for value in values]
    middle = median(values)
    # A card far out must not press the others flat.
    low = max(min(values), middle / 1e3) / 1.15
    high = min(max(values), middle * 1e3) * 1.15
    share = 100 / math.log(high / low)

    def position(value: float) -> float:
        return share * math.log(_within(value, low, high) / low)

    ticks = _ticks(low, high)
    # Of many ticks only some, so that their labels do not overlap.
    step = 1 + len(ticks) // 7
    return position, ticks[::step]


def _within(value: float, low: float, high: float) -> float:
    """Return the value where it lies between two limits, and else the limit nearer to it."""
    return min(max(value, low), high)


def _ticks(low: float, high: float) -> list[float]:
    """Return the ticks between two values from 1e-9 to 1e9: ... 0.5, 1, 2, 5, 10, 20 ..."""
    ticks = []
    for exponent in range(-9, 10):
        for digit in (1, 2, 5):
            tick = digit * 10.0**exponent
            if low < tick < high:
                ticks.append(tick)
    return ticks
