"""From which length of training on does another machine pay, in time, money or energy?"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import ClassVar

from accel_helpers._values import records
from accel_helpers._values.records import positive, whole
from accel_helpers._values.words import format_duration, format_rate, spanned, times, wrapped
from accel_helpers.measure.measurement import FEW_SAMPLES

WORDS = Path(__file__).parents[1] / "data" / "worth.toml"
LABELS = WORTH_IT, NOT_WORTH_IT, HOLDS_BOTH = (
    "worth it",
    "not worth it",
    "the interval holds both",
)
FEW, BOUGHT = "cannot be told yet", "time for money"  # the other two verdicts
SHOWN = {"time": format_duration, "money": times, "energy": partial(format_rate, unit="J")}


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
        low, high = (positive(each, f"epoch of {self.name}") for each in self.epoch)
        if low > high:
            raise ValueError(f"epoch of {self.name} must be low and high; got {low}, {high}.")

    def rate(self, axis: str) -> float:
        """What a second costs: seconds, money or joules."""
        known = {"time": 3600.0, "money": self.price, "energy": self.watts and 3600 * self.watts}
        if axis not in known:
            raise ValueError(f"axis must be time, money or energy; got {axis!r}.")
        if known[axis] is None:
            wanted = {"money": "a price=", "energy": "watts="}[axis]
            raise ValueError(f"For {axis}, the Plan of {self.name} needs {wanted}.")
        return known[axis] / 3600

    def cost(self, epochs: float, axis: str = "time") -> tuple[float, float]:
        """Low and high: seconds, money or joules, set-up and all."""
        low, high = (60 * self.setup_minutes + epochs * each for each in self.epoch)
        return self.rate(axis) * low, self.rate(axis) * high


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
        timed = [plan.samples for plan in (self.here, self.there) if plan.samples is not None]
        if timed and min(timed) < FEW_SAMPLES:
            return FEW
        free = self.axis == "money" and self.here.rate("money") == 0 < self.there.rate("money")
        if free and self.saved_seconds[1] > 0:
            return BOUGHT
        early, late = self.crossing
        return LABELS[0 if self.epochs > late else 1 if self.epochs < early else 2]

    @property
    def minutes(self) -> tuple[float, float]:
        """The crossing as minutes of training here: where the lines of the two ends meet."""
        low, high = self.here.epoch
        return self.crossing[0] * high / 60, self.crossing[1] * low / 60

    @property
    def saved_seconds(self) -> tuple[float, float]:
        """Seconds by which the other is done earlier, low and high, set-up included."""
        (low, high), (least, most) = (plan.cost(self.epochs) for plan in (self.here, self.there))
        return low - most, high - least

    @property
    def price_of_an_hour(self) -> tuple[float, float]:
        """What the other costs for each hour that it saves, low and high."""
        cheap, dear = self.there.cost(self.epochs, "money")
        few, many = (seconds / 3600 for seconds in self.saved_seconds)
        return (cheap / many if many > 0 else math.inf, dear / few if few > 0 else math.inf)

    def __str__(self) -> str:
        words = records.load(WORDS, "set of sentences")["break even"]
        if self.crossing[0] == math.inf:
            crossing = "never"
        elif self.crossing[1] == math.inf:
            crossing = "may"
        else:
            crossing = "at"
        lines = [self.axis, crossing, self.verdict]
        if self.verdict in (FEW, BOUGHT):
            lines.remove(crossing)
        fields = {"epochs": self.epochs, "here": self.here.name, "there": self.there.name}
        fields["setup"] = f"{self.there.setup_minutes:g}"
        between = [format_duration(60 * each) for each in self.minutes]
        fields |= {"early": between[0], "between": spanned(*between)}
        (low, high), (least, most) = (
            plan.cost(self.epochs, self.axis) for plan in (self.here, self.there)
        )
        ends = {"costs": (low, high), "other": (least, most), "saved": (low - most, high - least)}
        for name, pair in ends.items():
            fields[name] = spanned(*map(SHOWN[self.axis], pair))
        if self.verdict == BOUGHT:
            few, many = self.saved_seconds
            fields["hours"] = spanned(format_duration(max(few, 0.0)), format_duration(many))
            cheap, dear = self.price_of_an_hour
            fields["hour"] = times(cheap)
            fields["hour"] += f" to {times(dear)}" if dear < math.inf else " or more"
        return "\n".join(wrapped(words[line].format(**fields), indent=2) for line in lines)


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
    rates = [plan.rate(axis) for plan in (here, there)]
    begin = 60 * (rates[1] * there.setup_minutes - rates[0] * here.setup_minutes)
    (low, high), (least, most) = here.epoch, there.epoch
    steep = rates[0] * high - rates[1] * least, rates[0] * low - rates[1] * most
    crossing = tuple(max(begin / each, 0.0) if each > 0 else math.inf for each in steep)
    return BreakEven(here, there, epochs, axis, crossing)


def best(plans: Sequence[Plan], epochs: int, axis: str = "time") -> Plan | None:
    """The first of some plans that no other surely beats; None where one was hardly timed.

    Give them in the order in which you would choose them, the one with the least trouble first.

    >>> cpu, t4 = Plan("this CPU", (60, 60)), Plan("a T4", (10, 20), setup_minutes=5)
    >>> [best((cpu, t4), epochs).name for epochs in (5, 50)]
    ['this CPU', 'a T4']
    """
    if any(plan.samples is not None and plan.samples < FEW_SAMPLES for plan in plans):
        return None
    least = min(plan.cost(epochs, axis)[1] for plan in plans)  # surely no more than this
    return next(plan for plan in plans if plan.cost(epochs, axis)[0] <= least)
