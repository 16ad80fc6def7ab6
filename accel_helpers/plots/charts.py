"""Pictures in one pair of axes: over epochs, the roofline, ratios over width, small images."""

import math
from collections.abc import Mapping, Sequence
from functools import partial

from accel_helpers._values.words import format_rate, format_seconds
from accel_helpers.measure.measurement import Measurement, Speedup
from accel_helpers.measure.results import Reference
from accel_helpers.plots import style
from accel_helpers.plots.style import Numbers, Picture
from accel_helpers.worth.break_even import BOUGHT, FEW

flops = partial(format_rate, unit="FLOP/s")


def epochs(
    timing: Measurement, *, title: str = "Seconds per epoch", reference: Reference | None = None
) -> Picture:
    """A dot for every timing of an epoch, the first one, which is the `first_call`, set apart.

    In a box of few seconds a timing may be of a part of an epoch, so the dots count timings.

    >>> print(epochs(Measurement.from_samples([1.0, 1.1, 1.0, 1.1], first_call=2.5)))
    Dot plot. Seconds per epoch: the first epoch took 2.5 s, the later ones a median of 1.05 s.
    """
    sides, under = style.sides(timing, reference, style.BARS.replace("Bars", "Shaded"))
    most = max(len(of.samples) for of, *_ in sides) + 1.5
    high = 1.12 * max(max(of.first_call, *of.samples) for of, *_ in sides)
    labels, said = [], []
    with style.figure(style.WIDE, 2.4, title, under=under) as (figure, axes):
        style.scale(axes.xaxis, "timing", 0.5, most, style.plain, whole=True)
        style.scale(axes.yaxis, "time of an epoch", 0, high, format_seconds)
        for of, mine, words in sides:
            colour, first = style.palette(mine)[0], style.SECOND if mine else style.REFERENCE
            start, median = format_seconds(of.first_call), format_seconds(of.median)
            axes.axhspan(*of.interval, color=colour, alpha=0.15, lw=0)
            axes.axhline(of.median, color=colour, lw=1.2)
            axes.plot(range(2, len(of.samples) + 2), of.samples, "o", color=colour, ms=5)
            mark = {"marker": "D", "ms": 6}  # no ring: a hollow mark says "perhaps no difference"
            axes.plot([1], [of.first_call], color=first, **mark)
            labels.append((1, of.first_call, f"first epoch: {start}", first, mark))
            whose = "" if mine or len(sides) == 1 else f"\n{style.folded(reference.label)}"
            labels.append((most, of.median, f"median {median}{whose}", colour, None))
            said.append(f"{words}the first epoch took {start}, the later ones a median of {median}")
        style.beside(figure, axes, labels)
        return style.picture(figure, f"Dot plot. {title}: {'; '.join(said)}.")


