"""Builds course_site/, the course as pages: from a folder, without a server or a network."""

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
from docutils import nodes
from lesson import ROOT, Refused
from sphinx.cmd.build import build_main

import accel_helpers as ah
from accel_helpers.measure import results

OUT, REPORT = ROOT / "course_site", ROOT / "course_report"
KEPT = ("lab", "slides", "take")  # what is made apart stays, and the first page leads to it
LINK = re.compile(r"(!?)\[((?:[^][]|\[[^][]*\](?:\([^)]*\))?)*)\]\(([^)\s:#]+)(#[^)\s]*)?\)")
PLACE = re.compile(r'href="(\w+)\.ipynb#([^"]*)"')  # in the output of a cell, as JupyterLab has it
MADE = jinja2.Environment(
    loader=jinja2.FileSystemLoader([ROOT / "tools" / "templates", ROOT / "docs"]),
    trim_blocks=True,
    lstrip_blocks=True,
)
MADE.filters["linked"] = lambda text: re.sub(r"(https?://[^\s;),]+)", r"<\1>", text)


def linked(text, home, pages, outside):
    """Give Markdown whose links to what is no page lead to the repository, or are no links."""

    def new(match):
        bang, said, to, _ = match.groups()
        path = os.path.normpath(home / to)
        if bang or path in pages:
            return match[0]
        return f"[{said}]({outside}/{path})" if outside else said

    return LINK.sub(new, text.replace(lesson.PICTURE, "/docs/_static/colab-badge.svg"))


def folded(notebook):
    """Fold what JupyterLab folds, give the pictures their texts, and lead the outputs' links on."""
    for cell in notebook.cells:
        if cell.metadata.get("jupyter", {}).get("source_hidden"):
            hide = "hide-cell" if "setup" in lesson.tags(cell) else "hide-input"
            cell.metadata["tags"] = [*lesson.tags(cell), hide]
        for output in cell.get("outputs", []):
            data = output.get("data", {})
            if "image/png" in data:
                said = " ".join(data.get("text/plain", "A plot of the lesson.").split())
                cell.metadata["mystnb"] = {"image": {"alt": said}}
            if "text/html" in data:
                data["text/html"] = PLACE.sub(
                    lambda m: f'href="{m[1]}.html#{nodes.make_id(html.unescape(m[2]))}"',
                    data["text/html"],
                )


def stage(folder, with_results):
    """Lay out what Sphinx reads, as it lies in the repository."""
    docs = folder / "docs"
    shutil.copytree(ROOT / "docs", docs, ignore=shutil.ignore_patterns("*.py", "index.md"))
    sources = {path.name: path for path in lesson.chosen([])}
    executed = {p.name: p for p in (REPORT / "notebooks").glob("*.ipynb")} if with_results else {}
    if with_results and not executed:
        raise Refused(f"No executed lessons in {REPORT.name}/notebooks/: `make run` first.")
    notebooks = {n: lesson.parse(lesson.read(path)) for n, path in (sources | executed).items()}
    for name in executed:
        ran = results.load(REPORT / "result_card.json").label
        notebooks[name].cells[0].source += f"\n\n:::{{note}}\nYour own results: {ran}.\n:::"

    modules = {name: getattr(ah, name) for name in ah.__all__ if name != "__version__"}
    chips = (ROOT / "accel_helpers" / "data" / "accelerators.csv").open(encoding="utf-8")
    made = {
        f"docs/api/{name}.md": ("api.md.j2", {"name": name, "home": modules[name]})
        for name in modules
    }
    with chips:
        made["docs/chips.md"] = "chips.md.j2", {"chips": list(csv.DictReader(chips))}
    made["docs/library.md"] = (
        "names.md.j2",
        {"text": lesson.read(docs / "library.md"), "modules": modules},
    )
    here = {str(p.relative_to(OUT)) for name in KEPT for p in (OUT / name).glob("*")}
    pages = {path.stem for path in docs.glob("*.md")} | {"chips"}
    given = {"readme": lesson.read(ROOT / "README.md"), "lessons": sorted(sources)}
    made["index.md"] = "index.md", {**given, "pages": pages, "here": here}
    for part in ("docs/api", "notebooks"):
        (folder / part).mkdir()
    for name, (template, given) in made.items():
        (folder / name).write_text(MADE.get_template(template).render(given), "utf-8")

    stamp = lesson.link_stamps(lesson.read(ROOT / "README.md"), sources)[0]
    at = f"https://github.com/{stamp.repository}/blob/{stamp.ref}"
    outside = None if stamp == lesson.UNSTAMPED else at
    pages = {str(p.relative_to(folder)) for p in folder.rglob("*")}
    pages |= {f"notebooks/{name}" for name in notebooks}
    for path in folder.rglob("*.md"):
        home = path.parent.relative_to(folder)
        path.write_text(linked(lesson.read(path), home, pages, outside), "utf-8")
    for name, notebook in notebooks.items():
        folded(notebook)
        for cell in (cell for cell in notebook.cells if cell.cell_type == "markdown"):
            cell.source = linked(cell.source, Path("notebooks"), pages, outside)
        lesson.write(folder / "notebooks" / name, lesson.dump(notebook))


def main(arguments=None):
    """Build the site; give the exit status: 0 built, 1 Sphinx found something, 2 refused."""
    parser = argparse.ArgumentParser(prog="make_site.py", description=__doc__)
    parser.add_argument("--results", action="store_true", help="with your own, from `make run`")
    given, began = parser.parse_args(arguments), time.monotonic()
    with tempfile.TemporaryDirectory() as work:
        source, built = Path(work, "source"), Path(work, "html")
        try:
            stage(source, given.results)
        except (Refused, ValueError) as error:
            print(error, file=sys.stderr)
            return 2
        words = ["-q", "-W", "--keep-going", "-c", str(ROOT / "docs"), "-d", f"{work}/trees"]
        if status := build_main([*words, str(source), str(built)]):
            return status
        for name in KEPT:
            if (OUT / name).exists():
                shutil.move(OUT / name, built / name)
        shutil.rmtree(OUT, ignore_errors=True)
        shutil.copytree(built, OUT, ignore=shutil.ignore_patterns("_sources", ".buildinfo"))
    size = sum(path.stat().st_size for path in OUT.rglob("*") if path.is_file())
    minutes = (time.monotonic() - began) / 60
    print(f"{OUT.name}/index.html: {minutes:.1f} minutes, {size / 1e6:.0f} MB.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
