"""Two ways to check an answer, from a table of the likeliest slips, all of which the tests try."""

import inspect
import math
import re
from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from itertools import islice

from accel_helpers._values.words import shown


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


class Stopped(Told):
    """Ends a check because the learner's function raised an error."""


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
        given = {key: _row(answer.get(key), places) for key in right}
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
        wrong = [key for key, said in given.items() if said != _row(right[key], places)]
        if not wrong:
            return Result(True, done)
        key, name = wrong[0], item.format(wrong[0])
        said = given[key] if len(places) > 1 else given[key][0]
        message, leads_on = slips.get((key, said)) or slips.get(key, ("", hint))
        message = f"{name}: {message}" if message else f"{name} is not {shown(answer[key])}."
        found = f"{len(right) - len(wrong)} of {len(right)} are right."
        return Result(False, f"{found} {message}", leads_on)

    return Check(grade, right, slips)


def _row(value, places: Sequence[Sequence[str]]) -> tuple:
    """The words of an answer, as they are meant; None where one is still missing."""
    row = tuple(value) if isinstance(value, (tuple, list)) else (value,)
    empty = [each is ... or isinstance(each, str) and not each.strip() for each in row]
    if len(row) == len(places):
        row = [meant(said, allowed) for said, allowed in zip(row, places, strict=True)]
    return tuple(None if no else each for no, each in zip(empty, row, strict=True))


NEGATIONS = frozenset({"no", "not", "never"})


def meant(said, allowed: Sequence[str]):
    """The word of `allowed` that a text means; the text itself where that is not certain.

    Case and spaces do not count. Of several words some are enough, as long as they fit no other
    choice and none of its negations is left out.

    >>> verdicts = ("faster", "slower", "no measurable difference")
    >>> meant(" Faster", verdicts), meant("no difference", verdicts)
    ('faster', 'no measurable difference')
    >>> meant("difference", verdicts)  # the "no" is missing
    'difference'
    """
    if not isinstance(said, str):
        return said
    words = _words(said[:100])
    fitting = []
    for choice in allowed:
        wanted = _words(choice)
        if words == wanted:
            return choice
        same_negations = words & NEGATIONS == wanted & NEGATIONS
        if words - NEGATIONS and words <= wanted and same_negations:
            fitting.append(choice)
    return fitting[0] if len(fitting) == 1 else said


def _words(text: str) -> set[str]:
    return set(re.findall(r"\w+", text.casefold()))


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
            said = f"the function stopped with {type(error).__name__}: {error!s:.300}."
            raise Stopped(said, self.stops) from None
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
    truth, *, on, edges=(), slips, right, needs, hint="", at_edges="", put=on_copies,
    otherwise=None, within=1e-6,
) -> Check:  # fmt: skip
    """Check a function `on` ordinary cases first, and then on `edges`, which are easily forgotten.

    Slips are (rule, what it is, what leads on), or begin with a place. A slip is told by the
    ordinary cases alone, unless it is right there: then by the edges. `at_edges` leads on there.
    """
    names = [*inspect.signature(truth).parameters]

    def column(rule, cases):
        return [put(rule, *each) for each in cases]

    def is_right_on(cases, rule, place) -> bool:
        return same(column(rule, cases), [_at(row, *place) for row in column(truth, cases)], within)

    def fault_on(cases, answer, slips, leads_on) -> Result | None:
        """What is wrong on these cases, if anything is."""
        ask, said, true = Asked(answer), [], column(truth, cases)
        for case in cases:
            try:
                said.append(put(ask, *case))
            except Stopped as stopped:
                message, way = stopped.args
                message = f"{_named(names, case)}: {message} It is {_brief(true[len(said)])}."
                return Result(False, message, leads_on or way)
            except Exception:  # whatever was returned, it is not what was asked for
                returned = f"{_named(names, case)}: the function returned {shown(ask.said)}"
                return Result(False, f"{returned}, and it is {_brief(true[len(said)])}.", needs)
        wrong = [n for n in range(len(cases)) if not same(said[n], true[n], within)]
        if not wrong:
            return None
        for *place, rule, message, way in slips:
            mine = [_at(row, *place) for row in said]
            if not is_right_on(cases, rule, place) and same(mine, column(rule, cases)):
                return Result(False, message, way)
        mine, wanted, case = said[wrong[0]], true[wrong[0]], cases[wrong[0]]
        if problem := otherwise and otherwise(mine, *case):
            return Result(False, *problem)
        message = f"{_named(names, case)}: you have {_brief(mine)}, and it is {_brief(wanted)}."
        return Result(False, message, leads_on or hint or needs)

    def grade(answer) -> Result:
        fault = fault_on(on, answer, slips, "")
        if fault is None:
            unseen = [slip for slip in slips if is_right_on(on, slip[-3], slip[:-3])]
            fault = fault_on(edges, answer, unseen, at_edges)
        return Result(True, right) if fault is None else fault

    return Check(grade, truth, slips)


def _named(names: Sequence[str], case: Sequence) -> str:
    """A case as the learner's function gets it: "For factor = 2.0, setup = 5.0"."""
    given = zip(names, case, strict=False)  # a rule may have more, with defaults
    return f"For {', '.join(f'{name} = {_brief(value)}' for name, value in given):.200}"


def _brief(value) -> str:
    return f"{value:.10g}" if isinstance(value, float) else shown(value)


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
