"""Practice exams, marked twice: by what the exam's material answers, and by what is true today."""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from accel_helpers._values.words import marked, shown
from accel_helpers.course import grading, progress, questions, quiz, quiz_widget
from accel_helpers.course.grading import AnswerError, Grade
from accel_helpers.course.questions import Question
from accel_helpers.course.quiz_widget import Shown

COUNT = 20  # questions of a paper
PASS = 14  # so many right answers pass
__all__ = ["draw", "hand_in", "last_score"]


@dataclass(frozen=True, repr=False)
class Paper(Shown):
    """A practice exam that waits to be handed in."""

    number: int  # by which the same paper can be drawn again
    questions: tuple[Question, ...]
    macro = "page"
    ending = "Run this cell to sit the exam."

    def __str__(self) -> str:
        paper = f"Practice exam, paper {self.number}"
        paragraphs = [f"{paper}: {len(self.questions)} questions on two of the exam's sections."]
        for place, question in enumerate(self.questions, 1):
            paragraphs.append(question.text(place))
        call = f"ah.course.hand_in({self.number}, {{1: 'a', 2: 'bd', 3: 1.6}})"
        paragraphs.append(f"Without the form: {call}")
        return "\n\n".join(paragraphs)

    def mark(self, answers: Mapping[int, object]) -> "Result":
        """Mark the answers, by the question's place on the paper, from 1; nothing is kept."""
        count = len(self.questions)
        places = range(1, count + 1)
        for place in answers:
            if place not in places:
                raise AnswerError(f"the places are 1 to {count}; got {shown(place)}.")
        grades = []
        for place, question in zip(places, self.questions, strict=True):
            answer = answers.get(place)
            grade = _mark_one(question, place, answer)
            grades.append(grade)
        return Result(self, tuple(grades))

    def form(self, widgets):
        """Return the live form: all questions, and a button that hands the paper in."""
        fields = []
        for place, question in enumerate(self.questions, 1):
            field = quiz_widget.field(widgets, question, place, "")
            fields.append(field)
        status, tell = quiz_widget.note(widgets, "")

        def finish(_button) -> None:
            answers = {place: field.read() for place, field in enumerate(fields, 1)}
            try:
                # An empty paper is most likely a slip of the mouse, and would count as failed.
                if not any(answers.values()):
                    raise AnswerError("there is no answer.")
                result = hand_in(self.number, answers)
            except AnswerError as error:
                reason = marked(str(error))
                tell(f"<p>Not handed in yet: {reason}</p>")
                return
            for field, grade in zip(fields, result.grades, strict=True):
                text_below = _as_html(grade)
                field.tell(text_below)
            summary = result._repr_html_()
            tell(summary)

        button = widgets.Button(description="Hand in the paper", layout={"width": "auto"})
        button.on_click(finish)
        return quiz_widget.sheet(widgets, fields, button, status)


def _mark_one(question: Question, place: int, answer) -> Grade:
    """Grade an answer on a paper; a missing one is wrong and gets no feedback."""
    is_blank = isinstance(answer, str) and not answer.strip()
    if answer is None or is_blank:
        return Grade(question, "", grading.WRONG, False, ())
    try:
        return grading.grade(question, answer)
    except AnswerError as error:
        raise AnswerError(f"question {place}: {error}") from None


def _as_html(grade: Grade) -> str:
    """Return what the form says below a question once the paper is handed in."""
    if grade.answer == "":
        return "<p>No answer.</p>"
    return grade._repr_html_()


