"""Pictures of rows: a thing in each, with its dots, the bar of its interval, and what is noted.

They draw what they are given. The learner's own results are blue, reference runs are grey.
"""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from accel_helpers._words import format_seconds, percent
from accel_helpers.measure.measurement import VAGUE, Measurement, Speedup
from accel_helpers.measure.scores import verdict
from accel_helpers.plots import style
from accel_helpers.plots.style import Picture

MOST = 200  # dots in a row; of more, some are drawn


@dataclass(frozen=True)
class Row:
    """A thing: dots, the bar of an interval, a line at the middle, and notes, one a column."""

    name: str
    colour: str
    notes: Sequence[str] = ()
    dots: Sequence[float] = ()
    bar: tuple[float, float] | None = None
    line: float | None = None


def paint(axes, rows: Sequence[Row], heads: Sequence[str], thick: float = 0.24) -> None:
    """Draw rows below each other, with their notes in columns to the right of the axes."""
    for place, row in enumerate(rows):
        if row.bar:
            low, high = row.bar
            axes.barh(place, high - low, thick, low, color=row.colour, alpha=min(1, 2 * thick))
        dots = row.dots[:: len(row.dots) // MOST + 1]
        look = {"ms": 4, "alpha": 0.4} if row.bar and len(dots) > 1 else {"ms": 7, "alpha": 0.75}
        lift = [place + 0.16 * ((7 * k) % 11 / 5 - 1) * (len(dots) > 1) for k in range(len(dots))]
        if dots:  # the layout takes an empty line for one in the corner of the figure
            axes.plot(dots, lift, "o", color=row.colour, mew=0, zorder=3, clip_on=False, **look)
        if row.line is not None:
            axes.plot([row.line], [place], "|", color="black", ms=16, mew=2, zorder=4)
    axes.set_yticks(range(len(rows)), [style.folded(row.name) for row in rows])
    axes.set_ylim(len(rows) - 0.5, -0.5)
    axes.grid(axis="y", visible=False)
    edge = 10  # points to the right of the axes
    font = {"xycoords": axes.get_yaxis_transform(), "textcoords": "offset points"}
    font |= {"fontsize": 10, "annotation_clip": False}
    for head, *notes in zip(heads, *(row.notes for row in rows), strict=True):
        axes.annotate(head, (1, -0.5), (edge, 2), va="bottom", color=style.INK, **font)
        for place, note in enumerate(notes):
            axes.annotate(note, (1, place), (edge, 0), va="center", **font)
        edge += 12 + 5.6 * max(len(line) for text in (head, *notes) for line in text.split("\n"))


def room(names: Sequence[str]) -> float:
    """The inches that rows of these names need."""
    lines = max(style.folded(name).count("\n") + 1 for name in names)
    return len(names) * max(0.5, 0.2 * lines)


def measurements(
    own: Sequence[Measurement], *, title: str, reference: Sequence[Measurement] = ()
) -> Picture:
    """Measurements below each other: every sample a dot, the interval a bar.

    Parameters
    ----------
    own : sequence of Measurement
        The learner's, in blue; their names are the labels.
    title : str
    reference : sequence of Measurement, optional
        Of other machines, in grey.

    Returns
    -------
    Picture

    Examples
    --------
    >>> step = Measurement.from_samples([0.010, 0.011, 0.011, 0.010, 0.012], name="step")
    >>> print(measurements([step], title="A step"))
    Dot plot. A step: step 11 ms.
    """
    marked = [(m, style.OWN) for m in own] + [(m, style.REFERENCE) for m in reference]
    rows = [
        Row(m.name, colour, (format_seconds(m.median),), m.samples, m.interval, m.median)
        for m, colour in marked
    ]
    ends = [end for row in rows for end in (*row.dots, *row.bar)]
    with style.figure(8, 1.3 + room([row.name for row in rows]), title) as (made, axes):
        paint(axes, rows, ["median"])
        _seconds(axes.xaxis, ends, "dot: sample; line: median; bar: 95 % interval")
        said = "; ".join(f"{row.name} {row.notes[0]}" for row in rows)
        return style.picture(made, f"Dot plot. {title}: {said}.")


def parts(values: Mapping[str, float], *, title: str, own: bool = True) -> Picture:
    """One bar in pieces, a row for each with its share.

    Parameters
    ----------
    values : mapping of str to float
        Name of a part to its seconds, in the order in which they are drawn.
    title : str
    own : bool, optional
        The learner's (coloured) or a reference machine's (grey).

    Returns
    -------
    Picture

    Examples
    --------
    >>> print(parts({"products": 0.001, "the rest": 0.003}, title="A step"))
    Bar in pieces. A step: products 1 ms; the rest 3 ms.
    """
    total, left, rows = sum(values.values()), 0.0, []
    for i, (name, seconds) in enumerate(values.items()):
        notes = (format_seconds(seconds), percent(seconds / total))
        rows.append(Row(name, style.palette(own)[i % 3], notes, bar=(left, left + seconds)))
        left += seconds
    with style.figure(8, 1.1 + room(values), title) as (made, axes):
        paint(axes, rows, ["time", "share"], thick=0.62)
        style.scale(axes.xaxis, 0, total, format_seconds)
        axes.set(xlabel="time of one step, from left to right")
        said = "; ".join(f"{row.name} {row.notes[0]}" for row in rows)
        return style.picture(made, f"Bar in pieces. {title}: {said}.")


def climb(
    steps: Mapping[str, Measurement],
    gains: Mapping[str, Speedup],
    accuracy: Mapping[str, float],
    *,
    title: str,
    own: bool = True,
) -> Picture:
    """A ladder of changes to a training: how many times as fast each is as the first.

    Parameters
    ----------
    steps : mapping of str to Measurement
        Name of a step to the seconds of one epoch, from top to bottom; the first is the start.
    gains : mapping of str to Speedup
        Every other step against the first. Where the interval is wide or the two cannot be told
        apart, words stand in the place of a ratio.
    accuracy : mapping of str to float
        Share of the test data that was right after equally many epochs; a step may be missing.
    title : str
    own : bool, optional
        The learner's (blue) or a reference machine's (grey).

    Returns
    -------
    Picture

    Examples
    --------
    >>> start = Measurement.from_samples([1.0, 1.1, 1.0, 1.2, 1.1, 1.0])
    >>> print(climb({"default fit": start}, {}, {"default fit": 0.97}, title="Before the climb"))
    Ladder. Before the climb: default fit: the start, 1.05 s, 97.0 % right.
    """
    colour, rows, said, ends = style.OWN if own else style.REFERENCE, [], [], [1.0]
    first = next(iter(steps))
    for name, step in steps.items():
        right = f"{100 * accuracy[name]:.1f} %" if accuracy.get(name) is not None else "–"
        text, drawn = "the start", {"dots": (1.0,)}
        if name != first:
            gain = gains[name]
            text, drawn = _gain(gain), {"bar": gain.interval}
            ends += gain.interval
            if _sure(gain):
                drawn["line"] = gain.ratio
        rows.append(Row(name, colour, (text, format_seconds(step.median), right), **drawn))
        correct = "" if right == "–" else f", {right} right"
        said.append(f"{name}: {text}, {rows[-1].notes[1]}{correct}")
    with style.figure(8.4, 1.5 + room(steps), title) as (made, axes):
        paint(axes, rows, ["times as fast", "one\nepoch", "right on\ntest data"])
        axes.axvline(1, color=style.LINE, lw=1, zorder=0.9)
        for place, row in enumerate(rows):
            if row.line:
                axes.plot([1, row.line], [place] * 2, color=colour, lw=1.2, zorder=0.9)
        style.scale(axes.xaxis, min(ends) / 1.15, 1.15 * max(ends), style.plain, log=True)
        start = textwrap.shorten(first, 30, placeholder=" …")
        axes.set(xlabel=f"times as fast as {start} (log scale)\nline: ratio; bar: interval")
        return style.picture(made, f"Ladder. {title}: {'; '.join(said)}.")


def shares(
    rows: Mapping[str, Sequence[float]],
    *,
    title: str,
    intervals: Mapping[str, tuple[float, float]] | None = None,
    start: float = 0,
    own: bool = True,
) -> Picture:
    """Shares of right answers, a row for each thing that was tried.

    Parameters
    ----------
    rows : mapping of str to sequence of float
        Name to shares from 0 to 1; where a row has several, their mean is marked.
    title : str
    intervals : mapping of str to tuple of float, optional
        Name to the ends of an interval, from 0 to 1; a row may have none.
    start : float, optional
        Where the axis begins, in %; 0 where something lies below it.
    own : bool, optional
        The learner's (blue) or a reference machine's (grey).

    Returns
    -------
    Picture

    Examples
    --------
    >>> print(shares({"before": [0.7, 0.8], "after": [0.9]}, title="A change"))
    Dot plot of right answers. A change: before 75.0 %; after 90.0 %.
    """
    intervals = intervals or {}
    drawn = _shares(rows, style.OWN if own else style.REFERENCE, intervals)
    lowest = min(end for row in drawn for end in (*row.dots, *(row.bar or ())))
    start = start if lowest > start else 0
    begins = f"; the axis begins at {start:g}" if start else ""
    bar = "; bar: 95 % interval" if intervals else ""
    with style.figure(8, 1.3 + room(rows), title) as (made, axes):
        paint(axes, drawn, ["right"])
        style.scale(axes.xaxis, start, 100, style.plain)
        axes.set(xlabel=f"right answers, in %{bar}{begins}")
        said = "; ".join(f"{row.name} {row.notes[0]}" for row in drawn)
        return style.picture(made, f"Dot plot of right answers{begins}. {title}: {said}.")


def ladder(
    rows: Mapping[str, Sequence[float]],
    changes: Mapping[str, tuple[float, float, float]],
    *,
    title: str,
    own: bool = True,
) -> Picture:
    """Models one change apart: on the left how good they are, on the right what changed.

    Parameters
    ----------
    rows : mapping of str to sequence of float
        Name to shares of right answers from 0 to 1, one for every seed.
    changes : mapping of str to tuple of float
        Name to the difference from the row above, and the low and high end of its interval; 0.01
        is one percentage point. The first row has none.
    title : str
    own : bool, optional
        The learner's (blue) or a reference machine's (grey).

    Returns
    -------
    Picture

    Examples
    --------
    >>> print(ladder({"a": [0.7], "b": [0.9]}, {"b": (0.2, 0.1, 0.3)}, title="One step"))
    Two plots, a row for each model. One step: a 70.0 %; b 90.0 %, +20.0 points (+10.0 to +30.0), \
better.
    """
    colour = style.OWN if own else style.REFERENCE
    left, right = _shares(rows, colour), []
    said = [f"{row.name} {row.notes[0]}" for row in left]
    for place, name in enumerate(rows):
        drawn, note = {}, ""
        if name in changes:
            difference, low, high = (100 * value for value in changes[name])
            drawn, note = {"bar": (low, high), "line": difference}, verdict(low, high)
            said[place] += f", {difference:+.1f} points ({low:+.1f} to {high:+.1f}), {note}"
        right.append(Row(name, colour, (note.replace(" measurable ", " measurable\n"),), **drawn))
    with style.figure(8.6, 1.5 + room(rows), title, panels=2) as (made, (one, two)):
        paint(one, left, ["mean"])
        paint(two, right, ["verdict"])
        lowest = min(value for row in left for value in row.dots)
        style.scale(one.xaxis, max(0, lowest - 3), 100, style.plain)
        one.set(xlabel="right answers, in %\ndot: one seed; line: mean")
        two.set(xlabel="change, in points\nbar: 95 % interval")
        two.axvline(0, color="black", lw=1.2)
        two.tick_params(axis="y", length=0)
        return style.picture(made, f"Two plots, a row for each model. {title}: {'; '.join(said)}.")


# ---------------------------------------------------------------------------------------------


def _shares(rows, colour, intervals=()) -> list[Row]:
    """Rows of shares, in %, with their mean beside them."""
    made = []
    for name, values in rows.items():
        dots = [100 * value for value in values]
        mean = sum(dots) / len(dots)
        bar = tuple(100 * end for end in intervals[name]) if name in intervals else None
        line = mean if len(dots) > 1 else None
        made.append(Row(name, colour, (f"{mean:.1f} %",), dots, bar, line))
    return made


def _seconds(axis, ends, label) -> None:
    """An axis of seconds, log where they reach far."""
    log = max(ends) > 8 * min(ends)
    low, high = (min(ends) / 1.15, 1.15 * max(ends)) if log else (0, 1.08 * max(ends))
    style.scale(axis, low, high, format_seconds, log=log)
    axis.axes.set(xlabel=label + (" (log scale)" if log else ""))


def _sure(gain: Speedup) -> bool:
    low, high = gain.interval
    return gain.conclusive and high <= VAGUE * low


def _gain(gain: Speedup) -> str:
    low, high = gain.interval
    if not gain.conclusive:
        return "no measurable difference"
    if not _sure(gain):
        return f"between {style.short(low)} and {style.short(high)} times"
    text = style.short if gain.ratio >= 2 else "{:.3g}".format
    return f"{text(gain.ratio)} times ({text(low)} to {text(high)})"
