"""The answer of `worth_it` and `forecast`: chips beside this machine, and what to do."""

import math
from dataclasses import dataclass, replace
from typing import ClassVar

from accel_helpers._values import records, words
from accel_helpers._values.words import format_duration, format_seconds, spanned, times
from accel_helpers.fit.profile_result import Profile
from accel_helpers.measure import timing
from accel_helpers.measure.measurement import FEW_SAMPLES, Measurement, Speedup
from accel_helpers.worth.model_load import WORDS
from accel_helpers.worth.step_time import DOES_NOT_FIT, FITS, NOT_KNOWN, Row, Span

WORTH_IT = "worth it"
NOT_WORTH_IT = "not worth it"
HOLDS_BOTH = "the interval holds both"
CANNOT_BE_TOLD = "cannot be told yet"
# the cell of each verdict in the column "pays?", the verdict that decides first standing first
PAYS = {WORTH_IT: "probably", HOLDS_BOTH: "perhaps", NOT_WORTH_IT: "no", CANNOT_BE_TOLD: "?"}
HEADS = ("", "pays?", "times as fast", "time in all", "pays from (time here)", "a step")
CLEAR_GAIN = 60  # seconds; a chip that saves less is no reason to change, or to pay


@dataclass(frozen=True, repr=False)
class Answer:
    """Chips beside this machine, and whether one pays; it prints as a few lines.

    All follows from two intervals: how long the training takes here, and how many times as fast a
    chip is. A forecast prints as a table; that of `worth_it` is in `details`.
    """

    OUTCOMES: ClassVar = tuple(PAYS)  # of its `verdict`

    model: str  # its name
    rows: tuple[Row, ...]  # the chips
    epochs: int  # of the training
    setup_minutes: float  # that another machine takes first
    steps: int = 0  # of an epoch; 0 where that is not known
    here: Measurement | None = None  # seconds of a step on this machine
    notes: tuple[str, ...] = ()  # how far to trust the rows, or why there is no forecast
    place: str = "this CPU"  # this machine
    attached: str = ""  # name of the GPU in this machine
    profile: Profile | None = None  # where an epoch goes, and what was tried

    def __post_init__(self):
        rows = [_timed(row, self.seconds, 60 * self.setup_minutes) for row in self.rows]
        object.__setattr__(self, "rows", tuple(rows))

    @property
    def seconds(self) -> Span:
        """The seconds of the training on this machine; 0 where they are not known."""
        low, high = self.here.interval if self.here else (0, 0)
        steps = self.epochs * self.steps
        return steps * low, steps * high

    @property
    def row(self) -> Row:
        """The chip to take or to try first; where none pays, the one that it would be."""
        return min(self.rows, key=self._reluctance)

    def _reluctance(self, row: Row) -> tuple:
        """Return a key for sorting chips: first what may pay, of these what costs nothing."""
        place = self.OUTCOMES.index(row.pays)
        return max(place, 1), self.price(row) == "paid", place

    def price(self, row: Row) -> str:
        """Return "paid" for a chip that costs money, or else "measured" or "free"."""
        if row.measured:
            return "measured"
        # Colab lends a T4
        return "free" if row.chip in ("T4", self.attached) else "paid"

    @property
    def verdict(self) -> str:
        """Whether the chip of `row` pays, one of `OUTCOMES`."""
        return self.row.pays

    def raced(self, race: Speedup | None) -> "Answer":
        """Return this answer with what was timed in place of the attached chip's forecast.

        `race` is the CPU beside this machine's accelerator, by `compare`; None where there is none.
        """
        if race is None:
            return self
        others = [row for row in self.rows if row.chip != self.attached]
        return replace(self, rows=(measured(race), *others))

    @property
    def advice(self) -> str:
        """Whether it pays, and what to do: in two or three sentences that name the model."""
        name = self.verdict
        if self.row.measured and name != NOT_WORTH_IT:
            name = f"{name}, measured"
        if math.isinf(self.row.pays_from[0]):
            name = "never"
        return self._said(name)

    def _said(self, name: str, **fields) -> str:
        """Return the sentence of this name, on the chip of `row`."""
        sentences = records.load(WORDS, "set of sentences")["answer"]
        return sentences[name].format(
            answer=self,
            row=self.row,
            price=self.price(self.row),
            here=_in_words(self.seconds),
            there=_in_words(self.row.seconds),
            early=format_duration(self.row.pays_from[0]),
            factor=self._factor(self.row),
            **fields,
        )

    def _factor(self, row: Row) -> str:
        """Return how many times as fast a chip is; "?" where there are too few timings."""
        few = self.here is None or len(self.here.samples) < FEW_SAMPLES
        if few or row.faster == NOT_KNOWN:
            return "?"
        low, high = map(times, row.faster)
        return spanned(low, high) if row.faster[0] else f"at most {high}"

    @property
    def _on_chip(self) -> list[str]:
        """Whether it pays, how many times as fast the chip is, and how far to trust that."""
        trust = " ".join(self.notes)
        if not any(self.seconds):
            return [trust]
        name = "few" if self._factor(self.row) == "?" else "factor"
        return [self.advice, f"{self._said(name)} {trust}"]

    @property
    def _on_step(self) -> list[str]:
        """What a step on the chip waits for most, and what float16 would make of it."""
        names = [self.row.largest] if self.row.terms else []
        short = self.row.float16_seconds or math.inf
        # what changes a step by less than a tenth is not worth a sentence
        if short < 0.9 * self.row.step[0]:
            names.append("float16")
        return [self._said(name, short=format_seconds(short, 2)) for name in names]

    def __str__(self) -> str:
        if self.profile is None:
            return "\n".join([self.table, *_lines([*self._on_chip, *self._on_step])])
        changes = []
        for change in self.profile.advised:
            changes.append(self._said("altering" if change.alters else "change", change=change))
        parts = self._said("parts", parts=self.profile.parts_in_words(spread=False))
        return "\n".join(_lines([*self._on_chip, *(changes or [self._said("no change")]), parts]))

    __repr__ = __str__

    @property
    def details(self) -> str:
        """All that was measured, with its spread, what was tried, and each chip."""
        return "\n".join([str(self.profile), self.table, *_lines(self._on_step)])

    @property
    def table(self) -> str:
        """The table as text: a row for this machine, and one for each chip."""
        widths = [max(map(len, column)) for column in zip(*self._cells, strict=True)]
        return "\n".join("  ".join(map(str.ljust, row, widths)).rstrip() for row in self._cells)

    def _repr_html_(self) -> str | None:
        """Return the table of a forecast, and what to do, as HTML for a notebook."""
        if self.profile:
            return None
        heads, *rows = self._cells
        below = " ".join([*self._on_chip, *self._on_step])
        return words.fragment("data/templates/choice/table", heads, rows, below)

    @property
    def _cells(self) -> list:
        """The cells of the table, row by row, below the names of the columns."""
        rows: list = [HEADS]
        if self.here:
            step = format_seconds(self.here.median, 2)
            rows.append((self.place, "-", "1", _in_words(self.seconds), "-", step))
        for row in self.rows:
            _, low, high = row.step
            step = spanned(format_seconds(low, 2), format_seconds(high, 2))
            label = f"{row.chip}, {self.price(row)}"
            time = _in_words(row.seconds)
            rows.append((label, _pays(row), self._factor(row), time, _pays_from(row), step))
        return rows


