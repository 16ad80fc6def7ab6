"""The summary to keep: both answers to every exam question, and what you measured, on one page."""

import datetime
import re
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from accel_helpers._values.records import write_whole
from accel_helpers._values.words import template
from accel_helpers.course import ledger, quiz, record
from accel_helpers.course.review import Answer, answers
from accel_helpers.measure import results

NAME = "course_summary.html"
MOST_NUMBERS = 8  # numbers of one name that are written out
__all__ = ["write"]


def write(path: str | Path | None = None) -> Path:
    """Write the summary of what you answered and measured, and return where it was written.

    A result card that cannot be read is left out, and the page says why.

    Parameters
    ----------
    path : path-like, optional
        By default course_summary.html beside the result card. A file that is there is replaced,
        whole or not at all.

    Raises
    ------
    OSError
        Where the file cannot be written.

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
    """Return what the page shows of the learner's record, by the names in its template."""
    missed_questions = quiz.again().questions
    answered_text = ""
    if quiz.answers():
        answered_text = quiz.overview().sentence()
    return {
        "now": datetime.datetime.now(),
        "answered": answered_text,
        "missed": [f"Lesson {question.lesson}: {question.stem}" for question in missed_questions],
        "verdict": record.newest("guess/").get("05/verdict"),
    }


def page(questions: Sequence[Answer], card: results.Card | None, **standing: object) -> str:
    """Return the HTML of the page: exam questions, each with what the card has about it.

    `standing` is what the template ``templates/summary.html`` shows beside them: `note` and the
    items of `_standing`.
    """
    entries = ledger.fill(card)
    rows = [(question, _measured(question, entries, card)) for question in questions]
    text = template("course/templates/summary.html").render(
        questions=rows, entries=entries, card=card, **standing
    )
    # A line may break at each slash inside a link: those are the long addresses.
    text = re.sub(r"/(?=[^<>\n]*</a>)", "/<wbr>", text)
    # A card may come from elsewhere: what cannot be printed could reorder or hide a text.
    return "".join(_printable(letter) for letter in text)


def _printable(letter: str) -> str:
    """Return a letter or a line's end; for a letter that cannot be printed the sign "\\ufffd"."""
    if letter.isprintable() or letter == "\n":
        return letter
    return "\ufffd"


class Line(NamedTuple):
    """A line of the page on what was measured about a question."""

    name: str  # of a measurement on the card, or a verdict of the ledger
    is_verdict: bool  # which of the two it is
    text: str  # the measurement in words


def _measured(answer: Answer, entries: ledger.Ledger, card: results.Card | None) -> list[Line]:
    """Return the lines on an exam question: first its measurements, then the ledger's verdicts.

    The verdicts are of those claims that were judged by nothing but these measurements. Without
    a card there are only verdicts by published figures, if any.
    """
    lines = []
    for name in answer.card:
        text = _on_card(name, card)
        if text:
            lines.append(Line(name, False, text))
    for entry in entries:
        names = set(entry.claim.names)
        # The question names all that the claim is judged by.
        about_this = bool(names) and names <= set(answer.card)
        if about_this and entry.outcome != ledger.NOT_MEASURED:
            verdict = entry.verdict[:1].upper() + entry.verdict[1:]
            text = entry.measured
            if not text:
                text = entry.sentence
            lines.append(Line(verdict, True, text))
    return lines


def _on_card(name: str, card: results.Card | None) -> str:
    """Return in words what stands on the card under a name: a measurement, or some numbers.

    Empty where there is no card, or it has nothing under this name.
    """
    if card is None:
        return ""
    if name in card.measurements:
        measurement = card.measurements[name]
        # The lines below the first one are remarks.
        first_line, *_ = str(measurement).splitlines()
        return first_line
    values = card.numbers.get(name, ())
    text = ", ".join(f"{value:.4g}" for value in values[:MOST_NUMBERS])
    if len(values) > MOST_NUMBERS:
        text += f" and so on, {values[-1]:.4g} at the end"
    return text
