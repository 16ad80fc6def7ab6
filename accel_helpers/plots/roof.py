"""The roofline: what a program reached, under what its machine can reach at most."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from accel_helpers._values.words import format_rate
from accel_helpers.plots import style
from accel_helpers.plots.style import Label, Numbers, Picture

flops = partial(format_rate, unit="FLOP/s")


@dataclass(frozen=True)
class Roof:
    """The limits of a machine: a slope, which its memory sets, and a level."""

    name: str  # "measured" or "published"
    memory: float  # bytes per second
    compute: float  # FLOP/s in float32
    look: Mapping[str, object]  # of its lines

    @property
    def corner(self) -> float:
        """The FLOP per byte at which the slope meets the level."""
        return self.compute / self.memory

    def __str__(self) -> str:
        memory = format_rate(self.memory, "B/s")
        return f"ceilings {self.name}: memory {memory}, float32 {flops(self.compute)}"


def roofline(points: Numbers, roof: Mapping[str, float], *, published=None, title: str) -> Picture:
    """Draw a roofline: what a program reached, under what its machine can reach at most.

    The method is by Williams, Waterman and Patterson, Communications of the ACM 52 (2009), 65.

    Parameters
    ----------
    points : mapping of str to sequence of float
        By name (FLOP per byte moved, FLOP/s reached), seven at most.
    roof : mapping of str to float
        What the machine reached: "memory" in bytes per second, "compute" in FLOP/s.
    published : hardware.Accelerator, optional
        A chip with the peaks that its maker publishes; it is drawn dashed.

    Examples
    --------
    >>> roof = {"memory": 8e9, "compute": 9e10}
    >>> roofline({"fit": (3.6, 6.1e9)}, roof, title="A step").alt[:70]
    'Roofline (FLOP/s over FLOP per byte). A step: fit 6.1 GFLOP/s at 3.6; '
    """
    own = {"color": style.OWN, "ls": "-", "lw": 2.2}
    roofs = [Roof("measured", **roof, look=own)]
    roofs += _published(published)
    reached = [f"{name} {flops(rate)} at {each:.3g}" for name, (each, rate) in points.items()]
    content = "; ".join([*reached, *map(str, roofs)])
    with style.figure(5.8, 3.4, title) as (figure, axes):
        left, right = _set_scales(axes, roofs, list(points.values()))
        labels = []
        # what was measured comes last, and so on top
        for limits in reversed(roofs):
            labels.append(_draw_roof(axes, limits, left, right))
        for shape, name in zip(style.MARKS, points, strict=False):
            labels.append(_draw_point(axes, name, *points[name], shape))
        style.beside(figure, axes, labels)
        # The layout is fixed only now, and with it the angle of a slope.
        figure.draw_without_rendering()
        _write_slopes(axes, roofs, left)
        alt = f"Roofline (FLOP/s over FLOP per byte). {title}: {content}."
        return style.picture(figure, alt)


def _published(chip) -> list[Roof]:
    """The roof that a maker publishes for float32; none without its memory or its peak."""
    from accel_helpers.machine.hardware import peak

    teraflops = peak(chip, "float32") if chip else None
    if not teraflops or not chip.mem_bw_gb_s:
        return []
    look = {"color": style.SAID, "ls": "--", "lw": 1.4}
    return [Roof("published", 1e9 * chip.mem_bw_gb_s, 1e12 * teraflops, look)]


def _set_scales(axes, roofs: Sequence[Roof], points: Sequence[Sequence[float]]):
    """Scale both axes so that all roofs and points are seen; return where the x axis ends."""
    across = [each for each, _ in points]
    upward = [rate for _, rate in points]
    for roof in roofs:
        across.append(roof.corner)
        upward.append(roof.compute)
    left = min(across) / 20
    right = 6 * max(across)
    starts = [roof.memory * left for roof in roofs]
    low = min(upward + starts) / 2.5
    high = 2.2 * max(upward)
    x_label = "operations (FLOP) per byte moved"
    style.scale(axes.xaxis, x_label, left, right, style.plain, log=True)
    style.scale(axes.yaxis, "operations per second", low, high, flops, log=True)
    return left, right


def _draw_roof(axes, roof: Roof, left: float, right: float) -> Label:
    """Draw a roof, and return the label of its level."""
    x = [left, roof.corner, right]
    y = [roof.memory * left, roof.compute, roof.compute]
    axes.plot(x, y, **roof.look)
    text = f"float32, {roof.name}:\n{flops(roof.compute)}"
    return Label(right, roof.compute, text, roof.look["color"])


def _draw_point(axes, name: str, each: float, rate: float, shape: str) -> Label:
    """Draw a point, and return its label."""
    mark = {"marker": shape, "ms": 6, "mec": "white", "mew": 0.8}
    axes.plot([each], [rate], color=style.OWN, zorder=4, **mark)
    text = f"{style.folded(name)}\n{flops(rate)}"
    return Label(each, rate, text, style.OWN, mark)


def _write_slopes(axes, roofs: Sequence[Roof], left: float) -> None:
    """Write along each slope how fast the memory is."""
    fastest = max(roof.memory for roof in roofs)
    for roof in roofs:
        text = f"memory, {roof.name}: {format_rate(roof.memory, 'B/s')}"
        # Below its roof a text may meet a point; above it, the next roof if that is near.
        above = roof.memory == fastest or fastest > 4 * roof.memory
        _write_along(axes, left, roof.memory, text, above=above)


def _write_along(axes, left: float, memory: float, text: str, *, above: bool) -> None:
    """Write along the slope of a roof, from its left end."""
    slope = [(left, memory * left), (10 * left, 10 * memory * left)]
    start, end = axes.transData.transform(slope)
    across, upward = end - start
    angle = math.degrees(math.atan2(upward, across))
    # An empty line is the gap to the roof.
    if above:
        va = "bottom"
        text = f"     {text}\n "
    else:
        va = "top"
        text = f" \n     {text}"
    font = {"fontsize": 9, "color": style.INK, "va": va, "linespacing": 0.7}
    axes.text(left, memory * left, text, rotation=angle, rotation_mode="anchor", **font)
