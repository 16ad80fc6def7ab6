"""Check an answer to an exercise: what a check is, and the check of a function by calling it.

A check knows the likeliest slips with what to say to each, and the tests try all of them. Words
that are chosen are checked in `word_checks`.
"""

import inspect
from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass

from accel_helpers._values.words import shown
from accel_helpers.course.answers import at_place, brief, plain, same


@dataclass(frozen=True, repr=False)
class Result:
    """The result of a check; true where the answer is right."""

    ok: bool
    message: str  # what to say about the answer
    hint: str = ""  # what to try next; empty where the answer is right

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


# Neither is an Exception, so that `except Exception`, which guards against errors of the learner's
# function, lets both of them through.
class Told(BaseException):
    """Ends a check with a wrong answer. Its arguments are a message and a hint."""


class Stopped(Told):
    """Ends a check because the learner's function raised an error. Arguments as of `Told`."""


@dataclass(frozen=True)
class Check:
    """The check of an exercise: called with an answer, it returns a Result.

    `truth` and `slips` are what `choices` and `calls` made it of; only the tests use them.
    """

    grade: Callable[[object], Result]  # may raise `Told`
    truth: object  # the right answer
    slips: Mapping | Sequence  # likely wrong answers, with what to say to each

    def __call__(self, answer: object) -> Result:
        try:
            return self.grade(answer)
        except Told as end:
            return Result(False, *end.args)


@dataclass
class Asked:
    """A learner's function, to be called in its place.

    A call returns what the function returns. It raises `Told` where the learner handed in no
    function or an empty one, and `Stopped` where the function raises an error.
    """

    function: object
    returned: object = None  # what the last call returned, even if nobody got it
    start: str = "Replace its last line with your own."  # the hint to an empty function
    stops: str = "Call it yourself first, on small numbers."  # the hint to an error

    def __call__(self, *arguments: object) -> object:
        if not callable(self.function):
            message = f"A function is needed; got {shown(self.function)}."
            raise Told(message, "Hand in the function's name, without brackets.")
        try:
            self.returned = self.function(*arguments)
        # The exercises give out functions whose last line raises it.
        except NotImplementedError:
            raise Told("The function is still empty.", self.start) from None
        # A learner's function may well call exit().
        except (Exception, SystemExit) as error:
            message = f"the function stopped with {type(error).__name__}: {error!s:.300}."
            raise Stopped(message, self.stops) from None
        return self.returned


def on_copies(function: Callable, *case: object) -> object:
    """Call a function with the arguments of a case, and return its value as `plain` does.

    It gets copies, so that it cannot spoil the case for others. Raises what the function and
    `plain` raise.
    """
    arguments = deepcopy(case)
    returned = function(*arguments)
    return plain(returned)


