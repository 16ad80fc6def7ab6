"""Pictures of lesson 10: handwritten digits, and shares of right answers below each other.

They share the style of `picture`, and compute nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from accel_helpers.picture import OWN, REFERENCE, Picture, _figure, _lean, _picture, _title

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
        alt = f"{len(images)} pictures of {shape} points. {title}: {said}."
        drawn = _picture(figure, alt)
        return Picture(_lean(drawn.png), alt)


def shares(
    rows: Mapping[str, Sequence[float]],
    *,
    title: str,
    intervals: Mapping[str, tuple[float, float]] | None = None,
    notes: Mapping[str, str] | None = None,
    xlabel: str = "right answers, in %; bar: 95 % interval",
    steps: bool = False,
    own: bool = True,
) -> Picture:
    """Shares of right answers, a row for each thing that was tried.

    Parameters
    ----------
    rows : mapping of str to sequence of float
        Name to shares from 0 to 1, one for every seed; their mean is marked.
    title : str
    intervals : mapping of str to tuple of float, optional
        Name to the ends of an interval, from 0 to 1; a row may have none.
    notes : mapping of str to str, optional
        What stands at the right of a row; by default its mean.
    xlabel : str, optional
    steps : bool, optional
        Every row is a change to the one above it: a dashed line leads down from that one's mean,
        and the axis need not begin at 0.
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
    if not rows or not all(len(values) for values in rows.values()):
        raise ValueError("shares needs rows such as {'scaled': [0.95]}, each with a value.")
    intervals, colour = intervals or {}, OWN if own else REFERENCE
    means = {name: sum(values) / len(values) for name, values in rows.items()}
    notes = {name: f"{100 * mean:.1f} %" for name, mean in means.items()} | dict(notes or {})
    ends = [v for values in rows.values() for v in values]
    ends += [end for interval in intervals.values() for end in interval]
    with _figure(7.8, 1.25 + 0.55 * len(rows)) as (figure, axes):
        above = None
        for place, (name, values) in enumerate(rows.items()):
            if steps and above is not None:
                line = {"color": "#555555", "lw": 1, "ls": ":"}
                axes.plot([100 * above] * 2, [place - 1, place + 0.3], **line)
            if name in intervals:
                bar = [100 * end for end in intervals[name]]
                axes.plot(bar, [place] * 2, color=colour, lw=6, alpha=0.35, solid_capstyle="butt")
            lift = [
                place + 0.09 * ((7 * k) % 5 - 2) * (len(values) > 1) for k in range(len(values))
            ]
            axes.plot([100 * v for v in values], lift, "o", color=colour, ms=6, alpha=0.75, mew=0)
            axes.plot([100 * means[name]], [place], "|", color="black", ms=16, mew=2)
            axes.annotate(
                notes[name],
                (1, place),
                xycoords=axes.get_yaxis_transform(),
                xytext=(8, 0),
                textcoords="offset points",
                va="center",
                fontsize=9.5,
                annotation_clip=False,
            )
            above = means[name]
        low = max(0, 100 * min(ends) - 2) if steps else 0
        axes.set_xlim(low, min(100, 100 * max(ends) + 1) if steps else 100)
        axes.margins(x=0)
        axes.set_yticks(range(len(rows)), list(rows))
        axes.set_ylim(len(rows) - 0.5, -0.6)
        axes.grid(axis="y", visible=False)
        axes.set(xlabel=xlabel)
        _title(figure, title)
        said = "; ".join(f"{name} {' '.join(notes[name].split())}" for name in rows)
        return _picture(figure, f"Dot plot of right answers. {title}: {said}.")
