"""The roofline: what a program reached, under what its machine can reach at most."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from accel_helpers._values.words import format_rate
from accel_helpers.measure.results import Reference
from accel_helpers.plots import style
from accel_helpers.plots.style import Label, Numbers, Picture, Side

flops = partial(format_rate, unit="FLOP/s")
MEASURED = "measured"


@dataclass(frozen=True)
class Roof:
    """The limits of a machine: a slope, which its memory sets, and a level for each dtype."""

    name: str  # "measured" or "published"
    copy: float  # bytes per second
    rates: Mapping[str, float]  # FLOP/s by dtype
    colour: str
    has_labels: bool = True

    @property
    def top(self) -> float:
        """The highest level."""
        return max(self.rates.values())

    def corners(self) -> list[tuple[float, float]]:
        """Where the slope meets each level."""
        return [(rate / self.copy, rate) for rate in self.rates.values()]

    def text(self) -> str:
        """The limits in words."""
        memory = format_rate(self.copy, "B/s")
        texts = [f"memory {memory}"]
        for dtype, rate in self.rates.items():
            level = flops(rate)
            texts.append(f"{dtype} {level}")
        limits = ", ".join(texts)
        return f"ceilings {self.name}: {limits}"


@dataclass(frozen=True)
class Point:
    """What a program reached: FLOP per byte moved, and FLOP/s."""

    name: str
    x: float
    y: float
    colour: str
    shape: str  # of its mark
    has_label: bool

    def text(self) -> str:
        """The point in words."""
        rate = flops(self.y)
        return f"{self.name} {rate} at {self.x:.3g}"


def roofline(
    points: Numbers, ceilings, *, published=None, title: str, reference: Reference | None = None
) -> Picture:
    """Draw a roofline: what a program reached, under what its machine can reach at most.

    The method is by Williams, Waterman and Patterson, Communications of the ACM 52 (2009), 65.

    Parameters
    ----------
    points : mapping of str to sequence of float
        By name (FLOP per byte moved, FLOP/s reached), seven at most.
    ceilings : ceilings.Ceilings
        What the machine reached in products of matrices and in copies.
    published : hardware.Accelerator
        A chip with the peaks that its maker publishes.
    reference : results.Reference
        Its data are a tuple: points and ceilings.

    Examples
    --------
    >>> from accel_helpers.measure import ceilings, results
    >>> card = results.reference()
    >>> roof = ceilings.Ceilings.from_card(card.measurements, card.numbers, "03/ceiling", "cpu")
    >>> roofline({"fit": (3.6, 6.1e9)}, roof, title="A step").alt[:70]
    'Roofline (FLOP/s over FLOP per byte). A step: fit 6.1 GFLOP/s at 3.6; '
    """
    data = None
    if points:
        data = (points, ceilings)
    sides, under = style.sides(data, reference)
    roofs = []
    marks = []
    sentences = []
    for side in sides:
        # What lies behind the learner's roof has no labels: they would be too many.
        is_front = side is sides[0]
        side_marks = _points_of(side, is_front)
        side_roofs = _roofs_of(side, published)
        texts = [mark.text() for mark in side_marks]
        sentence = "; ".join(texts)
        sentences.append(side.intro + sentence)
        sentences += [roof.text() for roof in side_roofs]
        marks += side_marks
        if not is_front:
            side_roofs = [_in_float32(roof) for roof in side_roofs]
        roofs += side_roofs
    with style.figure(5.8, 3.4, title, under=under) as (figure, axes):
        left, right = _set_scales(axes, roofs, marks)
        labels = []
        # The front comes last, and so on top.
        for roof in reversed(roofs):
            labels += _draw_roof(axes, roof, left, right)
        for mark in reversed(marks):
            labels += _draw_point(axes, mark)
        style.beside(figure, axes, labels)
        # The layout is fixed only now, and with it the angle of a slope.
        figure.draw_without_rendering()
        _write_slopes(axes, roofs, left)
        content = "; ".join(sentences)
        alt = f"Roofline (FLOP/s over FLOP per byte). {title}: {content}."
        return style.picture(figure, alt)


def _points_of(side: Side, is_front: bool) -> list[Point]:
    """The points of one machine."""
    points, _ = side.data
    marks = []
    for shape, name in zip(style.MARKS, points, strict=False):
        x, y = points[name]
        mark = Point(name, x, y, side.colour, shape, has_label=is_front)
        marks.append(mark)
    return marks


def _roofs_of(side: Side, published) -> list[Roof]:
    """The measured roof of one machine; for the learner's the published one, too."""
    _, ceilings = side.data
    rates = {product.dtype: product.rate for product in ceilings.products}
    roofs = [Roof(MEASURED, ceilings.copy.rate, rates, side.colour)]
    if side.is_own and published:
        roofs += _published(published, rates)
    return roofs


