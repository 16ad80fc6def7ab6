"""What every picture of the course is made of: one style, one kind of value, a few small helpers.

Colours are from Okabe and Ito's palette, which colour-blind people can tell apart
(https://jfly.uni-koeln.de/color/). `plots` draws with these; nothing here draws by itself.
"""

from __future__ import annotations

import io
import math
from dataclasses import dataclass, field

OWN, REFERENCE, SECOND, THIRD = "#0072B2", "#8C8C8C", "#D55E00", "#E69F00"
PARTS, GREYS = (OWN, THIRD, SECOND), ("#595959", REFERENCE, "#BFBFBF")
STYLE = {
    "font.size": 11,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": "#555555",
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "#E4E4E4",
    "xtick.color": "#333333",
    "ytick.color": "#333333",
    "figure.facecolor": "white",
}
DPI = 160
AROUND = (  # where a label may lie around its dot: (to the right, up)
    *((1, 0), (1, -0.6), (0, -1), (-1, 0), (-1, -0.6), (0, 1), (1, 0.6), (-1, 0.6)),
    *((1, -1), (-1, -1), (0.5, -1), (-0.5, -1), (0.5, 1), (-0.5, 1), (1, 1), (-1, 1)),
)


@dataclass(frozen=True)
class Picture:
    """A picture with the sentence that says what it shows.

    Attributes
    ----------
    png : bytes
    alt : str
        What a reader learns who cannot see it.
    """

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


# ---------------------------------------------------------------------------------------------


class _figure:
    """A figure of its own, in the course's style, without pyplot's global state."""

    def __init__(self, width: float, height: float):
        self.size = (width, height)

    def __enter__(self):
        import matplotlib
        from matplotlib.figure import Figure

        self.style = matplotlib.rc_context(STYLE)
        self.style.__enter__()
        figure = Figure(figsize=self.size, layout="constrained")
        return figure, figure.add_subplot()

    def __exit__(self, *error):
        return self.style.__exit__(*error)


def _title(figure, title: str, note: str = "") -> None:
    """A title over the whole width, since an axes' own title ends where the axes end."""
    figure.suptitle(title, x=0.01, ha="left", fontsize=12.5, fontweight="bold")
    if note:
        line = 1 - 0.31 / figure.get_figheight()
        figure.text(0.01, line, note, fontsize=9.5, va="top")


def _short(ratio: float) -> str:
    if ratio >= 100:
        return f"{ratio:.0f}"
    digits = 2  # and as many more as tell a ratio from 1, which would say "no difference"
    while f"{ratio:.{digits}g}" == "1" and ratio != 1 and digits < 5:
        digits += 1
    return f"{ratio:.{digits}g}"


def _picture(figure, alt: str) -> Picture:
    file = io.BytesIO()
    figure.savefig(file, format="png", dpi=DPI, metadata={"Software": None})
    return Picture(file.getvalue(), alt)


def _lean(png: bytes) -> bytes:
    """The picture with 256 colours, a third of its bytes."""
    from PIL import Image

    file = io.BytesIO()
    few = Image.open(io.BytesIO(png)).convert("RGB").quantize(256)
    few.save(file, "png", optimize=True)
    return file.getvalue()


