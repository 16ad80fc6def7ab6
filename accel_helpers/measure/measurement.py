"""The two values of `timing`: a Measurement with its spread, and a Speedup that may be unknown."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import cached_property

from accel_helpers._records import positive, read, whole
from accel_helpers._words import format_range, format_seconds, percent
from accel_helpers.measure.samples import CONFIDENCE, Place, locate

FEW_SAMPLES = 5  # with fewer there is no interval, only a smallest and a largest value
SLIGHT_DRIFT = 0.03  # a smaller wave or drift is in the interval, and not worth a warning
VAGUE = 3  # an interval whose ends are further apart than this names no ratio
WIDE_SPREAD = 0.15  # interquartile range over median, from which a learner should know
FASTER, SLOWER, SAME = "faster", "slower", "no measurable difference"


@dataclass(frozen=True)
class Measurement:
    """What a function took: all samples, and what they support.

    Examples
    --------
    >>> print(Measurement.from_samples([0.020, 0.021, 0.020, 0.022, 0.021, 0.020], name="step"))
    step: 20.5 ms (95 % interval 19.8 to 21.5 ms, 6 samples)
    """

    samples: tuple[float, ...]  # seconds per call, in the order measured
    first_call: float | None = None  # seconds; it may compile, load or copy
    name: str = ""
    calls_per_sample: int = 1  # more where single calls were too short to time
    notes: tuple[str, ...] = ()  # how it was measured

    def __post_init__(self):
        if not self.samples:
            raise ValueError("a measurement needs at least one time in seconds; got none.")
        samples = tuple(positive(value, f"sample {i}") for i, value in enumerate(self.samples))
        object.__setattr__(self, "samples", samples)  # as floats, whatever they were
        if self.first_call is not None:
            object.__setattr__(self, "first_call", positive(self.first_call, "first_call"))
        whole(self.calls_per_sample, "calls_per_sample")

    @classmethod
    def from_samples(
        cls,
        seconds: Sequence[float],
        *,
        first_call: float | None = None,
        name: str = "",
        notes: Sequence[str] = (),
    ) -> Measurement:
        """Make a measurement from times taken elsewhere, in the order measured."""
        return cls(tuple(seconds), first_call, str(name), notes=tuple(notes))

    @property
    def median(self) -> float:
        """The middle sample, in seconds."""
        return statistics.median(self.samples)

    @property
    def spread(self) -> float:
        """How far apart the middle half of several samples lies, as a share of the median."""
        low, _, high = statistics.quantiles(self.samples, n=4, method="inclusive")
        return (high - low) / self.median

    @cached_property
    def place(self) -> Place:
        """Where the logarithms of the samples lie."""
        return locate([math.log(seconds) for seconds in self.samples])

    @property
    def interval(self) -> tuple[float, float]:
        """Where the typical time lies (low, high) in seconds, with a confidence of 95 %."""
        if len(self.samples) < FEW_SAMPLES:
            return min(self.samples), max(self.samples)
        low, high = self.place.interval
        return min(math.exp(low), self.median), max(math.exp(high), self.median)

    @property
    def warnings(self) -> tuple[str, ...]:
        """What a reader should know before believing the number, in plain words."""
        found = []
        n = len(self.samples)
        if n < FEW_SAMPLES:
            found.append(
                f"Only {n} {'sample' if n == 1 else 'samples'}: too few to say how far to trust "
                f"the number. Take at least {FEW_SAMPLES}."
            )
        else:
            share = abs(math.expm1(self.place.slope))
            if self.place.drifts and share > SLIGHT_DRIFT:
                word = "rose" if self.place.slope > 0 else "fell"
                found.append(
                    f"The times {word} by about {percent(share)} while they were taken: the "
                    "machine was changing. Measure again, or let timing.compare take turns."
                )
            elif self.place.autocorrelation > 0.5 and self.spread > SLIGHT_DRIFT:
                found.append(
                    "Neighbouring samples resemble each other: something came and went while "
                    "they were taken. The interval is wider for it."
                )
        late = sum(s > 2 * self.median for s in self.samples)
        if late > 0.02 * n:
            found.append(
                f"{late} of {n} samples took more than twice the median: something else used "
                "the machine. The median is not moved by a few of them."
            )
        if n >= FEW_SAMPLES and self.spread > WIDE_SPREAD:
            found.append(
                f"The middle half of the samples spreads over {percent(self.spread)} of the "
                "median: small differences cannot be seen."
            )
        return tuple(found)

    def to_dict(self) -> dict:
        """The measurement as plain JSON types."""
        return asdict(self)

    @classmethod
    def from_dict(cls, values: dict) -> Measurement:
        """The measurement that `to_dict` wrote; everything is checked again."""
        return read(cls, values, "a measurement")

    def __str__(self) -> str:
        n = len(self.samples)
        what = "from" if n < FEW_SAMPLES else f"{percent(CONFIDENCE)} interval"
        text = f"{format_seconds(self.median)} ({what} {format_range(*self.interval)}, "
        text += f"{n} sample{'' if n == 1 else 's'}"
        if self.first_call is not None:
            text += f"; first call {format_seconds(self.first_call)}"
        lines = [f"{self.name}: {text})" if self.name else f"{text})"]
        lines += [f"  Note: {note}" for note in self.notes]
        lines += [f"  Careful: {warning}" for warning in self.warnings]
        return "\n".join(lines)


@dataclass(frozen=True)
class Speedup:
    """How two measurements compare, and whether they can be told apart."""

    slow: Measurement  # the one expected to be slower
    fast: Measurement
    interval: tuple[float, float]  # of the ratio slow/fast, with a confidence of 95 % or more
    conclusive: bool  # whether the two can be told apart
    ratio: float | None  # time of `slow` over time of `fast`; None where it is not conclusive
    reason: str = ""  # why it is not conclusive

    @property
    def verdict(self) -> str:
        """One of "faster", "slower" (the fast one lost) and "no measurable difference"."""
        if not self.conclusive:
            return SAME
        return FASTER if self.ratio > 1 else SLOWER

    def __str__(self) -> str:
        slow, fast = self.slow.name or "the first", self.fast.name or "the second"
        if not self.conclusive:
            return f"{slow} and {fast}: {SAME}. {self.reason}".rstrip()
        low, high = self.interval
        first, second, ratio = fast, slow, self.ratio
        if ratio < 1:
            first, second, ratio, low, high = slow, fast, 1 / ratio, 1 / high, 1 / low
        if high > VAGUE * low:  # the ratio in its middle would promise more than is known
            between = f"between {low:.2g} and {high:.2g} times as fast"
            return f"{first} is faster than {second}: {between}"
        between = f"(interval {low:.3g} to {high:.3g})"
        return f"{first} is {ratio:.3g} times as fast as {second} {between}"
