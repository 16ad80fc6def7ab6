"""Practice exams, marked twice: by what the exam's material answers, and by what is true today."""

import random
from collections.abc import Mapping
from dataclasses import dataclass, replace

from accel_helpers.course import grading, questions, record
from accel_helpers.course.grading import Grade
from accel_helpers.course.questions import Question
from accel_helpers.course.quiz_widget import Field, Shown, boxed, button, html, say, status

COUNT = 20  # questions of a paper
PASS = 14  # right answers that are needed to pass
SECOND_TRY = (
    "This was a second try: your first marks stand. For new ones sit another paper, such as "
    "`ah.course.draw_exam({next})`."
)


@dataclass(frozen=True, repr=False)
class Paper(Shown):
    """A practice exam that waits to be handed in.

    A question's *place* is its number on the paper, from 1.
    """

    number: int  # by which the same paper can be drawn again
    questions: tuple[Question, ...]
    macro = "paper"

    def form(self):
        """Return the live form: all questions, and a button that hands the paper in."""
        fields = [Field(question, place) for place, question in enumerate(self.questions, 1)]

        def finish() -> str:
            given = {place: field.read() for place, field in enumerate(fields, 1)}
            # A slip of the mouse would count as a failed paper.
            if not any(given.values()):
                raise ValueError("Not handed in yet: there is no answer.")
            result = hand_in(self.number, given)
            for field, grade in zip(fields, result.grades, strict=True):
                say(field.status, grade._repr_html_())
            return result._repr_html_()

        below = status("")
        hand = button("Hand in the paper", finish, below)
        return boxed("accel-quiz", html("style"), *[each.box for each in fields], hand, below)


@dataclass(frozen=True, repr=False)
class Result(Shown):
    """The marks of a paper: by the material's answers, and by what is true today."""

    grades: tuple[Grade, ...]  # one for each question
    material: int  # how many answers are the material's
    today: int  # how many are right today
    passed: bool  # whether the material's mark is enough, at the first try
    note: str  # why the answers were not kept, if they were not
    macro = "result"

    def places(self, *marks: bool) -> str:
        """Return the places of answers with these marks, the material's and today's: "3, 17"."""
        pairs = [(grade.as_material, bool(grade)) for grade in self.grades]
        return ", ".join(str(place) for place, pair in enumerate(pairs, 1) if pair == marks)


def draw_exam(number: int = 1) -> Paper:
    """Draw a paper: one question for every question of the exam, then more of them at random.

    Further questions (E11 to E14) are on no paper.

    Parameters
    ----------
    number : int, optional
        The same number draws the same paper, on every machine. An even one shares as little with
        the odd one before it as the bank allows.

    Examples
    --------
    >>> paper = draw_exam(1)
    >>> len(paper.questions), paper == draw_exam(1), paper == draw_exam(2)
    (20, True, False)
    >>> len({*draw_exam(1).questions} & {*draw_exam(2).questions})  # lesson 11 says it
    11
    """
    pool = [question for question in questions.bank().values() if question.practice]
    # A generator of its own, which nothing else draws from.
    rng = random.Random(number)
    rng.shuffle(pool)
    # Papers go in pairs: on the second of them, what was on the first comes last.
    if number % 2 == 0:
        earlier = draw_exam(number - 1).questions
        pool.sort(key=earlier.count)
    selection = []

    def fitting():
        """Return those that are not on the paper, and give away nothing there."""
        taken = {question.id for question in selection}
        return [each for each in pool if taken.isdisjoint((each.id, *each.apart))]

    # First every question of the exam is covered.
    for exam_question in questions.THIS_EXAM:
        about_it = [each for each in fitting() if exam_question in each.exam]
        selection.append(about_it[0])
    # Then the rest of the paper is filled up.
    while len(selection) < COUNT:
        selection.append(fitting()[0])
    rng.shuffle(selection)
    return Paper(number, tuple(selection))


def hand_in(number: int, answers: Mapping[int, object]) -> Result:
    """Mark a paper, and keep the answers of the first try on the learner's record.

    Parameters
    ----------
    number : int
        As in `draw`.
    answers : mapping of int to object
        The answers by the question's place on the paper, from 1; a missing one is wrong.

    Raises
    ------
    ValueError
        Where an answer cannot be graded. Nothing is kept then.

    Examples
    --------
    >>> hand_in(1, {1: "a"}).passed
    False
    """
    for place in answers:
        if place not in range(1, COUNT + 1):
            raise ValueError(
                f"Not handed in yet: this paper has no question {place!r}. "
                f"Its questions are the numbers 1 to {COUNT}."
            )
    grades = []
    for place, question in enumerate(draw_exam(number).questions, 1):
        try:
            grades.append(grading.grade(question, answers.get(place, "")))
        except ValueError as error:
            raise ValueError(f"Not handed in yet: question {place}. {error}") from None
    material = sum(grade.as_material for grade in grades)
    today = sum(map(bool, grades))
    if str(number) in record.newest("paper/"):
        note = SECOND_TRY.format(next=number + 1)
        return Result(tuple(grades), material, today, False, note)
    passed = material >= PASS
    outcome = "passed" if passed else "not passed"
    marks = {"material": material, "today": today, "questions": COUNT}
    entries = [record.entry(f"paper/{number}", outcome, marks)]
    for place, grade in enumerate(grades, 1):
        entries.append(replace(grade.entry, numbers={"question": place}))
    note = record.keep(*entries)
    return Result(tuple(grades), material, today, passed, note)


def last_score() -> int | None:
    """Return the mark by the material of the paper that was handed in last.

    None where there was no paper yet.

    Examples
    --------
    >>> result = hand_in(1, {1: "a"})
    >>> last_score() == result.material
    True
    """
    score = None
    # The newest comes last.
    for paper in record.newest("paper/").values():
        score = round(paper.numbers["material"])
    return score