def _beside(figure, axes, entries, fontsize: float = 10) -> None:
    """Labels to the right of the axes, at the height of what they name, pushed apart.

    An entry is (x, y, text, colour) in data coordinates, and maybe how its mark is drawn.
    """
    from matplotlib.transforms import offset_copy

    figure.draw_without_rendering()
    box, dpi = axes.get_window_extent(), figure.dpi
    entries = sorted(entries, key=lambda entry: entry[1])
    wanted = [axes.transData.transform(entry[:2])[1] for entry in entries]
    lines = [entry[2].count("\n") + 1 for entry in entries]
    heights = [(1.25 * n + 0.25) * fontsize * dpi / 72 for n in lines]
    places = _apart(wanted, heights, box.y0, box.y1)
    beside = offset_copy(axes.transAxes, figure, x=33, units="points")
    for (x, y, text, colour, *mark), place in zip(entries, places, strict=True):
        height = (place - box.y0) / box.height
        axes.annotate(
            text,
            (x, y),
            xytext=(1, height),
            textcoords=beside,
            va="center",
            color="black" if mark else colour,
            fontsize=fontsize,
            annotation_clip=False,
            arrowprops={
                "arrowstyle": "-",
                "color": colour,
                "lw": 0.8,
                "ls": ":" if mark else "-",  # no line of data
                "relpos": (0, 0.5),
                "shrinkA": 18 if mark else 1,
                "shrinkB": 6 if mark else 0,
            },
        )
        if mark:
            key = offset_copy(axes.transAxes, figure, x=20, units="points")
            axes.plot([1], [height], transform=key, clip_on=False, color=colour, **mark[0])


def _apart(wanted, heights, bottom: float, top: float) -> list[float]:
    """Places for labels from low to high: as near as can be to where they want to be.

    Labels that would overlap form a group, which is centred on what its members want.
    """
    groups = []  # (sum of wishes of the lowest member, members, height in all)
    for want, height in zip(wanted, heights, strict=True):
        groups.append([want - height / 2, 1, height])
        while len(groups) > 1:
            (wish, n, tall), (next_wish, next_n, next_tall) = groups[-2:]
            if wish / n + tall <= next_wish / next_n:
                break
            groups[-2:] = [[wish + next_wish - next_n * tall, n + next_n, tall + next_tall]]
    lows, limit = [], top
    for wish, n, tall in reversed(groups):
        lows.insert(0, max(bottom, min(wish / n, limit - tall)))
        limit = lows[0]
    places, above, i = [], bottom, 0
    for (_, n, _), low in zip(groups, lows, strict=True):
        low = max(low, above)  # where there is no room for all, the axes are left at their top
        for height in heights[i : i + n]:
            places.append(low + height / 2)
            low += height
        above, i = low, i + n
    return places


def _free_place(figure, axes, points, boxes, lines, fontsize: float = 9.5) -> None:
    """Label points inside the axes, each where its text covers no other thing.

    `points` are texts with (x, y); `boxes` are taken already; `lines` are (x, y, x, y).
    """
    import numpy as np

    inside, unit = axes.get_window_extent(), figure.dpi / 72
    dots = axes.transData.transform(list(points.values())) if points else []
    things = [(*box.extents, 100) for box in boxes]  # what a label would cover, and how bad it is
    things += [(x - 7, y - 7, x + 7, y + 7, 300) for x, y in dots]
    for ends in lines:
        ends = axes.transData.transform([ends[:2], ends[2:]])
        things += [(x - 2, y - 2, x + 2, y + 2, 4) for x, y in np.linspace(*ends, 100)]
    for (text, point), dot in zip(points.items(), dots, strict=True):
        style = {"ha": "center", "va": "center", "fontsize": fontsize, "zorder": 5}
        style["bbox"] = {"fc": "white", "ec": "none", "alpha": 0.85, "pad": 0.5}
        arrow = {"arrowstyle": "-", "color": "#555555", "lw": 0.8, "shrinkA": 0, "shrinkB": 4}
        label = axes.annotate(
            text, point, xytext=(0, 0), textcoords="offset points", arrowprops=arrow, **style
        )
        taken, size = np.array(things), label.get_window_extent()
        half, best = np.array([size.width / 2, size.height / 2]), None
        for away in (8, 12, 18, 26, 36, 48, 62, 78, 96, 116, 140):
            for side in AROUND:
                centre = dot + side * (half + away * unit)
                way = np.linspace(dot, centre, 16)  # of its leader
                way = way[np.hypot(*(way - dot).T) > 16] if away > 12 else way[:0]
                low, high = centre - half - 2, centre + half + 2
                covers = np.all((taken[:, :2] < high) & (taken[:, 2:4] > low), axis=1)
                cost = taken[covers, 4].sum() + away / 2
                steps = way[:, None]
                hits = np.all((taken[:, :2] < steps) & (taken[:, 2:4] > steps), axis=2)
                cost += np.minimum(40, hits @ taken[:, 4]).sum()
                cost += 10_000 * (any(low < inside.min) + any(high > inside.max))
                if best is None or cost < best[0]:
                    best = (cost, away, centre, low, high, way)
        _, away, centre, low, high, way = best
        label.set_position((centre - dot) / unit)
        label.arrow_patch.set_visible(away > 12)
        things += [(*low, *high, 1000), *((x - 2, y - 2, x + 2, y + 2, 40) for x, y in way)]


