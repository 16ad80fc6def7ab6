"""Pictures of rows: a thing in each, with its dots, the bar of its interval, and what is noted."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate

from accel_helpers._values.words import format_seconds, percent
from accel_helpers.measure.measurement import SAME, Measurement
from accel_helpers.measure.results import Reference
from accel_helpers.measure.scores import verdict
from accel_helpers.plots import style
from accel_helpers.plots.style import Numbers, Picture

EXACT = "Bars: 95 % intervals."  # of what is counted; those of few timings can be wider


@dataclass(frozen=True)
class Row:
    """A thing: dots, the bar of an interval, a line at the middle, and notes, one a column."""

    name: str  # without one it belongs to the row above it
    colour: str
    notes: Sequence[str]
    dots: Sequence[float] = ()
    bar: Sequence[float] = ()
    line: float | None = None


def beneath(own: Sequence[Row], grey: Sequence[Row] = ()) -> list[Row]:
    """Each row with the grey one of its name beneath it; then the grey ones of other names."""
    same = {row.name: replace(row, name="") for row in grey}
    names = {row.name for row in own}
    rows = [row for mine in own for row in (mine, same.get(mine.name)) if row]
    return rows + [row for row in grey if row.name not in names]


def places(rows: Sequence[Row]) -> list[float]:
    """Where rows lie, from the top: what belongs together is close."""
    return list(accumulate([0, *(0.62 if not row.name else 1 for row in rows[1:])]))


def paint(axes, rows: Sequence[Row], heads: Sequence[str], thick=0.3) -> None:
    """Draw rows below each other, with their notes in columns to the right of the axes."""
    at = places(rows)
    for place, row in zip(at, rows, strict=True):
        if row.bar:
            low, high = row.bar
            axes.barh(place, high - low, thick, low, color=row.colour, alpha=(0.4, 1)[thick > 0.3])
        several = len(row.dots) > 1
        look = {"ms": 3, "alpha": 0.5} if row.bar and several else {"ms": 5.5, "alpha": 0.75}
        lift = [place + 0.16 * ((7 * k) % 11 / 5 - 1) * several for k in range(len(row.dots))]
        if row.dots:  # the layout takes an empty line for one in the corner of the figure
            axes.plot(row.dots, lift, "o", color=row.colour, mew=0, zorder=3, clip_on=False, **look)
        if row.line is not None:
            axes.plot([row.line], [place], "|", color="black", ms=11, mew=1.6, zorder=4)
    named = [place for place, row in zip(at, rows, strict=True) if row.name]
    axes.set_yticks(named, [style.folded(row.name) for row in rows if row.name])
    axes.set_ylim(at[-1] + 0.5, -0.5)
    axes.grid(axis="y", visible=False)
    edge = 8  # points to the right of the axes
    font = {"xycoords": axes.get_yaxis_transform(), "textcoords": "offset points"}
    font |= {"fontsize": 9, "annotation_clip": False}
    for head, *notes in zip(heads, *(row.notes for row in rows), strict=True):
        axes.annotate(head, (1, -0.5), (edge, 2), va="bottom", color=style.INK, **font)
        for place, row, note in zip(at, rows, notes, strict=True):
            colour = style.SAID if row.colour in style.GREYS else "black"
            axes.annotate(note, (1, place), (edge, 0), va="center_baseline", color=colour, **font)
        edge += 10 + 5 * max(len(line) for text in (head, *notes) for line in text.split("\n"))


def room(rows: Sequence[Row]) -> float:
    """The inches that rows need."""
    lines = max(style.folded(row.name).count("\n") + 1 for row in rows)
    return (places(rows)[-1] + 1) * max(0.31, 0.17 * lines)


def _alone(kind, drawn, heads, title, under, axis, *, log=False, thick=0.3) -> Picture:
    """A picture of rows; `drawn` has a list of them for each machine, and how its words begin."""
    rows = beneath(*drawn.values())
    with style.figure(style.WIDE, 0.95 + room(rows), title, under=under) as (figure, axes):
        paint(axes, rows, heads, thick)
        style.scale(axes.xaxis, *axis, log=log)
        noted = [p + "; ".join(f"{r.name} {r.notes[0]}" for r in made) for p, made in drawn.items()]
        return style.picture(figure, f"{kind}. {title}: {'; '.join(noted)}.")


def measurements(
    own: Sequence[Measurement], *, title: str, reference: Reference | None = None
) -> Picture:
    """Measurements below each other: every sample a dot, the interval a bar.

    >>> step = Measurement.from_samples([0.010, 0.011, 0.011, 0.010, 0.012], name="step")
    >>> print(measurements([step], title="A step"))
    Dot plot. A step: step 11 ms.
    """
    sides, under = style.sides(own, reference, f"Dots: single timings. {style.BARS}")
    drawn, text = {}, format_seconds
    for several, mine, start in sides:
        made = ((m.name, (text(m.median),), m.samples, m.interval, m.median) for m in several)
        drawn[start] = [Row(name, style.palette(mine)[0], *more) for name, *more in made]
    ends = [end for rows in drawn.values() for row in rows for end in (*row.dots, *row.bar)]
    log = max(ends) > 8 * min(ends)
    low, high = (min(ends) / 1.15, 1.15 * max(ends)) if log else (0, 1.08 * max(ends))
    axis = ("time", low, high, format_seconds)
    return _alone("Dot plot", drawn, ["median"], title, under, axis, log=log)


def parts(
    values: Mapping[str, float], *, title: str, reference: Reference | None = None
) -> Picture:
    """One bar in pieces, given by name in seconds, and a row for each with its share.

    >>> print(parts({"compute": 0.001, "overhead": 0.003}, title="A step"))
    Bar in pieces. A step: 75 % overhead: compute 1 ms; overhead 3 ms.
    """
    sides, under = style.sides(values, reference)
    drawn, longest = {}, max(sum(pieces.values()) for pieces, *_ in sides)
    for pieces, mine, start in sides:
        total, left, drawn[start] = sum(pieces.values()), 0.0, []
        for i, (name, seconds) in enumerate(pieces.items()):
            notes = (format_seconds(seconds), percent(seconds / total))
            row = Row(name, style.palette(mine)[i % 3], notes, bar=(left, left + seconds))
            drawn[start].append(row)
            left += seconds
    most = max(first := sides[0][0], key=first.get)
    title += f": {percent(first[most] / sum(first.values()))} {most}" * (len(first) > 1)
    axis, heads = ("time of one step", 0, longest, format_seconds), ["time", "share"]
    return _alone("Bar in pieces", drawn, heads, title, under, axis, thick=0.62)


def shares(
    rows: Numbers,
    intervals: Numbers | None = None,
    *,
    title: str,
    start: int = 0,
    reference: Reference | None = None,
) -> Picture:
    """Dots for shares of right answers, a row for each thing that was tried.

    Parameters
    ----------
    rows : mapping of a name to shares from 0 to 1; where there are several their mean is marked
    intervals : mapping of names, not all perhaps, to the two ends of an interval
    start : int, where the axis begins, in %; 0 where something lies below it
    reference : results.Reference, of a tuple: the rows and the intervals

    Examples
    --------
    >>> print(shares({"before": [0.7, 0.8], "after": [0.9]}, title="A change"))
    Dot plot of right answers. A change: before 75.0 %; after 90.0 %.
    """
    sides, under = style.sides((rows, intervals or {}) if rows else None, reference, EXACT)
    drawn = {words: _shares(*of, mine) for of, mine, words in sides}
    lowest = min(end for of in drawn.values() for row in of for end in (*row.dots, *row.bar))
    start = start if lowest > start else 0
    begins = f"; the axis begins at {start:g}" if start else ""
    axis = (f"right answers, in %{begins}", start, 100, style.plain)
    return _alone(f"Dot plot of right answers{begins}", drawn, ["right"], title, under, axis)


def ladder(
    rows: Numbers, changes: Numbers, *, title: str, reference: Reference | None = None
) -> Picture:
    """Two plots of models one change apart: how good they are, and how much each change did.

    Parameters
    ----------
    rows : mapping of a name to shares of right answers from 0 to 1, one for every seed
    changes : mapping of a name to (difference from the row above, the ends of its interval)
    reference : results.Reference, of a tuple of the two

    Examples
    --------
    >>> print(ladder({"a": [0.7], "b": [0.9]}, {"b": (0.2, 0.1, 0.3)}, title="One step"))
    Two plots, a row for each model. One step: a 70.0 %; b 90.0 %, +20.0 points (+10.0 to +30.0), \
