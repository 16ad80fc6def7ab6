"""Pictures of rows: a thing in each, with its dots, the bar of its interval, and what is noted."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from accel_helpers._words import format_seconds, percent
from accel_helpers.measure.measurement import VAGUE, Measurement, Speedup
from accel_helpers.measure.scores import verdict
from accel_helpers.plots import style
from accel_helpers.plots.style import Numbers, Picture


@dataclass(frozen=True)
class Row:
    """A thing: dots, the bar of an interval, a line at the middle, and notes, one a column."""

    name: str
    colour: str
    notes: Sequence[str]
    dots: Sequence[float] = ()
    bar: Sequence[float] = ()
    line: float | None = None


def paint(axes, rows: Sequence[Row], heads: Sequence[str], thick=0.24) -> None:
    """Draw rows below each other, with their notes in columns to the right of the axes."""
    for place, row in enumerate(rows):
        if row.bar:
            low, high = row.bar
            axes.barh(place, high - low, thick, low, color=row.colour, alpha=min(1, 2 * thick))
        several = len(row.dots) > 1
        look = {"ms": 4, "alpha": 0.4} if row.bar and several else {"ms": 7, "alpha": 0.75}
        lift = [place + 0.16 * ((7 * k) % 11 / 5 - 1) * several for k in range(len(row.dots))]
        if row.dots:  # the layout takes an empty line for one in the corner of the figure
            axes.plot(row.dots, lift, "o", color=row.colour, mew=0, zorder=3, clip_on=False, **look)
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


def room(rows: Sequence[Row]) -> float:
    """The inches that rows need."""
    lines = max(style.folded(row.name).count("\n") + 1 for row in rows)
    return len(rows) * max(0.5, 0.2 * lines)


def _alone(rows, heads, said, title, axis, *, log=False, thick=0.24) -> Picture:
    """A picture of rows, with the first note of each in its sentence."""
    with style.figure(8, 1.3 + room(rows), title) as (figure, axes):
        paint(axes, rows, heads, thick)
        style.scale(axes.xaxis, *axis, log=log)
        noted = "; ".join(f"{row.name} {row.notes[0]}" for row in rows)
        return style.picture(figure, f"{said}: {noted}.")


def measurements(
    own: Sequence[Measurement], *, title: str, reference: Sequence[Measurement] = ()
) -> Picture:
    """Measurements below each other: every sample a dot, the interval a bar.

    Parameters
    ----------
    own, reference : sequences of Measurement, the learner's and those of other machines

    Examples
    --------
    >>> step = Measurement.from_samples([0.010, 0.011, 0.011, 0.010, 0.012], name="step")
    >>> print(measurements([step], title="A step"))
    Dot plot. A step: step 11 ms.
    """
    rows = [
        Row(m.name, colour, (format_seconds(m.median),), m.samples, m.interval, m.median)
        for colour, several in ((style.OWN, own), (style.REFERENCE, reference))
        for m in several
    ]
    ends = [end for row in rows for end in (*row.dots, *row.bar)]
    log = max(ends) > 8 * min(ends)
    low, high = (min(ends) / 1.15, 1.15 * max(ends)) if log else (0, 1.08 * max(ends))
    xlabel = "dot: sample; line: median; bar: 95 % interval" + (" (log scale)" if log else "")
    axis = (xlabel, low, high, format_seconds)
    return _alone(rows, ["median"], f"Dot plot. {title}", title, axis, log=log)


def parts(values: Mapping[str, float], *, title: str, own: bool = True) -> Picture:
    """One bar in pieces, given by name in seconds, and a row for each with its share.

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
    axis = ("time of one step, from left to right", 0, total, format_seconds)
    return _alone(rows, ["time", "share"], f"Bar in pieces. {title}", title, axis, thick=0.62)


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
    steps : mapping of a name to the Measurement of an epoch, the first one where the climb starts
    gains : mapping of every other name to its Speedup over the first
    accuracy : mapping of a name to the share of the test data that was right at the end

    Examples
    --------
    >>> start = Measurement.from_samples([1.0, 1.1, 1.0, 1.2, 1.1, 1.0])
    >>> print(climb({"default fit": start}, {}, {"default fit": 0.97}, title="Before the climb"))
    Ladder. Before the climb: default fit: the start, 1.05 s, 97.0 % right.
    """
    first, colour = next(iter(steps)), style.OWN if own else style.REFERENCE
    rows, said, ends = [], [], [1.0]
    for name, step in steps.items():
        right = f"{100 * accuracy[name]:.1f} %"
        text, drawn = ("the start", {"dots": (1.0,)}) if name == first else _gain(gains[name])
        ends += drawn.get("bar", ())
        rows.append(Row(name, colour, (text, format_seconds(step.median), right), **drawn))
        said.append(f"{name}: {text}, {rows[-1].notes[1]}, {right} right")
    with style.figure(8.4, 1.5 + room(rows), title) as (figure, axes):
        paint(axes, rows, ["times as fast", "one\nepoch", "right on\ntest data"])
        axes.axvline(1, color=style.LINE, lw=1, zorder=0.9)
        for place, row in enumerate(rows):
            if row.line:
                axes.plot([1, row.line], [place] * 2, color=colour, lw=1.2, zorder=0.9)
        label = f"times as fast as {first} (log scale)\nline: ratio; bar: interval"
        style.scale(axes.xaxis, label, min(ends) / 1.15, 1.15 * max(ends), style.plain, log=True)
        return style.picture(figure, f"Ladder. {title}: {'; '.join(said)}.")


def _gain(gain: Speedup) -> tuple[str, dict]:
    """In words, and what of it is drawn: the ratio only where it is known well."""
    (low, high), bar = gain.interval, {"bar": gain.interval}
    if not gain.conclusive:
        return "no measurable difference", bar
    if high > VAGUE * low:
        return f"between {style.short(low)} and {style.short(high)} times", bar
    text = style.short if gain.ratio >= 2 else "{:.3g}".format
    return f"{text(gain.ratio)} times ({text(low)} to {text(high)})", bar | {"line": gain.ratio}


def shares(
    rows: Numbers, *, title: str, intervals: Numbers | None = None, start: int = 0, own: bool = True
) -> Picture:
    """Dots for shares of right answers, a row for each thing that was tried.

    Parameters
    ----------
    rows : mapping of a name to shares from 0 to 1; where there are several their mean is marked
    intervals : mapping of names, not all perhaps, to the two ends of an interval
    start : int, where the axis begins, in %; 0 where something lies below it

    Examples
    --------
    >>> print(shares({"before": [0.7, 0.8], "after": [0.9]}, title="A change"))
    Dot plot of right answers. A change: before 75.0 %; after 90.0 %.
    """
    drawn = _shares(rows, intervals or {}, own)
    lowest = min(end for row in drawn for end in (*row.dots, *row.bar))
    start = start if lowest > start else 0
    begins = f"; the axis begins at {start:g}" if start else ""
    bar = "; bar: 95 % interval" if intervals else ""
    axis = (f"right answers, in %{bar}{begins}", start, 100, style.plain)
    return _alone(drawn, ["right"], f"Dot plot of right answers{begins}. {title}", title, axis)


def ladder(rows: Numbers, changes: Numbers, *, title: str, own: bool = True) -> Picture:
    """Two plots of models one change apart: how good they are, and how much each change did.

    Parameters
    ----------
    rows : mapping of a name to shares of right answers from 0 to 1, one for every seed
    changes : mapping of a name to (difference from the row above, the ends of its interval)

    Examples
    --------
    >>> print(ladder({"a": [0.7], "b": [0.9]}, {"b": (0.2, 0.1, 0.3)}, title="One step"))
    Two plots, a row for each model. One step: a 70.0 %; b 90.0 %, +20.0 points (+10.0 to +30.0), \