def _published(chip, dtypes: Iterable[str]) -> list[Roof]:
    """The roof that a maker publishes for these dtypes; none without its memory or any rate."""
    from accel_helpers.machine.hardware import peak

    rates = {}
    for dtype in dtypes:
        teraflops = peak(chip, dtype)
        if teraflops:
            rates[dtype] = 1e12 * teraflops
    if not rates or not chip.mem_bw_gb_s:
        return []
    bandwidth = 1e9 * chip.mem_bw_gb_s
    return [Roof("published", bandwidth, rates, style.SAID)]


def _in_float32(roof: Roof) -> Roof:
    """A roof as it is drawn behind another: one level, and without labels."""
    level = {"float32": roof.rates["float32"]}
    return replace(roof, rates=level, has_labels=False)


def _set_scales(axes, roofs: Sequence[Roof], marks: Sequence[Point]) -> tuple[float, float]:
    """Scale both axes so that all roofs and points are seen; return where the x axis ends."""
    across = [mark.x for mark in marks]
    upward = [mark.y for mark in marks]
    for roof in roofs:
        for x, y in roof.corners():
            across.append(x)
            upward.append(y)
    left = min(across) / 20
    right = 6 * max(across)
    starts = [roof.copy * left for roof in roofs]
    low = min(upward + starts) / 2.5
    high = 2.2 * max(upward)
    x_label = "operations (FLOP) per byte moved"
    style.scale(axes.xaxis, x_label, left, right, style.plain, log=True)
    style.scale(axes.yaxis, "operations per second", low, high, flops, log=True)
    return left, right


def _draw_roof(axes, roof: Roof, left: float, right: float) -> list[Label]:
    """Draw a roof, and return the labels of its levels."""
    is_measured = roof.name == MEASURED
    look = {"color": roof.colour, "ls": "--"}
    if is_measured:
        look["ls"] = "-"
    slope_x = [left, roof.top / roof.copy]
    slope_y = [roof.copy * left, roof.top]
    axes.plot(slope_x, slope_y, lw=1.6, **look)
    for dtype, rate in roof.rates.items():
        # The points are of float32, so that its level is the one to compare them with.
        width = 1.2
        if is_measured and dtype == "float32":
            width = 2.8
        corner = rate / roof.copy
        axes.plot([corner, right], [rate, rate], lw=width, **look)
    if not roof.has_labels:
        return []
    return _level_labels(roof, right)


def _level_labels(roof: Roof, right: float) -> list[Label]:
    """The labels of the levels of a roof, one for all dtypes of the same rate."""
    dtypes_by_rate = {}
    for dtype, rate in roof.rates.items():
        dtypes = dtypes_by_rate.setdefault(rate, [])
        dtypes.append(dtype)
    labels = []
    for rate, dtypes in dtypes_by_rate.items():
        names = " and ".join(dtypes)
        level = flops(rate)
        text = f"{names}, {roof.name}:\n{level}"
        labels.append(Label(right, rate, text, roof.colour))
    return labels


def _draw_point(axes, point: Point) -> list[Label]:
    """Draw a point, and return its label if it has one."""
    mark = {"marker": point.shape, "ms": 6, "mec": "white", "mew": 0.8}
    axes.plot([point.x], [point.y], color=point.colour, zorder=4, **mark)
    if not point.has_label:
        return []
    name = style.folded(point.name)
    rate = flops(point.y)
    text = f"{name}\n{rate}"
    return [Label(point.x, point.y, text, point.colour, mark)]


def _write_slopes(axes, roofs: Sequence[Roof], left: float) -> None:
    """Write along each slope how fast the memory is."""
    highest = max(roof.copy for roof in roofs)
    for roof in roofs:
        if not roof.has_labels:
            continue
        name = "memory"
        if roof.name != MEASURED:
            name = f"memory, {roof.name}"
        rate = format_rate(roof.copy, "B/s")
        text = f"{name}: {rate}"
        # Below its roof a text may meet a point; above it, the next roof if that is near.
        above = roof.copy == highest or highest > 4 * roof.copy
        _write_along(axes, left, roof.copy, text, above=above)


def _write_along(axes, left: float, copy: float, text: str, *, above: bool) -> None:
    """Write along the slope of a roof, from its left end."""
    slope = [(left, copy * left), (10 * left, 10 * copy * left)]
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
    axes.text(left, copy * left, text, rotation=angle, rotation_mode="anchor", **font)
