"""Check an answer to an exercise: a function by calling it, chosen words by a table.

A *slip* is a likely wrong answer, with what to say to it; the tests try all of them.
"""

import inspect
import math
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from copy import deepcopy
from dataclasses import dataclass
from functools import partial

from accel_helpers._values.words import shown


@dataclass(frozen=True, repr=False)
class Result:
    """The result of a check."""

    ok: bool  # whether the answer is right
    message: str  # what to say about the answer
    hint: str = ""  # what to try next; empty where the answer is right

    def __repr__(self) -> str:
        if self.ok:
            return f"Right. {self.message}"
        return f"Not yet. {self.message}\nHint: {self.hint}"


# No Exception, so that `except Exception`, which guards against learners' errors, lets it through.
class Told(BaseException):
    """Ends a check with a wrong answer. Its arguments are a message and a hint."""


class Check:
    """An exercise, and the check of it: called with an answer, which may be anything.

    An exercise is a subclass that sets what the kind of check below does not. It has `slips`, and
    `grade`, which returns what to say to a right answer and raises `Told` for a wrong one.
    """

    def __call__(self, answer: object) -> Result:
        try:
            message = self.grade(answer)
        except Told as told:
            return Result(False, *told.args)
        return Result(True, message)


# --- a function ----------------------------------------------------------------------------------


def ask(function: object, *arguments: object, hint: str, case: str = "") -> object:
    """Return what a learner's function returns.

    Raises `Told` where it is none, is still empty, or stops with an error: then with the `hint`,
    and with the `case` before the message.
    """
    if not callable(function):
        message = f"A function is needed; got {shown(function)}."
        raise Told(message, "Hand in the function's name, without brackets.")
    try:
        return function(*arguments)
    # The exercises give out functions whose last line raises it.
    except NotImplementedError:
        raise Told("The function is still empty.", "Replace its last line with your own.") from None
    except Exception as error:
        text = f"{case}the function stopped with {type(error).__name__}: {error!s:.300}."
        raise Told(text[:1].upper() + text[1:], hint) from None


class FunctionCheck(Check):
    """An exercise in which a function is written.

    A subclass sets `cases` (a *case* is the arguments of one call, as a tuple); `slips`, each with
    what is wrong (parameters of the truth with other values, or a function), message and hint;
    `right`, the message where all is right; `hint`, the one where no slip fits; and of the
    following what it needs.
    """

    # Cases that are easily forgotten, which are tried last, and the hint to them.
    edges = ()
    at_edges = ""
    # How far off a number may be, as a share of it.
    within = 1e-6

    def __init__(self, truth: Callable):
        self.truth = truth

    def arguments(self, case: tuple) -> Sequence:
        """Return the arguments of a case for one call, which may change them."""
        return deepcopy(case)

    def read(self, returned: object) -> object:
        """Return a value that can be compared; it may raise any error where it cannot be read."""
        return plain(returned)

    def wrong_function(self, change: Mapping | Callable) -> Callable:
        """Return the function of a slip: the right one with some parameters changed, or its own."""
        if callable(change):
            return change
        return partial(self.truth, **change)

    def grade(self, answer: object) -> str:
        """Call the answer on all cases. Returns and raises as every check does."""
        found = []  # each case with what the learner's function returned, and the value of that
        for cases, hint in ((self.cases, self.hint), (self.edges, self.at_edges or self.hint)):
            # All cases are called before one is judged: a slip shows by all values together.
            for case in cases:
                returned = ask(answer, *self.arguments(case), hint=hint, case=self._named(case))
                # What cannot be read equals no right value.
                value = None
                with suppress(Exception):
                    value = self.read(returned)
                found.append((case, returned, value))
            self._judge(found, hint)
        return self.right

    def _judge(self, found: Sequence[tuple], hint: str) -> None:
        """Raise `Told` if one of the values is wrong."""
        wrong = [one for one in found if not self._gives(self.truth, *one)]
        if not wrong:
            return
        for change, message, slip_hint in self.slips:
            rule = self.wrong_function(change)
            if all(self._gives(rule, *one) for one in found):
                raise Told(message, slip_hint)
        case, returned, _ = wrong[0]
        truth = brief(self._value(self.truth, case))
        raise Told(f"{self._named(case)}you have {brief(returned)}, and it is {truth}.", hint)

    def _gives(self, rule: Callable, case: tuple, _returned: object, value: object) -> bool:
        """Return whether a function of ours gives a value on a case."""
        return same(self._value(rule, case), value, self.within)

    def _value(self, rule: Callable, case: tuple) -> object:
        """Return the value that a function of ours gives on a case."""
        return self.read(rule(*self.arguments(case)))

    def _named(self, case: tuple) -> str:
        """Return a case as the learner's function gets it: "For factor = 2, setup = 5: "."""
        names = inspect.signature(self.truth).parameters
        text = ", ".join(f"{name} = {brief(x)}" for name, x in zip(names, case, strict=False))
        return f"For {text:.200}: "


# --- words ---------------------------------------------------------------------------------------


def _is_empty(choice: object) -> bool:
    """Return whether a choice is not made yet: the exercises give out `...` or an empty text."""
    text = shown(choice)
    return text == "''" or "Ellipsis" in text


@dataclass(frozen=True)
class WordCheck(Check):
    """An exercise in which a choice is made for each key of a dictionary."""

    truth: Mapping  # the choice for each key
    allowed: Sequence[str]
    done: str  # what to say where all is right
    # (message, hint) by key and wrong choice; what is empty there is taken from the choice "",
    # which stands for all others.
    slips: Mapping[tuple, tuple[str, str]]
    how: str = ""  # what may be chosen, in words: by default the choices, one after the other

    def grade(self, answer: object) -> str:
        """Compare the choices; other keys are ignored. Returns and raises as every check does."""
        hint = self.how or f"Choose from: {', '.join(self.allowed)}."
        if not isinstance(answer, dict):
            raise Told(f"A dictionary is needed; got {shown(answer)}.", hint)
        missing = [str(key) for key in self.truth if _is_empty(answer.get(key, ...))]
        if missing:
            raise Told(f"Still empty: {', '.join(missing)}.", hint)
        chosen = {key: meant(answer[key], self.allowed) for key in self.truth}
        wrong = [key for key, choice in chosen.items() if choice != self.truth[key]]
        if not wrong:
            return self.done
        # One thing at a time: only the first wrong answer gets a message.
        key = wrong[0]
        choice = chosen[key]
        given = shown(answer[key])
        if choice is None:
            raise Told(f"{key} is {given}, and that is not a choice.", hint)
        nothing = ("", "")
        own_message, own_hint = self.slips.get((key, choice), nothing)
        usual_message, usual_hint = self.slips.get((key, ""), nothing)
        text = own_message or usual_message or f"it is not {given}."
        total = len(chosen)
        count = total - len(wrong)
        raise Told(f"{count} of {total} are right. {key}: {text}", own_hint or usual_hint)


# --- what an answer means: words and values, made so that they can be compared -------------------


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
        if len(a) != len(b):
            return False
        pairs = zip(a, b, strict=True)
        return all(same(*pair, within) for pair in pairs)
    # The absolute tolerance is for numbers near 0, of which no share is enough.
    if isinstance(a, float):
        return math.isclose(a, b, rel_tol=within, abs_tol=within / 1e3)
    return a == b


def brief(value: object) -> str:
    """Return a value as a message shows it: a float has at most ten digits."""
    if isinstance(value, float):
        return f"{value:.10g}"
    return shown(value)
