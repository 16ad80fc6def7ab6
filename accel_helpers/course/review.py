"""The exam's questions with both answers, ``data/exam_answers.toml``."""

import datetime
import functools
from dataclasses import dataclass

from accel_helpers._values.words import shown
from accel_helpers.course import questions, quiz, record
from accel_helpers.course.quiz_widget import Shown

__all__ = ["both", "missed"]


@dataclass(frozen=True)
class Answer:
    """An exam question with its two answers.

    The first lines of the file ``data/exam_answers.toml`` explain the fields.
    """

    number: str
    asks: str
    material: tuple[str, ...]
    label: str
    material_source: tuple[str, ...]
    today: tuple[str, ...]
    today_source: tuple[str, ...]
    as_of: datetime.date
    differs: bool
    page: str
    heading: str
    says: str
    places: tuple[str, ...] = ()

    @property
    def further(self) -> bool:
        """Whether this is a further question: one that this exam does not ask."""
        return self.number not in questions.THIS_EXAM

    @property
    def for_the_exam(self) -> str:
        """The heading of the material's answer: whose it is, and how we know it."""
        return questions.heading(self.label, self.further)

    @property
    def place(self) -> str:
        """Where the course measures it: the lesson and the heading of its section."""
        return f"Lesson {self.page[:2]}, “{self.heading}”"


@functools.cache
def answers() -> tuple[Answer, ...]:
    """Return the exam questions that the course answers, in their order."""
    return questions.stored(questions.DATA / "exam_answers.toml", "answer", Answer)


@dataclass(frozen=True, repr=False)
class Review(Shown):
    """Questions of the exam with both answers, which a notebook folds away below each."""

    answers: tuple[Answer, ...]
    is_open: bool = False  # the answers are not folded away
    note: str = ""  # stands above them
    macro = "review"

    def __str__(self) -> str:
        texts = [_text(answer) for answer in self.answers]
        if self.note:
            texts.insert(0, self.note)
        return "\n".join(texts)


def _text(answer: Answer) -> str:
    """Return a question of the exam with both answers as plain text."""
    which = " (a further question, not of this exam)" if answer.further else ""
    lines = [
        f"{answer.number}{which}. {answer.asks}",
        f"  {answer.for_the_exam}:",
        *[f"    {text}" for text in answer.material],
        f"  True today (checked {answer.as_of}):",
        *[f"    {text}" for text in answer.today],
        f"  Measured: {answer.place}.",
    ]
    return "\n".join(lines)


def both(*numbers: str) -> Review:
    """Show exam questions with the material's answer and today's; put the call last in a cell.

    Parameters
    ----------
    *numbers : str
        Such as "E3". Without one, this exam's ten are shown.

    Raises
    ------
    ValueError
        Where the course has no such question; the message lists them.

    Examples
    --------
    >>> both("E3").answers[0].differs
    True
    >>> len(both().answers)
    10
    """
    chosen = numbers or questions.THIS_EXAM
    known = {answer.number: answer for answer in answers()}
    for number in chosen:
        if number not in [*known]:
            raise ValueError(f"the questions are {', '.join(known)}; got {shown([number])}.")
    return Review(tuple(known[number] for number in chosen))


def missed() -> Review:
    """Show both answers, not folded, to the exam questions that you got wrong or left empty.

    Where there are none, a note says why, and no question is shown.

    Examples
    --------
    >>> graded = quiz.answer("03/speed_up", "a")
    >>> "E3" in [answer.number for answer in missed().answers]
    True
    """
    # A question of the bank may cover several of the exam's, and those of a quiz count, too.
    numbers = set()
    for question in quiz.again().questions:
        numbers.update(question.exam)
    note = "These need another look:"
    if not numbers:
        note = "You have not handed in a paper yet. All ten questions stand below, folded."
    if not numbers and record.newest("paper/"):
        note = "Nothing was wrong or left empty."
    missed_answers = tuple(answer for answer in answers() if answer.number in numbers)
    return Review(missed_answers, is_open=True, note=note)
