"""The picture of lesson 09: what several chips wait for; two results are kept, and never drawn."""

from accel_helpers import plots
from accel_helpers.course.pictures.kinds import Kept, Kind


def draw_waits(data, title, reference):
    """Draw seconds that were worked out for a pretend cluster; so there is no reference."""
    return plots.bars(data, title=title)


def keep_difference(difference, path: str) -> Kept:
    """Return what a card keeps: how far two batches' results were apart, as "PATH apart"."""
    numbers = {f"{path} apart": [float(difference)]}
    return {}, numbers


def keep_sizes(sizes, path: str) -> Kept:
    """Return what a card keeps: the sizes of a model's state, under the path itself."""
    numbers = [float(size) for size in sizes]
    return {}, {path: numbers}


WAITS = Kind(draw=draw_waits)
# Both are kept, and never drawn.
BATCHES = Kind(measured=keep_difference)
STATE = Kind(measured=keep_sizes)

KINDS: dict[str, Kind] = {"waits": WAITS, "batches": BATCHES, "state": STATE}
