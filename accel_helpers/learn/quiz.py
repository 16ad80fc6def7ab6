"""Quizzes: shown as a form where there are widgets, as text where not, and answered by a call.

The questions are data (`questions`), grading is pure (`grading`), the widgets are thin
(`quiz_widget`). What is answered is kept in a small file (`progress`).
"""

from __future__ import annotations

import html
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from accel_helpers.learn import grading, progress, questions, quiz_form, quiz_widget
from accel_helpers.learn.grading import AnswerError, Grade
from accel_helpers.learn.progress import Progress
from accel_helpers.learn.questions import Question
from accel_helpers.measure import results

DONE = (grading.RIGHT, grading.MATERIAL)


@dataclass(frozen=True)
class Quiz:
    """Questions that wait for answers; put last in a cell, a form appears.

    Attributes
    ----------
    questions : tuple of Question
    """

    questions: tuple[Question, ...]

    def __str__(self) -> str:
        if not self.questions:
            return "There is no question here."
        return "\n\n".join(
            quiz_form.question_text(question, n) for n, question in enumerate(self.questions, 1)
        )

    def _repr_html_(self) -> str:
        return quiz_form.page(self.questions, "Run this cell to answer.")

    def _repr_mimebundle_(self, include=None, exclude=None):
        return bundle(self, form(self) if self.questions else None)


def bundle(shown, box, modules: Mapping | None = None) -> dict:
    """What a notebook gets: text and the static form, and the live one where there are widgets.

    Parameters
    ----------
    shown : object
        Has text and HTML.
    box : ipywidgets.Widget or None
    modules : mapping, optional
        What is imported, by default ``sys.modules``: in Colab only the live form is given.

    Returns
    -------
    dict
        By MIME type.
    """
    data = {"text/plain": str(shown), "text/html": shown._repr_html_()}
    if box is None:
        return data
    data["application/vnd.jupyter.widget-view+json"] = {
        "version_major": 2,
        "version_minor": 0,
        "model_id": box.model_id,
    }
    if "google.colab" in (sys.modules if modules is None else modules):
        del data["text/html"]  # two forms in one output have not been seen working there
    return data


def show(*names: str) -> Quiz:
    """Show questions; put the call last in a cell.

    Parameters
    ----------
    *names : str
        Lessons ("03"), questions ("03/speedup") or exam questions ("E3").

    Returns
    -------
    Quiz

    Raises
    ------
    ValueError
        If there is no such question.

    Examples
    --------
    >>> show("E3").questions[0].exam
    ('E3',)
    """
    if not names:
        raise ValueError("which questions? Such as ah.quiz.show('03') or ah.quiz.show('E3').")
    chosen = [question for name in names for question in _named(name)]
    return Quiz(tuple(dict.fromkeys(chosen)))


def answer(name: str, given) -> Grade:
    """Answer a question without the form.

    Parameters
    ----------
    name : str
        The question, such as "03/speedup".
    given : str or float
        A letter, several letters, or a number.

    Returns
    -------
    Grade

    Raises
    ------
    ValueError
        If there is no such question, or the answer is of another kind than it asks for.
    """
    found = questions.bank().get(name) if isinstance(name, str) else None
    if found is None:
        raise ValueError(f"no question is called {name!r:.60}. ah.quiz.show('03') shows some.")
    graded, note = _graded(found, given)
    return replace(graded, feedback=(*graded.feedback, note)) if note else graded


def again() -> Quiz:
    """What was not answered rightly the last time, to be asked again.

    That is what was wrong, what an exam was handed in without, and guesses that wait for their
    measurement.

    Returns
    -------
    Quiz
    """
    bank, kept = questions.bank(), progress.current().answers
    wrong = [bank[name] for name in kept if name in bank and kept[name].verdict not in DONE]
    return Quiz(tuple(wrong))


@dataclass(frozen=True, repr=False)
class Overview:
    """How far a learner has come.

    Attributes
    ----------
    rows : tuple of (str, int, int, str)
        Lesson, questions answered rightly, questions, and the day when the last was.
    guesses, close : int
        Predictions that were made, and those that came out close or right.
    exam : Sitting or None
        The last practice exam.
    file : str
        Where it is kept; empty where nothing is yet.
    """

    rows: tuple[tuple[str, int, int, str], ...]
    guesses: int
    close: int
    exam: progress.Sitting | None
    file: str

    def __repr__(self) -> str:
        return str(self)

    def __str__(self) -> str:
        lines = [f"lesson {n}: {good} of {of} {day}".rstrip() for n, good, of, day in self.rows]
        return "\n".join([*lines, *self._below()])

    def _repr_html_(self) -> str:
        body = "".join(
            f"<tr><td>{n}</td><td>{good} of {of}</td><td>{html.escape(day)}</td></tr>"
            for n, good, of, day in self.rows
        )
        head = "<tr><th>lesson</th><th>answered rightly</th><th>all of them since</th></tr>"
        below = "".join(f"<p>{html.escape(line)}</p>" for line in self._below())
        return f"<table><thead>{head}</thead><tbody>{body}</tbody></table>{below}"

    def sentence(self) -> str:
        """The same in a line, for `summary.write`."""
        lessons = ", ".join(f"lesson {n} {good} of {of}" for n, good, of, _ in self.rows if good)
        return f"Answered rightly: {lessons or 'nothing yet'}. {self._sat()}"

    def _below(self) -> list[str]:
        said = f"Guesses: {self.guesses}, of which {self.close} came out close or right."
        return [self._sat(), said, f"Kept in {self.file}." if self.file else "Nothing is kept yet."]

    def _sat(self) -> str:
        if self.exam is None:
            return "No practice exam yet."
        one = self.exam
        return (
            f"Last practice exam (paper {one.paper}): {one.material} of {one.questions} as the "
            f"material answers, {one.today} as is true today."
        )


