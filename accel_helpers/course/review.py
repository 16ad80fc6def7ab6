"""The exam's questions with both answers, ``data/exam_answers.toml``."""

import datetime
import functools
from dataclasses import dataclass

from accel_helpers.course import questions, quiz
from accel_helpers.course.quiz_widget import Shown


@dataclass(frozen=True)
class ExamAnswer:
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
        """The heading of the material's answer."""
        return questions.heading(self)


@functools.cache
def answers() -> tuple[ExamAnswer, ...]:
    """Return the exam questions that the course answers, in their order."""
    return questions.stored(questions.DATA / "exam_answers.toml", "answer", ExamAnswer)


@dataclass(frozen=True, repr=False)
class Review(Shown):
    """Questions of the exam with both answers, which a notebook folds away below each."""

    answers: tuple[ExamAnswer, ...]
    note: str = ""  # stands above them, and they are not folded away
    macro = "review"


def both_answers(*numbers: str) -> Review:
    """Show exam questions with the material's answer and today's; put the call last in a cell.

    Parameters
    ----------
    *numbers : str
        Such as "E3". Without one, this exam's ten are shown.

    Examples
    --------
    >>> both_answers("E3").answers[0].differs
    True
    >>> len(both_answers().answers)
    10
    """
    known = {answer.number: answer for answer in answers()}
    return Review(tuple(known[number] for number in numbers or questions.THIS_EXAM))


def missed() -> Review:
    """Show both answers, not folded, to the exam questions that you got wrong or left empty.

    Where there are none, a note says so.

    Examples
    --------
    >>> graded = quiz.answer("03/speed_up", "a")
    >>> "E3" in [answer.number for answer in missed().answers]
    True
    """
    # A question of the bank may cover several of the exam's, and those of a quiz count, too.
    numbers = {number for question in quiz.ask_again().questions for number in question.exam}
    missed_answers = tuple(answer for answer in answers() if answer.number in numbers)
    if missed_answers:
        return Review(missed_answers, "These need another look:")
    return Review((), "No wrong or empty answer of yours is kept. All questions stand below.")
