"""Writes course_site/slides/: the core path of every lesson as slides, from its notebook.

A heading begins a slide, and so do code, a picture, a table and a question of the quiz. Of a
paragraph a slide shows the first sentences; the speaker notes have all of it, and what is folded
away in the lesson: hints and the quiz's answers. What is too high, the template's script shrinks.
"""

import re
import shutil
from pathlib import Path

import lesson
import sphinx_revealjs
from bs4 import BeautifulSoup
from markupsafe import escape
from nbconvert.filters import Highlight2HTML, markdown2html
from pygments.formatters import HtmlFormatter
from template import fill

END = r"^## (Going further|One solution)"  # here the core path ends
LONG = 4_000  # characters of a table that no slide holds
QUESTION = re.compile(r"<p><strong>(\d+\. .*?)</strong>(.*?)</p>")


def of_text(source):
    """Give a Markdown text as HTML, without the badge, its links leading to the site's pages."""
    source = re.sub(r"\[!\[.*|^> ", "", source, flags=re.M)
    return markdown2html(re.sub(r"\.(ipynb|md)(?=[)#])", ".html", source))


def of_quiz(stored):
    """Give the quiz that a cell has stored, each question below a heading."""
    questions, _, how_to_answer = stored.rpartition("<p><em>")
    questions = questions.removeprefix("<div>").replace("<hr>", "")
    return QUESTION.sub(r"<h2>\1</h2><p>\2</p>", questions)


def of_output(output, page):
    """Give what a cell's output shows; a long table is left in the lesson."""
    data = output.get("data", {"text/plain": output.get("text")})
    words = escape(data["text/plain"])
    if "image/png" in data:
        return f'<img src="data:image/png;base64,{data["image/png"]}" alt="{words}">'
    if "text/markdown" in data:
        return markdown2html(data["text/markdown"])
    shown = data.get("text/html", f"<pre>{words}</pre>")
    if len(shown) > LONG:
        return f'<p>See it <a href="../notebooks/{page}.html">in the lesson</a>.</p>'
    return f"<div>{shown}</div>"


def core(path):
    """Give a lesson's core path as HTML, and its last line: on which machine."""
    cells = lesson.parse(lesson.read(path)).cells
    for cell in cells:
        if cell.cell_type == "markdown":
            text, *further = re.split(END, cell.source, maxsplit=1, flags=re.M)
            yield of_text(text)
            if further:
                break
        elif cell.source == "lesson.quiz()":
            yield of_quiz(cell.outputs[0].data["text/html"])
        elif not lesson.tags(cell) & {"setup", "solution"}:
            yield Highlight2HTML()(cell.source)
            yield from (of_output(output, path.stem) for output in cell.outputs)
    yield of_text(cells[-1].source)


def deck(path):
    """Give the slides of a lesson: of each its heading, what it shows, and what the notes say."""
    slides = []
    page = BeautifulSoup("".join(core(path)), "html.parser")
    for element in page.find_all(recursive=False):
        shown = notes = str(element)
        if element.name in ("h1", "h2", "h3"):
            for link in element.select("a.anchor-link"):
                link.decompose()
            slides.append({"heading": element.decode_contents(), "shown": "", "notes": ""})
            continue
        if element.name == "p":
            sentences = re.split(r"(?<=[.?!])\s+(?=[A-Z<(])", element.decode_contents())
            shown = f"<p>{' '.join(sentences[:3])}</p>"
        elif element.name == "details":
            element["open"] = ""
            shown, notes = "", str(element)
        elif element.name in ("div", "img", "table"):
            notes = ""
            if slides[-1]["shown"]:
                slides.append({**slides[-1], "shown": "", "notes": ""})
        slides[-1]["shown"] += shown
        slides[-1]["notes"] += notes
    return slides


def write(out):
    """Write the slides of every lesson, and reveal.js beside them."""
    reveal = Path(sphinx_revealjs.__file__).parent / "_static" / "revealjs"
    unused = shutil.ignore_patterns("css", "theme", "math", "highlight", "*.map")
    shutil.copytree(reveal, out / "reveal", ignore=unused, dirs_exist_ok=True)
    colours = HtmlFormatter(style="a11y-light").get_style_defs(".highlight")
    for path in lesson.chosen([]):
        page = fill("slides.html.j2", deck=deck(path), style=colours)
        (out / f"{path.stem}.html").write_text(page, "utf-8")


if __name__ == "__main__":
    write(lesson.ROOT / "course_site" / "slides")
