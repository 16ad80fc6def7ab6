"""The two values that `timing` returns: a Measurement, and a Speedup of two of them."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

from accel_helpers._values.records import positive
from accel_helpers._values.words import format_range, format_seconds, percent, wrapped
from accel_helpers.measure.pictures import Picture, Row, rows
from accel_helpers.measure.series import CONFIDENCE, Place, locate

FEW_SAMPLES = 5  # with fewer there is no interval, only a smallest and a largest value
SLIGHT_DRIFT = 0.03  # a smaller wave or drift is in the interval, and not worth a warning
VAGUE = 3  # an interval whose ends are further apart than this names no ratio
WIDE_SPREAD = 0.15  # interquartile range over median, from which a learner should know
LATE_SHARE = 0.02  # of samples over twice the median, from which a learner should know
Interval = tuple[float, float]  # its ends (low, high)
FASTER = "faster"
SLOWER = "slower"
SAME = "no measurable difference"
FAR_APART = 8  # times longer than another one: both are seen on a logarithmic axis only
VERDICTS = (FASTER, SLOWER, SAME)


@dataclass(frozen=True)
class Measurement:
    """The times of a function: all samples, and what they support.

    A sample is a time in seconds per call. Raises ValueError without any, or for a time that is no
    finite number above zero.

    >>> print(Measurement.from_samples([0.020, 0.021, 0.020, 0.022, 0.021, 0.020], name="step"))
    step: 20.5 ms (95% interval 19.8 to 21.5 ms, 6 samples)
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
        object.__setattr__(self, "samples", samples)
        if self.first_call is not None:
            object.__setattr__(self, "first_call", positive(self.first_call, "first_call"))

    @classmethod
    def from_samples(
        cls,
        seconds: Iterable[float],
        *,
        first_call: float | None = None,
        name: str = "",
        notes: Iterable[str] = (),
    ) -> Measurement:
        """Return a measurement of times taken elsewhere: seconds per call, in the order measured.

        Raises ValueError without any, or for a time that is no finite number above zero.
        """
        return cls(tuple(seconds), first_call, str(name), notes=tuple(notes))

    @property
    def median(self) -> float:
        """The middle sample, in seconds."""
        return statistics.median(self.samples)

    @cached_property
    def place(self) -> Place:
        """Centre, interval and drift of the samples' natural logarithms; two samples at least."""
        return locate([math.log(seconds) for seconds in self.samples])

    @property
    def interval(self) -> Interval:
        """The ends (low, high) of the 95% interval of the time of a call, in seconds.

        Of 100 intervals so made on a steady machine, 95 hold the true time. With fewer than
        `FEW_SAMPLES` it is the smallest and the largest sample.
        """
        if len(self.samples) < FEW_SAMPLES:
            return min(self.samples), max(self.samples)
        low, high = self.place.interval
        # This interval is that of a trimmed mean, and the median may lie outside.
        low_seconds = min(math.exp(low), self.median)
        high_seconds = max(math.exp(high), self.median)
        return low_seconds, high_seconds

    @property
    def warnings(self) -> tuple[str, ...]:
        """Sentences that a reader should know before believing the number; none if it is sound."""
        return tuple(self._warnings())

    @property
    def finding(self) -> str:
        """The title of its picture."""
        return f"{self.name or 'a call'} takes {format_seconds(self.median)}"

    def drawn(self, title: str) -> Picture:
        """Return its picture; see `pictures.plot`."""
        return drawn([self], title)

    @property
    def _spread(self) -> float:
        """Interquartile range over median; 0 where there are too few samples for it."""
        if len(self.samples) < FEW_SAMPLES:
            return 0.0
        low, _, high = statistics.quantiles(self.samples, n=4, method="inclusive")
        return (high - low) / self.median

    def _warnings(self) -> Iterator[str]:
        """Yield the sentences of `warnings`."""
        count = len(self.samples)
        if count < FEW_SAMPLES:
            yield (
                f"Only {_samples(count)}: too few to say how far to trust the number. "
                f"Take at least {FEW_SAMPLES}."
            )
        else:
            yield from self._changes()
        twice_the_median = 2 * self.median
        late_samples = sum(seconds > twice_the_median for seconds in self.samples)
        if late_samples > LATE_SHARE * count:
            yield (
                f"{late_samples} of {count} samples took more than twice the median: something "
                "else used the machine. The median is not moved by a few of them."
            )
        if self._spread > WIDE_SPREAD:
            yield (
                f"The middle half of the samples spreads over {percent(self._spread)} of the "
                "median: small differences cannot be seen."
            )

    def _changes(self) -> Iterator[str]:
        """Yield a warning of a drift, or else of neighbours that resemble each other."""
        place = self.place
        change = abs(math.expm1(place.slope))
        if place.drifts and change > SLIGHT_DRIFT:
            verb = "rose" if place.slope > 0 else "fell"
            yield (
                f"The times {verb} by about {percent(change)} while they were taken: the "
                "machine was changing. Measure again, or let timing.compare take turns."
            )
        elif place.autocorrelation > 0.5 and self._spread > SLIGHT_DRIFT:
            yield (
                "Neighbouring samples resemble each other: something came and went while "
                "they were taken. The interval is wider for it."
            )

    def __str__(self) -> str:
        count = len(self.samples)
        name_of_interval = f"{percent(CONFIDENCE)} interval"
        if count < FEW_SAMPLES:
            name_of_interval = "from"
        low, high = self.interval
        details = f"{name_of_interval} {format_range(low, high)}, {_samples(count)}"
        if self.first_call is not None:
            details += f"; first call {format_seconds(self.first_call)}"
        text = f"{format_seconds(self.median)} ({details})"
        if self.name:
            text = f"{self.name}: {text}"
        lines = [text]
        lines += [wrapped(note, lead="  Note: ", indent=4) for note in self.notes]
        lines += [wrapped(warning, lead="  Careful: ", indent=4) for warning in self.warnings]
        return "\n".join(lines)