def _timed(row: Row, here: Span, setup: float) -> Row:
    """Return a row with what follows from how many times as fast it is, set-up included.

    `here` is how many seconds the training takes on the machine beside it.
    """
    slowest, fastest = row.faster
    shortest, longest = here
    low = setup + longest / fastest
    high = setup + shortest / slowest if slowest else math.inf
    pays = HOLDS_BOTH
    if not longest or row.faster == NOT_KNOWN:
        pays = CANNOT_BE_TOLD
    if shortest > high:
        pays = WORTH_IT
    if 0 < longest < low + CLEAR_GAIN:
        # without a factor, too: where the set-up alone takes longer
        pays = NOT_WORTH_IT
    # the T of T = set-up + T / factor
    late, early = (setup / (1 - 1 / each) if each > 1 else math.inf for each in row.faster)
    return replace(row, seconds=(low, high), pays=pays, pays_from=(early, late))


def beside(rows: tuple[Row, ...], here: Measurement, host: Measurement) -> tuple[Row, ...]:
    """Return forecasts with feeding and Python as they are on this machine, and times as fast.

    `here` is a step on this machine, and `host` one around a model that computes nothing.
    """
    least = here.interval[1] / ceiling_of(here, host)
    return tuple(_fed(row, here, host.median, least) if row.terms else row for row in rows)


