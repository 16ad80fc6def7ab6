"""Which chip, if any? Every chip of a forecast beside this machine, and what to do."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

from accel_helpers._values import records
from accel_helpers._values.records import positive, whole
from accel_helpers._values.words import fragment, times, wrapped
from accel_helpers.machine import backend, hardware
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

THIS_GPU = "this GPU"  # the one that is attached
FREE = ("T4",)  # what Colab lends for free
# less is no reason for another chip
SOONER = 1.1  # times as soon
A_MINUTE = 60  # seconds
HEADS = ("", "pays?", "times as fast", "minutes in all", "minutes saved", "pays for training runs")
PAYS = {WORTH_IT: "yes", NOT_WORTH_IT: "no", HOLDS_BOTH: "perhaps", FEW: "?"}


@dataclass(frozen=True)
class Choice:
    """The answer of `Forecast.choices`: a table with a row for each chip, and what to do."""

    OUTCOMES: ClassVar = (*LABELS, FEW)  # of its `verdict`

    model: str
    epochs: int
    here: Plan
    chips: Mapping[str, Plan]  # by name; the set-up is in them
    factors: Mapping[str, tuple[float, float]]  # times as fast as here, low and high
    no_room: tuple[str, ...] = ()  # chips that the model does not fit on
    my_hour: float | None = None  # what an hour of yours is worth, in any currency
    raced: tuple[str, ...] = ()  # what was measured, and not forecast

    @cached_property
    def found(self) -> dict[str, BreakEven]:
        """The break-even of each chip with this machine."""
        crossings = {}
        for name, plan in self.chips.items():
            crossings[name] = break_even(self.here, plan, self.epochs)
        return crossings

    @cached_property
    def chip(self) -> str:
        """The chip to take or to try first; "" where none can be done earlier.

        What is attached or free comes first, then what is surely worth it; less than a minute
        saved at best is no reason to change.
        """
        candidates = [name for name, crossing in self.found.items() if _may_pay(crossing)]
        if not candidates:
            return ""
        # of equals the first
        return min(candidates, key=self._reluctance)

    def _reluctance(self, name: str) -> tuple[bool, bool]:
        """Return what speaks against a chip, the weightiest first."""
        costs_money = not self.free(name)
        is_unsure = self.found[name].verdict != WORTH_IT
        return costs_money, is_unsure

    @property
    def verdict(self) -> str:
        """Of the `chip`: "worth it", "the interval holds both" (measure first), "not worth it".

        "cannot be told yet" where there are fewer than five timings.
        """
        if not self.chip:
            return NOT_WORTH_IT
        return self.found[self.chip].verdict

    @property
    def break_even(self) -> BreakEven:
        """Of the `chip`; where none is worth it, of the first."""
        first = next(iter(self.found))
        return self.found[self.chip or first]

    def free(self, name: str) -> bool:
        """Return whether a chip is attached here, or lent for free."""
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
            fields |= self._on_the_chip()
        if self.chip and self.verdict != FEW:
            is_free = self.free(self.chip)
            names.append("free" if is_free else "paid")
            sooner = self._sooner()
            if is_free and sooner:
                surely = self.verdict != WORTH_IT and self.found[sooner].verdict == WORTH_IT
                names.append("surely" if surely else "sooner")
                fields |= self._on_a_sooner_chip(sooner)
        return " ".join(sentences[name].format(**fields) for name in names)

    def _verdict_sentence(self) -> str:
        """Return the name of the sentence on the verdict."""
        if self.verdict == WORTH_IT and self.chip not in self.raced:
            return f"{WORTH_IT}, by forecast"
        return self.verdict

    def _on_the_chip(self) -> dict[str, str]:
        """Return the fields of sentences on the chip to take."""
        fewest, most = self.found[self.chip].saved_seconds
        fields = {"chip": self.chips[self.chip].name}
        fields["saved"] = _minutes(fewest, most)
        fields["most"] = _minutes(most, most)
        # minutes that it may be done later
        fields["least"] = _minutes(-fewest, -fewest)
        return fields

    def _on_a_sooner_chip(self, sooner: str) -> dict[str, str]:
        """Return the fields of sentences on a paid chip that is done earlier."""
        name = self.chips[sooner].name
        gain = self._middle(self.chip) - self._middle(sooner)
        # the name begins a sentence
        fields = {"sooner": name[0].upper() + name[1:]}
        fields["surely"] = _minutes(*self.found[sooner].saved_seconds)
        fields["gain"] = _minutes(gain, gain)
        return fields

    def _middle(self, name: str) -> float:
        """Return the seconds of the whole training on a chip, set-up and all."""
        low, high = self.chips[name].cost(self.epochs)
        # of an interval whose ends are a factor up and down
        return math.sqrt(low * high)

    def _sooner(self) -> str:
        """Return the first paid chip that is probably done clearly earlier than the one to take."""
        soonest = min(self._middle(name) for name in self.chips)
        clearly_later = max(SOONER * soonest, soonest + A_MINUTE)
        if self._middle(self.chip) < clearly_later:
            return ""
        for name in self.chips:
            if not self.free(name) and self._middle(name) < SOONER * soonest:
                return name
        return ""

    @property
    def rows(self) -> list[tuple[str, ...]]:
        """The cells of the table, a row for this machine and one for each chip."""
        minutes = _minutes(*self.here.cost(self.epochs))
        rows: list[tuple[str, ...]] = [(self.here.name, "-", "1", minutes, "-", "-")]
        prices = ["-"]
        for name in self.found:
            rows.append(self._row(name))
            prices.append(self._price(name))
        for name in self.no_room:
            rows.append((name, "no room", "-", "-", "-", "-"))
            prices.append("-")
        if self.my_hour is None:
            return rows
        return [(*row, price) for row, price in zip(rows, prices, strict=True)]

    def _row(self, name: str) -> tuple[str, ...]:
        """Return the cells of a chip, without the price."""
        crossing = self.found[name]
        minutes = _minutes(*crossing.there.cost(self.epochs))
        pays = PAYS[crossing.verdict]
        if crossing.verdict == FEW:
            return self._label(name), pays, "?", minutes, "?", "?"
        if crossing.verdict == WORTH_IT and name not in self.raced:
            # a forecast is no measurement
            pays = "probably"
        factor = _span(*self.factors[name])
        saved = _saved(crossing)
        return self._label(name), pays, factor, minutes, saved, _pays_from(crossing)

    def _label(self, name: str) -> str:
        """Return the name of a chip, with what is special about it."""
        label = name
        if name in FREE:
            label += ", free"
        if name in self.raced:
            label += ", measured"
        return label

    def _price(self, name: str) -> str:
        """Return the price of an hour above which a chip costs more than it saves.

        Without `my_hour` there is none.
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
        return (*HEADS, "worth at most, an hour")

    def __str__(self) -> str:
        table = [self.heads, *self.rows]
        widths = [max(map(len, column)) for column in zip(*table, strict=True)]
        lines = []
        for row in table:
            cells = [cell.ljust(width) for cell, width in zip(row, widths, strict=True)]
            lines.append("  ".join(cells).rstrip())
        lines.append(wrapped(self.advice))
        return "\n".join(lines)

    def _repr_html_(self) -> str | None:
        return fragment("data/templates/choice/table", self.heads, self.rows, self.advice)


