"""Two ways to check an answer: by a table of the likeliest slips, all of which the tests try.

`choices` checks words that are chosen, `calls` checks a function by calling it.
"""

import inspect
from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from itertools import chain

from accel_helpers._values.words import shown
from accel_helpers.course.answers import at_place, brief, meant, plain, same


@dataclass(frozen=True, repr=False)
class Result:
    """Whether an answer is right, what to say about it, and what to try next where it is wrong."""

    ok: bool
    message: str
    hint: str = ""

    def __bool__(self) -> bool:
        return self.ok

    def __repr__(self) -> str:
        beginning = "Not yet."
        if self.ok:
            beginning = "Right."
        text = f"{beginning} {self.message}"
        if self.hint:
            text += f"\nHint: {self.hint}"
        return text


# Neither is an Exception: a check that guards against any error of the learner's lets them pass.
class Told(BaseException):
    """Ends a check with a message and a hint."""


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
        except Told as end:
            return Result(False, *end.args)


# --- Words that are chosen


def choices(
    right: Mapping,
    allowed: Sequence,
    slips: Mapping,
    *,
    done: str,
    empty: str,
    hint: str = "",
    item: str = "{}",
) -> Check:
    """Check a dictionary of words.

    Parameters
    ----------
    right : mapping
        The word for each key, or a tuple of words.
    allowed : sequence
        The words to choose from, or one such sequence for each word of a tuple.
    slips : mapping
        By key, or by (key, answer): what to say to it, and what leads on.
    done, empty : str
        What is said to who has everything right, and to who has answered nothing yet.
    hint : str, optional
        What leads on where no slip does; by default the words to choose from.
    item : str, optional
        What a key is called, such as "Step {}".
    """
    places = allowed
    if isinstance(allowed[0], str):
        places = (allowed,)
    lists = "; ".join(", ".join(vocabulary) for vocabulary in places)
    list_of_words = f"Choose from: {lists}."
    sheet = _Sheet(
        right=right,
        places=places,
        slips=slips,
        done=done,
        empty=empty,
        hint=hint or list_of_words,
        item=item,
        list_of_words=list_of_words,
    )
    return Check(sheet.grade, right, slips)


@dataclass(frozen=True)
class _Sheet:
    """An exercise in which words are chosen, as `choices` takes it."""

    right: Mapping
    places: Sequence[Sequence[str]]  # the words that are allowed, for each word of an answer
    slips: Mapping
    done: str
    empty: str
    hint: str
    item: str
    list_of_words: str

    def grade(self, answer) -> Result:
        if not isinstance(answer, dict):
            return Result(False, f"A dictionary is needed; got {shown(answer)}.", self.hint)
        rows = {key: _row(answer.get(key), self.places) for key in self.right}
        if all(word is None for word in chain.from_iterable(rows.values())):
            return Result(False, self.empty, self.hint)
        blank = [key for key, row in rows.items() if any(word is None for word in row)]
        for key, row in rows.items():
            if key not in blank and not self._is_allowed(row):
                message = f"{self._name(key)} is {shown(answer[key])}, and that is not a choice."
                return Result(False, message, self.list_of_words)
        if blank:
            names = ", ".join(str(key) for key in blank)
            return Result(False, f"Still empty: {names}.", self.hint)
        wrong = [key for key, row in rows.items() if row != _row(self.right[key], self.places)]
        if not wrong:
            return Result(True, self.done)
        message, hint = self._first_slip(wrong[0], rows[wrong[0]], answer)
        count = len(self.right)
        return Result(False, f"{count - len(wrong)} of {count} are right. {message}", hint)

    def _is_allowed(self, row: tuple) -> bool:
        """Return whether an answer has a word that may be chosen at each place."""
        if len(row) != len(self.places):
            return False
        for word, allowed in zip(row, self.places, strict=True):
            # Asked first: what is no text may refuse to be compared.
            if not isinstance(word, str) or word not in allowed:
                return False
        return True

    def _first_slip(self, key, row: tuple, answer: Mapping) -> tuple[str, str]:
        """Return what to say to a wrong answer, and what leads on."""
        chosen = row
        if len(row) == 1:
            chosen = row[0]
        message, hint = "", self.hint
        for slip in (key, (key, chosen)):
            if slip in self.slips:
                message, hint = self.slips[slip]
        if not message:
            return f"{self._name(key)} is not {shown(answer[key])}.", hint
        return f"{self._name(key)}: {message}", hint

    def _name(self, key) -> str:
        """Return what a key is called."""
        return self.item.format(key)


