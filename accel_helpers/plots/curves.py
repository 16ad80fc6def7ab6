"""Pictures of the lessons that go deeper: the climb, the roofline, lines over a size.

They are reached as `plots.climb`, `plots.roofline` and `plots.series`, and share the style of
`picture`. What is written beside a line or a dot is placed so that no two labels overlap.
"""

from __future__ import annotations

import math
import textwrap
from collections.abc import Callable, Mapping

from accel_helpers._words import format_seconds
from accel_helpers.measure.measurement import VAGUE, Measurement, Speedup
from accel_helpers.measure.roofs import format_rate
from accel_helpers.plots.style import (
    GREYS,
    OWN,
    PARTS,
    REFERENCE,
    Picture,
    _along,
    _beside,
    _figure,
    _free_place,
    _log_ticks,
    _picture,
    _plain,
    _room,
    _short,
    _title,
)

LINES = (*PARTS, "#009E73", "#CC79A7", "#56B4E9", "#000000")  # the rest of Okabe and Ito
MARKS = ("o", "s", "D", "^", "v", "P", "x")
LONG = 26  # letters of a name before it is broken into lines


def climb(
    steps: Mapping[str, Measurement],
    gains: Mapping[str, Speedup],
    accuracy: Mapping[str, float],
    *,
    title: str,
    own: bool = True,
) -> Picture:
    """A ladder of changes to a training: how many times as fast each is as the first.

    Parameters
    ----------
    steps : mapping of str to Measurement
        Name of a step to the seconds of one epoch, from top to bottom; the first is the start.
    gains : mapping of str to Speedup
        Every other step against the first. Where the interval is wide or the two cannot be told
        apart, words stand in the place of a ratio.
    accuracy : mapping of str to float
        Share of the test data that was right after equally many epochs; a step may be missing.
    title : str
    own : bool, optional
        The learner's (blue) or a reference machine's (grey).

    Returns
    -------
    Picture

    Raises
    ------
    ValueError
        If there are no steps, or a step after the first has no gain.
    """
    if not steps:
        raise ValueError("climb needs at least one step, such as {'default fit': measurement}.")
    first, *others = steps
    if missing := [name for name in others if name not in gains]:
        raise ValueError(
            f"climb needs a gain for every step after the first; {missing[0]!r} has none. Make "
            "it with timing.compare(first, step)."
        )
    colour = OWN if own else REFERENCE
    with _figure(8.0, 1.55 + 0.55 * len(steps)) as (figure, axes):
        labels, said = [], []
        for row, name in enumerate(steps):
            low, high = (1.0, 1.0) if name == first else gains[name].interval
            text = "the start" if name == first else _gain(gains[name])
            if name == first:
                axes.plot([1], [row], "o", mfc="white", mec=colour, mew=2, ms=8)
            else:
                sure = gains[name].conclusive and high <= VAGUE * low
                if sure:
                    axes.plot([1, gains[name].ratio], [row, row], color=colour, lw=1.2)
                    axes.plot([gains[name].ratio], [row], "|", color="black", ms=15, mew=2)
                bar = {"color": colour, "lw": 7, "marker": "|", "alpha": 1 if sure else 0.45}
                axes.plot([low, high], [row, row], solid_capstyle="butt", **bar)
            label = axes.annotate(
                text,
                (max(1.0, high), row),
                xytext=(9, 0),
                textcoords="offset points",
                va="center",
                fontsize=10,
            )
            labels.append((max(1.0, high), label))
            right = "–" if accuracy.get(name) is None else f"{100 * accuracy[name]:.1f} %"
            seconds = format_seconds(steps[name].median)
            for place, column in ((74, seconds), (142, right)):
                _column(axes, row, place, column)
            correct = "" if right == "–" else f", {right} right"
            said.append(f"{name}: {text}, {seconds}{correct}")
        for place, column in ((74, "one\nepoch"), (142, "right on\ntest data")):
            _column(axes, -0.62, place, column, va="bottom", color="#333333", fontsize=9.5)
        axes.axvline(1, color="#555555", lw=1, zorder=0.9)
        axes.set_xscale("log")
        ends = [end for name in others for end in gains[name].interval] + [1.0]
        axes.set_yticks(range(len(steps)), [textwrap.fill(name, LONG) for name in steps])
        axes.set_ylim(len(steps) - 0.45, -0.6)
        axes.grid(axis="y", visible=False)
        axes.set(
            xlabel=f"times as fast as {_shorten(first)}; line: ratio; bar: interval (log scale)"
        )
        axes.set_xlim(min(ends) / 1.15, 1.15 * max(ends))
        _title(figure, title)
        _room(figure, axes, labels)
        _log_ticks(axes.xaxis, *axes.get_xlim(), _plain, last=max(ends))
        return _picture(figure, f"Ladder. {title}: {'; '.join(said)}.")


