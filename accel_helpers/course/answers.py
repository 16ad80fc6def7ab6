"""What a learner's answer means: words and values, made so that they can be compared."""

import math
import re
from collections.abc import Sequence
from itertools import islice

from accel_helpers._values.words import shown

NEGATIONS = frozenset({"no", "not", "never"})


def meant(text: object, allowed: Sequence[str]) -> object:
    """Return the choice of `allowed` that a text means; the text itself where that is not certain.

    Case and spaces do not count. Of a choice of several words some are enough, as long as they fit
    no other choice, and no negation of the choice is left out. Anything that is no text is
    returned as it is.

    >>> verdicts = ("faster", "slower", "no measurable difference")
    >>> meant(" Faster", verdicts), meant("no difference", verdicts)
    ('faster', 'no measurable difference')
    >>> meant("difference", verdicts)  # the "no" is missing
    'difference'
    """
    if not isinstance(text, str):
        return text
    # The beginning is enough: what was pasted by mistake may be long.
    text_words = _words(text[:100])
    fitting_choices = []
    for choice in allowed:
        choice_words = _words(choice)
        if text_words == choice_words:
            return choice
        # "difference" alone must not mean "no difference", nor "no" alone anything.
        same_negations = text_words & NEGATIONS == choice_words & NEGATIONS
        if text_words - NEGATIONS and text_words <= choice_words and same_negations:
            fitting_choices.append(choice)
    if len(fitting_choices) == 1:
        return fitting_choices[0]
    return text


def _words(text: str) -> set[str]:
    """Return the different words of a text in small letters: "No, no." -> {"no"}."""
    return set(re.findall(r"\w+", text.casefold()))


def plain(value: object) -> object:
    """Return a value that `same` can compare: a float, a str, or a list of these or of lists.

    A number becomes a float, also one of NumPy or JAX; a row (array, tuple, generator and so on)
    becomes a list of at most 1,000 values; a text stays. Raises TypeError or ValueError for
    anything else, such as a bool, a dictionary or None.
    """
    # Arrays of NumPy and of JAX.
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, str):
        return value
    if isinstance(value, (bool, bytes, dict, set)):
        raise TypeError("no numbers")
    if hasattr(value, "__iter__"):
        # A generator may have no end.
        beginning = islice(value, 1_000)
        return [plain(item) for item in beginning]
    return float(value)


def same(a: object, b: object, within: float = 1e-6) -> bool:
    """Return whether two values, as `plain` returns them, are equal but for rounding.

    Numbers may differ by the share `within` of the larger one. Values of different types, and rows
    of different lengths, are not equal.
    """
    if isinstance(a, list) and isinstance(b, list):
        if len(a) != len(b):
            return False
        return all(same(left, right, within) for left, right in zip(a, b, strict=True))
    # The absolute tolerance is for numbers near 0, of which no share is enough.
    if isinstance(a, float) and isinstance(b, float):
        return math.isclose(a, b, rel_tol=within, abs_tol=within / 1e3)
    return a == b


def brief(value: object) -> str:
    """Return a value as a message shows it: a float has at most ten digits."""
    if isinstance(value, float):
        return f"{value:.10g}"
    return shown(value)


def at_place(row: object, place: int | None) -> object:
    """Return what stands at a place (from 0) of a row; the row itself where `place` is None.

    None where the row is too short, or is no list.
    """
    if place is None:
        return row
    if isinstance(row, list) and place < len(row):
        return row[place]
    return None
