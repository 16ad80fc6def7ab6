"""Ratios over the width of a model: how many times as fast one device is as another."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from accel_helpers.measure.measurement import Speedup
from accel_helpers.measure.results import Reference
from accel_helpers.plots import style
from accel_helpers.plots.style import Label, Picture, Side

Ratios = Mapping[tuple[int | str, int], Speedup]  # by width or name of a model, and batch size


@dataclass(frozen=True)
class Curve:
    """The ratios of one batch size, by their place on the axis, and what they look like."""

    name: str
    ratios: Mapping[float, Speedup]
    mark: Mapping[str, Any]
    look: Mapping[str, Any]  # its colour and its layer

    @property
    def end(self) -> tuple[float, float]:
        """Where the last ratio stands."""
        points = list(self.ratios.items())
        x, ratio = points[-1]
        height = _height(ratio)
        return x, height


def sweep(
    ratios: Ratios,
    *,
    title: str | Callable[[Ratios], str],
    note: str = "",
    reference: Reference | None = None,
) -> Picture:
    """Draw how many times as fast one device is over the width of a model, with intervals.

    Each batch size has a curve. Ratios are by (width, batch size), or by (name of another model,
    batch size): those stand to the right of the curves. A hollow mark says that no difference can
    be measured. The `note` under the title names what is compared. A title may be a function that
    makes it of the ratios in front, which are not the learner's where a reference stands alone.

    >>> same = Speedup(None, None, (0.9, 1.1), conclusive=False, ratio=None)
    >>> print(sweep({(16, 32): same}, title="GPU against CPU"))
    Line plot of times as fast over width. GPU against CPU: 16 by 32: not measurable.
    """
    full_note = f"{note} {style.BARS} Hollow: not measurable."
    sides, under = style.sides(ratios, reference, full_note)
    if callable(title):
        title = title(sides[0].data)
    positions = _positions(sides)
    right = 1.5 * max(positions.values())
    with style.figure(style.WIDE, 3.2, title, under=under) as (figure, axes):
        _set_scales(axes, sides, positions, right)
        axes.axhline(1, color=style.INK, lw=1.2)
        no_gain = Label(right, 1, "1: no gain", style.INK)
        labels = [no_gain]
        sentences = []
        for side in sides:
            text = _ratios_text(side.data)
            sentences.append(side.intro + text)
            is_front = side is sides[0]
            for place, curve in enumerate(_curves(side, positions)):
                _draw_curve(axes, curve)
                if is_front:
                    labels.append(_label(curve, curve.name))
                elif place == 0:
                    # The learner's curves have the same marks, so that one label is enough.
                    machine = style.folded(reference.label)
                    labels.append(_label(curve, machine))
        style.beside(figure, axes, labels)
        content = "; ".join(sentences)
        alt = f"Line plot of times as fast over width. {note} {title}: {content}."
        # Without a note there are two spaces in a row.
        one_spaced = " ".join(alt.split())
        return style.picture(figure, one_spaced)


def _label(curve: Curve, text: str) -> Label:
    """A label for the end of a curve."""
    x, y = curve.end
    return Label(x, y, text, curve.look["color"], curve.mark)


def _positions(sides: Sequence[Side]) -> dict[int | str, float]:
    """The place of each model on the axis: its width, or far to the right of all widths."""
    widths = set()
    names = set()
    for side in sides:
        for model, _ in side.data:
            if isinstance(model, int):
                widths.add(model)
            else:
                names.add(model)
    positions = {width: width for width in sorted(widths)}
    for name in names:
        positions[name] = 6 * max(widths)
    return positions


def _set_scales(axes, sides: Sequence[Side], positions, right: float) -> None:
    """Scale both axes, with a tick for every model."""
    ends = [1]
    for side in sides:
        for ratio in side.data.values():
            ends += ratio.interval
    low = min(ends) / 1.3
    high = 1.3 * max(ends)
    style.scale(axes.yaxis, "times as fast", low, high, style.plain, log=True)
    names = {}
    for model, x in positions.items():
        if isinstance(model, int):
            names[x] = f"{model:,}"
        else:
            # "net, a detail" is too long for a tick.
            names[x], _, _ = model.partition(",")
    lowest = min(positions.values())
    left = lowest / 1.5
    label = "width: units in the hidden layer"
    style.scale(axes.xaxis, label, left, right, names.get, log=True, at=list(names))


def _curves(side: Side, positions: Mapping[int | str, float]) -> list[Curve]:
    """The ratios of one machine, as a curve for each batch size and each other model."""
    ratios_by_name = {}
    for (model, size), ratio in side.data.items():
        name = f"batches of {size:,}"
        if not isinstance(model, int):
            name = f"{model},\n{name}"
        ratios = ratios_by_name.setdefault(name, {})
        x = positions[model]
        ratios[x] = ratio
    colours = side.colours
    curves = []
    for place, (name, ratios) in enumerate(ratios_by_name.items()):
        # Curves are moved a little sideways, so that their intervals stand beside each other.
        steps = place - len(ratios_by_name) / 2
        aside = 1.08**steps
        moved = {x * aside: ratio for x, ratio in ratios.items()}
        mark = {"marker": style.MARKS[place], "ms": 6}
        colour = colours[place % len(colours)]
        look = {"color": colour, "zorder": side.layer}
        curves.append(Curve(name, moved, mark, look))
    return curves


def _height(ratio: Speedup) -> float:
    """The height of a ratio: that of the middle of its interval where nothing can be told."""
    if ratio.ratio:
        return ratio.ratio
    # On an axis of logarithms the middle is the geometric mean.
    low, high = ratio.interval
    return math.sqrt(low * high)


def _draw_curve(axes, curve: Curve) -> None:
    """Draw a curve with the intervals of its ratios."""
    across = list(curve.ratios)
    heights = [_height(ratio) for ratio in curve.ratios.values()]
    axes.plot(across, heights, lw=1.6, **curve.look)
    bar = {"lw": 3, "alpha": 0.4, "solid_capstyle": "butt"}
    for x, ratio in curve.ratios.items():
        axes.plot([x, x], ratio.interval, **bar, **curve.look)
        height = _height(ratio)
        face = "white"
        if ratio.conclusive:
            face = curve.look["color"]
        axes.plot([x], [height], mfc=face, mew=1.4, **curve.mark, **curve.look)


def _ratios_text(ratios: Ratios) -> str:
    """The ratios of one machine in words."""
    texts = []
    for (model, size), ratio in ratios.items():
        name = f"{model}, batches of {size}"
        if isinstance(model, int):
            name = f"{model} by {size}"
        gain = "not measurable"
        if ratio.ratio:
            gain = style.short(ratio.ratio)
        texts.append(f"{name}: {gain}")
    return "; ".join(texts)
