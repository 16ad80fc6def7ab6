"""Pictures in one pair of axes: over epochs, the roofline, a table of ratios, small images."""

import math
import textwrap
from collections.abc import Mapping, Sequence
from functools import partial

from accel_helpers._words import format_rate, format_seconds
from accel_helpers.measure.measurement import Measurement, Speedup
from accel_helpers.plots import style
from accel_helpers.plots.style import Numbers, Picture

COLUMNS = 12  # small images in a row
flops = partial(format_rate, unit="FLOP/s")


def paint(axes, lines: Mapping[str, Mapping[float, float]], own: bool) -> list[tuple]:
    """Draw lines of y over x, their marks nested to show where they coincide; give their labels."""
    labels, colours, step = [], style.palette(own), min(4, 8 / max(1, len(lines) - 1))
    for i, (name, line) in enumerate(lines.items()):
        colour, size = colours[i % len(colours)], 5 + (len(lines) - 1 - i) * step
        mark = {"marker": style.MARKS[i], "ms": size, "mfc": "none", "mew": 1.8}
        axes.plot(list(line), list(line.values()), color=colour, lw=1.2, **mark)
        labels.append((max(line), line[max(line)], style.folded(name), colour, mark))
    return labels


def epochs(timing: Measurement, *, title: str = "Seconds per epoch", own: bool = True) -> Picture:
    """A dot for every epoch of a fit, the first one, which is the `first_call`, set apart.

    Examples
    --------
    >>> print(epochs(Measurement.from_samples([1.0, 1.1, 1.0, 1.1], first_call=2.5)))
    Dot plot. Seconds per epoch: the first epoch took 2.5 s, the later ones a median of 1.05 s.
    """
    first, later, colour = timing.first_call, timing.samples, style.palette(own)[0]
    start, median = format_seconds(first), format_seconds(timing.median)
    with style.figure(8, 3.2, title) as (figure, axes):
        axes.axhspan(*timing.interval, color=colour, alpha=0.15, lw=0)
        axes.axhline(timing.median, color=colour, lw=1.2)
        axes.plot(range(2, len(later) + 2), later, "o", color=colour, ms=7)
        ring = {"marker": "o", "mfc": "white", "mew": 2, "ms": 8}
        axes.plot([1], [first], color=style.SECOND, **ring)
        style.scale(axes.xaxis, "epoch", 0.5, len(later) + 1.5, style.plain, whole=True)
        style.scale(axes.yaxis, "time of an epoch", 0, 1.12 * max(first, *later), format_seconds)
        alone = f"first epoch: {start},\nalso compiles"
        band = f"median {median},\nband: 95 % interval"
        labels = [(1, first, alone, style.SECOND, ring)]
        labels.append((len(later) + 1.5, timing.median, band, colour, None))
        style.beside(figure, axes, labels)
        said = f"the first epoch took {start}, the later ones a median of {median}"
        return style.picture(figure, f"Dot plot. {title}: {said}.")


def losses(
    curves: Numbers, *, title: str, level: tuple[str, float] | None = None, own: bool = True
) -> Picture:
    """Curves of the loss after every epoch, of one training or of several that should agree.

    Parameters
    ----------
    curves : mapping of a name to losses, of seven curves at most
    level : tuple of the name of a loss to compare with, and that loss

    Examples
    --------
    >>> print(losses({"a": [2, 1.5]}, title="Training", level=("knowing nothing", 2.3)))
    Line plot of the loss per epoch. Training: a from 2 to 1.5. knowing nothing: 2.3.
    """
    with style.figure(8, 3.4, title) as (figure, axes):
        labels = paint(axes, {name: dict(enumerate(c, 1)) for name, c in curves.items()}, own)
        values = [v for c in curves.values() for v in c] + ([level[1]] if level else [])
        most, low, high = max(map(len, curves.values())), min(values), max(values)
        room = 0.1 * (high - low or 1)
        style.scale(axes.xaxis, "epoch", 0.5, most + 0.5, style.plain, whole=True)
        style.scale(axes.yaxis, "loss", low - room, high + room, "{:.3g}".format)
        if level:
            axes.axhline(level[1], color=style.INK, lw=1.2, ls="--")
            labels.append((most + 0.5, level[1], style.folded(level[0]), style.INK, None))
        style.beside(figure, axes, labels)
        said = "; ".join(f"{n} from {c[0]:.3g} to {c[-1]:.3g}" for n, c in curves.items())
        compared = f" {level[0]}: {level[1]:.3g}." if level else ""
        return style.picture(figure, f"Line plot of the loss per epoch. {title}: {said}.{compared}")