def roofline(
    points: Numbers, ceilings, *, published=None, title: str, reference: Reference | None = None
) -> Picture:
    """The roofline: what a program reached, under what its machine can reach at most.

    It is of Williams, Waterman and Patterson, Communications of the ACM 52 (2009), 65.

    Parameters
    ----------
    points : mapping of a name to (FLOP per byte moved, FLOP/s reached), of seven at most
    ceilings : ceilings.Ceilings
    published : hardware.Accelerator, with the peaks that its maker names
    reference : results.Reference, of a tuple: the points and the ceilings

    Examples
    --------
    >>> from accel_helpers.measure import ceilings, results
    >>> card = results.reference()
    >>> roof = ceilings.Ceilings.from_card(card.measurements, card.numbers, "03/ceiling", "cpu")
    >>> roofline({"fit": (3.6, 6.1e9)}, roof, title="A step").alt[:70]
    'Roofline (FLOP/s over FLOP per byte). A step: fit 6.1 GFLOP/s at 3.6; '
    """
    sides, under = style.sides((points, ceilings) if points else None, reference)
    roofs, said, marks, labels = [], [], [], []
    for i, ((of, limits), mine, words) in enumerate(sides):
        colour, rates = style.palette(mine)[0], {p.dtype: p.rate for p in limits.products}
        said.append(words + "; ".join(f"{n} {flops(y)} at {x:.3g}" for n, (x, y) in of.items()))
        marks += [(style.MARKS[k], n, x, y, colour, i) for k, (n, (x, y)) in enumerate(of.items())]
        found = [("measured", limits.copy.rate, rates, colour)]
        for name, copy, tops, colour in found + _published(published, rates) * mine:
            named = ", ".join(f"{kind} {flops(rate)}" for kind, rate in tops.items())
            said.append(f"ceilings {name}: memory {format_rate(copy, 'B/s')}, {named}")
            roofs.append((name, copy, {"float32": tops["float32"]} if i else tops, colour, i))
    flat = [(rate / copy, rate) for _, copy, rates, *_ in roofs for rate in rates.values()]
    across, upward = zip(*flat, *(mark[2:4] for mark in marks), strict=True)
    left, right, highest = min(across) / 20, 6 * max(across), max(roof[1] for roof in roofs)
    low = min(*upward, *(copy * left for _, copy, *_ in roofs)) / 2.5
    with style.figure(5.8, 3.4, title, under=under) as (figure, axes):
        label = "operations (FLOP) per byte moved"
        style.scale(axes.xaxis, label, left, right, style.plain, log=True)
        style.scale(axes.yaxis, "operations per second", low, 2.2 * max(upward), flops, log=True)
        for name, copy, rates, colour, beside in roofs[::-1]:  # what lies beside has no labels
            look = {"color": colour, "ls": "-" if name == "measured" else "--"}
            top = max(rates.values())
            axes.plot([left, top / copy], [copy * left, top], lw=1.6, **look)
            for kind, rate in rates.items():
                width = 2.8 if name == "measured" and kind == "float32" else 1.2  # as the points
                axes.plot([rate / copy, right], [rate, rate], lw=width, **look)
            for rate in set() if beside else set(rates.values()):
                kinds = " and ".join(kind for kind in rates if rates[kind] == rate)
                labels.append((right, rate, f"{kinds}, {name}:\n{flops(rate)}", colour, None))
        for shape, name, x, y, colour, beside in marks[::-1]:
            mark = {"marker": shape, "ms": 6, "mec": "white", "mew": 0.8}
            axes.plot([x], [y], color=colour, zorder=4, **mark)
            if not beside:  # the grey one beside it has the same mark
                labels.append((x, y, f"{style.folded(name)}\n{flops(y)}", colour, mark))
        style.beside(figure, axes, labels)
        figure.draw_without_rendering()
        for name, copy, *_, beside in roofs:
            text = f"memory, {name}: {format_rate(copy, 'B/s')}".replace(", measured", "")
            if not beside:
                # Below its roof a text may meet a point; above it, the next roof if that is near.
                _along(axes, left, copy, text, above=copy == highest or highest > 4 * copy)
        alt = f"Roofline (FLOP/s over FLOP per byte). {title}: {'; '.join(said)}."
        return style.picture(figure, alt)


def _published(chip, dtypes) -> list[tuple]:
    """The roof that a maker names, where there is one."""
    from accel_helpers.machine.hardware import peak

    peaks = {kind: 1e12 * top for kind in dtypes if chip and (top := peak(chip, kind))}
    known = peaks and chip.mem_bw_gb_s
    return [("published", 1e9 * chip.mem_bw_gb_s, peaks, style.SAID)] if known else []


def _along(axes, left, copy, text, *, above: bool) -> None:
    """Write along the slope of a roof, from its left end."""
    start, end = axes.transData.transform([(left, copy * left), (10 * left, 10 * copy * left)])
    font = {"fontsize": 9, "color": style.INK, "va": "bottom" if above else "top"}
    font |= {"rotation": math.degrees(math.atan2(*(end - start)[::-1])), "rotation_mode": "anchor"}
    text = f"     {text}\n " if above else f" \n     {text}"  # and a gap to the roof
    axes.text(left, copy * left, text, linespacing=0.7, **font)


