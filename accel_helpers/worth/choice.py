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
from accel_helpers.worth.break_even import FEW, LABELS, WORDS, BreakEven, Plan, break_even

THIS = "this GPU"  # the one that is attached
FREE = ("T4",)  # what Colab lends for free
SOONER, A_MINUTE = 1.1, 60  # times as soon, and seconds: less is no reason for another chip
HEADS = ("", "pays?", "times as fast", "minutes in all", "minutes saved", "pays for training runs")
PAYS = dict(zip((*LABELS, FEW), ("yes", "no", "perhaps", "?"), strict=True))


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
        return {name: break_even(self.here, plan, self.epochs) for name, plan in self.chips.items()}

    @cached_property
    def chip(self) -> str:
        """The chip to take or to try first; "" where none can be done earlier.

        What is attached or free comes first, then what is surely worth it; less than a minute
        saved at best is no reason to change.
        """
        may = [
            (not self.free(name), found.verdict != LABELS[0], place, name)
            for place, (name, found) in enumerate(self.found.items())
            if found.verdict == FEW or found.saved_seconds[1] >= A_MINUTE
        ]
        return min(may)[-1] if may else ""

    @property
    def verdict(self) -> str:
        """Of the `chip`: "worth it", "the interval holds both" (measure first), "not worth it".

        "cannot be told yet" where there are fewer than five timings.
        """
        return self.found[self.chip].verdict if self.chip else LABELS[1]

    @property
    def break_even(self) -> BreakEven:
        """Of the `chip`; where none is worth it, of the first."""
        return self.found[self.chip or next(iter(self.found))]

    def free(self, name: str) -> bool:
        """Whether a chip is attached here, or lent for free."""
        return name in FREE or name.startswith(THIS[:5])

    @property
    def advice(self) -> str:
        """What to do, in a few sentences that name the model."""
        words = records.load(WORDS, "set of sentences")["choice"]
        fields = {"model": self.model, "epochs": self.epochs, "here": self.here.name}
        fields["minutes"] = _minutes(*self.here.cost(self.epochs))
        told = self.verdict
        if told == LABELS[0] and self.chip not in self.raced:
            told += ", by forecast"
        lines = ["head", told]
        if self.chip:
            few, many = self.found[self.chip].saved_seconds
            fields |= {"chip": self.chips[self.chip].name, "saved": _minutes(few, many)}
            fields |= {"most": _minutes(many, many), "least": _minutes(-few, -few)}
            lines.append("free" if self.free(self.chip) else "paid")
            sooner = self._sooner()
            if self.verdict == FEW:
                lines.pop()
            elif sooner and self.free(self.chip):
                sure = self.verdict != LABELS[0] == self.found[sooner].verdict
                lines.append("surely" if sure else "sooner")
                fields["surely"] = _minutes(*self.found[sooner].saved_seconds)
                name = self.chips[sooner].name
                fields["sooner"] = name[0].upper() + name[1:]
                gain = self._middle(self.chip) - self._middle(sooner)
                fields["gain"] = _minutes(gain, gain)
        return " ".join(words[line].format(**fields) for line in lines)

    def _middle(self, name: str) -> float:
        """Seconds of the whole training on a chip, set-up and all."""
        low, high = self.chips[name].cost(self.epochs)
        return math.sqrt(low * high)

    def _sooner(self) -> str:
        """The first paid chip that is probably done clearly earlier than the one to take."""
        mine, soonest = self._middle(self.chip), min(map(self._middle, self.chips))
        if mine < max(SOONER * soonest, soonest + A_MINUTE):
            return ""
        paid = (name for name in self.chips if not self.free(name))
        return next((name for name in paid if self._middle(name) < SOONER * soonest), "")

    @property
    def rows(self) -> list[tuple[str, ...]]:
        """The cells of the table, a row for this machine and one for each chip."""
        minutes = _minutes(*self.here.cost(self.epochs))
        rows = [(self.here.name, "-", "1", minutes, "-", "-")]
        for name, found in self.found.items():
            label = name + ", free" * (name in FREE) + ", measured" * (name in self.raced)
            pays = PAYS[found.verdict]
            if pays == "yes" and name not in self.raced:
                pays = "probably"  # a forecast is no measurement
            cells = [label, pays]
            few = found.verdict == FEW
            cells.append("?" if few else _span(*self.factors[name]))
            cells.append(_minutes(*found.there.cost(self.epochs)))
            cells += ["?", "?"] if few else [_saved(found), _pays(found)]
            rows.append(tuple(cells))
        rows += [(name, "no room", "-", "-", "-", "-") for name in self.no_room]
        if self.my_hour is None:
            return rows
        prices = ["-", *map(self._price, self.found), *("-" for _ in self.no_room)]
        return [(*row, price) for row, price in zip(rows, prices, strict=True)]

    def _price(self, name: str) -> str:
        """The price of an hour above which a chip costs more than the time it saves is worth."""
        if self.free(name):
            return "free"
        few, many = self.found[name].saved_seconds
        soon, late = self.chips[name].cost(self.epochs)
        least, most = (max(self.my_hour * each, 0.0) for each in (few / late, many / soon))
        return _span(least, most) if most else "0"

    @property
    def heads(self) -> tuple[str, ...]:
        """The names of the columns."""
        return HEADS if self.my_hour is None else (*HEADS, "worth at most, an hour")

    def __str__(self) -> str:
        table = [self.heads, *self.rows]
        widths = [max(map(len, column)) for column in zip(*table, strict=True)]
        lines = ["  ".join(f"{c:{w}}" for c, w in zip(r, widths, strict=True)) for r in table]
        return "\n".join([*(line.rstrip() for line in lines), wrapped(self.advice)])

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
        fewest = min(len(self.race.slow.samples), len(self.race.fast.samples))
        if fewest < FEW_SAMPLES or not self.timed:
            return "too few samples"
        if self.expected is None:
            return "not forecast"
        low, high = self.expected
        return "held" if low <= self.gain <= high else "missed"

    def __str__(self) -> str:
        said = _span(*self.expected) if self.expected else "nothing"
        return f"forecast {said}, measured {times(self.gain)} times as fast as this CPU"