@dataclass(frozen=True)
class Held:
    """Whether a forecast held: what it said of the attached chip, and what a race came to."""

    OUTCOMES: ClassVar = ("held", "missed", "not forecast", "too few samples")  # of its `verdict`

    race: Speedup  # of this CPU over the accelerator
    expected: tuple[float, float] | None  # times as fast as this CPU, if that is known
    timed: bool = True  # this CPU, by the forecast: five times or more

    @property
    def gain(self) -> float:
        """How many times as fast as this CPU it was."""
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


def choices(
    look, *, epochs: int, setup_minutes: float = 5.0, my_hour: float | None = None, race=None
) -> Choice:
    """Do what `Forecast.choices` says: `look` is the forecast."""
    if not (look.here and look.steps):
        raise ValueError("A choice needs a forecast that was timed here, of a known epoch: x=, y=.")
    epochs = whole(epochs, "epochs")
    setup_minutes = positive(setup_minutes, "setup_minutes", zero=True)
    low, high = look.here.interval
    count = len(look.here.samples)
    this_cpu = Plan("this CPU", (look.steps * low, look.steps * high), samples=count)
    chips: dict[str, Plan] = {}
    factors: dict[str, tuple[float, float]] = {}
    no_room: list[str] = []
    raced: tuple[str, ...] = ()
    attached_chip = attached()
    if race:
        # what was measured stands first
        plan = _of_a_race(look, race, setup_minutes)
        chips[plan.name] = plan
        factors[plan.name] = race.interval
        raced = (plan.name,)
    for row in look.rows:
        is_attached = row.chip == attached_chip
        has_raced = race and is_attached
        # of a TPU, which has no terms, the least time alone is known
        if not row.terms or has_raced:
            continue
        if row.memory == "does not fit":
            no_room.append(row.chip)
            continue
        name = THIS_GPU if is_attached else row.chip
        _, step_low, step_high = look.step(row)
        epoch = (look.steps * step_low, look.steps * step_high)
        chips[name] = Plan(_with_article(name), epoch, setup_minutes, samples=count)
        factors[name] = look.faster(row) or (0.0, math.inf)
    if not chips:
        raise ValueError("No chip of this forecast has room for the model.")
    return Choice(look.model, epochs, this_cpu, chips, factors, tuple(no_room), my_hour, raced)


