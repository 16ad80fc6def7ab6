"""Grading: a question and an answer in, a grade out. It knows no widget and writes no file."""

from __future__ import annotations

import math
import numbers
import re
from dataclasses import dataclass

from accel_helpers.learn import quiz_form
from accel_helpers.learn.checks import shown
from accel_helpers.learn.questions import Option, Question
from accel_helpers.measure.results import Card

RIGHT, MATERIAL, WRONG, OPEN = "right", "as the material", "wrong", "not measured"
VERDICTS = (RIGHT, MATERIAL, WRONG, OPEN)


class AnswerError(ValueError):
    """An answer that cannot be graded; the message says what is accepted."""


@dataclass(frozen=True, repr=False)
class Grade:
    """What an answer is worth.

    Attributes
    ----------
    question : Question
    given : str or float
        The answer as it was understood: letters, or a number.
    verdict : str
        "right" (true today), "as the material" (what the exam's material answers, and not true
        today), "wrong", or "not measured" (a guess whose measurement is still to come).
    as_material : bool
        Whether the exam's material answers so.
    feedback : tuple of str
        What there is to say about this answer.
    """

    question: Question
    given: str | float
    verdict: str
    as_material: bool
    feedback: tuple[str, ...]

    def __bool__(self) -> bool:
        return self.verdict == RIGHT

    def __repr__(self) -> str:
        return str(self)

    def __str__(self) -> str:
        return quiz_form.grade_text(self)

    def _repr_html_(self) -> str:
        return quiz_form.grade_html(self)


def grade(question: Question, answer, *, card: Card | None = None) -> Grade:
    """Grade an answer.

    Parameters
    ----------
    question : Question
    answer : str, float or sequence of str
        A letter, several letters ("ac"), the letters of steps in order ("cab"), or a number.
    card : Card, optional
        The learner's measurements, for a question of the kind "measured".

    Returns
    -------
    Grade

    Raises
    ------
    AnswerError
        If the answer is not of the kind that the question asks for.

    Examples
    --------
    >>> from accel_helpers.learn.questions import parse
    >>> sum_of_two = parse('''
    ... [[question]]
    ... id = "00/sum"
    ... lesson = "00"
    ... kind = "number"
    ... stem = "2 + 2"
    ... unit = "apples"
    ... tolerance = 0.0
    ... source = ["arithmetic"]
    ... options = [{text = "4", value = 4, correct = true, feedback = "Yes."},
    ...            {text = "22", value = 22, correct = false, feedback = "Add, do not append."}]
    ... ''', "sum.toml")[0]
    >>> grade(sum_of_two, 4).verdict
    'right'
    >>> grade(sum_of_two, "22").feedback
    ('Add, do not append.',)
    """
    return {
        "one": _one,
        "several": _several,
        "order": _order,
        "number": _number,
        "measured": _measured,
    }[question.kind](question, answer, card)


def outcome(question: Question, card: Card | None) -> float | None:
    """What the learner measured, for a question of the kind "measured"; None if it is not there.

    Parameters
    ----------
    question : Question
    card : Card or None

    Returns
    -------
    float or None
        In the question's unit.
    """
    values = []
    for name in filter(None, (question.measured, question.over)):
        if card is None:
            return None
        if name in card.measurements:
            values.append(card.measurements[name].median)
        elif card.numbers.get(name):
            values.append(card.numbers[name][-1])
        else:
            return None
    if not values[-1]:  # nothing that was measured is 0, and nothing is divided by it
        return None
    value = (values[0] / values[1] if len(values) == 2 else values[0]) * question.scale
    return value if value > 0 and math.isfinite(value) else None


# ---------------------------------------------------------------------------------------------


def _letters(question: Question, answer) -> str:
    known = "".join(o.letter for o in question.options)
    given = answer
    if isinstance(answer, (list, tuple, set, frozenset)):
        texts = [one if isinstance(one, str) else "?" for one in answer]
        answer = "".join(sorted(texts) if isinstance(answer, (set, frozenset)) else texts)
    if not isinstance(answer, str):
        raise AnswerError(f"an answer is a letter from a to {known[-1]}; got {shown(given)}.")
    letters = "".join(answer.lower().replace(",", " ").split())
    if not letters:
        raise AnswerError(f"no answer yet: choose from a to {known[-1]}.")
    if set(letters) - set(known):
        raise AnswerError(f"the letters go from a to {known[-1]}; got {shown(given)}.")
    if len(set(letters)) != len(letters):
        raise AnswerError(f"a letter stands there twice: {shown(given)}.")
    return letters


def _verdict(right: bool, as_material: bool) -> str:
    return RIGHT if right else MATERIAL if as_material else WRONG


