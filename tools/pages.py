"""The pages of the report: HTML that asks the network for nothing, readable by everyone."""

import base64
import mimetypes
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from urllib.parse import unquote

import jinja2
from nbconvert import HTMLExporter

TEMPLATES = Path(__file__).resolve().parent / "templates"
# A picture that is not in the page, and a link to a file of the course.
APART = re.compile(r'<img(?=[^>]* src="(?!data:)([^"]*)")[^>]*? alt="([^"]*)"[^>]*>')
LINK = re.compile(r'(?<=<a href=")(?!\w+:|/|index\.html)([^"#]+)')


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


def write_lesson(
    lesson: LessonRun, notebook, source: Path, names: Sequence[str], folder: Path
) -> LessonRun:
    """Write the page and plots of an executed lesson; its links are relative to `source`."""
    texts = "\n".join(cell.source for cell in notebook.cells if cell.cell_type == "markdown")
    heading = re.search(r"^#\s+(.+?)\s*#*$", texts, re.M)
    title, plots = heading[1] if heading else lesson.name, []
    for output in (output for cell in notebook.cells for output in cell.get("outputs", ())):
        data = output.get("data", {})
        # A player is shown whole, and not as its still picture.
        if (png := data.get("image/png")) and "text/html" not in data:
            alt = " ".join(output.data.get("text/plain", "").split())
            if not alt or alt.startswith("<"):  # the name of an object says nothing
                alt = f"Plot {len(plots) + 1} of the lesson: {title}"
            plots.append(Plot(f"plots/{lesson.name}-{len(plots) + 1}.png", alt))
            (folder / plots[-1].file).write_bytes(base64.b64decode(png))
            output.data, output.metadata["alt"] = {"image/png": png}, alt
    lesson = replace(lesson, title=title, page=f"{lesson.name}.html", plots=tuple(plots))
    template = (TEMPLATES / "lesson.html.j2").read_text("utf-8")
    notebook.metadata["title"] = title
    resources = {"metadata": {"name": lesson.name, "path": str(source.parent)}, "lesson": lesson}
    # Not with `embed_images`: that closes a <details> before its text, and nothing is folded.
    exporter = HTMLExporter(raw_template=template)
    page = exporter.from_notebook_node(notebook, resources=resources)[0]

    def put_in(picture: re.Match) -> str:
        address, description = picture.groups()
        file = source.parent / unquote(address)
        if re.match(r"\w+:", address) or not file.is_file():
            return description  # the page asks the network for nothing
        kind, _ = mimetypes.guess_type(file)
        data = base64.b64encode(file.read_bytes()).decode()
        return f'<img alt="{description}" src="data:{kind};base64,{data}"/>'

    def at_home(link: re.Match) -> str:
        path = Path(unquote(link[1]))
        if path.suffix == ".ipynb" and path.stem in names:
            return f"{path.stem}.html"
        return os.path.relpath(source.parent.resolve() / path, folder.parent.resolve())

    page = LINK.sub(at_home, APART.sub(put_in, page))
    (folder / lesson.page).write_text(page, "utf-8")
    return lesson


def index(lessons: Sequence[LessonRun], runtime, when: datetime, fast: bool, summary: str) -> str:
    """The first page of the report, as HTML; `summary` is the file that lesson 11 wrote."""
    options = {"autoescape": True, "trim_blocks": True, "lstrip_blocks": True}
    environment = jinja2.Environment(loader=jinja2.FileSystemLoader(TEMPLATES), **options)
    return environment.get_template("index.html.j2").render(
        lessons=lessons, runtime=runtime, when=when, fast=fast, summary=summary
    )
