"""Builds course_site/, the course as pages: from a folder, without a server or a network."""

import argparse
import csv
import html
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import jinja2
import lesson
from docutils import nodes
from sphinx.cmd.build import build_main

import accel_helpers as ah
from accel_helpers.measure import results

ROOT, REPORT = lesson.ROOT, "course_report"
OUT = ROOT / "course_site"
BESIDE = ("slides", "lab", "take")  # made by others, and kept
# What can be taken along, where it is there: `take_along` makes what lies in take/.
TAKE = {
    "slides/index.html": "the slides of every lesson",
    "lab/index.html": "the lab: lessons that run in the browser, from a server of your own",
    "lab/error.html": "paste an error, get cause and fix",
    "take/course.epub": "the course as a book for a reader (EPUB)",
    "take/course.pdf": "the course on paper (PDF)",
    "take/questions.gift": "the questions for Moodle (GIFT)",
    "take/questions.apkg": "the questions as cards for Anki",
}
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
LINK = re.compile(r"(!?)\[((?:[^][]|\[[^][]*\](?:\([^)]*\))?)*)\]\(([^)\s:#]+)(#[^)\s]*)?\)")

PLACE = re.compile(r'href="(\w+)\.ipynb#([^"]*)"')  # in the output of a cell, as JupyterLab has it


class CannotBuild(Exception):
    """The site cannot be built; the message says what to do."""


def repository(notebook):
    """Where files outside the site are to be seen; None in a copy that is not stamped."""
    setup = next(cell for cell in notebook.cells if "setup" in lesson.tags(cell))
    stamp = lesson.setup_stamp(setup.source)
    if stamp in (None, lesson.UNSTAMPED):
        return None
    return f"https://github.com/{stamp.repository}/blob/{stamp.ref}"


def linked(text, home, pages, outside):
    """Give Markdown whose links to what is no page lead to the repository, or are no links."""

    def new(match):
        bang, said, to, _ = match.groups()
        path = os.path.normpath(home / to)
        if bang or path in pages:
            return match[0]
        return f"[{said}]({outside}/{path})" if outside else said

    return LINK.sub(new, text.replace(lesson.PICTURE, "/docs/_static/colab-badge.svg"))


def as_on_the_site(match):
    """Give a link to a lesson's heading as Sphinx names lesson and heading."""
    return f'href="{match[1]}.html#{nodes.make_id(html.unescape(match[2]))}"'


def staged_lesson(notebook, ran):
    """Give a lesson as the site shows it: what JupyterLab folds is folded, pictures have a text."""
    for cell in notebook.cells:
        if "setup" in lesson.tags(cell):
            cell.metadata["tags"] = [*cell.metadata.tags, "hide-cell"]
        elif cell.metadata.get("jupyter", {}).get("source_hidden"):
            cell.metadata["tags"] = [*cell.metadata.get("tags", []), "hide-input"]
        for output in cell.get("outputs", []):
            data = output.get("data", {})
            if "image/png" in data:
                said = " ".join(data.get("text/plain", "A plot of the lesson.").split())
                cell.metadata["mystnb"] = {"image": {"alt": said}}
            if "text/html" in data:
                data["text/html"] = PLACE.sub(as_on_the_site, data["text/html"])
    if ran:
        notebook.cells[0].source += f"\n\n:::{{admonition}} Your own results\n{ran}\n:::"
    return notebook


