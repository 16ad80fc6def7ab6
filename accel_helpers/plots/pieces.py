"""Pictures of where the time of a step goes: a bar in pieces, and one for each of several steps."""

from collections.abc import Mapping, Sequence

from accel_helpers._values.words import format_seconds, percent
from accel_helpers.plots import style
from accel_helpers.plots.rows import Row, ValueAxis, draw_rows, paint, room
from accel_helpers.plots.style import Picture
from accel_helpers.train.epoch_parts import PARTS

THICK = 0.62  # of a bar, where rows are 1 apart
Pieces = Mapping[str, float]  # the seconds of each part of a step
Steps = Mapping[str, Pieces]


def parts(values: Pieces, *, title: str, whole: str = "one step") -> Picture:
    """Draw one bar in pieces, given by name in seconds, and a row for each with its share.

    `whole` is what the pieces make up together.

    >>> print(parts({"compute": 0.001, "overhead": 0.003}, title="A step"))
    Bar in pieces. A step: 75 % overhead: compute 1 ms; overhead 3 ms.
    """
    if len(values) > 1:
        longest_piece, share = _longest_piece(values)
        title = f"{title}: {share} {longest_piece}"
    axis = ValueAxis(f"time of {whole}", 0, sum(values.values()), format_seconds)
    heads = ["time", "share"]
    rows = _piece_rows(values)
    return draw_rows("Bar in pieces", rows, heads, axis, title=title, thick=THICK)


def epoch_parts(values: Pieces, *, title: str) -> Picture:
    """Draw where an epoch goes, as `parts` does, with the parts of a step in the same colours.

    Parts that take no time are left out.

    >>> print(epoch_parts({"input": 3.0, "compute": 1.0, "callbacks": 0.0}, title="An epoch"))
    Bar in pieces. An epoch: 75 % input: compute 1 s; input 3 s.
    """
    pieces = {name: values[name] for name in PARTS if values.get(name)}
    return parts(pieces, title=title, whole="an epoch")


def _longest_piece(pieces: Pieces) -> tuple[str, str]:
    """The name of the longest piece of a step, and its share in %."""
    name = max(pieces, key=pieces.get)
    total = sum(pieces.values())
    share = percent(pieces[name] / total)
    return name, share


def _piece_rows(pieces: Pieces) -> list[Row]:
    """A row for each piece of a step, each beginning where the one above it ends."""
    rows = []
    total = sum(pieces.values())
    start = 0.0
    for place, (name, seconds) in enumerate(pieces.items()):
        end = start + seconds
        duration = format_seconds(seconds)
        share = percent(seconds / total)
        colour = _colour(name, place)
        row = Row(name, colour, (duration, share), bar=(start, end))
        rows.append(row)
        start = end
    return rows


def _colour(name: str, place: int) -> str:
    """Return the colour of a piece: an epoch's have the same one in every picture."""
    if name in PARTS:
        return style.COLOURS[PARTS.index(name)]
    # Three colours in turn are enough to tell a piece from the next.
    return style.COLOURS[place % 3]


def bars(steps: Steps, *, title: str) -> Picture:
    """Draw a bar in pieces for each name: seconds by part of a step, the same parts in each.

    >>> print(bars({"a T4": {"compute": 1e-3, "overhead": 3e-3}}, title="A step"))
    Bars in pieces. A step: a T4 compute 1 ms, overhead 3 ms.
    """
    rows = [_step_row(name, pieces) for name, pieces in steps.items()]
    height = 1.25 + room(rows)
    with style.figure(style.WIDE, height, title) as (figure, axes):
        longest = _stack_pieces(axes, steps)
        paint(axes, rows, ["a step", "most of it"])
        end = 1.02 * longest
        style.scale(axes.xaxis, "time of one step", 0, end, format_seconds)
        part_names = _part_names(steps)
        _write_legend(axes, len(part_names))
        sentences = [_step_text(name, pieces, part_names) for name, pieces in steps.items()]
        content = "; ".join(sentences)
        alt = f"Bars in pieces. {title}: {content}."
        return style.picture(figure, alt)


def _part_names(steps: Steps) -> list[str]:
    """The names of a step's parts; the first step says which there are."""
    first_step = next(iter(steps.values()))
    return list(first_step)


def _step_row(name: str, pieces: Pieces) -> Row:
    """The row of a step: how long it takes, and which part takes most of that."""
    total = sum(pieces.values())
    duration = format_seconds(total)
    longest_piece, share = _longest_piece(pieces)
    notes = (duration, f"{longest_piece}, {share}")
    return Row(name, style.OWN, notes)


def _stack_pieces(axes, steps: Steps) -> float:
    """Draw the bars of all steps, part by part; return the seconds of the longest step."""
    heights = range(len(steps))
    starts = [0.0] * len(steps)
    for part in _part_names(steps):
        # A part has the same colour in every picture.
        place = style.PIECES.index(part)
        widths = [pieces[part] for pieces in steps.values()]
        axes.barh(heights, widths, THICK, starts, color=style.COLOURS[place], label=part)
        # The next part begins where this one ends.
        starts = [start + width for start, width in zip(starts, widths, strict=True)]
    return max(starts)


def _write_legend(axes, columns: int) -> None:
    """Write above the axes which colour is which part."""
    look = {"frameon": False, "fontsize": 9, "handlelength": 1}
    place = {"loc": "lower left", "bbox_to_anchor": (0, 1), "borderaxespad": 0.2}
    axes.legend(ncols=columns, **look, **place)


def _step_text(name: str, pieces: Pieces, part_names: Sequence[str]) -> str:
    """A step in words: its name, and the seconds of each part."""
    texts = []
    for part in part_names:
        duration = format_seconds(pieces[part])
        texts.append(f"{part} {duration}")
    durations = ", ".join(texts)
    return f"{name} {durations}"
