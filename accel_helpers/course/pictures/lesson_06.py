"""The pictures of lesson 06: useful cells over a size; two results are kept and never drawn."""

from accel_helpers.course.lessons import lesson_06
from accel_helpers.course.pictures.kinds import Kind

USEFUL = Kind(  # counted in the model: nothing was measured
    draw=lambda data, title, reference: lesson_06.useful_cells(data, title=title)
)


def instructions(products, path: str):
    """What the compiler needs for 129 and for 128: claim 8 compares the two."""
    return {}, {path: [products[size].instructions for size in (129, 128)]}


def sums(totals, path: str):
    """A thousand ones added up in bfloat16 and in float32, by the name that claim 19 asks for."""
    lesson, _, _ = path.partition("/")
    return {}, {f"{lesson}/ones": [*totals]}


KINDS: dict[str, Kind] = {
    "useful cells": USEFUL,
    "instructions": Kind(measured=instructions),
    "sums": Kind(measured=sums),
}