def sweep(
    ratios: Mapping[tuple[int | str, int], Speedup],
    *,
    title: str,
    note: str = "",
    reference: Reference | None = None,
) -> Picture:
    """Times as fast over the width of a model, a curve for each batch size, with intervals.

    Ratios are by (width, batch size), or (name of another model, batch size) to the right of the
    curves; where nothing can be told the mark is hollow. The `note` under the title says what of.

    >>> same = Speedup(None, None, (0.9, 1.1), conclusive=False, ratio=None)
    >>> print(sweep({(16, 32): same}, title="GPU against CPU"))
    Line plot of times as fast over width. GPU against CPU: 16 by 32: not measurable.
    """
    sides, under = style.sides(ratios, reference, f"{note} {style.BARS} Hollow: not measurable.")
    models = {model for of, *_ in sides for model, _ in of}
    widths = sorted(model for model in models if isinstance(model, int))
    at = {w: w for w in widths} | {name: 6 * widths[-1] for name in models.difference(widths)}
    ends = [end for of, *_ in sides for gain in of.values() for end in (1, *gain.interval)]
    labels, said, right = [], [], 1.5 * max(at.values())
    with style.figure(style.WIDE, 3.2, title, under=under) as (figure, axes):
        low, high = min(ends) / 1.3, 1.3 * max(ends)
        style.scale(axes.yaxis, "times as fast", low, high, style.plain, log=True)
        label = "width: units in the hidden layer"
        names = {x: f"{m:,}" if m in widths else m.partition(",")[0] for m, x in at.items()}
        style.scale(axes.xaxis, label, widths[0] / 1.5, right, names.get, log=True, at=[*names])
        axes.axhline(1, color=style.INK, lw=1.2)
        labels.append((right, 1, "1: no gain", style.INK, None))
        for of, mine, words in sides:
            brief = [style.short(g.ratio) if g.ratio else "not measurable" for g in of.values()]
            by = (f"{m}{' by' if m in widths else ', batches of'} {size}" for m, size in of)
            said.append(words + "; ".join(map("{}: {}".format, by, brief)))
            curves, colours = {}, style.palette(mine)
            for (model, size), gain in of.items():
                name = "" if model in widths else f"{model},\n"
                curves.setdefault(f"{name}batches of {size:,}", {})[at[model]] = gain
            for i, (name, curve) in enumerate(curves.items()):
                aside, mark = 1.08 ** (i - len(curves) / 2), {"marker": style.MARKS[i], "ms": 6}
                line = {x * aside: gain for x, gain in curve.items()}
                middles = [g.ratio or math.prod(g.interval) ** 0.5 for g in line.values()]
                look = {"color": colours[i % len(colours)], "zorder": 2 + mine}
                axes.plot(list(line), middles, lw=1.6, **look)
                for (x, gain), y in zip(line.items(), middles, strict=True):
                    axes.plot([x, x], gain.interval, lw=3, alpha=0.4, solid_capstyle="butt", **look)
                    face = look["color"] if gain.conclusive else "white"
                    axes.plot([x], [y], mfc=face, mew=1.4, **mark, **look)
                if mine or len(sides) == 1:  # the grey one beside it has the same mark
                    labels.append((x, y, name, look["color"], mark))
                elif i == 0:
                    labels.append((x, y, style.folded(reference.label), look["color"], mark))
        style.beside(figure, axes, labels)
        what = f"Line plot of times as fast over width. {note} {title}: {'; '.join(said)}."
        return style.picture(figure, " ".join(what.split()))


COSTS = {  # of an axis of `break_even`: its name, its unit, how it is written
    "time": ("minutes until it is done", 60, style.plain),
    "money": ("cost, in your currency", 1, style.plain),
    "energy": ("energy", 1, partial(format_rate, unit="J")),
}


