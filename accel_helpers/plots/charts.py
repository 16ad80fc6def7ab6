"""Pictures in one pair of axes: the epochs of a training, and small images."""

import math
from collections.abc import Sequence

from accel_helpers._values.words import format_seconds
from accel_helpers.measure.measurement import Measurement
from accel_helpers.measure.results import Reference
from accel_helpers.plots import style
from accel_helpers.plots.style import Label, Picture, Side

ACROSS = 12  # images in a row


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


def digits(images: Sequence, labels: Sequence[int], *, title: str) -> Picture:
    """Draw small grey pictures in rows, each with its label above it.

    Images are arrays of shape (height, width), in which larger numbers are darker.

    >>> import numpy as np
    >>> print(digits(np.eye(8)[None], [7], title="A digit"))
    1 pictures of 8 x 8 pixels. A digit: 7.
    """
    count = len(images)
    rows = math.ceil(count / ACROSS)
    numbers = [int(label) for label in labels]
    height = 0.35 + 0.6 * rows
    with style.figure(5.2, height, title) as (figure, axes):
        for place, (image, number) in enumerate(zip(images, numbers, strict=True)):
            row, column = divmod(place, ACROSS)
            x = 1.3 * column
            y = 1.8 * row
            _draw_digit(axes, image, number, x, y)
        # An image sets the limits anew, so they come last.
        right = 1.3 * ACROSS
        bottom = 1.8 * rows - 0.75
        axes.set(xlim=(0, right), ylim=(bottom, -0.55), aspect="equal")
        axes.set_axis_off()
        shape = " x ".join(str(length) for length in images[0].shape)
        shown = " ".join(str(number) for number in numbers)
        alt = f"{count} pictures of {shape} pixels. {title}: {shown}."
        return style.picture(figure, alt)


def _draw_digit(axes, image, number: int, x: float, y: float) -> None:
    """Draw an image of one by one whose upper left corner is at (x, y), and write its number."""
    left_right_bottom_top = (x, x + 1, y + 1, y)
    axes.imshow(image, cmap="Greys", vmin=0, extent=left_right_bottom_top)
    axes.text(x + 0.5, y - 0.08, number, ha="center", fontsize=9)