@dataclass(frozen=True, repr=False)
class Result(Shown):
    """The marks of a paper: by the material's answers, and by what is true today."""

    paper: Paper
    grades: tuple[Grade, ...]  # one for each question
    note: str = ""  # why the answers could not be kept, if they were to be
    macro = "result"

    @property
    def material(self) -> int:
        """How many answers are the material's."""
        return sum(grade.as_material for grade in self.grades)

    @property
    def today(self) -> int:
        """How many answers are right today."""
        return sum(bool(grade) for grade in self.grades)

    @property
    def passed(self) -> bool:
        """Whether the better of the two marks is enough."""
        return max(self.material, self.today) >= PASS

    def lines(self) -> list[str]:
        """Return the result in sentences, the verdict first."""
        count = len(self.grades)
        verdict = "Passed" if self.passed else "Not passed"
        lines = [
            f"{verdict}: {PASS} of {count} are needed, by one of the two answers. (This bar is the "
            "course's own: the exam's is not known to us, and this paper covers two of its "
            "sections.)",
            f"As the exam's material answers: {self.material} of {count}. The exam expects these. "
            "(Where its text was not found, the usual answer stands for it.)",
            f"As is true today: {self.today} of {count}.",
        ]
        lines += self._where_the_two_differ()
        wrong = self._places(as_material=False, today=False)
        if wrong:
            lines.append(f"Wrong or empty: {wrong}. They come back with ah.course.ask_again().")
        if self.note:
            lines.append(self.note)
        return lines

    def _where_the_two_differ(self) -> list[str]:
        """Return sentences on the answers that are the material's or today's, but not both."""
        count = sum(bool(grade) or grade.as_material for grade in self.grades)
        would_do = count >= PASS
        lines = []
        if would_do and not self.passed:
            lines.append(f"{count} answers are one or the other: you mixed the two. Keep to one.")
        if would_do and self.material < PASS:
            places = self._places(as_material=False, today=True)
            lines.append(f"In the exam you would lose {places}: today's answer.")
        if self.passed and self.today < PASS:
            places = self._places(as_material=True, today=False)
            lines.append(f"Outside the exam, look at {places}: today differs.")
        return lines

    def _places(self, *, as_material: bool, today: bool) -> str:
        """Return the places of the answers that are right in just this combination."""
        places = []
        for place, grade in enumerate(self.grades, 1):
            is_right_today = bool(grade)
            if grade.as_material == as_material and is_right_today == today:
                places.append(str(place))
        return ", ".join(places)

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
    # True is an int, and no number of a paper.
    if type(number) is not int or not 0 <= number <= 10**9:
        raise ValueError(f"a paper has a whole number from 0 to 10**9; got {shown(number)}.")
    bank = questions.bank()
    pool = [question for question in bank.values() if _may_be_drawn(question)]
    # The same number draws the same paper, on every machine.
    rng = random.Random(number)
    chosen = []
    # First every question of the exam is covered.
    for exam_question in _exam_questions(pool):
        if any(exam_question in question.exam for question in chosen):
            continue
        candidates = []
        for question in pool:
            if exam_question in question.exam and _fits(question, chosen):
                candidates.append(question)
        drawn = rng.choice(candidates)
        chosen.append(drawn)
    # Then the rest of the paper is filled up.
    in_any_order = rng.sample(pool, len(pool))
    for question in in_any_order:
        if len(chosen) < COUNT and _fits(question, chosen):
            chosen.append(question)
    rng.shuffle(chosen)
    return Paper(number, tuple(chosen))


def hand_in(number: int, answers: Mapping[int, object]) -> Result:
    """Mark the paper of this number, and keep the answers, by the question's place from 1.

    An `AnswerError` names an answer that cannot be graded.

    Examples
    --------
    >>> hand_in(1, {1: "a"}).passed
    False
    """
    paper = draw(number)
    result = paper.mark(answers)
    sitting = progress.Sitting(
        paper=number,
        material=result.material,
        today=result.today,
        questions=len(result.grades),
        when=progress.now(),
    )
    note = quiz.keep(result.grades, sitting)
    return replace(result, note=note)


def last_score() -> int | None:
    """Return the better of the two marks of the last paper; None where none was handed in.

    Examples
    --------
    >>> result = hand_in(1, {1: "a"})
    >>> last_score() == max(result.material, result.today)
    True
    """
    sittings = progress.current().exams
    if not sittings:
        return None
    last = sittings[-1]
    return max(last.material, last.today)


def _may_be_drawn(question: Question) -> bool:
    """Return whether a question may stand on a paper: this exam's, and answered from knowledge."""
    if question.further or question.kind == "measured":
        return False
    return bool(question.exam) and question.practice


def _exam_questions(pool: Sequence[Question]) -> list[str]:
    """Return the questions of the exam that a pool covers, "E2" before "E10"."""
    covered = set()
    for question in pool:
        covered.update(question.exam)

    def number(name: str) -> int:
        return int(name.removeprefix("E"))

    return sorted(covered, key=number)


def _fits(question: Question, chosen: Sequence[Question]) -> bool:
    """Return whether a question is not on the paper yet, nor one that gives it away."""
    if question in chosen:
        return False
    for neighbour in chosen:
        if neighbour.id in question.apart or question.id in neighbour.apart:
            return False
    return True