def on_arrays(function: Callable, *case: object) -> object:
    """Call a function with the arguments of a case, and return its value as `plain` does.

    It gets NumPy arrays in place of lists. Raises `Told` where it changes one of them, and what
    the function and `plain` raise.
    """
    import numpy as np

    arguments = []
    for value in case:
        if isinstance(value, list):
            value = np.array(value)
        arguments.append(value)
    # The check itself says what a division by zero gave; NumPy's warning would be a second one.
    with np.errstate(all="ignore"):
        returned = function(*arguments)
        values = plain(returned)
    # The case still has the lists that the arrays were made of.
    if not all(map(np.array_equal, arguments, case)):
        raise Told(
            "Your function changes the arrays that it was given: whoever lent them loses them.",
            "Make new arrays: a - b is one, and a -= b changes a.",
        )
    return values


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
    """Make a check of a function: on ordinary cases first, and then on what is easily forgotten.

    Parameters
    ----------
    truth : callable
        The function that is right.
    on : sequence of tuple
        The arguments of the ordinary cases.
    edges : sequence of tuple, optional
        The arguments of the cases that are easily forgotten.
    slips : sequence of tuple
        (rule, message, hint): a wrong function, the message to it, and the hint. Where the function
        returns a row, a slip may be (place, rule, message, hint): then the rule returns only what
        stands at that place of the row, from 0. A slip is looked for on the ordinary cases; one
        that is right on all of them, on the edges.
    right : str
        The message where the function is right.
    needs : str
        The hint where the function returns no number.
    hint : str, optional
        The hint on ordinary cases where no slip fits.
    at_edges : str, optional
        The hint on the edges where no slip fits.
    put : callable, optional
        Called with a function and the arguments of a case; returns a value that can be compared:
        `on_copies` or `on_arrays`.
    otherwise : callable, optional
        Called, where no slip fits, with the wrong value and the arguments of its case; returns a
        message and a hint, or None.
    within : float, optional
        How far off a number may be, as a share of it.

    Returns
    -------
    Check
        It takes the learner's function, which may be anything.
    """
    rules = [_slip(*fields) for fields in slips]
    trial = _Trial(
        truth=truth,
        ordinary=on,
        edges=edges,
        slips=rules,
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
    """A likely wrong function, and what to say to a learner who wrote it."""

    rule: Callable  # takes the arguments of a case
    message: str
    hint: str
    place: int | None = None  # the rule returns this place of a row only; None: the whole value


def _slip(*fields: object) -> _Slip:
    """Return a slip from its fields as `calls` takes them: with a place in front, or without."""
    if len(fields) == 3:
        return _Slip(*fields)
    place, rule, message, hint = fields
    return _Slip(rule, message, hint, place)


@dataclass(frozen=True)
class _Trial:
    """An exercise in which a function is written; its fields are the parameters of `calls`.

    A *case* is the arguments of one call, as a tuple. *Values* are what a function gives on each
    of some cases, in their order and made comparable by `put`.
    """

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

    def grade(self, answer: object) -> Result:
        """Return the result for a learner's function that is right.

        Raises `Told` where it is wrong, or where `answer` is no function.
        """
        self._try_on(self.ordinary, answer, self.slips, "")
        # The learner's function is right on the ordinary cases, so a slip that is wrong there was
        # not made.
        possible_slips = [slip for slip in self.slips if self._is_right_on(self.ordinary, slip)]
        self._try_on(self.edges, answer, possible_slips, self.at_edges)
        return Result(True, self.right)

    def _try_on(
        self, cases: Sequence[tuple], answer: object, slips: Sequence[_Slip], hint: str
    ) -> None:
        """Raise `Told` if the learner's function is wrong on one of these cases.

        `hint` is the one to give where none of the slips fits; empty where the cases have none.
        """
        true_values = self._values(self.truth, cases)
        # All cases are called before one is judged, since a slip shows by all values together.
        values = self._learner_values(answer, cases, true_values, hint)
        for case, value, true_value in zip(cases, values, true_values, strict=True):
            if same(value, true_value, self.within):
                continue
            slip = self._slip_on(cases, values, slips)
            if slip is not None:
                raise Told(slip.message, slip.hint)
            raise self._difference(case, value, true_value, hint)

    def _learner_values(
        self, answer: object, cases: Sequence[tuple], true_values: Sequence[object], hint: str
    ) -> list[object]:
        """Return the values of the learner's function on each of the cases.

        Raises `Told` where it raises an error, or returns anything that is no number, row or text;
        `hint`, where it is not empty, replaces the usual hint to an error.
        """
        function = Asked(answer)
        values = []
        for case, true_value in zip(cases, true_values, strict=True):
            try:
                value = self.put(function, *case)
            except Stopped as stopped:
                reason, next_hint = stopped.args
                if hint:
                    next_hint = hint
                message = f"{self._named(case)}: {reason} It is {brief(true_value)}."
                raise Told(message, next_hint) from None
            except Exception:
                # `put` could make no plain value of what the function returned.
                wrong_value = shown(function.returned)
                message = f"{self._named(case)}: the function returned {wrong_value}"
                raise Told(f"{message}, and it is {brief(true_value)}.", self.needs) from None
            values.append(value)
        return values

    def _slip_on(
        self, cases: Sequence[tuple], values: Sequence[object], slips: Sequence[_Slip]
    ) -> _Slip | None:
        """Return the first slip that gives these values on these cases; None where none does."""
        for slip in slips:
            # A slip that is right on these cases explains no wrong value there.
            if self._is_right_on(cases, slip):
                continue
            slip_values = self._values(slip.rule, cases)
            values_at_place = _values_at(values, slip.place)
            if same(values_at_place, slip_values, self.within):
                return slip
        return None

    def _is_right_on(self, cases: Sequence[tuple], slip: _Slip) -> bool:
        """Return whether a slip gives the true values on all of these cases."""
        slip_values = self._values(slip.rule, cases)
        true_values = self._values(self.truth, cases)
        expected = _values_at(true_values, slip.place)
        return same(slip_values, expected, self.within)

    def _difference(self, case: tuple, value: object, true_value: object, hint: str) -> Told:
        """Return the `Told` to raise where a value is wrong on a case and no slip explains it.

        `hint` is the one of the cases; where it is empty, the exercise's own is given.
        """
        if self.otherwise is not None:
            problem = self.otherwise(value, *case)
            if problem:
                return Told(*problem)
        # From the nearest hint to the most general one.
        if not hint:
            hint = self.hint
        if not hint:
            hint = self.needs
        values = f"you have {brief(value)}, and it is {brief(true_value)}."
        return Told(f"{self._named(case)}: {values}", hint)

    def _values(self, rule: Callable, cases: Sequence[tuple]) -> list[object]:
        """Return the values of a function on each of the cases, in their order."""
        return [self.put(rule, *case) for case in cases]

    def _named(self, case: tuple) -> str:
        """Return a case as the learner's function gets it: "For factor = 2.0, setup = 5.0"."""
        names = inspect.signature(self.truth).parameters
        arguments = []
        # The true function may have more parameters than the case has arguments: with defaults.
        for name, value in zip(names, case, strict=False):
            arguments.append(f"{name} = {brief(value)}")
        text = ", ".join(arguments)
        return f"For {text:.200}"


def _values_at(rows: Sequence[object], place: int | None) -> list[object]:
    """Return what stands at a place (from 0) of each row; the rows themselves for None.

    [[1.0, 2.0], [3.0, 4.0]] at 1 -> [2.0, 4.0].
    """
    return [at_place(row, place) for row in rows]
