"""Grade an answer to a question, without widgets and without files."""

import math
import re
from dataclasses import dataclass

from accel_helpers._values.words import shown
from accel_helpers.course.questions import Question
from accel_helpers.course.quiz_widget import Shown

# The verdicts on an answer.
RIGHT, MATERIAL, WRONG = "right", "as the material", "wrong"
DONE = (RIGHT, MATERIAL)  # verdicts after which a question need not be asked again
# What a page says first, by the two marks: that of the material, and today's.
HEADLINES = {
    (True, True): "✓ Right.",
    (False, True): "✓ Right today. The exam's material answers otherwise.",
    (True, False): "◐ For the exam: yes. Today: no.",
    (False, False): "✗ Not right.",
}
__all__ = ["grade"]


class AnswerError(ValueError):
    """An answer that cannot be graded; a notebook shows its sentence without a traceback."""

    def _render_traceback_(self) -> list[str]:
        """Return the lines that IPython shows in place of a traceback."""
        return [str(self)]


@dataclass(frozen=True, repr=False)
class Grade(Shown):
    """The grade of an answer; true where the answer is right today."""

    question: Question
    answer: str | float  # as it was understood: letters, a number, or "" where there was none
    letters: str  # of the options that it stands for; "" where it stands for none
    feedback: tuple[str, ...]  # sentences on the answer
    macro = "grade"

    def __bool__(self) -> bool:
        return self.letters == self.question.right

    @property
    def as_material(self) -> bool:
        """Whether the exam's material answers so."""
        return self.letters == self.question.by_material

    @property
    def verdict(self) -> str:
        """One of RIGHT, MATERIAL and WRONG; today counts more."""
        if self:
            return RIGHT
        return MATERIAL if self.as_material else WRONG

    @property
    def headline(self) -> str:
        """The verdict with its sign, as a page shows it."""
        return HEADLINES[self.as_material, bool(self)]

    def __str__(self) -> str:
        # Without its sign.
        lines = [self.headline[2:], *self.feedback]
        # After a wrong answer, the two answers would give the right one away.
        if self.verdict in DONE:
            lines += [f"{heading} {text}" for heading, text in self.question.two_answers]
        return "\n".join(lines)


def grade(question: Question, answer: object) -> Grade:
    """Grade an answer.

    Parameters
    ----------
    question : Question
        Of any kind.
    answer : str or float
        A letter, several ("ac"), steps in order ("cab"), or a number, also as a text. An empty
        one is wrong.

    Raises
    ------
    AnswerError
        A ValueError, where the answer cannot be graded.

    Examples
    --------
    >>> from accel_helpers.course.questions import bank
    >>> grade(bank()["03/factor"], "69/43").verdict
    'right'
    """
    text = str(answer).strip()
    if not text:
        return Grade(question, "", "", ())
    if question.has_choices:
        letters = _letters(question, text)
        return Grade(question, letters, letters, _feedback(question, letters))
    return _nearest(question, _number(question, text))


# --- Letters


def _letters(question: Question, text: str) -> str:
    """Return the letters of an answer to a question with choices: "C, a" -> "ac".

    They are sorted, except for the steps of an order. Raises an AnswerError for what no option has
    or stands there twice, and for several letters where one is asked for.
    """
    letters = re.sub(r"[\s,]", "", text.lower())
    chosen = {letters} if question.kind == "one" else set(letters)
    if not chosen <= set(question.options) or len(set(letters)) < len(letters):
        last = max(question.options)
        raise AnswerError(f"{question.how} The letters go from a to {last}; got {shown(text)}.")
    if question.kind == "several":
        return "".join(sorted(chosen))
    return letters


def _feedback(question: Question, letters: str) -> tuple[str, ...]:
    """Return the feedback of each option that was chosen; several begin with their letters.

    To an order that is not right, it is a sentence on its first wrong step.
    """
    options, right = question.options, question.right
    if question.kind == "one":
        return (options[letters].feedback,)
    is_wrong = letters not in (right, question.by_material)
    if is_wrong and question.kind == "order":
        return (_first_slip(question, letters),)
    sentences = [f"{letter}) {options[letter].feedback}" for letter in letters]
    hits = len(set(letters) & set(right))
    if is_wrong and hits < len(right):
        sentences.append(f"You have {hits} of the {len(right)} that are right.")
    return tuple(sentences)


def _first_slip(question: Question, letters: str) -> str:
    """Return a sentence on the first wrong step of an order that is not right.

    Where no step is wrong, some are missing at the end, and the sentence says how many.
    """
    right = question.right
    for step, letter in enumerate(letters, 1):
        if letter not in right:
            return f"{letter}) does not belong there. {question.options[letter].feedback}"
        if not right.startswith(letters[:step]):
            return f"{letter}) does not come as step {step}: something else has to happen first."
    return f"So far in order; {len(right) - len(letters)} more to come."


# --- Numbers


def _number(question: Question, text: str) -> float:
    """Return the number that an answer is: "1.5", "1,5", "3/2" or "1.5 s" -> 1.5.

    The unit may only be the question's. Raises an AnswerError for what is no finite number.
    """
    number_text = text.removesuffix(question.unit).strip()
    # In "1,5" and "-12,25" the comma is a decimal one. With three digits behind it, as in "1,500",
    # it could also part thousands, so it stays, and the text is refused.
    number_text = re.sub(r"^([+-]?\d+),(\d\d?)$", r"\1.\2", number_text)
    numerator, _, denominator = number_text.partition("/")
    try:
        number = float(numerator) / float(denominator or 1)
    except (ValueError, ZeroDivisionError):
        number = math.nan
    if not math.isfinite(number):
        raise AnswerError(f"{question.how} Such as 1.5 or 3/2; got {shown(text)}.")
    return number


def _nearest(question: Question, number: float) -> Grade:
    """Return the grade of a number: that of the nearest option, if it is near enough.

    The options are the right answer and numbers that known mistakes lead to. Where none is near,
    the feedback says in which direction.
    """
    options = question.options
    letter = min(options, key=lambda letter: abs(number - options[letter].value))
    nearest = options[letter]
    if abs(number - nearest.value) <= question.tolerance * abs(nearest.value):
        return Grade(question, number, letter, (nearest.feedback,))
    direction = "low" if number < options[question.right].value else "high"
    return Grade(question, number, "", (f"That is too {direction}.",))
