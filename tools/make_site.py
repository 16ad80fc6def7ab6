"""Builds course_site/, the course as pages, without a server or a network."""

import csv
import re
import shutil
import sys
import tempfile
import tomllib
from pathlib import Path

import lesson
import players
import template
from lesson import ROOT
from sphinx.cmd.build import build_main

import accel_helpers as ah
from accel_helpers.course import questions, review
from accel_helpers.course.lessons import lesson_00
from accel_helpers.machine import symptoms

MADE_FROM_DATA = ("failures", "chips", "answers", "verbs")
# What leads to another place in the site than on GitHub.
ELSEWHERE = {
    lesson.PICTURE: "/docs/_static/colab-badge.svg",
    "(../accel_helpers/data/symptoms.toml)": "(../docs/failures.md)",
    "(../accel_helpers/course/questions)": "(../docs/answers.md)",
    "[the steps](../CONTRIBUTING.md#publish-your-own-copy)": "`CONTRIBUTING.md` has the steps",
}
LESSON = re.compile(r'(?<=href=")(\w+)\.ipynb[^"]*"')  # a link in the output of a cell
HERE = re.compile(r"(?<=\]\()#\S+\)")  # a link within the page
NOTE = """

:::{note}
The measurements here are of one run, on the machine in the page's last line. Yours will differ.
Colab (the badge above) runs the cells, and takes your answers.
:::"""


def data():
    """Give what the pages are made from that are not in the repository."""
    chips = lesson.read(ROOT / "accel_helpers" / "data" / "accelerators.csv").splitlines()
    examples = tomllib.loads(lesson.read(ROOT / "tests" / "machine" / "examples.toml"))
    return {
        "ah": ah,
        "readme": lesson.read(ROOT / "README.md"),
        "lessons": [path.stem for path in lesson.chosen([])],
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


def prepare(cell):
    """Fold a cell as JupyterLab does, say what its picture shows, and lead its links to pages."""
    if cell.metadata.get("jupyter", {}).get("source_hidden"):
        cell.metadata["tags"] = [*lesson.tags(cell), "hide-input"]
    if cell.cell_type == "markdown":
        # Jupyter's anchors keep capitals, the site's don't.
        cell.source = HERE.sub(lambda link: link[0].lower(), elsewhere(cell.source))
    for output in cell.get("outputs", []):
        shown = output.get("data", {})
        if "image/png" in shown:
            alt = " ".join(shown["text/plain"].split())
            cell.metadata["mystnb"] = {"image": {"alt": alt}}
        if "text/html" in shown:
            shown["text/html"] = LESSON.sub(r'\1.html"', shown["text/html"])


def stage(folder):
    """Lay out what Sphinx reads, as it lies in the repository."""
    shutil.copytree(ROOT / "docs", folder / "docs", ignore=shutil.ignore_patterns("README.md"))
    given = data()
    for name in MADE_FROM_DATA:
        text = template.fill(f"{name}.md.j2", **given)
        (folder / "docs" / f"{name}.md").write_text(text, "utf-8")
    (folder / "index.md").write_text(template.fill("index.md.j2", **given), "utf-8")
    for page in folder.rglob("*.md"):
        page.write_text(elsewhere(lesson.read(page)), "utf-8")
    (folder / "notebooks").mkdir()
    for path in lesson.chosen([]):
        notebook = lesson.parse(lesson.read(path))
        notebook.cells[0].source += NOTE
        players.put_back(notebook)
        # A cell may ask the shell with "!", which is not Python to the highlighter.
        notebook.metadata["language_info"] = {"name": "python", "pygments_lexer": "ipython3"}
        for cell in notebook.cells:
            prepare(cell)
        lesson.write(folder / "notebooks" / path.name, lesson.dump(notebook))


def build(out):
    """Build the site; give another status than 0 where Sphinx found something."""
    with tempfile.TemporaryDirectory() as work:
        source, made = Path(work, "source"), Path(work, "made")
        stage(source)
        how = ["-q", "-W", "--keep-going", f"-c{ROOT}/docs", f"-d{work}/trees"]
        status = build_main([*how, str(source), str(made)])
        # myst-nb leaves a folder beside the pages
        shutil.copytree(made, out, dirs_exist_ok=True)
        return status


if __name__ == "__main__":
    sys.exit(build(ROOT / "course_site"))
