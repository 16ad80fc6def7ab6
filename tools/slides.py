"""Writes course_site/slides/: the core path of every lesson as slides, from its notebook.

A heading begins a slide; what stands below it is broken into slides of about the same height, and
stands whole in the speaker notes. What is still too high, the template's script sets smaller.
"""

import base64
import functools
import re
import shutil
import struct
from pathlib import Path

import jinja2
import lesson
import sphinx_revealjs
from bs4 import BeautifulSoup
from markupsafe import escape
from nbconvert.filters import Highlight2HTML, markdown2html
from pygments.formatters import HtmlFormatter

from accel_helpers._values.words import fragment
from accel_helpers.course import questions

FULL, MOST = 9, 15  # lines of a slide; with more the text gets smaller
END = r"^## (Going further|One solution)"  # here the core path ends
QUIZ = re.compile(r"ah\.course\.show_quiz\(|lesson\.quiz\(")
ASKS = re.compile(r"lesson\.ask\(")
STYLE = HtmlFormatter(style="a11y-light").get_style_defs(".highlight")
COLOUR, soup = Highlight2HTML(), functools.partial(BeautifulSoup, features="html.parser")


@functools.cache
def lines(html: str) -> float:
    """About how many lines of text it takes: three of code are two, a block's edges a half."""
    page = soup(html)
    blocks = [pre.extract().get_text().strip().split("\n") for pre in page("pre")]
    code = sum(1 + len(line) // 85 for block in blocks for line in block)
    rows = sum(1 + len(each.get_text()) // 72 for each in page(["p", "li", "tr"]))
    return 0.5 * len(blocks) + code * 2 / 3 + 1.3 * rows + (MOST - 1) * len(page("img"))


def text(source: str):
    """What a Markdown text holds: as it is shown, and as notes have it; a heading has no notes."""
    source = re.sub(r"\[!\[.*|^> ", "", source, flags=re.M)  # without the badge
    for each in soup(markdown2html(re.sub(r"\.(ipynb|md)(?=[)#])", ".html", source))).contents:
        if each.name in ("h1", "h2", "h3"):
            each.find("a", class_="anchor-link").decompose()
            yield each.decode_contents().strip(), None
        elif each.name in ("ul", "ol"):
            for number, item in enumerate(each("li", recursive=False), 1):
                yield (f'<{each.name} start="{number}">{item}</{each.name}>',) * 2
        elif each.name == "p":  # of a long one: the first sentences, and the bold ones
            said = enumerate(re.split(r"(?<=[.?!])\s+(?=[A-Z<(])", each.decode_contents()))
            kept = " ".join(part for n, part in said if n < 3 or "<strong>" in part)
            yield str(soup(f"<p>{kept}</p>")) if each.get_text(strip=True) else "", str(each)
        elif each.name == "details":
            yield "", f"<p>{escape(each.get_text(' ', strip=True))}</p>"
        elif each.name:
            yield str(each), str(each)


def shown(output, page: str):
    """What an output shows, as HTML; a high picture stands on two slides, a long table on none."""
    data = output.get("data", {})
    said = escape(output.get("text") or data.get("text/plain", ""))
    if picture := data.get("image/png"):
        wide, high = struct.unpack(">II", base64.b64decode(picture)[16:24])
        image = f'<img src="data:image/png;base64,{picture}" alt="{said}" class='
        return [image + half for half in (("top>", "bottom>") if high > wide else ("whole>",))]
    if "text/markdown" in data:
        return [markdown2html(data["text/markdown"])]
    html = data.get("text/html", f"<pre>{said}</pre>")
    long = f'<p>See it <a href="../notebooks/{page}.html">in the lesson</a>.</p>'
    return [html if lines(html) <= 2 * MOST else long]


def made(cell, page: str):
    """What a cell of code brings: itself, and what came of it."""
    found = [COLOUR(cell.source)]
    for output in cell.outputs if "exercise" not in lesson.tags(cell) else ():
        data = output.get("data", {})
        if ASKS.search(cell.source) and data:  # its last line is for those without a form
            said = escape(data["text/plain"]).split("\n")
            return ["".join(f"<p>{line}</p>" for line in said[1:-1])]
        first, *more = shown(output, page)
        if "image/png" not in data and lines(found[-1] + first) < MOST - 2:
            first = found.pop() + first
        found += [first, *more]
    return found


def parts(path: Path):
    """What stands in a lesson's core path, in its order, as `text` gives it."""
    bank = [q for q in questions.bank().values() if q.lesson == path.name[:2] and q.quiz]
    cells = lesson.parse(lesson.read(path)).cells
    for cell in cells:
        if cell.cell_type == "markdown":
            yield from text(re.split(END, cell.source, flags=re.M)[0])
            if re.search(END, cell.source, re.M):
                yield from text(cells[-1].source)  # on which machine
                return
        elif QUIZ.search(cell.source):
            for number, q in enumerate(bank, 1):
                choices = fragment("course/templates/quiz/choices", q) if q.has_choices else ""
                yield f"Question {number} of {len(bank)}", None
                yield (
                    fragment("course/templates/quiz/head", q, number) + choices,
                    fragment("course/templates/quiz/answer", q),
                )
        elif cell.source and not lesson.tags(cell) & {"setup", "solution"}:
            yield from ((each, "") for each in made(cell, path.stem))


def slides(path: Path) -> list[list]:
    """Slides of about the same height, broken as a typesetter breaks a paragraph into lines."""
    found, best = [*parts(path)], [(0, [])]
    for end in range(1, len(found) + 1):
        ways, size = [], 0
        for start in reversed(range(end)):
            size += lines(found[start][0])
            cost = best[start][0] + (size - FULL) ** 2 * (9 if size > MOST else 1)
            ways.append((cost, [*best[start][1], found[start:end]]))
            if found[start][1] is None:  # a heading: here a slide begins
                break
        best.append(min(ways, key=lambda way: way[0]))
    return best[-1][1]


def write(out: Path = lesson.ROOT / "course_site" / "slides") -> None:
    """Write the slides of every lesson, a page that lists them, and reveal.js beside them."""
    unused = shutil.ignore_patterns("css", "theme", "math", "highlight", "*.map", "*.esm.js")
    reveal = Path(sphinx_revealjs.__file__).parent / "_static" / "revealjs"
    shutil.copytree(reveal, out / "reveal", dirs_exist_ok=True, ignore=unused)
    folder = jinja2.FileSystemLoader(lesson.HERE / "templates")
    template = jinja2.Environment(loader=folder, autoescape=True).get_template
    decks = {f"{path.stem}.html": slides(path) for path in lesson.chosen([])}
    for name, deck in decks.items():
        (out / name).write_text(template("slides.html.j2").render(deck=deck, style=STYLE), "utf-8")
    (out / "index.html").write_text(template("slides_index.html.j2").render(decks=decks), "utf-8")


if __name__ == "__main__":
    write()
