"""What the players draw with: sheets, boxes, and the player itself; lengths in inches."""

import base64
import uuid
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from accel_helpers._values.words import fragment
from accel_helpers.plots import style

FRAMES = 60  # the most frames of an animation: each is a PNG inside the page
# Options of `Axes.text` of matplotlib: a text in a box, a heading, and a paragraph below it.
TEXT = {"ha": "center", "va": "center", "fontsize": 9}
HEADING = {"va": "top", "fontsize": 11, "weight": "bold"}
BODY = {"va": "top", "fontsize": 9.5}


@dataclass(frozen=True)
class Look:
    """The look of a box and of the letters in it: colours and patterns as matplotlib names them."""

    face: str = "white"
    edge: str = style.EDGE
    line: float = 0.8  # the width of the edge, in points
    hatch: str | None = None  # the pattern on the face; None for none
    dashes: str = "-"  # the pattern of the edge
    letters: str = "black"


# By what a cell does, as in `step.KINDS`. For the colour-blind, no two differ by colour alone.
KINDS = {
    "useful": Look(style.OWN, "black", 1.8, letters="white"),
    "padding": Look(style.THIRD, style.BROWN, 1.0, "////"),
    "waiting": Look(style.EMPTY, style.QUIET, letters=style.SAID),
}


@dataclass(frozen=True, repr=False)
class Animation:
    """A player that shows one picture after the other in a notebook."""

    frames: tuple[bytes, ...]  # PNG files
    alt: str  # what the player shows, in words: for screen readers, and as its `repr`

    def __repr__(self) -> str:
        return self.alt

    def _repr_png_(self) -> tuple[bytes, dict[str, str]]:
        """Return a frame from the middle, for pages on which no player runs, and its metadata."""
        still = self.frames[len(self.frames) // 2]
        return still, {"alt": self.alt}

    def _repr_html_(self) -> str | None:
        frames = []
        for png in self.frames:
            data = base64.b64encode(png).decode()
            frames.append(f"data:image/png;base64,{data}")
        # Two players can be on one page, so each has an id of its own.
        player_id = f"player-{uuid.uuid4().hex}"
        return fragment("course/templates/player/player", player_id, frames, self.alt)


@contextmanager
def blank(width: float, height: float):
    """Make an empty figure of so many inches, and yield (figure, axes); it is closed at the end.

    The axes cover the whole sheet. Their unit is an inch, counted from the upper left corner.
    """
    with style.figure(width, height) as (figure, axes):
        # A layout engine would move the axes away from the edges.
        figure.set_layout_engine("none")
        axes.set(position=(0, 0, 1, 1), xlim=(0, width), ylim=(height, 0))
        axes.set_axis_off()
        yield figure, axes


def draw_key_entry(axes: Any, x: float, y: float, text: str, look: Look) -> None:
    """Draw a small box, and to its right the text that says what its look means.

    x is where the box begins, and y the middle of its height.
    """
    draw_box(axes, x, y - 0.09, 0.24, 0.18, look)
    axes.text(x + 0.31, y, text, va="center", fontsize=9.5)


def draw_box(
    axes: Any, x: float, y: float, width: float, height: float, look: Look = Look()
) -> None:
    """Draw a box whose upper left corner is at (x, y)."""
    from matplotlib.patches import Rectangle

    paint = {"fc": look.face, "ec": look.edge, "hatch": look.hatch}
    box = Rectangle((x, y), width, height, lw=look.line, ls=look.dashes, **paint)
    axes.add_patch(box)
