"""From which length of training on does another machine pay, in time, money or energy?"""

import math
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from accel_helpers import _records
from accel_helpers._records import positive, whole
from accel_helpers._words import format_duration, format_rate, spanned, wrapped

WORDS = Path(__file__).parents[1] / "data" / "worth.toml"
LABELS = ("worth it", "not worth it", "the interval holds both")
SHOWN = {
    "time": format_duration,
    "money": "{:.2g}".format,
    "energy": partial(format_rate, unit="J"),
}


@dataclass(frozen=True)
class Plan:
    """One way to train, and what it costs.

    Seconds of an epoch, low and high; minutes before the first; the price of an hour, in any
    currency, and watts, if they are known.

    >>> Plan("a T4", epoch=(1.0, 2.0), setup_minutes=5).cost(60)
    (360.0, 420.0)
    """

    name: str
    epoch: tuple[float, float]
    setup_minutes: float = 0.0
    price: float | None = None
    watts: float | None = None

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

    here: Plan
    there: Plan
    epochs: int
    axis: str
    crossing: tuple[float, float]  # epochs: from there on the other may pay, surely pays

    @property
    def verdict(self) -> str:
        """One of "worth it", "not worth it" and "the interval holds both"."""
        early, late = self.crossing
        return LABELS[0 if self.epochs > late else 1 if self.epochs < early else 2]

    @property
    def minutes(self) -> tuple[float, float]:
        """The crossing as minutes of training here: where the lines of the two ends meet."""
        low, high = self.here.epoch
        return self.crossing[0] * high / 60, self.crossing[1] * low / 60

    def __str__(self) -> str:
        words = _records.load(WORDS, "set of sentences")["break even"]
        sure = "at" if self.crossing[1] < math.inf else "may"
        lines = [self.axis, sure if self.crossing[0] < math.inf else "never", self.verdict]
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
