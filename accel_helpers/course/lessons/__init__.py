"""The material of the lessons: the checks of their exercises, and what draws their pictures."""

import functools
import importlib
from collections.abc import Callable
from pathlib import Path

from accel_helpers.course.checks import Check, WordCheck
from accel_helpers.course.places import HEADING, OUTCOME, cut
from accel_helpers.measure.pictures import Picture

WORDS = Path(__file__).parents[1] / "data" / "exercises.md"


@functools.cache
def exercises() -> dict[str, Check]:
    """Return the check of every exercise by its name, such as "03/a"."""
    _, texts = cut(HEADING, WORDS.read_text("utf-8"))
    checks: dict[str, Check] = {name: _word_check(text) for name, text in texts.items()}
    for number in range(12):
        lesson = importlib.import_module(f"{__name__}.lesson_{number:02}")
        checks |= getattr(lesson, "CHECKS", {})
    return checks


def _word_check(text: str) -> WordCheck:
    """Return the check that a part of ``data/exercises.md`` describes; its first lines say how."""
    head, rows = cut(OUTCOME, text)
    fields = dict(line.split(": ", 1) for line in head.splitlines())
    pairs = fields["right"].split(" | ")
    right = dict(pair.split(" ", 1) for pair in pairs)
    choices = fields["choices"].split(" | ")
    slips = {}
    for row, said in rows.items():
        key, _, choice = row.partition(" ")
        message, _, hint = said.partition("> ")
        slips[key, choice] = (message.strip(), hint)
    return WordCheck(right, choices, fields["done"], slips)


def drawings(number: str) -> dict[str, Callable[..., Picture]]:
    """Return what draws each picture of a lesson, by the place's id."""
    lesson = importlib.import_module(f"{__name__}.lesson_{number}")
    return getattr(lesson, "PICTURES", {})
