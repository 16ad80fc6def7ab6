"""The answer of `forecast`: seconds of a step on each chip, as a table and a few sentences."""

import math
from dataclasses import dataclass
from functools import cached_property

from accel_helpers._values import records
from accel_helpers._values.words import format_seconds, shown, spanned, times, wrapped
from accel_helpers.measure import timing
from accel_helpers.measure.measurement import FEW_SAMPLES, Measurement
from accel_helpers.worth import choice, step_time
from accel_helpers.worth.break_even import WORDS
from accel_helpers.worth.choice import Choice, Held

DIGITS = 2  # of each time that is printed: a forecast knows no more
CLEAR_CHANGE = 0.1  # share of a step; what float16 changes by less than this is not said


@dataclass(frozen=True, repr=False)
class Forecast:
    """The answer of `forecast`; it prints as a table and a few sentences."""

    model: str
    batch_size: int
    dtype: str
    rows: tuple[step_time.Row, ...]
    notes: tuple[str, ...] = ()
    steps: int | None = None  # of an epoch
    here: Measurement | None = None  # seconds of a step on this machine
    host: Measurement | None = None  # the same around a model that computes nothing

    @property
    def measured(self) -> bool:
        """Whether enough steps were timed here for an interval."""
        if self.here is None:
            return False
        return len(self.here.samples) >= FEW_SAMPLES

    @cached_property
    def ceiling(self) -> float:
        """How many times as fast as here a training can be at most, where that was measured.

        It is the upper end of this ratio: a step over a step of the same ``fit`` around a model
        that computes nothing. No chip shortens what is left then, feeding and Python.
        """
        if self.here is None or self.host is None or not self.measured:
            return math.inf
        speedup = timing.compare(self.here, self.host, in_turns=True)
        _, high = speedup.interval
        return high

    def step(self, row: step_time.Row) -> tuple[float, float, float]:
        """Return seconds on a chip, low and high, with the feeding and Python measured here.

        The interval is as wide as the one that is promised, around the whole: another machine may
        be faster or slower at feeding, too. Beside this one no chip gets over the `ceiling`.
        """
        if self.host is None:
            return row.step
        seconds, low, high = row.step
        with_feeding = seconds + self.host.median
        # as wide as before, as a factor
        low_with_feeding = with_feeding * low / seconds
        high_with_feeding = with_feeding * high / seconds
        least = self._least
        return (
            max(with_feeding, least),
            max(low_with_feeding, least),
            max(high_with_feeding, least),
        )

    def float16_step(self, row: step_time.Row) -> float | None:
        """Return the seconds of a step in float16, with feeding; None where that changes little.

        It is said of a float32 model on a T4.
        """
        if row.float16_seconds is None:
            return None
        step, _, _ = self.step(row)
        seconds = row.float16_seconds
        if self.host is not None:
            seconds = max(seconds + self.host.median, self._least)
        if abs(seconds / step - 1) <= CLEAR_CHANGE:
            return None
        return seconds

    def on_float16(self, row: step_time.Row) -> str:
        """Return a sentence on what float16 would make of a chip's step; "" where little."""
        seconds = self.float16_step(row)
        if seconds is None:
            return ""
        sentence = records.load(WORDS, "set of sentences")["forecast"]["float16"]
        return sentence.format(chip=row.chip, step=format_seconds(seconds, DIGITS))

    @property
    def _least(self) -> float:
        """Seconds that a step takes at the ceiling."""
        if self.here is None or not self.measured:
            return 0.0
        _, high = self.here.interval
        return high / self.ceiling

    def capped(self, row: step_time.Row) -> bool:
        """Return whether the ceiling, and not the forecast, is the upper end of `faster`."""
        if self.host is None:
            return False
        _, low, _ = self.step(row)
        return low == self._least

    def faster(self, row: step_time.Row) -> tuple[float, float] | None:
        """Return how many times as fast as this machine, low and high; None if not measured."""
        if self.here is None or not self.measured:
            return None
        _, low, high = self.step(row)
        low_here, high_here = self.here.interval
        # the slowest end there under the fastest end here, and the other way round
        return low_here / high, high_here / low

    def parts(self, chip: str | step_time.Row) -> dict[str, float]:
        """Return the seconds of a step on a chip: compute, memory and overhead.

        Overhead is launching operations, and the feeding and Python that were measured here.
        """
        row = self._row_of(chip)
        parts = {name: row.terms[name] for name in ("compute", "memory", "overhead")}
        if self.host is not None:
            parts["overhead"] += self.host.median
        return parts

    def _row_of(self, chip: str | step_time.Row) -> step_time.Row:
        """Return the first row of a chip, which must have parts; a TPU's has none."""
        for row in self.rows:
            if row is chip or str(chip) in row.chip:
                if row.terms:
                    return row
                break
        with_parts = ", ".join(row.chip for row in self.rows if row.terms)
        raise ValueError(f"this forecast has the parts of {with_parts}; got {shown(chip)}.")

    def shares(self, row: step_time.Row) -> dict[str, float]:
        """Return the share of each part in a step."""
        parts = self.parts(row)
        whole = sum(parts.values())
        shares = {}
        for part, seconds in parts.items():
            shares[part] = seconds / whole
        return shares

    def choices(
        self, *, epochs: int, setup_minutes: float = 5.0, my_hour: float | None = None, race=None
    ) -> Choice:
        """Put every chip beside this machine: minutes in all, minutes saved, and whether it pays.

        Parameters
        ----------
        epochs : int
            Of your training.
        setup_minutes : float, optional
            What another machine costs first: changing the runtime, installing, uploading.
        my_hour : float, optional
            What an hour of yours is worth, in any currency: then a column says above which price
            an hour a chip costs more than the time that it saves is worth.
        race : Speedup, optional
            This CPU and this machine's accelerator, as `compare` timed the training on both.
        """
        return choice.choices(
            self, epochs=epochs, setup_minutes=setup_minutes, my_hour=my_hour, race=race
        )

    def against(self, race) -> Held | None:
        """Say whether the forecast of the attached chip held; None where there was no race."""
        return choice.against(self, race)

    def __str__(self) -> str:
        sentences = records.load(WORDS, "set of sentences")["forecast"]
        # {model}, {dtype} and {batch_size} are fields
        head = sentences["training"].format(**vars(self))
        promise = " ".join(promises(self.rows))
        shares = sentences["shares"]
        lines = [wrapped(f"{head} {promise} {shares}")]
        lines += self._table()
        below = []
        for reason, chips in self._reasons().items():
            names = ", ".join(chips)
            below.append(f"{names}: {sentences[reason]}")
        below += filter(None, map(self.on_float16, self.rows))
        if self.host is not None:
            below.append(self._measured_here(sentences))
        below += self.notes
        lines += [wrapped(text, indent=2) for text in below]
        return "\n".join(lines)

    __repr__ = __str__

    def _table(self) -> list[str]:
        """Return a line for each chip, below one for the columns' names."""
        heads = ["chip", "a step", "interval", "shares, %", "memory"]
        if self.steps:
            heads.append("an epoch")
        if self.here is not None:
            heads.append("times as fast")
        table = [heads]
        for row in self.rows:
            cells = self._cells(row)
            # of a TPU the last ones are missing
            while len(cells) < len(heads):
                cells.append("")
            table.append(cells)
        widths = []
        for column in zip(*table, strict=True):
            widths.append(max(map(len, column)))
        lines = []
        for cells in table:
            padded = [cell.ljust(width) for cell, width in zip(cells, widths, strict=True)]
            lines.append("  ".join(padded).rstrip())
        return lines

    def _cells(self, row: step_time.Row) -> list[str]:
        """Return the cells of a chip's line; the last ones may be missing."""
        if not row.terms:
            # a TPU has no interval: its step is the least time
            least = format_seconds(row.step[0], DIGITS)
            return [row.chip, f"over {least}", "", "", room_in(row)]
        step, low, high = self.step(row)
        percents = [f"{100 * share:.0f}" for share in self.shares(row).values()]
        shares = " + ".join(percents)
        interval = _span(low, high)
        cells = [row.chip, format_seconds(step, DIGITS), interval, shares, room_in(row)]
        if self.steps:
            epoch = _span(self.steps * low, self.steps * high)
            cells.append(epoch)
        faster = self.faster(row)
        if faster is not None:
            low_factor, high_factor = faster
            cells.append(f"{times(low_factor)} to {times(high_factor)}")
        elif self.here is not None:
            samples = samples_of(self.here)
            cells.append(f"{samples}, no interval")
        return cells

    def _reasons(self) -> dict[str, list[str]]:
        """Return the names of the sentences below the table, and the chips that they are on."""
        chips: dict[str, list[str]] = {}
        for row in self.rows:
            for reason in self._reasons_of(row):
                chips.setdefault(reason, []).append(row.chip)
        return chips

    def _reasons_of(self, row: step_time.Row) -> list[str]:
        """Return the names of the sentences on a chip."""
        if not row.terms:
            return ["least"]
        # "compute", "memory" or "overhead" has a sentence of its own
        shares = self.shares(row)
        largest = max(shares, key=shares.__getitem__)
        if row.fitted:
            return [largest]
        return [largest, "new"]

    def _measured_here(self, sentences) -> str:
        """Return what was timed on this machine, and the ceiling that follows."""
        assert self.here is not None and self.host is not None, "both were timed"
        step = self.here.median
        host = self.host.median
        fields = {
            "step": format_seconds(step, DIGITS),
            "epoch": "",
            "host": format_seconds(host, DIGITS),
            "samples": samples_of(self.here),
            "ceiling": times(self.ceiling),
            "middle": times(step / host),
        }
        if self.steps:
            epoch = format_seconds(self.steps * step, DIGITS)
            fields["epoch"] = f" (an epoch {epoch})"
        texts = [sentences["host"].format(**fields)]
        if not self.measured:
            texts.append(sentences["few"].format(**fields))
            return " ".join(texts)
        texts.append(sentences["ceiling"].format(**fields))
        capped = [row.chip for row in self.rows if row.terms and self.capped(row)]
        if capped:
            chips = ", ".join(capped)
            texts.append(sentences["capped"].format(chips=chips, **fields))
        return " ".join(texts)


