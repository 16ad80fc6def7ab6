"""The material of the lessons: the checks of their exercises, and what draws their pictures."""

import functools
import importlib
from collections.abc import Callable

from accel_helpers.course.checks import Check
from accel_helpers.measure.pictures import Picture


@functools.cache
def exercises() -> dict[str, Check]:
    """Return the check of every exercise by its name, such as "03/a"."""
    checks: dict[str, Check] = {}
    for number in range(12):
        lesson = importlib.import_module(f"{__name__}.lesson_{number:02}")
        checks |= lesson.CHECKS
    return checks


def drawings(number: str) -> dict[str, Callable[..., Picture]]:
    """Return what draws each picture of a lesson, by the place's id."""
    lesson = importlib.import_module(f"{__name__}.lesson_{number}")
    return getattr(lesson, "PICTURES", {})
