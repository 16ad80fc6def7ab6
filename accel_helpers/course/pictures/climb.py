"""The picture of a climb: a ladder, how many times as fast each change makes the training."""

from accel_helpers._values.words import format_seconds
from accel_helpers.measure.measurement import SAME, VAGUE, Speedup
from accel_helpers.plots import rows as rows_of_dots
from accel_helpers.plots import style
from accel_helpers.plots.style import Picture


def climb(climb, *, title: str, reference=None) -> Picture:
    """A ladder of changes to a training, a `Climb`: how many times as fast each is.

    >>> from accel_helpers.course.climb import Climb
    >>> from accel_helpers.measure import results
    >>> card = results.reference()
    >>> theirs = Climb.from_card(card.measurements, card.numbers, "03/climb")
    >>> climb(theirs, title="A climb").alt[:15]
    'Ladder. A climb'
    """
    note = f"{style.BARS} Times as fast: turn by turn, so not quite the ratio of the epochs."
    sides, under = style.sides(climb, reference, note)
    drawn, said, ends = [], [], [1.0]
    for of, mine, start in sides:
        rows, words = [], []
        for name, epoch in of.epochs.items():
            right, gain = f"{100 * of.accuracy[name]:.1f} %", of.overall.get(name)
            text, marks = _gain(gain) if gain else ("the start", {"dots": (1.0,)})
            ends += marks.get("bar", ())
            brief = text.partition(" (")[0].replace(SAME, "not measurable").replace("between ", "")
            notes = (brief.replace(" and ", " to "), format_seconds(epoch.median), right)
            rows.append(rows_of_dots.Row(name, style.palette(mine)[0], notes, **marks))
            words.append(f"{name}: {text}, {notes[1]}, {right} right")
        drawn.append(rows)
        said.append(start + "; ".join(words))
    rows = rows_of_dots.beneath(*drawn)
    # The title names no gain that larger batches brought: they can cost accuracy.
    first, *others = sides[0][0].stages
    alike = [stage.name for stage in others if stage.batch_size == first.batch_size]
    most = max((row.line or 1 for row in drawn[0] if row.name in alike), default=1)
    if most > 1:
        title += f": {style.short(most)} times, same batch size"
    with style.figure(5.8, 1.1 + rows_of_dots.room(rows), title, under=under) as (figure, axes):
        rows_of_dots.paint(axes, rows, ["times as fast", "one\nepoch", "right on\ntest data"])
        axes.axvline(1, color=style.SAID, lw=1, zorder=0.9)
        for place, row in zip(rows_of_dots.places(rows), rows, strict=True):
            if row.line:
                axes.plot([1, row.line], [place] * 2, color=row.colour, lw=1.2, zorder=0.9)
        label = f"times as fast as {first.name}"
        style.scale(axes.xaxis, label, min(ends) / 1.15, 1.15 * max(ends), style.plain, log=True)
        return style.picture(figure, f"Ladder. {title}: {'; '.join(said)}.")


def _gain(gain: Speedup) -> tuple[str, dict]:
    """In words, and what of it is drawn: the ratio only where it is known well."""
    (low, high), bar = gain.interval, {"bar": gain.interval}
    if not gain.conclusive:
        return SAME, bar
    if high > VAGUE * low:
        return f"between {style.short(low)} and {style.short(high)} times", bar
    text = style.short if gain.ratio >= 2 else "{:.3g}".format
    return f"{text(gain.ratio)} times ({text(low)} to {text(high)})", bar | {"line": gain.ratio}
