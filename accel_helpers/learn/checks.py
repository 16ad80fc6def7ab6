"""Exercise checks that return a result, so that a learner reads it and CI tests it."""

from __future__ import annotations

import html
from dataclasses import dataclass


@dataclass(frozen=True)
class Result:
    """Whether an answer is right, and what to say about it.

    Attributes
    ----------
    ok : bool
    message : str
        What is right or wrong, in words that fit the answer that was given.
    hint : str
        What to try next; empty if the answer is right.
    """

    ok: bool
    message: str
    hint: str = ""

    def __bool__(self) -> bool:
        return self.ok

    def __str__(self) -> str:
        text = f"{'Right.' if self.ok else 'Not yet.'} {self.message}"
        return f"{text}\nHint: {self.hint}" if self.hint else text

    def _repr_html_(self) -> str:
        word = "&#10003; Right." if self.ok else "&#10007; Not yet."
        text = f"<p><strong>{word}</strong> {html.escape(self.message)}</p>"
        if self.hint:
            text += f"<details><summary>Hint</summary>{html.escape(self.hint)}</details>"
        return text


def shown(value) -> str:
    """The beginning of a value in one line, also where it cannot be printed."""
    try:
        return f"{' '.join(repr(value).split()):.60}"
    except Exception:  # such as a whole number with thousands of digits
        return f"something of type {type(value).__name__}"


def blank(answer: dict, keys) -> list:
    """Give the keys for which a stub's `...` still stands, or nothing.

    Parameters
    ----------
    answer : dict
        What the learner filled in.
    keys : iterable
        What is asked for.

    Returns
    -------
    list
        In the order of `keys`.

    Examples
    --------
    >>> blank({"A": ..., "B": "waiting", "C": " "}, "ABCD")
    ['A', 'C', 'D']
    """

    def is_blank(value):
        return value is ... or value is None or (isinstance(value, str) and not value.strip())

    return [key for key in keys if is_blank(answer.get(key))]


def called(function, *arguments, hint: str):
    """Call a learner's function.

    Parameters
    ----------
    function : callable
        What the learner handed in, which may be anything.
    *arguments
        What it is called with.
    hint : str
        What to try where it stops with an error.

    Returns
    -------
    (object, Result or None)
        What it gives; or None, and the Result that says why there is nothing.

    Examples
    --------
    >>> called(len, "four", hint="")
    (4, None)
    >>> print(called(4, hint="")[1])
    Not yet. A function is needed; got 4.
    Hint: Hand in the function's name, without brackets.
    """
    if not callable(function):
        way = "Hand in the function's name, without brackets."
        return None, Result(False, f"A function is needed; got {shown(function)}.", way)
    try:
        return function(*arguments), None
    except NotImplementedError:
        return None, Result(
            False, "The function is still empty.", "Replace its last line with your own."
        )
    except (Exception, SystemExit) as error:
        said = stopped(error)
        if isinstance(error, TypeError) and "'float' object is not callable" in said:
            hint = "Inside your function a name means its argument. Is it called like a tool?"
        return None, Result(False, said, hint)


def stopped(error: BaseException) -> str:
    """Say in a sentence with what a learner's function stopped."""
    try:
        said = f"{error!s:.300}"
    except Exception:  # whose own words fail
        said = "without words"
    return f"The function stopped with {type(error).__name__}: {said}."
