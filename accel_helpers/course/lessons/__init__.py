"""The material of the lessons, and the checks of their exercises."""

import functools
import importlib
from collections.abc import Callable

from accel_helpers.course.checks import Check, Result
from accel_helpers.measure.pictures import Picture

__all__ = ["check"]


def check(exercise: str, answer) -> Result:
    """Grade an answer to an exercise, whatever it is.

    Parameters
    ----------
    exercise : str
        Its name, such as "03/a".
    answer
        What the exercise asks for, a dictionary of words or a function; anything else is wrong.

    Returns
    -------
    Result
        Whether it is right (`ok`), the `message` about this answer and, if not, a `hint`.

    Raises
    ------
    ValueError
        If there is no exercise of that name.

    Examples
    --------
    >>> check("03/diagnosis", {"A": "compiling", "B": "waiting"}).ok
    False
    """
    checks = exercises()
    if exercise not in checks:
        raise ValueError(f"no exercise is called {exercise!r}. There are: {', '.join(checks)}.")
    return checks[exercise](answer)


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
