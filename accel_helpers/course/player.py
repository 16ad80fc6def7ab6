"""What the players draw with: frames, which are boxes on a grid, and a player that shows them.

A frame is a dictionary: by the place of its middle, (row, column), the look and the text of each
box. What has none of `LOOKS` is text alone, which begins there.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from accel_helpers._values.words import fragment
from accel_helpers.measure import pictures
from accel_helpers.measure.pictures import Picture

# In inches.
TALL = 0.5  # from a row of the grid to the next
WIDE = 0.46  # from a column to the next, unless a text is longer
DIGIT = 0.085  # of a column, for a digit in a box
CAPTION = 6.2  # columns that a caption may take
QUEUED = 0.42  # columns that a number in a queue takes: a telephone shows the whole frame
# The face, the edge and its width in points, the colour of the letters, and how many rows and
# columns a box takes. For the colour-blind, no two differ by colour alone.
LOOKS = {
    "useful": (pictures.OWN, "black", 1.8, "white", 0.84, 0.84),
    "padding": ("#E69F00", "#7A5400", 0.8, "black", 0.84, 0.84),
    "waiting": ("#ECECEC", "#BFBFBF", 0.8, pictures.GREY, 0.84, 0.84),
    "queued": ("white", "#8C8C8C", 0.8, "black", 0.42, QUEUED),
    "number": ("white", "#8C8C8C", 0.8, "black", 0.42, 0.84),
    "new": ("white", "black", 1.8, "black", 0.42, 0.84),
}


@dataclass(frozen=True)
class Player(Picture):
    """Frames in a notebook, played or step by step; a page on which none runs shows one of them."""

    frames: Sequence[Picture]

    def _repr_mimebundle_(self, include=None, exclude=None):
        shown, metadata = super()._repr_mimebundle_()
        frames = [(b64encode(frame.png).decode(), frame.alt) for frame in self.frames]
        width = metadata["image/png"]["width"]
        html = fragment("course/templates/player/player", frames, width, self.alt)
        # There is none without Jinja2.
        if html:
            shown["text/html"] = html
        return shown, metadata


def played(frames: Mapping[str, dict], title: str) -> Player:
    """Make a player of frames, by the words that describe each, under one title."""
    drawings = drawn(frames, title)
    middle = drawings[len(drawings) // 2]
    return Player(middle.png, f"Animation of {len(frames)} frames. {title}.", drawings)


def drawn(frames: Mapping[str, dict], title: str) -> list[Picture]:
    """Draw frames, by the words that describe each, under one title and all in one size."""
    rows = []
    columns = []
    letters = 0
    for frame in frames.values():
        for (row, column), (name, text) in frame.items():
            rows.append(row)
            columns.append(column)
            if name in LOOKS:
                letters = max(letters, *map(len, text.split("\n")))
    wide = max(WIDE, DIGIT * letters)
    top = min(rows) - 0.5
    bottom = max(rows) + 0.6
    left = min(columns) - 0.3
    right = max(max(columns) + 0.6, left + CAPTION)
    drawings = []
    for words, frame in frames.items():
        with pictures.drawing(title, (bottom - top) * TALL, (right - left) * wide) as axes:
            axes.set(xlim=(left, right), ylim=(bottom, top))
            axes.set_axis_off()
            for (row, column), (name, text) in frame.items():
                font = {"va": "center", "size": 8}
                if name in LOOKS:
                    face, edge, line, ink, tall, broad = LOOKS[name]
                    axes.barh(row, broad, tall, column - broad / 2, fc=face, ec=edge, lw=line)
                    font |= {"ha": "center", "color": ink, "linespacing": 1}
                axes.text(column, row, text, **font)
            drawings.append(replace(pictures.finished(axes.figure), alt=words))
    return drawings
