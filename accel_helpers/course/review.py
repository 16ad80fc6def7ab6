"""The exam's questions with both answers, ``data/exam_answers.toml``."""

import datetime
import functools
from dataclasses import dataclass

from accel_helpers._values.words import shown
from accel_helpers.course import quiz, record
from accel_helpers.course.questions import DATA, FURTHER, HEADINGS, Label, stored
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
    label: Label
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
        return self.number in FURTHER

    @property
    def for_the_exam(self) -> str:
        """The heading of the material's answer: whose it is, and how we know it."""
        whose = "another" if self.further else "the"
        return HEADINGS[self.label].format(whose)

    @property
    def place(self) -> str:
        """Where the course measures it: the lesson and the heading of its section."""
        return f"Lesson {self.page[:2]}, “{self.heading}”"


@functools.cache
def answers() -> tuple[Answer, ...]:
    """Return the exam questions that the course answers, in their order."""
    return stored(DATA / "exam_answers.toml", "answer", Answer)


@dataclass(frozen=True, repr=False)
class Review(Shown):
    """Questions of the exam with both answers, which a notebook folds away below each."""

    answers: tuple[Answer, ...]
    is_open: bool = False  # the answers are not folded away
    note: str = ""  # stands above them
    macro = "review"

    def __str__(self) -> str:
        lines = []
        if self.note:
            lines.append(self.note)
        for answer in self.answers:
            number = answer.number
            if answer.further:
                number += " (a further question, not of this exam)"
            lines.append(f"{number}. {answer.asks}")
            lines.append(f"  {answer.for_the_exam}:")
            lines += [f"    {text}" for text in answer.material]
            lines.append(f"  True today (checked {answer.as_of}):")
            lines += [f"    {text}" for text in answer.today]
            lines.append(f"  Measured: {answer.place}.")
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
    if not numbers:
        of_this_exam = [answer for answer in answers() if not answer.further]
        return Review(tuple(of_this_exam))
    by_number = {answer.number: answer for answer in answers()}
    # A list, since a number may be anything, also what a dictionary could not look up.
    names = [*by_number]
    for number in numbers:
        if number not in names:
            listed = ", ".join(names)
            raise ValueError(f"the questions are {listed}; got {shown([number])}.")
    selection = [by_number[number] for number in numbers]
    return Review(tuple(selection))


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
    missed_answers = tuple(answer for answer in answers() if answer.number in numbers)
    if missed_answers:
        note = "These need another look:"
    elif record.newest("paper/"):
        note = "Nothing was wrong or left empty."
    else:
        note = "You have not handed in a paper yet. All ten questions stand below, folded."
    return Review(missed_answers, is_open=True, note=note)
