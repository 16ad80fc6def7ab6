"""The exam's questions with both answers, ``data/exam_answers.toml``, folded away."""

import datetime
import functools
from dataclasses import dataclass

from accel_helpers._words import shown
from accel_helpers.learn.questions import DATA, FURTHER, HEADINGS, Label, stored
from accel_helpers.learn.quiz_widget import Shown

__all__ = ["both"]


@dataclass(frozen=True)
class Answer:
    """An exam question with its two answers; the first lines of the file explain the fields."""

    number: str
    asks: str
    material: tuple[str, ...]
    label: Label
    material_source: tuple[str, ...]
    today: tuple[str, ...]
    today_source: tuple[str, ...]
    as_of: datetime.date
    differs: bool
    page: str
    heading: str
    says: str
    card: tuple[str, ...] = ()

    @property
    def further(self) -> bool:
        return self.number in FURTHER

    @property
    def for_the_exam(self) -> str:
        return HEADINGS[self.label].format("another" if self.further else "the")

    @property
    def place(self) -> str:
        return f"Lesson {self.page[:2]}, “{self.heading}”"


@functools.cache
def answers() -> tuple[Answer, ...]:
    """The exam questions that the course answers, in their order."""
    return stored(DATA / "exam_answers.toml", "answer", Answer)


@dataclass(frozen=True, repr=False)
class Review(Shown):
    """Questions of the exam, each shown with two folded answers."""

    answers: tuple[Answer, ...]
    macro = "review"

    def __str__(self) -> str:
        lines = []
        for one in self.answers:
            which = " (a further question, not of this exam)" * one.further
            lines += [f"{one.number}{which}. {one.asks}", f"  {one.for_the_exam}:"]
            lines += [f"    {text}" for text in one.material]
            lines += [f"  True today (checked {one.as_of}):"]
            lines += [f"    {text}" for text in one.today]
            lines += [f"  Measured: {one.place}. {one.says}"]
        return "\n".join(lines)


def both(*numbers: str) -> Review:
    """Show exam questions with the material's answer and today's; put the call last in a cell.

    Examples
    --------
    >>> both("E3").answers[0].differs
    True
    """
    known = {one.number: one for one in answers()}
    if (unknown := [each for each in numbers if each not in [*known]]) or not numbers:
        raise ValueError(f"the questions are {', '.join(known)}; got {shown(unknown[:1])}.")
    return Review(tuple(known[number] for number in numbers))
