"""The pages of the report: HTML that asks the network for nothing, readable by everyone."""

import base64
import binascii
import copy
import mimetypes
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from html import escape
from pathlib import Path
from urllib.parse import unquote, urlsplit

TEMPLATES = Path(__file__).resolve().parent / "templates"


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

    @property
    def took(self) -> str:
        if self.seconds < 120:
            return f"{self.seconds:.1f} seconds"
        return f"{self.seconds / 60:.0f} minutes"


def write_lesson(
    lesson: LessonRun, notebook, source: Path, names: Sequence[str], folder: Path
) -> LessonRun:
    """Write the page and plots of an executed lesson; its links are relative to `source`."""
    title = _title(notebook) or lesson.name
    shown, plots = copy.deepcopy(notebook), []
    for cell in shown.cells:
        if cell.metadata.get("jupyter", {}).get("source_hidden"):
            cell.metadata["transient"] = {"remove_source": True}  # as JupyterLab folds it
        for output in cell.get("outputs", []):
            png = _png(output.get("data", {}).get("image/png"))
            if png is not None:
                file = f"plots/{lesson.name}-{len(plots) + 1}.png"
                alt = _sentence(output.data.get("text/plain", ""))
                plots.append(Plot(file, alt or f"Plot {len(plots) + 1} of the lesson: {title}"))
                (folder / file).write_bytes(png)
                output.data = _as_html(png, plots[-1].alt)
    lesson = replace(lesson, title=title, page=f"{lesson.name}.html", plots=tuple(plots))
    page = _page(lesson, shown, source, names, folder.parent)
    # what a lesson writes into this folder will lie where the report is published
    page = page.replace(escape(str(folder.resolve())), escape(str(folder.parent.resolve())))
    (folder / lesson.page).write_text(page, "utf-8")
    return lesson


def index(lessons: Sequence[LessonRun], runtime, when: datetime, fast: bool, summary: str) -> str:
    """The first page of the report, as HTML; `summary` is the file that lesson 11 wrote."""
    import jinja2

    options = {"autoescape": True, "trim_blocks": True, "lstrip_blocks": True}
    environment = jinja2.Environment(loader=jinja2.FileSystemLoader(TEMPLATES), **options)
    return environment.get_template("index.html.j2").render(
        lessons=lessons,
        ran=sum(lesson.ok for lesson in lessons),
        failed=[lesson for lesson in lessons if not lesson.ok],
        machine=_machine(runtime),
        when=when,
        fast=fast,
        summary=summary,
    )


def _machine(runtime) -> dict[str, str]:
    gib = 2**30
    attached = runtime.accelerator
    if attached is None:
        accelerator = "none: the lessons ran on the CPU"
    else:
        accelerator = f"{attached.name} ({attached.kind})"
        if attached.count and attached.count > 1:
            accelerator = f"{attached.count} × {accelerator}"
        if attached.memory_bytes:
            accelerator += f", {attached.memory_bytes / gib:.0f} GiB each"
    found, shown = runtime.frameworks, ("tensorflow", "keras", "jax", "torch", "numpy")
    return {
        "Accelerator": accelerator,
        "CPU": f"{runtime.cpu_name or 'unknown'}, {runtime.cores} cores usable",
        "Memory": f"{runtime.memory_bytes / gib:.0f} GiB" if runtime.memory_bytes else "unknown",
        "System": str(runtime.system),
        "Python": str(runtime.python),
        "Frameworks": ", ".join(f"{n} {found[n]}" for n in shown if n in found) or "none",
        "Place": str(runtime.place) + (f" ({runtime.release})" if runtime.release else ""),
    }


def _title(notebook) -> str | None:
    for cell in notebook.cells:
        heading = re.search(r"^#\s+(.+?)\s*#*$", cell.source, re.M)
        if cell.cell_type == "markdown" and heading:
            return heading.group(1)
    return None


def _png(data) -> bytes | None:
    try:
        return base64.b64decode(data) if data else None
    except (binascii.Error, TypeError):
        return None


def _sentence(text: str) -> str | None:
    """The text that stands for a picture, unless it is only the name of an object."""
    text = " ".join(text.split())
    return text if text and not text.startswith("<") else None


def _as_html(png: bytes, alt: str):
    from nbformat import NotebookNode

    # As an image output it would get "No description": the exporter reads no alt text.
    image = f'<img class="plot" alt="{escape(alt)}" src="{_data_url(png, "image/png")}">'
    return NotebookNode({"text/html": image})


def _data_url(content: bytes, kind: str) -> str:
    return f"data:{kind};base64,{base64.b64encode(content).decode('ascii')}"


def _page(lesson: LessonRun, notebook, source: Path, names: Sequence[str], out: Path) -> str:
    from bs4 import BeautifulSoup
    from nbconvert import HTMLExporter

    notebook.metadata["title"] = lesson.title
    exporter = HTMLExporter(raw_template=(TEMPLATES / "lesson.html.j2").read_text("utf-8"))
    resources = {"metadata": {"name": lesson.name, "path": str(source.parent)}}
    resources["accel_error"] = lesson.error or ""
    html, _ = exporter.from_notebook_node(notebook, resources=resources)
    soup = BeautifulSoup(html, "html.parser")
    for image in soup.select(".jp-Cell img[src]"):
        target = urlsplit(image["src"])
        file = source.parent / unquote(target.path)
        if target.scheme == "data":
            continue
        if not target.scheme and not target.netloc and file.is_file():
            kind = mimetypes.guess_type(file.name)[0] or "application/octet-stream"
            image["src"] = _data_url(file.read_bytes(), kind)
        else:  # a picture from the network: its description stands in for it
            image.replace_with(image.get("alt") or "picture")
    for link in soup.select(".jp-Cell a[href]"):
        target = urlsplit(link["href"])
        if target.scheme or target.netloc or not target.path:
            continue
        path = Path(unquote(target.path))
        if path.suffix == ".ipynb" and path.stem in names:
            link["href"] = f"{path.stem}.html"
        else:
            link["href"] = os.path.relpath(source.parent.resolve() / path, out.resolve())
        link["href"] += f"#{target.fragment}" if target.fragment else ""
    return str(soup)
