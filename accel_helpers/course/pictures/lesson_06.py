"""The pictures of lesson 06: useful cells over a size; two results are kept and never drawn."""

from collections.abc import Sequence

from accel_helpers.course.lessons import lesson_06
from accel_helpers.course.pictures.kinds import Kept, Kind, lesson_of


def draw_useful(data, title, reference):
    """Draw shares that were counted in a model of a chip; so there is no reference."""
    return lesson_06.useful_cells(data, title=title)


def instructions(products, path: str) -> Kept:
    """Return what a card keeps: the instructions of a product of size 129, and of one of 128.

    `products` has by size what the compiler said. Claim 8 compares the two.
    """
    larger_product = products[129]
    smaller_product = products[128]
    counts = [larger_product.instructions, smaller_product.instructions]
    return {}, {path: counts}


def sums(totals: Sequence[float], path: str) -> Kept:
    """Return what a card keeps: the sums of a thousand ones in bfloat16 and in float32.

    They are named as claim 19 reads them.
    """
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
