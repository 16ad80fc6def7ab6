"""The pictures of the lessons: how each is put on the result card, found there again, and drawn.

A place's `picture` names one of `PICTURES`. What a lesson measured stands on the card under
"NN/place"; the newest reference run that has the same names is drawn in grey. A kind that one
lesson alone has stands in that lesson's module.
"""

from accel_helpers.course.pictures import (
    kinds,
    lesson_00,
    lesson_01,
    lesson_02,
    lesson_04,
    lesson_05,
    lesson_06,
    lesson_07,
    lesson_08,
    lesson_09,
    lesson_10,
)
from accel_helpers.course.pictures.kinds import Kind, reference_for

PICTURES: dict[str, Kind] = {
    "epochs": kinds.EPOCHS,
    "measurements": kinds.MEASUREMENTS,
    "parts": kinds.PARTS,
    "profile": kinds.PROFILE,
    "bars": kinds.BARS,
    "climb": kinds.CLIMB,
    **lesson_00.KINDS,
    **lesson_01.KINDS,
    **lesson_02.KINDS,
    **lesson_04.KINDS,
    **lesson_05.KINDS,
    **lesson_06.KINDS,
    **lesson_07.KINDS,
    **lesson_08.KINDS,
    **lesson_09.KINDS,
    **lesson_10.KINDS,
}

__all__ = ["PICTURES", "Kind", "reference_for"]
