"""What the players draw with: sheets, boxes, and the player itself; lengths in inches."""

import base64
import uuid
from contextlib import contextmanager
from dataclasses import dataclass

from accel_helpers._values.words import fragment
from accel_helpers.plots import style

FRAMES = 60  # the most cycles of an animation
TEXT = {"ha": "center", "va": "center", "fontsize": 9}
HEADING = {"va": "top", "fontsize": 11, "weight": "bold"}
BODY = {"va": "top", "fontsize": 9.5}


@dataclass(frozen=True)
class Look:
    """The look of a box: its colours, its edge and its hatch."""

    face: str = "white"
    edge: str = style.EDGE
    line: float = 0.8  # the width of its edge, in points
    hatch: str | None = None
    dashes: str = "-"  # of its edge
    letters: str = "black"


# By what a cell does: no two of them differ by colour alone.
KINDS = {
    "useful": Look(style.OWN, "black", 1.8, letters="white"),
    "padding": Look(style.THIRD, style.BROWN, 1.0, "////"),
    "waiting": Look(style.EMPTY, style.QUIET, letters=style.SAID),
}


@dataclass(frozen=True, repr=False)
class Animation:
    """A player with a PNG for each cycle, and a text that describes what it shows."""

    frames: tuple[bytes, ...]
    alt: str

    def __repr__(self) -> str:
        return self.alt

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
    """Make a figure whose axes are the whole sheet, in inches from its upper left corner."""
    with style.figure(width, height) as (figure, axes):
        figure.set_layout_engine("none")
        axes.set(position=(0, 0, 1, 1), xlim=(0, width), ylim=(height, 0))
        axes.set_axis_off()
        yield figure, axes


def draw_key_entry(axes, x: float, y: float, text: str, look: Look) -> None:
    """Draw a small box with its meaning to the right; y is the middle of its height."""
    draw_box(axes, x, y - 0.09, 0.24, 0.18, look)
    axes.text(x + 0.31, y, text, va="center", fontsize=9.5)


def draw_box(axes, x: float, y: float, width: float, height: float, look: Look = Look()) -> None:
    """Draw a box whose upper left corner is at (x, y)."""
    from matplotlib.patches import Rectangle

    paint = {"fc": look.face, "ec": look.edge, "hatch": look.hatch}
    box = Rectangle((x, y), width, height, lw=look.line, ls=look.dashes, **paint)
    axes.add_patch(box)
