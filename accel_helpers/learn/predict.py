"""The learner's guess, made before the measurement and kept beside what came out."""

from __future__ import annotations

import html
import numbers
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from accel_helpers.learn import progress

CLOSE = 1.25  # a guess within this factor of what came out counts as close

_guesses: dict[str, float | str] = {}


@dataclass(frozen=True)
class Question:
    """A question that waits for a guess; in a notebook it shows a form.

    Attributes
    ----------
    name : str
        By which the guess is kept, such as "03/fit".
    text : str
    unit : str
        Of a number, such as "seconds"; empty where one of `choices` is asked for.
    choices : tuple of str
    """

    name: str
    text: str
    unit: str = ""
    choices: tuple[str, ...] = ()

    def __str__(self) -> str:
        lines = ["Your guess, before you go on:", self.text]
        lines += [f"  - {choice}" for choice in self.choices]
        example = repr(self.choices[0]) if self.choices else "10"
        lines.append(f"Without the form: ah.predict.guess({self.name!r}, {example})")
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        text = f"<p><strong>Your guess, before you go on.</strong> {html.escape(self.text)}</p>"
        if self.choices:
            text += "<ul>" + "".join(f"<li>{html.escape(c)}</li>" for c in self.choices) + "</ul>"
        return text + "<p><em>Run this cell to answer.</em></p>"

    def _repr_mimebundle_(self, include=None, exclude=None):
        bundle = {"text/plain": str(self), "text/html": self._repr_html_()}
        form = _form(self)
        if form is None:
            return bundle
        bundle["application/vnd.jupyter.widget-view+json"] = {
            "version_major": 2,
            "version_minor": 0,
            "model_id": form.model_id,
        }
        if "google.colab" in sys.modules:
            del bundle["text/html"]  # two forms in one output have not been seen working there
        return bundle


@dataclass(frozen=True)
class Outcome:
    """A guess beside what came out.

    Attributes
    ----------
    guess : float, str or None
    actual : float or str
    verdict : str
        "close", "too low", "too high"; for choices "right", "wrong"; or "no guess".
    unit : str
    """

    guess: float | str | None
    actual: float | str
    verdict: str
    unit: str = ""

    def __str__(self) -> str:
        actual = _number(self.actual, self.unit)
        if self.verdict == "no guess":
            return f"You made no guess. What came out: {actual}."
        guess = _number(self.guess, self.unit)
        ending = {
            "close": "Close.",
            "right": "Right.",
            "wrong": "Not so this time.",
        }.get(self.verdict, f"The guess was {self.verdict}.")
        return f"You guessed {guess}; what came out: {actual}. {ending}"


def ask(name: str, text: str, *, unit: str = "", choices: Sequence[str] = ()) -> Question:
    """Ask for a guess; put the call last in a cell, and the form appears.

    Parameters
    ----------
    name : str
        By which the guess is kept.
    text : str
        The question.
    unit : str, optional
        Unit of the number that is asked for.
    choices : sequence of str, optional
        At least two, where one of them is asked for.

    Returns
    -------
    Question

    Examples
    --------
    >>> question = ask("demo", "How long does it take?", unit="seconds")
    >>> guess("demo", 12)
    >>> print(reveal("demo", 30.0, unit="seconds"))
    You guessed 12 seconds; what came out: 30 seconds. The guess was too low.
    """
    if not name or not isinstance(name, str):
        raise ValueError(f"name must be a text such as '03/fit'; got {name!r}.")
    if isinstance(choices, str) or (choices and len(choices) < 2):
        raise ValueError(f"choices must be a list of at least two texts; got {choices!r}.")
    return Question(name, str(text), str(unit), tuple(map(str, choices)))


def guess(name: str, value: float | str) -> None:
    """Keep a guess without the form, also in the progress file where it can be written.

    Parameters
    ----------
    name : str
        As in `ask`.
    value : float or str
        The number, or one of the choices.
    """
    if not isinstance(name, str):
        raise TypeError(f"name must be a text such as '03/fit'; got {name!r:.60}.")
    if isinstance(value, bool) or not isinstance(value, (numbers.Real, str)):
        raise TypeError(f"a guess is a number or a text; got {value!r}.")
    if not isinstance(value, (str, int, float)):
        value = float(value)  # such as a number of NumPy's
    _guesses[name] = value
    _keep(name, value, None)


def reveal(name: str, actual: float | str, *, unit: str = "") -> Outcome:
    """Put what came out beside the guess; a missing guess is no error.

    Parameters
    ----------
    name : str
        As in `ask`.
    actual : float or str
        What was measured, or the choice that turned out right.
    unit : str, optional
        Of the number.

    Returns
    -------
    Outcome
    """
    made = _guesses.get(name)
    if made is None and name in (kept := progress.current().guesses):
        made = kept[name].guess  # from before a restart
    if made is not None:
        _keep(name, made, actual if isinstance(actual, str) else float(actual))
    return judged(made, actual, unit=unit)


def judged(made: float | str | None, actual: float | str, *, unit: str = "") -> Outcome:
    """Judge a guess; `reveal` without what is kept.

    Parameters
    ----------
    made : float, str or None
    actual : float or str
    unit : str, optional

    Returns
    -------
    Outcome

    Examples
    --------
    >>> judged(10.0, 11.0).verdict
    'close'
    """
    if made is None:
        return Outcome(None, actual, "no guess", unit)
    if isinstance(actual, str) or isinstance(made, str):
        return Outcome(made, actual, "right" if made == actual else "wrong", unit)
    if made <= 0 or actual <= 0:
        return Outcome(made, actual, "too high" if made > actual else "too low", unit)
    ratio = made / actual
    verdict = "close" if 1 / CLOSE <= ratio <= CLOSE else "too low" if ratio < 1 else "too high"
    return Outcome(made, actual, verdict, unit)


# ---------------------------------------------------------------------------------------------


def _keep(name: str, made, actual) -> None:
    """Put a guess into the progress file; where that is not possible, memory has to do."""
    when = progress.now()
    progress.keep(lambda kept: progress.guessed(kept, name, made, actual, when))


def _form(question: Question):
    """The widget, or None where there are no widgets; only what ipywidgets 7 and 8 share."""
    try:
        import ipywidgets as widgets
    except ImportError:
        return None
    hint = " <em>(Keyboard: Tab and Space.)</em>" if question.choices else ""
    text = widgets.HTML(f"<p><strong>Your guess.</strong> {html.escape(question.text)}{hint}</p>")
    wide = {"description_width": "initial"}
    if question.choices:
        field = widgets.RadioButtons(
            options=list(question.choices),
            index=None,
            description="",
            layout={"width": "max-content"},
        )
    else:
        field = widgets.FloatText(value=0.0, description=f"In {question.unit}:", style=wide)
    button = widgets.Button(description="Keep my guess")
    status = widgets.HTML('<p role="status">Not answered yet.</p>')
    button.on_click(_keeper(question, field, status))
    return widgets.VBox([text, field, button, status])


def _keeper(question: Question, field, status) -> Callable:
    def keep(_button):
        if field.value is None or field.value == 0.0:
            status.value = '<p role="status">Choose or type an answer first.</p>'
            return
        guess(question.name, field.value)
        kept = html.escape(_number(field.value, question.unit))
        status.value = f'<p role="status">Kept: {kept}. Now run the next cell.</p>'

    return keep


def _number(value, unit: str) -> str:
    if isinstance(value, str):
        return value
    return f"{value:.3g} {unit}".rstrip()
