"""What every picture is made of: its colours, a figure, the scale of an axis, labels beside it.

The colours are Okabe and Ito's (https://jfly.uni-koeln.de/color/), and none carries meaning alone.
"""

import io
import math
import os
import textwrap
from collections.abc import Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial

from accel_helpers.measure.results import Reference

OWN, REFERENCE = "#0072B2", "#767676"  # the learner's, and a reference run's
SECOND, THIRD = "#D55E00", "#E69F00"
COLOURS = (OWN, THIRD, SECOND, "#009E73", "#CC79A7", "#56B4E9", "#000000")
GREYS = (REFERENCE, "#949494", "#5A5A5A", "#303030")  # on white each has a contrast of 3 or more
MARKS = ("o", "s", "D", "^", "v", "P", "X")  # as many as there are colours
INK, SAID = "#333333", "#595959"  # text; what is said in grey, and lines of no data
EDGE, QUIET, BROWN, EMPTY = "#8C8C8C", "#BFBFBF", "#7A5400", "#ECECEC"  # of boxes; a face
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
folded = partial(textwrap.fill, width=26)  # a name, of so many letters in a line


@dataclass(frozen=True)
class Picture:
    """A picture with the sentence that says what it shows."""

    png: bytes = field(repr=False)
    alt: str

    def __str__(self) -> str:
        return self.alt

    def _repr_mimebundle_(self, include=None, exclude=None):
        width = int.from_bytes(self.png[16:20], "big") * 100 // DPI  # as a PNG's header has it
        return (
            {"image/png": self.png, "text/plain": self.alt},
            {"image/png": {"width": width, "alt": self.alt}},
        )


def palette(own: bool) -> tuple[str, ...]:
    return COLOURS if own else GREYS


def short(ratio: float) -> str:
    """Two digits, and as many more as tell a ratio from 1, which would say "no difference"."""
    if ratio >= 100:
        return f"{ratio:.0f}"
    texts = (f"{ratio:.{digits}g}" for digits in (2, 3, 4, 5))
    return next((text for text in texts if text != "1"), "1")


def sides(own, reference: Reference | None, note: str = "") -> tuple[list[tuple], str]:
    """What is drawn: data, whether they are the learner's, how their sentence begins; and a note.

    With ACCEL_PICTURES=reference, or where the learner has nothing, the reference is alone.
    """
    if reference is None:
        return [(own, True, "")], note
    machine = reference.label
    grey = (reference.data, False, f"on {machine}: ")
    if not own or os.environ.get("ACCEL_PICTURES") == "reference":
        return [grey], f"{note}\nMeasured on {machine}.".strip()
    return [(own, True, ""), grey], f"{note}\nGrey: {machine}.".strip()


@contextmanager
def figure(width: float, height: float, title: str = "", panels: int = 1, under: str = ""):
    """A figure of so many inches, without pyplot's global state, and its axes."""
    import matplotlib
    from matplotlib.figure import Figure
    from matplotlib.text import Annotation

    title, parts = textwrap.fill(title, int(11 * width)), under.split("\n")
    under = [line for part in parts for line in textwrap.wrap(part, int(15 * width))]
    with matplotlib.rc_context(STYLE):
        high = height + 0.18 * (title.count("\n") + len(under))
        made = Figure((width, high), layout="constrained")
        made.get_layout_engine().set(w_pad=0.08, h_pad=0.06)
        axes = made.subplots(1, panels, sharey=True)
        if title:  # over the whole width, since an axes' own title ends where the axes end
            font = {"ha": "left", "fontsize": 11, "fontweight": "bold"}
            head = made.suptitle(title + len(under) * "\n ", x=0.01, **font)
            look = {"xycoords": head, "fontsize": 9, "color": INK, "va": "bottom"}
            made.add_artist(Annotation("\n".join(under), (0, 0), **look))
        yield made, axes


def picture(figure, alt: str, dpi: int = DPI) -> Picture:
    """The figure as a PNG of 256 colours, a third of the bytes, and its sentence."""
    from PIL import Image

    drawn, few = io.BytesIO(), io.BytesIO()
    figure.savefig(drawn, format="png", dpi=dpi)
    Image.open(drawn).convert("RGB").quantize(256).save(few, "png", optimize=True)
    return Picture(few.getvalue(), alt)


def scale(axis, label, low, high, text, *, log=False, whole=False, at=()) -> None:
    """What an axis says and where it ends, and ticks `at` what suits, written out by `text`."""
    from matplotlib.ticker import FixedLocator, LogLocator, MaxNLocator, NullFormatter

    label += " (log scale)" * log
    of = {"scale": "log" if log else "linear", "lim": (low, high), "label": label}
    axis.axes.set(**{axis.axis_name + key: value for key, value in of.items()})
    decades = math.log10(high / low) if log else 0
    locator = MaxNLocator(8 if whole else 6, integer=whole, min_n_ticks=1, steps=(1, 2, 5, 10))
    if decades > 0.8:
        locator = LogLocator(subs=(1,) if decades > 2.8 else (1, 2, 5), numticks=8)
    axis.set_major_locator(FixedLocator(at) if at else locator)
    if at:  # what was tried, and nothing between
        axis.set_minor_locator(FixedLocator([]))
    axis.set_major_formatter(lambda value, _: text(value) if value else "0")
    axis.set_minor_formatter(NullFormatter())


def beside(figure, axes, entries) -> None:
    """Labels to the right of the axes, none upon another: x, y, text, colour, a mark as its key."""
    import numpy as np
    from matplotlib.transforms import offset_copy

    figure.draw_without_rendering()
    box, point = axes.get_window_extent(), figure.dpi / 72
    key, words = (offset_copy(axes.transAxes, figure, x=x, units="points") for x in (20, 33))
    entries = sorted(entries, key=lambda entry: entry[1])
    wanted = [axes.transData.transform(entry[:2])[1] for entry in entries]
    heights = 9 * point * np.array([1.25 * entry[2].count("\n") + 1.5 for entry in entries])
    stacked = heights.cumsum() - heights / 2  # their middles, if they stood upon each other
    lifts = np.maximum.accumulate(wanted - stacked)  # as little as possible is moved
    places = stacked + np.clip(lifts, box.y0, box.y1 - heights.sum())
    for (x, y, text, colour, mark), place in zip(entries, places, strict=True):
        height = (place - box.y0) / box.height
        arrow = {"arrowstyle": "-", "color": colour, "lw": 0.8, "ls": ":", "relpos": (0, 0.5)}
        arrow |= {"shrinkA": 18 if mark else 2, "shrinkB": 6}  # it is no line of data
        if mark:
            axes.plot([1], [height], transform=key, clip_on=False, color=colour, **mark)
            if axes.transAxes.inverted().transform(axes.transData.transform((x, y)))[0] < 0.6:
                arrow = None  # it would run through the data
        look = {"va": "center", "color": INK, "fontsize": 9, "arrowprops": arrow}
        look |= {"textcoords": words, "annotation_clip": False}
        axes.annotate(text, (x, y), (1, height), **look)
