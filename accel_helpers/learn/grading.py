"""Grading: a question and an answer in, a grade out. It knows no widget and writes no file."""

from __future__ import annotations

import math
import numbers
import re
from dataclasses import dataclass

from accel_helpers._words import shown
from accel_helpers.learn.questions import Question
from accel_helpers.learn.quiz_widget import Shown
from accel_helpers.measure.results import Card

RIGHT, MATERIAL, WRONG, OPEN = "right", "as the material", "wrong", "not measured"
SAY = {
    RIGHT: "✓ Right.",
    "right today": "✓ Right today. The exam's material answers otherwise.",
    MATERIAL: "◐ For the exam: yes. Today: no.",
    WRONG: "✗ Not right.",
    OPEN: "… Not measured yet.",
}
DONE = (RIGHT, MATERIAL)  # what need not come back
__all__ = ["grade"]


class AnswerError(ValueError):
    """An answer that cannot be graded; the message says what is accepted."""


@dataclass(frozen=True, repr=False)
class Grade(Shown):
    """What an answer is worth; true where it is right today."""

    question: Question
    given: str | float  # the answer as it was understood: letters, or a number
    verdict: str  # "right", "as the material" (and not true today), "wrong", "not measured"
    as_material: bool  # the exam's material answers so
    feedback: tuple[str, ...]
    macro = "grade"

    def __bool__(self) -> bool:
        return self.verdict == RIGHT

    @property
    def said(self) -> str:
        old = self and self.question.differs and not self.as_material
        return SAY["right today" if old else self.verdict]

    @property
    def two_answers(self) -> tuple[tuple[str, str], ...]:
        """Both answers, once the question is answered; they would tell a wrong one the right."""
        return self.question.two_answers if self.verdict in DONE else ()

    def __str__(self) -> str:
        lines = [self.said.partition(" ")[2], *self.feedback]
        return "\n".join([*lines, *map(" ".join, self.two_answers)])


def grade(question: Question, answer, *, card: Card | None = None) -> Grade:
    """Grade an answer.

    Parameters
    ----------
    question : Question
    answer : str or float
        A letter, several ("ac"), steps in order ("cab"), or a number; else an `AnswerError`.
    card : Card, optional
        The learner's measurements, for a question of the kind "measured".
    Examples
    --------
    >>> from accel_helpers.learn.questions import bank
    >>> grade(bank()["03/factor"], "69/43").verdict
    'right'
    """
    kind = question.kind
    if kind == "measured":
        return _measured(question, _as_number(question, answer), card)
    if kind == "number":
        return _number(question, _as_number(question, answer))
    letters = _letters(question, answer)
    if kind == "one" and len(letters) != 1:
        raise AnswerError(f"choose one: this question has one answer; got {shown(answer)}.")
    if kind == "several":
        letters = "".join(sorted(letters))
    keys = question.steps if kind == "order" else question.letters
    right, theirs = keys(), keys(material=True)
    chosen = {o.letter: o for o in question.options}
    said = [chosen[each].feedback for each in letters]
    if kind != "one":
        said = [f"{letter}) {text}" for letter, text in zip(letters, said, strict=True)]
    missing = len(set(right) - set(letters))
    if kind == "several" and missing and letters != theirs:
        more = "one is" if missing == 1 else f"{missing} are"
        said.append(f"You have {len(right) - missing} of {len(right)}: {more} missing.")
    if kind == "order" and letters not in (right, theirs):
        said = [_first_slip(letters, right, chosen)]
    return _grade(question, letters, letters == right, letters == theirs, said)


def outcome(question: Question, card: Card | None) -> float | None:
    """What the learner measured for a question of the kind "measured", in its unit, if he did."""
    if card is None:
        return None
    known = {name: values[-1] for name, values in card.numbers.items() if values}
    known |= {name: each.median for name, each in card.measurements.items()}
    over = known.get(question.over) if question.over else 1.0
    value = known.get(question.measured)
    return value / over * question.scale if value and over else None


def _grade(question: Question, given, right: bool, theirs: bool, said) -> Grade:
    verdict = RIGHT if right else MATERIAL if theirs else WRONG
    return Grade(question, given, verdict, theirs, tuple(said))


def _letters(question: Question, given) -> str:
    last = question.options[-1].letter
    letters = "".join(given.lower().replace(",", " ").split()) if isinstance(given, str) else "?"
    if not letters:
        raise AnswerError(f"no answer yet: choose from a to {last}.")
    if not all("a" <= letter <= last for letter in letters):
        raise AnswerError(f"the letters go from a to {last}; got {shown(given)}.")
    if len(set(letters)) != len(letters):
        raise AnswerError(f"a letter stands there twice: {shown(given)}.")
    return letters


def _first_slip(letters: str, right: str, chosen: dict) -> str:
    for place, letter in enumerate(letters, 1):
        if letter not in right:
            return f"{letter}) does not belong there. {chosen[letter].feedback}"
        if letter != right[place - 1 : place]:
            return f"{letter}) does not come as step {place}: something else has to happen first."
    return f"So far in order; {len(right) - len(letters)} more to come."


def _as_number(question: Question, given) -> float:
    unit = f" ({question.unit})" if question.unit else ""
    answer = given
    if isinstance(given, str):
        text = given.strip().removesuffix(question.unit).strip()
        if not text:
            raise AnswerError(f"no answer yet: a number{unit} is needed.")
        answer = _read(text)
    usable = isinstance(answer, numbers.Real) and not isinstance(answer, bool)  # NumPy's are, too
    number = float(answer) if usable else math.nan
    if not abs(number) < 1e300:
        raise AnswerError(f"a number{unit} is needed, such as 1.5 or 3/2; got {shown(given)}.")
    return number


def _read(text: str) -> float | None:
    """A number as people type it: 1.5, 1,5 or 3/2; None where it is none."""
    if decimal := re.fullmatch(r"([+-]?\d{1,15}),(\d{1,2})", text):
        text = f"{decimal[1]}.{decimal[2]}"
    above, *below = text.split("/")
    try:
        return float(above) / float(below[0]) if len(below) == 1 else float(text)
    except (ValueError, ZeroDivisionError):
        return None


def _number(question: Question, number: float) -> Grade:
    def off(o):
        return abs(number - o.value)

    # tolerances may overlap: the nearest counts, and the right one before its equals
    near = [o for o in question.options if off(o) <= question.tolerance * abs(o.value)]
    if near:
        nearest = min(near, key=lambda o: (off(o), not o.correct))
        return _grade(question, number, nearest.correct, nearest.material, [nearest.feedback])
    (right,) = (o for o in question.options if o.correct)
    way = "low" if number < right.value else "high"
    return _grade(question, number, False, False, [f"That is too {way}."])


def _measured(question: Question, number: float, card: Card | None) -> Grade:
    close, low, high = question.options
    actual = outcome(question, card)
    if actual is None:
        said = f"Measure it in lesson {question.lesson}, then answer again. Your guess is kept."
        return Grade(question, number, OPEN, False, (said,))
    came_out = f"You measured {actual:.3g} {question.unit}".rstrip() + "."
    if number > 0 and 1 / question.within <= number / actual <= question.within:
        return _grade(question, number, True, True, [came_out, close.feedback])
    off = low if number < actual else high
    return _grade(question, number, False, False, [came_out, off.feedback])
