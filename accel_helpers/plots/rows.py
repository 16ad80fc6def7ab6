"""Pictures of measurements. They draw what they are given and compute nothing.

The learner's own result is blue, reference runs are grey. Colours are from Okabe and Ito's
palette, which colour-blind people can tell apart (https://jfly.uni-koeln.de/color/), and no
colour carries meaning alone. Each function returns a `Picture` with a sentence beside it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from accel_helpers._words import format_seconds
from accel_helpers.measure.measurement import Measurement, Speedup
from accel_helpers.plots.style import (
    GREYS,
    OWN,
    PARTS,
    REFERENCE,
    SECOND,
    Picture,
    _figure,
    _picture,
    _short,
    _title,
)


def epochs(timing: Measurement, *, title: str = "Seconds per epoch", own: bool = True) -> Picture:
    """Every epoch of a fit, the first one set apart.

    Parameters
    ----------
    timing : Measurement
        Seconds per epoch, the first epoch as its `first_call`.
    title : str, optional
    own : bool, optional
        The learner's (blue) or a reference machine's (grey).

    Returns
    -------
    Picture
    """
    later = timing.samples
    colour = OWN if own else REFERENCE
    numbers = range(2, len(later) + 2)
    with _figure(7.2, 3.2) as (figure, axes):
        low, high = timing.interval
        axes.axhspan(low, high, color=colour, alpha=0.15, lw=0)
        axes.axhline(timing.median, color=colour, lw=1.2)
        axes.plot(numbers, later, "o", color=colour, ms=7)
        axes.plot([1], [timing.first_call], "o", mfc="white", mec=SECOND, mew=2, ms=8)
        apart = timing.first_call > 1.5 * max(later)
        top = 1.12 * max(timing.first_call, *later)
        below = min(timing.first_call, *later[:2]) - 0.28 * top  # clear of the dots beside it
        axes.annotate(
            "first epoch:\nalso compiles",
            (1, timing.first_call),
            xytext=(12, 0) if apart else (0.75, max(below, 0.03 * top)),
            textcoords="offset points" if apart else "data",
            va="center" if apart else "bottom",
            color=SECOND,
            arrowprops=None if apart else {"arrowstyle": "-", "color": SECOND},
        )
        axes.annotate(
            f"median {format_seconds(timing.median)}",
            (len(later) + 3, timing.median),
            xytext=(0, 5),
            textcoords="offset points",
            ha="right",
            color=colour,
        )
        axes.set(xlabel="epoch", ylabel="seconds", xticks=[1, *numbers])
        _title(figure, title)
        axes.set_ylim(0, top)
        axes.set_xlim(0.6, len(later) + 3.05)
        alt = (
            f"Dot plot. {title}: the first epoch took {format_seconds(timing.first_call)}, "
            f"the later ones a median of {format_seconds(timing.median)}."
        )
        return _picture(figure, alt)


def measurements(
    own: Sequence[Measurement],
    *,
    title: str,
    reference: Sequence[Measurement] = (),
    xlabel: str = "dot: sample; line: median; bar: 95 % interval",
) -> Picture:
    """Measurements below each other: every sample a dot, the interval a bar.

    Parameters
    ----------
    own : sequence of Measurement
        The learner's, in blue; their names are the labels.
    title : str
    reference : sequence of Measurement, optional
        Of other machines, in grey.
    xlabel : str, optional

    Returns
    -------
    Picture
    """
    from matplotlib.ticker import LogLocator

    rows = [(m, OWN) for m in own] + [(m, REFERENCE) for m in reference]
    with _figure(7.2, 1.3 + 0.62 * len(rows)) as (figure, axes):
        smallest = min(min(m.samples) for m, _ in rows)
        largest = max(max(m.samples) for m, _ in rows)
        log = largest > 8 * smallest
        for i, (m, colour) in enumerate(rows):
            shown = m.samples if len(m.samples) <= 200 else m.samples[:: len(m.samples) // 200]
            lift = [i + 0.16 * ((7 * k) % 11 / 5 - 1) for k in range(len(shown))]
            axes.plot(shown, lift, "o", color=colour, alpha=0.35, ms=4, mew=0)
            axes.plot(m.interval, [i, i], color=colour, lw=5, solid_capstyle="butt")
            axes.plot([m.median], [i], "|", color="black", ms=16, mew=2)
            axes.annotate(
                format_seconds(m.median),
                (m.median, i),
                xytext=(0, 11),
                textcoords="offset points",
                ha="center",
                color="black",
                fontsize=10,
            )
        if log:
            axes.set_xscale("log")
            axes.xaxis.set_major_locator(
                LogLocator(subs=(1, 2, 5) if largest < 100 * smallest else (1,))
            )
            axes.xaxis.set_minor_formatter("")
        else:
            axes.set_xlim(0, 1.08 * largest)
            axes.locator_params(axis="x", nbins=6)
        axes.xaxis.set_major_formatter(lambda value, _: format_seconds(value) if value else "0")
        axes.set_yticks(range(len(rows)), [m.name for m, _ in rows])
        axes.set_ylim(len(rows) - 0.4, -0.75)
        axes.grid(axis="y", visible=False)
        axes.set(xlabel=xlabel + (" (log scale)" if log else ""))
        _title(figure, title)
        values = "; ".join(f"{m.name} {format_seconds(m.median)}" for m, _ in rows)
        return _picture(figure, f"Dot plot. {title}: {values}.")


def heatmap(
    ratios: Mapping[tuple[int, int], Speedup],
    *,
    title: str,
    note: str,
    own: bool = True,
    xlabel: str = "batch size (pictures in a step)",
    ylabel: str = "width (hidden units)",
) -> Picture:
    """A table of ratios over two sizes; where nothing could be told it says so.

    Parameters
    ----------
    ratios : mapping of (row, column) to Speedup
    title, note : str
        The note stands under the title: how to read the numbers.
    own : bool, optional
        The learner's (violet and orange) or a reference machine's (grey).
    xlabel, ylabel : str, optional

    Returns
    -------
    Picture
    """
    from matplotlib import colormaps
    from matplotlib.colors import LogNorm

    rows = sorted({row for row, _ in ratios})
    columns = sorted({column for _, column in ratios})
    shown = [[ratios[row, column].ratio or 1.0 for column in columns] for row in rows]
    values = [value for line in shown for value in line]
    most = max(2.0, *values, *(1 / value for value in values))
    # two colours with white at 1; a reference table that knows no losses starts white at 1
    shades = colormaps["PuOr" if own or min(values) < 1 else "Greys"]
    norm = LogNorm(1 / most if own or min(values) < 1 else 1, most)
    with _figure(max(6.4, 1.9 + 1.25 * len(columns)), 1.9 + 0.62 * len(rows)) as (figure, axes):
        axes.imshow(shown, cmap=shades, norm=norm, origin="lower", aspect="auto")
        for i, row in enumerate(rows):
            for j, column in enumerate(columns):
                ratio = ratios[row, column].ratio
                text = "no measurable\ndifference"
                if ratio is not None:
                    low, high = ratios[row, column].interval
                    text = f"{_short(ratio)}\n({_short(low)} to {_short(high)})"
                red, green, blue, _ = shades(norm(shown[i][j]))
                dark = 0.299 * red + 0.587 * green + 0.114 * blue < 0.5
                axes.text(
                    j,
                    i,
                    text,
                    ha="center",
                    va="center",
                    color="white" if dark else "black",
                    fontsize=8 if ratio is None else 10,
                )
        axes.set_xticks(range(len(columns)), columns)
        axes.set_yticks(range(len(rows)), rows)
        axes.grid(visible=False)
        axes.set(xlabel=xlabel, ylabel=ylabel)
        _title(figure, f"{title}\n", f"{note} In brackets: the interval.")
        cells = "; ".join(
            f"{row} by {column}: {'no difference' if s.ratio is None else _short(s.ratio)}"
            for (row, column), s in sorted(ratios.items())
        )
        return _picture(figure, f"Table of ratios. {title}. {note} {cells}.")


def parts(values: Mapping[str, float], *, title: str, own: bool = True) -> Picture:
    """One bar in pieces, each with its name and its share.

    Parameters
    ----------
    values : mapping of str to float
        Name of a part to its seconds, in the order in which they are drawn.
    title : str
    own : bool, optional
        The learner's (coloured) or a reference machine's (grey).

    Returns
    -------
    Picture
    """
    total = sum(values.values())
    colours = PARTS if own else GREYS
    with _figure(7.2, 0.9 + 0.5 * len(values)) as (figure, axes):
        left = 0.0
        for i, seconds in enumerate(values.values()):
            axes.barh(i, seconds, left=left, color=colours[i % 3], height=0.62)
            share = f"{format_seconds(seconds)} ({100 * seconds / total:.0f} %)"
            end = left + seconds
            if end < 0.72 * total:
                place = {"x": end, "ha": "left", "text": f" {share}", "color": "black"}
            elif left > 0.3 * total:
                place = {"x": left, "ha": "right", "text": f"{share} ", "color": "black"}
            else:
                place = {
                    "x": (left + end) / 2,
                    "ha": "center",
                    "text": share,
                    "color": "white" if i % 3 == 0 else "black",
                }
            axes.text(y=i, va="center", s=place.pop("text"), **place)
            left = end
        axes.set_yticks(range(len(values)), list(values))
        axes.set_ylim(len(values) - 0.5, -0.6)
        axes.set_xlim(0, total)
        axes.locator_params(axis="x", nbins=6)
        axes.xaxis.set_major_formatter(lambda value, _: format_seconds(value) if value else "0")
        axes.grid(axis="y", visible=False)
        axes.set(xlabel="time of one step, from left to right")
        _title(figure, title)
        named = "; ".join(f"{name} {format_seconds(s)}" for name, s in values.items())
        return _picture(figure, f"Bar in pieces. {title}: {named}.")


def losses(
    curves: Mapping[str, Sequence[float]],
    *,
    title: str,
    level: tuple[str, float] | None = None,
    own: bool = True,
) -> Picture:
    """The loss after every epoch, of one training or of several that should agree.

    Parameters
    ----------
    curves : mapping of str to sequence of float
        Name to losses. Their marks are nested, so that one sees where curves coincide.
    title : str
    level : tuple of str and float, optional
        A loss to compare with, and its name.
    own : bool, optional
        The learner's (coloured) or a reference machine's (grey).

    Returns
    -------
    Picture
    """
    colours, marks = PARTS if own else GREYS, ("o", "s", "D")
    most, large = max(map(len, curves.values())), 13 if len(curves) > 1 else 7
    shown = [v for c in curves.values() for v in c] + ([level[1]] if level else [])
    low, high = min(shown), max(shown)
    room = 0.09 * (high - low or 1)  # that a label needs
    ends = {name: float(f"{values[-1]:.3g}") for name, values in curves.items()}
    close = sum(max(ends.values()) - end < room for end in ends.values())
    with _figure(7.2, 3.4) as (figure, axes):
        place = max(ends.values()) + room * (close + 1) / 2
        for i, name in sorted(enumerate(curves), key=lambda item: -ends[item[1]]):
            # the marks of the first are the largest, so that those of the others lie inside
            mark = {"marker": marks[i % 3], "ms": max(4, large - 5 * i), "mew": 1.8, "mfc": "none"}
            mark |= {"color": colours[i % 3], "lw": 1}
            axes.plot(range(1, len(curves[name]) + 1), curves[name], **mark)
            place = min(place - room, ends[name] + room * (close - 1) / 2)
            axes.plot([1.06 * most + 0.2], [place], **mark)
            axes.text(1.09 * most + 0.2, place, name, va="center", color="black")
        if level:
            axes.axhline(level[1], color="#333333", lw=1.2, ls="--")
            axes.text(most, level[1] - 0.5 * room, level[0], ha="right", va="top", color="#333333")
        ticks = range(1, most + 1) if most <= 12 else range(5, most + 1, 5)
        axes.set(xlabel="epoch", ylabel="loss", xticks=ticks)
        axes.set_xlim(0.5, 1.24 * most + 0.2)
        axes.set_ylim(low - 1.6 * room, high + 1.2 * room)
        _title(figure, title)
        said = "; ".join(f"{n} from {c[0]:.3g} to {c[-1]:.3g}" for n, c in curves.items())
        beside = f" {level[0]}: {level[1]:.3g}." if level else ""
        return _picture(figure, f"Line plot of the loss per epoch. {title}: {said}.{beside}")
