"""The material of the lessons, and the checks of their exercises."""

from __future__ import annotations

import importlib
from collections.abc import Callable

from accel_helpers.learn.checks import Result

_LESSONS = ("00", "01", "02", "03", "04", "06", "10", "11")


def check(exercise: str, answer) -> Result:
    """Grade an answer to an exercise.

    Parameters
    ----------
    exercise : str
        Its name, such as "03/a".
    answer : object
        What the exercise asks for.

    Returns
    -------
    Result

    Raises
    ------
    ValueError
        If there is no such exercise.

    Examples
    --------
    >>> check("03/diagnosis", {"A": "compiling", "B": "waiting"}).ok
    False
    """
    graders = _graders()
    if exercise not in graders:
        raise ValueError(f"no exercise is called {exercise!r}. There are: {', '.join(graders)}.")
    return graders[exercise](answer)


def _graders() -> dict[str, Callable[[object], Result]]:
    graders = {}
    for module in _LESSONS:
        graders |= importlib.import_module(f"{__name__}.lesson_{module}").GRADERS
    return graders
