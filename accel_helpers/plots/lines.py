"""Lines of one number over another: losses over epochs, times over sizes."""

from collections.abc import Callable, Mapping, Sequence

from accel_helpers.measure.measurement import Measurement
from accel_helpers.measure.results import Reference
from accel_helpers.plots import style
from accel_helpers.plots.style import Picture

Axis = tuple[str, Callable[[float], str]]  # what it says, and how its numbers are written
Line = Mapping[float, float | Measurement] | Sequence[float]


def curves(
    lines: Mapping[str, Line],
    *,
    title: str,
    x: Axis = ("epoch", style.plain),
    y: Axis = ("loss", "{:.3g}".format),
    log: bool = False,
    said: Mapping[str, Line] | None = None,
    note: str = "",
    reference: Reference | None = None,
) -> Picture:
    """Lines of one number over another, each with its name at its end.

    Parameters
    ----------
    lines : mapping of a name to a line, of seven at most
        A line is the y of every x, or what there was after epoch 1, 2 and so on. A y that is a
        Measurement stands at its median, with its interval.
    x, y : what an axis says, and how its numbers are written
    log : bool
        Whether both axes are logarithmic.
    said : mapping of a name to a line
        What was not measured, dashed: a pretend device, a diagonal; a single point is a level.
    note : str
        What stands under the title.
    reference : results.Reference
        Of such lines.

    Examples
    --------
    >>> print(curves({"a": [2, 1.5]}, title="Training", said={"knowing nothing": [2.3]}))
    Line plot of loss over epoch. Training: a from 2 at 1 to 1.5 at 2. Dashed: knowing nothing 2.3.
    """
    sides, under = style.sides(lines, reference, note)
    dashed = {name: _points(line) for name, line in (said or {}).items()}
    parts = [({n: _points(line) for n, line in of.items()}, own, words) for of, own, words in sides]
    every = [of for of, *_ in parts] + [dashed]
    points = [point for of in every for line in of.values() for point in line]
    if any(low < high for *_, low, high in points):
        under = f"{style.BARS}\n{under}"
    left, right = _around([point[0] for point in points], log, 0.04)
    low, high = _around([end for _, *ends in points for end in ends], log, 0.1)
    labels, names = [], [*parts[0][0]]
    most = max(len(of) for of, *_ in parts) - 1
    nested = 0 if log else min(4, 8 / (most or 1))  # marks of growing size, seen where they meet
    with style.figure(style.WIDE, 3.0 if log else 2.5, title, under=under) as (figure, axes):
        at = sorted({point[0] for point in points} if log else ())
        at = at[:: -1 - len(at) // 8]  # as many as can be read one by one
        style.scale(axes.xaxis, x[0], left, right, x[1], log=log, whole=not log, at=at)
        style.scale(axes.yaxis, y[0], low, high, y[1], log=log)
        for of, own, _ in parts[::-1]:
            for i, (name, line) in enumerate(of.items()):
                across, middles, lows, highs = zip(*line, strict=True)
                look = {"color": style.palette(own)[i % len(style.palette(own))], "zorder": 2 + own}
                size = 5 + (most - i) * nested + 2 * (parts[0][1] and not own)
                place = names.index(name) if name in names else i  # a grey line has its own's mark
                mark = {"marker": style.MARKS[place], "ms": size}
                axes.plot(across, middles, lw=1.2, **mark, **look)
                axes.vlines(across, lows, highs, lw=4, alpha=0.4, **look)
                end = across[-1], middles[-1], style.folded(name), look["color"]
                if own or len(parts) == 1 or name not in parts[0][0]:  # its grey has the same mark
                    labels.append((*end, None if log or len(line) == 1 else mark))
                elif i == 0:
                    whose = style.folded(reference.label)
                    labels.append((*end[:2], whose, look["color"], None))
        for name, line in dashed.items():
            ends = line if len(line) > 1 else [(at, line[0][1]) for at in (left, right)]
            axes.plot(*list(zip(*ends, strict=True))[:2], color=style.INK, lw=1.2, ls="--")
            labels.append((*ends[-1][:2], style.folded(name), style.INK, None))
        style.beside(figure, axes, labels)
    texts = [w + "; ".join(_told(*each, x[1], y[1]) for each in of.items()) for of, _, w in parts]
    also = "; ".join(_told(*line, x[1], y[1]) for line in dashed.items())
    what = f"Line plot of {y[0]} over {x[0]}. {title}: {'; '.join(texts)}."
    return style.picture(figure, f"{what} Dashed: {also}." if also else what)


def _points(line: Line) -> list[tuple[float, float, float, float]]:
    """The x of each point of a line, its y, and the ends of its interval."""
    points = line if isinstance(line, Mapping) else dict(enumerate(line, 1))
    ends = (getattr(y, "interval", (y, y)) for y in points.values())
    middles = (getattr(y, "median", y) for y in points.values())
    return [(x, y, *end) for x, y, end in zip(points, middles, ends, strict=True)]


def _around(values, log: bool, share: float) -> tuple[float, float]:
    """Where an axis begins and ends that shows the values, and at both ends a share more."""
    low, high = min(values), max(values)
    if log:
        return low / (room := max(1.3, (high / low) ** (share / 2))), high * room
    room = share * (high - low or 1 / share)
    return low - room, high + room


def _told(name, line, x, y) -> str:
    """A line in words: where it begins and ends."""
    ends = [f"{y(point[1])} at {x(point[0])}" for point in (line[0], line[-1])]
    if len(line) > 1:
        return f"{name} from {' to '.join(ends)}"
    return name if name.endswith(y(line[0][1])) else f"{name} {y(line[0][1])}"