def overview() -> Overview:
    """Say how far the learner has come.

    Returns
    -------
    Overview
    """
    from accel_helpers.learn import predict

    kept, rows = progress.current(), []
    for lesson in dict.fromkeys(question.lesson for question in questions.bank().values()):
        names = [name for name, q in questions.bank().items() if q.lesson == lesson]
        good = sum(_done(name, kept) for name in names)
        rows.append((lesson, good, len(names), kept.lessons.get(lesson, "")[:10]))
    out = [
        predict.judged(guess.guess, guess.actual).verdict
        for name, guess in kept.guesses.items()
        if guess.actual is not None
    ]
    close = sum(verdict in ("close", "right") for verdict in out)
    last = kept.exams[-1] if kept.exams else None
    file = str(progress.place()) if kept.answers or kept.guesses or kept.exams else ""
    return Overview(tuple(rows), len(kept.guesses), close, last, file)


def form(quiz: Quiz):
    """The live form, or None where there are no widgets."""
    if not quiz_widget.available():
        return None
    kept = progress.current()
    total = quiz_widget.note(_total(quiz, kept))

    def check(field) -> None:
        try:
            graded, note = _graded(field.question, field.read())
        except AnswerError as error:
            said = str(error)
            field.say(f"<p>{html.escape(said[:1].upper() + said[1:])}</p>")
            return
        field.say(graded._repr_html_() + (f"<p>{html.escape(note)}</p>" if note else ""))
        total.value = _total(quiz, progress.current())

    fields = [
        quiz_widget.field(question, n, earlier(question, kept), check)
        for n, question in enumerate(quiz.questions, 1)
    ]
    return quiz_widget.sheet(fields, total)


def earlier(question: Question, kept: Progress) -> str:
    """What to say of an answer that was given before, as HTML."""
    before = kept.answers.get(question.id)
    if before is None:
        return "<p>Not answered yet.</p>"
    day, given = html.escape(before.when[:10]), html.escape(str(before.given) or "nothing")
    said = {
        grading.RIGHT: "right",
        grading.MATERIAL: "as the material has it",
        grading.OPEN: "not measured yet",
    }.get(before.verdict, "not right")
    return f"<p>You answered {given} on {day}: {said}.</p>"


def answered(it: Progress, question: Question, given, verdict: str, when: str) -> Progress:
    """Add an answer, and the lesson where it was the last of its questions."""
    it = progress.answered(it, question.id, given, verdict, when)
    names = [name for name, q in questions.bank().items() if q.lesson == question.lesson]
    if all(_done(name, it) for name in names):
        it = progress.finished(it, question.lesson, when)
    return it


def the_card():
    """The learner's result card, or None where there is none that can be read."""
    try:
        return results.load(results.card_path())
    except results.CardError:  # it is not there, or it is none
        return None


# ---------------------------------------------------------------------------------------------


def _total(quiz: Quiz, kept: Progress) -> str:
    good = sum(_done(question.id, kept) for question in quiz.questions)
    return f"<p><strong>Answered rightly: {good} of {len(quiz.questions)}.</strong></p>"


def _done(name: str, kept: Progress) -> bool:
    return name in kept.answers and kept.answers[name].verdict in DONE


def _named(name: str) -> Sequence[Question]:
    bank = questions.bank()
    if isinstance(name, str):
        if name in bank:
            return [bank[name]]
        found = [q for q in bank.values() if name == q.lesson or name in q.exam]
        if found:
            return found
    lessons = ", ".join(dict.fromkeys(question.lesson for question in bank.values()))
    raise ValueError(
        f"there are no questions of {name!r:.60}. Name a lesson ({lessons}), an exam question "
        f"(E1 and so on) or a question such as {next(iter(bank))!r}."
    )


def _graded(question: Question, given) -> tuple[Grade, str]:
    """Grade an answer and keep it; give the grade, and a sentence where it could not be kept."""
    graded = grading.grade(question, given, card=the_card())
    when = progress.now()

    def change(it: Progress) -> Progress:
        return answered(it, question, graded.given, graded.verdict, when)

    return graded, progress.keep(change)
