"""The summary to keep: both answers to every exam question, and what you measured, on one page."""

import datetime
from pathlib import Path

from accel_helpers._values.records import write_whole
from accel_helpers._values.words import template
from accel_helpers.course import quiz, record
from accel_helpers.course.review import answers

NAME = "course_summary.html"


def write_summary() -> Path:
    """Write the summary of what you answered and measured, and return where it was written.

    That is course_summary.html beside the record; one that is there is replaced, whole or not at
    all.

    Raises
    ------
    OSError
        Where the file cannot be written.

    Examples
    --------
    >>> write_summary().name
    'course_summary.html'
    """
    measured = record.measurements(record.everything())
    page = template("course/templates/summary.html").render(
        now=datetime.datetime.now(),
        answered=quiz.overview(),
        missed=quiz.ask_again().questions,
        verdict=record.newest("guess/").get("05/verdict"),
        questions=answers(),
        measured=measured,
        latest={entry.place: entry for entry in measured},
    )
    page_path = record.path().with_name(NAME)
    write_whole(page_path, page)
    return page_path
