"""What every picture is made of: its colours, a figure, the scale of an axis, labels beside it.

The colours are Okabe and Ito's (https://jfly.uni-koeln.de/color/), and none carries meaning alone.
"""

import io
import math
import textwrap
from collections.abc import Callable, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Any

OWN = "#0072B2"  # the learner's machine
SECOND = "#D55E00"
THIRD = "#E69F00"
COLOURS = (OWN, THIRD, SECOND, "#009E73", "#CC79A7", "#56B4E9", "#000000")
MARKS = ("o", "s", "D", "^", "v", "P", "X")  # as many as there are colours
INK = "#333333"  # text
SAID = "#595959"  # text in grey, and lines that show no data
EDGE = "#8C8C8C"  # the edge of a box
QUIET = "#BFBFBF"  # the edge of a box in which nothing happens
BROWN = "#7A5400"
EMPTY = "#ECECEC"  # the face of a box in which nothing happens
PIECES = ("compute", "memory", "overhead", "wait")  # of a step's bar: each in a colour of its own
BARS = "Bars: intervals of 95 % or more."
STYLE = {
    "font.size": 9.5,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": SAID,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "#E4E4E4",
    "xtick.color": INK,
    "ytick.color": INK,
}
DPI = 160
WIDE = 5.4  # inches of a picture; a page shows 100 dots for each
Numbers = Mapping[str, Sequence[float]]  # of several things, by their names
plain = "{:,.12g}".format  # a number beside an axis, without a unit
folded = partial(textwrap.fill, width=26)  # a name in lines of so many letters


@dataclass(frozen=True)
class Picture:
    """A picture with the sentence that says what it shows."""

    png: bytes = field(repr=False)
    alt: str

    def __str__(self) -> str:
        return self.alt

    def _repr_mimebundle_(self, include=None, exclude=None):
        # Bytes 16 to 19 of a PNG hold its width in pixels.
        pixels = int.from_bytes(self.png[16:20], "big")
        width = pixels * 100 // DPI
        shown = {"image/png": self.png, "text/plain": self.alt}
        metadata = {"image/png": {"width": width, "alt": self.alt}}
        return shown, metadata


@dataclass(frozen=True)
class Label:
    """A text to the right of the axes, for the point (x, y) of the data."""

    x: float
    y: float
    text: str
    colour: str
    mark: Mapping[str, Any] | None = None  # how its point is drawn, repeated as a key


def short(ratio: float) -> str:
    """A ratio in two digits, or in as many as tell it from 1, which would say "no difference"."""
    if ratio >= 100:
        return f"{ratio:.0f}"
    for count in (2, 3, 4, 5):
        text = f"{ratio:.{count}g}"
        if text != "1":
            return text
    return "1"


@contextmanager
def figure(width: float, height: float, title: str = "", panels: int = 1, under: str = ""):
    """Make a figure of so many inches and its axes, without pyplot's global state.

    The axes of several `panels` stand side by side, with one y axis for all. The `title` stands
    above them, and the note `under` it; both are wrapped to the width of the figure.
    """
    import matplotlib
    from matplotlib.figure import Figure

    title = textwrap.fill(title, int(11 * width))
    note = _wrap_note(under, int(15 * width))
    text_lines = title.count("\n") + len(note)
    with matplotlib.rc_context(STYLE):
        size = (width, height + 0.18 * text_lines)
        drawing = Figure(size, layout="constrained")
        drawing.get_layout_engine().set(w_pad=0.08, h_pad=0.06)
        axes = drawing.subplots(1, panels, sharey=True)
        if title:
            _write_title(drawing, title, note)
        yield drawing, axes


def _wrap_note(note: str, letters: int) -> list[str]:
    """The lines of a note, each of so many letters at most."""
    lines = []
    for paragraph in note.split("\n"):
        lines += textwrap.wrap(paragraph, letters)
    return lines


def _write_title(figure, title: str, note: list[str]) -> None:
    """Write a title and the note below it over the whole width of a figure."""
    from matplotlib.text import Annotation

    # An axes' own title would end where the axes end. Its empty lines keep the note's place.
    heading = title + len(note) * "\n "
    font = {"ha": "left", "fontsize": 11, "fontweight": "bold"}
    drawn_title = figure.suptitle(heading, x=0.01, **font)
    look = {"fontsize": 9, "color": INK, "va": "bottom"}
    lines = "\n".join(note)
    annotation = Annotation(lines, (0, 0), xycoords=drawn_title, **look)
    figure.add_artist(annotation)


def picture(figure, alt: str, dpi: int = DPI) -> Picture:
    """Turn a figure into a PNG of 256 colours, a third of the bytes, with its alt text."""
    from PIL import Image

    full = io.BytesIO()
    figure.savefig(full, format="png", dpi=dpi)
    image = Image.open(full).convert("RGB")
    small = io.BytesIO()
    image.quantize(256).save(small, "png", optimize=True)
    return Picture(small.getvalue(), alt)


