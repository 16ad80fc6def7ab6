"""Grade an answer to a question."""

import re
from dataclasses import dataclass

from accel_helpers._values.words import shown
from accel_helpers.course import record
from accel_helpers.course.questions import Question
from accel_helpers.course.quiz_widget import Shown
from accel_helpers.course.record import Entry

# The verdicts on an answer. After the last two, which the material would count as wrong, a question
# is asked again.
RIGHT, MATERIAL, TODAY, WRONG = "right", "as the material", "right today", "wrong"


@dataclass(frozen=True, repr=False)
class Grade(Shown):
    """The grade of an answer; true where the answer is right today."""

    question: Question
    answer: str | float  # as it was understood: letters, a number, or "" where there was none
    letters: str  # of the options that it stands for; "" where it stands for none
    feedback: tuple[str, ...]  # sentences on the answer
    note: str = ""  # why the answer could not be kept, if it was to be
    macro = "grade"

    def __bool__(self) -> bool:
        return self.letters == self.question.right

    @property
    def as_material(self) -> bool:
        """Whether the exam's material answers so."""
        return self.letters == self.question.by_material

    @property
    def verdict(self) -> str:
        """One of RIGHT, MATERIAL, TODAY and WRONG."""
        if self.as_material:
            return RIGHT if self else MATERIAL
        return TODAY if self else WRONG

    @property
    def entry(self) -> Entry:
        """What is kept of it on the learner's record."""
        place = f"answer/{self.question.id}"
        return record.entry(place, self.verdict, given=str(self.answer))


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
    ValueError
        Where the answer cannot be graded.

    Examples
    --------
    >>> from accel_helpers.course.questions import bank
    >>> grade(bank()["03/factor"], "1.6").verdict
    'right'
    """
    text = str(answer).strip()
    if not text:
        return Grade(question, "", "", ())
    if question.has_choices:
        return _chosen(question, text)
    return _typed(question, text)


def _chosen(question: Question, text: str) -> Grade:
    """Return the grade of letters: "C, a" is "ac", and the steps of an order stay in their order.

    Raises a ValueError for what no option has, and for several letters where one is asked for.
    """
    options, right = question.options, question.right
    letters = re.sub(r"[\s,]", "", text.lower())
    if question.kind != "order":
        letters = "".join(sorted({*letters}))
    many = "" if question.kind == "one" else "+"
    last = max(options)
    if not re.fullmatch(f"[a-{last}]{many}", letters):
        raise ValueError(f"{question.how} The letters go from a to {last}; got {shown(text)}.")
    feedback = [f"{letter}) {options[letter].feedback}" for letter in letters]
    is_wrong = letters not in (right, question.by_material)
    if is_wrong and question.kind == "order":
        feedback = [_first_slip(question, letters)]
    if is_wrong and question.kind == "several":
        hits = len({*letters} & {*right})
        others = len(letters) - hits
        said = f"You have {hits} of the {len(right)} that are right, and {others} of the others."
        feedback.append(said)
    return Grade(question, letters, letters, tuple(feedback))


def _first_slip(question: Question, letters: str) -> str:
    """Return a sentence on the first wrong step of an order that is not right.

    Where no step is wrong, some are missing at the end, and the sentence says how many.
    """
    right = question.right
    for step, letter in enumerate(letters, 1):
        if letter not in right:
            return f"{letter}) does not belong there. {question.options[letter].feedback}"
        if not right.startswith(letters[:step]):
            clue = question.options[letter].feedback
            return f"{letter}) comes later. {clue}"
    return f"So far in order; {len(right) - len(letters)} more to come."


def _typed(question: Question, text: str) -> Grade:
    """Return the grade of a number, "1.5", "1,5" or "1.5 s": that of the nearest option.

    The options are the right answer and numbers that known mistakes lead to. Where none is near
    enough, the feedback says in which direction. The unit may only be the question's. Raises a
    ValueError for what is no number.
    """
    options = question.options
    number_text = text.removesuffix(question.unit).strip()
    # In "1,5" and "-12,25" the comma is a decimal one. With three digits behind it, as in "1,500",
    # it could also part thousands, so it stays, and the text is refused.
    number_text = re.sub(r"^([+-]?\d+),(\d\d?)$", r"\1.\2", number_text)
    try:
        number = float(number_text)
    except ValueError:
        raise ValueError(f"{question.how} Such as 1.5; got {shown(text)}.") from None
    letter = min(options, key=lambda letter: abs(number - options[letter].value))
    nearest = options[letter]
    if abs(number - nearest.value) <= question.tolerance * abs(nearest.value):
        return Grade(question, number, letter, (nearest.feedback,))
    direction = "low" if number < options[question.right].value else "high"
    return Grade(question, number, "", (f"That is too {direction}. {question.hint}".rstrip(),))