def _row(value, places: Sequence[Sequence[str]]) -> tuple:
    """Return the words of an answer as they are meant; None where one is still missing."""
    entries = (value,)
    if isinstance(value, (tuple, list)):
        entries = value
    row = [None if _is_missing(entry) else entry for entry in entries]
    if len(row) == len(places):
        row = [meant(word, allowed) for word, allowed in zip(row, places, strict=True)]
    return tuple(row)


def _is_missing(word) -> bool:
    """Return whether there is no answer yet: nothing, dots as in the exercise, or blanks."""
    if isinstance(word, str):
        return not word.strip()
    return word is None or word is ...


# --- Functions that are called


@dataclass
class Asked:
    """A learner's function, which may be anything; an error inside it ends the check."""

    function: object
    returned: object = None  # by the last call
    start: str = "Replace its last line with your own."
    stops: str = "Call it yourself first, on small numbers."

    def __call__(self, *arguments):
        if not callable(self.function):
            message = f"A function is needed; got {shown(self.function)}."
            raise Told(message, "Hand in the function's name, without brackets.")
        try:
            self.returned = self.function(*arguments)
        except NotImplementedError:
            raise Told("The function is still empty.", self.start) from None
        except (Exception, SystemExit) as error:
            message = f"the function stopped with {type(error).__name__}: {error!s:.300}."
            raise Stopped(message, self.stops) from None
        return self.returned


def on_copies(ask: Callable, *case):
    """Ask with copies of the arguments, so that nobody spoils the case for the next one."""
    return plain(ask(*deepcopy(case)))


def on_arrays(ask: Callable, *case):
    """Ask with arrays in place of lists; whoever changes them is told so."""
    import numpy as np

    arguments = [np.array(value) if isinstance(value, list) else value for value in case]
    # What a division by zero gives is told by the check, and not by a warning of NumPy's.
    with np.errstate(all="ignore"):
        returned = plain(ask(*arguments))
    if not all(map(np.array_equal, arguments, case)):
        raise Told(
            "Your function changes the arrays that it was given: whoever lent them loses them.",
            "Make new arrays: a - b is one, and a -= b changes a.",
        )
    return returned


def calls(
    truth: Callable,
    *,
    on: Sequence[tuple],
    edges: Sequence[tuple] = (),
    slips: Sequence[tuple],
    right: str,
    needs: str,
    hint: str = "",
    at_edges: str = "",
    put: Callable = on_copies,
    otherwise: Callable | None = None,
    within: float = 1e-6,
) -> Check:
    """Check a function on ordinary cases first, and then on what is easily forgotten.

    Parameters
    ----------
    truth : callable
        The function that is right.
    on, edges : sequence of tuple
        The arguments of the ordinary cases, and of those that are easily forgotten.
    slips : sequence of tuple
        (rule, message, hint): a wrong function, what it is, and what leads on. Of a function that
        returns a row they may be (place, rule, message, hint): wrong at that place alone. A slip
        is told by the ordinary cases, unless it is right there: then by the edges.
    right, needs : str
        What is said to who is right, and what leads on where the function returns no number.
    hint, at_edges : str, optional
        What leads on where no slip does: on ordinary cases, and on the edges.
    put : callable, optional
        Called with a function and the arguments of a case; gives what can be compared.
    otherwise : callable, optional
        Called with what was returned and the arguments where no slip fits; may give a message and
        a hint.
    within : float, optional
        How far off a number may be, as a share.
    """
    trial = _Trial(
        truth=truth,
        ordinary=on,
        edges=edges,
        slips=[_slip(*fields) for fields in slips],
        right=right,
        needs=needs,
        hint=hint,
        at_edges=at_edges,
        put=put,
        otherwise=otherwise,
        within=within,
    )
    return Check(trial.grade, truth, slips)