def _samples(count: int) -> str:
    """Return a number of samples in words, such as "1 sample"."""
    if count == 1:
        return "1 sample"
    return f"{count} samples"


def drawn(timings: Sequence[Measurement], title: str) -> Picture:
    """Draw measurements below each other."""
    things = []
    ends: list[float] = []
    for timing in timings:
        median = timing.median
        note = format_seconds(median)
        things.append(Row(timing.name, note, timing.samples, timing.interval, median))
        ends += timing.interval
        ends += timing.samples
    shortest = min(ends)
    log = max(ends) > FAR_APART * shortest
    x = ("dots: single timings, black: median, pale: 95% interval", format_seconds)
    return rows(things, x, title=title, log=log)


@dataclass(frozen=True)
class Speedup:
    """How two measurements compare, and whether they can be told apart.

    "Faster" and "slower" are what was measured; `slow` and `fast` are what was expected.
    """

    OUTCOMES: ClassVar = VERDICTS  # of its `verdict`

    slow: Measurement  # the one expected to be slower
    fast: Measurement
    interval: Interval  # of the ratio slow/fast
    conclusive: bool  # whether the two can be told apart
    ratio: float | None  # time of `slow` over time of `fast`; None where it is not conclusive
    reason: str = ""  # a sentence: why it is not conclusive
    sure: str = "95%"  # confidence of the interval; "99%" where the two took turns

    @property
    def verdict(self) -> str:
        """One of "faster", "slower" (the fast one lost) and "no measurable difference"."""
        if self.ratio is None:
            return SAME
        return FASTER if self.ratio > 1 else SLOWER

    @property
    def times(self) -> str:
        """The ratio as it is printed: two digits, and near 1 two decimals; "" where it is None."""
        if self.ratio is None:
            return ""
        if self.ratio >= 100:
            return f"{self.ratio:,.0f}"
        if 0.5 < self.ratio < 2:
            return f"{self.ratio:.2f}"
        return f"{self.ratio:.2g}"

    @property
    def finding(self) -> str:
        """The title of its picture, which shows the interval."""
        finding, _, _ = str(self).removesuffix(self.reason).partition(" (")
        return finding.rstrip(" .")

    def drawn(self, title: str) -> Picture:
        """Return the picture of both; see `pictures.plot`."""
        return drawn([self.slow, self.fast], title)

    def __str__(self) -> str:
        slow = self.slow.name or "the first"
        fast = self.fast.name or "the second"
        if self.ratio is None:
            return f"{slow} and {fast}: {SAME}. {self.reason}".rstrip()
        if self.ratio > 1:
            return self._sentence(fast, slow, self.ratio, self.interval)
        # The one expected to be slower was the faster one.
        low, high = self.interval
        inverse_ratio = 1 / self.ratio
        inverse_interval = (1 / high, 1 / low)
        return self._sentence(slow, fast, inverse_ratio, inverse_interval)

    def _sentence(self, faster: str, slower: str, ratio: float, interval: Interval) -> str:
        """Return the sentence that says which function is faster, and how many times as fast.

        `faster` and `slower` are names of functions; `ratio` and `interval` are above 1.
        """
        low, high = interval
        if high > VAGUE * low:
            # Beside so wide an interval, the ratio would promise more than is known.
            span = f"between {low:.2g} and {high:.2g} times as fast"
            return f"{faster} is faster than {slower}: {span} ({self.sure} interval)"
        span = f"{low:.3g} to {high:.3g}"
        times = f"{ratio:.3g} times as fast"
        return f"{faster} is {times} as {slower} ({self.sure} interval {span})"
