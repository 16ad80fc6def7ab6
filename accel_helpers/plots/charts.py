"""The epochs of a training in one pair of axes."""

from collections.abc import Sequence

from accel_helpers._values.words import format_seconds
from accel_helpers.measure.measurement import Measurement
from accel_helpers.measure.results import Reference
from accel_helpers.plots import style
from accel_helpers.plots.style import Label, Picture, Side


def epochs(
    timing: Measurement, *, title: str = "Seconds per epoch", reference: Reference | None = None
) -> Picture:
    """Draw a dot for every timing of an epoch, with the first epoch, the `first_call`, set apart.

    In a box of few seconds a timing may be of a part of an epoch, so the dots count timings.

    >>> print(epochs(Measurement.from_samples([1.0, 1.1, 1.0, 1.1], first_call=2.5)))
    Dot plot. Seconds per epoch: the first epoch took 2.5 s, the later ones a median of 1.05 s.
    """
    note = style.BARS.replace("Bars", "Shaded")
    sides, under = style.sides(timing, reference, note)
    right, top = _axis_ends(sides)
    labels = []
    sentences = []
    with style.figure(style.WIDE, 2.4, title, under=under) as (figure, axes):
        style.scale(axes.xaxis, "timing", 0.5, right, style.plain, whole=True)
        style.scale(axes.yaxis, "time of an epoch", 0, top, format_seconds)
        for side in sides:
            first_label = _draw_first_epoch(axes, side)
            labels.append(first_label)
            _draw_later_epochs(axes, side)
            machine = ""
            if side is not sides[0]:
                machine = reference.label
            median_label = _median_label(side, right, machine)
            labels.append(median_label)
            text = _epochs_text(side.data)
            sentences.append(side.intro + text)
        style.beside(figure, axes, labels)
        content = "; ".join(sentences)
        alt = f"Dot plot. {title}: {content}."
        return style.picture(figure, alt)


def _axis_ends(sides: Sequence[Side]) -> tuple[float, float]:
    """Where the axis of the timings and that of the seconds end, so that every dot is seen."""
    most_timings = 0
    longest = 0.0
    for side in sides:
        timing = side.data
        most_timings = max(most_timings, len(timing.samples))
        longest = max(longest, timing.first_call, *timing.samples)
    # The first epoch is one more dot than there are samples.
    right = most_timings + 1.5
    return right, 1.12 * longest


def _draw_first_epoch(axes, side: Side) -> Label:
    """Draw the first epoch, and return its label."""
    seconds = side.data.first_call
    colour = style.REFERENCE
    if side.is_own:
        colour = style.SECOND
    # A full mark: a hollow one says "perhaps no difference" in other pictures.
    mark = {"marker": "D", "ms": 6}
    axes.plot([1], [seconds], color=colour, **mark)
    duration = format_seconds(seconds)
    return Label(1, seconds, f"first epoch: {duration}", colour, mark)


def _draw_later_epochs(axes, side: Side) -> None:
    """Draw the timings after the first epoch, with their median and its interval."""
    timing = side.data
    colour = side.colour
    low, high = timing.interval
    axes.axhspan(low, high, color=colour, alpha=0.15, lw=0)
    axes.axhline(timing.median, color=colour, lw=1.2)
    end = len(timing.samples) + 2
    axes.plot(range(2, end), timing.samples, "o", color=colour, ms=5)


def _median_label(side: Side, x: float, machine: str) -> Label:
    """The label of the median of one machine; the learner's own needs no name of the machine."""
    median = side.data.median
    duration = format_seconds(median)
    text = f"median {duration}"
    if machine:
        folded = style.folded(machine)
        text = f"{text}\n{folded}"
    return Label(x, median, text, side.colour)


def _epochs_text(timing: Measurement) -> str:
    """The epochs in words."""
    start = format_seconds(timing.first_call)
    median = format_seconds(timing.median)
    return f"the first epoch took {start}, the later ones a median of {median}"