def _span(low: float, high: float) -> str:
    """Return an interval of seconds, two digits each: "4.1 to 12 ms"."""
    return spanned(format_seconds(low, DIGITS), format_seconds(high, DIGITS))


def room_in(row: step_time.Row) -> str:
    """Return the cell that says whether the model fits, or else which batch would."""
    if not row.fitting_batch:
        return row.memory
    return f"{row.memory}; a batch of {row.fitting_batch:,} would"


def samples_of(measured: Measurement) -> str:
    """Return how many samples a measurement has, in words."""
    count = len(measured.samples)
    if count == 1:
        return "one sample"
    return f"{count} samples"


def promises(rows: tuple[step_time.Row, ...]) -> list[str]:
    """Say how many published benchmarks lie in such intervals; last, of models most like this."""
    sentences = records.load(WORDS, "set of sentences")["forecast"]
    score = step_time.score()
    texts = [sentences["promise"]]
    if any(row.light for row in rows):
        texts.append(sentences["light"].format(**score["light"]))
    # of Keras's own examples, whose steps are shorter than those of most published benchmarks
    small = score["small_keras"]
    steps = []
    for row in rows:
        if row.terms:
            seconds, _, _ = row.step
            steps.append(seconds)
    if steps and min(steps) <= small["longest"]:
        slower = small["rows"] - small["held"]
        texts.append(sentences["small"].format(slower=slower, **small))
    return texts
