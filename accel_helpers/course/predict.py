"""The learner's guess, made before the measurement and kept beside what came out."""

import contextlib
from collections.abc import Collection
from dataclasses import dataclass

from accel_helpers.course import record
from accel_helpers.course.places import Place
from accel_helpers.course.quiz_widget import WHOLE_DESCRIPTION, Shown, boxed, button, html, status

CLOSE = 1.25  # a guess within this factor of what came out counts as close


@dataclass(frozen=True, repr=False)
class Question(Shown):
    """A question that waits for a guess."""

    name: str  # by which the guess is kept, such as "03/fit"
    place: Place
    macro = "guess"

    def form(self):
        """Return the live form: the question, a field, and a button that keeps the guess."""
        import ipywidgets

        unit = f"In {self.place.unit}:"
        field = ipywidgets.FloatText(description=unit, style=WHOLE_DESCRIPTION)
        if self.place.choices:
            layout = {"width": "max-content"}
            choices = self.place.choices
            field = ipywidgets.RadioButtons(options=choices, index=None, layout=layout)
        said = status("<p>Not answered yet.</p>")

        def keep() -> str:
            # None where no choice is made, and 0.0 where no number is typed.
            if not field.value:
                raise ValueError("Choose or type an answer first.")
            guess(self.name, field.value)
            return "<p>Kept. Now run the next cell.</p>"

        pressed = button("Keep my guess", keep, said)
        return boxed("accel-guess", html("guess_head", self), field, pressed, said)


def guess(name: str, value: float | str) -> None:
    """Keep a guess without the form: a number, or one of the choices; `name` is the question's."""
    record.keep(record.entry(f"guess/{name}", given=str(value)))


def reveal(
    name: str, actual: float | str | None, *, unit: str = "", tried: Collection[str] = ()
) -> str:
    """Return a sentence that compares the guess with what came out, or says that there was none.

    Parameters
    ----------
    name : str
        The question's.
    actual : float, str or None
        What was measured, or the choice that turned out right; None where nothing can be told.
    unit : str, optional
        The question's.
    tried : collection of str, optional
        The choices that were tried, where some may have been left out. A guess that was left out
        is neither right nor wrong.

    Examples
    --------
    >>> guess("demo", 12)
    >>> print(reveal("demo", 30.0, unit="seconds"))
    You guessed 12 seconds; what came out: 30 seconds. The guess was too low.
    """
    if actual is None:
        return "Nothing has come out here yet, so there is nothing to hold a guess against."
    came_out = _in_words(actual, unit)
    entry = record.newest("guess/").get(name)
    if entry is None:
        return f"Answer: {came_out}."
    guess = entry.given
    # The record has texts. A choice stays one, and may look like a number.
    if not isinstance(actual, str):
        with contextlib.suppress(ValueError):
            guess = float(guess)
    verdict = "The guess was too low."
    if tried and guess not in tried:
        verdict = "Your guess was left out here, so this says nothing about it."
    elif isinstance(guess, str):
        verdict = "Right." if guess == actual else "Not so this time."
    elif actual / CLOSE <= guess <= actual * CLOSE:
        verdict = "Close."
    elif guess > actual:
        verdict = "The guess was too high."
    return f"You guessed {_in_words(guess, unit)}; what came out: {came_out}. {verdict}"


def _in_words(value: float | str, unit: str) -> str:
    """Return a choice as it is, or a number rounded to three digits with its unit.

    >>> _in_words(2653.4, "times"), _in_words(0.0021, "s"), _in_words("JAX", "")
    ('2,650 times', '0.0021 s', 'JAX')
    """
    if isinstance(value, str):
        return value
    rounded = float(f"{value:.3g}")
    return f"{rounded:,.12g} {unit}".rstrip()