def scale(axis, label, low, high, text, *, log=False, whole=False, at=()) -> None:
    """Set the label, the ends and the ticks of an axis.

    Parameters
    ----------
    axis : matplotlib.axis.Axis
        The axis, such as ``axes.xaxis``.
    label : str
        What stands beside it.
    low : float
        Where it begins.
    high : float
        Where it ends.
    text : callable
        What writes the number of a tick.
    log : bool
        Whether it is logarithmic.
    whole : bool
        Whether ticks stand at whole numbers only.
    at : sequence of float
        Where all ticks stand. By default they are spread over the axis.
    """
    from matplotlib.ticker import FixedLocator, NullFormatter

    kind = "linear"
    if log:
        kind = "log"
        label = f"{label} (log scale)"
    # "x" or "y": the axes have a setting of each name for either.
    name = axis.axis_name
    settings = {f"{name}scale": kind, f"{name}lim": (low, high), f"{name}label": label}
    axis.axes.set(**settings)
    if at:
        axis.set_major_locator(FixedLocator(at))
        axis.set_minor_locator(FixedLocator([]))
    else:
        decades = 0
        if log:
            decades = math.log10(high / low)
        axis.set_major_locator(_locator(decades, whole))
    axis.set_major_formatter(tick_format(text))
    axis.set_minor_formatter(NullFormatter())


def tick_format(text: Callable[[float], str]) -> Callable[[float, int], str]:
    """Make a function of (value, position) for matplotlib, which writes 0 without a unit."""

    def write(value, _):
        if value == 0:
            return "0"
        return text(value)

    return write


def _locator(decades: float, whole: bool):
    """What places the ticks of an axis of so many decades, 0 for one that is not logarithmic."""
    from matplotlib.ticker import LogLocator, MaxNLocator

    if decades > 2.8:
        return LogLocator(subs=(1,), numticks=8)
    if decades > 0.8:
        return LogLocator(subs=(1, 2, 5), numticks=8)
    most_ticks = 6
    if whole:
        most_ticks = 8
    return MaxNLocator(most_ticks, integer=whole, min_n_ticks=1, steps=(1, 2, 5, 10))


def beside(figure, axes, labels: Sequence[Label]) -> None:
    """Write labels to the right of the axes so that none covers another."""
    # The layout decides where the axes end.
    figure.draw_without_rendering()
    labels = sorted(labels, key=lambda label: label.y)
    middles = _spread(figure, axes, labels)
    box = axes.get_window_extent()
    for label, middle in zip(labels, middles, strict=True):
        height = (middle - box.y0) / box.height
        _write_beside(figure, axes, label, height)


def _spread(figure, axes, labels: Sequence[Label]):
    """The middle of each label from the lowest on, in pixels: as near to its point as it can be."""
    import numpy as np

    targets = []
    line_counts = []
    for label in labels:
        _, pixel = axes.transData.transform((label.x, label.y))
        targets.append(pixel)
        line_counts.append(1.25 * label.text.count("\n") + 1.5)
    point = figure.dpi / 72
    heights = 9 * point * np.array(line_counts)
    # Where the labels were if they stood upon each other, from 0 on; each is then lifted at least
    # as far as the one below it.
    stacked = heights.cumsum() - heights / 2
    lifts = np.maximum.accumulate(targets - stacked)
    box = axes.get_window_extent()
    return stacked + np.clip(lifts, box.y0, box.y1 - heights.sum())


def _write_beside(figure, axes, label: Label, height: float) -> None:
    """Write a label at a height (a share of the axes'), with its mark and a line to its point."""
    from matplotlib.transforms import offset_copy

    gap = 2
    if label.mark:
        gap = 18
        place = offset_copy(axes.transAxes, figure, x=20, units="points")
        key = {"transform": place, "clip_on": False, "color": label.colour}
        axes.plot([1], [height], **key, **label.mark)
    # A dotted line, which is no line of data.
    leader = {"arrowstyle": "-", "color": label.colour, "lw": 0.8, "ls": ":"}
    leader |= {"relpos": (0, 0.5), "shrinkA": gap, "shrinkB": 6}
    if label.mark and _share_across(axes, label) < 0.6:
        # It would run through the data, and the mark says which point is meant.
        leader = None
    place = offset_copy(axes.transAxes, figure, x=33, units="points")
    look = {"va": "center", "color": INK, "fontsize": 9, "annotation_clip": False}
    look |= {"textcoords": place, "arrowprops": leader}
    axes.annotate(label.text, (label.x, label.y), (1, height), **look)


def _share_across(axes, label: Label) -> float:
    """Where the point of a label lies between the left (0) and the right edge (1) of the axes."""
    pixels = axes.transData.transform((label.x, label.y))
    across, _ = axes.transAxes.inverted().transform(pixels)
    return across
