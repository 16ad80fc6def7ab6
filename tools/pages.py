"""The pages of the report: HTML that asks the network for nothing, readable by everyone."""

import base64
import binascii
import copy
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from html import escape
from pathlib import Path
from urllib.parse import unquote, urlsplit


@dataclass(frozen=True)
class Plot:
    """A picture that a lesson drew: its file in the report, and what it shows in a sentence."""

    file: str
    alt: str


@dataclass(frozen=True)
class LessonRun:
    """How one lesson ran.

    `error` is a sentence with the place where it failed, or None. `page` is the lesson's file in
    the report, or None when the lesson could not be read.
    """

    name: str
    title: str
    seconds: float
    error: str | None = None
    page: str | None = None
    plots: tuple[Plot, ...] = ()

    @property
    def ok(self) -> bool:
        return self.error is None

    @property
    def status(self) -> str:
        return "ran to the end" if self.ok else f"failed in {self.error}"

    def to_dict(self) -> dict:
        return {
            "name": self.name,
            "title": self.title,
            "ok": self.ok,
            "seconds": round(self.seconds, 3),
            "error": self.error,
            "page": self.page,
            "plots": [{"file": plot.file, "alt": plot.alt} for plot in self.plots],
        }


def write_lesson(
    lesson: LessonRun, notebook, source: Path, names: Sequence[str], folder: Path
) -> LessonRun:
    """Write the page and the plots of an executed lesson.

    Parameters
    ----------
    lesson : LessonRun
        How it ran.
    notebook : nbformat.NotebookNode
        The lesson with its outputs; is left as it is.
    source : Path
        Where the notebook lies; its links and pictures are relative to it.
    names : sequence of str
        The lessons of this report: links to them lead to their pages.
    folder : Path
        The report; has a folder `plots`.

    Returns
    -------
    LessonRun
        The same with title, page and plots.
    """
    title = _title(notebook) or lesson.name
    shown, plots = copy.deepcopy(notebook), []
    for cell in shown.cells:
        if cell.metadata.get("jupyter", {}).get("source_hidden"):
            cell.metadata["transient"] = {"remove_source": True}  # as JupyterLab folds it
        for output in cell.get("outputs", []):
            if "data" in output:
                png = _png(output.data.get("image/png"))
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


def index(
    lessons: Sequence[LessonRun], runtime, when: datetime, fast: bool = False, summary: str = ""
) -> str:
    """The first page of the report, as HTML.

    Parameters
    ----------
    lessons : sequence of LessonRun
        In the order in which they are listed.
    runtime : runtime.Runtime
        The machine they ran on.
    when : datetime
        The date that the report shows.
    fast : bool
        Whether they ran on small sizes; the page says so.
    summary : str
        The file with the summary to keep, where lesson 11 has written one.

    Returns
    -------
    str
        A page of its own: nothing in it is loaded from elsewhere but the plots beside it.
    """
    failed = [lesson for lesson in lessons if not lesson.ok]
    ran = f"{len(lessons) - len(failed)} of {len(lessons)} lessons ran to the end."
    if failed:
        ran += " Failed: " + ", ".join(lesson.name for lesson in failed) + "."
    if fast:
        ran += " They ran on small sizes: quick, and not for conclusions."
    machine = "".join(
        f"<div><dt>{escape(name)}</dt><dd>{escape(value)}</dd></div>\n"
        for name, value in _machine(runtime)
    )
    listed = "".join(_entry(lesson) for lesson in lessons)
    return _INDEX.format(
        style=_INDEX_STYLE,
        ran=escape(ran),
        when=escape(f"{when:%d %B %Y, %H:%M}"),
        stamp=escape(when.isoformat(timespec="minutes")),
        machine=machine,
        lessons=listed,
        summary=_SUMMARY.format(file=escape(summary)) if summary else "",
    )


def _entry(lesson: LessonRun) -> str:
    title = escape(lesson.title)
    if lesson.page:
        title = f'<a href="{escape(lesson.page)}">{title}</a>'
    took = _duration(lesson.seconds)
    if lesson.ok:
        status = f'<span class="good">Ran to the end</span> in {took}.'
    else:
        status = f'<span class="bad">Failed</span> after {took} in {escape(lesson.error)}'
    plots = "".join(
        f'<li><a href="{escape(plot.file)}"><img src="{escape(plot.file)}" '
        f'alt="{escape(plot.alt)}" loading="lazy"></a></li>\n'
        for plot in lesson.plots
    )
    return (
        f"<li>\n<h3>{title}</h3>\n"
        f"<p>{status}</p>\n" + (f'<ul class="plots">\n{plots}</ul>\n' if plots else "") + "</li>\n"
    )


def _duration(seconds: float) -> str:
    if seconds < 120:
        return f"{seconds:.1f} seconds"
    return f"{seconds / 60:.0f} minutes"


def _machine(runtime) -> list[tuple[str, str]]:
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
    cpu = f"{runtime.cpu_name or 'unknown'}, {runtime.cores} cores usable"
    shown = ("tensorflow", "keras", "jax", "torch", "numpy")
    frameworks = [
        f"{name} {runtime.frameworks[name]}" for name in shown if name in runtime.frameworks
    ]
    rows = [
        ("Accelerator", accelerator),
        ("CPU", cpu),
        ("Memory", f"{runtime.memory_bytes / gib:.0f} GiB" if runtime.memory_bytes else "unknown"),
        ("System", str(runtime.system)),
        ("Python", str(runtime.python)),
        ("Frameworks", ", ".join(frameworks) or "none"),
        ("Place", str(runtime.place) + (f" ({runtime.release})" if runtime.release else "")),
    ]
    return rows


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
    source = f"data:image/png;base64,{base64.b64encode(png).decode('ascii')}"
    return NotebookNode({"text/html": f'<img class="plot" alt="{escape(alt)}" src="{source}">'})


