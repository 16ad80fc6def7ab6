"""Practice exams, marked twice: by what the exam's material answers, and by what is true today."""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from accel_helpers._values.words import marked, shown
from accel_helpers.course import grading, progress, questions, quiz, quiz_widget
from accel_helpers.course.grading import AnswerError, Grade
from accel_helpers.course.questions import Question
from accel_helpers.course.quiz_widget import Shown

COUNT, PASS = 20, 14  # questions of a paper; so many right answers pass
__all__ = ["draw", "hand_in", "last_score"]


@dataclass(frozen=True, repr=False)
class Paper(Shown):
    """A practice exam that waits to be handed in."""

    number: int  # by which the same paper can be drawn again
    questions: tuple[Question, ...]
    macro, ending = "page", "Run this cell to sit the exam."

    def __str__(self) -> str:
        heading = f"Practice exam, paper {self.number}: {len(self.questions)} questions"
        lines = [f"{heading} on two of the exam's sections."]
        lines += [question.text(place) for place, question in enumerate(self.questions, 1)]
        call = f"ah.course.hand_in({self.number}, {{1: 'a', 2: 'bd', 3: 1.6}})"
        return "\n\n".join([*lines, f"Without the form: {call}"])

    def mark(self, answers: Mapping[int, object]) -> "Result":
        """Mark the answers, by the question's place on the paper, from 1; nothing is kept."""
        for place in (n for n in answers if n not in range(1, len(self.questions) + 1)):
            raise AnswerError(f"the places are 1 to {len(self.questions)}; got {shown(place)}.")
        grades = []
        for place, question in enumerate(self.questions, 1):
            given = answers.get(place)
            if given is None or isinstance(given, str) and not given.strip():
                grades.append(Grade(question, "", grading.WRONG, False, ()))
                continue
            try:
                grades.append(grading.grade(question, given))
            except AnswerError as error:
                raise AnswerError(f"question {place}: {error}") from None
        return Result(self, tuple(grades))

    def form(self, widgets):
        fields = [quiz_widget.field(widgets, q, n, "") for n, q in enumerate(self.questions, 1)]
        status, say = quiz_widget.note(widgets, "")

        def finish() -> None:
            answers = {n: read() for n, (_, read, _) in enumerate(fields, 1)}
            try:
                if not any(answers.values()):
                    raise AnswerError("there is no answer.")
                result = hand_in(self.number, answers)
            except AnswerError as error:
                say(f"<p>Not handed in yet: {marked(str(error))}</p>")
                return
            for (_, _, tell), grade in zip(fields, result.grades, strict=True):
                tell("<p>No answer.</p>" if grade.answer == "" else grade._repr_html_())
            say(result._repr_html_())

        button = widgets.Button(description="Hand in the paper", layout={"width": "auto"})
        button.on_click(lambda _: finish())
        return quiz_widget.sheet(widgets, fields, button, status)


@dataclass(frozen=True, repr=False)
class Result(Shown):
    """What a paper is worth."""

    paper: Paper
    grades: tuple[Grade, ...]  # one for each question
    note: str = ""  # why the answers could not be kept, if they were to be
    macro = "result"

    @property
    def material(self) -> int:
        return sum(grade.as_material for grade in self.grades)

    @property
    def today(self) -> int:
        return sum(map(bool, self.grades))

    @property
    def passed(self) -> bool:
        return max(self.material, self.today) >= PASS

    def lines(self) -> list[str]:
        of, either = len(self.grades), sum(bool(g) or g.as_material for g in self.grades)
        said = [
            f"{'Passed' if self.passed else 'Not passed'}: {PASS} of {of} are needed, by one of "
            "the two answers. (This bar is the course's own: the exam's is not known to us, and "
            "this paper covers two of its sections.)",
            f"As the exam's material answers: {self.material} of {of}. The exam expects these. "
            "(Where its text was not found, the usual answer stands for it.)",
            f"As is true today: {self.today} of {of}.",
        ]
        if either >= PASS and not self.passed:
            said.append(f"{either} answers are one or the other: you mixed the two. Keep to one.")
        if either >= PASS and self.material < PASS:
            said.append(f"In the exam you would lose {self._places(False, True)}: today's answer.")
        if self.passed and self.today < PASS:
            said.append(f"Outside the exam, look at {self._places(True, False)}: today differs.")
        if lost := self._places(False, False):
            said.append(f"Wrong or empty: {lost}. They come back with ah.course.ask_again().")
        return [*said, self.note] if self.note else said

    def _places(self, *mark: bool) -> str:
        marks = [(grade.as_material, bool(grade)) for grade in self.grades]
        return ", ".join(str(n) for n, each in enumerate(marks, 1) if each == mark)

    def __str__(self) -> str:
        return "\n".join(self.lines())


def draw(number: int = 1) -> Paper:
    """Draw a paper: one question for every question of the exam, then more of them at random.

    Another number, from 0 to 10**9, is another paper. Further questions (E11 to E14) are on none.

    Examples
    --------
    >>> paper = draw(1)
    >>> len(paper.questions), paper == draw(1), paper == draw(2)
    (20, True, False)
    """
    if type(number) is not int or not 0 <= number <= 10**9:
        raise ValueError(f"a paper has a whole number from 0 to 10**9; got {shown(number)}.")
    bank = questions.bank().values()
    pool = [q for q in bank if q.exam and q.practice and q.kind != "measured" and not q.further]
    rng, chosen = random.Random(number), []
    for exam in sorted({n for q in pool for n in q.exam}, key=lambda n: int(n[1:])):
        if not any(exam in q.exam for q in chosen):
            fits = [q for q in pool if exam in q.exam and _fits(q, chosen)]
            chosen.append(rng.choice(fits))
    for question in rng.sample(pool, len(pool)):
        if len(chosen) < COUNT and _fits(question, chosen):
            chosen.append(question)
    rng.shuffle(chosen)
    return Paper(number, tuple(chosen))


def hand_in(number: int, answers: Mapping[int, object]) -> Result:
    """Mark the paper of this number, and keep the answers, by the question's place from 1.

    An `AnswerError` says which of them is none.

    Examples
    --------
    >>> hand_in(1, {1: "a"}).passed
    False
    """
    result = draw(number).mark(answers)
    marks = result.material, result.today, len(result.grades)
    sitting = progress.Sitting(number, *marks, progress.now())
    return replace(result, note=quiz.keep(result.grades, sitting))


def last_score() -> int | None:
    """Give the better of the two marks of the last paper; None where none was handed in.

    Examples
    --------
    >>> result = hand_in(1, {1: "a"})
    >>> last_score() == max(result.material, result.today)
    True
    """
    sittings = progress.current().exams
    return max(sittings[-1].material, sittings[-1].today) if sittings else None


def _fits(question: Question, chosen: Sequence[Question]) -> bool:
    """Whether a question is not on the paper yet, nor one that gives it away."""
    return question not in chosen and not any(
        q.id in question.apart or question.id in q.apart for q in chosen
    )
