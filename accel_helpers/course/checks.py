"""Check an answer to an exercise: a function by calling it, chosen words by a table.

A *slip* is a likely wrong answer, with what to say to it; the tests try all of them.
"""

import inspect
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from copy import deepcopy
from dataclasses import dataclass
from functools import partial

from accel_helpers._values.words import shown
from accel_helpers.course.answers import brief, meant, plain, same


@dataclass(frozen=True, repr=False)
class Result:
    """The result of a check; true where the answer is right."""

    ok: bool
    message: str  # what to say about the answer
    hint: str = ""  # what to try next; empty where the answer is right

    def __bool__(self) -> bool:
        return self.ok

    def __repr__(self) -> str:
        if self.ok:
            return f"Right. {self.message}"
        return f"Not yet. {self.message}\nHint: {self.hint}"


# No Exception, so that `except Exception`, which guards against learners' errors, lets it through.
class Told(BaseException):
    """Ends a check with a wrong answer. Its arguments are a message and a hint."""


class Stopped(Told):
    """Ends a check because the learner's function raised an error. Arguments as of `Told`."""


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


def ask(
    function: object,
    *arguments: object,
    start: str = "Replace its last line with your own.",
    stops: str = "Call it yourself first, on small numbers.",
) -> object:
    """Return what a learner's function returns.

    Raises `Told`, with the hint `start`, where it is none or still empty, and `Stopped`, with the
    hint `stops`, where it raises an error.
    """
    if not callable(function):
        message = f"A function is needed; got {shown(function)}."
        raise Told(message, "Hand in the function's name, without brackets.")
    try:
        return function(*arguments)
    # The exercises give out functions whose last line raises it.
    except NotImplementedError:
        raise Told("The function is still empty.", start) from None
    # A learner's function may well call exit().
    except (Exception, SystemExit) as error:
        message = f"the function stopped with {type(error).__name__}: {error!s:.300}."
        raise Stopped(message, stops) from None


class FunctionCheck(Check):
    """An exercise in which a function is written.

    A subclass sets `cases` (a *case* is the arguments of one call, as a tuple); `slips`, each with
    what is wrong (parameters of the truth with other values, or a function), message and hint;
    `right`, the message where all is right; `needs`, the hint where what the function returns
    cannot be read; and of the following what it needs.
    """

    # The hint where no slip fits.
    hint = ""
    # Cases that are easily forgotten, which are tried last, and the hint to them.
    edges = ()
    at_edges = ""
    # How far off a number may be, as a share of it.
    within = 1e-6

    def __init__(self, truth: Callable):
        self.truth = truth

    def call(self, function: object, case: tuple) -> object:
        """Return what a function returns for a case; raise `Told` where that is impossible."""
        return ask(function, *deepcopy(case))

    def read(self, returned: object) -> object:
        """Return a value that can be compared; an error or None where it cannot be read."""
        return plain(returned)

    def wrong_function(self, change: Mapping | Callable) -> Callable:
        """Return the function of a slip: the right one with some parameters changed, or its own."""
        if callable(change):
            return change
        return partial(self.truth, **change)

    def grade(self, answer: object) -> str:
        """Call the answer on all cases. Returns and raises as every check does."""
        found = []  # each case with the value that the learner's function gave
        for cases, hint in ((self.cases, ""), (self.edges, self.at_edges)):
            # All cases are called before one is judged: a slip shows by all values together.
            found += [(case, self._answered(answer, case, hint)) for case in cases]
            self._judge(found, hint)
        return self.right

    def _answered(self, answer: object, case: tuple, hint: str) -> object:
        """Return the value that the learner's function gives; raise `Told` where it gives none."""
        truth = brief(self._value(self.truth, case))
        try:
            returned = self.call(answer, case)
        except Stopped as stopped:
            reason, usual_hint = stopped.args
            message = f"{self._named(case)}: {reason} It is {truth}."
            raise Told(message, hint or usual_hint) from None
        value = None
        with suppress(Exception):
            value = self.read(returned)
        if value is None:
            message = f"{self._named(case)}: the function returned {shown(returned)}"
            raise Told(f"{message}, and it is {truth}.", self.needs)
        return value

    def _judge(self, found: Sequence[tuple], hint: str) -> None:
        """Raise `Told` if one of the values is wrong."""
        wrong = [pair for pair in found if not self._gives(self.truth, *pair)]
        if not wrong:
            return
        for change, message, slip_hint in self.slips:
            rule = self.wrong_function(change)
            if all(self._gives(rule, *pair) for pair in found):
                raise Told(message, slip_hint)
        case, value = wrong[0]
        truth = brief(self._value(self.truth, case))
        message = f"{self._named(case)}: you have {brief(value)}, and it is {truth}."
        raise Told(message, hint or self.hint or self.needs)

    def _gives(self, rule: Callable, case: tuple, value: object) -> bool:
        """Return whether a function of ours gives a value on a case."""
        return same(self._value(rule, case), value, self.within)

    def _value(self, rule: Callable, case: tuple) -> object:
        """Return the value that a function of ours gives on a case."""
        return self.read(self.call(rule, case))

    def _named(self, case: tuple) -> str:
        """Return a case as the learner's function gets it: "For factor = 2, setup = 5"."""
        arguments = inspect.signature(self.truth).bind(*case).arguments
        text = ", ".join(f"{name} = {brief(value)}" for name, value in arguments.items())
        return f"For {text:.200}"