def break_even(found, *, title: str | None = None, reference=None) -> Picture:
    """What two plans cost over the epochs, and the stretch in which they may cross.

    `found` is of `worth.break_even`. The finding is the title, unless another one is given.

    >>> from accel_helpers.worth import break_even as worth
    >>> plans = worth.Plan("a CPU", (60, 60)), worth.Plan("a T4", (10, 20), setup_minutes=5)
    >>> print(break_even(worth.break_even(*plans, epochs=9)).alt[:66])
    Lines of time over epochs. Under 6 minutes of training here, stay;
    """
    first, labels, tops, said = style.sides(found, reference)[0][0][0], [], [], []
    where = " to ".join(f"{each:.0f}" for each in first.crossing if each < math.inf) or "no"
    note = f"Shaded: where they may cross, {where} epochs. Dashed: your training."
    sides, under = style.sides(found, reference, note)
    (early, late), (under_, over) = first.crossing, map(style.short, first.minutes)
    change = f", stay; over {over}, change" if late < math.inf else ", stay where you are"
    finding = f"Under {under_} minutes of training here{change}"
    if early == math.inf:
        finding = f"{first.there.name}: it never pays"
    if first.verdict == BOUGHT:
        finding = f"{first.there.name}: it saves time, not money"
    if first.verdict == FEW:
        finding = "Too few timings for a verdict"
    title = title or finding
    most = 1.4 * max([first.epochs, *(each for each in (early, late) if each < math.inf)])
    name, unit, text = COSTS[first.axis]
    with style.figure(style.WIDE, 3.0, title, under=under) as (figure, axes):
        axes.axvspan(min(early, most), min(late, most), color=style.EMPTY, lw=0)
        axes.axvline(first.epochs, color=style.INK, lw=1.2, ls="--")
        for of, mine, words in sides[::-1]:
            colours = style.palette(mine)
            for plan, colour in ((of.here, colours[0]), (of.there, colours[1 + mine])):
                both = zip(*(plan.cost(n, of.axis) for n in (0, most)), strict=True)
                low, high = ([cost / unit for cost in each] for each in both)
                if mine or len(sides) == 1:
                    axes.fill_between([0, most], low, high, color=colour, alpha=0.35, lw=0)
                axes.plot([0, most], [*zip(low, high, strict=True)], color=colour, lw=1.2)
                tops.append(high[1])
                labels.append((most, (low[1] + high[1]) / 2, style.folded(plan.name), colour, None))
                costs = [text(float(f"{c / unit:.3g}")) for c in plan.cost(of.epochs, of.axis)]
                said.append(f"{words}{plan.name} {' to '.join(costs)} at {of.epochs} epochs")
        top = max(tops[-2:])
        style.scale(axes.xaxis, "epochs", 0, most, style.plain, whole=True)
        style.scale(axes.yaxis, name, 0, 1.05 * top or 1, text)
        style.beside(figure, axes, [(x, min(y, 1.05 * top), *more) for x, y, *more in labels])
        what = f"Lines of {first.axis} over epochs. {title}: {'; '.join(said)}."
        return style.picture(figure, what)


def digits(images: Sequence, labels: Sequence[int], *, title: str) -> Picture:
    """Small grey pictures in rows, each with its label above it.

    Images are arrays of shape (height, width), in which larger numbers are darker.

    >>> import numpy as np
    >>> print(digits(np.eye(8)[None], [7], title="A digit"))
    1 pictures of 8 x 8 pixels. A digit: 7.
    """
    across, rows = 12, -(-len(images) // 12)
    with style.figure(5.2, 0.35 + 0.6 * rows, title) as (figure, axes):
        for place, (image, label) in enumerate(zip(images, labels, strict=True)):
            row, column = divmod(place, across)
            x, y = 1.3 * column, 1.8 * row
            axes.imshow(image, cmap="Greys", vmin=0, extent=(x, x + 1, y + 1, y))
            axes.text(x + 0.5, y - 0.08, int(label), ha="center", fontsize=9)
        axes.set(xlim=(0, 1.3 * across), ylim=(1.8 * rows - 0.75, -0.55), aspect="equal")
        axes.set_axis_off()
        shape = " x ".join(str(side) for side in images[0].shape)
        said = " ".join(str(int(label)) for label in labels)
        return style.picture(figure, f"{len(images)} pictures of {shape} pixels. {title}: {said}.")
