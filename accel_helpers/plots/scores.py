"""Pictures of lesson 10: handwritten digits, and shares of right answers below each other.

They share the style of `picture`, and compute nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from accel_helpers.measure.scores import verdict
from accel_helpers.plots.style import OWN, REFERENCE, Picture, _figure, _lean, _picture, _title

COLUMNS = 12  # digits in a row


def digits(images: Sequence, labels: Sequence[int], *, title: str) -> Picture:
    """Small grey pictures in rows, each with its label above it.

    Parameters
    ----------
    images : sequence of array of shape (height, width)
        Larger numbers are darker.
    labels : sequence of int
    title : str

    Returns
    -------
    Picture

    Raises
    ------
    ValueError
        If there are no images, or not one label for each.
    """
    if not len(images) or len(images) != len(labels):
        raise ValueError(
            f"digits needs one label for each image, and at least one; got {len(images)} images "
            f"and {len(labels)} labels."
        )
    rows = -(-len(images) // COLUMNS)
    with _figure(7.2, 0.45 + 0.82 * rows) as (figure, axes):
        axes.remove()
        grid = figure.subplots(rows, COLUMNS, squeeze=False).ravel()
        for place, axes in enumerate(grid):
            axes.set_axis_off()
            if place < len(images):
                axes.imshow(images[place], cmap="Greys", vmin=0)
                axes.set_title(str(int(labels[place])), fontsize=10, pad=2)
        _title(figure, title)
        shape = " x ".join(str(side) for side in images[0].shape)
        said = " ".join(str(int(label)) for label in labels)
        alt = f"{len(images)} pictures of {shape} pixels. {title}: {said}."
        drawn = _picture(figure, alt)
        return Picture(_lean(drawn.png), alt)


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

    Raises
    ------
    ValueError
        If there is nothing to draw.
    """
    means, intervals, colour = _means(rows), intervals or {}, OWN if own else REFERENCE
    notes = {name: f"{100 * mean:.1f} %" for name, mean in means.items()}
    ends = [v for values in rows.values() for v in values]
    ends += [end for interval in intervals.values() for end in interval]
    start = start if 100 * min(ends) > start else 0
    with _figure(7.8, 1.25 + 0.55 * len(rows)) as (figure, axes):
        for place, name in enumerate(rows):
            if name in intervals:
                _bar(axes, place, intervals[name], colour)
        _dots(axes, rows, means, colour)
        for place, name in enumerate(rows):
            _note(axes, place, notes[name])
        axes.set_xlim(start, 100)
        begins = f"; the axis begins at {start:g}" if start else ""
        axes.set(xlabel=f"right answers, in %; bar: 95 % interval{begins}")
        _rows(axes, rows)
        _title(figure, title)
        said = "; ".join(f"{name} {notes[name]}" for name in rows)
        return _picture(figure, f"Dot plot of right answers{begins}. {title}: {said}.")


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

    Raises
    ------
    ValueError
        If there is nothing to draw.
    """
    means, colour = _means(rows), OWN if own else REFERENCE
    notes = {name: verdict(*changes[name][1:]) if name in changes else "" for name in rows}
    with _figure(9.2, 1.35 + 0.55 * len(rows)) as (figure, axes):
        axes.remove()
        left, right = figure.subplots(1, 2, sharey=True)
        _dots(left, rows, means, colour)
        lowest = 100 * min(v for values in rows.values() for v in values)
        left.set_xlim(max(0, lowest - 3), 100)
        left.set(xlabel="right answers, in %; dot: one seed; line: mean")
        right.axvline(0, color="black", lw=1.2)
        for place, name in enumerate(rows):
            if name in changes:
                difference, *interval = changes[name]
                _bar(right, place, interval, colour)
                right.plot([100 * difference], [place], "|", color="black", ms=16, mew=2)
            _note(right, place, notes[name].replace(" measurable ", " measurable\n"))
        right.set(xlabel="change, in points; bar: 95 % interval")
        _rows(left, rows)
        right.grid(axis="y", visible=False)
        right.tick_params(axis="y", length=0)
        _title(figure, title)
        said = [f"{name} {100 * mean:.1f} %" for name, mean in means.items()]
        for place, name in enumerate(rows):
            if name in changes:
                difference, low, high = (100 * value for value in changes[name])
                said[place] += f", {difference:+.1f} points ({low:+.1f} to {high:+.1f})"
                said[place] += f", {notes[name]}"
        return _picture(figure, f"Two plots, a row for each model. {title}: {'; '.join(said)}.")


# ---------------------------------------------------------------------------------------------


def _means(rows) -> dict[str, float]:
    if not rows or not all(len(values) for values in rows.values()):
        raise ValueError("a picture needs rows such as {'scaled': [0.95]}, each with a value.")
    return {name: sum(values) / len(values) for name, values in rows.items()}


def _dots(axes, rows, means, colour) -> None:
    """The values of each row, lifted a little apart, with their mean where there are several."""
    for place, (name, values) in enumerate(rows.items()):
        several = len(values) > 1
        lift = [place + 0.09 * ((7 * k) % 5 - 2) * several for k in range(len(values))]
        shown = {"ms": 7, "alpha": 0.75, "mew": 0, "clip_on": False, "zorder": 3}
        axes.plot([100 * v for v in values], lift, "o", color=colour, **shown)
        if several:
            axes.plot([100 * means[name]], [place], "|", color="black", ms=16, mew=2)


def _bar(axes, place, interval, colour) -> None:
    ends = [100 * end for end in interval]
    axes.plot(ends, [place] * 2, color=colour, lw=6, alpha=0.35, solid_capstyle="butt")


def _note(axes, place, text) -> None:
    axes.annotate(
        text,
        (1, place),
        xycoords=axes.get_yaxis_transform(),
        xytext=(8, 0),
        textcoords="offset points",
        va="center",
        fontsize=9.5,
        annotation_clip=False,
    )


def _rows(axes, rows) -> None:
    axes.set_yticks(range(len(rows)), list(rows))
    axes.set_ylim(len(rows) - 0.5, -0.6)
    axes.grid(axis="y", visible=False)
