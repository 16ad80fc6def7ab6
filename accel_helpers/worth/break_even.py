"""From which length of training on does another machine pay, in time, money or energy?"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import ClassVar

from accel_helpers._values import records
from accel_helpers._values.records import positive, whole
from accel_helpers._values.words import format_duration, format_rate, spanned, times, wrapped
from accel_helpers.measure.measurement import FEW_SAMPLES

WORDS = Path(__file__).parents[1] / "data" / "worth.toml"
WORTH_IT = "worth it"
NOT_WORTH_IT = "not worth it"
HOLDS_BOTH = "the interval holds both"
LABELS = (WORTH_IT, NOT_WORTH_IT, HOLDS_BOTH)
# the other two verdicts
FEW = "cannot be told yet"
BOUGHT = "time for money"
# how a cost is written, by the axis that it lies on
FORMATS: dict[str, Callable[[float], str]] = {
    "time": format_duration,
    "money": times,
    "energy": partial(format_rate, unit="J"),
}


@dataclass(frozen=True)
class Plan:
    """One way to train, and what it costs.

    Seconds of an epoch, low and high; minutes before the first; the price of an hour, in any
    currency, and watts, if they are known; and how often an epoch was timed, if it was: fewer than
    five timings make no interval, and no verdict.

    >>> Plan("a T4", epoch=(1.0, 2.0), setup_minutes=5).cost(60)
    (360.0, 420.0)
    """

    name: str
    epoch: tuple[float, float]
    setup_minutes: float = 0.0
    price: float | None = None
    watts: float | None = None
    samples: int | None = None

    def __post_init__(self):
        name = f"epoch of {self.name}"
        low, high = (positive(seconds, name) for seconds in self.epoch)
        if low > high:
            raise ValueError(f"{name} must be low and high; got {low}, {high}.")

    def rate(self, axis: str) -> float:
        """Return what a second costs: seconds, money or joules."""
        if axis == "time":
            return 1.0
        if axis == "money":
            if self.price is None:
                raise ValueError(f"For money, the Plan of {self.name} needs a price=.")
            return self.price / 3600
        if axis == "energy":
            if self.watts is None:
                raise ValueError(f"For energy, the Plan of {self.name} needs watts=.")
            return self.watts
        raise ValueError(f"axis must be time, money or energy; got {axis!r}.")

    def cost(self, epochs: float, axis: str = "time") -> tuple[float, float]:
        """Return low and high: seconds, money or joules, set-up and all."""
        rate = self.rate(axis)
        setup = 60 * self.setup_minutes
        low, high = self.epoch
        return rate * (setup + epochs * low), rate * (setup + epochs * high)

    @property
    def is_hardly_timed(self) -> bool:
        """Whether it was timed, and fewer than five times."""
        return self.samples is not None and self.samples < FEW_SAMPLES


@dataclass(frozen=True)
class BreakEven:
    """The answer of `break_even`; it prints as three sentences."""

    OUTCOMES: ClassVar = (*LABELS, FEW, BOUGHT)  # of its `verdict`

    here: Plan
    there: Plan
    epochs: int
    axis: str
    crossing: tuple[float, float]  # epochs: from there on the other may pay, surely pays

    @property
    def verdict(self) -> str:
        """What to do, in a few words.

        "worth it", "not worth it", "the interval holds both"; "cannot be told yet" where there are
        fewer than five timings; "time for money" where this machine costs nothing and the other is
        faster: it can save no money, and what the hours are worth is not known here.
        """
        if self.here.is_hardly_timed or self.there.is_hardly_timed:
            return FEW
        if self._only_the_other_costs_money() and self.saved_seconds[1] > 0:
            return BOUGHT
        early, late = self.crossing
        if self.epochs > late:
            return WORTH_IT
        if self.epochs < early:
            return NOT_WORTH_IT
        return HOLDS_BOTH

    def _only_the_other_costs_money(self) -> bool:
        if self.axis != "money":
            return False
        is_free = self.here.rate("money") == 0
        return is_free and self.there.rate("money") > 0

    @property
    def minutes(self) -> tuple[float, float]:
        """The crossing as minutes of training here: where the lines of the two ends meet."""
        low, high = self.here.epoch
        early, late = self.crossing
        # the other pays earliest where epochs here are longest
        return early * high / 60, late * low / 60

    @property
    def saved_seconds(self) -> tuple[float, float]:
        """Seconds by which the other is done earlier, low and high, set-up included."""
        return self._saved("time")

    def _saved(self, axis: str) -> tuple[float, float]:
        """Return what the other costs less, low and high: seconds, money or joules."""
        low, high = self.here.cost(self.epochs, axis)
        other_low, other_high = self.there.cost(self.epochs, axis)
        # at worst this machine is at its best, and the other one at its worst
        return low - other_high, high - other_low

    @property
    def price_of_an_hour(self) -> tuple[float, float]:
        """What the other costs for each hour that it saves, low and high."""
        # where it may save nothing, there is no upper end
        cheap, dear = self.there.cost(self.epochs, "money")
        fewest, most = (seconds / 3600 for seconds in self.saved_seconds)
        low = cheap / most if most > 0 else math.inf
        high = dear / fewest if fewest > 0 else math.inf
        return low, high

    def __str__(self) -> str:
        sentences = records.load(WORDS, "set of sentences")["break even"]
        names = [self.axis]
        if self.verdict not in (FEW, BOUGHT):
            names.append(self._on_the_crossing())
        names.append(self.verdict)
        fields = self._fields()
        lines = [wrapped(sentences[name].format(**fields), indent=2) for name in names]
        return "\n".join(lines)

    def _on_the_crossing(self) -> str:
        """Return the name of the sentence on where the two cross."""
        early, late = self.crossing
        if early == math.inf:
            return "never"
        if late == math.inf:
            return "may"
        return "at"

    def _fields(self) -> dict[str, object]:
        """Return what the sentences have in {braces}."""
        early, late = (format_duration(60 * minutes) for minutes in self.minutes)
        fields: dict[str, object] = {"epochs": self.epochs}
        fields["here"] = self.here.name
        fields["there"] = self.there.name
        fields["setup"] = f"{self.there.setup_minutes:g}"
        fields["early"] = early
        fields["between"] = spanned(early, late)
        fields["costs"] = self._written(self.here.cost(self.epochs, self.axis))
        fields["other"] = self._written(self.there.cost(self.epochs, self.axis))
        fields["saved"] = self._written(self._saved(self.axis))
        if self.verdict == BOUGHT:
            fewest, most = self.saved_seconds
            fields["hours"] = spanned(format_duration(max(fewest, 0.0)), format_duration(most))
            cheap, dear = self.price_of_an_hour
            upper_end = "or more" if dear == math.inf else f"to {times(dear)}"
            fields["hour"] = f"{times(cheap)} {upper_end}"
        return fields

    def _written(self, cost: tuple[float, float]) -> str:
        """Return two ends on the axis with their unit once."""
        written = FORMATS[self.axis]
        low, high = cost
        return spanned(written(low), written(high))


def break_even(here: Plan, there: Plan, epochs: int, axis: str = "time") -> BreakEven:
    """Say from how many epochs on another machine pays.

    The `axis` is "time", "money" or "energy". The answer has the `crossing` in epochs, from
    where it may pay to where it surely does, the same in `minutes` of training here, and a
    `verdict`. Two straight lines cross where the difference of their beginnings is that of their
    slopes; both ends of what is known of each are taken.

    >>> cpu, t4 = Plan("this CPU", (60, 60)), Plan("a T4", (10, 20), setup_minutes=5)
    >>> break_even(cpu, t4, epochs=50).crossing
    (6.0, 7.5)
    """
    epochs = whole(epochs, "epochs")
    rate = here.rate(axis)
    other_rate = there.rate(axis)
    # what the set-up of the other costs more, and what each of its epochs saves
    head_start = 60 * (other_rate * there.setup_minutes - rate * here.setup_minutes)
    low, high = here.epoch
    other_low, other_high = there.epoch
    largest_gain = rate * high - other_rate * other_low
    least_gain = rate * low - other_rate * other_high
    crossing = (_epochs_until(head_start, largest_gain), _epochs_until(head_start, least_gain))
    return BreakEven(here, there, epochs, axis, crossing)


def _epochs_until(head_start: float, gain: float) -> float:
    """Return after how many epochs, each of which gains so much, a head start is caught up."""
    if gain <= 0:
        return math.inf
    return max(head_start / gain, 0.0)
