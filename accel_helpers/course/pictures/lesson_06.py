"""The pictures of lesson 06: useful cells over a size; two results are kept and never drawn."""

from collections.abc import Sequence

from accel_helpers.course.lessons import lesson_06
from accel_helpers.course.pictures.kinds import Kept, Kind, lesson_of


def draw_useful(data, title, reference):
    """Draw what was counted in the model: nothing was measured."""
    return lesson_06.useful_cells(data, title=title)


def instructions(products, path: str) -> Kept:
    """Keep what the compiler needs for 129 and for 128: claim 8 compares the two."""
    larger = products[129]
    smaller = products[128]
    counts = [larger.instructions, smaller.instructions]
    return {}, {path: counts}


def sums(totals: Sequence[float], path: str) -> Kept:
    """Keep a thousand ones added up in bfloat16 and in float32, by the name of claim 19."""
    lesson = lesson_of(path)
    numbers = {f"{lesson}/ones": list(totals)}
    return {}, numbers


USEFUL_CELLS = Kind(draw=draw_useful)
# Both are kept, and never drawn.
INSTRUCTIONS = Kind(measured=instructions)
SUMS = Kind(measured=sums)

KINDS: dict[str, Kind] = {
    "useful cells": USEFUL_CELLS,
    "instructions": INSTRUCTIONS,
    "sums": SUMS,
}
