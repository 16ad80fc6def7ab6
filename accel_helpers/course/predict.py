"""The learner's guess, made before the measurement and kept beside what came out."""

import contextlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from accel_helpers._values.words import fragment, marked
from accel_helpers.course import progress, quiz_widget
from accel_helpers.course.quiz_widget import Shown
from accel_helpers.measure import results

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
        example = repr(self.choices[0]) if self.choices else "10"
        lines.append(f"Without the form: ah.course.guess({self.name!r}, {example})")
        return "\n".join(lines)

    def form(self, widgets):
        text = widgets.HTML(fragment("course/templates/quiz/guess_head", self))
        if self.choices:
            layout, choices = {"width": "max-content"}, [*self.choices]
            field = widgets.RadioButtons(options=choices, index=None, description="", layout=layout)
        else:
            wide = {"description_width": "initial"}
            field = widgets.FloatText(value=0.0, description=f"In {self.unit}:", style=wide)
        status, say = quiz_widget.note(widgets, "<p>Not answered yet.</p>")

        def keep(_button) -> None:
            if not field.value:
                say("<p>Choose or type an answer first.</p>")
                return
            guess(self.name, field.value)
            kept = marked(_number(field.value, self.unit))
            say(f"<p>Kept: {kept}. Now run the next cell.</p>")

        button = widgets.Button(description="Keep my guess")
        button.on_click(keep)
        return widgets.VBox([text, field, button, status])


@dataclass(frozen=True)
class Outcome:
    """A guess beside what came out."""

    guess: float | str | None
    actual: float | str | None
    unit: str = ""
    tried: tuple[str, ...] = ()  # of the choices, where not all were tried; empty: all

    @property
    def verdict(self) -> str:
        """Of a number "close", "too low", "too high"; of choices "right", "wrong", "not tried".

        Without a guess it is "no guess", and where nothing came out "not measurable".
        """
        guess, actual = self.guess, self.actual
        if actual is None:
            return "not measurable"
        if guess is None:
            return "no guess"
        if self.tried and guess not in self.tried:
            return "not tried"
        if isinstance(actual, str) or isinstance(guess, str):
            return "right" if guess == actual else "wrong"
        if guess > 0 and actual > 0 and 1 / CLOSE <= guess / actual <= CLOSE:
            return "close"
        return "too high" if guess > actual else "too low"

    def __str__(self) -> str:
        if self.actual is None:
            return "Not measurable here, so there is nothing to hold a guess against."
        actual = _number(self.actual, self.unit)
        if self.guess is None:
            return f"Answer: {actual}."
        endings = {"close": "Close.", "right": "Right.", "wrong": "Not so this time."}
        endings["not tried"] = "Your guess was left out here, so this says nothing about it."
        ending = endings.get(self.verdict, f"The guess was {self.verdict}.")
        return f"You guessed {_number(self.guess, self.unit)}; what came out: {actual}. {ending}"


def ask(name: str, text: str, *, unit: str = "", choices: Sequence[str] = ()) -> Question:
    """Ask for a guess; put the call last in a cell, and the form appears.

    Parameters
    ----------
    name, text : str
        By which the guess is kept, and the question.
    unit : str, optional
        Of the number that is asked for.
    choices : sequence of str, optional
        Where one of them is asked for.

    Examples
    --------
    >>> question = ask("demo", "How long does it take?", unit="seconds")
    """
    return Question(name, text, unit, tuple(map(str, choices)))


def guess(name: str, value: float | str) -> None:
    """Keep a guess without the form, by its name: a number, or one of the choices of `ask`."""
    made = progress.Guess(value if isinstance(value, str) else float(value), None, progress.now())
    progress.keep(progress.Progress(guesses={name: made}))


def reveal(
    name: str, actual: float | str | None, *, unit: str = "", tried: Iterable[str] = ()
) -> Outcome:
    """Put what came out beside the guess; a missing guess is no error.

    Parameters
    ----------
    name, unit : str
        As in `ask`.
    actual : float, str or None
        What was measured, or the choice that turned out right; None where nothing can be told.
    tried : iterable of str, optional
        The choices that were tried, where some may have been left out: a guess that was is
        neither right nor wrong.

    Examples
    --------
    >>> guess("demo", 12)
    >>> print(reveal("demo", 30.0, unit="seconds"))
    You guessed 12 seconds; what came out: 30 seconds. The guess was too low.
    """
    made = progress.current().guesses.get(name)
    outcome = Outcome(made and made.guess, actual, unit, tuple(tried))
    if outcome.verdict in ("no guess", "not tried", "not measurable"):
        return outcome
    came_out = actual if isinstance(actual, str) else float(actual)
    made = replace(made, actual=came_out, when=progress.now())
    progress.keep(progress.Progress(guesses={name: made}))
    both = (made.guess, came_out)  # for a class's board; of a choice, whether it was right
    both = (float(made.guess == came_out), 1.0) if str in map(type, both) else both
    with contextlib.suppress(ValueError):  # infinity, say
        results.save_on_card({}, {f"guess/{name}": both})
    return outcome


def _number(value, unit: str) -> str:
    """A choice, or a number of three digits with its unit: 2,650 times.

    >>> _number(2653.4, "times"), _number(0.0021, "s"), _number("JAX", "")
    ('2,650 times', '0.0021 s', 'JAX')
    """
    if isinstance(value, str):
        return value
    return f"{float(f'{value:.3g}'):,.12g} {unit}".rstrip()