def _page(lesson: LessonRun, notebook, source: Path, names: Sequence[str], out: Path) -> str:
    from bs4 import BeautifulSoup
    from nbconvert import HTMLExporter

    notebook.metadata["title"] = lesson.title
    exporter = HTMLExporter(raw_template=_LESSON)
    resources = {"metadata": {"name": lesson.name, "path": str(source.parent)}}
    resources["accel_error"] = escape(lesson.error or "")
    html, _ = exporter.from_notebook_node(notebook, resources=resources)
    soup = BeautifulSoup(html, "html.parser")
    for image in soup.select(".jp-Cell img[src]"):
        target = urlsplit(image["src"])
        file = source.parent / unquote(target.path)
        if target.scheme == "data":
            continue
        if not target.scheme and not target.netloc and file.is_file():
            image["src"] = _data_url(file)
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


def _data_url(file: Path) -> str:
    import mimetypes

    kind = mimetypes.guess_type(file.name)[0] or "application/octet-stream"
    return f"data:{kind};base64,{base64.b64encode(file.read_bytes()).decode('ascii')}"


# The policy makes the browser refuse whatever a lesson might ask of the network. The scripts that
# the exporter loads from elsewhere are left out; the colours that it sets too pale are set again.
_LESSON = """{% extends 'lab/index.html.j2' %}
{% block html_head_js_requirejs %}
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; img-src data: blob:;
 media-src data: blob:; font-src data:; style-src 'unsafe-inline'; script-src 'unsafe-inline'">
{% endblock %}
{% block jupyter_widgets %}{% endblock %}
{% block html_head_js_mathjax %}{% endblock %}
{% block html_head_js_mermaidjs %}{% endblock %}
{% block html_head_css %}
<style>
.jp-InputPrompt, .jp-OutputPrompt { color: #444 !important; opacity: 1 !important; }
.highlight .m, .highlight .mi, .highlight .mf, .highlight .mh, .highlight .mo, .highlight .mb,
.highlight .il { color: #1b5e20 !important; }
.highlight .c, .highlight .c1, .highlight .cm { color: #2d6363 !important; }
.highlight .o, .highlight .ow { color: #7b14c0 !important; }
.jp-RenderedHTMLCommon a { text-decoration: underline !important; }
.jp-RenderedMarkdown pre { background: #f5f5f5 !important; margin: 0 0 1rem !important;
 padding: .5rem !important; }
.jp-RenderedHTMLCommon summary { padding: .25rem 0; }
.plot, .jp-RenderedMarkdown img { max-width: 100%; height: auto; }
.report-note { margin: 1rem; font: 1rem/1.5 system-ui, sans-serif; }
.report-note.failed { padding: .5rem 1rem; border-left: .3rem solid #a30000; }
</style>
{% endblock %}
{% block body_header %}{{ super() }}
<p class="report-note"><a href="index.html">All lessons of this report</a></p>
{% if resources.accel_error %}
<p class="report-note failed"><strong>This lesson failed</strong> in {{ resources.accel_error }}</p>
{% endif %}
{% endblock %}
"""

_INDEX_STYLE = """
:root { color-scheme: light dark; --ink: #1c1c1c; --paper: #fff; --soft: #f3f4f6; --link: #0b57a4;
  --good: #1b5e20; --bad: #a30000; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e8e8e8; --paper: #16181c; --soft: #23262c; --link: #8ab8ff; --good: #8fd694;
    --bad: #ff9b94; }
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--paper); color: var(--ink);
  font: 1.05rem/1.55 system-ui, -apple-system, "Segoe UI", sans-serif; }
main { max-width: 60rem; margin: 0 auto; padding: 1.5rem 1rem 4rem; }
h1, h2, h3 { line-height: 1.2; }
h1 { margin-bottom: .3rem; }
h3 { margin: 0; }
a { color: var(--link); text-underline-offset: .15em; }
a:focus-visible { outline: .2rem solid var(--link); outline-offset: .15rem; }
dl { display: grid; grid-template-columns: repeat(auto-fit, minmax(15rem, 1fr)); gap: .8rem 1.5rem;
  margin: 0; padding: 1rem 1.2rem; background: var(--soft); border-radius: .6rem; }
dt { font-size: .9rem; font-weight: 600; }
dd { margin: 0; overflow-wrap: anywhere; }
ol, ul { list-style: none; margin: 0; padding: 0; }
ol > li { padding: 1rem 0; border-top: 1px solid var(--soft); }
ol p { margin: .2rem 0 0; overflow-wrap: anywhere; }
.good { color: var(--good); font-weight: 600; }
.bad { color: var(--bad); font-weight: 600; }
.plots { display: grid; grid-template-columns: repeat(auto-fill, minmax(13rem, 1fr)); gap: 1rem;
  margin-top: .8rem; }
.plots img { display: block; width: 100%; height: auto; border-radius: .3rem; background: #fff; }
"""

_SUMMARY = """
<p>To keep: <a href="{file}">the summary</a>, with both answers to every exam question
and these measurements.</p>"""

_INDEX = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Course report</title>
<link rel="icon" href="data:,">
<style>{style}</style>
</head>
<body>
<main>
<h1>Course report</h1>
<p>{ran} <time datetime="{stamp}">{when}</time>.</p>
<h2>The machine</h2>
<dl>
{machine}</dl>
<h2>The lessons</h2>
<ol>
{lessons}</ol>{summary}
<p>The measurements are in <a href="result_card.json">result_card.json</a>, for programs.</p>
</main>
</body>
</html>
"""