# --- words ---------------------------------------------------------------------------------------


def _is_missing(choice: object) -> bool:
    """Return whether a choice is not made yet, or not all of it: the exercises give out `...`."""
    text = shown(choice)
    return "Ellipsis" in text or text in ("None", "''", "' '")


class WordCheck(Check):
    """An exercise in which a choice is made for each key of a dictionary.

    A subclass sets `truth`, such as {"A": "waiting"}; `allowed`, the choices; `done`, the message
    where all is right; `empty`, the one where nothing is answered yet; and `slips`: (message, hint)
    by key and wrong choice. What is empty there is taken from the choice "", which stands for all
    others, and else it is a general one.
    """

    # A general hint, and the choices as they are listed: by default both say what is allowed.
    hint = ""
    words = ""
    # What a key is called, such as "Case {}".
    item = "{}"

    def grade(self, answer: object) -> str:
        """Compare the choices; other keys are ignored. Returns and raises as every check does."""
        words = self.words or ", ".join(self.allowed)
        list_of_words = f"Choose from: {words}."
        hint = self.hint or list_of_words
        name = self.item.format
        if not isinstance(answer, dict):
            raise Told(f"A dictionary is needed; got {shown(answer)}.", hint)
        missing = [key for key in self.truth if _is_missing(answer.get(key))]
        if len(missing) == len(self.truth):
            raise Told(self.empty, hint)
        choices = {key: meant(answer.get(key), self.allowed) for key in self.truth}
        # What is no choice at all is answered first, then what is missing, then what is wrong.
        for key, choice in choices.items():
            if choice is None and key not in missing:
                given = shown(answer[key])
                raise Told(f"{name(key)} is {given}, and that is not a choice.", list_of_words)
        if missing:
            raise Told(f"Still empty: {', '.join(map(str, missing))}.", hint)
        wrong = [key for key, choice in choices.items() if choice != self.truth[key]]
        if not wrong:
            return self.done
        # One thing at a time: only the first wrong answer gets a message.
        key = wrong[0]
        own_message, own_hint = self.slips[key].get(choices[key], ("", ""))
        message, usual_hint = self.slips[key].get("", ("", ""))
        text = f"{name(key)} is not {shown(answer[key])}."
        if own_message or message:
            text = f"{name(key)}: {own_message or message}"
        right = len(choices) - len(wrong)
        next_hint = own_hint or usual_hint or hint
        raise Told(f"{right} of {len(choices)} are right. {text}", next_hint)
