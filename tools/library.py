"""Writes the pages of docs/ that are made from docstrings, data and lessons; --check compares."""

import re
import sys
import tomllib

import jinja2
import lesson
import minutes
import run_lessons
from lesson import ROOT

from accel_helpers._values.words import format_seconds
from accel_helpers.course import ledger, questions, review
from accel_helpers.course.lessons import lesson_03
from accel_helpers.machine import symptoms
from accel_helpers.measure import results

REAL = ROOT / "tests" / "machine" / "logs" / "real"


def page(name: str) -> str:
    """A page as the docstrings and the data have it now."""
    real = {path.stem: tomllib.loads(lesson.read(path)) for path in sorted(REAL.glob("*.toml"))}
    reports = {name: found["report"] for name, found in real.items()}
    loader = jinja2.FileSystemLoader(ROOT / "tools" / "templates")
    made = jinja2.Environment(loader=loader, trim_blocks=True, lstrip_blocks=True)
    text = (ROOT / "tools" / "templates" / "teach.md.j2").read_text("utf-8")
    card = results.reference(*re.findall(r'ms\("([^"]+)"', text))  # all that it writes out
    timed = run_lessons.times()
    lessons = {p.name[:2]: (p.name, minutes.sections(p, timed)) for p in lesson.chosen([])}
    given = {"format_seconds": format_seconds, "reports": reports}
    given |= {"known": symptoms.KNOWN, "groups": symptoms.GROUPS, "slow": symptoms.SLOW}
    given |= {"bank": questions.bank().values(), "exam": review.answers(), "lessons": lessons}
    given |= {
        "away": take_away(),
        "card": card,
        "claims": ledger.fill(card),
        "sweep": lesson_03.their_sweep("cpu").data,
    }
    return made.get_template(f"{name}.j2").render(given).rstrip() + "\n"


def take_away() -> dict[str, tuple[str, str, str]]:
    """The cell of each lesson that a reader takes along: title, file and code, by number."""
    found = {}
    for path in lesson.chosen([]):
        nb = lesson.parse(lesson.read(path))
        title = re.search(r"^# \d\d · (.+)$", nb.cells[0].source, re.M)[1]
        for cell in nb.cells:
            if "take-away" in lesson.tags(cell):
                found[path.name[:2]] = title, path.name, lesson.taken_away(cell.source)
    return found


for each in ("failures.md", "teach.md", "answers.md", "take_away.md"):
    if "--check" not in sys.argv[1:]:
        (ROOT / "docs" / each).write_text(page(each), "utf-8")
    elif (ROOT / "docs" / each).read_text("utf-8") != page(each):
        sys.exit(f"docs/{each} is not what docstrings and data say: run tools/library.py")
