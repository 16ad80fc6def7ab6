"""Quizzes: shown as a form where there are widgets, as text where not, and answered by a call."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import ModuleType

from accel_helpers._values.words import fragment, marked, shown
from accel_helpers.course import grading, questions, quiz_widget, record
from accel_helpers.course.grading import DONE, AnswerError, Grade
from accel_helpers.course.questions import Question
from accel_helpers.course.quiz_widget import Shown
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
        if not self.questions:
            return self.none
        texts = []
        for number, question in enumerate(self.questions, 1):
            texts.append(question.text(number, call=True))
        return "\n\n".join(texts)

    def form(self, widgets: ModuleType):
        """Return the live form, a widget: all questions, each with a button that checks its answer.

        `widgets` is the module ipywidgets. None where there is no question.
        """
        if not self.questions:
            return None
        earlier_answers = answers()
        total, tell_total = quiz_widget.note(widgets, self._count_right(earlier_answers))

        # Called by the button of a question; what it returns is shown below the answer.
        def check(question: Question, entry: str) -> str:
            try:
                grade = answer(question.id, entry)
            except AnswerError as error:
                message = str(error)
                sentence = message[:1].upper() + message[1:]
                return f"<p>{marked(sentence)}</p>"
            tell_total(self._count_right(answers()))
            return grade._repr_html_()

        fields = []
        for number, question in enumerate(self.questions, 1):
            remark = fragment("course/templates/quiz/earlier", earlier_answers.get(question.id))
            fields.append(quiz_widget.field(widgets, question, number, remark, check))
        return quiz_widget.sheet(widgets, fields, total)

    def _count_right(self, given: Mapping[str, Entry]) -> str:
        """Return, as HTML, how many of the questions are answered rightly.

        `given` are the learner's answers, by the question's id.
        """
        count = sum(_is_done(question.id, given) for question in self.questions)
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
    selection = []
    for name in names:
        for question in _named(name):
            if question not in selection:
                selection.append(question)
    return Quiz(tuple(selection))


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
    # A list, since a name may be anything, also what a dictionary could not look up.
    if name not in [*questions.bank()]:
        raise AnswerError(
            f"no question is called {shown(name)}. ah.course.show_quiz('03') shows some."
        )
    question = questions.bank()[name]
    # Most questions name no place, and then there is no entry.
    entry = record.newest(question.measured).get("")
    measured = entry.numbers.get(question.number) if entry else None
    grade = grading.grade(question, given, measured=measured)
    trouble = keep([grade])
    if trouble:
        return replace(grade, feedback=(*grade.feedback, trouble))
    return grade


def again() -> Quiz:
    """Show the questions again whose last answer was wrong, empty, or not measured yet.

    Examples
    --------
    >>> graded = answer("03/speed_up", "a")
    >>> "03/speed_up" in {question.id for question in again().questions}
    True
    """
    bank = questions.bank()
    given = answers()
    wrong_questions = []
    for name in given:
        # The record may be of an older course, with questions that this one does not have.
        if name in bank and not _is_done(name, given):
            wrong_questions.append(bank[name])
    nothing_text = "Nothing to repeat: no wrong or empty answer of yours is kept."
    return Quiz(tuple(wrong_questions), none=nothing_text)


@dataclass(frozen=True)
class Overview:
    """How far a learner has come."""

    # For each lesson: its number, the right answers and the questions: ("03", 2, 9).
    rows: list[tuple[str, int, int]]
    exam: str  # the last practice exam, in a sentence

    def sentence(self) -> str:
        """Return the overview in a line: "Right answers: lesson 03 2 of 9. ..." and the exam."""
        lessons = []
        for lesson, right_count, count in self.rows:
            if right_count:
                lessons.append(f"lesson {lesson} {right_count} of {count}")
        lesson_list = "nothing yet"
        if lessons:
            lesson_list = ", ".join(lessons)
        return f"Right answers: {lesson_list}. {self.exam}"

    __str__ = sentence


def overview() -> Overview:
    """Return how far the learner has come in each lesson, and in the last practice exam.

    Examples
    --------
    >>> overview().rows[0][0]
    '00'
    """
    given = answers()
    rows = []
    for lesson in _lessons():
        right_answers = [_is_done(question.id, given) for question in _named(lesson)]
        rows.append((lesson, sum(right_answers), len(right_answers)))
    papers = record.newest("paper/")
    if not papers:
        return Overview(rows, "No practice exam yet.")
    number, last_paper = [*papers.items()][-1]
    marks = last_paper.numbers
    exam = (
        f"Last practice exam (paper {number}): "
        f"{marks['material']:.0f} of {marks['questions']:.0f} as the material answers, "
        f"{marks['today']:.0f} as is true today."
    )
    return Overview(rows, exam)


def answers() -> dict[str, Entry]:
    """Return the learner's latest answer to each question, by the question's id."""
    return record.newest("answer/")


def keep(grades: Sequence[Grade], *papers: Entry) -> str:
    """Keep graded answers, and papers that were handed in, on the learner's record.

    Returns "" or, where they could not be written, a sentence that says why.
    """
    earlier_answers = answers()
    entries = []
    for grade in grades:
        name = grade.question.id
        tries = 1.0
        if name in earlier_answers:
            tries += earlier_answers[name].numbers["tries"]
        entry = record.entry(
            f"answer/{name}", grade.verdict, {"tries": tries}, given=str(grade.answer)
        )
        entries.append(entry)
    return record.keep(*entries, *papers)


def _is_done(name: str, given: Mapping[str, Entry]) -> bool:
    """Return whether the answer to the question of this id is right, or the material's.

    False where there is none. `given` are the learner's answers, by the question's id.
    """
    if name not in given:
        return False
    return given[name].outcome in DONE


def _lessons() -> list[str]:
    """Return the lessons that have questions, in their order."""
    lessons = [question.lesson for question in questions.bank().values()]
    # A dictionary has each of them once, and keeps their order.
    return [*dict.fromkeys(lessons)]


def _named(name: str) -> Sequence[Question]:
    """Return the questions of a lesson's quiz, of an exam question, or the one with this id.

    `name` is "03", "E3" or "03/speed_up". Raises a ValueError where there is no such question.
    """
    bank = questions.bank().values()
    of_lesson = [question for question in bank if question.quiz and question.lesson == name]
    if of_lesson:
        return of_lesson
    by_name = [question for question in bank if name in (question.id, *question.exam)]
    if by_name:
        return by_name
    example = next(iter(bank))
    lessons = ", ".join(_lessons())
    raise ValueError(
        f"there are no questions of {shown(name)}. Name a lesson ({lessons}), "
        f"an exam question (E1 and so on) or a question such as {example.id!r}."
    )
