"""The question bank: read from ``data/questions/*.toml``, and checked field by field.

A question is data. `grading` grades an answer to it, `quiz` shows it. What a field means is said at
`Question` and `Option`.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources
from pathlib import Path

from accel_helpers._records import DataError, Fields, read_small, tables

LARGEST = 200_000  # bytes; the largest file of the bank has a fifth of it
KINDS = ("one", "several", "number", "order", "measured")
LABELS = (
    "seen in the material",
    "reported second-hand",
    "not available: the standard answer",
)
NOT_FOUND = LABELS[2]
CLOSENESS = ("close", "too low", "too high")  # the options of a question of the kind "measured"


@dataclass(frozen=True)
class Option:
    """One of the answers that a question offers.

    Attributes
    ----------
    letter : str
        By which it is chosen: "a", "b" and so on, in the order of the file.
    text : str
    correct : bool
        Whether it is right today.
    feedback : str
        Why it is right, or wrong.
    material : bool
        Whether the exam's material answers so; the same as `correct` where the two agree.
    position, material_position : int or None
        Of a step: its place in the right order, and in the material's, from 1.
    value : float or None
        Of a number: the answer, or the wrong value that a known mistake leads to.
    """

    letter: str
    text: str
    correct: bool
    feedback: str
    material: bool
    position: int | None = None
    material_position: int | None = None
    value: float | None = None


@dataclass(frozen=True)
class Question:
    """A question with everything that is needed to ask it, to grade it and to answer it.

    Attributes
    ----------
    id : str
        Lesson and name, such as "03/speedup".
    lesson : str
        The lesson that answers it, such as "03".
    kind : str
        "one" choice, "several" choices, a "number", steps in "order", or a guess of what the
        learner has "measured".
    stem : str
        What is asked. Words in backticks are code.
    options : tuple of Option
    source : tuple of str
        Addresses, or places in the course.
    exam : tuple of str
        The exam questions that it covers, such as ("E3",).
    material, label : str
        What the exam's material answers, and how we know; empty where it is no exam question.
    today : str
        What is true today, where that differs.
    practice : bool
        Whether it may stand in a practice exam.
    apart : tuple of str
        Questions that do not stand on one paper with it, since one helps to answer the other.
    unit : str
        Of a number.
    tolerance : float
        Of a number: how far off it may be, as a share.
    measured, over : str
        Names on the result card: what is guessed is the first, divided by the second if there is
        one, times `scale`.
    scale, within : float
        `within` is the factor up to which a guess counts as close.
    """

    id: str
    lesson: str
    kind: str
    stem: str
    options: tuple[Option, ...]
    source: tuple[str, ...]
    exam: tuple[str, ...] = ()
    material: str = ""
    label: str = ""
    today: str = ""
    practice: bool = True
    apart: tuple[str, ...] = ()
    unit: str = ""
    tolerance: float = 0.0
    measured: str = ""
    over: str = ""
    scale: float = 1.0
    within: float = 0.0

    @property
    def differs(self) -> bool:
        """Whether the exam's material answers otherwise than what is true today."""
        return any(
            (o.material, o.material_position) != (o.correct, o.position) for o in self.options
        )

    def steps(self, material: bool = False) -> str:
        """Give the letters of a kind "order" in the right order, or in the material's."""
        places = {
            o.material_position if material else o.position: o.letter
            for o in self.options
            if (o.material_position if material else o.position) is not None
        }
        return "".join(places[place] for place in sorted(places))

    def letters(self, material: bool = False) -> str:
        """Give the letters of the options that are right, or that the material answers."""
        return "".join(o.letter for o in self.options if (o.material if material else o.correct))


@functools.cache
def bank() -> Mapping[str, Question]:
    """Every question of the course by its id, in the order of the lessons.

    Returns
    -------
    mapping of str to Question

    Examples
    --------
    >>> all(question.source for question in bank().values())
    True
    """
    found = {}
    for path in sorted(_folder().iterdir(), key=lambda path: path.name):
        if path.name.endswith(".toml"):
            for question in parse(path.read_text("utf-8"), path.name):
                if question.id in found:
                    raise DataError(f"{path.name}: field 'id': {question.id!r} stands twice.")
                found[question.id] = question
    return found


def load(path) -> tuple[Question, ...]:
    """Read a file of questions and check every field of it.

    Parameters
    ----------
    path : path-like

    Returns
    -------
    tuple of Question

    Raises
    ------
    DataError
        If the file is missing, too large, no TOML or no list of questions; it names the field.
    """
    path = Path(path)
    try:
        text = read_small(path, LARGEST, "question file", DataError)
    except FileNotFoundError as error:
        raise DataError(f"{path.name}: cannot be read: {error.strerror}.") from None
    return parse(text, path.name)


def parse(text: str, name: str) -> tuple[Question, ...]:
    """Read questions from TOML.

    Parameters
    ----------
    text : str
    name : str
        Of the file, for the messages.

    Returns
    -------
    tuple of Question
    """
    found = tables(text, name, "question")
    return tuple(_question(table, name, place) for place, table in enumerate(found, 1))


