"""Writes the pages of docs/ that are made from docstrings, data and lessons; --check compares."""

import inspect
import sys
import tomllib
from pathlib import Path

import jinja2
import lesson
import minutes
import run_lessons

import accel_helpers as ah
from accel_helpers.learn import ledger, questions, review
from accel_helpers.lessons import lesson_03
from accel_helpers.machine import symptoms

ROOT = Path(__file__).resolve().parents[1]
REAL = ROOT / "tests" / "machine" / "logs" / "real"


def page(name: str) -> str:
    """A page as the docstrings and the data have it now."""
    modules = {name: getattr(ah, name) for name in ah.__all__ if name != "__version__"}
    reports = {
        path.stem: tomllib.loads(path.read_text("utf-8"))["report"]
        for path in sorted(REAL.glob("*.toml"))
    }
    loader = jinja2.FileSystemLoader(ROOT / "tools" / "templates")
    made = jinja2.Environment(loader=loader, trim_blocks=True, lstrip_blocks=True)
    given = {"modules": modules, "said": said, "known": symptoms.KNOWN, "reports": reports}
    given |= {"bank": questions.bank().values(), "exam": review.answers(), "lessons": lessons()}
    card = ah.results.reference()  # what the course's own run said on a claim and at each size
    given |= {"card": card, "claims": ledger.fill(card), "sweep": lesson_03.their_sweep("cpu")}
    return made.get_template(f"{name}.j2").render(given).rstrip() + "\n"


def lessons() -> dict:
    """The file of every lesson, and the minutes of its sections; the first one is its title."""
    timed = run_lessons.times()
    return {path.name[:2]: (path.name, minutes.sections(path, timed)) for path in lesson.chosen([])}


def said(value) -> str:
    """The first line of a public name's docstring; a constant says its type."""
    constant = f"A constant, of type {type(value).__name__}."
    return inspect.getdoc(value).splitlines()[0] if callable(value) else constant


for each in ("library.md", "failures.md", "teach.md", "answers.md"):
    if "--check" not in sys.argv[1:]:
        (ROOT / "docs" / each).write_text(page(each), "utf-8")
    elif (ROOT / "docs" / each).read_text("utf-8") != page(each):
        sys.exit(f"docs/{each} is not what docstrings and data say: run tools/library.py")