def roofline(
    points: Mapping[str, tuple[float, float]],
    ceilings,
    *,
    published=None,
    dtype: str = "float32",
    title: str,
    own: bool = True,
) -> Picture:
    """What a program reached, under what its machine can reach at most.

    Parameters
    ----------
    points : mapping of str to (float, float)
        Name to operations per byte moved (FLOP per byte) and rate reached (FLOP/s).
    ceilings : ceilings.Ceilings
        The rates measured on the machine.
    published : hardware.Accelerator, optional
        The row of the device in the table of published peaks, drawn in grey.
    dtype : str, optional
        The number type of the points; its roof is drawn stronger.
    title : str
    own : bool, optional
        The learner's (blue) or a reference machine's (grey).

    Returns
    -------
    Picture

    Raises
    ------
    ValueError
        If a point has an intensity or a rate that is not above zero and finite.
    """
    for name, pair in points.items():
        if not all(math.isfinite(value) and value > 0 for value in pair):
            raise ValueError(
                f"roofline: {name!r} needs FLOP per byte and FLOP/s above zero; got {pair!r}."
            )
    colour, pale = (OWN, REFERENCE) if own else (GREYS[0], "#A6A6A6")
    measured = {product.dtype: product.rate for product in ceilings.products}
    roofs = [("measured", ceilings.copy.rate, measured, colour)]
    if published is not None and published.mem_bw_gb_s:
        from accel_helpers.machine.hardware import peak

        peaks = {dtype: peak(published, dtype) for dtype in measured}
        peaks = {dtype: value * 1e12 for dtype, value in peaks.items() if value}
        if peaks:
            roofs.append(("published", published.mem_bw_gb_s * 1e9, peaks, pale))
    copies = [copy for _, copy, _, _ in roofs]
    ridges = [rate / copy for _, copy, rates, _ in roofs for rate in rates.values()]
    intensities = [x for x, _ in points.values()]
    left = min(ridges + intensities) / 12
    right = 6 * max(ridges + intensities)
    rates = [y for _, y in points.values()]
    tops = [rate for _, _, found, _ in roofs for rate in found.values()]
    low = min(rates + [copy * left for copy in copies]) / 2.5
    high = 2.2 * max(rates + tops)
    with _figure(8.0, 4.6) as (figure, axes):
        axes.set(xscale="log", yscale="log", xlim=(left, right), ylim=(low, high))
        entries, curves = [], []
        for source, copy, found, shade in roofs:
            line = {"color": shade, "lw": 1.4, "zorder": 2}
            if source == "measured":
                line |= {"lw": 2, "zorder": 2.5}
            ridge = max(found.values()) / copy
            curves.append((left, copy * left, ridge, copy * ridge))
            axes.plot([left, ridge], [copy * left, copy * ridge], **line)
            for kind, rate in found.items():
                width = {"lw": 2.8} if kind == dtype and source == "measured" else {"lw": 1.2}
                axes.plot([rate / copy, right], [rate, rate], **line | width)
                curves.append((rate / copy, rate, right, rate))
            for rate, dtypes in _same(found):
                text = f"{' and '.join(dtypes)}, {source}:\n{format_rate(rate, 'FLOP/s')}"
                entries.append((right, rate, text, shade if source == "measured" else "#595959"))
        _log_ticks(axes.yaxis, low, high, lambda value: format_rate(value, "FLOP/s"))
        _log_ticks(axes.xaxis, left, right, _plain)
        axes.set(
            xlabel="operations per byte moved (FLOP per byte)",
            ylabel="operations per second (FLOP/s)",
        )
        _title(figure, title)
        _beside(figure, axes, entries, fontsize=9.5)
        figure.draw_without_rendering()
        dots = axes.transData.transform(list(points.values())) if points else []
        taken = []
        for source, copy, _, shade in roofs:
            text = f"memory, {source}: {format_rate(copy, 'B/s')}"
            shade = shade if source == "measured" else "#595959"
            sides = (1, -1) if len(roofs) == 1 else (1,) if copy == max(copies) else (-1,)
            taken += _along(figure, axes, left, copy, text, shade, sides, dots)
        for x, y in points.values():
            axes.plot([x], [y], "o", color=colour, mec="white", mew=0.8, ms=9, zorder=4)
        _free_place(
            figure,
            axes,
            {f"{textwrap.fill(n, LONG)}\n{format_rate(y, 'FLOP/s')}": (x, y)
             for n, (x, y) in points.items()},
            taken,
            curves,
        )  # fmt: skip
        said = [f"{n} {format_rate(y, 'FLOP/s')} at {x:.3g}" for n, (x, y) in points.items()]
        for source, copy, found, _ in roofs:
            named = ", ".join(f"{d} {format_rate(r, 'FLOP/s')}" for d, r in found.items())
            said.append(f"ceilings {source}: memory {format_rate(copy, 'B/s')}, {named}")
        alt = f"Roofline (FLOP/s over FLOP per byte). {title}: {'; '.join(said)}."
        return _picture(figure, alt)


