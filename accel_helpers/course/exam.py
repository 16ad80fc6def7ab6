"""Practice exams, marked twice: by what the exam's material answers, and by what is true today."""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from accel_helpers._values.words import shown
from accel_helpers.course import grading, questions, quiz, record
from accel_helpers.course.grading import AnswerError, Grade
from accel_helpers.course.questions import Question
from accel_helpers.course.quiz_widget import Field, Shown, button, say, sheet, status

COUNT = 20  # questions of a paper
PASS = 14  # right answers that are needed to pass
# What a result says of answers without both marks, by that of the material and today's.
NOT_BOTH = {
    (False, True): "In the exam you would lose {}: today's answer.",
    (True, False): "Outside the exam, look at {}: today differs.",
    (False, False): "Wrong or empty: {}. They come back with ah.course.ask_again().",
}
__all__ = ["draw", "hand_in", "last_score"]


@dataclass(frozen=True, repr=False)
class Paper(Shown):
    """A practice exam that waits to be handed in.

    A question's *place* is its number on the paper, from 1.
    """

    number: int  # by which the same paper can be drawn again
    questions: tuple[Question, ...]
    macro = "page"
    ending = "Run this cell to sit the exam."

    def __str__(self) -> str:
        title = f"Practice exam, paper {self.number}"
        call = f"ah.course.hand_in({self.number}, {{1: 'a', 2: 'bd', 3: 1.6}})"
        texts = [f"{title}: {COUNT} questions on two of the exam's sections."]
        texts += [question.text(place) for place, question in enumerate(self.questions, 1)]
        texts.append(f"Without the form: {call}")
        return "\n\n".join(texts)

    def mark(self, answers: Mapping[int, object]) -> "Result":
        """Mark answers, given by the question's place, and keep nothing.

        A missing answer is wrong. Raises an AnswerError for a place that the paper does not have
        and for an answer that cannot be graded.
        """
        for place in answers:
            if place not in range(1, COUNT + 1):
                raise AnswerError(
                    f"Not handed in yet: the places are 1 to {COUNT}; got {shown(place)}."
                )
        grades = []
        for place, question in enumerate(self.questions, 1):
            try:
                grades.append(grading.grade(question, answers.get(place, "")))
            except AnswerError as error:
                raise AnswerError(f"Not handed in yet: question {place}. {error}") from None
        return Result(tuple(grades))

    def form(self):
        """Return the live form: all questions, and a button that hands the paper in."""
        fields = [Field(question, place) for place, question in enumerate(self.questions, 1)]

        def finish() -> str:
            answers = {field.number: field.read() for field in fields}
            # An empty paper is most likely a slip of the mouse, and would count as failed.
            if not any(answers.values()):
                raise AnswerError("Not handed in yet: there is no answer.")
            result = hand_in(self.number, answers)
            for field, grade in zip(fields, result.grades, strict=True):
                say(field.status, grade._repr_html_())
            return result._repr_html_()

        below = status("")
        boxes = [field.box() for field in fields]
        return sheet(*boxes, button("Hand in the paper", finish, below), below)


@dataclass(frozen=True, repr=False)
class Result(Shown):
    """The marks of a paper: by the material's answers, and by what is true today."""

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
        verdict = "Passed" if self.passed else "Not passed"
        lines = [
            f"{verdict}: {PASS} of {COUNT} are needed, by one of the two answers. (This bar is the "
            "course's own: the exam's is not known to us, and this paper covers two of its "
            "sections.)",
            f"As the exam's material answers: {self.material} of {COUNT}. The exam expects these. "
            "(Where its text was not found, the usual answer stands for it.)",
            f"As is true today: {self.today} of {COUNT}.",
        ]
        for marks, sentence in NOT_BOTH.items():
            places = []
            for place, grade in enumerate(self.grades, 1):
                if (grade.as_material, bool(grade)) == marks:
                    places.append(str(place))
            if places:
                lines.append(sentence.format(", ".join(places)))
        if self.note:
            lines.append(self.note)
        return lines

    def __str__(self) -> str:
        return "\n".join(self.lines())


def draw(number: int = 1) -> Paper:
    """Draw a paper: one question for every question of the exam, then more of them at random.

    Further questions (E11 to E14) are on no paper.

    Parameters
    ----------
    number : int, optional
        The same number draws the same paper, on every machine.

    Examples
    --------
    >>> paper = draw(1)
    >>> len(paper.questions), paper == draw(1), paper == draw(2)
    (20, True, False)
    """
    pool = [question for question in questions.bank().values() if question.practice]
    # A generator of its own, which nothing else draws from.
    rng = random.Random(number)
    selection = []
    # First every question of the exam is covered.
    for exam_question in questions.THIS_EXAM:
        if not any(exam_question in question.exam for question in selection):
            fitting = [question for question in pool if _fits(question, selection)]
            about_it = [question for question in fitting if exam_question in question.exam]
            selection.append(rng.choice(about_it))
    # Then the rest of the paper is filled up.
    for question in rng.sample(pool, len(pool)):
        if len(selection) < COUNT and _fits(question, selection):
            selection.append(question)
    rng.shuffle(selection)
    return Paper(number, tuple(selection))


def _fits(question: Question, selection: Sequence[Question]) -> bool:
    """Return whether a question is none of those on a paper, and gives none of them away."""
    return {question.id, *question.apart}.isdisjoint(other.id for other in selection)


def hand_in(number: int, answers: Mapping[int, object]) -> Result:
    """Mark a paper, and keep the answers on the learner's record.

    Parameters
    ----------
    number : int
        As in `draw`.
    answers : mapping of int to object
        The answers by the question's place on the paper, from 1; a missing one is wrong.

    Raises
    ------
    AnswerError
        A ValueError that names a place that the paper does not have, or an answer that cannot be
        graded. Nothing is kept then.

    Examples
    --------
    >>> hand_in(1, {1: "a"}).passed
    False
    """
    result = draw(number).mark(answers)
    marks = {"material": result.material, "today": result.today, "questions": COUNT}
    outcome = "passed" if result.passed else "not passed"
    note = quiz.keep(result.grades, record.entry(f"paper/{number}", outcome, marks))
    return replace(result, note=note)


def last_score() -> int | None:
    """Return the better of the two marks of the paper that was handed in last.

    None where there was no paper yet.

    Examples
    --------
    >>> result = hand_in(1, {1: "a"})
    >>> last_score() == max(result.material, result.today)
    True
    """
    papers = record.newest("paper/")
    if not papers:
        return None
    _number, last_paper = papers.popitem()
    return round(max(last_paper.numbers["material"], last_paper.numbers["today"]))
