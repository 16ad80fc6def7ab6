"""Writes course_site/slides/: the core path of every lesson as slides, from its notebook.

A heading begins a slide, and so do code, a picture and a table. Of a paragraph a slide shows the
first sentences; the speaker notes have all of it. What is too high, the template's script shrinks.
"""

import re
import shutil
from pathlib import Path
from typing import NamedTuple

import lesson
import sphinx_revealjs
from bs4 import BeautifulSoup
from markupsafe import escape
from nbconvert.filters import Highlight2HTML, markdown2html
from pygments.formatters import HtmlFormatter
from template import fill

END = r"^## (Going further|One solution)"  # here the core path ends
LONG = 4_000  # characters of a table or quiz that no slide holds
BEGINS = re.compile("<(div|img|table)")


class Part(NamedTuple):
    """A heading, or what stands below it: as it is shown, and in whole, for the notes."""

    shown: str
    notes: str = ""
    is_heading: bool = False


def of_text(source):
    """Give the parts of a Markdown text."""
    source = re.sub(r"\[!\[.*|^> ", "", source, flags=re.M)  # without the badge
    source = re.sub(r"\.(ipynb|md)(?=[)#])", ".html", source)
    for element in BeautifulSoup(markdown2html(source), "html.parser").find_all(recursive=False):
        whole = str(element)
        if element.name in ("h1", "h2", "h3"):
            element.find("a", class_="anchor-link").decompose()
            yield Part(element.decode_contents().strip(), is_heading=True)
        elif element.name == "p":
            sentences = re.split(r"(?<=[.?!])\s+(?=[A-Z<(])", element.decode_contents())
            yield Part(f"<p>{' '.join(sentences[:3])}</p>", whole)
        elif element.name == "details":
            yield Part("", f"<p>{escape(element.get_text())}</p>")
        else:
            yield Part(whole, whole)


def of_output(output, page):
    """Give what a cell's output shows; a long table, and the quiz, are left in the lesson."""
    data = output.get("data", {"text/plain": output.get("text")})
    words = escape(data["text/plain"])
    if "image/png" in data:
        return Part(f'<img src="data:image/png;base64,{data["image/png"]}" alt="{words}">')
    if "text/markdown" in data:
        return Part(markdown2html(data["text/markdown"]))
    shown = data.get("text/html", f"<pre>{words}</pre>")
    if len(shown) > LONG:
        shown = f'<p>See it <a href="../notebooks/{page}.html">in the lesson</a>.</p>'
    return Part(shown)


def parts(path):
    """Give what stands in a lesson's core path, and its last line: on which machine."""
    cells = lesson.parse(lesson.read(path)).cells
    for cell in cells:
        core, *further = re.split(END, cell.source, maxsplit=1, flags=re.M)
        if cell.cell_type == "markdown":
            yield from of_text(core)
        elif not lesson.tags(cell) & {"setup", "solution"}:
            yield Part(Highlight2HTML()(cell.source))
            yield from (of_output(output, path.stem) for output in cell.outputs)
        if further:
            break
    yield from of_text(cells[-1].source)


def deck(path):
    """Give the slides of a lesson, each a list of parts that begins with its heading."""
    slides = []
    for part in parts(path):
        if part.is_heading:
            slides.append([part])
        elif len(slides[-1]) > 1 and BEGINS.match(part.shown):
            slides.append([slides[-1][0], part])
        else:
            slides[-1].append(part)
    return slides


def write(out):
    """Write the slides of every lesson, a page that lists them, and reveal.js beside them."""
    reveal = Path(sphinx_revealjs.__file__).parent / "_static" / "revealjs"
    unused = shutil.ignore_patterns("css", "theme", "math", "highlight", "*.map", "*.esm.js")
    shutil.copytree(reveal, out / "reveal", ignore=unused, dirs_exist_ok=True)
    colours = HtmlFormatter(style="a11y-light").get_style_defs(".highlight")
    decks = {f"{path.stem}.html": deck(path) for path in lesson.chosen([])}
    for name, slides in decks.items():
        page = fill("slides.html.j2", deck=slides, style=colours)
        (out / name).write_text(page, "utf-8")
    (out / "index.html").write_text(fill("slides_index.html.j2", decks=decks), "utf-8")


if __name__ == "__main__":
    write(lesson.ROOT / "course_site" / "slides")