better.
    """
    left, right = _shares(rows, {}, own), []
    said = [f"{row.name} {row.notes[0]}" for row in left]
    for place, row in enumerate(left):
        change, bar, note = None, (), ""
        if row.name in changes:
            change, low, high = (100 * value for value in changes[row.name])
            bar, note = (low, high), verdict(low, high)
            said[place] += f", {change:+.1f} points ({low:+.1f} to {high:+.1f}), {note}"
        note = note.replace(" measurable ", " measurable\n")
        right.append(Row(row.name, row.colour, (note,), bar=bar, line=change))
    with style.figure(8.6, 1.5 + room(left), title, panels=2) as (figure, (one, two)):
        paint(one, left, ["mean"])
        paint(two, right, ["verdict"])
        lowest = min(value for row in left for value in row.dots)
        label = "right answers, in %\ndot: one seed; line: mean"
        style.scale(one.xaxis, label, max(0, lowest - 3), 100, style.plain)
        two.set(xlabel="change, in points\nbar: 95 % interval")
        two.axvline(0, color="black", lw=1.2)
        two.tick_params(axis="y", length=0)
        alt = f"Two plots, a row for each model. {title}: {'; '.join(said)}."
        return style.picture(figure, alt)


def _shares(rows: Numbers, intervals: Numbers, own: bool) -> list[Row]:
    """Rows of shares, in %, with their mean beside them."""
    made = []
    for name, values in rows.items():
        dots = [100 * value for value in values]
        mean = sum(dots) / len(dots)
        bar = [100 * end for end in intervals.get(name, ())]
        line, colour = mean if len(dots) > 1 else None, style.OWN if own else style.REFERENCE
        made.append(Row(name, colour, (f"{mean:.1f} %",), dots, bar, line))
    return made
