"""The answer of `worth_it` and `forecast`: chips beside this machine, and what to do."""

import math
from dataclasses import dataclass, replace
from typing import ClassVar

from accel_helpers._values import records
from accel_helpers._values.words import (
    format_duration,
    format_seconds,
    fragment,
    spanned,
    times,
    wrapped,
)
from accel_helpers.fit.profile_result import Profile
from accel_helpers.measure import timing
from accel_helpers.measure.measurement import FEW_SAMPLES, Measurement, Speedup
from accel_helpers.worth.model_load import WORDS
from accel_helpers.worth.step_time import DOES_NOT_FIT, FITS, NOT_KNOWN, Row, Span

WORTH_IT = "worth it"
NOT_WORTH_IT = "not worth it"
HOLDS_BOTH = "the interval holds both"
CANNOT_BE_TOLD = "cannot be told yet"
# the cell of each verdict in the column "pays?", in the order in which chips are advised
PAYS = {WORTH_IT: "probably", HOLDS_BOTH: "perhaps", NOT_WORTH_IT: "no", CANNOT_BE_TOLD: "?"}
HEADS = ("", "pays?", "times as fast", "time in all", "pays from (time here)", "a step")
CLEAR_GAIN = 60  # seconds; a chip that saves less is no reason to change, or to pay
CLEAR_CHANGE = 0.9  # of a step; what float16 makes less shorter is not said


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
    steps: int  # of an epoch; 0 where that is not known
    here: Measurement | None  # seconds of a step on this CPU
    notes: tuple[str, ...] = ()  # how far to trust a forecast, or why there is none
    profile: Profile | None = None  # where an epoch goes, and what was tried

    def __post_init__(self):
        rows = [_timed(row, self.seconds, 60 * self.setup_minutes) for row in self.rows]
        object.__setattr__(self, "rows", tuple(rows))

    @property
    def seconds(self) -> Span:
        """The seconds of the training on this CPU; 0 where they are not known."""
        low, high = self.here.interval if self.here else (0.0, 0.0)
        steps = self.epochs * self.steps
        return steps * low, steps * high

    @property
    def row(self) -> Row:
        """The chip to take or to try first; where none pays, the one that it would be."""
        return min(self.rows, key=_reluctance)

    @property
    def verdict(self) -> str:
        """Whether the chip of `row` pays, one of `OUTCOMES`."""
        return self.row.pays

    def raced(self, race: Speedup | None) -> "Answer":
        """Return this answer with an accelerator that was timed, too, which decides then.

        `race` is this CPU beside it, by `compare`; None where there is none.
        """
        if race is None:
            return self
        return replace(self, rows=(measured(race), *self.rows))

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
        row = self.row
        sentences = records.load(WORDS, "set of sentences")["answer"]
        return sentences[name].format(
            answer=self,
            row=row,
            here=_in_words(self.seconds),
            there=_in_words(row.seconds),
            early=format_duration(row.pays_from[0]),
            factor=self._factor(row),
            short=format_seconds(row.float16_seconds, 2),
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
    def _on_step(self) -> list[str]:
        """What a step on the chip waits for most, and what float16 would make of it."""
        names = [self.row.largest] if self.row.terms else []
        if 0 < self.row.float16_seconds < CLEAR_CHANGE * self.row.step[0]:
            names.append("float16")
        return list(map(self._said, names))

    @property
    def _texts(self) -> list[str]:
        """What is said beside the table."""
        factor = self._said("few" if self._factor(self.row) == "?" else "factor")
        texts = [self.advice, " ".join([factor, *self.notes])]
        if self.profile is None:
            return texts + self._on_step
        changes = [f"Try {change}" for change in self.profile.advised]
        parts = self.profile.parts_in_words(spread=False)
        return [*texts, *(changes or [self._said("no change")]), self._said("parts", parts=parts)]

    def __str__(self) -> str:
        text = _lines(self._texts)
        return text if self.profile else f"{self.table}\n{text}"

    __repr__ = __str__

    @property
    def details(self) -> str:
        """All that was measured, with its spread, what was tried, and each chip."""
        return f"{self.profile}\n{self.table}\n{_lines(self._on_step)}"

    @property
    def table(self) -> str:
        """The table as text: a row for this machine, and one for each chip."""
        widths = [max(map(len, column)) for column in zip(*self._cells, strict=True)]
        return "\n".join("  ".join(map(str.ljust, row, widths)).rstrip() for row in self._cells)

    def _repr_html_(self) -> str | None:
        """Return the table, and what to do, as HTML for a notebook; None without Jinja2."""
        heads, *rows = self._cells
        return fragment("data/templates/choice/table", heads, rows, self._texts)

    @property
    def _cells(self) -> list:
        """The cells of the table, row by row, below the names of the columns."""
        rows: list = [HEADS]
        if self.here and self.steps:
            step = format_seconds(self.here.median, 2)
            rows.append(("this CPU", "-", "1", _in_words(self.seconds), "-", step))
        for row in self.rows:
            _, *ends = row.step
            step = spanned(*(format_seconds(end, 2) for end in ends))
            times_and_step = (self._factor(row), _in_words(row.seconds), _pays_from(row), step)
            rows.append((f"{row.chip}, {row.price}", _pays(row), *times_and_step))
        return rows


def _reluctance(row: Row) -> tuple:
    """Return a key for sorting chips: first what was measured, what may pay, what costs nothing."""
    place = Answer.OUTCOMES.index(row.pays)
    return not row.measured, max(place, 1), row.price == "paid", place


def _timed(row: Row, here: Span, setup: float) -> Row:
    """Return a row with what follows from how many times as fast it is, set-up included.

    `here` is how many seconds the training takes on the machine beside it.
    """
    slowest, fastest = row.faster
    shortest, longest = here
    best = setup + longest / fastest
    worst = setup + shortest / slowest if slowest else math.inf
    pays = HOLDS_BOTH
    if not longest or row.faster == NOT_KNOWN:
        pays = CANNOT_BE_TOLD
    if shortest > worst:
        pays = WORTH_IT
    if 0 < longest < best + CLEAR_GAIN:
        # without a factor, too: where the set-up alone takes longer
        pays = NOT_WORTH_IT
    # the T of T = set-up + T / factor
    late, early = (setup / (1 - 1 / each) if each > 1 else math.inf for each in row.faster)
    # of what was measured here and there in turns, both may be long at a time
    seconds = (min(best, worst), max(best, worst))
    return replace(row, seconds=seconds, pays=pays, pays_from=(early, late))


def fed(row: Row, here: Measurement, host: Measurement) -> Row:
    """Return a forecast with feeding and Python as they are on this machine, and times as fast.

    `here` is a step on this machine, and `host` one around a model that computes nothing. The
    interval is as wide as the one that is promised, around the whole: another machine may feed
    faster or slower, too.
    """
    if not row.terms:
        return row
    low_here, high_here = here.interval
    least = high_here / ceiling_of(here, host)
    whole = row.step[0] + host.median
    step, low, high = (max(each * whole / row.step[0], least) for each in row.step)
    terms = {**row.terms, "overhead": row.terms["overhead"] + host.median}
    faster = NOT_KNOWN
    if row.memory != DOES_NOT_FIT:
        faster = (low_here / high, high_here / low)
    short = row.float16_seconds
    if short:
        short = max(short + host.median, least)
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
    return Row("fastest GPU", {}, (host.median, 0.0, math.inf), faster=(0.0, ceiling))


def measured(race: Speedup) -> Row:
    """Return the row of an accelerator that was timed in turns with the CPU."""
    fast = race.fast
    factor = race.interval if len(fast.samples) >= FEW_SAMPLES else NOT_KNOWN
    step = (fast.median, *fast.interval)
    return Row(fast.name.upper(), {}, step, faster=factor, price="measured")


def _pays(row: Row) -> str:
    """Return the cell that says whether a chip pays, and whether the model fits on it."""
    if row.fitting_batch:
        return f"{row.memory}; a batch of {row.fitting_batch:,} would"
    return PAYS[row.pays] if row.memory == FITS else f"{PAYS[row.pays]}, {row.memory}"


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


def _lines(texts: list[str]) -> str:
    """Return sentences as lines, wrapped where they are long."""
    return "\n".join(wrapped(text, indent=2) for text in texts)