better.
    """
    note = f"Dots: one training run each. {EXACT}"
    sides, under = style.sides((rows, changes) if rows else None, reference, note)
    lefts, rights, said = [], [], []
    ends = [-1.0, 1.0]  # of the right axis, in points
    for (scores, steps), mine, start in sides:
        lefts.append(_shares(scores, {}, mine))
        rights.append([])
        for row in lefts[-1]:
            change, bar, notes, words = None, (), ("", ""), f"{row.name} {row.notes[0]}"
            if row.name in steps:
                change, low, high = (100 * value for value in steps[row.name])
                bar, outcome = (low, high), verdict(low, high)
                ends += bar
                interval = f"{change:+.1f} ({low:+.1f} to {high:+.1f})"
                notes = (interval, outcome.replace(SAME, "not measurable"))
                words += f", {interval.replace(' (', ' points (')}, {outcome}"
            rights[-1].append(Row(row.name, row.colour, notes, bar=bar, line=change))
            said.append(start + words if row is lefts[-1][0] else words)
    left = beneath(*lefts)
    with style.figure(7.4, 1 + room(left), title, 2, under) as (figure, (one, two)):
        paint(one, left, ["mean"])
        paint(two, beneath(*rights), ["change, in points", "verdict"])
        lowest = min(value for row in left for value in row.dots)
        style.scale(one.xaxis, "right answers, in %", max(0, lowest - 3), 100, style.plain)
        _around_zero(two, 1.3 * min(ends), 1.3 * max(ends))
        two.set(xlabel="points (log scale beyond 1)")
        two.tick_params(axis="y", length=0)
        alt = f"Two plots, a row for each model. {title}: {'; '.join(said)}."
        return style.picture(figure, alt)


def _around_zero(axes, low: float, high: float) -> None:
    """An axis on which a small interval that crosses 0 is seen beside a large one."""
    from matplotlib.ticker import FixedLocator

    axes.set_xscale("symlog", linthresh=1)
    axes.set_xlim(low, high)
    sizes = (1, 10, 100)
    ticks = [0, *sizes, *(-size for size in sizes)]
    axes.xaxis.set_major_locator(FixedLocator([tick for tick in ticks if low <= tick <= high]))
    axes.xaxis.set_minor_locator(FixedLocator([]))
    axes.xaxis.set_major_formatter(lambda value, _: style.plain(value) if value else "0")
    axes.axvline(0, color="black", lw=1.2)


def _shares(rows: Numbers, intervals: Numbers, own: bool) -> list[Row]:
    """Rows of shares, in %, with their mean beside them."""
    made = []
    for name, values in rows.items():
        dots = [100 * value for value in values]
        mean = sum(dots) / len(dots)
        bar = [100 * end for end in intervals.get(name, ())]
        line = mean if len(dots) > 1 else None
        made.append(Row(name, style.palette(own)[0], (f"{mean:.1f} %",), dots, bar, line))
    return made


def bars(
    values: Mapping[str, Mapping[str, float]], *, title: str, reference: Reference | None = None
) -> Picture:
    """A bar in pieces for each name: seconds by part of a step, the same parts in each.

    Another machine's are drawn where the learner has none.

    >>> print(bars({"a T4": {"compute": 1e-3, "overhead": 3e-3}}, title="A step"))
    Bars in pieces. A step: a T4 compute 1 ms, overhead 3 ms.
    """
    sides, under = style.sides(values, reference)
    bars, mine, start = sides[0]
    under = "" if mine else under
    drawn, said, parts = [], [], [*next(iter(bars.values()))]
    for name, pieces in bars.items():
        most, whole = max(pieces, key=pieces.get), sum(pieces.values())
        notes = (format_seconds(whole), f"{most}, {percent(pieces[most] / whole)}")
        drawn.append(Row(name, style.palette(mine)[0], notes))
        said.append(f"{name} " + ", ".join(f"{p} {format_seconds(pieces[p])}" for p in parts))
    with style.figure(style.WIDE, 1.25 + room(drawn), title, under=under) as (figure, axes):
        left = [0.0] * len(bars)
        for part in parts:
            colour = style.palette(mine)[style.PIECES.index(part)]
            wide = [pieces[part] for pieces in bars.values()]
            axes.barh(places(drawn), wide, 0.62, left, color=colour, label=part)
            left = [a + b for a, b in zip(left, wide, strict=True)]
        paint(axes, drawn, ["a step", "most of it"])
        style.scale(axes.xaxis, "time of one step", 0, 1.02 * max(left), format_seconds)
        place = {"loc": "lower left", "bbox_to_anchor": (0, 1), "borderaxespad": 0.2}
        axes.legend(ncols=len(parts), frameon=False, fontsize=9, handlelength=1, **place)
        return style.picture(figure, f"Bars in pieces. {title}: {start}{'; '.join(said)}.")
