"""The picture of a climb: a ladder, how many times as fast each change makes the training."""

from collections.abc import Callable, Sequence

from accel_helpers._values.words import format_seconds
from accel_helpers.measure.measurement import SAME, VAGUE, Speedup
from accel_helpers.plots import rows as rows_of_dots
from accel_helpers.plots import style
from accel_helpers.plots.rows import Row
from accel_helpers.plots.style import Picture

# The stage that all others are compared with.
START = "the start"


def climb(climb, *, title: str, reference=None) -> Picture:
    """Draw a ladder of changes to a training, a `Climb`: how many times as fast each is.

    >>> from accel_helpers.course.climb import Climb
    >>> from accel_helpers.measure import results
    >>> card = results.reference()
    >>> theirs = Climb.from_card(card.measurements, card.numbers, "03/climb")
    >>> climb(theirs, title="A climb").alt[:15]
    'Ladder. A climb'
    """
    note = f"{style.BARS} Times as fast: turn by turn, so not quite the ratio of the epochs."
    sides, under = style.sides(climb, reference, note)
    groups = []
    sentences = []
    for side in sides:
        stages = list(side.data.epochs)
        group = [_stage_row(side.data, name, side.colour) for name in stages]
        texts = [_stage_text(side.data, name) for name in stages]
        groups.append(group)
        sentences.append(side.intro + "; ".join(texts))
    front = sides[0].data
    first_stage = front.stages[0]
    title += _best_gain(front, groups[0])
    rows = rows_of_dots.beneath(*groups)
    height = 1.1 + rows_of_dots.room(rows)
    with style.figure(5.8, height, title, under=under) as (figure, axes):
        rows_of_dots.paint(axes, rows, ["times as fast", "one\nepoch", "right on\ntest data"])
        _draw_gains(axes, rows)
        low, high = _limits(rows)
        label = f"times as fast as {first_stage.name}"
        style.scale(axes.xaxis, label, low, high, style.plain, log=True)
        every_stage = "; ".join(sentences)
        return style.picture(figure, f"Ladder. {title}: {every_stage}.")


def _stage_row(climb, name: str, colour: str) -> Row:
    """Return the row of a stage: the ratio is drawn only where it is known precisely."""
    seconds, right = _epoch_texts(climb, name)
    gain = climb.overall.get(name)
    if gain is None:
        return Row(name, colour, (START, seconds, right), dots=(1.0,))
    notes = (_short_gain(gain), seconds, right)
    ratio = None
    if _is_precise(gain):
        ratio = gain.ratio
    return Row(name, colour, notes, bar=gain.interval, line=ratio)


def _stage_text(climb, name: str) -> str:
    """Return a stage in words."""
    seconds, right = _epoch_texts(climb, name)
    gain = climb.overall.get(name)
    text = START
    if gain:
        text = _gain_text(gain)
    return f"{name}: {text}, {seconds}, {right} right"


def _epoch_texts(climb, name: str) -> tuple[str, str]:
    """Return the time of an epoch of a stage, and the share of right answers after it, as texts."""
    epoch = climb.epochs[name]
    percentage = 100 * climb.accuracy[name]
    seconds = format_seconds(epoch.median)
    right = f"{percentage:.1f} %"
    return seconds, right


def _is_precise(gain: Speedup) -> bool:
    """Return whether a ratio can stand alone: there is a difference, and its interval is narrow."""
    if not gain.conclusive:
        return False
    low, high = gain.interval
    return high <= VAGUE * low


def _gain_text(gain: Speedup) -> str:
    """Return a gain in words, with its interval."""
    if not gain.conclusive:
        return SAME
    low, high = gain.interval
    if not _is_precise(gain):
        return f"between {style.short(low)} and {style.short(high)} times"
    write = _ratio_format(gain)
    return f"{write(gain.ratio)} times ({write(low)} to {write(high)})"


def _ratio_format(gain: Speedup) -> Callable[[float], str]:
    """Return how the numbers of a gain are written: of a small one the third digit counts, too."""
    if gain.ratio >= 2:
        return style.short
    return "{:.3g}".format


def _short_gain(gain: Speedup) -> str:
    """Return a gain in a few words, for the column of a table."""
    if not gain.conclusive:
        return "not measurable"
    if not _is_precise(gain):
        low, high = gain.interval
        return f"{style.short(low)} to {style.short(high)} times"
    write = _ratio_format(gain)
    return f"{write(gain.ratio)} times"


def _best_gain(climb, rows: Sequence[Row]) -> str:
    """Return the largest gain for the title, without larger batches, which can cost accuracy."""
    first, *others = climb.stages
    alike = [stage.name for stage in others if stage.batch_size == first.batch_size]
    gains = [row.line for row in rows if row.name in alike and row.line]
    best = max(gains, default=1)
    if best <= 1:
        return ""
    return f": {style.short(best)} times, same batch size"


def _draw_gains(axes, rows: Sequence[Row]) -> None:
    """Draw a line from 1 to each ratio."""
    # Below the bars and the dots, which lie in layer 1 and above.
    layer = 0.9
    axes.axvline(1, color=style.SAID, lw=1, zorder=layer)
    heights = rows_of_dots.places(rows)
    for height, row in zip(heights, rows, strict=True):
        if row.line:
            axes.plot([1, row.line], [height, height], color=row.colour, lw=1.2, zorder=layer)


def _limits(rows: Sequence[Row]) -> tuple[float, float]:
    """Return the ends of an axis that shows all intervals, and 1."""
    ends = [1.0]
    for row in rows:
        ends += row.bar
    lowest = min(ends) / 1.15
    highest = 1.15 * max(ends)
    return lowest, highest
