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
    none: str = "There is no question here."  # the text where there is none
    macro = "page"
    ending = "Run this cell to answer."

    def __str__(self) -> str:
        if not self.questions:
            return self.none
        texts = []
        for number, question in enumerate(self.questions, 1):
            texts.append(question.text(number, call=True))
        return "\n\n".join(texts)

    def form(self, widgets):
        """Return the live form: all questions, each with a button that checks its answer."""
        if not self.questions:
            return None
        earlier = progress.current().answers
        total, tell_total = quiz_widget.note(widgets, self._count_right(earlier))

        def check(question: Question, entry: str) -> str:
            try:
                grade = answer(question.id, entry)
            except AnswerError as error:
                message = str(error)
                sentence = message[:1].upper() + message[1:]
                return f"<p>{marked(sentence)}</p>"
            answers = progress.current().answers
            tell_total(self._count_right(answers))
            return grade._repr_html_()

        fields = []
        for number, question in enumerate(self.questions, 1):
            remark = fragment("course/templates/quiz/earlier", earlier.get(question.id))
            fields.append(quiz_widget.field(widgets, question, number, remark, check))
        return quiz_widget.sheet(widgets, fields, total)

    def _count_right(self, answers: Mapping[str, progress.Answer]) -> str:
        """Return how many of the questions are answered rightly, as HTML."""
        count = sum(_is_done(question.id, answers) for question in self.questions)
        return f"<p><strong>Right answers: {count} of {len(self.questions)}.</strong></p>"


def show(*names: str) -> Quiz:
    """Show questions by lesson ("03"), exam question ("E3") or id; put the call last in a cell.

    Examples
    --------
    >>> show("E3").questions[0].exam
    ('E3',)
    """
    chosen = []
    for name in names:
        for question in _named(name):
            if question not in chosen:
                chosen.append(question)
    return Quiz(tuple(chosen))


def answer(name: str, given) -> Grade:
    """Answer a question by its id without the form: a letter, several letters, or a number.

    An answer that cannot be graded raises an `AnswerError`, which is a ValueError.

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
    try:
        card = results.load(results.card_path())
    except ValueError:
        # There is no card, or the file is none: nothing is measured then.
        card = None
    question = questions.bank()[name]
    grade = grading.grade(question, given, card=card)
    trouble = keep([grade])
    if trouble:
        return replace(grade, feedback=(*grade.feedback, trouble))
    return grade


def again() -> Quiz:
    """Ask again what you got wrong the last time.

    Examples
    --------
    >>> graded = answer("03/speed_up", "a")
    >>> "03/speed_up" in {question.id for question in again().questions}
    True
    """
    bank = questions.bank()
    answers = progress.current().answers
    wrong = []
    for name in answers:
        # What an older course asked may be gone.
        if name in bank and not _is_done(name, answers):
            wrong.append(bank[name])
    nothing = "Nothing to repeat: no wrong or empty answer of yours is kept."
    return Quiz(tuple(wrong), none=nothing)


@dataclass(frozen=True)
class Overview:
    """How far a learner has come."""

    rows: list[tuple[str, int, int, str]]  # lesson, right answers, of how many, all right since
    exam: str  # the last practice exam, in a sentence

    def sentence(self) -> str:
        """Return the overview in a line, for `summary.write`."""
        lessons = []
        for lesson, right, count, _day in self.rows:
            if right:
                lessons.append(f"lesson {lesson} {right} of {count}")
        listed = "nothing yet"
        if lessons:
            listed = ", ".join(lessons)
        return f"Right answers: {listed}. {self.exam}"

    __str__ = sentence


def overview() -> Overview:
    """Return how far the learner has come.

    Examples
    --------
    >>> overview().rows[0][0]
    '00'
    """
    kept = progress.current()
    rows = []
    for lesson in _lessons():
        done = [_is_done(question.id, kept.answers) for question in _named(lesson)]
        day = kept.lessons.get(lesson, "")[:10]
        rows.append((lesson, sum(done), len(done), day))
    if not kept.exams:
        return Overview(rows, "No practice exam yet.")
    last = kept.exams[-1]
    exam = (
        f"Last practice exam (paper {last.paper}): "
        f"{last.material} of {last.questions} as the material answers, "
        f"{last.today} as is true today."
    )
    return Overview(rows, exam)


def keep(grades: Sequence[Grade], *exams: progress.Sitting) -> str:
    """Keep answers, and the lessons that they complete; return a sentence where that failed."""
    now = progress.now()
    before = progress.current().answers
    answers = {}
    for grade in grades:
        name = grade.question.id
        tries = 1
        if name in before:
            tries = before[name].tries + 1
        answers[name] = progress.Answer(grade.answer, grade.verdict, tries, now)
    # A lesson is finished once the last of its questions is, whenever the others were answered.
    everything = {**before, **answers}
    finished = {}
    for lesson in sorted({grade.question.lesson for grade in grades}):
        if all(_is_done(question.id, everything) for question in _named(lesson)):
            finished[lesson] = now
    return progress.keep(Progress(answers, lessons=finished, exams=exams))


def _is_done(name: str, answers: Mapping[str, progress.Answer]) -> bool:
    """Return whether the last answer to a question was right, or the material's."""
    if name not in answers:
        return False
    return answers[name].verdict in DONE


def _lessons() -> list[str]:
    """Return the lessons that have questions, in their order."""
    lessons = [question.lesson for question in questions.bank().values()]
    # Each once.
    return [*dict.fromkeys(lessons)]


def _named(name: str) -> Sequence[Question]:
    """Return the questions of a lesson's quiz, of an exam question, or the one of this id."""
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
