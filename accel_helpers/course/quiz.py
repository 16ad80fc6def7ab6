"""Quizzes: shown as a form where there are widgets, as text where not, and answered by a call."""

import functools
from collections.abc import Sequence
from dataclasses import dataclass, replace

from accel_helpers._values.words import shown
from accel_helpers.course import grading, questions, record
from accel_helpers.course.grading import DONE, AnswerError, Grade
from accel_helpers.course.questions import Question
from accel_helpers.course.quiz_widget import Field, Shown, button, html, say, sheet, status
from accel_helpers.course.record import Entry

__all__ = ["again", "answer", "overview", "show"]


@dataclass(frozen=True, repr=False)
class Quiz(Shown):
    """Questions that wait for answers."""

    questions: tuple[Question, ...]
    none: str = "There is no question here."  # shown where `questions` is empty
    macro = "page"
    ending = "Run this cell to answer."

    def __str__(self) -> str:
        texts = [
            question.text(place, call=True) for place, question in enumerate(self.questions, 1)
        ]
        return "\n\n".join(texts) or self.none

    def form(self):
        """Return the live form: all questions, each with a button that checks its answer."""
        if not self.questions:
            return None
        earlier_answers = answers()
        total = status(self._total())

        def check(field: Field) -> str:
            grade = answer(field.question.id, field.read())
            say(total, self._total())
            return grade._repr_html_()

        boxes = []
        for place, question in enumerate(self.questions, 1):
            field = Field(question, place, html("earlier", earlier_answers.get(question)))
            act = functools.partial(check, field)
            boxes.append(field.box(button(f"Check answer {place}", act, field.status)))
        return sheet(*boxes, total)

    def count_right(self) -> int:
        """Return how many of the questions are answered rightly, or as the material answers."""
        given = answers()
        asked = [given[question] for question in self.questions if question in given]
        return sum(entry.outcome in DONE for entry in asked)

    def _total(self) -> str:
        """Return that count as HTML."""
        count = self.count_right()
        return f"<p><strong>Right answers: {count} of {len(self.questions)}.</strong></p>"


def show(*names: str) -> Quiz:
    """Show questions by their names; put the call last in a cell, and the form appears.

    Parameters
    ----------
    *names : str
        Lessons ("03"), exam questions ("E3") or ids of questions ("03/speed_up"). A question that
        belongs to several of them is shown once.

    Raises
    ------
    ValueError
        Where there is no question of a name.

    Examples
    --------
    >>> show("E3").questions[0].exam
    ('E3',)
    """
    selection = {}
    for name in names:
        found = {}
        for question in questions.bank().values():
            of_quiz = question.quiz and name == question.lesson
            if of_quiz or name in (question.id, *question.exam):
                found[question.id] = question
        if not found:
            raise ValueError(
                f"there are no questions of {shown(name)}. Name a lesson such as '03', an exam "
                "question such as 'E3' or a question such as '03/speed_up'."
            )
        selection |= found
    return Quiz(tuple(selection.values()))


def answer(name: str, given: str | float) -> Grade:
    """Answer a question without the form, and keep the answer.

    Parameters
    ----------
    name : str
        The question's id, such as "03/speed_up".
    given : str or float
        A letter, several letters, or a number, as `grading.grade` takes it.

    Raises
    ------
    AnswerError
        A ValueError, where there is no such question, or the answer cannot be graded.

    Examples
    --------
    >>> answer("03/speed_up", "c").verdict
    'right'
    """
    question = questions.bank().get(name)
    if question is None:
        raise AnswerError(
            f"No question is called {shown(name)}. ah.course.show_quiz('03') shows some."
        )
    grade = grading.grade(question, given)
    if grade.answer == "":
        raise AnswerError(f"No answer yet. {question.how}")
    note = keep([grade])
    if note:
        return replace(grade, feedback=(*grade.feedback, note))
    return grade


def again() -> Quiz:
    """Show the questions again whose last answer was wrong or empty.

    Examples
    --------
    >>> graded = answer("03/speed_up", "a")
    >>> "03/speed_up" in {question.id for question in again().questions}
    True
    """
    wrong = [question for question, entry in answers().items() if entry.outcome not in DONE]
    return Quiz(tuple(wrong), none="Nothing to repeat: no wrong or empty answer of yours is kept.")


def overview() -> str:
    """Return how far the learner has come in each lesson, and in the last practice exam.

    Examples
    --------
    >>> overview().startswith("Right answers:")
    True
    """
    lessons = []
    for lesson in sorted({question.lesson for question in questions.bank().values()}):
        shown_quiz = show(lesson)
        count = shown_quiz.count_right()
        if count:
            lessons.append(f"lesson {lesson} {count} of {len(shown_quiz.questions)}")
    lesson_list = ", ".join(lessons) or "nothing yet"
    exam = "No practice exam yet."
    papers = record.newest("paper/")
    if papers:
        number, last_paper = papers.popitem()
        exam = (
            "Last practice exam (paper {number}): {material:.0f} of {questions:.0f} as the "
            "material answers, {today:.0f} as is true today."
        ).format(number=number, **last_paper.numbers)
    return f"Right answers: {lesson_list}. {exam}"


def answers() -> dict[Question, Entry]:
    """Return the learner's latest answer to each question."""
    bank = questions.bank()
    # The record may be of an older course, with questions that this one does not have.
    entries = record.newest("answer/")
    return {bank[name]: entry for name, entry in entries.items() if name in bank}


def keep(grades: Sequence[Grade], *papers: Entry) -> str:
    """Keep graded answers, and papers that were handed in, on the learner's record.

    Returns "" or, where they could not be written, a sentence that says why.
    """
    entries = []
    for grade in grades:
        given = str(grade.answer)
        entries.append(record.entry(f"answer/{grade.question.id}", grade.verdict, given=given))
    return record.keep(*entries, *papers)
