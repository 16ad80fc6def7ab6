"""The learner's guess, made before the measurement and kept beside what came out."""

import contextlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from types import ModuleType

from accel_helpers._values.words import fragment, marked
from accel_helpers.course import quiz_widget, record
from accel_helpers.course.quiz_widget import Shown

CLOSE = 1.25  # a guess within this factor of what came out counts as close
__all__ = ["ask", "guess", "reveal"]


@dataclass(frozen=True, repr=False)
class Question(Shown):
    """A question that waits for a guess."""

    name: str  # by which the guess is kept, such as "03/fit"
    text: str
    unit: str = ""  # of a number, such as "seconds"; empty where one of `choices` is asked for
    choices: tuple[str, ...] = ()
    macro = "guess"

    def __str__(self) -> str:
        lines = ["Your guess, before you go on:", self.text]
        lines += [f"  - {choice}" for choice in self.choices]
        example = "10"
        if self.choices:
            example = repr(self.choices[0])
        lines.append(f"Without the form: ah.course.guess({self.name!r}, {example})")
        return "\n".join(lines)

    def form(self, widgets: ModuleType):
        """Return the live form, a widget: the question, a field, and a button that keeps the guess.

        `widgets` is the module ipywidgets.
        """
        text = widgets.HTML(fragment("course/templates/quiz/guess_head", self))
        field = self._field(widgets)
        status, tell = quiz_widget.note(widgets, "<p>Not answered yet.</p>")

        def keep(_button: object) -> None:
            # None where no choice is made, and 0.0 where no number is typed.
            if not field.value:
                tell("<p>Choose or type an answer first.</p>")
                return
            guess(self.name, field.value)
            value = _in_words(field.value, self.unit)
            tell(f"<p>Kept: {marked(value)}. Now run the next cell.</p>")

        button = widgets.Button(description="Keep my guess")
        button.on_click(keep)
        return widgets.VBox([text, field, button, status])

    def _field(self, widgets: ModuleType):
        """Return the widget for the guess: buttons for the choices, or a line for a number."""
        if self.choices:
            return widgets.RadioButtons(
                options=[*self.choices],
                index=None,
                description="",
                layout={"width": "max-content"},
            )
        return widgets.FloatText(
            value=0.0,
            description=f"In {self.unit}:",
            style=quiz_widget.WHOLE_DESCRIPTION,
        )


@dataclass(frozen=True)
class Outcome:
    """A guess beside what came out: two numbers, or two choices."""

    guess: float | str | None  # None where there was no guess
    actual: float | str | None  # None where nothing came out
    unit: str = ""  # of the numbers
    tried: tuple[str, ...] = ()  # the choices that were tried; empty: all of them

    @property
    def verdict(self) -> str:
        """How good the guess was.

        A number is "close", "too low" or "too high". A choice is "right", "wrong" or, where it was
        left out when all were tried, "not tried". Without a guess it is "no guess", and where
        nothing came out "not measurable".
        """
        guess = self.guess
        actual = self.actual
        if actual is None:
            return "not measurable"
        if guess is None:
            return "no guess"
        if self.tried and guess not in self.tried:
            return "not tried"
        if isinstance(actual, str) or isinstance(guess, str):
            return "right" if guess == actual else "wrong"
        # Only positive numbers have a ratio that says how far off a guess is.
        if guess > 0 and actual > 0 and 1 / CLOSE <= guess / actual <= CLOSE:
            return "close"
        return "too high" if guess > actual else "too low"

    def __str__(self) -> str:
        if self.actual is None:
            return "Not measurable here, so there is nothing to hold a guess against."
        actual = _in_words(self.actual, self.unit)
        if self.guess is None:
            return f"Answer: {actual}."
        guess = _in_words(self.guess, self.unit)
        endings = {
            "close": "Close.",
            "right": "Right.",
            "wrong": "Not so this time.",
            "too low": "The guess was too low.",
            "too high": "The guess was too high.",
            "not tried": "Your guess was left out here, so this says nothing about it.",
        }
        ending = endings[self.verdict]
        return f"You guessed {guess}; what came out: {actual}. {ending}"


def ask(name: str, text: str, *, unit: str = "", choices: Sequence[str] = ()) -> Question:
    """Ask for a guess; put the call last in a cell, and the form appears.

    Parameters
    ----------
    name : str
        The name under which the guess is kept, such as "03/fit".
    text : str
        The question.
    unit : str, optional
        The unit of the number that is asked for, such as "seconds".
    choices : sequence of str, optional
        The answers to choose from, where no number is asked for.

    Examples
    --------
    >>> question = ask("demo", "How long does it take?", unit="seconds")
    """
    texts = tuple(str(choice) for choice in choices)
    return Question(name, text, unit, texts)


def guess(name: str, value: float | str) -> None:
    """Keep a guess without the form: a number, or one of the choices of `ask`.

    `name` is as in `ask`. Raises a ValueError or a TypeError where a value that is no text cannot
    become a float.
    """
    if not isinstance(value, str):
        value = float(value)
    record.keep(record.entry(f"guess/{name}", given=str(value)))


def reveal(
    name: str, actual: float | str | None, *, unit: str = "", tried: Iterable[str] = ()
) -> Outcome:
    """Compare the guess with what came out; without a guess of this name the outcome says so.

    Parameters
    ----------
    name : str
        As in `ask`.
    actual : float, str or None
        What was measured, or the choice that turned out right; None where nothing can be told.
    unit : str, optional
        As in `ask`.
    tried : iterable of str, optional
        The choices that were tried, where some may have been left out. A guess that was left out
        is neither right nor wrong.

    Examples
    --------
    >>> guess("demo", 12)
    >>> print(reveal("demo", 30.0, unit="seconds"))
    You guessed 12 seconds; what came out: 30 seconds. The guess was too low.
    """
    guesses = record.newest("guess/")
    if name not in guesses:
        return Outcome(None, actual, unit, tuple(tried))
    guess: float | str = guesses[name].given
    # The record has texts. A choice stays one, and may look like a number.
    if not isinstance(actual, str):
        with contextlib.suppress(ValueError):
            guess = float(guess)
    return Outcome(guess, actual, unit, tuple(tried))


def _in_words(value: float | str, unit: str) -> str:
    """Return a choice as it is, or a number rounded to three digits with its unit.

    >>> _in_words(2653.4, "times"), _in_words(0.0021, "s"), _in_words("JAX", "")
    ('2,650 times', '0.0021 s', 'JAX')
    """
    if isinstance(value, str):
        return value
    rounded_value = float(f"{value:.3g}")
    return f"{rounded_value:,.12g} {unit}".rstrip()
