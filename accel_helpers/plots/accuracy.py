"""Pictures of right answers: shares of them, and models that are one change apart."""

from collections.abc import Sequence

from accel_helpers.measure.measurement import SAME
from accel_helpers.measure.scores import verdict
from accel_helpers.plots import style
from accel_helpers.plots.rows import (
    EXACT,
    Row,
    ValueAxis,
    draw_rows,
    paint,
    room,
    values_of,
)
from accel_helpers.plots.style import Numbers, Picture


def shares(
    rows: Numbers,
    intervals: Numbers | None = None,
    *,
    title: str,
    start: int = 0,
) -> Picture:
    """Draw shares of right answers as dots, a row for each thing that was tried.

    Parameters
    ----------
    rows : mapping of str to sequence of float
        Shares from 0 to 1 by name. Where a name has several, their mean is marked.
    intervals : mapping of str to sequence of float, optional
        The two ends of an interval by name; not every name needs one.
    start : int
        Where the axis begins, in %. It begins at 0 if a value lies below.

    Examples
    --------
    >>> print(shares({"before": [0.7, 0.8], "after": [0.9]}, title="A change"))
    Dot plot of right answers. A change: before 75.0 %; after 90.0 %.
    """
    drawn = _share_rows(rows, intervals or {})
    lowest = min(values_of(drawn))
    if lowest <= start:
        start = 0
    cut = ""
    if start:
        cut = f"; the axis begins at {start:g}"
    label = f"right answers, in %{cut}"
    axis = ValueAxis(label, start, 100, style.plain)
    kind = f"Dot plot of right answers{cut}"
    return draw_rows(kind, drawn, ["right"], axis, title=title, under=EXACT)


def _share_rows(shares: Numbers, intervals: Numbers) -> list[Row]:
    """Rows of shares, in %, with their mean beside them."""
    rows = []
    for name, values in shares.items():
        dots = [100 * value for value in values]
        mean = sum(dots) / len(dots)
        ends = intervals.get(name, ())
        bar = [100 * end for end in ends]
        # A single dot is its own mean.
        line = None
        if len(dots) > 1:
            line = mean
        notes = (f"{mean:.1f} %",)
        row = Row(name, style.OWN, notes, dots, bar, line)
        rows.append(row)
    return rows


def ladder(rows: Numbers, changes: Numbers, *, title: str) -> Picture:
    """Draw models that are one change apart: how good each is, and what each change did.

    Parameters
    ----------
    rows : mapping of str to sequence of float
        Shares of right answers from 0 to 1 by the name of a model, one for every seed.
    changes : mapping of str to sequence of float
        By the name of a model its difference from the one above, and the two ends of the interval
        of that difference.

    Examples
    --------
    >>> print(ladder({"a": [0.7], "b": [0.9]}, {"b": (0.2, 0.1, 0.3)}, title="One step"))
    Two plots, a row for each model. One step: a 70.0 %; b 90.0 %, +20.0 points (+10.0 to +30.0), \
better.
    """
    note = f"Dots: one training run each. {EXACT}"
    models = _share_rows(rows, {})
    change_rows = []
    texts = []
    for model in models:
        change = changes.get(model.name)
        change_rows.append(_change_row(model, change))
        texts.append(_model_text(model, change))
    height = 1 + room(models)
    with style.figure(7.4, height, title, 2, note) as (figure, (left, right)):
        _draw_scores(left, models)
        _draw_changes(right, change_rows)
        content = "; ".join(texts)
        alt = f"Two plots, a row for each model. {title}: {content}."
        return style.picture(figure, alt)


def _change_row(model: Row, step: Sequence[float] | None) -> Row:
    """The row of the change that led to a model; an empty one where none did."""
    if step is None:
        return Row(model.name, model.colour, ("", ""))
    change, low, high = (100 * value for value in step)
    outcome = verdict(low, high).replace(SAME, "not measurable")
    notes = (f"{change:+.1f} ({low:+.1f} to {high:+.1f})", outcome)
    return Row(model.name, model.colour, notes, bar=(low, high), line=change)


def _model_text(model: Row, step: Sequence[float] | None) -> str:
    """A model in words: how good it is, and what the change that led to it did."""
    text = f"{model.name} {model.notes[0]}"
    if step is None:
        return text
    change, low, high = (100 * value for value in step)
    outcome = verdict(low, high)
    return f"{text}, {change:+.1f} points ({low:+.1f} to {high:+.1f}), {outcome}"


def _draw_scores(axes, models: Sequence[Row]) -> None:
    """Draw how good models are."""
    paint(axes, models, ["mean"])
    lowest = min(min(row.dots) for row in models)
    # Three points of room to the left of the lowest dot.
    start = max(0, lowest - 3)
    style.scale(axes.xaxis, "right answers, in %", start, 100, style.plain)


def _draw_changes(axes, changes: Sequence[Row]) -> None:
    """Draw how much each change did, in points."""
    paint(axes, changes, ["change, in points", "verdict"])
    ends = [-1.0, 1.0]
    for row in changes:
        ends += row.bar
    low = 1.3 * min(ends)
    high = 1.3 * max(ends)
    _around_zero(axes, low, high)
    axes.set(xlabel="points (log scale beyond 1)")
    axes.tick_params(axis="y", length=0)


def _around_zero(axes, low: float, high: float) -> None:
    """Scale an axis so that a small interval that crosses 0 is seen beside a large one."""
    from matplotlib.ticker import FixedLocator

    axes.set_xscale("symlog", linthresh=1)
    axes.set_xlim(low, high)
    candidates = [-100, -10, -1, 0, 1, 10, 100]
    ticks = [tick for tick in candidates if low <= tick <= high]
    axes.xaxis.set_major_locator(FixedLocator(ticks))
    axes.xaxis.set_minor_locator(FixedLocator([]))
    axes.xaxis.set_major_formatter(style.tick_format(style.plain))
    axes.axvline(0, color="black", lw=1.2)
