"""The answer of `worth_it` and `forecast`: chips beside this machine, and what to do."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from accel_helpers._values import records
from accel_helpers._values.words import (
    factor,
    format_duration,
    format_seconds,
    fragment,
    spanned,
    wrapped,
)
from accel_helpers.fit.profile_result import Profile
from accel_helpers.measure import timing
from accel_helpers.measure.measurement import FEW_SAMPLES, Measurement, Speedup
from accel_helpers.worth.model_load import WORDS
from accel_helpers.worth.step_time import DOES_NOT_FIT, FITS, NOT_KNOWN, ChipRow, Span

WORTH_IT = "worth it"
NOT_WORTH_IT = "not worth it"
HOLDS_BOTH = "the interval holds both"
CANNOT_BE_TOLD = "cannot be told yet"
# the cell of each verdict in the column "pays?", in the order in which chips are advised
PAYS = {WORTH_IT: "probably", HOLDS_BOTH: "perhaps", NOT_WORTH_IT: "no", CANNOT_BE_TOLD: "?"}
HEADS = ("", "pays?", "with set-up", "saves", "pays from", "times as fast")
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
    rows: Sequence[ChipRow]  # the chips
    epochs: int  # of the training
    setup_minutes: float  # that another machine takes first
    steps: int  # of an epoch; 0 where that is not known
    here: Measurement | None  # seconds of a step on this CPU
    notes: tuple[str, ...] = ()  # how far to trust a forecast, or why there is none
    profile: Profile | None = None  # where an epoch goes, and what was tried

    def __post_init__(self):
        rows = [_timed(row, self.seconds, 60 * self.setup_minutes) for row in self.rows]
        object.__setattr__(self, "rows", rows)

    @property
    def seconds(self) -> Span:
        """The seconds of the training on this CPU; 0 where they are not known."""
        low, high = self.here.interval if self.here else (0.0, 0.0)
        steps = self.epochs * self.steps
        return steps * low, steps * high

    @property
    def row(self) -> ChipRow:
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
        if race is None or self.here is None:
            return self
        return replace(self, rows=[measured(race, self.here), *self.rows])

    @property
    def advice(self) -> str:
        """Whether it pays, and what to do: in two or three sentences that name the model."""
        name = self.verdict
        if self.row.measured and name != NOT_WORTH_IT:
            name = f"{name}, measured"
        if self.row.pays_from[0] == math.inf:
            name = "never"
        return self._said(name)

    def _said(self, name: str) -> str:
        """Return the sentence of this name, on the chip of `row`."""
        sentences = records.load(WORDS)["answer"]
        words = self._words(self.row)
        here = _span(self.seconds)
        short = format_seconds(self.row.float16_seconds, digits=2)
        # the names that Keras gives say nothing
        kind, _, _ = self.model.partition("_")
        training = "your training" if kind in ("sequential", "functional") else self.model
        words |= {"training": training, "here": here, "short": short}
        words["early"] = format_duration(self.row.pays_from[0])
        return sentences[name].format(answer=self, row=self.row, **words)

    def _words(self, row: ChipRow) -> dict[str, str]:
        """Return the cells of a chip's row behind its name, in the order of the columns."""
        faster = "?"
        if self._has_factor:
            faster = _span(row.faster, factor)
        pays_from = _span(row.pays_from)
        if row.pays_from[0] == math.inf:
            pays_from = "never"
        return {
            "pays": _pays(row),
            "there": _span(row.seconds),
            "saves": _saved(row, self.seconds),
            "pays_from": pays_from,
            "factor": faster,
        }

    @property
    def _has_factor(self) -> bool:
        """Whether enough was timed here to say how many times as fast a chip is.

        Fewer timings make a verdict, beside the wide interval of a forecast, but no factor.
        """
        return self.here is None or len(self.here.samples) >= FEW_SAMPLES

    @property
    def _texts(self) -> list[str]:
        """What is said beside the table."""
        row = self.row
        name = "factor, measured" if row.measured else "factor"
        if row.faster == NOT_KNOWN or not self._has_factor:
            name = "few"
        texts = [self.advice, " ".join([self._said(name), *self.notes])]
        if self.profile:
            changes = [f"Try {change}" for change in self.profile.advised]
            texts += changes or [self.profile.why_nothing]
            parts = self.profile.parts.in_words()
            texts.append(f"An epoch: {parts}. print(answer.details) tells the rest.")
            return texts
        if row.mostly:
            texts.append(self._said(row.mostly))
        if 0 < row.float16_seconds < CLEAR_CHANGE * row.step[0]:
            texts.append(self._said("float16"))
        return texts

    def __str__(self) -> str:
        lines = [wrapped(text, indent=2) for text in self._texts]
        if self.profile is None:
            lines.insert(0, self.table)
        return "\n".join(lines)

    __repr__ = __str__

    @property
    def details(self) -> str:
        """All that was measured, with its spread, what was tried, and each chip."""
        told = str(self.profile).replace(" profile.change", " answer.profile.change")
        return f"{told}\n{self.table}"

    @property
    def table(self) -> str:
        """The table as text: a row for this machine, and one for each chip."""
        cells = self._cells
        widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
        lines = []
        for row in cells:
            padded = map(str.ljust, row, widths)
            lines.append("  ".join(padded).rstrip())
        return "\n".join(lines)

    def _repr_html_(self) -> str | None:
        """Return the table, and what to do, as HTML for a notebook; None without Jinja2."""
        heads, *rows = self._cells
        return fragment("data/templates/choice/table", heads, rows, self._texts)

    @property
    def _cells(self) -> list:
        """The cells of the table, row by row, below the names of the columns."""
        rows: list = [HEADS]
        if self.here and self.steps:
            rows.append(("this CPU", "-", _span(self.seconds), "-", "-", "1"))
        for row in self.rows:
            chip = f"{row.chip}, {row.price}"
            words = self._words(row)
            rows.append((chip, *words.values()))
        return rows


