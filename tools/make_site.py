"""Builds course_site/, the course as pages, without a server or a network."""

import argparse
import csv
import html
import os
import re
import shutil
import sys
import tempfile
import time
from pathlib import Path

import jinja2
import lesson
import library
from docutils import nodes
from lesson import ROOT, Refused
from sphinx.cmd.build import build_main

import accel_helpers as ah
from accel_helpers.course.lessons import lesson_00

REPORT = ROOT / "course_report"
KEPT = ("lab", "slides", "take")  # what is made apart stays, and the first page leads to it
# Possessive (?+ and *+): an open bracket before many links would be tried in every way else.
LINK = re.compile(r"(?<!!)\[((?:[^][]|\[[^][]*\](?:\([^)]*\))?+)*+)\]\(([^)\s:#]+)(?:#[^)\s]*)?\)")
PLACE = re.compile(r'href="(\w+)\.ipynb#([^"]*)"')  # in the output of a cell, as JupyterLab has it
ASKS = re.compile(
    r"Run this cell to [\w ]+\.( Without the form: .*?(?=</em>))?"
    r"|your answers are kept in a small file [\w ]+\."
)
NOTE = """

:::{note}
The measurements here are of one run, on the machine in the page's last line. Yours will differ.
:::"""
ANSWER = "Colab (the badge above) or the lab takes your answers; here you think, and read on."
LOADER = jinja2.FileSystemLoader(ROOT / "tools" / "templates")
MADE = jinja2.Environment(loader=LOADER, trim_blocks=True, lstrip_blocks=True)
MADE.filters["linked"] = lambda text: re.sub(r"(https?://[^\s;),]+)", r"<\1>", text)


def linked(text, home, pages, stamp):
    """Give Markdown whose links to what is no page lead to the repository, or are no links."""

    def new(match):
        path = os.path.normpath(home / match[2])
        at = f"(https://github.com/{stamp.repository}/blob/{stamp.ref}/{path})"
        outside = match[1] if stamp == lesson.UNSTAMPED else f"[{match[1]}]{at}"
        return match[0] if path in pages else outside

    return LINK.sub(new, text.replace(lesson.PICTURE, "/docs/_static/colab-badge.svg"))


def there(match):
    """Give the link to a heading of another lesson as Sphinx has it."""
    return f'href="{match[1]}.html#{nodes.make_id(html.unescape(match[2]))}"'


def fold(cell):
    """Fold a cell as JupyterLab does, and give its picture a text."""
    if cell.metadata.get("jupyter", {}).get("source_hidden"):
        hide = "hide-cell" if "setup" in lesson.tags(cell) else "hide-input"
        cell.metadata["tags"] = [*lesson.tags(cell), hide]
        if hide == "hide-cell":
            cell.metadata["mystnb"] = {"code_prompt_show": "Setup cell"}
    for data in (output.get("data", {}) for output in cell.get("outputs", [])):
        if "image/png" in data:
            said = " ".join(data.get("text/plain", "A plot of the lesson.").split())
            cell.metadata["mystnb"] = {"image": {"alt": said}}
        if "text/html" in data:
            data["text/html"] = PLACE.sub(there, data["text/html"])


def stage(folder, out):
    """Lay out what Sphinx reads, as it lies in the repository; give the stamp of the course."""
    docs, readme = folder / "docs", lesson.read(ROOT / "README.md")
    shutil.copytree(ROOT / "docs", docs, ignore=shutil.ignore_patterns("*.py", "README.md"))
    paths = {path.name: path for path in lesson.chosen([])}
    ran = {path.name: path for path in (REPORT / "notebooks").glob("[0-9]*.ipynb")}
    notebooks = {name: lesson.parse(lesson.read(path)) for name, path in (paths | ran).items()}
    for notebook in notebooks.values():
        notebook.cells[0].source += NOTE
    verbs = [name for name in ah.__all__ if callable(getattr(ah, name))]
    made = {"docs/api/verbs.md": ("verbs.md.j2", {"verbs": verbs, "tpu": ah.tpu.__all__})}
    made["docs/failures.md"] = "failures.md.j2", library.failures()
    chips = lesson.read(ROOT / "accel_helpers" / "data" / "accelerators.csv").splitlines()
    made["docs/chips.md"] = "chips.md.j2", {"chips": [*csv.DictReader(chips)]}
    here = {path.relative_to(out).as_posix() for part in KEPT for path in (out / part).glob("*")}
    start = {"readme": readme, "lessons": [name[:-6] for name in paths], "here": here}
    start["answer"] = lesson_00.measured()
    start["pages"] = {path.stem for path in docs.glob("*.md")} | {"chips", "failures"}
    made["index.md"] = "start.md.j2", start
    for part in (docs / "api", folder / "notebooks"):
        part.mkdir()
    for name, (template, given) in made.items():
        (folder / name).write_text(MADE.get_template(template).render(given), "utf-8")
    known = {path.relative_to(folder).as_posix() for path in folder.rglob("*")}
    known |= {f"notebooks/{name}" for name in paths}
    stamp = lesson.badge_stamps(readme)[0]
    for path in folder.rglob("*.md"):
        path.write_text(linked(lesson.read(path), path.parent.relative_to(folder), known, stamp))
    for name, notebook in notebooks.items():
        # a cell may ask the shell with "!", which is not Python to the highlighter
        notebook.metadata["language_info"] = {"name": "python", "pygments_lexer": "ipython3"}
        for cell in notebook.cells:
            fold(cell)
            if cell.cell_type == "markdown":
                cell.source = linked(cell.source, Path("notebooks"), known, stamp)
        lesson.write(folder / "notebooks" / name, ASKS.sub(ANSWER, lesson.dump(notebook)))
    return stamp


def repository_buttons(stamp):
    """Give the words for Sphinx that put the repository and its issues on every page."""
    if stamp == lesson.UNSTAMPED:
        return []
    options = {
        "repository_url": f"https://github.com/{stamp.repository}",
        "use_repository_button": "true",
        "use_issues_button": "true",
    }
    pairs = [f"html_theme_options.{name}={value}" for name, value in options.items()]
    return [word for pair in pairs for word in ("-D", pair)]


def built(builder, work, *words):
    """Let Sphinx make what is staged; leave with its status where it finds something."""
    words += "-c", f"{ROOT}/docs", "-d", f"{work}/trees", f"{work}/source", f"{work}/{builder}"
    if status := build_main(["-b", builder, *words]):
        sys.exit(status)
    return work / builder


def main():
    """Build the site; leave with another status than 0 where Sphinx found something."""
    parser = argparse.ArgumentParser(prog="make_site.py", description=__doc__)
    parser.add_argument("--out", type=Path, default=ROOT / "course_site", help="its folder")
    given, began = parser.parse_args(), time.monotonic()
    given.out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as work:
        try:
            stamp = stage(Path(work, "source"), given.out)
        except (Refused, ValueError) as error:
            sys.exit(str(error))
        pages = built("html", Path(work), "-q", "-W", "--keep-going", *repository_buttons(stamp))
        for old in given.out.glob("*"):
            if old.name not in KEPT:
                shutil.rmtree(old) if old.is_dir() else old.unlink()
        left = shutil.ignore_patterns("_sources")
        shutil.copytree(pages, given.out, ignore=left, dirs_exist_ok=True)
    size = sum(path.stat().st_size for path in given.out.rglob("*") if path.is_file()) / 1e6
    took = f"{(time.monotonic() - began) / 60:.1f} minutes, {size:.0f} MB"
    print(f"{given.out.name}/index.html: {took}.")


if __name__ == "__main__":
    main()
