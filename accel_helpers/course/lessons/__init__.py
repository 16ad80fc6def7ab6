"""The material of the lessons, and the checks of their exercises."""

import functools
import importlib
import pkgutil

from accel_helpers.course.checks import Check, Result

__all__ = ["check"]


def check(exercise: str, answer) -> Result:
    """Grade an answer to an exercise, whatever it is.

    Parameters
    ----------
    exercise : str
        Its name, such as "03/a"; a ValueError where there is none of that name.

    Returns
    -------
    Result
        Whether it is right (`ok`), the `message` about this answer and, if not, a `hint`.

    Examples
    --------
    >>> check("03/diagnosis", {"A": "compiling", "B": "waiting"}).ok
    False
    """
    known = exercises()
    if exercise not in known:
        raise ValueError(f"no exercise is called {exercise!r}. There are: {', '.join(known)}.")
    return known[exercise](answer)


@functools.cache
def exercises() -> dict[str, Check]:
    """The check of every exercise; each lesson_NN has its own in `CHECKS`."""
    found = (module.name for module in pkgutil.iter_modules(__path__))
    names = sorted(name for name in found if name.startswith("lesson_"))
    lessons = (importlib.import_module(f"{__name__}.{name}") for name in names)
    return {exercise: check for lesson in lessons for exercise, check in lesson.CHECKS.items()}
