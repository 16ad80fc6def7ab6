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

# the sentences of this folder's answers: {"break even": {"at": "The break-even is at …"}, …}
WORDS = Path(__file__).parents[1] / "data" / "worth.toml"
# the verdicts of a comparison with intervals
WORTH_IT = "worth it"
NOT_WORTH_IT = "not worth it"
HOLDS_BOTH = "the interval holds both"
LABELS = (WORTH_IT, NOT_WORTH_IT, HOLDS_BOTH)
# the verdicts where there is no such comparison: too few timings; money is spent, and time is saved
FEW = "cannot be told yet"
BOUGHT = "time for money"
# axis -> the function that writes a cost on it: "5 minutes", "1.2" (any currency), "3.4 kJ"
FORMATS: dict[str, Callable[[float], str]] = {
    "time": format_duration,
    "money": times,
    "energy": partial(format_rate, unit="J"),
}


@dataclass(frozen=True)
class Plan:
    """A machine to train on, and what an epoch on it costs.

    Raises ValueError if the seconds of an epoch are not positive numbers, the lower one first.

    >>> Plan("a T4", epoch=(1.0, 2.0), setup_minutes=5).cost(60)
    (360.0, 420.0)
    """

    name: str  # of the machine, as a sentence has it, such as "a T4"
    epoch: tuple[float, float]  # seconds of an epoch, low and high
    setup_minutes: float = 0.0  # before the first epoch
    price: float | None = None  # of an hour, in any currency; None if it is not known
    watts: float | None = None  # None if they are not known
    # how many timings the seconds of an epoch rest on; None for figures that were not timed. Fewer
    # than five timings make no verdict.
    samples: int | None = None

    def __post_init__(self):
        name = f"epoch of {self.name}"
        low, high = (positive(seconds, name) for seconds in self.epoch)
        if low > high:
            raise ValueError(f"{name} must be low and high; got {low}, {high}.")

    def rate(self, axis: str) -> float:
        """Return what a second of this machine costs: 1 second, money or joules.

        Raises ValueError if the axis is not "time", "money" or "energy", and if it is "money" or
        "energy" and this plan has no price or no watts.
        """
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
        """Return the cost of a training, low and high, set-up included.

        On the axis "time" it is in seconds, on "money" in the currency of the price, on "energy" in
        joules. Raises ValueError as `rate` does.
        """
        rate = self.rate(axis)
        setup = 60 * self.setup_minutes
        low, high = self.epoch
        return rate * (setup + epochs * low), rate * (setup + epochs * high)


