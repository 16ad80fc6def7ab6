"""Pictures of grids: ratios over two sizes, and small images with their labels."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence

from accel_helpers.measure.measurement import Speedup
from accel_helpers.plots import style
from accel_helpers.plots.style import Picture

COLUMNS = 12  # images in a row


def heatmap(
    ratios: Mapping[tuple[int, int], Speedup], *, title: str, note: str, own: bool = True
) -> Picture:
    """A table of ratios over width and batch size; where nothing could be told it says so.

    Parameters
    ----------
    ratios : mapping of (width, batch size) to Speedup
    note : str, how to read the numbers; it stands under the title
    Examples
    --------
    >>> same = Speedup(None, None, (0.9, 1.1), conclusive=False, ratio=None)
    >>> print(heatmap({(16, 32): same}, title="GPU against CPU", note="Below 1: slower."))
    Table of ratios. GPU against CPU. Below 1: slower. 16 by 32: no difference.
    """
    from matplotlib.colors import LinearSegmentedColormap, LogNorm

    rows, columns = (sorted({pair[i] for pair in ratios}) for i in (0, 1))
    shown = [[ratios[row, column].ratio or 1.0 for column in columns] for row in rows]
    most = max(2.0, *(max(value, 1 / value) for line in shown for value in line))
    ends = [style.SECOND, "white", style.palette(own)[0]]
    shades = LinearSegmentedColormap.from_list("", ends)
    said, width = [], max(6.4, 1.9 + 1.25 * len(columns))
    with style.figure(width, 2.1 + 0.62 * len(rows), title) as (figure, axes):
        image = axes.imshow(shown, shades, LogNorm(1 / most, most), aspect="auto", origin="lower")
        for i, row in enumerate(rows):
            for j, column in enumerate(columns):
                gain, brief = ratios[row, column], "no difference"
                text, size = "no measurable\ndifference", 8
                if gain.ratio is not None:
                    brief, low, high = map(style.short, (gain.ratio, *gain.interval))
                    text, size = f"{brief}\n({low} to {high})", 10
                red, green, blue, _ = image.cmap(image.norm(shown[i][j]))
                dark = 0.299 * red + 0.587 * green + 0.114 * blue < 0.5
                font = {"color": "white" if dark else "black", "fontsize": size}
                axes.text(j, i, text, ha="center", va="center", **font)
                said.append(f"{row} by {column}: {brief}")
        axes.set_xticks(range(len(columns)), columns)
        axes.set_yticks(range(len(rows)), rows)
        axes.grid(visible=False)
        axes.set(xlabel="batch size (pictures in a step)", ylabel="width (hidden units)")
        below = textwrap.fill(f"{note} In brackets: the interval.", int(12 * width))
        axes.set_title(below, fontsize=9.5, loc="left")
        return style.picture(figure, f"Table of ratios. {title}. {note} {'; '.join(said)}.")


def digits(images: Sequence, labels: Sequence[int], *, title: str) -> Picture:
    """Small grey pictures in rows, each with its label above it.

    Parameters
    ----------
    images : sequence of arrays of shape (height, width), where larger numbers are darker
    labels : sequence of int
    Examples
    --------
    >>> import numpy as np
    >>> print(digits(np.eye(8)[None], [7], title="A digit"))
    1 pictures of 8 x 8 pixels. A digit: 7.
    """
    rows = -(-len(images) // COLUMNS)
    with style.figure(7.2, 0.45 + 0.82 * rows, title) as (figure, axes):
        for place, (image, label) in enumerate(zip(images, labels, strict=True)):
            row, column = divmod(place, COLUMNS)
            x, y = 1.3 * column, 1.6 * row
            axes.imshow(image, cmap="Greys", vmin=0, extent=(x, x + 1, y + 1, y))
            axes.text(x + 0.5, y - 0.08, int(label), ha="center", fontsize=10)
        axes.set(xlim=(0, 1.3 * COLUMNS), ylim=(1.6 * rows - 0.5, -0.5), aspect="equal")
        axes.set_axis_off()
        shape = " x ".join(str(side) for side in images[0].shape)
        said = " ".join(str(int(label)) for label in labels)
        return style.picture(figure, f"{len(images)} pictures of {shape} pixels. {title}: {said}.")
