"""Grade an answer to a question, without widgets and without files."""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass

from accel_helpers._values.words import shown
from accel_helpers.course.questions import Option, Question
from accel_helpers.course.quiz_widget import Shown

# The verdicts on an answer.
RIGHT, MATERIAL, WRONG, OPEN = "right", "as the material", "wrong", "not measured"
RIGHT_TODAY = "right today"  # shown in place of RIGHT where the material answers otherwise
DONE = (RIGHT, MATERIAL)  # verdicts after which a question need not be asked again
MARKS = {RIGHT: "✓", RIGHT_TODAY: "✓", MATERIAL: "◐", WRONG: "✗", OPEN: "…"}
SENTENCES = {
    RIGHT: "Right.",
    RIGHT_TODAY: "Right today. The exam's material answers otherwise.",
    MATERIAL: "For the exam: yes. Today: no.",
    WRONG: "Not right.",
    OPEN: "Not measured yet.",
}
LARGEST = 1e300  # an answer must be smaller: nothing that is computed from it may overflow
__all__ = ["grade"]


class AnswerError(ValueError):
    """An answer that cannot be graded; the message says what is accepted.

    In a notebook it is shown as that sentence, without a traceback.
    """

    def _render_traceback_(self) -> list[str]:
        """Return the lines that IPython shows in place of a traceback."""
        sentence = str(self)
        return [sentence[:1].upper() + sentence[1:]]


@dataclass(frozen=True, repr=False)
class Grade(Shown):
    """The grade of an answer; true where the answer is right today."""

    question: Question
    answer: str | float  # as it was understood: letters, a number, or "" where there was none
    verdict: str  # "right", "as the material" (and not true today), "wrong", "not measured"
    as_material: bool  # the exam's material answers so
    feedback: tuple[str, ...]  # sentences on the answer
    macro = "grade"

    def __bool__(self) -> bool:
        return self.verdict == RIGHT

    @property
    def headline(self) -> str:
        """The verdict with its mark, as a page shows it."""
        return f"{MARKS[self._shown_verdict]} {SENTENCES[self._shown_verdict]}"

    @property
    def _shown_verdict(self) -> str:
        """The verdict; RIGHT_TODAY for a right answer where the material has another one."""
        if self and self.question.differs and not self.as_material:
            return RIGHT_TODAY
        return self.verdict

    def __str__(self) -> str:
        lines = [SENTENCES[self._shown_verdict], *self.feedback]
        # After a wrong answer, the two answers would give the right one away.
        if self.verdict in DONE:
            lines += [f"{heading} {text}" for heading, text in self.question.two_answers]
        return "\n".join(lines)


def grade(question: Question, answer: object, *, measured: float | None = None) -> Grade:
    """Grade an answer.

    Parameters
    ----------
    question : Question
        Of any kind.
    answer : str or float
        A letter, several ("ac"), steps in order ("cab"), or a number, also as a text.
    measured : float, optional
        What the learner measured, for a question of the kind "measured". Without it, its verdict
        is "not measured".

    Raises
    ------
    AnswerError
        A ValueError, where the answer is empty or cannot be graded.

    Examples
    --------
    >>> from accel_helpers.course.questions import bank
    >>> grade(bank()["03/factor"], "69/43").verdict
    'right'
    """
    if question.has_choices:
        return _grade_letters(question, _letters(question, answer))
    number = _number(question, answer)
    if question.kind == "measured":
        return _grade_guess(question, number, measured)
    return _grade_number(question, number)


def _grade(
    question: Question,
    answer: str | float,
    feedback: Sequence[str],
    *,
    is_right: bool,
    as_material: bool,
) -> Grade:
    """Return the grade of an answer that is right today, or as the material's, or both, or neither.

    Today counts more: an answer that is both has the verdict RIGHT.
    """
    verdict = WRONG
    if is_right:
        verdict = RIGHT
    elif as_material:
        verdict = MATERIAL
    return Grade(question, answer, verdict, as_material, tuple(feedback))


# --- Letters


def _letters(question: Question, answer: object) -> str:
    """Return the letters of an answer to a question with choices: "C, a" -> "ac".

    They are sorted, except for the steps of an order. Raises an AnswerError for an answer that is
    empty, has a letter that no option has or one twice, or several where one is asked for.
    """
    last = question.options[-1].letter
    # An answer that is no text is refused below, like one with a letter that no option has.
    letters = "?"
    if isinstance(answer, str):
        letters = "".join(answer.lower().replace(",", " ").split())
    if not letters:
        raise AnswerError(f"no answer yet: choose from a to {last}.")
    if not all("a" <= letter <= last for letter in letters):
        raise AnswerError(f"the letters go from a to {last}; got {shown(answer)}.")
    if len(set(letters)) != len(letters):
        raise AnswerError(f"a letter stands there twice: {shown(answer)}.")
    if question.kind == "one" and len(letters) > 1:
        raise AnswerError(f"choose one: this question has one answer; got {shown(answer)}.")
    if question.kind == "several":
        return "".join(sorted(letters))
    return letters


