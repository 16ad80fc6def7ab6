"""The exam's questions with both answers, ``data/exam_answers.toml``."""

import functools
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import SimpleNamespace

from accel_helpers._values import records
from accel_helpers.course import questions, quiz
from accel_helpers.course.questions import Question
from accel_helpers.course.quiz_widget import Shown
from accel_helpers.course.record import Entry


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
    note: str = ""  # stands above them
    missed: Mapping[Question, Entry] = field(default_factory=dict)  # stand there, too
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
    """Show what you missed and what was right, and both answers to the exam questions behind it.

    Missed is what the material would count as wrong, and what was left empty. Where there is
    nothing, a note says so.

    Examples
    --------
    >>> graded = quiz.answer("03/speed_up", "a")
    >>> "E3" in [answer.number for answer in missed().answers]
    True
    """
    lost = quiz.lost()
    if not lost:
        return Review((), "No wrong or empty answers on your record. All questions stand below.")
    # A question of the bank may cover several of the exam's, and those of a quiz count, too.
    numbers = {number for question in lost for number in question.exam}
    behind = tuple(answer for answer in answers() if answer.number in numbers)
    return Review(behind, "The material would count as wrong:", lost)
