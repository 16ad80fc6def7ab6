"""The roofline, of Williams, Waterman and Patterson, Communications of the ACM 52 (2009), 65."""

from __future__ import annotations

import math
from collections.abc import Mapping

from accel_helpers._words import format_rate
from accel_helpers.plots import style
from accel_helpers.plots.style import Picture

DTYPE = "float32"  # of the points; its roof is drawn stronger


def roofline(
    points: Mapping[str, tuple[float, float]],
    ceilings,
    *,
    published=None,
    title: str,
    own: bool = True,
) -> Picture:
    """The roofline: what a program reached, under what its machine can reach at most.

    Parameters
    ----------
    points : mapping of str to (float, float)
        Name to operations per byte moved (FLOP per byte) and rate reached (FLOP/s); at most seven.
    ceilings : ceilings.Ceilings
    published : hardware.Accelerator, optional
        The row of the device in the table of published peaks.
    Examples
    --------
    >>> import accel_helpers as ah
    >>> card = ah.results.reference_runs()[-1]
    >>> roof = ah.ceilings.Ceilings.from_card(card.measurements, card.numbers, "03/ceiling", "cpu")
    >>> roofline({"fit": (3.6, 6.1e9)}, roof, title="A step").alt[:70]
    'Roofline (FLOP/s over FLOP per byte). A step: fit 6.1 GFLOP/s at 3.6; '
    """
    colour = style.OWN if own else style.GREYS[0]
    roofs = _roofs(ceilings, published, colour)
    ridges = [rate / copy for _, copy, rates, *_ in roofs for rate in rates.values()]
    across = ridges + [x for x, _ in points.values()]
    left, right = min(across) / 12, 6 * max(across)
    upward = [y for _, y in points.values()] + [copy * left for _, copy, *_ in roofs]
    tops = [rate for _, _, rates, *_ in roofs for rate in rates.values()]
    low, high = min(upward) / 2.5, 2.2 * max(upward + tops)
    labels = []
    said = [f"{name} {_flops(y)} at {x:.3g}" for name, (x, y) in points.items()]
    with style.figure(8.4, 4.6, title) as (figure, axes):
        style.scale(axes.xaxis, left, right, style.plain, log=True)
        style.scale(axes.yaxis, low, high, _flops, log=True)
        axes.set(xlabel="operations per byte moved (FLOP per byte)")
        axes.set(ylabel="operations per second (FLOP/s)")
        for source, copy, rates, shade, words in roofs:
            measured = source == "measured"
            line = {"color": shade, "zorder": 2.5 if measured else 2}
            ridge = max(rates.values()) / copy
            axes.plot([left, ridge], [copy * left, copy * ridge], lw=2 if measured else 1.4, **line)
            same: dict[str, list[str]] = {}  # number types that one label is for
            for kind, rate in rates.items():
                width = 2.8 if kind == DTYPE and measured else 1.2
                axes.plot([rate / copy, right], [rate, rate], lw=width, **line)
                same.setdefault(_flops(rate), []).append(kind)
            for rate, kinds in same.items():
                text = f"{' and '.join(kinds)}, {source}:\n{rate}"
                labels.append((right, rates[kinds[0]], text, words, None))
            named = ", ".join(f"{kind} {_flops(rate)}" for kind, rate in rates.items())
            said.append(f"ceilings {source}: memory {format_rate(copy, 'B/s')}, {named}")
        for i, (name, (x, y)) in enumerate(points.items()):
            mark = {"marker": style.MARKS[i], "ms": 8, "mec": "white", "mew": 0.8}
            axes.plot([x], [y], color=colour, zorder=4, **mark)
            labels.append((x, y, f"{style.folded(name)}\n{_flops(y)}", colour, mark))
        style.beside(figure, axes, labels, fontsize=9.5)
        figure.draw_without_rendering()
        highest = max(copy for _, copy, *_ in roofs)
        for source, copy, _, _, words in roofs:
            text = f"memory, {source}: {format_rate(copy, 'B/s')}"
            _along(axes, left, copy, text, words, above=copy == highest)
        alt = f"Roofline (FLOP/s over FLOP per byte). {title}: {'; '.join(said)}."
        return style.picture(figure, alt)


def _flops(rate: float) -> str:
    return format_rate(rate, "FLOP/s")


def _roofs(ceilings, published, colour) -> list[tuple]:
    """For each roof: where it is from, its bytes/s, its FLOP/s by number type, its two colours."""
    from accel_helpers.machine.hardware import peak

    measured = {product.dtype: product.rate for product in ceilings.products}
    roofs = [("measured", ceilings.copy.rate, measured, colour, colour)]
    if published is not None and published.mem_bw_gb_s:
        peaks = {dtype: 1e12 * (peak(published, dtype) or 0) for dtype in measured}
        if peaks := {dtype: rate for dtype, rate in peaks.items() if rate}:
            roofs.append(
                ("published", 1e9 * published.mem_bw_gb_s, peaks, style.PUBLISHED, style.SAID)
            )
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
