"""Writes course_site/slides/: the core path of every lesson as slides, from its notebook.

A heading begins a slide; what stands below it is broken into slides of about the same height. A
long paragraph is shown by its first and its bold sentences, and stands whole in the speaker notes.
What is still too high for its slide, the template's script sets smaller.
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

import accel_helpers as ah
from accel_helpers import _words

REVEAL = Path(sphinx_revealjs.__file__).parent / "_static" / "revealjs"
LONGEST, FULL, MOST = 260, 9, 13  # letters of a paragraph that is shown whole; lines of a slide
END = r"^## (Going further|One solution)"  # here the core path ends
CASE = re.compile(r'^\[(.+?)\]\s(.*?)(?=\n\[|\n""")', re.M | re.S)  # what a verdict may say
soup = functools.partial(BeautifulSoup, features="html.parser")


@functools.cache
def lines(html: str) -> float:
    """About how many lines of text it takes; three of code count for two."""
    page = soup(html)
    code = [len(x) for pre in page("pre") for x in pre.extract().get_text().split("\n") if x]
    rows = [1 + len(each.get_text()) // 72 for each in page(["p", "li", "tr"])]
    return FULL * len(page("img")) + 1.3 * sum(rows) + sum(1 + x // 85 for x in code) * 2 / 3


def short(paragraph) -> str:
    """A paragraph's first sentences, and all of them that are bold."""
    shown, left = "", LONGEST
    for part in re.split(r"(?<=[.?!])\s+(?=[A-Z<(])", paragraph.decode_contents()):
        left -= len(soup(part).get_text())
        if left > 0 or not shown or "<strong>" in part:
            shown += f"{part} "
    return str(soup(f"<p>{shown}</p>"))


def text(source: str):
    """What a Markdown text holds: as it is shown, and as notes have it; a heading has no notes."""
    source = re.sub(r"\[!\[.*|^> ", "", source, flags=re.M)  # without the badge
    page = soup(markdown2html(re.sub(r"\.(ipynb|md)(?=[)#])", ".html", source)))
    for sign in page.select("a.anchor-link"):
        sign.decompose()
    for each in page(True, recursive=False):
        if each.name in ("h1", "h2", "h3"):
            yield each.decode_contents().strip(), None
        elif each.name in ("ul", "ol"):
            for number, item in enumerate(each("li", recursive=False), 1):
                yield (f'<{each.name} start="{number}">{item}</{each.name}>',) * 2
        elif each.name == "details":
            yield "", f"<p>{escape(each.get_text(' ', strip=True))}</p>"
        elif each.get_text(strip=True):
            yield short(each) if each.name == "p" else str(each), str(each)


def made(cell, page: str, colour=Highlight2HTML()):  # noqa: B008
    """What a cell of code brings: what its verdict may say, or itself and what came of it."""
    if cases := CASE.findall(cell.source):
        said = "\n".join(f"* *{name}:* {what}" for name, what in cases)
        said = re.sub(r"{.*?}", "…", re.sub(r"\*\*{}[.,]?\*\*", "", said))
        return [markdown2html(f"**What the lesson may say:**\n\n{said}")]
    more = f'<p>See it <a href="../notebooks/{page}.html">in the lesson</a>.</p>'
    found = [colour(cell.source) + more * ("unit_animation" in cell.source)]
    for output in cell.outputs if "exercise" not in lesson.tags(cell) else ():
        data, shown = output.get("data", {}), [more]
        said = escape(output.get("text") or data.get("text/plain", ""))
        if "ah.predict.ask(" in cell.source and data:  # its last line is for those without a form
            return ["".join(f"<p>{line}</p>" for line in said.split("\n")[1:-1])]
        if "image/png" in data:
            wide, high = struct.unpack(">II", base64.b64decode(data["image/png"])[16:24])
            source = f'src="data:image/png;base64,{data["image/png"]}" alt="{said}"'
            parts = ("whole",) if high < wide else ("top", "bottom")
            shown = [f'<img class="{part}" {source}>' for part in parts]
        elif not data:
            shown = [f"<pre>{said}</pre>"]
        for each in shown:
            fits = lines(found[-1] + each) < MOST
            found[-1:] = [found[-1] + each] if fits else [found[-1], each]
    return found


def parts(path: Path):
    """What stands in a lesson's core path, in its order, as `text` gives it."""
    for cell in lesson.parse(lesson.read(path)).cells:
        if cell.cell_type == "markdown":
            source, *end = re.split(END, cell.source, maxsplit=1, flags=re.M)
            yield from text(source)
            if end:
                return
        elif "ah.quiz.show(" in cell.source:
            bank = [q for q in ah.questions.bank().values() if q.lesson == path.name[:2] and q.quiz]
            for number, q in enumerate(bank, 1):
                yield f"Question {number}", None
                choices = _words.fragment("quiz/choices", q) if q.has_choices else ""
                asked = _words.fragment("quiz/head", q, number) + choices
                yield asked, _words.fragment("quiz/answer", q)
        elif cell.source and not lesson.tags(cell) & {"setup", "solution"}:
            yield from ((shown, "") for shown in made(cell, path.stem))


def broken(stack: list) -> list[list]:
    """Parts in slides of about the same height, as a typesetter breaks a paragraph into lines."""
    best = [(0, [])]
    for end in range(1, len(stack) + 1):
        sizes = [sum(lines(shown) for shown, _ in stack[start:end]) for start in range(end)]
        costs = [(size - FULL) ** 2 * (9 if size > MOST else 1) for size in sizes]
        cost, start = min((best[start][0] + cost, start) for start, cost in enumerate(costs))
        best.append((cost, [*best[start][1], stack[start:end]]))
    return best[-1][1] or [[]]


def write(out: Path = lesson.ROOT / "course_site" / "slides") -> None:
    """Write the slides of every lesson, a page that lists them, and reveal.js beside them."""
    loader = jinja2.FileSystemLoader(lesson.HERE / "templates")
    pages = jinja2.Environment(loader=loader, autoescape=True, trim_blocks=True, lstrip_blocks=True)
    ignored = shutil.ignore_patterns("theme", "*.map", "*.esm.js")
    for name in ("dist", "plugin/notes"):
        shutil.copytree(REVEAL / name, out / "reveal" / name, dirs_exist_ok=True, ignore=ignored)
    shutil.copy(REVEAL / "LICENSE", out / "reveal")
    style, titles = HtmlFormatter(style="a11y-light").get_style_defs(".highlight"), {}
    for path in lesson.chosen([]):
        stacks = []
        for shown, notes in parts(path):
            if notes is None:
                stacks.append((shown, []))
            else:
                stacks[-1][1].append((shown, notes))
        titles[f"{path.stem}.html"] = title = soup(stacks[0][0]).get_text()
        page = pages.get_template("slides.html.j2").render(
            title=title, stacks=stacks, broken=broken, style=style
        )
        (out / f"{path.stem}.html").write_text(page, "utf-8")
    index = pages.get_template("slides_index.html.j2").render(titles=titles)
    (out / "index.html").write_text(index, "utf-8")


if __name__ == "__main__":
    write()
