"""The answer of `Forecast.choices`: a table with a row for each chip, and what to do."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import ClassVar

from accel_helpers._values import records
from accel_helpers._values.words import fragment, times, wrapped
from accel_helpers.measure.measurement import FEW_SAMPLES, Speedup
from accel_helpers.worth.break_even import (
    FEW,
    HOLDS_BOTH,
    LABELS,
    NOT_WORTH_IT,
    WORDS,
    WORTH_IT,
    BreakEven,
    Plan,
    break_even,
)

FREE = ("T4",)  # chips that Colab lends for free
# a chip that gains less than these two is no reason to change, or to pay
CLEAR_FACTOR = 1.1  # of the time of the whole training
A_MINUTE = 60  # seconds
HEADS = (
    "",
    "pays?",
    "times as fast",
    "minutes in all",
    "minutes saved",
    "pays from (minutes here)",
)
# verdict of a chip -> its cell in the column "pays?"
PAYS = {WORTH_IT: "yes", NOT_WORTH_IT: "no", HOLDS_BOTH: "perhaps", FEW: "?"}


@dataclass(frozen=True, repr=False)
class Choice:
    """The answer of `Forecast.choices`: a table with a row for each chip, and what to do.

    Chips are called by a short name, such as "A100" or "this GPU", which is a key of `chips`, of
    `factors` and of `found`; the name in a chip's plan is for sentences, such as "an A100". A chip
    was raced if the same training was timed on it; of all others there is a forecast.
    """

    OUTCOMES: ClassVar = (*LABELS, FEW)  # of its `verdict`

    model: str  # name of the model
    epochs: int  # of the training
    here: Plan  # of this machine
    chips: Mapping[str, Plan]  # by name; at least one; their set-up is in them
    factors: Mapping[str, tuple[float, float]]  # times as fast as here, low and high
    # chips that the model does not fit on, and the batch that would fit; 0 where none would
    no_room: Mapping[str, int] = field(default_factory=dict)
    my_hour: float | None = None  # what an hour of yours is worth, in any currency
    raced: tuple[str, ...] = ()  # names of chips that were measured, and not forecast
    notes: tuple[str, ...] = ()  # sentences on the forecast

    @cached_property
    def found(self) -> dict[str, BreakEven]:
        """The break-even of each chip with this machine, by the name of the chip."""
        crossings = {}
        for name, plan in self.chips.items():
            crossings[name] = break_even(self.here, plan, self.epochs)
        return crossings

    @cached_property
    def chip(self) -> str:
        """The name of the chip to take or to try first, or "".

        It is "" where no chip can save a minute. A chip that is attached or free goes before one
        that costs money, and then a chip that is surely worth it before one that may be.
        """
        candidates = [name for name, crossing in self.found.items() if _may_pay(crossing)]
        if not candidates:
            return ""
        # of equals the first
        return min(candidates, key=self._reluctance)

    def _reluctance(self, name: str) -> tuple[bool, bool]:
        """Return a key for sorting chips, the lowest first: (costs money, is not surely worth it).

        `name` is one of `self.chips`.
        """
        costs_money = not self.free(name)
        is_unsure = self.found[name].verdict != WORTH_IT
        return costs_money, is_unsure

    @property
    def verdict(self) -> str:
        """Whether the `chip` pays, one of `OUTCOMES`.

        "worth it"; "the interval holds both", so measure first; "not worth it", also where there is
        no such chip; "cannot be told yet", where there are fewer than five timings.
        """
        if not self.chip:
            return NOT_WORTH_IT
        return self.found[self.chip].verdict

    @property
    def break_even(self) -> BreakEven:
        """The break-even of the `chip`; where there is no such chip, of the first in the table."""
        first = next(iter(self.found))
        return self.found[self.chip or first]

    def free(self, name: str) -> bool:
        """Return whether the chip of this name is attached here, or lent by Colab for free."""
        return name in FREE or name.startswith("this ")

    @property
    def advice(self) -> str:
        """What to do, in a few sentences that name the model."""
        sentences = records.load(WORDS, "set of sentences")["choice"]
        fields: dict[str, object] = {"model": self.model, "epochs": self.epochs}
        fields["here"] = self.here.name
        fields["minutes"] = _minutes(*self.here.cost(self.epochs))
        names = ["head", self._verdict_sentence()]
        if self.chip:
            fields |= self._fields_of_chip()
        if self.chip and self.verdict != FEW:
            is_free = self.free(self.chip)
            names.append("free" if is_free else "paid")
            sooner_chip = self._sooner_chip()
            if is_free and sooner_chip:
                is_unsure = self.verdict != WORTH_IT
                paid_is_sure = self.found[sooner_chip].verdict == WORTH_IT
                is_surer = is_unsure and paid_is_sure
                names.append("surely" if is_surer else "sooner")
                fields |= self._fields_of_sooner_chip(sooner_chip)
        return " ".join(sentences[name].format(**fields) for name in names)

    def _verdict_sentence(self) -> str:
        """Return the name of the sentence on the verdict."""
        if self.verdict == WORTH_IT and self.chip not in self.raced:
            return f"{WORTH_IT}, by forecast"
        return self.verdict

    def _fields_of_chip(self) -> dict[str, str]:
        """Return the values for the {fields} of sentences on the chip to take, which must exist."""
        fewest, most = self.found[self.chip].saved_seconds
        fields = {"chip": self.chips[self.chip].name}
        fields["saved"] = _minutes(fewest, most)
        fields["most"] = _minutes(most, most)
        # minutes that it may be done later
        fields["least"] = _minutes(-fewest, -fewest)
        return fields

    def _fields_of_sooner_chip(self, sooner_chip: str) -> dict[str, str]:
        """Return the values for the {fields} of sentences on a paid chip that is done earlier.

        `sooner_chip` is one of `self.chips`, and there must be a chip to take.
        """
        name = self.chips[sooner_chip].name
        gain = self._typical_seconds(self.chip) - self._typical_seconds(sooner_chip)
        # the name begins a sentence
        fields = {"sooner": name[0].upper() + name[1:]}
        fields["surely"] = _minutes(*self.found[sooner_chip].saved_seconds)
        fields["gain"] = _minutes(gain, gain)
        return fields

    def _typical_seconds(self, name: str) -> float:
        """Return the seconds of the whole training on a chip of `self.chips`, set-up included.

        It is the middle of their interval.
        """
        low, high = self.chips[name].cost(self.epochs)
        # the ends of a forecast are a factor below and above its middle, so no arithmetic mean
        return math.sqrt(low * high)

    def _sooner_chip(self) -> str:
        """Return the name of a paid chip that is clearly done earlier than the one to take, or "".

        It is the first paid chip in the table that takes less than 1.1 times as long as the chip
        that is done first. "Clearly" is by a minute and by a tenth at least.
        """
        soonest = min(self._typical_seconds(name) for name in self.chips)
        clearly_later = max(CLEAR_FACTOR * soonest, soonest + A_MINUTE)
        if self._typical_seconds(self.chip) < clearly_later:
            return ""
        for name in self.chips:
            if not self.free(name) and self._typical_seconds(name) < CLEAR_FACTOR * soonest:
                return name
        return ""

    @property
    def rows(self) -> list[tuple[str, ...]]:
        """The cells of the table: a row for this machine, and one for each chip.

        A row has as many cells as there are `heads`.
        """
        minutes = _minutes(*self.here.cost(self.epochs))
        rows: list[tuple[str, ...]] = [(self.here.name, "-", "1", minutes, "-", "-")]
        prices = ["-"]
        for name in self.found:
            rows.append(self._row(name))
            prices.append(self._price(name))
        for name, batch in self.no_room.items():
            pays = "no room"
            if batch:
                pays += f"; a batch of {batch:,} fits"
            rows.append((name, pays, "-", "-", "-", "-"))
            prices.append("-")
        if self.my_hour is None:
            return rows
        return [(*row, price) for row, price in zip(rows, prices, strict=True)]

    def _row(self, name: str) -> tuple[str, ...]:
        """Return the cells of a chip of `self.chips`, one for each of `HEADS`: no price."""
        crossing = self.found[name]
        minutes = _minutes(*crossing.there.cost(self.epochs))
        pays = PAYS[crossing.verdict]
        if crossing.verdict == WORTH_IT and name not in self.raced:
            # a forecast is no measurement
            pays = "probably"
        factor = pays_from = "?"
        low, high = self.factors[name]
        if high < math.inf and not crossing.is_hardly_timed:
            factor = _span(low, high)
            pays_from = _pays_from(crossing)
        saved = "?" if crossing.verdict == FEW else _saved(crossing)
        return self._label(name), pays, factor, minutes, saved, pays_from

    def _label(self, name: str) -> str:
        """Return the cell with a chip's name, such as "T4, free" or "this GPU, measured"."""
        label = name
        if name in FREE:
            label += ", free"
        if name in self.raced:
            label += ", measured"
        return label

    def _price(self, name: str) -> str:
        """Return the cell with the price of an hour above which a chip costs more than it saves.

        It is in the currency of `my_hour`: "1.2 to 3.4", "0" where the chip saves no time, "free",
        or "" where `my_hour` is not known. `name` is one of `self.chips`.
        """
        if self.free(name):
            return "free"
        if self.my_hour is None:
            return ""
        fewest, most = self.found[name].saved_seconds
        soonest, latest = self.chips[name].cost(self.epochs)
        # what the saved time is worth, spread over the time that the chip is rented
        low = max(self.my_hour * fewest / latest, 0.0)
        high = max(self.my_hour * most / soonest, 0.0)
        return _span(low, high) if high else "0"

    @property
    def heads(self) -> tuple[str, ...]:
        """The names of the columns."""
        if self.my_hour is None:
            return HEADS
        return (*HEADS, "worth at most an hour (your currency)")

    @property
    def table(self) -> str:
        """The rows as text, below the names of the columns."""
        table = [self.heads, *self.rows]
        widths = [max(map(len, column)) for column in zip(*table, strict=True)]
        lines = []
        for row in table:
            cells = [cell.ljust(width) for cell, width in zip(row, widths, strict=True)]
            lines.append("  ".join(cells).rstrip())
        return "\n".join(lines)

    def __str__(self) -> str:
        sentences = [wrapped(text) for text in (self.advice, *self.notes)]
        return "\n".join([self.table, *sentences])

    __repr__ = __str__

    def _repr_html_(self) -> str | None:
        """Return table, advice and notes as HTML, for a notebook; None without Jinja2."""
        below = " ".join((self.advice, *self.notes))
        return fragment("data/templates/choice/table", self.heads, self.rows, below)


