"""What a learner's progress holds, and the reading of it: values and pure functions.

Every field is checked when it is read; `progress` keeps the file.
"""

from __future__ import annotations

import datetime
import json
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace

SCHEMA = 1


class ProgressError(ValueError):
    """A progress file that cannot be read; the message names the file and the field."""


@dataclass(frozen=True)
class Answer:
    """The latest answer to a question: what was given, its verdict, how often, and when."""

    given: str | float
    verdict: str
    tries: int
    when: str


@dataclass(frozen=True)
class Guess:
    """A prediction, and what came out of it once it was measured."""

    guess: str | float
    actual: str | float | None
    when: str


@dataclass(frozen=True)
class Sitting:
    """A practice exam: how many answers agree with the material, and with what is true today."""

    paper: int
    material: int
    today: int
    questions: int
    when: str


@dataclass(frozen=True)
class Progress:
    """Everything that is kept.

    Attributes
    ----------
    answers : mapping of str to Answer
        By question.
    guesses : mapping of str to Guess
        By the guess's name, such as "03/epoch".
    lessons : mapping of str to str
        Lesson to the time when the last of its questions was answered rightly.
    exams : tuple of Sitting
    """

    answers: Mapping[str, Answer] = field(default_factory=dict)
    guesses: Mapping[str, Guess] = field(default_factory=dict)
    lessons: Mapping[str, str] = field(default_factory=dict)
    exams: tuple[Sitting, ...] = ()

    def to_dict(self) -> dict:
        """The progress as plain JSON types."""
        return {
            "schema": SCHEMA,
            "answers": {name: asdict(value) for name, value in self.answers.items()},
            "guesses": {name: asdict(value) for name, value in self.guesses.items()},
            "lessons": dict(self.lessons),
            "exams": [asdict(value) for value in self.exams],
        }


def answered(it: Progress, name: str, given, verdict: str, when: str) -> Progress:
    """Add an answer.

    Examples
    --------
    >>> it = answered(Progress(), "03/speedup", "b", "right", "2026-11-22T10:00:00+00:00")
    >>> it.answers["03/speedup"].tries
    1
    """
    tries = it.answers[name].tries + 1 if name in it.answers else 1
    return replace(it, answers={**it.answers, name: Answer(given, verdict, tries, when)})


def guessed(it: Progress, name: str, guess, actual, when: str) -> Progress:
    """Add a guess, or what came out of it."""
    return replace(it, guesses={**it.guesses, name: Guess(guess, actual, when)})


def finished(it: Progress, lesson: str, when: str) -> Progress:
    """Add a lesson; the first time counts."""
    return it if lesson in it.lessons else replace(it, lessons={**it.lessons, lesson: when})


def sat(it: Progress, sitting: Sitting) -> Progress:
    """Add a practice exam."""
    return replace(it, exams=(*it.exams, sitting))


def merged(older: Progress, newer: Progress) -> Progress:
    """Put two together, such as those of two folders; of what both have, the later counts.

    A lesson is finished when it was first.

    Examples
    --------
    >>> one = answered(Progress(), "03/a", "b", "wrong", "2026-11-22T10:00:00+00:00")
    >>> other = answered(Progress(), "03/a", "c", "right", "2026-11-22T11:00:00+00:00")
    >>> merged(other, one).answers["03/a"].given
    'c'
    """

    def latest(a: Mapping, b: Mapping) -> dict:
        return {
            name: max((kept[name] for kept in (a, b) if name in kept), key=lambda it: it.when)
            for name in {**a, **b}
        }

    return Progress(
        latest(older.answers, newer.answers),
        latest(older.guesses, newer.guesses),
        {
            name: min(kept[name] for kept in (older.lessons, newer.lessons) if name in kept)
            for name in {**older.lessons, **newer.lessons}
        },
        tuple(sorted({*older.exams, *newer.exams}, key=lambda it: it.when)),
    )