def _log_ticks(axis, low, high, text, ticks=None, last=None) -> None:
    """Ticks that suit how far a log axis reaches, written out instead of as powers of ten."""
    from matplotlib.ticker import FixedLocator, LogLocator, NullFormatter

    reach = last or high  # beyond `last` there is text and no data
    decades = math.log10(reach / low)
    subs = (1,) if decades > 2.5 else (1, 2, 5) if decades > 0.8 else (1, 1.5, 2, 3, 5, 7)
    if decades < 0.3:
        subs = (1, 1.1, 1.2, 1.3, 1.4, 1.5, 1.7, 2, 2.5, 3, 4, 5, 6, 7, 8, 9)
    locator = LogLocator(subs=subs, numticks=8 if decades > 7 else 12)
    if last:
        ticks = [tick for tick in locator.tick_values(low, last) if tick <= 1.001 * last]
    axis.set_major_locator(FixedLocator(ticks) if ticks else locator)
    axis.set_major_formatter(lambda value, _: text(value))
    axis.set_minor_formatter(NullFormatter())
    if ticks:
        axis.set_minor_locator(FixedLocator([]))


def _room(figure, axes, labels) -> None:
    """Widen a log axis to the right until the texts that begin at these places fit."""
    figure.draw_without_rendering()
    left, right = map(math.log, axes.get_xlim())
    wide = axes.get_window_extent().width
    for place, label in labels:
        share = min(0.7, (label.get_window_extent().width + 16) / wide)
        right = max(right, left + (math.log(place) - left) / (1 - share))
    axes.set_xlim(math.exp(left), math.exp(right))


def _along(figure, axes, left, copy, text, colour, sides, dots) -> list:
    """Write along the slope of a roof where no dot lies; the boxes that the text then covers."""
    from matplotlib.transforms import Bbox

    ends = axes.transData.transform([(left, copy * left), (10 * left, 10 * copy * left)])
    decade = math.dist(*ends)
    along = (ends[1] - ends[0]) / decade
    up = along[::-1] * (-1, 1)
    style = {"color": colour, "fontsize": 9.5, "rotation_mode": "anchor"}
    angle = math.degrees(math.atan2(along[1], along[0]))
    label = axes.annotate(
        text, (left, copy * left), xytext=(0, 0), textcoords="offset points", **style
    )
    wide, unit = label.get_window_extent().width, figure.dpi / 72
    best = None
    for start in (0.06, 0.3, 0.6, 0.9, 1.3, 1.7):
        for side in sides:
            if side > 0:  # written above, it leans over the left end
                start = max(start, 16 * unit * abs(up[0]) / decade)
            line = [
                ends[0] + (start * decade + k * wide / 12) * along + 9 * unit * side * up
                for k in range(13)
            ]
            near = min((math.dist(a, b) for a in line for b in dots), default=99)
            if best is None or min(near, 20) > min(best[0], 20):
                best = (near, start, side, line)
    _, start, side, line = best
    label.set(rotation=angle, va="bottom" if side > 0 else "top")
    label.xy = (left * 10**start, copy * left * 10**start)
    label.set_position((4 * side * up[0], 4 * side * up[1]))
    return [Bbox.from_bounds(x - 8, y - 8, 16, 16) for x, y in line]


def _plain(value: float) -> str:
    return f"{value:,.12g}"
