"""What a learner's answer means: words and values, made so that they can be compared."""

import math
import re
from collections.abc import Sequence

from accel_helpers._values.words import shown

NEGATIONS = frozenset({"no", "not", "never"})


def meant(answer: object, choices: Sequence[str]) -> str | None:
    """Return the choice that an answer means; None where that is not certain.

    Case, spaces and brackets do not count. Of a choice of several words some are enough, as long as
    they fit no other choice, and no negation of the choice is left out.

    >>> verdicts = ("faster", "slower", "no measurable difference")
    >>> meant(" Faster", verdicts), meant("no difference", verdicts), meant("difference", verdicts)
    ('faster', 'no measurable difference', None)
    >>> meant(("Visible", "b"), ["visible A", "visible B"])
    'visible B'
    """
    said = _words(answer)
    fitting = []
    for choice in choices:
        words = _words(choice)
        if said <= words and words & NEGATIONS <= said:
            fitting.append(choice)
    if len(fitting) == 1:
        return fitting[0]
    return None


def _words(answer: object) -> set:
    """Return the words of an answer in small letters: ("Visible", "b") -> {visible, b}."""
    text = answer
    if not isinstance(answer, str):
        text = shown(answer)
    return set(re.findall(r"\w+", text.casefold()))


def plain(value: object) -> object:
    """Return a value that `same` can compare: a float, a str, or a list of these or of lists.

    Raises TypeError or ValueError for anything else, such as None.
    """
    # Arrays of NumPy and of JAX.
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, str):
        return value
    if hasattr(value, "__iter__"):
        return [plain(item) for item in value]
    return float(value)


def same(a: object, b: object, within: float) -> bool:
    """Return whether two values, as `plain` returns them, are equal but for rounding.

    Numbers may differ by the share `within` of the larger one.
    """
    if type(a) is not type(b):
        return False
    if isinstance(a, list):
        return len(a) == len(b) and all(same(*pair, within) for pair in zip(a, b, strict=True))
    # The absolute tolerance is for numbers near 0, of which no share is enough.
    if isinstance(a, float):
        return math.isclose(a, b, rel_tol=within, abs_tol=within / 1e3)
    return a == b


def brief(value: object) -> str:
    """Return a value as a message shows it: a float has at most ten digits."""
    if isinstance(value, float):
        return f"{value:.10g}"
    return shown(value)