def parse(text: str, name: str) -> Progress:
    """Read a progress from JSON.

    Parameters
    ----------
    text : str
    name : str
        Of the file, for the messages.

    Returns
    -------
    Progress
    """
    try:
        values = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ProgressError(f"{name}: not valid JSON ({str(error)[:80]}).") from None
    if not isinstance(values, dict):
        _refuse(name, "the file", "an object", values)
    if values.get("schema") != SCHEMA or values["schema"] is True:
        _refuse(name, "field 'schema'", f"{SCHEMA}", values.get("schema"))
    answers = {
        key: Answer(
            _value(name, f"answers, {key!r:.40}, given", entry.get("given")),
            _text(name, f"answers, {key!r:.40}, verdict", entry.get("verdict")),
            _count(name, f"answers, {key!r:.40}, tries", entry.get("tries")),
            _time(name, f"answers, {key!r:.40}, when", entry.get("when")),
        )
        for key, entry in _objects(values, "answers", name)
    }
    guesses = {
        key: Guess(
            _value(name, f"guesses, {key!r:.40}, guess", entry.get("guess")),
            _value(name, f"guesses, {key!r:.40}, actual", entry.get("actual"), empty=True),
            _time(name, f"guesses, {key!r:.40}, when", entry.get("when")),
        )
        for key, entry in _objects(values, "guesses", name)
    }
    lessons = values.get("lessons", {})
    if not isinstance(lessons, dict):
        _refuse(name, "field 'lessons'", "an object", lessons)
    for key in lessons:
        _text(name, "lessons, a name", key)
    lessons = {key: _time(name, f"lessons, {key!r:.40}", when) for key, when in lessons.items()}
    exams = values.get("exams", [])
    if not isinstance(exams, list):
        _refuse(name, "field 'exams'", "a list", exams)
    return Progress(
        answers, guesses, lessons, tuple(_sitting(name, n, e) for n, e in enumerate(exams, 1))
    )


def _sitting(name: str, number: int, entry) -> Sitting:
    if not isinstance(entry, dict):
        _refuse(name, f"field 'exams', {number}", "an object", entry)
    where = f"exams, {number}"
    counts = [
        _count(name, f"{where}, {key}", entry.get(key))
        for key in ("paper", "material", "today", "questions")
    ]
    return Sitting(*counts, _time(name, f"{where}, when", entry.get("when")))


def _objects(values: dict, key: str, name: str):
    found = values.get(key, {})
    if not isinstance(found, dict):
        _refuse(name, f"field '{key}'", "an object", found)
    for inner, entry in found.items():
        _text(name, f"{key}, a name", inner)
        if not isinstance(entry, dict):
            _refuse(name, f"field '{key}', {inner!r:.40}", "an object", entry)
        yield inner, entry


def _value(name: str, where: str, value, empty: bool = False):
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    if number and abs(value) < 1e300 and math.isfinite(value):
        return value
    if (isinstance(value, str) and _is_short(value)) or (empty and value is None):
        return value
    _refuse(name, f"field '{where}'", "a number or a short text", value)


def _text(name: str, where: str, value) -> str:
    if not isinstance(value, str) or not _is_short(value):
        _refuse(name, f"field '{where}'", "a short text", value)
    return value


def _is_short(text: str) -> bool:
    """A text that can be written again: half of a surrogate pair cannot."""
    return len(text) <= 1000 and text.encode("utf-8", "ignore").decode("utf-8") == text


def _count(name: str, where: str, value) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= 10**9:
        _refuse(name, f"field '{where}'", "a whole number of 0 or more", value)
    return value


def _time(name: str, where: str, value) -> str:
    try:
        datetime.datetime.fromisoformat(value)
        value.encode()  # between day and hour it takes any sign, half of a surrogate pair too
    except (TypeError, ValueError):
        _refuse(name, f"field '{where}'", "a time such as 2026-11-22T12:00:00+00:00", value)
    return value


def _refuse(name: str, where: str, wanted: str, got):
    try:
        said = repr(got)
    except ValueError:  # a whole number with thousands of digits
        said = f"something of type {type(got).__name__}"
    said = said if len(said) <= 60 else said[:57] + "..."
    raise ProgressError(f"{name}: {where} must be {wanted}; got {said}.")