# ---------------------------------------------------------------------------------------------


def _folder():
    return resources.files("accel_helpers") / "data" / "questions"


_OF_ALL = {"id", "lesson", "kind", "stem", "exam", "material", "label", "today", "practice"}
_OF_ALL |= {"apart", "source", "options"}
_OF_KIND = {
    "number": {"unit", "tolerance"},
    "measured": {"unit", "measured", "over", "scale", "within"},
}
_OF_OPTION = {"text", "correct", "feedback", "material"}
_OF_OPTION_OF_KIND = {"order": {"position", "material_position"}, "number": {"value"}}


def _question(table, file: str, place: int) -> Question:
    named = isinstance(table, dict) and isinstance(table.get("id"), str)
    where = f"{file}, question {place}" + (f" ({table['id']!r:.40})" if named else "")
    kind = table.get("kind") if isinstance(table, dict) else None
    kind = kind if isinstance(kind, str) else ""
    it = Fields(table, where, _OF_ALL | _OF_KIND.get(kind, set()))
    if kind not in KINDS:
        it.refuse("kind", f"one of {', '.join(KINDS)}", table.get("kind"))
    exam = it.texts("exam", empty=True)
    if not all(re.fullmatch(r"E[1-9]\d?", number) for number in exam):
        it.refuse("exam", "a list of numbers such as E3", list(exam))
    question = Question(
        id=it.text("id"),
        lesson=it.text("lesson"),
        kind=kind,
        stem=it.text("stem"),
        options=_options(it, kind),
        source=it.texts("source"),
        exam=exam,
        material=it.text("material", None if exam else ""),
        label=it.text("label", None if exam else ""),
        today=it.text("today", ""),
        practice=it.flag("practice", True),
        apart=it.texts("apart", empty=True),
        unit=it.text("unit", ""),
        tolerance=it.number("tolerance", 0, None if kind == "number" else 0),
        measured=it.text("measured", None if kind == "measured" else ""),
        over=it.text("over", ""),
        scale=it.number("scale", 0, 1),
        within=it.number("within", 1, None if kind == "measured" else 1),
    )
    _hold_together(question, it)
    return question


def _options(it: Fields, kind: str) -> tuple[Option, ...]:
    found = it.table.get("options")
    if not isinstance(found, list) or not 2 <= len(found) <= 8:
        it.refuse("options", "a list of 2 to 8 tables", found)
    known = _OF_OPTION | _OF_OPTION_OF_KIND.get(kind, set())
    read = [Fields(one, f"{it.where}, option {n}", known) for n, one in enumerate(found, 1)]
    # where no option says what the material answers, it answers what is right
    differs = any("material" in one.table or "material_position" in one.table for one in read)
    return tuple(
        _option(one, letter, kind, differs) for one, letter in zip(read, "abcdefgh", strict=False)
    )


def _option(it: Fields, letter: str, kind: str, differs: bool) -> Option:
    correct, position = it.flag("correct"), it.whole("position")
    theirs = it.whole("material_position")
    return Option(
        letter=letter,
        text=it.text("text"),
        correct=correct,
        feedback=it.text("feedback"),
        material=it.flag("material", theirs is not None if differs else correct),
        position=position,
        material_position=theirs if differs else position,
        value=it.number("value", -1e300) if kind == "number" else None,
    )


def _hold_together(question: Question, it: Fields) -> None:
    """Refuse a question whose fields do not fit each other."""
    if not re.fullmatch(r"\d\d/[a-z0-9_]+", question.id) or question.id[:2] != question.lesson:
        it.refuse("id", f"lesson and name, such as {question.lesson}/speedup", question.id)
    if question.label and question.label not in LABELS:
        it.refuse("label", f"one of {'; '.join(LABELS)}", question.label)
    if not question.exam and (question.material or question.label or question.today):
        it.refuse("exam", "there where 'material', 'label' or 'today' is", list(question.exam))
    if question.differs and not question.today:
        it.refuse("today", "there, since the options say that the two answers differ", "nothing")
    right = [o for o in question.options if o.correct]
    theirs = [o for o in question.options if o.material]
    wrong = [o for o in question.options if not o.correct]
    if question.kind in ("one", "number", "measured") and (len(right), len(theirs)) != (1, 1):
        it.refuse("options", "a list with one correct", f"{len(right)} (material: {len(theirs)})")
    if question.kind == "several" and not (len(right) > 1 and theirs and wrong):
        it.refuse("options", "a list with several correct and one wrong", f"{len(right)} correct")
    if question.kind == "order":
        for field in ("position", "material_position"):
            places = [getattr(o, field) for o in question.options]
            places = sorted(place for place in places if place is not None)
            if places != list(range(1, len(places) + 1)) or len(places) < 3:
                it.refuse("options", f"steps with '{field}' 1, 2, 3 and so on", places)
        if any(o.correct != (o.position is not None) for o in question.options):
            it.refuse("options", "correct where they have a position, and only there", "others")
    if question.kind == "measured" and tuple(o.text for o in question.options) != CLOSENESS:
        it.refuse("options", f"three: {', '.join(CLOSENESS)}", [o.text for o in question.options])