@dataclass(frozen=True)
class Held:
    """Whether a forecast of the attached chip held, now that the same training was timed on it.

    The race is that timing: this CPU and the attached chip trained in turns.
    """

    OUTCOMES: ClassVar = ("held", "missed", "not forecast", "too few samples")  # of its `verdict`

    race: Speedup  # the CPU's time over that of the attached chip
    # what the forecast said: times as fast as this CPU, low and high; None if it said nothing
    expected: tuple[float, float] | None
    timed: bool = True  # whether the forecast timed this CPU five times or more

    @property
    def gain(self) -> float:
        """How many times as fast as this CPU the attached chip was."""
        return self.race.slow.median / self.race.fast.median

    @property
    def verdict(self) -> str:
        """One of `OUTCOMES`."""
        fewest = min(len(self.race.slow.samples), len(self.race.fast.samples))
        if fewest < FEW_SAMPLES or not self.timed:
            return "too few samples"
        if self.expected is None:
            return "not forecast"
        low, high = self.expected
        return "held" if low <= self.gain <= high else "missed"

    def __str__(self) -> str:
        forecast = _span(*self.expected) if self.expected else "nothing"
        return f"forecast {forecast}, measured {times(self.gain)} times as fast as this CPU"


def _may_pay(crossing: BreakEven) -> bool:
    """Return whether a chip may save a minute; True where there are too few timings to tell."""
    _, most = crossing.saved_seconds
    return crossing.verdict == FEW or most >= A_MINUTE


