"""The pages of the report: HTML that asks the network for nothing, readable by everyone."""

import base64
import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path

import template
from nbconvert import HTMLExporter

PICTURE = re.compile(r"!\[([^]]*)\]\([^)]+\)")  # in Markdown: a badge, from the network
LESSON = re.compile(r'(?<=<a href=")\w+\.ipynb')


@dataclass(frozen=True)
class Plot:
    """A picture that a lesson drew: its file in the report, and what it shows in a sentence."""

    file: str
    alt: str


@dataclass(frozen=True)
class LessonRun:
    """How one lesson ran; without a `page` in the report when it could not be read."""

    name: str
    title: str
    seconds: float
    error: str | None = None
    page: str | None = None
    plots: tuple[Plot, ...] = ()
    cells: dict[str, float] = field(default_factory=dict)  # seconds, by the id of the cell

    @property
    def ok(self) -> bool:
        return self.error is None

    @property
    def status(self) -> str:
        return "ran to the end" if self.ok else f"failed in {self.error}"


def write_lesson(lesson, notebook, source: Path, names: Sequence[str], folder: Path) -> LessonRun:
    """Write the page and the plots of an executed lesson; `names` are those with a page."""
    title = notebook.cells[0].source.partition("\n")[0].lstrip("# ")
    plots = []
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            cell.source = PICTURE.sub(r"\1", cell.source)
        for output in cell.get("outputs", ()):
            data = output.get("data", {})
            # A player is shown whole, and not as its still picture.
            if "image/png" in data and "text/html" not in data:
                alt = " ".join(data["text/plain"].split())
                output.metadata["image/png"] = {"alt": alt}
                plots.append(Plot(f"plots/{lesson.name}-{len(plots) + 1}.png", alt))
                (folder / plots[-1].file).write_bytes(base64.b64decode(data["image/png"]))
    lesson = replace(lesson, title=title, page=f"{lesson.name}.html", plots=tuple(plots))
    notebook.metadata["title"] = title
    layout = (template.FOLDER / "lesson.html.j2").read_text("utf-8")
    exporter = HTMLExporter(raw_template=layout)
    page, _ = exporter.from_notebook_node(notebook, resources={"lesson": lesson})
    for name in names:
        page = page.replace(f'<a href="{name}.ipynb', f'<a href="{name}.html')
    # What has no page here is beside the lesson.
    page = LESSON.sub(rf"../{source.parent.name}/\g<0>", page)
    (folder / lesson.page).write_text(page, "utf-8")
    return lesson


def index(lessons: Sequence[LessonRun], runtime, when: datetime, fast: bool, summary: str) -> str:
    """The first page of the report, as HTML; `summary` is the file that lesson 11 wrote."""
    return template.fill(
        "index.html.j2", lessons=lessons, runtime=runtime, when=when, fast=fast, summary=summary
    )