@dataclass(frozen=True)
class BreakEven:
    """The answer of `break_even`: two plans, and where their costs are equal.

    It prints as two or three sentences. `here` is this machine, `there` is the other one. Their
    costs grow with the number of epochs as straight lines do, and the crossing is where these meet.
    """

    OUTCOMES: ClassVar = (*LABELS, FEW, BOUGHT)  # of its `verdict`

    here: Plan
    there: Plan
    epochs: int  # of the training
    axis: str  # of the costs: "time", "money" or "energy"
    # epochs from which on the other machine may pay, and surely pays; inf where it never does
    crossing: tuple[float, float]

    @property
    def verdict(self) -> str:
        """What to do, in a few words.

        "worth it", "not worth it", "the interval holds both"; "cannot be told yet" where there are
        fewer than five timings, and the training here may take longer than the set-up alone there:
        else no factor is needed to say "not worth it"; "time for money" where this machine costs
        nothing and the other is faster: it can save no money, and what the hours are worth is not
        known here.
        """
        if self.is_hardly_timed:
            _, longest = self.here.cost(self.epochs)
            set_up_takes_longer = self.axis == "time" and longest <= 60 * self.there.setup_minutes
            return NOT_WORTH_IT if set_up_takes_longer else FEW
        if self._only_the_other_costs_money() and self.saved_seconds[1] > 0:
            return BOUGHT
        early, late = self.crossing
        if self.epochs > late:
            return WORTH_IT
        if self.epochs < early:
            return NOT_WORTH_IT
        return HOLDS_BOTH

    @property
    def is_hardly_timed(self) -> bool:
        """Whether a plan rests on fewer than five timings, which make no factor."""
        counts = (self.here.samples, self.there.samples)
        return any(count is not None and count < FEW_SAMPLES for count in counts)

    def _only_the_other_costs_money(self) -> bool:
        """Return whether the axis is money, this machine is free, and the other one is not."""
        if self.axis != "money":
            return False
        is_free = self.here.rate("money") == 0
        return is_free and self.there.rate("money") > 0

    @property
    def minutes(self) -> tuple[float, float]:
        """The crossing as minutes of training here, low and high; inf where it is never reached."""
        low, high = self.here.epoch
        early, late = self.crossing
        # the other pays earliest where epochs here are longest
        return early * high / 60, late * low / 60

    @property
    def saved_seconds(self) -> tuple[float, float]:
        """Seconds by which the other machine is done earlier, low and high, set-up included.

        They are negative where it is done later.
        """
        return self._saved("time")

    def _saved(self, axis: str) -> tuple[float, float]:
        """Return by how much the other machine is cheaper, low and high: the units of `Plan.cost`.

        Negative numbers say that it is dearer.
        """
        low, high = self.here.cost(self.epochs, axis)
        other_low, other_high = self.there.cost(self.epochs, axis)
        # at worst this machine is at its best, and the other one at its worst
        return low - other_high, high - other_low

    @property
    def price_of_an_hour(self) -> tuple[float, float]:
        """What the other machine costs for each hour that it saves, low and high.

        An end is inf where the machine saves no time at that end.
        """
        cheap, dear = self.there.cost(self.epochs, "money")
        fewest, most = (seconds / 3600 for seconds in self.saved_seconds)
        low = cheap / most if most > 0 else math.inf
        high = dear / fewest if fewest > 0 else math.inf
        return low, high

    def __str__(self) -> str:
        sentences = records.load(WORDS, "set of sentences")["break even"]
        # a sentence is named after the axis, the crossing and the verdict that it is on
        names = [self.axis]
        if self.verdict != BOUGHT and not self.is_hardly_timed:
            names.append(self._crossing_sentence())
        names.append(self.verdict)
        fields = self._fields()
        lines = [wrapped(sentences[name].format(**fields), indent=2) for name in names]
        return "\n".join(lines)

    def _crossing_sentence(self) -> str:
        """Return the name of the sentence on the crossing: "never", "may" or "at"."""
        early, late = self.crossing
        if early == math.inf:
            return "never"
        if late == math.inf:
            return "may"
        return "at"

    def _fields(self) -> dict[str, object]:
        """Return the values for all {fields} of the sentences, by the name of the field."""
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
        """Return a cost, low and high, in words: (300.0, 900.0) -> "5 to 15 minutes"."""
        format_cost = FORMATS[self.axis]
        low, high = cost
        return spanned(format_cost(low), format_cost(high))


def break_even(here: Plan, there: Plan, epochs: int, axis: str = "time") -> BreakEven:
    """Say from how many epochs on another machine pays.

    Parameters
    ----------
    here, there : Plan
        This machine, and the other one.
    epochs : int
        Of the training.
    axis : {"time", "money", "energy"}, optional
        What is saved. Money takes the `price` of both plans, energy their `watts`.

    Returns
    -------
    BreakEven
        Its `crossing` says in epochs from where on the other machine may pay, and from where on it
        surely does; `minutes` says the same in minutes of training here; and it has a `verdict`.

    Raises
    ------
    ValueError
        If `epochs` is no whole number from 1 on, if there is no such axis, or if a plan has no
        price or no watts for it.

    Examples
    --------
    >>> cpu, t4 = Plan("this CPU", (60, 60)), Plan("a T4", (10, 20), setup_minutes=5)
    >>> break_even(cpu, t4, epochs=50).crossing
    (6.0, 7.5)
    """
    epochs = whole(epochs, "epochs")
    rate = here.rate(axis)
    other_rate = there.rate(axis)
    # by how much the other machine's set-up is dearer, and then each of its epochs is cheaper
    head_start = 60 * (other_rate * there.setup_minutes - rate * here.setup_minutes)
    low, high = here.epoch
    other_low, other_high = there.epoch
    largest_gain = rate * high - other_rate * other_low
    least_gain = rate * low - other_rate * other_high
    earliest = _epochs_until(head_start, largest_gain)
    latest = _epochs_until(head_start, least_gain)
    return BreakEven(here, there, epochs, axis, crossing=(earliest, latest))


def _epochs_until(head_start: float, gain: float) -> float:
    """Return after how many epochs a head start is caught up, if each epoch gains `gain`.

    Both are on one axis: seconds, money or joules. The number of epochs is 0 where there is nothing
    to catch up, and inf where an epoch gains nothing.
    """
    if gain <= 0:
        return math.inf
    return max(head_start / gain, 0.0)