def _span(low: float, high: float) -> str:
    """Return an interval in words, two digits each: (1.23, 4) -> "1.2 to 4", (2, 2.01) -> "2"."""
    lower_end = times(low)
    upper_end = times(high)
    if lower_end == upper_end:
        return lower_end
    return f"{lower_end} to {upper_end}"


def _minutes(low: float, high: float) -> str:
    """Return an interval of seconds as minutes in words: (90, 600) -> "1.5 to 10"."""
    return _span(_rounded(low / 60), _rounded(high / 60))


def _rounded(minutes: float) -> float:
    """Return minutes, those below one in tenths: `times` would write 0.012 with all its digits."""
    if minutes >= 1:
        return minutes
    return round(minutes, 1)


def _saved(crossing: BreakEven) -> str:
    """Return the cell with the minutes by which a chip is done earlier than this machine.

    Such as "5 to 8", "none", or "up to 8, or 2 later" where it is not sure.
    """
    fewest, most = crossing.saved_seconds
    if fewest > 0:
        return _minutes(fewest, most)
    if most <= 0:
        return "none"
    return f"up to {_minutes(most, most)}, or {_minutes(-fewest, -fewest)} later"


def _pays_from(crossing: BreakEven) -> str:
    """Return the cell with the minutes of training here from which on a chip pays.

    Such as "12 for sure, 9 perhaps", "9 perhaps" or "never".
    """
    low, high = crossing.minutes
    if low == math.inf:
        return "never"
    early = times(low)
    if high == math.inf:
        return f"{early} perhaps"
    late = times(high)
    if early == late:
        return f"{late} for sure"
    return f"{late} for sure, {early} perhaps"
