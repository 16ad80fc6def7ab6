"""Pictures of rows: a thing in each, with its dots, the bar of its interval, and what is noted."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from accel_helpers._values.words import format_seconds
from accel_helpers.measure.measurement import Measurement
from accel_helpers.plots import style
from accel_helpers.plots.style import Picture

EXACT = "Bars: 95 % intervals."  # of what is counted; those of few timings can be wider


@dataclass(frozen=True)
class Row:
    """A thing: dots, the bar of an interval, a line at the middle, and notes, one a column."""

    name: str
    colour: str
    notes: Sequence[str]
    dots: Sequence[float] = ()
    bar: Sequence[float] = ()
    line: float | None = None


@dataclass(frozen=True)
class ValueAxis:
    """The axis that all rows share: what it says, its ends, and how its numbers are written."""

    label: str
    low: float
    high: float
    text: Callable[[float], str]
    log: bool = False


def paint(axes, rows: Sequence[Row], heads: Sequence[str], thick=0.3) -> None:
    """Draw rows below each other, with their notes in columns to the right of the axes."""
    for height, row in enumerate(rows):
        if row.bar:
            _paint_bar(axes, row, height, thick)
        # The layout would take an empty list of dots for one in the corner of the figure.
        if row.dots:
            _paint_dots(axes, row, height)
        if row.line is not None:
            axes.plot([row.line], [height], "|", color="black", ms=11, mew=1.6, zorder=4)
    _write_names(axes, rows)
    _write_notes(axes, rows, heads)


def _paint_bar(axes, row: Row, height: float, thick: float) -> None:
    """Draw the bar of a row: pale where it is an interval, full where it is a thick piece."""
    low, high = row.bar
    width = high - low
    alpha = 0.4
    if thick > 0.3:
        alpha = 1
    axes.barh(height, width, thick, low, color=row.colour, alpha=alpha)


def _paint_dots(axes, row: Row, height: float) -> None:
    """Draw the dots of a row, several of them at slightly different heights."""
    count = len(row.dots)
    heights = [height]
    if count > 1:
        heights = [height + _dot_shift(place) for place in range(count)]
    look = {"ms": 5.5, "alpha": 0.75}
    if count > 1 and row.bar:
        # The bar is to be seen between its dots.
        look = {"ms": 3, "alpha": 0.5}
    axes.plot(row.dots, heights, "o", color=row.colour, mew=0, zorder=3, clip_on=False, **look)


def _dot_shift(place: int) -> float:
    """How far below its row a dot lies: the same in every picture, though it looks like chance."""
    step = 7 * place % 11
    return 0.16 * (step / 5 - 1)


def _write_names(axes, rows: Sequence[Row]) -> None:
    """Write the names of rows to the left of the axes, and end the axes where the rows do."""
    names = [style.folded(row.name) for row in rows]
    axes.set_yticks(range(len(rows)), names)
    # Heights are counted from the top.
    axes.set_ylim(len(rows) - 0.5, -0.5)
    axes.grid(axis="y", visible=False)


def _write_notes(axes, rows: Sequence[Row], heads: Sequence[str]) -> None:
    """Write the notes of rows to the right of the axes, a column for each head."""
    offset = 8  # points to the right of the axes
    for column, head in enumerate(heads):
        _write_note(axes, head, -0.5, (offset, 2), "bottom", style.INK)
        texts = [head]
        for height, row in enumerate(rows):
            note = row.notes[column]
            _write_note(axes, note, height, (offset, 0), "center_baseline", "black")
            texts.append(note)
        letters = _letters(texts)
        offset += 10 + 5 * letters


def _write_note(axes, text: str, height: float, offset, va: str, colour: str) -> None:
    """Write a text at a height, so many points from the right edge of the axes."""
    # The place is a share of the axes' width, and a height of the data.
    look = {"xycoords": axes.get_yaxis_transform(), "textcoords": "offset points"}
    look |= {"va": va, "color": colour, "fontsize": 9}
    axes.annotate(text, (1, height), offset, annotation_clip=False, **look)


def _letters(texts: Iterable[str]) -> int:
    """The number of letters in the longest line of some texts."""
    most_letters = 0
    for text in texts:
        for line in text.split("\n"):
            most_letters = max(most_letters, len(line))
    return most_letters


def room(rows: Sequence[Row]) -> float:
    """The inches that rows need."""
    most_lines = 1
    for row in rows:
        name = style.folded(row.name)
        lines = name.count("\n") + 1
        most_lines = max(most_lines, lines)
    row_height = max(0.31, 0.17 * most_lines)
    return len(rows) * row_height


def draw_rows(
    kind: str,
    rows: Sequence[Row],
    heads: Sequence[str],
    axis: ValueAxis,
    *,
    title: str,
    under: str = "",
    thick: float = 0.3,
) -> Picture:
    """Draw a picture that is rows alone.

    Parameters
    ----------
    kind : str
        What sort of picture it is; its alt text begins with it.
    rows : sequence of Row
        From the top down.
    heads : sequence of str
        What stands above each column of notes.
    axis : ValueAxis
        The axis of the values.
    title, under : str
        The title, and the note below it.
    thick : float
        How thick bars are; those over 0.3 are drawn in full colour.
    """
    height = 0.95 + room(rows)
    with style.figure(style.WIDE, height, title, under=under) as (figure, axes):
        paint(axes, rows, heads, thick)
        style.scale(axes.xaxis, axis.label, axis.low, axis.high, axis.text, log=axis.log)
        texts = [f"{row.name} {row.notes[0]}" for row in rows]
        content = "; ".join(texts)
        return style.picture(figure, f"{kind}. {title}: {content}.")


def values_of(rows: Iterable[Row]) -> list[float]:
    """Every value that rows show: their dots, and the ends of their bars."""
    values: list[float] = []
    for row in rows:
        values += row.dots
        values += row.bar
    return values


def measurements(timings: Sequence[Measurement], *, title: str) -> Picture:
    """Draw measurements below each other: every sample a dot, the interval a bar.

    >>> step = Measurement.from_samples([0.010, 0.011, 0.011, 0.010, 0.012], name="step")
    >>> print(measurements([step], title="A step"))
    Dot plot. A step: step 11 ms.
    """
    note = f"Dots: single timings. {style.BARS}"
    rows = [_timing_row(timing) for timing in timings]
    seconds = values_of(rows)
    axis = _time_axis(seconds)
    return draw_rows("Dot plot", rows, ["median"], axis, title=title, under=note)


def _timing_row(timing: Measurement) -> Row:
    """The row of a measurement."""
    median = timing.median
    notes = (format_seconds(median),)
    return Row(timing.name, style.OWN, notes, timing.samples, timing.interval, median)


def _time_axis(seconds: Sequence[float]) -> ValueAxis:
    """The axis of times: from 0 on, or logarithmic where they are far apart."""
    shortest = min(seconds)
    longest = max(seconds)
    if longest > 8 * shortest:
        low = shortest / 1.15
        high = 1.15 * longest
        return ValueAxis("time", low, high, format_seconds, log=True)
    high = 1.08 * longest
    return ValueAxis("time", 0, high, format_seconds)
