"""Two ways to check an answer, from a table of the likeliest slips, all of which the tests try."""

import math
from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from itertools import islice

from accel_helpers._words import shown


@dataclass(frozen=True, repr=False)
class Result:
    """Whether an answer is right, what to say about it, and what to try next where it is wrong."""

    ok: bool
    message: str
    hint: str = ""

    def __bool__(self) -> bool:
        return self.ok

    def __repr__(self) -> str:
        text = f"{'Right.' if self.ok else 'Not yet.'} {self.message}"
        return f"{text}\nHint: {self.hint}" if self.hint else text


class Told(BaseException):
    """Ends a check with a message and a hint, past what stands in the way for errors."""


@dataclass(frozen=True)
class Check:
    """Called with an answer, it gives a Result; the rest is what the tests try."""

    grade: Callable[[object], Result]
    truth: object
    slips: Mapping | Sequence  # with what to say to them, as `choices` and `calls` take them

    def __call__(self, answer) -> Result:
        try:
            return self.grade(answer)
        except Told as told:
            return Result(False, *told.args)


def choices(
    right: Mapping, allowed: Sequence, slips: Mapping, *, done: str, empty: str, hint="", item="{}"
) -> Check:
    """Check a dictionary: every key's word is `allowed`; slips are by key, or (key, answer)."""
    places = (allowed,) if isinstance(allowed[0], str) else allowed
    words = f"Choose from: {'; '.join(map(', '.join, places))}."
    hint = hint or words

    def grade(answer) -> Result:
        if not isinstance(answer, dict):
            return Result(False, f"A dictionary is needed; got {shown(answer)}.", hint)
        given = {key: _row(answer.get(key)) for key in right}
        if all(each is None for said in given.values() for each in said):
            return Result(False, empty, hint)
        blank = [key for key, said in given.items() if any(each is None for each in said)]
        for key in [key for key in given if key not in blank]:
            fits = (isinstance(a, str) and a in b for a, b in zip(given[key], places, strict=False))
            if len(given[key]) != len(places) or not all(fits):
                got = f"{item.format(key)} is {shown(answer[key])}"
                return Result(False, f"{got}, and that is not a choice.", words)
        if blank:
            return Result(False, f"Still empty: {', '.join(map(str, blank))}.", hint)
        wrong = [key for key, said in given.items() if said != _row(right[key])]
        if not wrong:
            return Result(True, done)
        key, name = wrong[0], item.format(wrong[0])
        said = given[key] if len(places) > 1 else given[key][0]
        message, leads_on = slips.get((key, said)) or slips.get(key, ("", hint))
        message = f"{name}: {message}" if message else f"Look at {name} again."
        found = f"{len(right) - len(wrong)} of {len(right)} are right."
        return Result(False, f"{found} {message}", leads_on)

    return Check(grade, right, slips)


def _row(value) -> tuple:
    """The words of an answer; None where one is still missing."""
    row = tuple(value) if isinstance(value, (tuple, list)) else (value,)
    empty = [each is ... or isinstance(each, str) and not each.strip() for each in row]
    return tuple(None if no else each for no, each in zip(empty, row, strict=True))


@dataclass
class Asked:
    """A learner's function, which may be anything; an error inside it ends the check."""

    function: object
    said: object = None
    start: str = "Replace its last line with your own."
    stops: str = "Call it yourself first, on small numbers."

    def __call__(self, *arguments):
        if not callable(self.function):
            way = "Hand in the function's name, without brackets."
            raise Told(f"A function is needed; got {shown(self.function)}.", way)
        try:
            self.said = self.function(*arguments)
        except NotImplementedError:
            raise Told("The function is still empty.", self.start) from None
        except (Exception, SystemExit) as error:
            said = f"The function stopped with {type(error).__name__}: {error!s:.300}."
            raise Told(said, self.stops) from None
        return self.said


def on_copies(ask, *case):
    return plain(ask(*deepcopy(case)))


def on_arrays(ask, *case):
    """Ask with arrays in place of lists; whoever changes them is told so."""
    import numpy as np

    lent = [np.array(each) if isinstance(each, list) else each for each in case]
    with np.errstate(all="ignore"):  # what a division by zero gives is told by the check
        said = plain(ask(*lent))
    if not all(map(np.array_equal, lent, case)):
        raise Told(
            "Your function changes the arrays that it was given: whoever lent them loses them.",
            "Make new arrays: a - b is one, and a -= b changes a.",
        )
    return said


def plain(value):
    """A number as a float, whatever it came in, a row of them as a list, and a text as it is."""
    value = value.tolist() if hasattr(value, "tolist") else value  # arrays of NumPy and JAX
    if isinstance(value, str):
        return value
    if isinstance(value, (bool, bytes, dict, set)):
        raise TypeError("no numbers")
    if hasattr(value, "__iter__"):
        return [plain(each) for each in islice(value, 1_000)]  # it may have no end
    return float(value)


def calls(
    truth, *, on, slips, right, needs, hint="", put=on_copies, otherwise=None, within=1e-6
) -> Check:
    """Check a function `on` cases: slips are (rule, what it is, what leads on), or of a place."""

    def column(rule):
        return [put(rule, *each) for each in on]

    def grade(answer) -> Result:
        ask = Asked(answer)
        try:
            said, true = column(ask), column(truth)
        except Exception:  # whatever was returned, it is not what was asked for
            return Result(False, f"The function returned {shown(ask.said)}.", needs)
        wrong = [n for n in range(len(on)) if not same(said[n], true[n], within)]
        if not wrong:
            return Result(True, right)
        for *place, rule, message, leads_on in slips:
            if same([_at(row, *place) for row in said], column(rule)):
                return Result(False, message, leads_on)
        mine, case = said[wrong[0]], on[wrong[0]]
        if problem := otherwise and otherwise(mine, *case):
            return Result(False, *problem)
        case = ", ".join(map(str, case))
        return Result(False, f"For {case:.200} you have {shown(mine)}.", hint or needs)

    return Check(grade, truth, slips)


def _at(row, place: int | None = None):
    if place is None:
        return row
    return row[place] if isinstance(row, list) and place < len(row) else None


def same(a, b, within: float = 1e-6) -> bool:
    """Whether two plain values are equal, but for rounding."""
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(same(*pair, within) for pair in zip(a, b, strict=True))
    if isinstance(a, float) and isinstance(b, float):
        return math.isclose(a, b, rel_tol=within, abs_tol=within / 1e3)
    return a == b
