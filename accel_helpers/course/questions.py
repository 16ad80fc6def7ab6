"""The question bank, ``questions/*.toml``; tests/course/test_questions.py has its rules."""

import datetime
import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from accel_helpers._values import records

# How a question of each kind is answered.
HOW = {
    "one": "Choose one",
    "several": "Choose all that are right",
    "number": "Type a number ({unit})",
    "order": "Put the steps in order. Some may not belong",
}
NOT_FOUND = "not available: the usual answer"
# E11 to E14 are further questions: another exam's, or of no material.
THIS_EXAM = ("E1", "E2", "E3", "E4", "E5", "E6", "E7", "E8", "E9", "E10")
DATA = Path(__file__).parent / "data"
QUESTIONS = Path(__file__).parent / "questions"


@dataclass(frozen=True)
class Option:
    """One of the answers that a question offers."""

    text: str
    feedback: str  # why it is right, or wrong
    value: float | None = None  # of a number: the answer, or what a known mistake leads to


# Each question is made once, so it is equal to itself alone.
@dataclass(frozen=True, eq=False)
class Question:
    """A question with everything that is needed to ask it, to grade it and to answer it."""

    id: str  # lesson and name, such as "03/speed_up"
    lesson: str  # the one that answers it
    stem: str  # what is asked; words in backticks are code
    options: Mapping[str, Option]  # by letter
    right: str  # the letters of the options that are right today, "ac"; of steps in order, "cab"
    source: Sequence[str]  # addresses, or places in the course
    kind: str = "one"  # a key of HOW
    expected: str = ""  # the letters that the exam's material answers, where they are others
    exam: Sequence[str] = ()  # the exam questions that it covers, such as ("E3",)
    material: str = ""  # what the exam's material answers, in words
    label: str = ""  # how we know: "seen in the material", "reported second-hand" or NOT_FOUND
    today: str = ""  # what is true today, where that differs
    as_of: datetime.date | None = None  # when that was checked
    practice: bool = False  # may stand in a practice exam
    quiz: bool = True  # asked at the end of its lesson; the others in practice exams, or by name
    # What must not stand on one paper with it: one gives the other away.
    apart: Sequence[str] = ()
    unit: str = ""
    tolerance: float = 0.0  # of a number: how far off it may be, as a share
    hint: str = ""  # for a number that no known mistake leads to

    @property
    def by_material(self) -> str:
        """The letters that the exam's material answers."""
        return self.expected or self.right

    @property
    def further(self) -> bool:
        """Whether this is a further question: what it covers is not asked in this exam."""
        return bool(self.exam) and self.exam[0] not in THIS_EXAM

    @property
    def has_choices(self) -> bool:
        """Whether the options are shown: those of a number would give it away."""
        return self.kind != "number"

    @property
    def how(self) -> str:
        """How it is answered, as the learner reads it."""
        further = "Further question, not of this exam. " if self.further else ""
        return f"{further}{HOW[self.kind].format(unit=self.unit)}."

    @property
    def two_answers(self) -> dict[str, str]:
        """The material's answer, and today's where it differs, by their headings.

        Empty where the question covers none of an exam.
        """
        answers = {}
        if self.exam:
            answers[f"{heading(self.label, self.further)}:"] = self.material
        if self.today:
            answers[f"True today (checked {self.as_of}):"] = self.today
        return answers


def heading(label: str, further: bool) -> str:
    """Return the heading of the material's answer to a question: whose it is, how we know it."""
    if label == NOT_FOUND:
        return "The usual answer (the material's text was not found)"
    whose = "another" if further else "the"
    return f"What {whose} exam's material answers ({label})"


@functools.cache
def bank() -> Mapping[str, Question]:
    """Return every question of the course by its id, in the order of the lessons.

    Examples
    --------
    >>> all(question.source for question in bank().values())
    True
    """
    by_id = {}
    for path in sorted(QUESTIONS.glob("*.toml")):
        for row in records.load(path)["question"]:
            row["options"] = {letter: Option(*parts) for letter, parts in row["options"].items()}
            by_id[row["id"]] = Question(**row)
    return by_id