def roofline(points: Numbers, ceilings, *, published=None, title: str, own: bool = True) -> Picture:
    """The roofline: what a program reached, under what its machine can reach at most.

    It is of Williams, Waterman and Patterson, Communications of the ACM 52 (2009), 65.

    Parameters
    ----------
    points : mapping of a name to (FLOP per byte moved, FLOP/s reached), of seven at most
    ceilings : ceilings.Ceilings
    published : hardware.Accelerator, with the peaks that its maker names

    Examples
    --------
    >>> import accel_helpers as ah
    >>> card = ah.results.reference_runs()[-1]
    >>> roof = ah.ceilings.Ceilings.from_card(card.measurements, card.numbers, "03/ceiling", "cpu")
    >>> roofline({"fit": (3.6, 6.1e9)}, roof, title="A step").alt[:70]
    'Roofline (FLOP/s over FLOP per byte). A step: fit 6.1 GFLOP/s at 3.6; '
    """
    colour, roofs = style.palette(own)[0], _roofs(ceilings, published)
    ridges = [(rate / copy, rate) for copy, rates in roofs.values() for rate in rates.values()]
    across, upward = zip(*points.values(), *ridges, strict=True)
    left, right = min(across) / 12, 6 * max(across)
    low, high = min(*upward, *(copy * left for copy, _ in roofs.values())) / 2.5, 2.2 * max(upward)
    labels, words = [], {"measured": colour, "published": style.SAID}
    said = [f"{name} {flops(y)} at {x:.3g}" for name, (x, y) in points.items()]
    with style.figure(8.4, 4.6, title) as (figure, axes):
        across = "operations per byte moved (FLOP per byte)"
        style.scale(axes.xaxis, across, left, right, style.plain, log=True)
        style.scale(axes.yaxis, "operations per second (FLOP/s)", low, high, flops, log=True)
        for source, (copy, rates) in roofs.items():
            measured = source == "measured"
            line = {"color": colour if measured else style.PUBLISHED, "zorder": 2 + measured / 2}
            ridge = max(rates.values()) / copy
            axes.plot([left, ridge], [copy * left, copy * ridge], lw=2 if measured else 1.4, **line)
            same: dict[str, list[str]] = {}  # number types that one label is for
            for kind, rate in rates.items():
                width = 2.8 if measured and kind == "float32" else 1.2  # as the points
                axes.plot([rate / copy, right], [rate, rate], lw=width, **line)
                same.setdefault(flops(rate), []).append(kind)
            for rate, kinds in same.items():
                text = f"{' and '.join(kinds)}, {source}:\n{rate}"
                labels.append((right, rates[kinds[0]], text, words[source], None))
            named = ", ".join(f"{kind} {flops(rate)}" for kind, rate in rates.items())
            said.append(f"ceilings {source}: memory {format_rate(copy, 'B/s')}, {named}")
        for i, (name, (x, y)) in enumerate(points.items()):
            mark = {"marker": style.MARKS[i], "ms": 8, "mec": "white", "mew": 0.8}
            axes.plot([x], [y], color=colour, zorder=4, **mark)
            labels.append((x, y, f"{style.folded(name)}\n{flops(y)}", colour, mark))
        style.beside(figure, axes, labels, fontsize=9.5)
        figure.draw_without_rendering()
        highest = max(copy for copy, _ in roofs.values())
        for source, (copy, _) in roofs.items():
            text = f"memory, {source}: {format_rate(copy, 'B/s')}"
            _along(axes, left, copy, text, words[source], above=copy == highest)
        alt = f"Roofline (FLOP/s over FLOP per byte). {title}: {'; '.join(said)}."
        return style.picture(figure, alt)


def _roofs(ceilings, published) -> dict[str, tuple[float, dict[str, float]]]:
    """Each roof, by where it is from: its bytes/s, and its FLOP/s by number type."""
    from accel_helpers.machine.hardware import peak

    measured = {product.dtype: product.rate for product in ceilings.products}
    roofs = {"measured": (ceilings.copy.rate, measured)}
    if published is not None and published.mem_bw_gb_s:
        peaks = {dtype: 1e12 * (peak(published, dtype) or 0) for dtype in measured}
        if peaks := {dtype: rate for dtype, rate in peaks.items() if rate}:
            roofs["published"] = (1e9 * published.mem_bw_gb_s, peaks)
    return roofs


def _along(axes, left, copy, text, colour, *, above: bool) -> None:
    """Write along the slope of a roof, from its left end."""
    start, end = axes.transData.transform([(left, copy * left), (10 * left, 10 * copy * left)])
    angle = math.atan2(*(end - start)[::-1])
    along, away = (16, 3) if above else (8, -3)  # points, of the slope
    x, y = math.cos(angle), math.sin(angle)
    shift = along * x - away * y, along * y + away * x
    font = {"fontsize": 9.5, "color": colour, "va": "bottom" if above else "top"}
    font |= {"rotation": math.degrees(angle), "rotation_mode": "anchor"}
    axes.annotate(text, (left, copy * left), shift, textcoords="offset points", **font)


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
