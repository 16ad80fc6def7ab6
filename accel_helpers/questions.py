"""The question bank: read from ``data/questions/*.toml``, and checked field by field.

A question is data. `grading` grades an answer to it, `quiz` shows it. What a field means is said at
`Question` and `Option`.
"""

from __future__ import annotations

import functools
import math
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources
from pathlib import Path

LARGEST = 1_000_000  # bytes; the largest file of the bank has a twentieth of it
KINDS = ("one", "several", "number", "order", "measured")
LABELS = (
    "seen in the material",
    "reported second-hand",
    "not available: the standard answer",
)
CLOSENESS = ("close", "too low", "too high")  # the options of a question of the kind "measured"


class QuestionError(ValueError):
    """A file of questions that cannot be used; the message names the file and the field."""


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
            if (o.material_position if material else o.position)
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
                    raise QuestionError(f"{path.name}: field 'id': {question.id!r} stands twice.")
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
    QuestionError
        If the file is missing, too large, no TOML or no list of questions; it names the field.
    """
    path = Path(path)
    try:
        if path.stat().st_size > LARGEST:
            raise QuestionError(f"{path.name}: larger than {LARGEST:,} bytes: no question file.")
        text = path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        raise QuestionError(f"{path.name}: cannot be read: {reason}.") from None
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
    try:
        values = tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise QuestionError(f"{name}: not valid TOML ({str(error)[:100]}).") from None
    tables = values.get("question")
    if set(values) != {"question"} or not isinstance(tables, list) or not tables:
        raise QuestionError(f"{name}: must hold tables [[question]] and nothing else.")
    return tuple(_question(_Table(table, name, f"question {n}")) for n, table in _counted(tables))


# ---------------------------------------------------------------------------------------------


def _folder():
    return resources.files("accel_helpers") / "data" / "questions"


def _counted(tables):
    return enumerate(tables, 1)


class _Table:
    """A table of TOML that is asked for its fields, and knows where it stands."""

    def __init__(self, values, file: str, place: str):
        self.values, self.file, self.place = values, file, place
        if not isinstance(values, dict):
            self.refuse(None, "a table", values)

    def refuse(self, key: str | None, wanted: str, got):
        field = f", field '{key}'" if key else ""
        said = repr(got) if len(repr(got)) <= 60 else f"{got!r:.57}..."
        raise QuestionError(f"{self.file}: {self.place}{field}: must be {wanted}; got {said}.")

    def text(self, key: str, default: str | None = None) -> str:
        value = self.values.get(key, default)
        if not isinstance(value, str) or (default is None and not value.strip()):
            self.refuse(key, "a text", value)
        return value.strip()

    def flag(self, key: str, default: bool | None = None) -> bool:
        value = self.values.get(key, default)
        if not isinstance(value, bool):
            self.refuse(key, "true or false", value)
        return value

    def number(self, key: str, least: float, default: float | None = None) -> float:
        value = self.values.get(key, default)
        usable = isinstance(value, (int, float)) and not isinstance(value, bool)
        if not usable or not math.isfinite(value) or value < least:
            self.refuse(key, f"a number of {least:g} or more", value)
        return float(value)

    def place_in_order(self, key: str) -> int | None:
        value = self.values.get(key)
        if value is not None and (isinstance(value, bool) or not isinstance(value, int)):
            self.refuse(key, "a whole number", value)
        return value

    def texts(self, key: str, needed: bool) -> tuple[str, ...]:
        value = self.values.get(key, [])
        if not isinstance(value, list) or not all(isinstance(v, str) and v.strip() for v in value):
            self.refuse(key, "a list of texts", value)
        if needed and not value:
            self.refuse(key, "a list of one text or more", value)
        return tuple(value)

    def only(self, *keys: str):
        for key in self.values:
            if key not in keys:
                self.refuse(key, f"left out, since the fields are {', '.join(keys)}", "it")


def _question(it: _Table) -> Question:
    it.place += f" ({it.text('id')!r:.40})"
    kind = it.text("kind")
    if kind not in KINDS:
        it.refuse("kind", f"one of {', '.join(KINDS)}", kind)
    it.only(
        *("id", "lesson", "kind", "stem", "exam", "material", "label", "today", "practice"),
        *("source", "options"),
        *(("unit", "tolerance") if kind == "number" else ()),
        *(("unit", "measured", "over", "scale", "within") if kind == "measured" else ()),
    )
    tables = it.values.get("options")
    if not isinstance(tables, list) or not 2 <= len(tables) <= 8:
        it.refuse("options", "a list of 2 to 8 tables", tables)
    named = isinstance(tables[0], dict) and any(
        isinstance(t, dict) and ("material" in t or "material_position" in t) for t in tables
    )
    options = tuple(
        _option(_Table(table, it.file, f"{it.place}, option {n}"), kind, n, named)
        for n, table in _counted(tables)
    )
    exam = it.texts("exam", needed=False)
    if not all(re.fullmatch(r"E[1-9]\d?", number) for number in exam):
        it.refuse("exam", "a list of numbers such as E3", list(exam))
    question = Question(
        id=it.text("id"),
        lesson=it.text("lesson"),
        kind=kind,
        stem=it.text("stem"),
        options=options,
        source=it.texts("source", needed=True),
        exam=exam,
        material=it.text("material", None if exam else ""),
        label=it.text("label", None if exam else ""),
        today=it.text("today", ""),
        practice=it.flag("practice", True),
        unit=it.text("unit", ""),
        tolerance=it.number("tolerance", 0, None if kind == "number" else 0),
        measured=it.text("measured", None if kind == "measured" else ""),
        over=it.text("over", ""),
        scale=it.number("scale", 0, 1),
        within=it.number("within", 1, None if kind == "measured" else 1),
    )
    _hold_together(question, it)
    return question


def _option(it: _Table, kind: str, place: int, named: bool) -> Option:
    it.only(
        *("text", "correct", "feedback", "material"),
        *(("position", "material_position") if kind == "order" else ()),
        *(("value",) if kind == "number" else ()),
    )
    correct = it.flag("correct")
    position = it.place_in_order("position")
    theirs = it.place_in_order("material_position")
    return Option(
        letter="abcdefgh"[place - 1],
        text=it.text("text"),
        correct=correct,
        feedback=it.text("feedback"),
        material=it.flag("material", theirs is not None if named else correct),
        position=position,
        material_position=theirs if named else position,
        value=it.number("value", -1e300) if kind == "number" else None,
    )


def _hold_together(question: Question, it: _Table) -> None:
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
            places = sorted(getattr(o, field) for o in question.options if getattr(o, field))
            if places != list(range(1, len(places) + 1)) or len(places) < 3:
                it.refuse("options", f"steps with '{field}' 1, 2, 3 and so on", places)
        if any(o.correct != (o.position is not None) for o in question.options):
            it.refuse("options", "correct where they have a position, and only there", "others")
    if question.kind == "measured" and tuple(o.text for o in question.options) != CLOSENESS:
        it.refuse("options", f"three: {', '.join(CLOSENESS)}", [o.text for o in question.options])