def _fed(row: Row, here: Measurement, feeding: float, least: float) -> Row:
    """Return a forecast with so many seconds of feeding and Python, of `least` seconds in all.

    Its interval is as wide as the one that is promised, around the whole: another machine may feed
    faster or slower, too.
    """
    low_here, high_here = here.interval
    alone = row.step[0]
    step, low, high = (max(each * (alone + feeding) / alone, least) for each in row.step)
    terms = {**row.terms, "overhead": row.terms["overhead"] + feeding}
    short = row.float16_seconds
    if short:
        short = max(short + feeding, least)
    faster = NOT_KNOWN
    if row.memory != DOES_NOT_FIT:
        faster = (low_here / high, high_here / low)
    return replace(row, terms=terms, step=(step, low, high), float16_seconds=short, faster=faster)


def ceiling_of(here: Measurement, host: Measurement) -> float:
    """Return how many times as fast as here any chip can be: none shortens feeding and Python.

    It is the upper end of that ratio; inf where fewer than five timings make none.
    """
    if len(here.samples) < FEW_SAMPLES:
        return math.inf
    return timing.compare(here, host, in_turns=True).interval[1]


def any_chip(here: Measurement, host: Measurement) -> Row:
    """Return the row that stands for all chips where there is no forecast: none is faster."""
    ceiling = ceiling_of(here, host)
    step = (host.median, here.median / ceiling, math.inf)
    return Row("fastest GPU", {}, step, faster=(0.0, ceiling))


def measured(race: Speedup) -> Row:
    """Return the row of an accelerator that was timed in turns with the CPU."""
    fast = race.fast
    factor = race.interval if len(fast.samples) >= FEW_SAMPLES else NOT_KNOWN
    step = (fast.median, *fast.interval)
    return Row(fast.name.upper(), {}, step, measured=True, faster=factor)


def _pays(row: Row) -> str:
    """Return the cell that says whether a chip pays, and whether the model fits on it."""
    cell = PAYS[row.pays]
    if row.memory != FITS:
        cell = f"{cell}, {row.memory}"
    if row.fitting_batch:
        cell = f"{cell}; a batch of {row.fitting_batch:,} would"
    return cell


def _in_words(seconds: Span) -> str:
    """Return an interval of seconds in words, of which the high end may be infinite."""
    low, high = map(format_duration, seconds)
    return f"at least {low}" if math.inf in seconds else spanned(low, high)


def _pays_from(row: Row) -> str:
    """Return the cell with the time here from which on a chip pays."""
    early, late = map(format_duration, row.pays_from)
    if math.inf in row.pays_from:
        return "never" if early == late else f"{early} perhaps"
    return f"{late} for sure, {early} perhaps"


def _lines(texts: list[str]) -> list[str]:
    """Return sentences as lines, wrapped where they are long."""
    return [words.wrapped(text, indent=2) for text in texts]
