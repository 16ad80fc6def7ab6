"""The epochs of a training in one pair of axes."""

from accel_helpers._values.words import format_seconds
from accel_helpers.measure.measurement import Measurement
from accel_helpers.plots import style
from accel_helpers.plots.style import Label, Picture


def epochs(timing: Measurement, *, title: str = "Seconds per epoch") -> Picture:
    """Draw a dot for every timing of an epoch, with the first epoch, the `first_call`, set apart.

    In a box of few seconds a timing may be of a part of an epoch, so the dots count timings.

    >>> print(epochs(Measurement.from_samples([1.0, 1.1, 1.0, 1.1], first_call=2.5)))
    Dot plot. Seconds per epoch: the first epoch took 2.5 s, the later ones a median of 1.05 s.
    """
    note = style.BARS.replace("Bars", "Shaded")
    # The first epoch is one more dot than there are samples.
    right = len(timing.samples) + 1.5
    top = 1.12 * max(timing.first_call, *timing.samples)
    first = format_seconds(timing.first_call)
    median = format_seconds(timing.median)
    with style.figure(style.WIDE, 2.4, title, under=note) as (figure, axes):
        style.scale(axes.xaxis, "timing", 0.5, right, style.plain, whole=True)
        style.scale(axes.yaxis, "time of an epoch", 0, top, format_seconds)
        _draw_later_epochs(axes, timing)
        # A full mark: a hollow one says "perhaps no difference" in other pictures.
        mark = {"marker": "D", "ms": 6}
        axes.plot([1], [timing.first_call], color=style.SECOND, **mark)
        text = f"first epoch: {first}"
        first_label = Label(1, timing.first_call, text, style.SECOND, mark)
        median_label = Label(right, timing.median, f"median {median}", style.OWN)
        style.beside(figure, axes, [first_label, median_label])
        content = f"the first epoch took {first}, the later ones a median of {median}"
        alt = f"Dot plot. {title}: {content}."
        return style.picture(figure, alt)


def _draw_later_epochs(axes, timing: Measurement) -> None:
    """Draw the timings after the first epoch, with their median and its interval."""
    low, high = timing.interval
    axes.axhspan(low, high, color=style.OWN, alpha=0.15, lw=0)
    axes.axhline(timing.median, color=style.OWN, lw=1.2)
    end = len(timing.samples) + 2
    axes.plot(range(2, end), timing.samples, "o", color=style.OWN, ms=5)
