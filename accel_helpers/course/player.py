"""What the players draw with: frames, which are boxes on a grid, and a player that shows them."""

from __future__ import annotations

import io
import uuid
from base64 import b64encode
from collections.abc import Sequence
from dataclasses import dataclass, replace

from accel_helpers._values.words import fragment
from accel_helpers.measure.pictures import Picture

# A frame has the look and the text of each box by the place of its middle, (row, column).
Frame = dict[tuple[float, float], tuple[str, str]]
# In inches.
TALL = 0.54  # from a row of the grid to the next
WIDE = 0.46  # from a column to the next, unless a text is longer
DIGIT = 0.072  # the width of a digit
QUEUED = 0.42  # columns that a number in a queue takes: a telephone shows the whole frame
DPI = 160  # as many as `Picture` counts for an inch


@dataclass(frozen=True)
class Look:
    """The look of a box and of its letters as matplotlib names it; sizes in rows and columns."""

    face: str = "none"
    edge: str = "none"
    letters: str = "black"
    line: float = 0.8  # the width of the edge, in points
    width: float = 0.84
    height: float = 0.42
    weight: str = "normal"  # of the letters
    align: str = "center"  # of the text


# The colours are Okabe and Ito's. For the colour-blind, no two looks differ by colour alone.
BUSY = Look("#0072B2", "black", "white", 1.8, height=0.84)
LOOKS = {
    "useful": BUSY,
    "working": BUSY,
    "padding": Look("#E69F00", "#7A5400", height=0.84),
    "waiting": Look("#ECECEC", "#BFBFBF", "#595959", height=0.84),
    "queued": Look("white", "#8C8C8C", width=QUEUED),
    "number": Look("white", "#8C8C8C"),
    "new": Look("white", line=1.8, edge="black", weight="bold"),
    "text": Look(),
    "line": Look(align="left"),
    "heading": Look(align="left", weight="bold"),
}


@dataclass(frozen=True, repr=False)
class Player:
    """One picture after the other in a notebook: played, or step by step."""

    frames: Sequence[Picture]
    alt: str  # what it shows, in words; each frame has its own

    def __repr__(self) -> str:
        return self.alt

    def _repr_mimebundle_(self, include=None, exclude=None):
        """Return the player, and a frame from the middle for pages on which none runs."""
        middle = self.frames[len(self.frames) // 2]
        still = replace(middle, alt=f"{self.alt} {middle.alt}")
        shown, metadata = still._repr_mimebundle_()
        width = metadata["image/png"]["width"]
        frames = [(b64encode(frame.png).decode(), frame.alt) for frame in self.frames]
        # Two players can be on one page, so each has an id of its own.
        player_id = f"player-{uuid.uuid4().hex}"
        html = fragment("course/templates/player/player", player_id, frames, width, self.alt)
        # There is none without Jinja2.
        if html:
            shown["text/html"] = html
        return shown, metadata


def written(top: float, left: float, heading: str, *lines: str) -> Frame:
    """Make a frame of a heading and of lines below it."""
    frame = {(top, left): ("heading", heading)}
    for place, line in enumerate(lines, 1):
        frame[top + 0.35 * place, left] = ("line", line)
    return frame


def moved(values: dict, down: float, right: float) -> dict:
    """Return values by their places with each of them at another place."""
    return {(row + down, column + right): value for (row, column), value in values.items()}


def played(frames: Sequence[Frame], alt: str) -> Player:
    """Draw frames for a player, all in one size; the words of each are its lines."""
    pictures = []
    for frame in frames:
        lines = [text for look, text in frame.values() if LOOKS[look].align == "left"]
        pictures.append(drawn(frame, " ".join(lines), frames))
    return Player(pictures, alt)


def drawn(frame: Frame, alt: str, alike: Sequence[Frame]) -> Picture:
    """Draw a frame on a sheet on which all that look `alike` have room."""
    from matplotlib.figure import Figure
    from matplotlib.patches import Rectangle
    from PIL import Image

    rows = []
    columns = []
    letters = 0
    for each in alike:
        for (row, column), (name, text) in each.items():
            rows.append(row)
            columns.append(column)
            if LOOKS[name].edge != "none":
                letters = max(letters, *map(len, text.split("\n")))
    wide = max(WIDE, DIGIT * letters + 0.1)
    top = min(rows) - 0.5
    bottom = max(rows) + 0.6
    left = min(columns) - 0.3
    right = max(columns) + 0.6
    width = (right - left) * wide
    height = (bottom - top) * TALL
    figure = Figure((width, height))
    axes = figure.add_axes((0, 0, 1, 1), xlim=(left, right), ylim=(bottom, top))
    axes.set_axis_off()
    for (y, x), (name, text) in frame.items():
        look = LOOKS[name]
        corner = (x - look.width / 2, y - look.height / 2)
        paint = {"fc": look.face, "ec": look.edge, "lw": look.line}
        axes.add_patch(Rectangle(corner, look.width, look.height, **paint))
        font = {"ha": look.align, "color": look.letters, "weight": look.weight, "size": 8}
        axes.text(x, y, text, va="center", **font)
    full = io.BytesIO()
    figure.savefig(full, dpi=DPI)
    # 16 colours take a fifth of the bytes.
    image = Image.open(full).convert("RGB").quantize(16)
    small = io.BytesIO()
    image.save(small, "png", optimize=True)
    return Picture(small.getvalue(), alt)
