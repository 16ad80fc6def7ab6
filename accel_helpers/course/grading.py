"""Grading: a question and an answer in, a grade out. It knows no widget and writes no file."""

import math
import re
from dataclasses import dataclass

from accel_helpers._values.words import shown
from accel_helpers.course.questions import Question
from accel_helpers.course.quiz_widget import Shown
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
    """An answer that cannot be graded; the message says what is accepted.

    In a notebook it is shown as that sentence, without a traceback.
    """

    def _render_traceback_(self) -> list[str]:  # IPython asks for it
        said = str(self)
        return [said[:1].upper() + said[1:]]


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

    def __str__(self) -> str:
        lines = [self.said.partition(" ")[2], *self.feedback]
        if self.verdict in DONE:  # both answers would tell a wrong one the right
            lines += map(" ".join, self.question.two_answers)
        return "\n".join(lines)


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
    >>> from accel_helpers.course.questions import bank
    >>> grade(bank()["03/factor"], "69/43").verdict
    'right'
    """
    if question.has_choices:
        return _chosen(question, _letters(question, answer))
    if question.kind == "measured":
        return _measured(question, _number(question, answer), card)
    return _worked_out(question, _number(question, answer))


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
    if question.kind == "one" and len(letters) > 1:
        raise AnswerError(f"choose one: this question has one answer; got {shown(given)}.")
    return "".join(sorted(letters)) if question.kind == "several" else letters


def _chosen(question: Question, letters: str) -> Grade:
    right, theirs = question.letters(), question.letters(material=True)
    about = {o.letter: o.feedback for o in question.options}
    said = [f"{letter}) {about[letter]}" for letter in letters]
    if question.kind == "one":
        said = [about[letters]]
    elif letters not in (right, theirs):
        there = len(set(right) & set(letters))
        if question.kind == "order":
            said = [_first_slip(letters, right, about)]
        elif there < len(right):
            said.append(f"You have {there} of the {len(right)} that are right.")
    return _grade(question, letters, letters == right, letters == theirs, said)


def _first_slip(letters: str, right: str, about: dict[str, str]) -> str:
    for place, letter in enumerate(letters, 1):
        if letter not in right:
            return f"{letter}) does not belong there. {about[letter]}"
        if letter != right[place - 1 : place]:
            return f"{letter}) does not come as step {place}: something else has to happen first."
    return f"So far in order; {len(right) - len(letters)} more to come."


def _number(question: Question, given) -> float:
    """A number as people type it: 1.5, 1,5 or 3/2, perhaps with its unit."""
    unit = f" ({question.unit})" if question.unit else ""
    text = str(given).strip().removesuffix(question.unit).strip()
    if not text:
        raise AnswerError(f"no answer yet: a number{unit} is needed.")
    try:
        above, *below = re.sub(r"^([+-]?\d+),(\d\d?)$", r"\1.\2", text).split("/", 1)
        number = float(above) / float(below[0]) if below else float(above)
    except (ValueError, ZeroDivisionError):
        number = math.nan
    if not abs(number) < 1e300:
        raise AnswerError(f"a number{unit} is needed, such as 1.5 or 3/2; got {shown(given)}.")
    return number


def _worked_out(question: Question, number: float) -> Grade:
    # tolerances may overlap: the nearest counts, and the right one before its equals
    near = sorted(question.options, key=lambda o: (abs(number - o.value), not o.correct))
    for o in near:
        if abs(number - o.value) <= question.tolerance * abs(o.value):
            return _grade(question, number, o.correct, o.material, [o.feedback])
    (right,) = (o for o in near if o.correct)
    way = "low" if number < right.value else "high"
    return _grade(question, number, False, False, [f"That is too {way}."])


def _measured(question: Question, number: float, card: Card | None) -> Grade:
    known = {"": 1.0}  # where it is divided by nothing
    if card is not None:
        known |= {name: values[-1] for name, values in card.numbers.items() if values}
        known |= {name: each.median for name, each in card.measurements.items()}
    value, over = known.get(question.measured), known.get(question.over)
    if not value or not over:
        said = f"Measure it in lesson {question.lesson}, then answer again. Your guess is kept."
        return Grade(question, number, OPEN, False, (said,))
    actual = value / over * question.scale
    close, low, high = question.options
    fits = number > 0 and 1 / question.within <= number / actual <= question.within
    off = low if number < actual else high
    said = [f"You measured {actual:.3g} {question.unit}".rstrip() + "."]
    return _grade(question, number, fits, fits, [*said, (close if fits else off).feedback])
