"""Rates of the operations that a result card's measurements are of, for the rules of `claims`."""

from collections.abc import Sequence
from dataclasses import dataclass

from accel_helpers._values.words import format_count
from accel_helpers.measure.measurement import Measurement


@dataclass(frozen=True)
class Rate:
    """Operations per second: the middle, and the ends of the interval."""

    low: float
    middle: float
    high: float

    @property
    def interval(self) -> str:
        """The ends of the interval in words, in brackets."""
        low = format_count(self.low)
        high = format_count(self.high)
        return f"(interval {low} to {high})"

    def __str__(self) -> str:
        middle = format_count(self.middle)
        return f"{middle} operations per second {self.interval}"


def rate_of(measurement: Measurement, operations: float) -> Rate:
    """Return the rate at which so many operations were done in the measured time."""
    # The shortest time is the highest rate.
    shortest, longest = measurement.interval
    low = operations / longest
    middle = operations / measurement.median
    high = operations / shortest
    return Rate(low, middle, high)


def matmul_rate(product: Measurement, size: Sequence[float]) -> Rate:
    """Return the rate of a product of two square matrices; `size` has their number of rows.

    For each of the n² numbers of the product, n products are made and added up: 2n³ operations.
    """
    return rate_of(product, 2 * size[0] ** 3)