def _grade_letters(question: Question, letters: str) -> Grade:
    """Return the grade of letters that `_letters` has checked."""
    is_right = letters == question.letters()
    as_material = letters == question.letters(material=True)
    if is_right or as_material or question.kind == "one":
        feedback = _feedback(question, letters)
    elif question.kind == "order":
        feedback = [_first_slip(question, letters)]
    else:
        feedback = [*_feedback(question, letters), *_still_missing(question, letters)]
    return _grade(question, letters, feedback, is_right=is_right, as_material=as_material)


def _feedback(question: Question, letters: str) -> list[str]:
    """Return the feedback of each option that was chosen; several begin with their letters."""
    by_letter = {option.letter: option.feedback for option in question.options}
    if question.kind == "one":
        return [by_letter[letters]]
    return [f"{letter}) {by_letter[letter]}" for letter in letters]


def _still_missing(question: Question, letters: str) -> list[str]:
    """Return a sentence on how many of the right options were chosen; [] where all of them were."""
    right_letters = question.letters()
    count = len(set(right_letters) & set(letters))
    if count == len(right_letters):
        return []
    return [f"You have {count} of the {len(right_letters)} that are right."]


def _first_slip(question: Question, letters: str) -> str:
    """Return a sentence on the first wrong step of an order that is not right.

    Where no step is wrong, some are missing at the end, and the sentence says how many.
    """
    right_letters = question.letters()
    for index, letter in enumerate(letters):
        if letter not in right_letters:
            (option,) = (option for option in question.options if option.letter == letter)
            return f"{letter}) does not belong there. {option.feedback}"
        # No letter stands there twice, and all before were right: so there is a right one left.
        if letter != right_letters[index]:
            return (
                f"{letter}) does not come as step {index + 1}: something else has to happen first."
            )
    return f"So far in order; {len(right_letters) - len(letters)} more to come."


# --- Numbers


def _number(question: Question, answer: object) -> float:
    """Return the number that an answer is: "1.5", "1,5", "3/2" or "1.5 s" -> 1.5.

    The unit may only be the question's. Raises an AnswerError for an empty answer, and for one
    that is no number smaller than `LARGEST`.
    """
    unit = f" ({question.unit})" if question.unit else ""
    text = str(answer).strip().removesuffix(question.unit).strip()
    if not text:
        raise AnswerError(f"no answer yet: a number{unit} is needed.")
    try:
        number = _parsed(text)
    except (ValueError, ZeroDivisionError):
        number = math.nan
    # Written with "not", since a comparison with NaN is never true.
    if not abs(number) < LARGEST:
        raise AnswerError(f"a number{unit} is needed, such as 1.5 or 3/2; got {shown(answer)}.")
    return number


def _parsed(text: str) -> float:
    """Return the number or the fraction that a text is: "1,5" -> 1.5, "3/2" -> 1.5.

    Raises ValueError for any other text, and ZeroDivisionError for a fraction over 0.
    """
    # In "1,5" and "-12,25" the comma is a decimal one. With three digits behind it, as in "1,500",
    # it could also part thousands, so it stays, and the text is refused.
    text = re.sub(r"^([+-]?\d+),(\d\d?)$", r"\1.\2", text)
    numerator, slash, denominator = text.partition("/")
    if not slash:
        return float(numerator)
    return float(numerator) / float(denominator)


def _grade_number(question: Question, number: float) -> Grade:
    """Return the grade of a number: that of the nearest option, if it is near enough.

    The options are the right answer and numbers that known mistakes lead to. Where none is near,
    the answer is wrong, and the feedback says in which direction.
    """

    # The tolerances of options may overlap. Of two at the same distance, the right one counts.
    def distance(option: Option) -> tuple[float, bool]:
        return (abs(number - option.value), not option.correct)

    options_by_distance = sorted(question.options, key=distance)
    for option in options_by_distance:
        limit = question.tolerance * abs(option.value)
        if abs(number - option.value) <= limit:
            return _grade(
                question,
                number,
                [option.feedback],
                is_right=option.correct,
                as_material=option.material,
            )
    (right_option,) = (option for option in question.options if option.correct)
    direction = "low" if number < right_option.value else "high"
    feedback = [f"That is too {direction}."]
    return _grade(question, number, feedback, is_right=False, as_material=False)


def _grade_guess(question: Question, guess: float, measured: float | None) -> Grade:
    """Return the grade of a guess at what was measured; OPEN where nothing was."""
    if not measured:
        feedback = f"Measure it in lesson {question.lesson}, then answer again. Your guess is kept."
        return Grade(question, guess, OPEN, False, (feedback,))
    actual = measured * question.scale
    # The options of a guess always stand in this order.
    close_option, low_option, high_option = question.options
    ratio = guess / actual
    # `within` is a factor: at 2, a guess may be half of what was measured, or twice as much.
    is_close = guess > 0 and 1 / question.within <= ratio <= question.within
    if is_close:
        option = close_option
    elif guess < actual:
        option = low_option
    else:
        option = high_option
    measured_text = f"You measured {actual:.3g} {question.unit}".rstrip()
    feedback = [f"{measured_text}.", option.feedback]
    return _grade(question, guess, feedback, is_right=is_close, as_material=is_close)