def _of_a_race(look, race: Speedup, setup_minutes: float) -> Plan:
    """Return the plan of the accelerator that raced against this CPU."""
    low, high = race.interval
    epoch_here = look.steps * look.here.median
    epoch = (epoch_here / high, epoch_here / low)
    timed = (look.here, race.slow, race.fast)
    fewest = min(len(measured.samples) for measured in timed)
    name = f"this {race.fast.name.upper()}"
    return Plan(name, epoch, setup_minutes, samples=fewest)


def against(look, race: Speedup | None) -> Held | None:
    """Do what `Forecast.against` says: `look` is the forecast."""
    if race is None:
        return None
    attached_chip = attached()
    for row in look.rows:
        if row.chip == attached_chip:
            return Held(race, look.faster(row), timed=look.measured)
    return Held(race, expected=None)


def attached() -> str | None:
    """Return the full name of the GPU that Keras uses here, if its data sheet is known."""
    if "gpu" not in backend.devices():
        return None
    chip = hardware.match(backend.device_name("gpu"))
    if chip is None or not chip.mem_bw_gb_s or chip.kind != "GPU":
        return None
    return chip.name


def _may_pay(crossing: BreakEven) -> bool:
    """Return whether a chip may save a minute, as far as that is known."""
    _, most = crossing.saved_seconds
    return crossing.verdict == FEW or most >= A_MINUTE


def _with_article(chip: str) -> str:
    if chip == THIS_GPU:
        return chip
    # an A100, an H100, an L4, an NVIDIA ...
    article = "an" if chip[0] in "AHLN" else "a"
    return f"{article} {chip}"


def _span(low: float, high: float) -> str:
    """Return two numbers of two digits each, or one where they are alike."""
    lower_end = times(low)
    upper_end = times(high)
    if lower_end == upper_end:
        return lower_end
    return f"{lower_end} to {upper_end}"


def _minutes(low: float, high: float) -> str:
    """Return seconds as minutes; less than a tenth of one is none."""
    return _span(_rounded(low / 60), _rounded(high / 60))


def _rounded(minutes: float) -> float:
    if minutes >= 1:
        return minutes
    return round(minutes, 1)


def _saved(crossing: BreakEven) -> str:
    """Return the minutes by which another chip is done earlier."""
    fewest, most = crossing.saved_seconds
    if fewest > 0:
        return _minutes(fewest, most)
    if most <= 0:
        return "none"
    return f"up to {_minutes(most, most)}, or {_minutes(-fewest, -fewest)} later"


def _pays_from(crossing: BreakEven) -> str:
    """Return from how many minutes of training here on another chip pays."""
    low, high = crossing.minutes
    if low == math.inf:
        return "of no length"
    early = times(low)
    if high == math.inf:
        return f"perhaps over {early} minutes"
    late = times(high)
    if early == late:
        return f"over {late} minutes"
    return f"over {late} minutes (perhaps {early})"
