"""The exam's questions with both answers, folded away, and your own measurements beside them."""

from __future__ import annotations

import html
from collections.abc import Sequence
from dataclasses import dataclass

from accel_helpers._words import linked, marked
from accel_helpers.learn.exam_answers import Answer, answers
from accel_helpers.learn.quiz_form import for_the_exam


@dataclass(frozen=True, repr=False)
class Review:
    """Questions of the exam; put last in a cell, each is shown with two folded answers.

    Attributes
    ----------
    answers : tuple of Answer
    """

    answers: tuple[Answer, ...]

    def __repr__(self) -> str:
        return str(self)

    def __str__(self) -> str:
        lines = []
        for one in self.answers:
            lines += [f"{one.number}. {one.asks}", f"  {for_the_exam(one.label)}:"]
            lines += [f"    {text}" for text in one.material]
            lines += ["  True today:", *(f"    {text}" for text in one.today)]
            lines += [f"  Measured: {one.where}. {one.says}"]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        return f"<div>{''.join(_shown(one) for one in self.answers)}</div>"


def both(*numbers: str) -> Review:
    """Show what the exam's material answers and what is true today; put the call last in a cell.

    Parameters
    ----------
    *numbers : str
        Questions of the exam, such as "E1".

    Returns
    -------
    Review

    Raises
    ------
    ValueError
        If there is no such question.

    Examples
    --------
    >>> both("E3").answers[0].lesson
    '03'
    """
    known = {one.number: one for one in answers()}
    unknown = [each for each in numbers if not isinstance(each, str) or each not in known]
    if unknown or not numbers:
        got = f"{unknown[0]!r:.40}" if unknown else "none"
        raise ValueError(f"the questions are {', '.join(known)}; got {got}.")
    return Review(tuple(known[number] for number in numbers))


# ---------------------------------------------------------------------------------------------


def _shown(one: Answer) -> str:
    today = "What is true today" + ("" if one.differs else " (the same)")
    return (
        f"<p><strong>{html.escape(one.number)}. {marked(one.asks)}</strong></p>"
        + _fold(for_the_exam(one.label), one.material, one.material_source)
        + _fold(today, one.today, one.today_source)
        + f'<p>Where the course measures it: <a href="{html.escape(one.link, quote=True)}">'
        f"{marked(one.where)}</a>. {marked(one.says)}</p>"
    )


def _fold(summary: str, texts: Sequence[str], sources: Sequence[str]) -> str:
    items = "".join(f"<li>{marked(text)}</li>" for text in texts)
    said = f"<p>Source: {linked(sources)}</p>" if sources else ""
    return f"<details><summary>{html.escape(summary)}</summary><ul>{items}</ul>{said}</details>"