def stage(folder, with_results, book=False):
    """Lay out what Sphinx reads, as it lies in the repository; give the lessons' names."""
    shutil.copytree(ROOT / "docs", folder / "docs", ignore=shutil.ignore_patterns("*.py", "index*"))
    (folder / "notebooks").mkdir()
    sources, ran = lesson.chosen([]), None
    if with_results:
        executed = {path.name: path for path in (ROOT / REPORT / "notebooks").glob("*.ipynb")}
        if not executed:
            raise CannotBuild(f"No executed lessons in {REPORT}/notebooks/: `make run` first.")
        ran = f"Run on {results.load(ROOT / REPORT / 'result_card.json').label}."
        sources = [executed.get(path.name, path) for path in sources]
    made = jinja2.Environment(
        loader=jinja2.FileSystemLoader([ROOT / "tools" / "templates", ROOT / "docs"]),
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters["linked"] = lambda text: re.sub(r"(https?://[^\s;),]+)", r"<\1>", text)
    with (ROOT / "accel_helpers" / "data" / "accelerators.csv").open(encoding="utf-8") as file:
        chips = made.get_template("chips.md.j2").render(chips=list(csv.DictReader(file)))
    (folder / "docs" / "chips.md").write_text(chips, "utf-8")
    (folder / "docs" / "api").mkdir()
    modules = {name: getattr(ah, name) for name in ah.__all__ if name != "__version__"}
    library = re.sub(
        r"^## (\w+)$", r"## [\1](api/\1.md)", lesson.read(ROOT / "docs" / "library.md"), flags=re.M
    )
    tree = "\n".join(["```{toctree}", ":hidden:", *(f"api/{name}" for name in modules), "```"])
    (folder / "docs" / "library.md").write_text(f"{library}\n{tree}\n", "utf-8")
    for name, home in modules.items():
        page = made.get_template("api.md.j2").render(name=name, home=home)
        (folder / "docs" / "api" / f"{name}.md").write_text(page, "utf-8")
    for page in (folder / "docs").rglob("*.md") if book else ():
        if page.stem not in ("glossary", "chips"):
            page.unlink()
    text = made.get_template("index.md").render(
        readme=lesson.read(ROOT / "README.md"),
        lessons=[path.stem for path in sources],
        there={to: what for to, what in TAKE.items() if (OUT / to).exists() and not book},
        pages={path.stem for path in (folder / "docs").glob("*.md")},
        modules=modules,
    )
    (folder / "index.md").write_text(text, "utf-8")
    notebooks = {path: lesson.parse(lesson.read(path)) for path in sources}
    outside = repository(next(iter(notebooks.values())))
    pages = {str(p.relative_to(folder)) for p in folder.rglob("*")}
    pages |= {f"notebooks/{path.name}" for path in sources}
    for path in folder.rglob("*.md"):
        home = path.parent.relative_to(folder)
        path.write_text(linked(lesson.read(path), home, pages, outside), "utf-8")
    for path, notebook in notebooks.items():
        for cell in notebook.cells:
            if cell.cell_type == "markdown":
                cell.source = linked(cell.source, Path("notebooks"), pages, outside)
        staged = staged_lesson(notebook, ran if REPORT in path.parts else None)
        lesson.write(folder / "notebooks" / path.name, lesson.dump(staged))


def take_along(work, with_results):
    """Make the course as a book: EPUB, and PDF where there is a browser to print it."""
    stage(work / "book", with_results, book=True)
    words = ["-q", "-c", str(ROOT / "docs"), "-d", str(work / "leaves"), str(work / "book")]
    for builder in ("epub", "singlehtml"):
        if build_main(["-b", builder, *words, str(work / builder)]):
            raise CannotBuild(f"Sphinx could not build {builder}; its message stands above.")
    (OUT / "take").mkdir(parents=True, exist_ok=True)
    shutil.copy(work / "epub" / "course.epub", OUT / "take")
    page = work / "singlehtml" / "index.html"
    page.write_text(lesson.read(page).replace("<details", "<details open"), "utf-8")
    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    if browser is None:
        print("No Chromium here, so the site is made without course.pdf.")
        return
    words = ["--headless", "--no-sandbox", "--no-pdf-header-footer", page.as_uri()]
    words += ["--generate-pdf-document-outline", f"--print-to-pdf={OUT / 'take' / 'course.pdf'}"]
    subprocess.run([browser, *words], check=True, timeout=600, capture_output=True)


def main(arguments=None):
    """Build the site; give the exit status: 0 built, 1 Sphinx found something, 2 refused."""
    parser = argparse.ArgumentParser(prog="make_site.py", description=__doc__)
    parser.add_argument("--results", action="store_true", help="with your own, from `make run`")
    given = parser.parse_args(arguments)
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as work:
        work = Path(work)
        try:
            take_along(work, given.results)
            stage(work / "source", given.results)
        except (CannotBuild, lesson.Refused, ValueError) as error:
            print(error, file=sys.stderr)
            return 2
        words = ["-q", "-W", "--keep-going", "-b", "html", "-c", str(ROOT / "docs")]
        words += ["-d", str(work / "trees"), str(work / "source"), str(work / "html")]
        if status := build_main(words):
            return status
        for old in OUT.glob("*"):
            if old.name not in BESIDE:
                shutil.rmtree(old) if old.is_dir() else old.unlink()
        shutil.copytree(work / "html", OUT, dirs_exist_ok=True)
    size = sum(path.stat().st_size for path in OUT.rglob("*") if path.is_file())
    minutes = (time.monotonic() - began) / 60
    print(f"{OUT.name}/index.html: {minutes:.1f} minutes, {size / 1e6:.0f} MB.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
