"""Quizzes: shown as a form where there are widgets, as text where not, and answered by a call."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from accel_helpers._values.words import fragment, marked, shown
from accel_helpers.course import grading, progress, questions, quiz_widget
from accel_helpers.course.grading import DONE, AnswerError, Grade
from accel_helpers.course.progress import Progress
from accel_helpers.course.questions import Question
from accel_helpers.course.quiz_widget import Shown
from accel_helpers.measure import results

__all__ = ["again", "answer", "overview", "show"]


@dataclass(frozen=True, repr=False)
class Quiz(Shown):
    """Questions that wait for answers."""

    questions: tuple[Question, ...]
    none: str = "There is no question here."  # what is said where there is none
    macro, ending = "page", "Run this cell to answer."

    def __str__(self) -> str:
        if not self.questions:
            return self.none
        return "\n\n".join(q.text(n, call=True) for n, q in enumerate(self.questions, 1))

    def form(self, widgets):
        if not self.questions:
            return None
        answers = progress.current().answers
        total, say_total = quiz_widget.note(widgets, self._so_far(answers))

        def check(question: Question, given) -> str:
            try:
                said = answer(question.id, given)._repr_html_()
            except AnswerError as error:
                said = str(error)
                return f"<p>{marked(said[:1].upper() + said[1:])}</p>"
            say_total(self._so_far(progress.current().answers))
            return said

        fields = []
        for n, each in enumerate(self.questions, 1):
            earlier = fragment("course/templates/quiz/earlier", answers.get(each.id))
            fields.append(quiz_widget.field(widgets, each, n, earlier, check))
        return quiz_widget.sheet(widgets, fields, total)

    def _so_far(self, answers: Mapping[str, progress.Answer]) -> str:
        good = sum(_done(question.id, answers) for question in self.questions)
        return f"<p><strong>Right answers: {good} of {len(self.questions)}.</strong></p>"


def show(*names: str) -> Quiz:
    """Show questions by lesson ("03"), exam question ("E3") or id; put the call last in a cell.

    Examples
    --------
    >>> show("E3").questions[0].exam
    ('E3',)
    """
    return Quiz(tuple(dict.fromkeys(each for name in names for each in _named(name))))


def answer(name: str, given) -> Grade:
    """Answer a question by its id without the form: a letter, several letters, or a number.

    An `AnswerError`, which is a ValueError, says what is no answer.

    Examples
    --------
    >>> answer("03/speed_up", "c").verdict
    'right'
    """
    if name not in [*questions.bank()]:
        raise AnswerError(
            f"no question is called {shown(name)}. ah.course.show_quiz('03') shows some."
        )
    try:
        card = results.load(results.card_path())
    except ValueError:  # it is not there, or it is none
        card = None
    graded = grading.grade(questions.bank()[name], given, card=card)
    note = keep([graded])  # where it could not be kept
    return replace(graded, feedback=(*graded.feedback, note)) if note else graded


def again() -> Quiz:
    """What you got wrong the last time, to be asked again.

    Examples
    --------
    >>> graded = answer("03/speed_up", "a")
    >>> "03/speed_up" in {question.id for question in again().questions}
    True
    """
    bank, kept = questions.bank(), progress.current().answers
    wrong = tuple(bank[name] for name in kept if name in bank and not _done(name, kept))
    return Quiz(wrong, none="Nothing to repeat: no wrong or empty answer of yours is kept.")


@dataclass(frozen=True)
class Overview:
    """How far a learner has come."""

    rows: list[tuple[str, int, int, str]]  # lesson, right answers, of how many, all right since
    sat: str  # the last practice exam

    def sentence(self) -> str:
        """In a line, for `summary.write`."""
        lessons = ", ".join(f"lesson {n} {good} of {of}" for n, good, of, _ in self.rows if good)
        return f"Right answers: {lessons or 'nothing yet'}. {self.sat}"

    __str__ = sentence


def overview() -> Overview:
    """Say how far the learner has come.

    Examples
    --------
    >>> overview().rows[0][0]
    '00'
    """
    kept, rows, sat = progress.current(), [], "No practice exam yet."
    for lesson in dict.fromkeys(question.lesson for question in questions.bank().values()):
        done = [_done(question.id, kept.answers) for question in _named(lesson)]
        rows.append((lesson, sum(done), len(done), kept.lessons.get(lesson, "")[:10]))
    if kept.exams:
        one = kept.exams[-1]
        sat = f"Last practice exam (paper {one.paper}): {one.material} of {one.questions} as the "
        sat += f"material answers, {one.today} as is true today."
    return Overview(rows, sat)


def keep(grades: Sequence[Grade], *exams: progress.Sitting) -> str:
    """Keep answers, and the lessons that they complete; gives a sentence where that failed."""
    when, known, new = progress.now(), progress.current().answers, {}
    for grade in grades:
        name = grade.question.id
        tries = known[name].tries + 1 if name in known else 1
        new[name] = progress.Answer(grade.answer, grade.verdict, tries, when)
    known = {**known, **new}
    asked = sorted({grade.question.lesson for grade in grades})
    done = [name for name in asked if all(_done(each.id, known) for each in _named(name))]
    return progress.keep(Progress(new, lessons=dict.fromkeys(done, when), exams=exams))


def _done(name: str, answers) -> bool:
    return name in answers and answers[name].verdict in DONE


def _named(name: str) -> Sequence[Question]:
    bank = questions.bank()
    of_lesson = [each for each in bank.values() if each.quiz and each.lesson == name]
    if found := of_lesson or [each for each in bank.values() if name in (each.id, *each.exam)]:
        return found
    lessons = ", ".join(dict.fromkeys(question.lesson for question in bank.values()))
    raise ValueError(
        f"there are no questions of {shown(name)}. Name a lesson ({lessons}), an exam question "
        f"(E1 and so on) or a question such as {next(iter(bank))!r}."
    )
