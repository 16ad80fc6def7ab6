"""The pictures: rows with intervals, bars in pieces, lines, and a roofline.

Its title is what a picture found. Colours: Okabe and Ito, https://jfly.uni-koeln.de/color/.
"""

import io
import textwrap
from collections.abc import Callable, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial

from accel_helpers._values.words import format_rate, format_seconds, percent, shown

OWN, PALE = "#0072B2", "#9CC3DC"  # the learner's result; what the title is not about
OTHER, GREY = "#D55E00", "#595959"
COLOURS = (OWN, "#E69F00", OTHER, "#009E73", "#CC79A7", "#56B4E9", "#000000")
# A piece of a step or of an epoch has the same colour in every picture.
NAMES = ("compute", "memory", "overhead", "input", "wait", "validation", "callbacks")
PIECES = dict(zip(NAMES, COLOURS, strict=True))
STYLE: dict = {
    "font.size": 9.5,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "#E4E4E4",
    "figure.constrained_layout.w_pad": 0.08,
    "figure.constrained_layout.h_pad": 0.06,
}
PAPER = {"fc": "white", "ec": "none", "pad": 0.5}  # behind words, so that no line strikes them
DPI = 160
WIDE = 5.4  # inches of a picture; a page shows 100 dots for each
WIDEST = 8.6
Axis = tuple[str, Callable[[float], str]]  # what it says, and what writes its numbers
number = "{:,.12g}".format  # a number beside an axis that has no unit
_flops = partial(format_rate, unit="FLOP/s")


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
        shown = {"width": pixels * 100 // DPI, "alt": self.alt}
        data = {"image/png": self.png, "text/plain": self.alt}
        return data, {"image/png": shown}


@contextmanager
def drawing(title: str, height: float, width: float = WIDE):
    """Make axes of so many inches under a title, without pyplot's global state."""
    import matplotlib
    from matplotlib.figure import Figure

    with matplotlib.rc_context(STYLE):
        figure = Figure((width, height), layout="constrained")
        _entitle(figure, title)
        yield figure.subplots()


def _entitle(figure, title: str) -> None:
    """Write a title above a figure, which grows by the title's lines."""
    title = title[:1].upper() + title[1:]
    width, height = figure.get_size_inches()
    lines = textwrap.wrap(title, int(11.2 * width))
    figure.set_size_inches(width, height + 0.2 * len(lines))
    figure.suptitle("\n".join(lines), x=0.01, ha="left", size=11, weight="bold")
    figure.set_label(title)


def show(figure, finding: str) -> Picture:
    """Return a figure of pyplot's as a picture under the sentence that says what was found."""
    from matplotlib import pyplot

    # Else the notebook shows the bare figure, too.
    pyplot.close(figure)
    _entitle(figure, finding)
    return finished(figure)


def finished(figure, texts: Sequence[str] = ()) -> Picture:
    """Return what was drawn, in 256 colours: a third of the bytes; title and texts describe it."""
    from PIL import Image

    full = io.BytesIO()
    figure.savefig(full, format="png", dpi=DPI)
    few_colours = Image.open(full).convert("RGB").quantize(256)
    small = io.BytesIO()
    few_colours.save(small, "png", optimize=True)
    alt = figure.get_label()
    if texts:
        content = "; ".join(texts)
        alt = f"{alt}: {content}"
    return Picture(small.getvalue(), f"{alt}.")


def scale(axis, label: str, text: Callable[[float], str], log: bool = False) -> None:
    """Name one of the two axes, and set its few ticks."""
    from matplotlib.ticker import Locator, LogLocator, MaxNLocator, NullFormatter

    locator: Locator = MaxNLocator(6, steps=(1, 2, 5, 10))
    if log:
        setting = {f"{axis.axis_name}scale": "log"}
        axis.axes.set(**setting)
        low, high = axis.get_view_interval()
        steps = [1]
        if high < 100 * low:
            steps = [1, 2, 5]
        locator = LogLocator(subs=steps, numticks=7)
        axis.set_minor_formatter(NullFormatter())
        label = f"{label} (log scale)"
    axis.set_label_text(label)
    axis.set_major_locator(locator)
    axis.set_major_formatter(lambda value, _: text(value))


@dataclass(frozen=True)
class Row:
    """A thing with its dots, the bar of its interval, its middle, and a note beside it."""

    name: str
    note: str
    dots: Sequence[float] = ()
    interval: tuple[float, float] | None = None
    middle: float | None = None
    colour: str = OWN


def rows(
    things: Sequence[Row],
    x: Axis,
    *,
    title: str,
    log: bool = False,
    start: float = 0,
    levels: Mapping[str, float] | None = None,
) -> Picture:
    """Draw things below each other, from `start` on; `levels` are upright lines, by their names."""
    levels = levels or {}
    texts = list(levels)
    letters = 0
    names = []
    for thing in things:
        texts.append(f"{thing.name} {thing.note}".rstrip())
        letters = max(letters, len(thing.note))
        name = textwrap.fill(thing.name, 26)
        names.append(name)
    lines = "\n".join(names).count("\n") + 1
    height = 0.7 + 0.12 * len(things) + 0.19 * lines
    width = 4.4 + 0.075 * letters
    width = min(max(width, WIDE), WIDEST)
    with drawing(title, height, width) as axes:
        for place, thing in enumerate(things):
            _draw_row(axes, place, thing)
        for name, value in levels.items():
            axes.axvline(value, color=GREY, ls="--")
            above = {"ha": "center", "va": "bottom", "annotation_clip": False}
            axes.annotate(name, (value, -0.6), **above)
        axes.set_yticks(range(len(things)), names)
        axes.set_ylim(len(things) - 0.5, -0.5)
        axes.grid(axis="y", visible=False)
        scale(axes.xaxis, *x, log)
        if not log:
            axes.set_xlim(left=start)
        return finished(axes.figure, texts)


def _draw_row(axes, place: int, row: Row) -> None:
    """Draw a row: its bar is solid where no dots are to be seen in it."""
    if row.interval:
        low, high = row.interval
        alpha = 1.0
        if row.dots:
            alpha = 0.4
        axes.barh(place, high - low, 0.55, low, color=row.colour, alpha=alpha)
    heights = [float(place)]
    if len(row.dots) != 1:
        # At different heights, so that each dot can be seen.
        numbers = range(len(row.dots))
        heights = [place + 0.03 * (7 * number % 11 - 5) for number in numbers]
    axes.plot(row.dots, heights, "o", color=row.colour, ms=4, mew=0, alpha=0.7)
    if row.middle:
        axes.plot([row.middle], [place], "|", color="black", ms=12, mew=1.6)
    beside = axes.get_yaxis_transform()
    axes.annotate(row.note, (1, place), (6, 0), beside, "offset points", va="center")


def bars(things: Mapping[str, Mapping[str, float]], *, title: str) -> Picture:
    """Draw a step of each thing as a bar in pieces, given in seconds; one may lack a piece."""
    pieces_of_all: dict[str, float] = {}
    for pieces in things.values():
        pieces_of_all |= pieces
    colours = colours_of(pieces_of_all)
    starts = [0.0] * len(things)
    texts = list(things)
    with drawing(title, 1.0 + 0.32 * len(things)) as axes:
        for piece, colour in colours.items():
            lengths = [pieces.get(piece, 0.0) for pieces in things.values()]
            axes.barh(list(things), lengths, 0.62, starts, color=colour, label=piece)
            for place, length in enumerate(lengths):
                starts[place] += length
                duration = format_seconds(length)
                texts[place] += f", {piece} {duration}"
        for place, total in enumerate(starts):
            duration = format_seconds(total)
            axes.annotate(f" {duration}", (total, place), va="center")
        axes.set_xlim(0, 1.15 * max(starts))
        axes.invert_yaxis()
        axes.grid(axis="y", visible=False)
        above = {"loc": "lower left", "bbox_to_anchor": (0, 1), "ncols": len(colours)}
        axes.legend(frameon=False, handlelength=1, **above)
        scale(axes.xaxis, "time of a step", format_seconds)
        return finished(axes.figure, texts)


def colours_of(pieces: Mapping[str, float]) -> dict[str, str]:
    """Return the colour of each piece; those that are in no other picture take turns."""
    colours = {}
    for place, piece in enumerate(pieces):
        other = COLOURS[place % len(COLOURS)]
        colours[piece] = PIECES.get(piece, other)
    return colours


def lines(
    curves: Mapping[str, Mapping],
    x: Axis,
    y: Axis,
    *,
    title: str,
    log: bool = False,
    dashed: Sequence[str] = (),
    marks: Mapping[str, tuple[float, float]] | None = None,
) -> Picture:
    """Draw lines of one number over another, at most seven, with their names on the right.

    A curve maps x to y, a number or a Measurement. `dashed` names those that were not measured.
    """
    _, write_x = x
    _, write_y = y
    texts = []
    with drawing(title, 2.8) as axes:
        for colour, (name, curve) in zip(COLOURS, curves.items(), strict=False):
            look = "o-"
            if name in dashed:
                look = "--"
            places = list(curve)
            middles = []
            lows = []
            highs = []
            for value in curve.values():
                middle = getattr(value, "median", value)
                low, high = getattr(value, "interval", (value, value))
                middles.append(middle)
                lows.append(low)
                highs.append(high)
            label = textwrap.fill(name, 22)
            axes.plot(places, middles, look, color=colour, ms=3.5, label=label)
            axes.fill_between(places, lows, highs, color=colour, alpha=0.3)
            ends = [f"{write_y(middles[end])} at {write_x(places[end])}" for end in (0, -1)]
            texts.append(f"{name} from {' to '.join(ends)}")
        scale(axes.xaxis, *x, log)
        scale(axes.yaxis, *y, log)
        # Their names stand in the order in which they end, from above.
        ordered = sorted(axes.lines, key=lambda line: line.get_ydata()[-1], reverse=True)
        right = (1, 0.5)
        axes.legend(handles=ordered, loc="center left", bbox_to_anchor=right, frameon=False)
        from_the_left = sorted((marks or {}).items(), key=lambda mark: mark[1])
        for place, (text, point) in enumerate(from_the_left):
            axes.plot(*point, "o", color="black", ms=5, zorder=4)
            # The first one's words stand on its right, away from the axis; two may be close.
            beside = {"xytext": (7, -11), "ha": "left"}
            if place % 2:
                beside = {"xytext": (-7, 4), "ha": "right"}
            axes.annotate(text, point, textcoords="offset points", zorder=4, **beside)
            texts.append(text)
        return finished(axes.figure, texts)


def roofline(
    points: Mapping[str, tuple[float, float]],
    roofs: Mapping[str, tuple[float, float]],
    *,
    title: str,
    step: str,
    goal: str = "",
) -> Picture:
    """Draw what programs reached under what a machine can reach, and an arrow from `step` up.

    With a `goal` the arrow leads there, to another point, and that one stands out.

    By Williams, Waterman and Patterson, Communications of the ACM 52 (2009), 65. `points` are
    (FLOP per byte moved, FLOP per second), `roofs` (bytes, FLOP per second), one's own first.
    """
    own_memory, own_compute = next(iter(roofs.values()))
    ridge = own_compute / own_memory
    across = [ridge, *(each for each, _ in points.values())]
    left = min(across) / 4
    right = 8 * max(across)
    looks: list[dict] = [{"color": OWN, "lw": 2.2}, {"color": GREY, "ls": "--"}]
    texts = []
    with drawing(title, 3.4) as axes:
        write = partial(axes.annotate, textcoords="offset points", bbox=PAPER)
        for look, (name, (memory, compute)) in zip(looks, roofs.items(), strict=True):
            places = [left, compute / memory, right]
            heights = [left * memory, compute, compute]
            axes.plot(places, heights, **look)
            level = _flops(compute)
            text = f"{name}: {level}"
            write(text, (right, compute), (0, 6), ha="right", color=look["color"])
            texts.append(text)
        for name, (each, rate) in points.items():
            colour = GREY
            size = 4
            side = "left"
            if each == max(across):
                side = "center"
            if name == (goal or step):
                colour = OTHER
                size = 8
                side = "center"
            axes.plot(each, rate, "o", color=colour, ms=size)
            write(name, (each, rate), (3, -6), ha=side, va="top", color=colour)
            reached = _flops(rate)
            texts.append(f"{name} {reached} at {each:.3g}")
        each, rate = points[step]
        roof = (each, min(own_compute, each * own_memory))
        arrow = {"arrowstyle": "->", "color": OTHER, "lw": 1.8}
        axes.annotate("", points.get(goal, roof), (each, rate), arrowprops=arrow)
        axes.axvline(ridge, color=OWN, lw=0.8, ls=":")
        top = axes.get_xaxis_transform()
        write("memory-bound | compute-bound", (ridge, 1), (0, 3), top, ha="center", color=OWN)
        axes.margins(y=0.12)
        scale(axes.xaxis, "FLOP per byte moved", number, log=True)
        scale(axes.yaxis, "FLOP per second", _flops, log=True)
        return finished(axes.figure, texts)


def plot(result, *, title: str = "") -> Picture:
    """Draw what one of the verbs returned.

    Parameters
    ----------
    result : Measurement, Speedup, FitTiming, Profile, Parts or mapping
        A mapping is of names to seconds, the parts of one step.
    title : str, optional
        Above the picture: what was found. By default what the result says of itself.

    Returns
    -------
    Picture
        A TypeError for anything else.

    Examples
    --------
    >>> print(plot({"compute": 0.001, "overhead": 0.003}))
    75% of a step is overhead: a step, compute 1 ms, overhead 3 ms.
    """
    if isinstance(result, Mapping) and result:
        return bars({"a step": result}, title=title or largest(result))
    if not hasattr(result, "drawn"):
        raise TypeError(
            "plot draws a Measurement, a comparison, the epochs of time_fit, a profile, or the "
            f"parts of a step, also as a mapping of names to seconds; got {shown(result)}."
        )
    title = title or result.finding
    return result.drawn(title)


def largest(pieces: Mapping[str, float], whole: str = "a step") -> str:
    """Say which piece is the largest, and its share of the whole."""
    name = max(pieces, key=pieces.__getitem__)
    total = sum(pieces.values())
    share = percent(pieces[name] / total)
    return f"{share} of {whole} is {name}"