def _reluctance(row: ChipRow) -> tuple:
    """Return a key for sorting chips: first what was measured, what may pay, what costs nothing."""
    place = Answer.OUTCOMES.index(row.pays)
    return not row.measured, max(place, 1), row.price == "paid", place


def _timed(row: ChipRow, here: Span, setup: float) -> ChipRow:
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
    seconds = (best, worst) if longest else NOT_KNOWN
    return replace(row, seconds=seconds, pays=pays, pays_from=(early, late))


def fed(row: ChipRow, here: Measurement, host: Measurement) -> ChipRow:
    """Return a forecast with feeding and Python as they are on this machine, and times as fast.

    `here` is a step on this machine, and `host` one around a model that computes nothing. The
    interval is as wide as the one that is promised, around the whole: another machine may feed
    faster or slower, too.
    """
    if not row.terms:
        return row
    low_here, high_here = here.interval
    least = high_here / ceiling_of(here, host)
    alone, _, _ = row.step
    whole = alone + host.median
    step = [max(each * whole / alone, least) for each in row.step]
    _, low, high = step
    terms = {**row.terms, "overhead": row.terms["overhead"] + host.median}
    faster = NOT_KNOWN
    if row.memory != DOES_NOT_FIT:
        faster = (low_here / high, high_here / low)
    short = row.float16_seconds
    if short:
        short = max(short + host.median, least)
    return replace(row, terms=terms, step=step, float16_seconds=short, faster=faster)


def ceiling_of(here: Measurement, host: Measurement) -> float:
    """Return how many times as fast as here any chip can be: none shortens feeding and Python.

    It is the upper end of that ratio; inf where fewer than five timings make none.
    """
    if len(here.samples) < FEW_SAMPLES:
        return math.inf
    return timing.compare(here, host, in_turns=True).interval[1]


def any_chip(here: Measurement, host: Measurement) -> ChipRow:
    """Return the row that stands for all chips where there is no forecast: none is faster."""
    ceiling = ceiling_of(here, host)
    return ChipRow("fastest GPU", {}, (host.median, 0.0, math.inf), faster=(0.0, ceiling))


def measured(race: Speedup, here: Measurement) -> ChipRow:
    """Return the row of an accelerator that was timed in turns with the CPU, a step `here`."""
    fast = race.fast
    steps = race.slow.median / here.median
    step = [each / steps for each in (fast.median, *fast.interval)]
    factor = race.interval
    if len(fast.samples) < FEW_SAMPLES:
        factor = NOT_KNOWN
    return ChipRow(fast.name.upper(), {}, step, faster=factor, price="measured")


def _pays(row: ChipRow) -> str:
    """Return the cell that says whether a chip pays, and whether the model fits on it."""
    cell = PAYS[row.pays]
    if row.memory != FITS:
        cell += f", {row.memory}"
    if row.fitting_batch:
        cell += f"; a batch of {row.fitting_batch:,} would"
    return cell


def _saved(row: ChipRow, here: Span) -> str:
    """Return the cell that says how much sooner than `here` a chip is done."""
    if row.seconds == NOT_KNOWN:
        return "?"
    shortest, longest = here
    best, worst = row.seconds
    if longest <= best:
        return "nothing"
    return _span((max(shortest - worst, 0), longest - best))


def _span(span: Sequence[float], write: Callable[[float], str] = format_duration) -> str:
    """Return an interval in words, of which an end may say nothing: it is 0 or infinite."""
    if span == NOT_KNOWN:
        return "?"
    # of what was timed in turns both ends may be long at a time, here and there
    low, high = map(write, sorted(span))
    if math.inf in span:
        return f"at least {low}"
    return spanned(low, high) if span[0] else f"at most {high}"
