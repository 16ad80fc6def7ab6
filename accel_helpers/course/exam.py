"""Practice exams, marked twice: by what the exam's material answers, and by what is true today."""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import ModuleType

from accel_helpers._values.words import marked, shown
from accel_helpers.course import grading, questions, quiz, quiz_widget, record
from accel_helpers.course.grading import AnswerError, Grade
from accel_helpers.course.questions import Question
from accel_helpers.course.quiz_widget import Shown

COUNT = 20  # questions of a paper
PASS = 14  # right answers that are needed to pass
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
        paper = f"Practice exam, paper {self.number}"
        paragraphs = [f"{paper}: {len(self.questions)} questions on two of the exam's sections."]
        for place, question in enumerate(self.questions, 1):
            paragraphs.append(question.text(place))
        call = f"ah.course.hand_in({self.number}, {{1: 'a', 2: 'bd', 3: 1.6}})"
        paragraphs.append(f"Without the form: {call}")
        return "\n\n".join(paragraphs)

    def mark(self, answers: Mapping[int, object]) -> "Result":
        """Mark answers, given by the question's place, and keep nothing.

        A missing answer is wrong. Raises an AnswerError for a place that the paper does not have
        and for an answer that cannot be graded.
        """
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

    def form(self, widgets: ModuleType):
        """Return the live form, a widget: all questions, and a button that hands the paper in.

        `widgets` is the module ipywidgets.
        """
        fields = []
        for place, question in enumerate(self.questions, 1):
            field = quiz_widget.field(widgets, question, place, "")
            fields.append(field)
        # Where the result, or what is wrong, will stand.
        status, tell = quiz_widget.note(widgets, "")

        def finish(_button: object) -> None:
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
            # Below each question its own grade, and below all of them the result.
            for field, grade in zip(fields, result.grades, strict=True):
                text_below = _as_html(grade)
                field.tell(text_below)
            summary = result._repr_html_()
            tell(summary)

        button = widgets.Button(description="Hand in the paper", layout={"width": "auto"})
        button.on_click(finish)
        return quiz_widget.sheet(widgets, fields, button, status)


def _mark_one(question: Question, place: int, answer: object) -> Grade:
    """Return the grade of an answer; one that is None or blank is wrong, without feedback.

    Raises an AnswerError that names the place where the answer cannot be graded.
    """
    is_blank = isinstance(answer, str) and not answer.strip()
    if answer is None or is_blank:
        return Grade(question, "", grading.WRONG, False, ())
    try:
        return grading.grade(question, answer)
    except AnswerError as error:
        raise AnswerError(f"question {place}: {error}") from None


def _as_html(grade: Grade) -> str:
    """Return, as HTML, what the form says below a question once the paper is handed in."""
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
        """Return the result in sentences, the verdict first.

        Answers that are right by one of the two marks only are named where they decide whether the
        paper is passed.
        """
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
        """Return sentences on answers that are right by one of the two marks only.

        There is none where that makes no difference to whether the paper is passed.
        """
        right_by_either = sum(bool(grade) or grade.as_material for grade in self.grades)
        is_enough = right_by_either >= PASS
        lines = []
        if is_enough and not self.passed:
            lines.append(
                f"{right_by_either} answers are one or the other: you mixed the two. Keep to one."
            )
        # The learner knows enough, but would fail in the exam by answering as is true today.
        if is_enough and self.material < PASS:
            places = self._places(as_material=False, today=True)
            lines.append(f"In the exam you would lose {places}: today's answer.")
        if self.passed and self.today < PASS:
            places = self._places(as_material=True, today=False)
            lines.append(f"Outside the exam, look at {places}: today differs.")
        return lines

    def _places(self, *, as_material: bool, today: bool) -> str:
        """Return the places of the answers that are right by just these marks: "2, 5, 11".

        With as_material=True and today=False they are the answers that are right by the material
        and wrong today. Empty where there are none.
        """
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

    Further questions (E11 to E14) are on no paper.

    Parameters
    ----------
    number : int, optional
        From 0 to 10**9. The same number draws the same paper, on every machine.

    Raises
    ------
    ValueError
        Where `number` is none of these.

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
    # A generator of its own, which nothing else draws from.
    rng = random.Random(number)
    selection = []
    # First every question of the exam is covered.
    for exam_question in _exam_questions(pool):
        if any(exam_question in question.exam for question in selection):
            continue
        candidates = []
        for question in pool:
            if exam_question in question.exam and _fits(question, selection):
                candidates.append(question)
        drawn_question = rng.choice(candidates)
        selection.append(drawn_question)
    # Then the rest of the paper is filled up.
    in_any_order = rng.sample(pool, len(pool))
    for question in in_any_order:
        if len(selection) < COUNT and _fits(question, selection):
            selection.append(question)
    rng.shuffle(selection)
    return Paper(number, tuple(selection))


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
    ValueError
        Where `draw` raises it. An `AnswerError`, which is one, names a place that the paper does
        not have, or an answer that cannot be graded. Nothing is kept then.

    Examples
    --------
    >>> hand_in(1, {1: "a"}).passed
    False
    """
    paper = draw(number)
    result = paper.mark(answers)
    marks = {
        "material": float(result.material),
        "today": float(result.today),
        "questions": float(len(result.grades)),
    }
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
    last = [*papers.values()][-1]
    return round(max(last.numbers["material"], last.numbers["today"]))


def _may_be_drawn(question: Question) -> bool:
    """Return whether a question may stand on a paper.

    It must be of this exam, meant for practice, and answered from knowledge: a question of the kind
    "measured" is not.
    """
    if question.further or question.kind == "measured":
        return False
    return bool(question.exam) and question.practice


def _exam_questions(pool: Sequence[Question]) -> list[str]:
    """Return the exam questions that a pool of questions covers, sorted: ["E1", "E2", "E10"]."""
    covered = set()
    for question in pool:
        covered.update(question.exam)

    def number(name: str) -> int:
        return int(name.removeprefix("E"))

    return sorted(covered, key=number)


def _fits(question: Question, selection: Sequence[Question]) -> bool:
    """Return whether a question may be added to those that were chosen for a paper.

    It may not where it is one of them, or where it and one of them give each other away.
    """
    if question in selection:
        return False
    for neighbour in selection:
        if neighbour.id in question.apart or question.id in neighbour.apart:
            return False
    return True
