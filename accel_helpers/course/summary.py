"""The summary to keep: both answers to every exam question, and what you measured, on one page."""

import datetime
import re
from collections.abc import Sequence
from pathlib import Path

from accel_helpers._values.records import write_whole
from accel_helpers._values.words import template
from accel_helpers.course import ledger, progress, quiz
from accel_helpers.course.review import Answer, answers
from accel_helpers.measure import results

NAME = "course_summary.html"
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
    mine, card, note = results.card_path(), None, ""
    path = mine.with_name(NAME) if path is None else Path(path)
    try:
        card = results.load(mine) if mine.exists() else None
    except ValueError as error:
        note = f"Your result card was not used: {error}"
    write_whole(path, page(answers(), card, note=note, **_standing()))
    return path


def _standing() -> dict:
    """What the page says of the learner."""
    kept = progress.current()
    return {
        "now": datetime.datetime.now(),
        "answered": quiz.overview().sentence() if kept.answers else "",
        "missed": [f"Lesson {each.lesson}: {each.stem}" for each in quiz.again().questions],
        "verdict": kept.guesses.get("05/verdict"),
    }


def page(questions: Sequence[Answer], card: results.Card | None, **said) -> str:
    """The page, ``data/templates/summary.html``, with what is `said` of the learner."""
    entries = ledger.fill(card)
    rows = [(one, _measured(one, entries, card)) for one in questions]
    text = template("course/templates/summary.html").render(
        questions=rows, entries=entries, card=card, **said
    )
    text = re.sub(r"/(?=[^<>\n]*</a>)", "/<wbr>", text)  # a line may break in a long address
    return "".join(each if each.isprintable() or each == "\n" else "\ufffd" for each in text)


def _measured(answer: Answer, entries: ledger.Ledger, card: results.Card | None) -> list[tuple]:
    """What the card says on a question: a name on it, or a verdict (true), and the words."""
    lines = [(name, False, said) for name in answer.card if (said := _on_card(name, card))]
    for entry in entries:  # what the ledger makes of the same names
        names = {*entry.claim.names}
        if names and names <= {*answer.card} and entry.outcome != ledger.NOT_MEASURED:
            verdict = entry.verdict[:1].upper() + entry.verdict[1:]
            lines.append((verdict, True, entry.measured or entry.sentence))
    return lines


def _on_card(name: str, card: results.Card | None) -> str:
    if card and name in card.measurements:
        return str(card.measurements[name]).splitlines()[0]
    values = card.numbers.get(name, ()) if card else ()
    more = f" and so on, {values[-1]:.4g} at the end" if len(values) > 8 else ""
    return ", ".join(f"{value:.4g}" for value in values[:8]) + more
