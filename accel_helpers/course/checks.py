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
        # A learner's function may well call exit().
        except (Exception, SystemExit) as error:
            message = f"the function stopped with {type(error).__name__}: {error!s:.300}."
            raise Stopped(message, self.stops) from None
        return self.returned


def on_copies(function: Callable, *case):
    """Call a function with copies of the arguments, so that it cannot spoil the case for others."""
    arguments = deepcopy(case)
    returned = function(*arguments)
    return plain(returned)


def on_arrays(function: Callable, *case):
    """Call a function with arrays in place of lists; changing these arrays ends the check."""
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
        (rule, message, hint): a wrong function, the message to it, and the hint. Of a function that
        returns a row they may be (place, rule, message, hint): wrong at that place alone. A slip
        is found by the ordinary cases, unless it is right there: then by the edges.
    right : str
        The message where the function is right.
    needs : str
        The hint where the function returns no number.
    hint : str, optional
        The hint on ordinary cases where no slip fits.
    at_edges : str, optional
        The hint on the edges where no slip fits.
    put : callable, optional
        Called with a function and the arguments of a case; returns what can be compared.
    otherwise : callable, optional
        Called with what was returned and the arguments where no slip fits; may return a message
        and a hint.
    within : float, optional
        How far off a number may be, as a share.
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
        """Return the result of a right answer; a wrong one ends the check with a `Told`."""
        self._try_on(self.ordinary, answer, self.slips, "")
        # A slip that the ordinary cases would have shown was not made.
        unseen = [slip for slip in self.slips if self._is_right_on(self.ordinary, slip)]
        self._try_on(self.edges, answer, unseen, self.at_edges)
        return Result(True, self.right)

    def _try_on(self, cases: Sequence[tuple], answer, slips: Sequence[_Slip], hint: str) -> None:
        """End the check if the learner's function is wrong on one of these cases."""
        expected = self._values(self.truth, cases)
        # All cases are called before one is judged, since a slip shows by all values together.
        returned = self._returned(answer, cases, expected, hint)
        for case, value, true_value in zip(cases, returned, expected, strict=True):
            if same(value, true_value, self.within):
                continue
            slip = self._slip_on(cases, returned, slips)
            if slip is not None:
                raise Told(slip.message, slip.hint)
            raise self._difference(case, value, true_value, hint)

    def _returned(
        self, answer, cases: Sequence[tuple], expected: Sequence, hint: str
    ) -> list[object]:
        """Return what the learner's function gives on each of the cases, as plain values."""
        function = Asked(answer)
        returned = []
        for case, true_value in zip(cases, expected, strict=True):
            try:
                value = self.put(function, *case)
            except Stopped as stopped:
                reason, leads_on = stopped.args
                if hint:
                    leads_on = hint
                message = f"{self._named(case)}: {reason} It is {brief(true_value)}."
                raise Told(message, leads_on) from None
            except Exception:
                # Whatever was returned, it is not what was asked for.
                wrong_value = shown(function.returned)
                message = f"{self._named(case)}: the function returned {wrong_value}"
                raise Told(f"{message}, and it is {brief(true_value)}.", self.needs) from None
            returned.append(value)
        return returned

    def _slip_on(
        self, cases: Sequence[tuple], returned: Sequence, slips: Sequence[_Slip]
    ) -> _Slip | None:
        """Return the slip that gives on these cases what was returned, if there is one."""
        for slip in slips:
            # What is right on these cases explains no difference there.
            if self._is_right_on(cases, slip):
                continue
            slip_values = self._values(slip.rule, cases)
            values = _values_at(returned, slip.place)
            if same(values, slip_values, self.within):
                return slip
        return None

    def _is_right_on(self, cases: Sequence[tuple], slip: _Slip) -> bool:
        """Return whether a slip makes no difference on these cases."""
        slip_values = self._values(slip.rule, cases)
        true_values = self._values(self.truth, cases)
        expected = _values_at(true_values, slip.place)
        return same(slip_values, expected, self.within)

    def _difference(self, case: tuple, value, true_value, hint: str) -> Told:
        """Return what ends the check where a value is wrong and no slip explains it."""
        if self.otherwise is not None:
            problem = self.otherwise(value, *case)
            if problem:
                return Told(*problem)
        # On the edges their own hint is the nearest.
        if not hint:
            hint = self.hint
        if not hint:
            hint = self.needs
        values = f"you have {brief(value)}, and it is {brief(true_value)}."
        return Told(f"{self._named(case)}: {values}", hint)

    def _values(self, rule: Callable, cases: Sequence[tuple]) -> list[object]:
        """Return what a function gives on each of the cases."""
        return [self.put(rule, *case) for case in cases]

    def _named(self, case: tuple) -> str:
        """Return a case as the learner's function gets it: "For factor = 2.0, setup = 5.0"."""
        names = inspect.signature(self.truth).parameters
        arguments = []
        # The true function may have more parameters, with defaults.
        for name, value in zip(names, case, strict=False):
            arguments.append(f"{name} = {brief(value)}")
        text = ", ".join(arguments)
        return f"For {text:.200}"


def _values_at(rows: Sequence, place: int | None) -> list[object]:
    """Return what stands at a place of each row; without a place, the rows."""
    return [at_place(row, place) for row in rows]
