"""The exam's questions with two answers each, ``data/exam_answers.toml``, read and checked."""

from __future__ import annotations

import functools
import importlib.resources
from dataclasses import dataclass

from accel_helpers._records import Fields, tables
from accel_helpers.learn.questions import LABELS, NOT_FOUND

FILE = "exam_answers.toml"
_FIELDS = {"number", "asks", "lesson", "material", "label", "material_source", "today"}
_FIELDS |= {"today_source", "differs", "measurement", "card"}


@dataclass(frozen=True)
class Answer:
    """An exam question with its two answers. The fields are those of the file.

    `says` is one sentence on the measurement of the course that settles it, `where` the lesson
    and the heading at which it is found, `link` the address of that, seen from another lesson.
    """

    number: str
    asks: str
    lesson: str
    material: tuple[str, ...]
    label: str
    material_source: tuple[str, ...]
    today: tuple[str, ...]
    today_source: tuple[str, ...]
    differs: bool
    says: str = ""
    where: str = ""
    link: str = ""
    card: tuple[str, ...] = ()


@functools.cache
def answers() -> tuple[Answer, ...]:
    """The exam questions that the course answers, in their order.

    Returns
    -------
    tuple of Answer

    Raises
    ------
    DataError
        If the file is not in order; the message names the question and the field.

    Examples
    --------
    >>> answers()[0].number
    'E1'
    """
    file = importlib.resources.files("accel_helpers") / "data" / FILE
    return parse(file.read_text(encoding="utf-8"))


def parse(toml: str) -> tuple[Answer, ...]:
    """Read the answers from the text of a TOML file, and check them.

    Parameters
    ----------
    toml : str
        As in ``data/exam_answers.toml``, whose first lines explain the fields.

    Returns
    -------
    tuple of Answer

    Raises
    ------
    DataError

    Examples
    --------
    >>> parse("[[answer]]\\nnumber = 'E1'\\nlesson = 1")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    accel_helpers._records.DataError: exam_answers.toml, answer E1: 'asks' must be a text ...
    """
    found = tables(toml, FILE, "answer")
    return tuple(_answer(table, place) for place, table in enumerate(found, start=1))


def _answer(table, place: int) -> Answer:
    number = table.get("number", place) if isinstance(table, dict) else place
    number = f"E{number}" if isinstance(number, int) else str(number)
    read = Fields(table, f"{FILE}, answer {number:.20}", _FIELDS)
    asks, lesson, label = (read.text(name) for name in ("asks", "lesson", "label"))
    if label not in LABELS:
        read.refuse("label", f"one of {', '.join(LABELS)}", label)
    names = ("lesson", "page", "heading", "says")
    where = Fields(table.get("measurement"), f"{read.where}, measurement", set(names))
    place_of, page, heading, says = (where.text(name) for name in names)
    return Answer(
        number,
        asks,
        lesson,
        _texts(read, "material"),
        label,
        _texts(read, "material_source", empty=label == NOT_FOUND),
        _texts(read, "today"),
        _texts(read, "today_source"),
        read.flag("differs"),
        says,
        f"Lesson {place_of}, “{heading}”",
        f"{page}#{heading.replace('`', '').replace(' ', '-')}",
        _texts(read, "card", empty=True),
    )


def _texts(read: Fields, name: str, *, empty: bool = False) -> tuple[str, ...]:
    value = read.table.get(name)
    if empty and not value:
        return ()
    return (read.text(name),) if isinstance(value, str) else read.texts(name)
