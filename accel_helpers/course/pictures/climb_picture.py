"""The picture of a climb: a ladder, how many times as fast each change makes the training."""

from collections.abc import Callable, Sequence
from statistics import mean

from accel_helpers._values.words import format_seconds
from accel_helpers.course.climb import Climb, Stage
from accel_helpers.measure.measurement import SAME, VAGUE, Speedup
from accel_helpers.plots import rows as rows_of_dots
from accel_helpers.plots import style
from accel_helpers.plots.rows import Row
from accel_helpers.plots.style import Picture

# The stage that all others are compared with.
START = "the start"


# A *stage* is one way to train, with the changes made so far; its *gain* is the time of the first
# stage over its own.


def climb(climb: Climb, title: str) -> Picture:
    """Draw a ladder of changes to a training, a `Climb`: how many times as fast each stage is.

    Parameters
    ----------
    climb : Climb
    title : str
        The largest gain is added to it.
    """
    note = f"{style.BARS} Times as fast: turn by turn, so not quite the ratio of the epochs."
    rows = [_stage_row(climb, stage) for stage in climb.stages]
    first_stage = climb.stages[0]
    title += _best_gain(climb, rows)
    height = 1.1 + rows_of_dots.room(rows)
    with style.figure(5.8, height, title, under=note) as (figure, axes):
        rows_of_dots.paint(axes, rows, ["times as fast", "one\nepoch", "right on\ntest data"])
        _draw_gains(axes, rows)
        low, high = _limits(rows)
        label = f"times as fast as {first_stage.name}"
        style.scale(axes.xaxis, label, low, high, style.plain, log=True)
        texts = [_stage_text(climb, stage) for stage in climb.stages]
        every_stage = "; ".join(texts)
        return style.picture(figure, f"Ladder. {title}: {every_stage}.")


def _stage_row(climb: Climb, stage: Stage) -> Row:
    """Return the row of a stage, whose notes are its gain, an epoch's time, and the right answers.

    The first stage has a dot at 1; each other one has the interval of its gain as a bar, and a line
    to the gain where that is known precisely.
    """
    seconds, right = _epoch_texts(stage)
    name = _name_and_part(stage)
    gain = climb.overall.get(stage.name)
    if gain is None:
        return Row(name, style.OWN, (START, seconds, right), dots=(1.0,))
    notes = (_short_gain(gain), seconds, right)
    ratio = None
    if _is_precise(gain):
        ratio = gain.ratio
    return Row(name, style.OWN, notes, bar=gain.interval, line=ratio)


def _name_and_part(stage: Stage) -> str:
    """Return the name of a stage, and what it takes away: "tf.data: less input"."""
    if not stage.takes_away:
        return stage.name
    return f"{stage.name}: less {stage.takes_away}"


def _stage_text(climb: Climb, stage: Stage) -> str:
    """Return a stage in words: "tf.data: less input: 2 times (1.8 to 2.1), 0.35 s, 96 % right"."""
    seconds, right = _epoch_texts(stage)
    gain = climb.overall.get(stage.name)
    text = START
    if gain:
        text = _gain_text(gain)
    return f"{_name_and_part(stage)}: {text}, {seconds}, {right} right"


def _epoch_texts(stage: Stage) -> tuple[str, str]:
    """Return the time of a stage's epoch and its share of right answers: ("0.35 s", "96.3 %")."""
    percentage = 100 * mean(stage.accuracy)
    seconds = format_seconds(stage.epoch.median)
    right = f"{percentage:.1f} %"
    return seconds, right


def _is_precise(gain: Speedup) -> bool:
    """Return whether a gain can be given without its interval.

    It can where there is a difference and the interval's high end is at most `VAGUE` times the low.
    """
    if not gain.conclusive:
        return False
    low, high = gain.interval
    return high <= VAGUE * low


def _gain_text(gain: Speedup) -> str:
    """Return a gain in words, with its interval.

    It is "2 times (1.8 to 2.1)"; "between 1 and 9 times" where the interval is wide; and `SAME`
    where no difference could be measured.
    """
    if not gain.conclusive:
        return SAME
    low, high = gain.interval
    if not _is_precise(gain):
        return f"between {style.short(low)} and {style.short(high)} times"
    write = _ratio_format(gain)
    return f"{write(gain.ratio)} times ({write(low)} to {write(high)})"


def _ratio_format(gain: Speedup) -> Callable[[float], str]:
    """Return a function that writes the numbers of a gain: with three digits where it is below 2.

    The gain is conclusive, so its ratio is not None.
    """
    if gain.ratio >= 2:
        return style.short
    return "{:.3g}".format


def _short_gain(gain: Speedup) -> str:
    """Return a gain for the column of a table: "2 times", "1 to 9 times" or "not measurable"."""
    if not gain.conclusive:
        return "not measurable"
    if not _is_precise(gain):
        low, high = gain.interval
        return f"{style.short(low)} to {style.short(high)} times"
    write = _ratio_format(gain)
    return f"{write(gain.ratio)} times"


def _best_gain(climb: Climb, rows: Sequence[Row]) -> str:
    """Return the end of the title, ": 8 times, same batch size"; empty where nothing is faster.

    It is the largest gain that is known precisely. Stages with larger batches than the first one
    do not count, since these can cost accuracy. `rows` are those of the climb's stages.
    """
    first_stage = climb.stages[0]
    gains = []
    for stage, row in zip(climb.stages, rows, strict=True):
        if stage.batch_size == first_stage.batch_size and row.line:
            gains.append(row.line)
    best_gain = max(gains, default=1)
    if best_gain <= 1:
        return ""
    return f": {style.short(best_gain)} times, same batch size"


def _draw_gains(axes, rows: Sequence[Row]) -> None:
    """Draw an upright line at 1, and a line from there to the gain of each row that has one."""
    # Below the bars and the dots, which lie in layer 1 and above.
    layer = 0.9
    axes.axvline(1, color=style.SAID, lw=1, zorder=layer)
    for height, row in enumerate(rows):
        if row.line:
            axes.plot([1, row.line], [height, height], color=row.colour, lw=1.2, zorder=layer)


def _limits(rows: Sequence[Row]) -> tuple[float, float]:
    """Return the low and the high end of an axis that shows 1 and the intervals of all rows."""
    ends = [1.0]
    for row in rows:
        ends += row.bar
    lowest = min(ends) / 1.15
    highest = 1.15 * max(ends)
    return lowest, highest
