"""Writes the pages of docs/ that are made from data and lessons; --check compares."""

import argparse
import re
import sys
import textwrap
import tomllib

import jinja2
import lesson
import minutes
import run_lessons
from lesson import ROOT

from accel_helpers.course import ledger, questions, review
from accel_helpers.course.lessons import lesson_00
from accel_helpers.machine import symptoms

EXAMPLES = ROOT / "tests" / "machine" / "examples.toml"
TEMPLATES = ROOT / "tools" / "templates"


def failures() -> dict:
    """Give what the page of failures is made from; the site alone has that page."""
    kinds = tomllib.loads(lesson.read(EXAMPLES))
    examples = kinds["failure"] | kinds["slowness"]
    entries = [*symptoms.KNOWN, *symptoms.SLOW]
    return {
        "known": symptoms.KNOWN,
        "groups": symptoms.GROUPS,
        "slow": symptoms.SLOW,
        "examples": examples,
        "titles": {one.id: title(one, examples[one.id][0]) for one in entries},
    }


def title(symptom: symptoms.Symptom, example: str) -> str:
    """Give the longest part of an example that a wording matches, cut to 80 characters."""
    matches = [pattern.search(symptoms.clean(example)) for pattern in symptom.patterns]
    longest = max((match.group() for match in matches if match), key=len)
    words = " ".join(longest.split())
    for quote in "'\"`":
        if words.count(quote) % 2:  # the wording ended inside a quotation
            words = words.strip(quote)
    return textwrap.shorten(words, 80, placeholder=" …")


def lessons() -> dict:
    """Give the file of each lesson and the minutes of its sections, by number."""
    timed = run_lessons.times()
    return {path.name[:2]: (path.name, minutes.sections(path, timed)) for path in lesson.chosen([])}


def said(number: str, place: str) -> str:
    """Give what a page stores of a place: a verdict's first sentence, or what a picture shows."""
    (path,) = lesson.LESSONS.glob(f"{number}_*.ipynb")
    for cell in lesson.parse(lesson.read(path)).cells:
        data = [output.data for output in cell.get("outputs", ()) if "data" in output]
        if data and f'lesson.verdict("{place}"' in cell.source:
            text = " ".join(data[-1]["text/markdown"].split())
            return re.match(r"(.+?\.\**(?= |$))?", text)[0]
        if data and f'lesson.plot("{place}"' in cell.source:
            # An alternative text ends with what its picture shows, after the title.
            _, _, shown = data[-1]["text/plain"].rpartition(": ")
            return shown
    return ""


def teach() -> dict:
    """Give what the teacher's guide is made from."""
    return {
        "claims": ledger.claims(),
        "said": said,
        "lessons": lessons(),
        "answer": lesson_00.measured(),
    }


def answers() -> dict:
    """Give what the answer key is made from."""
    return {
        "bank": questions.bank().values(),
        "exam": review.answers(),
        "lessons": lessons(),
    }


def take_away() -> dict:
    """Give the cell of each lesson that a reader takes along: title, file and code, by number."""
    cells = {}
    for path in lesson.chosen([]):
        notebook = lesson.parse(lesson.read(path))
        title = re.search(r"^# \d\d · (.+)$", notebook.cells[0].source, re.M)[1]
        for cell in notebook.cells:
            if "take-away" in lesson.tags(cell):
                cells[path.name[:2]] = title, path.name, lesson.taken_away(cell.source)
    return {"away": cells}


PAGES = {"teach.md": teach, "answers.md": answers, "take_away.md": take_away}


def page(name: str) -> str:
    """Give a page of docs/ as the data and the lessons have it now."""
    loader = jinja2.FileSystemLoader(TEMPLATES)
    environment = jinja2.Environment(loader=loader, trim_blocks=True, lstrip_blocks=True)
    return environment.get_template(f"{name}.j2").render(PAGES[name]()).rstrip() + "\n"


def main() -> None:
    """Write the pages, or leave with a sentence where one is not what it should be."""
    parser = argparse.ArgumentParser(prog="library.py", description=__doc__)
    parser.add_argument("--check", action="store_true", help="compare, and write nothing")
    check = parser.parse_args().check
    for name in PAGES:
        path = ROOT / "docs" / name
        if not check:
            path.write_text(page(name), "utf-8")
        elif lesson.read(path) != page(name):
            sys.exit(f"docs/{name} is not what the data and the lessons say: run `make fix`.")


if __name__ == "__main__":
    main()
