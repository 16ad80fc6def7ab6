"""The summary to keep: both answers to every exam question, and what you measured, on one page."""

import datetime
import re
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from accel_helpers._values.records import write_whole
from accel_helpers._values.words import template
from accel_helpers.course import ledger, progress, quiz
from accel_helpers.course.review import Answer, answers
from accel_helpers.measure import results

NAME = "course_summary.html"
MOST_NUMBERS = 8  # that are written out
__all__ = ["write"]


def write(path=None) -> Path:
    """Write the summary of what you answered and measured, whole or not at all.

    Parameters
    ----------
    path : path-like, optional
        By default course_summary.html beside the result card; a file that is there is replaced.

    Examples
    --------
    >>> import tempfile
    >>> write(Path(tempfile.mkdtemp()) / "mine.html").name
    'mine.html'
    """
    card_path = results.card_path()
    page_path = card_path.with_name(NAME)
    if path is not None:
        page_path = Path(path)
    card = None
    note = ""
    try:
        if card_path.exists():
            card = results.load(card_path)
    except ValueError as error:
        note = f"Your result card was not used: {error}"
    html = page(answers(), card, note=note, **_standing())
    write_whole(page_path, html)
    return page_path


def _standing() -> dict:
    """Return what the page shows about the learner's progress, by the names of its template."""
    kept = progress.current()
    missed = quiz.again().questions
    answered = ""
    if kept.answers:
        answered = quiz.overview().sentence()
    return {
        "now": datetime.datetime.now(),
        "answered": answered,
        "missed": [f"Lesson {question.lesson}: {question.stem}" for question in missed],
        "verdict": kept.guesses.get("05/verdict"),
    }


def page(questions: Sequence[Answer], card: results.Card | None, **standing) -> str:
    """Return the page, ``templates/summary.html``, with where the learner stands."""
    entries = ledger.fill(card)
    rows = [(question, _measured(question, entries, card)) for question in questions]
    text = template("course/templates/summary.html").render(
        questions=rows, entries=entries, card=card, **standing
    )
    # A line may break in a long address.
    text = re.sub(r"/(?=[^<>\n]*</a>)", "/<wbr>", text)
    # A card may come from elsewhere: what cannot be printed could reorder or hide a text.
    return "".join(_printable(letter) for letter in text)


def _printable(letter: str) -> str:
    """Return a letter, or the sign for one that cannot be shown."""
    if letter.isprintable() or letter == "\n":
        return letter
    return "\ufffd"


class Line(NamedTuple):
    """What was measured on a question: a name on the card, or a verdict, and the words."""

    name: str
    is_verdict: bool
    text: str


def _measured(answer: Answer, entries: ledger.Ledger, card: results.Card | None) -> list[Line]:
    """Return what the card has about a question: what was measured, then the ledger's verdicts."""
    lines = []
    for name in answer.card:
        text = _on_card(name, card)
        if text:
            lines.append(Line(name, False, text))
    # What the ledger makes of the same names.
    for entry in entries:
        names = set(entry.claim.names)
        about_this = bool(names) and names <= set(answer.card)
        if about_this and entry.outcome != ledger.NOT_MEASURED:
            verdict = entry.verdict[:1].upper() + entry.verdict[1:]
            text = entry.measured
            if not text:
                text = entry.sentence
            lines.append(Line(verdict, True, text))
    return lines


def _on_card(name: str, card: results.Card | None) -> str:
    """Return what stands on the card under a name, in words; empty where nothing does."""
    if card is None:
        return ""
    if name in card.measurements:
        measurement = card.measurements[name]
        first_line, *_ = str(measurement).splitlines()
        return first_line
    values = card.numbers.get(name, ())
    text = ", ".join(f"{value:.4g}" for value in values[:MOST_NUMBERS])
    if len(values) > MOST_NUMBERS:
        text += f" and so on, {values[-1]:.4g} at the end"
    return text
