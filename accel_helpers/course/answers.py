"""What a learner's answer means: words and values, made so that they can be compared."""

import math
import re
from collections.abc import Sequence
from itertools import islice

from accel_helpers._values.words import shown

NEGATIONS = frozenset({"no", "not", "never"})


def meant(text, allowed: Sequence[str]):
    """Return the word of `allowed` that a text means; the text itself where that is not certain.

    Case and spaces do not count. Of several words some are enough, as long as they fit no other
    choice and none of its negations is left out.

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
    fitting = []
    for choice in allowed:
        choice_words = _words(choice)
        if text_words == choice_words:
            return choice
        same_negations = text_words & NEGATIONS == choice_words & NEGATIONS
        if text_words - NEGATIONS and text_words <= choice_words and same_negations:
            fitting.append(choice)
    if len(fitting) == 1:
        return fitting[0]
    return text


def _words(text: str) -> set[str]:
    """Return the words of a text, in small letters."""
    return set(re.findall(r"\w+", text.casefold()))


def plain(value):
    """Return a number as a float, whatever it came in, a row as a list, and a text as it is."""
    # Arrays of NumPy and of JAX.
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, str):
        return value
    if isinstance(value, (bool, bytes, dict, set)):
        raise TypeError("no numbers")
    if hasattr(value, "__iter__"):
        # It may have no end.
        beginning = islice(value, 1_000)
        return [plain(item) for item in beginning]
    return float(value)


def same(a, b, within: float = 1e-6) -> bool:
    """Return whether two plain values are equal, but for rounding."""
    if isinstance(a, list) and isinstance(b, list):
        if len(a) != len(b):
            return False
        return all(same(left, right, within) for left, right in zip(a, b, strict=True))
    if isinstance(a, float) and isinstance(b, float):
        return math.isclose(a, b, rel_tol=within, abs_tol=within / 1e3)
    return a == b


def brief(value) -> str:
    """Return a value in short: a float with ten digits at most."""
    if isinstance(value, float):
        return f"{value:.10g}"
    return shown(value)


def at_place(row, place: int | None):
    """Return what stands at a place of a row, None where nothing does; without a place, the row."""
    if place is None:
        return row
    if isinstance(row, list) and place < len(row):
        return row[place]
    return None
