"""The summary to keep: both answers to every exam question, and what you measured, on one page."""

import datetime
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from accel_helpers._values.records import DataError, write_whole
from accel_helpers._values.words import format_seconds, template
from accel_helpers.course import ledger, quiz, record
from accel_helpers.course.record import Entry
from accel_helpers.course.review import Answer, answers

NAME = "course_summary.html"
MOST_NUMBERS = 8  # numbers of one place that are written out
BESIDE = (" low", " high", " samples", " first call seconds")  # are not written out by themselves
__all__ = ["write"]


def write() -> Path:
    """Write the summary of what you answered and measured, and return where it was written.

    That is course_summary.html beside the record; one that is there is replaced, whole or not at
    all. A record that cannot be read is left out, and the page says why.

    Raises
    ------
    OSError
        Where the file cannot be written.

    Examples
    --------
    >>> write().name
    'course_summary.html'
    """
    page_path = record.path().with_name(NAME)
    note = ""
    try:
        record.load(record.path())
    except (DataError, OSError) as error:
        note = f"Your record was not used: {error}"
    write_whole(page_path, page(note))
    return page_path


def page(note: str = "") -> str:
    """Return the HTML of the page, with a note on the record."""
    entries = record.everything()
    measured = [entry for entry in entries if not entry.place.startswith(record.PRIVATE)]
    findings = ledger.fill(entries)
    text = template("course/templates/summary.html").render(
        note=note,
        now=datetime.datetime.now(),
        answered=quiz.answers() and quiz.overview(),
        missed=quiz.again().questions,
        verdict=record.newest("guess/").get("05/verdict"),
        questions=[(answer, [*_lines(answer, findings, measured)]) for answer in answers()],
        findings=findings,
        measured=measured,
    )
    # A line may break at each slash inside a link: those are the long addresses.
    text = re.sub(r"/(?=[^<>\n]*</a>)", "/<wbr>", text)
    # A record may come from elsewhere: what cannot be printed could reorder or hide a text.
    return "".join(sign if sign.isprintable() or sign == "\n" else "\ufffd" for sign in text)


def _lines(
    answer: Answer, findings: ledger.Ledger, entries: Sequence[Entry]
) -> Iterator[tuple[str, str]]:
    """Yield what was measured for an exam question: a place or a verdict, and what it says."""
    by_place = {entry.place: entry for entry in entries}
    for place in answer.places:
        if place in by_place:
            yield place, words(by_place[place])
    for finding in findings:
        if finding.claim.place in answer.places and finding.verdict != ledger.NOT_MEASURED:
            yield finding.verdict, finding.measured or finding.sentence


def words(entry: Entry) -> str:
    """Return what an entry says: its outcome and its first numbers, with their intervals."""
    numbers = {name: _written(name, value) for name, value in entry.numbers.items()}
    parts = []
    if entry.outcome not in ("", "always"):
        parts.append(entry.outcome)
    for name, value in numbers.items():
        text = f"{name.removesuffix(' seconds')} {value}"
        if f"{name} low" in numbers:
            text += f" ({numbers[f'{name} low']} to {numbers[f'{name} high']})"
        if not name.endswith(BESIDE):
            parts.append(text)
    return ", ".join(parts[:MOST_NUMBERS])


def _written(name: str, value: float) -> str:
    """Return a number of an entry with its unit of time, or without an exponent."""
    if " seconds" in name:
        return format_seconds(value)
    if value >= 1000:
        return f"{value:,.0f}"
    return f"{value:.3g}"
