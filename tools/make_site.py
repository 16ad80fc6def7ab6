"""Builds course_site/, the course as pages, without a server or a network."""

import csv
import html
import re
import shutil
import sys
import tempfile
import tomllib
from pathlib import Path

import lesson
import template
from docutils import nodes
from lesson import ROOT
from sphinx.cmd.build import build_main

import accel_helpers as ah
from accel_helpers.course import questions, review
from accel_helpers.course.lessons import lesson_00
from accel_helpers.machine import symptoms

RAN = ROOT / "course_report" / "notebooks"  # by `make run`
MADE_FROM_DATA = (
    "index.md",
    "docs/failures.md",
    "docs/chips.md",
    "docs/answers.md",
    "docs/verbs.md",
)
# What leads to another place in the site than on GitHub.
ELSEWHERE = {
    lesson.PICTURE: "/docs/_static/colab-badge.svg",
    "(../accel_helpers/data/symptoms.toml)": "(../docs/failures.md)",
    "(../accel_helpers/course/questions)": "(../docs/answers.md)",
    "[the steps](../CONTRIBUTING.md#publish-your-own-copy)": "`CONTRIBUTING.md` has the steps",
}
HEADING = re.compile(r'href="(\w+)\.ipynb#([^"]*)"')  # in the output of a cell
NOTE = """

:::{note}
The measurements here are of one run, on the machine in the page's last line. Yours will differ.
Colab (the badge above) runs the cells, and takes your answers.
:::"""


def data(out):
    """Give what the pages are made from that are not in the repository."""
    chips = lesson.read(ROOT / "accel_helpers" / "data" / "accelerators.csv").splitlines()
    examples = tomllib.loads(lesson.read(ROOT / "tests" / "machine" / "examples.toml"))
    return {
        "ah": ah,
        "readme": lesson.read(ROOT / "README.md"),
        "lessons": [path.stem for path in lesson.chosen([])],
        "has_lab": (out / "lab").exists(),
        "answer": lesson_00.measured(),
        "book": symptoms,
        "examples": examples["failure"] | examples["slowness"],
        "chips": [*csv.DictReader(chips)],
        "bank": questions.bank().values(),
        "exam": review.answers(),
    }


def elsewhere(text):
    """Give Markdown of the repository with the links of the site."""
    for here, there in ELSEWHERE.items():
        text = text.replace(here, there)
    return text


def to_heading(link):
    """Give the link to a heading of another lesson as Sphinx has it."""
    return f'href="{link[1]}.html#{nodes.make_id(html.unescape(link[2]))}"'


def prepare(cell):
    """Fold a cell as JupyterLab does, say what its picture shows, and lead its links to pages."""
    if cell.metadata.get("jupyter", {}).get("source_hidden"):
        cell.metadata["tags"] = [*lesson.tags(cell), "hide-input"]
    if cell.cell_type == "markdown":
        cell.source = elsewhere(cell.source)
    for shown in (output.get("data", {}) for output in cell.get("outputs", [])):
        if "image/png" in shown:
            alt = " ".join(shown["text/plain"].split())
            cell.metadata["mystnb"] = {"image": {"alt": alt}}
        if "text/html" in shown:
            shown["text/html"] = HEADING.sub(to_heading, shown["text/html"])


def stage(folder, out):
    """Lay out what Sphinx reads, as it lies in the repository."""
    shutil.copytree(ROOT / "docs", folder / "docs", ignore=shutil.ignore_patterns("README.md"))
    given = data(out)
    for name in MADE_FROM_DATA:
        text = template.fill(f"{Path(name).name}.j2", **given)
        (folder / name).write_text(text, "utf-8")
    for page in folder.rglob("*.md"):
        page.write_text(elsewhere(lesson.read(page)), "utf-8")
    (folder / "notebooks").mkdir()
    for path in lesson.chosen([]):
        ran = RAN / path.name
        notebook = lesson.parse(lesson.read(ran if ran.exists() else path))
        notebook.cells[0].source += NOTE
        # A cell may ask the shell with "!", which is not Python to the highlighter.
        notebook.metadata["language_info"] = {"name": "python", "pygments_lexer": "ipython3"}
        for cell in notebook.cells:
            prepare(cell)
        lesson.write(folder / "notebooks" / path.name, lesson.dump(notebook))


def build(out):
    """Build the site; leave with another status than 0 where Sphinx found something."""
    for old in ("docs", "notebooks"):
        shutil.rmtree(out / old, ignore_errors=True)
    with tempfile.TemporaryDirectory() as work:
        stage(Path(work, "source"), out)
        how = ["-q", "-W", "--keep-going", "-c", f"{ROOT}/docs", "-d", f"{work}/trees"]
        if status := build_main([*how, f"{work}/source", str(out)]):
            sys.exit(status)
    shutil.rmtree(out / "_sources")


if __name__ == "__main__":
    build(ROOT / "course_site")