def choices(
    look, *, epochs: int, setup_minutes: float = 5.0, my_hour: float | None = None, race=None
) -> Choice:
    """See `Forecast.choices`, which this is."""
    if not (look.here and look.steps):
        raise ValueError("A choice needs a forecast that was timed here, of a known epoch: x=, y=.")
    epochs = whole(epochs, "epochs")
    setup_minutes = positive(setup_minutes, "setup_minutes", zero=True)
    here_low, here_high = (look.steps * each for each in look.here.interval)
    count = len(look.here.samples)
    here = Plan("this CPU", (here_low, here_high), samples=count)
    chips, factors, no_room, mine = {}, {}, [], attached()
    if race:
        epoch = tuple(look.steps * look.here.median / each for each in reversed(race.interval))
        fewest = min(count, len(race.slow.samples), len(race.fast.samples))
        name = f"this {race.fast.name.upper()}"
        chips[name] = Plan(name, epoch, setup_minutes, samples=fewest)
        factors[name] = race.interval
    for row in look.rows:
        if not row.terms or (race and row.chip == mine):  # a TPU, or what raced
            continue
        if row.memory == "does not fit":
            no_room.append(row.chip)
            continue
        epoch = tuple(look.steps * each for each in look.step(row)[1:])
        name = THIS if row.chip == mine else row.chip
        chips[name] = Plan(_one(name), epoch, setup_minutes, samples=count)
        factors[name] = look.faster(row) or (0.0, math.inf)
    if not chips:
        raise ValueError("No chip of this forecast has room for the model.")
    raced = (next(iter(chips)),) if race else ()
    return Choice(look.model, epochs, here, chips, factors, tuple(no_room), my_hour, raced)


def against(look, race) -> Held | None:
    """See `Forecast.against`, which this is."""
    if race is None:
        return None
    row = next((row for row in look.rows if row.chip == attached()), None)
    if row is None:
        return Held(race, expected=None)
    return Held(race, look.faster(row), timed=look.measured)


def attached() -> str | None:
    """The full name of the GPU that Keras uses here, if its data sheet is known."""
    if "gpu" not in backend.devices():
        return None
    known = hardware.match(backend.device_name("gpu"))
    return known.name if known and known.mem_bw_gb_s and known.kind == "GPU" else None


def _one(chip: str) -> str:
    """A chip with its article."""
    return chip if chip == THIS else f"an {chip}" if chip[0] in "AHLN" else f"a {chip}"


def _span(low: float, high: float) -> str:
    """Two numbers of two digits each, or one where they are alike."""
    ends = dict.fromkeys((times(low), times(high)))
    return " to ".join(ends)


def _minutes(low: float, high: float) -> str:
    """Seconds as minutes; less than a tenth of one is none."""
    return _span(*(each if each >= 1 else round(each, 1) for each in (low / 60, high / 60)))


def _saved(found: BreakEven) -> str:
    """Minutes by which another chip is done earlier."""
    few, many = found.saved_seconds
    if few > 0:
        return _minutes(few, many)
    if many <= 0:
        return "none"
    return f"up to {_minutes(many, many)}, or {_minutes(-few, -few)} later"


def _pays(found: BreakEven) -> str:
    """From how many minutes of training here on."""
    early, late = map(times, found.minutes)
    if found.minutes[0] == math.inf:
        return "of no length"
    if found.minutes[1] == math.inf:
        return f"perhaps over {early} minutes"
    if early == late:
        return f"over {late} minutes"
    return f"over {late} minutes (perhaps {early})"