@dataclass(frozen=True)
class _Slip:
    """A wrong function, or one that is wrong at one place of what it returns."""

    rule: Callable
    message: str
    hint: str
    place: int | None = None


def _slip(*fields) -> _Slip:
    """Return a slip as `calls` takes it, with or without a place."""
    if len(fields) == 3:
        return _Slip(*fields)
    place, rule, message, hint = fields
    return _Slip(rule, message, hint, place)


@dataclass(frozen=True)
class _Trial:
    """An exercise in which a function is written, as `calls` takes it."""

    truth: Callable
    ordinary: Sequence[tuple]
    edges: Sequence[tuple]
    slips: Sequence[_Slip]
    right: str
    needs: str
    hint: str
    at_edges: str
    put: Callable
    otherwise: Callable | None
    within: float

    def grade(self, answer) -> Result:
        fault = self._fault_on(self.ordinary, answer, self.slips, "")
        if fault is not None:
            return fault
        unseen = [slip for slip in self.slips if self._is_right_on(self.ordinary, slip)]
        fault = self._fault_on(self.edges, answer, unseen, self.at_edges)
        if fault is not None:
            return fault
        return Result(True, self.right)

    def _fault_on(
        self, cases: Sequence[tuple], answer, slips: Sequence[_Slip], hint: str
    ) -> Result | None:
        """Return what is wrong on these cases, if anything is."""
        ask = Asked(answer)
        expected = self._column(self.truth, cases)
        returned = []
        for case, value in zip(cases, expected, strict=True):
            try:
                returned.append(self.put(ask, *case))
            except Stopped as stopped:
                message, leads_on = stopped.args
                message = f"{self._named(case)}: {message} It is {brief(value)}."
                return Result(False, message, hint or leads_on)
            except Exception:
                # Whatever was returned, it is not what was asked for.
                message = f"{self._named(case)}: the function returned {shown(ask.returned)}"
                return Result(False, f"{message}, and it is {brief(value)}.", self.needs)
        for case, value, true_value in zip(cases, returned, expected, strict=True):
            if same(value, true_value, self.within):
                continue
            slip = self._slip_on(cases, returned, slips)
            if slip is not None:
                return Result(False, slip.message, slip.hint)
            return self._difference(case, value, true_value, hint)
        return None

    def _slip_on(
        self, cases: Sequence[tuple], returned: list, slips: Sequence[_Slip]
    ) -> _Slip | None:
        """Return the slip that gives on these cases what was returned, if there is one."""
        for slip in slips:
            # What is right on these cases explains no difference there.
            if self._is_right_on(cases, slip):
                continue
            values = [at_place(value, slip.place) for value in returned]
            if same(values, self._column(slip.rule, cases), self.within):
                return slip
        return None

    def _is_right_on(self, cases: Sequence[tuple], slip: _Slip) -> bool:
        """Return whether a slip makes no difference on these cases."""
        expected = [at_place(value, slip.place) for value in self._column(self.truth, cases)]
        return same(self._column(slip.rule, cases), expected, self.within)

    def _difference(self, case: tuple, value, true_value, hint: str) -> Result:
        """Return what is said where a value is wrong and no slip explains it."""
        if self.otherwise is not None:
            problem = self.otherwise(value, *case)
            if problem:
                return Result(False, *problem)
        values = f"you have {brief(value)}, and it is {brief(true_value)}."
        return Result(False, f"{self._named(case)}: {values}", hint or self.hint or self.needs)

    def _column(self, rule: Callable, cases: Sequence[tuple]) -> list:
        """Return what a function gives on each of the cases."""
        return [self.put(rule, *case) for case in cases]

    def _named(self, case: tuple) -> str:
        """Return a case as the learner's function gets it: "For factor = 2.0, setup = 5.0"."""
        names = inspect.signature(self.truth).parameters
        # The true function may have more parameters, with defaults.
        pairs = zip(names, case, strict=False)
        arguments = ", ".join(f"{name} = {brief(value)}" for name, value in pairs)
        return f"For {arguments:.200}"