def series(
    lines: Mapping[str, Mapping[float, Measurement]],
    *,
    title: str,
    xlabel: str,
    ylabel: str,
    own: bool = True,
    log: bool | None = None,
    as_text: Callable[[float], str] = format_seconds,
) -> Picture:
    """Measurements over a size: a dot for a median, a bar for its interval, a line through them.

    Parameters
    ----------
    lines : mapping of str to (mapping of float to Measurement)
        Name of a line to its measurements by size. The marks are nested, so that one sees
        where lines coincide.
    title, xlabel, ylabel : str
        The labels with their units.
    own : bool, optional
        The learner's (coloured) or a reference machine's (grey).
    log : bool, optional
        A logarithmic vertical axis; by default where the largest is over 8 times the smallest.
    as_text : callable, optional
        Writes a value of the vertical axis with its unit; by default as seconds.

    Returns
    -------
    Picture

    Raises
    ------
    ValueError
        If there are no lines, more than seven, or a line has no measurements.
    """
    if not lines or not all(lines.values()):
        raise ValueError("series needs lines, each with at least one size and its measurement.")
    if len(lines) > len(MARKS):
        raise ValueError(
            f"series can tell {len(MARKS)} lines apart; got {len(lines)}. Draw two pictures."
        )
    colours = LINES if own else GREYS
    medians = [m.median for line in lines.values() for m in line.values()]
    ends = [end for line in lines.values() for m in line.values() for end in m.interval]
    log = max(medians) > 8 * min(medians) if log is None else log
    sizes = sorted({x for line in lines.values() for x in line})
    with _figure(8.0, 3.9) as (figure, axes):
        entries, said = [], []
        for i, (name, line) in enumerate(lines.items()):
            xs = sorted(line)
            values = [line[x].median for x in xs]
            colour = colours[i % len(colours)]
            size = 5 + (len(lines) - 1 - i) * min(4, 8 / max(1, len(lines) - 1))
            for x in xs:
                axes.plot([x, x], line[x].interval, color=colour, lw=max(2, 6 - 2 * i), alpha=0.55)
            mark = {"marker": MARKS[i], "ms": size, "mfc": "none", "mew": 1.8}
            axes.plot(xs, values, color=colour, lw=1.2, **mark)
            entries.append((xs[-1], values[-1], textwrap.fill(name, LONG), colour, mark))
            said.append(
                f"{name} from {as_text(values[0])} at {xs[0]:,.12g} to {as_text(values[-1])} "
                f"at {xs[-1]:,.12g}"
            )
        axes.set_xscale("log")
        axes.set_xlim(sizes[0] / 1.25, 1.25 * sizes[-1])
        near = min((b / a for a, b in zip(sizes, sizes[1:], strict=False)), default=9)
        ticks = sizes if len(sizes) <= 7 and near > 1.6 else None
        _log_ticks(axes.xaxis, sizes[0], sizes[-1], _plain, ticks)
        if log:
            axes.set_yscale("log")
            axes.set_ylim(min(ends) / 1.4, 1.4 * max(ends))
            _log_ticks(axes.yaxis, min(ends) / 1.4, 1.4 * max(ends), as_text)
        else:
            axes.set_ylim(0, 1.15 * max(ends))
            axes.locator_params(axis="y", nbins=6)
            axes.yaxis.set_major_formatter(lambda value, _: as_text(value) if value else "0")
        scale = "both axes" if log else "horizontal axis"
        axes.set(xlabel=f"{xlabel} ({scale}: log scale)", ylabel=ylabel)
        _title(figure, title)
        _beside(figure, axes, entries)
        return _picture(figure, f"Line plot over {xlabel}. {title}: {'; '.join(said)}.")


# ---------------------------------------------------------------------------------------------


def _gain(gain: Speedup) -> str:
    low, high = gain.interval
    if not gain.conclusive:
        return "no measurable difference"
    if high > VAGUE * low:
        return f"between {_short(low)} and {_short(high)} times"
    short = _short if gain.ratio >= 2 else "{:.3g}".format
    return f"{short(gain.ratio)} times ({short(low)} to {short(high)})"


def _same(found: Mapping[str, float]) -> list[tuple[float, list[str]]]:
    """Rates that one line on the picture stands for, with the names of their number types."""
    lines: list[tuple[float, list[str]]] = []
    for dtype, rate in sorted(found.items(), key=lambda item: item[1]):
        if lines and format_rate(lines[-1][0], "") == format_rate(rate, ""):
            lines[-1][1].append(dtype)
        else:
            lines.append((rate, [dtype]))
    return lines


def _shorten(name: str) -> str:
    return textwrap.shorten(name, 30, placeholder=" …")


def _column(axes, row, place, text, **style) -> None:
    style = {"va": "center", "fontsize": 10} | style
    axes.annotate(
        text,
        (1, row),
        xycoords=axes.get_yaxis_transform(),
        xytext=(place, 0),
        textcoords="offset points",
        ha="right",
        annotation_clip=False,
        **style,
    )
