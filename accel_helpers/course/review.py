"""The exam's questions with both answers, ``data/exam_answers.toml``."""

import functools
from dataclasses import dataclass
from types import SimpleNamespace

from accel_helpers._values import records
from accel_helpers.course import questions, quiz
from accel_helpers.course.quiz_widget import Shown


@functools.cache
def answers() -> tuple[SimpleNamespace, ...]:
    """Return the exam questions that the course answers, in their order.

    The first lines of the file explain their fields; `further` is whether this exam does not ask
    it, and `for_the_exam` the heading of the material's answer.
    """
    found = []
    tables = records.load(questions.DATA / "exam_answers.toml")
    for row in tables["answer"]:
        further = row["number"] not in questions.THIS_EXAM
        heading = questions.heading(row["label"], further)
        row |= {"further": further, "for_the_exam": heading}
        found.append(SimpleNamespace(**{"places": [], **row}))
    return tuple(found)


@dataclass(frozen=True, repr=False)
class Review(Shown):
    """Questions of the exam with both answers, which a notebook folds away below each."""

    answers: tuple[SimpleNamespace, ...]
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
