"""The question bank, ``questions/*.toml``; tests/course/test_questions.py has its rules."""

import datetime
import functools
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, get_args

from accel_helpers._values import records

Kind = Literal["one", "several", "number", "order", "measured"]
Label = Literal[
    "seen in the material", "reported second-hand", "not available: the standard answer"
]
KINDS = get_args(Kind)
LABELS = get_args(Label)
NOT_FOUND = LABELS[2]
FURTHER = ("E11", "E12", "E13", "E14")  # not of this exam: another one's, or of no material
HEADINGS = {label: f"What {{}} exam's material answers ({label})" for label in LABELS}
HEADINGS[NOT_FOUND] = "The usual answer (the material's text was not found)"
HOW = {
    "one": "Choose one",
    "several": "Choose all that are right",
    "number": "Type a number",
    "order": "Put the steps in order. Some may not belong",
    "measured": "From memory, or as a guess",
}
EXAMPLES = {"one": "a", "several": "ab", "order": "cab", "number": 1.5, "measured": 1.5}
LETTERS = "abcdefgh"
DATA = Path(__file__).parent / "data"
QUESTIONS = Path(__file__).parent / "questions"
__all__ = ["bank"]


@dataclass(frozen=True)
class Option:
    """One of the answers that a question offers."""

    text: str
    correct: bool  # right today
    feedback: str  # why it is right, or wrong
    material: bool = False  # the exam's material answers so; told by no option: as `correct`
    position: int | None = None  # of a step, in the right order from 1
    material_position: int | None = None
    value: float | None = None  # of a number: the answer, or what a known mistake leads to
    letter: str = ""  # by which it is chosen; its place among the options gives it


@dataclass(frozen=True)
class Question:
    """A question with everything that is needed to ask it, to grade it and to answer it."""

    id: str  # lesson and name, such as "03/speedup"
    lesson: str  # the one that answers it
    kind: Kind
    stem: str  # what is asked; words in backticks are code
    options: tuple[Option, ...]
    source: tuple[str, ...]  # addresses, or places in the course
    exam: tuple[str, ...] = ()  # the exam questions that it covers, such as ("E3",)
    material: str = ""  # what the exam's material answers
    label: Label | Literal[""] = ""  # how we know
    today: str = ""  # what is true today, where that differs
    as_of: datetime.date | None = None  # when that was checked
    practice: bool = True  # may stand in a practice exam
    quiz: bool = True  # asked at the end of its lesson; the others in practice exams, or by name
    apart: tuple[str, ...] = ()  # what must not stand on one paper with it: it gives it away
    unit: str = ""
    tolerance: float = 0.0  # of a number: how far off it may be, as a share
    measured: str = ""  # the place on the record that has the answer
    number: str = ""  # there; times `scale` it is in the question's unit
    scale: float = 1.0
    within: float = 1.0  # the factor up to which a guess counts as close

    def __post_init__(self):
        # The options are completed: each gets its letter, and whether the material answers so.
        # Where no option speaks of the material, the material answers what is true today.
        speaks_of_material = any(_has_material(option) for option in self.options)
        options = []
        for letter, option in zip(LETTERS, self.options, strict=False):
            is_material = option.correct
            position = option.position
            if speaks_of_material:
                is_material = _has_material(option)
                position = option.material_position
            complete_option = replace(
                option, letter=letter, material=is_material, material_position=position
            )
            options.append(complete_option)
        # A frozen dataclass can be completed in this way only.
        object.__setattr__(self, "options", tuple(options))

    @property
    def differs(self) -> bool:
        """Whether the exam's material answers otherwise than what is true today."""
        return self.letters() != self.letters(material=True)

    def letters(self, material: bool = False) -> str:
        """Return the letters of the right options, or of those that the material answers: "ac".

        Those of steps come in their order: "cab".
        """
        chosen_options = [option for option in self.options if option.correct]
        if material:
            chosen_options = [option for option in self.options if option.material]

        def position(option: Option) -> int:
            place = option.position
            if material:
                place = option.material_position
            # Options that are no steps have no position: the sort keeps the order of equals.
            return 0 if place is None else place

        chosen_options.sort(key=position)
        return "".join(option.letter for option in chosen_options)

    @property
    def further(self) -> bool:
        """Whether this is a further question: all that it covers is not asked in this exam."""
        if not self.exam:
            return False
        return set(self.exam) <= set(FURTHER)

    @property
    def has_choices(self) -> bool:
        """Whether the options are shown: those of a number would give it away."""
        return self.kind in ("one", "several", "order")

    @property
    def how(self) -> str:
        """How it is answered, as the learner reads it."""
        text = HOW[self.kind]
        if self.unit and not self.has_choices:
            text = f"{text} ({self.unit})"
        if self.further:
            text = f"Further question, not of this exam. {text}"
        return f"{text}."

    @property
    def two_answers(self) -> tuple[tuple[str, str], ...]:
        """The material's answer, and today's where it differs, as pairs of (heading, text).

        Empty where the question covers none of an exam.
        """
        if not self.exam:
            return ()
        whose = "another" if self.further else "the"
        heading = HEADINGS[self.label].format(whose)
        by_material = (f"{heading}:", self.material)
        if not self.today:
            return (by_material,)
        as_of_today = (f"True today (checked {self.as_of}):", self.today)
        return (by_material, as_of_today)

    def text(self, number: int, call: bool = False) -> str:
        """Return the question as plain text, with its number (from 1) in front.

        With `call`, the last line is an example of the call that answers it.
        """
        lines = [f"{number}. {self.stem} ({self.how})"]
        if self.has_choices:
            lines += [f"   {option.letter}) {option.text}" for option in self.options]
        if call:
            example = EXAMPLES[self.kind]
            lines.append(f"   To answer, for example: ah.course.answer({self.id!r}, {example!r})")
        return "\n".join(lines)


def _has_material(option: Option) -> bool:
    """Return whether an option states that the exam's material answers so."""
    return option.material or bool(option.material_position)


def stored(path: Path, name: str, row: type) -> tuple:
    """Return the tables of one name in a TOML file of the course, each as a dataclass `row`.

    "[[claim]]" twice in the file, with the name "claim" and the row Claim -> (Claim(...),
    Claim(...)). Raises a DataError where the file is none, or its fields are not those of `row`.
    """
    tables = records.load(path, "file of the course")
    annotation = dict[Literal[name], tuple[row, ...]]
    rows_by_name = records.read(annotation, tables, path.name)
    return rows_by_name[name]


@functools.cache
def bank() -> Mapping[str, Question]:
    """Return every question of the course by its id, in the order of the lessons.

    Examples
    --------
    >>> all(question.source for question in bank().values())
    True
    """
    questions = {}
    for path in sorted(QUESTIONS.glob("*.toml")):
        for question in stored(path, "question", Question):
            questions[question.id] = question
    return questions
