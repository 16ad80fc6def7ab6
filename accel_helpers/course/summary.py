"""The summary to keep: both answers to every exam question, and what you measured, on one page."""

import datetime
import re
from collections.abc import Sequence
from pathlib import Path

from accel_helpers._values.records import DataError, write_whole
from accel_helpers._values.words import format_seconds, template
from accel_helpers.course import ledger, quiz, record
from accel_helpers.course.ledger import Ledger
from accel_helpers.course.record import Entry
from accel_helpers.course.review import Answer, answers

NAME = "course_summary.html"
MOST_NUMBERS = 8  # numbers of one place that are written out
BESIDE = (" low", " high", " samples", " first call seconds")  # are not written out by themselves
__all__ = ["write"]


def write(path: str | Path | None = None) -> Path:
    """Write the summary of what you answered and measured, and return where it was written.

    A record that cannot be read is left out, and the page says why.

    Parameters
    ----------
    path : path-like, optional
        By default course_summary.html beside the record. A file that is there is replaced, whole
        or not at all.

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
    page_path = record.path().with_name(NAME)
    if path is not None:
        page_path = Path(path)
    note = ""
    try:
        record.load(record.path())
    except (DataError, OSError) as error:
        note = f"Your record was not used: {error}"
    html = page(answers(), record.everything(), note=note, **_standing())
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


def page(questions: Sequence[Answer], entries: Sequence[Entry], **standing: object) -> str:
    """Return the HTML of the page: exam questions, each with what the record has about it.

    `standing` is what the template ``templates/summary.html`` shows beside them: `note` and the
    items of `_standing`.
    """
    measured = [entry for entry in entries if not entry.place.startswith(record.PRIVATE)]
    findings = ledger.fill(entries)
    rows = [(question, _lines(question, findings, measured)) for question in questions]
    text = template("course/templates/summary.html").render(
        questions=rows, findings=findings, measured=measured, **standing
    )
    # A line may break at each slash inside a link: those are the long addresses.
    text = re.sub(r"/(?=[^<>\n]*</a>)", "/<wbr>", text)
    # A record may come from elsewhere: what cannot be printed could reorder or hide a text.
    return "".join(_printable(letter) for letter in text)


def _printable(letter: str) -> str:
    """Return a letter or a line's end; for a letter that cannot be printed the sign "\\ufffd"."""
    if letter.isprintable() or letter == "\n":
        return letter
    return "\ufffd"


def _lines(answer: Answer, findings: Ledger, entries: Sequence[Entry]) -> list[tuple[str, str]]:
    """Return what was measured for an exam question: a place or a verdict, and what it says."""
    lines = []
    by_place = {entry.place: entry for entry in entries}
    for place in answer.places:
        if place in by_place:
            lines.append((place, words(by_place[place])))
    for finding in findings:
        about_this = finding.claim.place in answer.places
        if about_this and finding.verdict != ledger.NOT_MEASURED:
            lines.append((finding.verdict, finding.measured or finding.sentence))
    return lines


def words(entry: Entry) -> str:
    """Return what an entry says: its outcome and its first numbers, with their intervals."""
    parts = [entry.outcome]
    numbers = {name: _written(name, value) for name, value in entry.numbers.items()}
    for name, value in numbers.items():
        if name.endswith(BESIDE):
            continue
        text = f"{name.removesuffix(' seconds')} {value}"
        if f"{name} low" in numbers:
            low, high = numbers[f"{name} low"], numbers[f"{name} high"]
            text += f" ({low} to {high})"
        parts.append(text)
    said = [part for part in parts if part not in ("", "always")]
    return ", ".join(said[:MOST_NUMBERS])


def _written(name: str, value: float) -> str:
    """Return a number of an entry with its unit of time, or without an exponent."""
    if " seconds" in name:
        return format_seconds(value)
    if value >= 1000:
        return f"{value:,.0f}"
    return f"{value:.3g}"
