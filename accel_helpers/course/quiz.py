"""Quizzes: shown as a form where there are widgets, as text where not, and answered by a call."""

from collections import Counter
from dataclasses import dataclass, replace

from accel_helpers._values.words import shown
from accel_helpers.course import grading, questions, record
from accel_helpers.course.grading import TODAY, WRONG, Grade
from accel_helpers.course.questions import Question
from accel_helpers.course.quiz_widget import Field, Shown, boxed, html
from accel_helpers.course.record import Entry


@dataclass(frozen=True, repr=False)
class Quiz(Shown):
    """Questions that wait for answers."""

    questions: tuple[Question, ...]
    macro = "quiz"

    def form(self):
        """Return the live form: all questions, each with a button that checks its answer."""
        if not self.questions:
            return None
        earlier_answers = answers()

        def check(field: Field) -> str:
            return answer(field.question.id, field.read())._repr_html_()

        boxes = []
        for place, question in enumerate(self.questions, 1):
            remark = html("earlier", earlier_answers.get(question))
            boxes.append(Field(question, place, remark, check).box)
        return boxed("accel-quiz", html("style"), *boxes)


def show_quiz(*names: str) -> Quiz:
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
    >>> show_quiz("E3").questions[0].exam
    ['E3']
    """
    selection = []
    for name in names:
        found = []
        for question in questions.bank().values():
            of_quiz = question.quiz and name == question.lesson
            if of_quiz or name in (question.id, *question.exam):
                found.append(question)
        if not found:
            raise ValueError(
                f"there are no questions of {shown(name)}. Name a lesson such as '03', an exam "
                "question such as 'E3' or a question such as '03/speed_up'."
            )
        selection += found
    return Quiz(tuple(dict.fromkeys(selection)))


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
    ValueError
        Where there is no such question, or the answer cannot be graded.

    Examples
    --------
    >>> answer("03/speed_up", "c").verdict
    'right today'
    """
    question = questions.bank().get(name)
    if question is None:
        raise ValueError(
            f"a question is named by its id, such as '03/speed_up'; got {shown(name)}."
        )
    grade = grading.grade(question, given)
    if grade.answer == "":
        raise ValueError(f"No answer yet. {question.how}")
    return replace(grade, note=record.keep(grade.entry))


def ask_again() -> Quiz:
    """Show the questions again whose last answer the material would count as wrong.

    Examples
    --------
    >>> graded = answer("03/speed_up", "a")
    >>> "03/speed_up" in {question.id for question in ask_again().questions}
    True
    """
    return Quiz(tuple(lost()))


def lost() -> dict[Question, Entry]:
    """Return the learner's latest answer to each question where it was not the material's."""
    latest = answers().items()
    return {question: entry for question, entry in latest if entry.outcome in (TODAY, WRONG)}


def overview() -> str:
    """Return how far the learner has come in each lesson, and in the last practice exam.

    Examples
    --------
    >>> overview().startswith("Right answers:")
    True
    """
    right = Counter()
    for question, entry in answers().items():
        if question.quiz and entry.outcome != WRONG:
            right[question.lesson] += 1
    lessons = []
    for lesson, count in sorted(right.items()):
        lessons.append(f"{count} of {len(show_quiz(lesson).questions)} in lesson {lesson}")
    exam = "No practice exam yet."
    # The newest comes last.
    for number, paper in record.newest("paper/").items():
        exam = (
            "Last practice exam (paper {number}): {material:.0f} of {questions:.0f} as the "
            "material answers, {today:.0f} as is true today."
        ).format(number=number, **paper.numbers)
    return f"Right answers: {', '.join(lessons) or 'nothing yet'}. {exam}"


def answers() -> dict[Question, Entry]:
    """Return the learner's latest answer to each question."""
    bank = questions.bank()
    # The record may be of an older course, with questions that this one does not have.
    newest = record.newest("answer/").items()
    return {bank[name]: entry for name, entry in newest if name in bank}