def _one(question: Question, answer, card) -> Grade:
    letters = _letters(question, answer)
    if len(letters) != 1:
        raise AnswerError(f"choose one: this question has one answer; got {shown(answer)}.")
    (chosen,) = (o for o in question.options if o.letter == letters)
    verdict = _verdict(chosen.correct, chosen.material)
    return Grade(question, letters, verdict, chosen.material, (chosen.feedback,))


def _several(question: Question, answer, card) -> Grade:
    letters = "".join(sorted(_letters(question, answer)))
    right, theirs = question.letters(), question.letters(material=True)
    said = [f"{o.letter}) {o.feedback}" for o in question.options if o.letter in letters]
    missing = len(set(right) - set(letters))
    if missing and letters != theirs:
        more = "one is" if missing == 1 else f"{missing} are"
        said.append(f"You have {len(set(right) & set(letters))} of {len(right)}: {more} missing.")
    verdict = _verdict(letters == right, letters == theirs)
    return Grade(question, letters, verdict, letters == theirs, tuple(said))


def _order(question: Question, answer, card) -> Grade:
    letters = _letters(question, answer)
    right, theirs = question.steps(), question.steps(material=True)
    verdict = _verdict(letters == right, letters == theirs)
    by_letter = {o.letter: o for o in question.options}
    if verdict != WRONG:
        said = [f"{letter}) {by_letter[letter].feedback}" for letter in letters]
    else:
        said = [_first_slip(letters, right, by_letter)]
    return Grade(question, letters, verdict, letters == theirs, tuple(said))


def _first_slip(letters: str, right: str, options: dict[str, Option]) -> str:
    for place, letter in enumerate(letters, 1):
        if letter not in right:
            return f"{letter}) does not belong there. {options[letter].feedback}"
        if letter != right[place - 1 : place]:
            return f"{letter}) does not come as step {place}: something else has to happen first."
    return f"So far in order; {len(right) - len(letters)} more to come."


def _as_number(question: Question, answer) -> float:
    unit = f" ({question.unit})" if question.unit else ""
    if isinstance(answer, str):
        text = answer.strip().removesuffix(question.unit).strip()
        if not text:
            raise AnswerError(f"no answer yet: a number{unit} is needed.")
        answer = _read(text)
        if answer is None:
            raise AnswerError(f"a number{unit} is needed, such as 1.5 or 3/2; got {shown(text)}.")
    if isinstance(answer, bool) or not isinstance(answer, numbers.Real):  # NumPy's are such, too
        raise AnswerError(f"a number{unit} is needed, such as 1.5; got {shown(answer)}.")
    try:
        answer = float(answer)
    except OverflowError:
        answer = math.inf
    if not abs(answer) < 1e300:  # nor what is no number
        raise AnswerError(f"a finite number{unit} is needed, such as 1.5.")
    return answer


def _read(text: str) -> float | None:
    """A number as people type it: 1.5, 1,5 or 3/2; None where it is none."""
    if decimal := re.fullmatch(r"([+-]?\d{1,15}),(\d{1,2})", text):
        text = f"{decimal[1]}.{decimal[2]}"
    if fraction := re.fullmatch(r"(\d{1,15})\s*/\s*(\d{1,15})", text):
        above, below = map(int, fraction.groups())
        return above / below if below else None
    try:
        return float(text)
    except ValueError:
        return None


def _number(question: Question, answer, card) -> Grade:
    number = _as_number(question, answer)
    near = [
        o for o in question.options if abs(number - o.value) <= question.tolerance * abs(o.value)
    ]
    # tolerances may overlap: the nearest counts, and the right one before its equals
    near.sort(key=lambda o: (abs(number - o.value), not o.correct))
    if near:
        verdict = _verdict(near[0].correct, near[0].material)
        return Grade(question, number, verdict, near[0].material, (near[0].feedback,))
    (right,) = (o for o in question.options if o.correct)
    way = "low" if number < right.value else "high"
    return Grade(question, number, WRONG, False, (f"That is too {way}.",))


def _measured(question: Question, answer, card) -> Grade:
    number = _as_number(question, answer)
    close, low, high = question.options
    actual = outcome(question, card)
    if actual is None:
        said = f"Measure it in lesson {question.lesson}, then answer again. Your guess is kept."
        return Grade(question, number, OPEN, False, (said,))
    came_out = f"You measured {actual:.3g} {question.unit}.".replace(" .", ".")
    if number > 0 and 1 / question.within <= number / actual <= question.within:
        return Grade(question, number, RIGHT, True, (came_out, close.feedback))
    off = low if number < actual else high
    return Grade(question, number, WRONG, False, (came_out, off.feedback))
