"""Lines of one number over another: losses over epochs, times over sizes."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from accel_helpers.measure.measurement import Measurement
from accel_helpers.plots import style
from accel_helpers.plots.style import Label, Picture

Axis = tuple[str, Callable[[float], str]]  # what it says, and how its numbers are written
Line = Mapping[float, float | Measurement] | Sequence[float]


@dataclass(frozen=True)
class Point:
    """A point of a line, with the ends of its interval: without one they are its y."""

    x: float
    y: float
    low: float
    high: float


Lines = Mapping[str, Sequence[Point]]  # by their names


@dataclass(frozen=True)
class DrawnLine:
    """A line and what it looks like."""

    name: str
    points: Sequence[Point]
    colour: str
    mark: Mapping[str, Any]  # the shape and the size of its points

    @property
    def end(self) -> Point:
        """The last point."""
        return self.points[-1]


def curves(
    lines: Mapping[str, Line],
    *,
    title: str,
    x: Axis = ("epoch", style.plain),
    y: Axis = ("loss", "{:.3g}".format),
    log: bool = False,
    said: Mapping[str, Line] | None = None,
    note: str = "",
) -> Picture:
    """Draw lines of one number over another, each with its name at its end.

    Parameters
    ----------
    lines : mapping of str to line
        Seven lines at most, by name. A line is a mapping of x to y, or the sequence of its y after
        epoch 1, 2 and so on. A y that is a Measurement is drawn at its median, with its interval.
    x : tuple of str and callable
        What the x axis says, and what writes its numbers.
    y : tuple of str and callable
        The same of the y axis.
    log : bool
        Whether both axes are logarithmic.
    said : mapping of str to line, optional
        What was not measured, such as a pretend device or a diagonal. It is dashed. A line of a
        single point is drawn as a level over the whole width.
    note : str
        What stands under the title.

    Examples
    --------
    >>> print(curves({"a": [2, 1.5]}, title="Training", said={"knowing nothing": [2.3]}))
    Line plot of loss over epoch. Training: a from 2 at 1 to 1.5 at 2. Dashed: knowing nothing 2.3.
    """
    measured = _points_by_name(lines)
    dashed = _points_by_name(said or {})
    all_points = _all_points(measured) + _all_points(dashed)
    if any(point.low < point.high for point in all_points):
        note = f"{style.BARS}\n{note}".strip()
    height = 2.5
    if log:
        height = 3.0
    with style.figure(style.WIDE, height, title, under=note) as (figure, axes):
        left, right = _set_scales(axes, all_points, x, y, log)
        labels = []
        for line in _drawn_lines(measured, log):
            _draw_line(axes, line)
            label = _name_label(line, log)
            labels.append(label)
        labels += _draw_dashed(axes, dashed, left, right)
        style.beside(figure, axes, labels)
    alt = _alt_text(measured, dashed, title, x, y)
    return style.picture(figure, alt)


def _points_by_name(lines: Mapping[str, Line]) -> Lines:
    """The points of each line."""
    return {name: _points(line) for name, line in lines.items()}


def _points(line: Line) -> list[Point]:
    """The points of a line; those of a sequence stand at 1, 2 and so on."""
    if not isinstance(line, Mapping):
        line = dict(enumerate(line, start=1))
    points = []
    for x, y in line.items():
        middle = low = high = y
        if isinstance(y, Measurement):
            middle = y.median
            low, high = y.interval
        points.append(Point(x, middle, low, high))
    return points


def _all_points(lines: Lines) -> list[Point]:
    """The points of every line."""
    points = []
    for line in lines.values():
        points += line
    return points


def _set_scales(axes, points: Sequence[Point], x: Axis, y: Axis, log: bool):
    """Scale both axes so that all points are seen; return where the x axis ends."""
    x_label, write_x = x
    y_label, write_y = y
    ticks = ()
    if log:
        ticks = _ticks(points)
    across = [point.x for point in points]
    left, right = _limits(across, log, 0.04)
    style.scale(axes.xaxis, x_label, left, right, write_x, log=log, whole=not log, at=ticks)
    upward = []
    for point in points:
        upward += [point.low, point.high]
    low, high = _limits(upward, log, 0.1)
    style.scale(axes.yaxis, y_label, low, high, write_y, log=log)
    return left, right


def _limits(values: Sequence[float], log: bool, share: float) -> tuple[float, float]:
    """Where an axis begins and ends that shows the values, and at both ends a share more."""
    low = min(values)
    high = max(values)
    if log:
        # A margin of an axis of logarithms is a factor.
        ratio = high / low
        factor = max(1.3, ratio ** (share / 2))
        return low / factor, high * factor
    if low == high:
        return low - 1, high + 1
    margin = share * (high - low)
    return low - margin, high + margin


def _ticks(points: Sequence[Point]) -> list[float]:
    """The x of points from the largest down, as many as can be read one by one."""
    distinct = {point.x for point in points}
    sizes = sorted(distinct, reverse=True)
    step = 1 + len(sizes) // 8
    return sizes[::step]


def _name_label(line: DrawnLine, log: bool) -> Label:
    """The label of a line, its name."""
    mark = line.mark
    if log or len(line.points) == 1:
        # A dotted line leads to the end of the line, or to its only point.
        mark = None
    end = line.end
    text = style.folded(line.name)
    return Label(end.x, end.y, text, line.colour, mark)


def _drawn_lines(lines: Lines, log: bool) -> list[DrawnLine]:
    """The lines with their looks."""
    drawn = []
    last = len(lines) - 1
    for place, (name, points) in enumerate(lines.items()):
        size = 5.0
        if not log and last > 0:
            # Marks of growing size can be seen where they meet.
            growth = min(4, 8 / last)
            size += (last - place) * growth
        mark = {"marker": style.MARKS[place], "ms": size}
        line = DrawnLine(name, points, style.COLOURS[place], mark)
        drawn.append(line)
    return drawn


def _draw_line(axes, line: DrawnLine) -> None:
    """Draw a line with the intervals of its points."""
    look = {"color": line.colour, "zorder": 3}
    across = [point.x for point in line.points]
    upward = [point.y for point in line.points]
    axes.plot(across, upward, lw=1.2, **line.mark, **look)
    lows = [point.low for point in line.points]
    highs = [point.high for point in line.points]
    axes.vlines(across, lows, highs, lw=4, alpha=0.4, **look)


def _draw_dashed(axes, lines: Lines, left: float, right: float) -> list[Label]:
    """Draw what was not measured, and return its labels; a single point is a level."""
    labels = []
    for name, points in lines.items():
        across = [point.x for point in points]
        upward = [point.y for point in points]
        if len(points) == 1:
            [level] = upward
            across = [left, right]
            upward = [level, level]
        axes.plot(across, upward, color=style.INK, lw=1.2, ls="--")
        text = style.folded(name)
        label = Label(across[-1], upward[-1], text, style.INK)
        labels.append(label)
    return labels


def _alt_text(lines: Lines, dashed: Lines, title: str, x: Axis, y: Axis) -> str:
    """The sentence that says what the picture shows."""
    x_label, write_x = x
    y_label, write_y = y
    content = _lines_text(lines, write_x, write_y)
    alt = f"Line plot of {y_label} over {x_label}. {title}: {content}."
    if dashed:
        text = _lines_text(dashed, write_x, write_y)
        alt = f"{alt} Dashed: {text}."
    return alt


def _lines_text(lines: Lines, write_x, write_y) -> str:
    """Lines in words."""
    texts = []
    for name, points in lines.items():
        text = _line_text(name, points, write_x, write_y)
        texts.append(text)
    return "; ".join(texts)


def _line_text(name: str, points: Sequence[Point], write_x, write_y) -> str:
    """A line in words: where it begins and ends; of a single point its value."""
    first = points[0]
    last = points[-1]
    start = write_y(first.y)
    end = write_y(last.y)
    if len(points) > 1:
        left = write_x(first.x)
        right = write_x(last.x)
        return f"{name} from {start} at {left} to {end} at {right}"
    # "the rate of 90 %" needs no second 90 %.
    if name.endswith(start):
        return name
    return f"{name} {start}"
