"""Writes course_site/slides/: the core path of every lesson as slides, from its notebook.

A heading begins a slide, and so does every list, table, picture and piece of code. Of prose the
slide keeps the bold sentences and the first ones; all of it stands in the speaker notes.
"""

import itertools
import re
import shutil
from dataclasses import dataclass, replace
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
OUT = lesson.ROOT / "course_site" / "slides"
NOT_NEEDED = shutil.ignore_patterns("theme", "*.map", "*.esm.js")
TEXT, WIDTH, CODE = 9, 66, 14  # what a slide holds: lines of text, their letters, lines of code
END = r"^## (Going further|One solution)"  # here the core path ends
CASE = re.compile(r"^\[(.+?)\]\s(.*?)(?=^\[|\Z)", re.M | re.S)  # of the text of a verdict


@dataclass(frozen=True)
class Slide:
    """One thought: what is shown, and what the teacher reads, as HTML."""

    heading: str
    body: str = ""
    notes: str = ""
    alone: bool = False  # a picture, a question, a verdict


def soup(html: str) -> BeautifulSoup:
    return BeautifulSoup(html, "html.parser")


def rows(element) -> int:
    """About how many lines it takes; the cells of a table stand side by side."""
    cells = element(["td", "th"]) or [element]
    return max(1 + len(each.get_text()) * len(cells) // WIDTH for each in cells)


def short(paragraph) -> list:
    """What a paragraph says in short: its bold sentences, or else its first one."""
    parts = re.split(r"(?<=[.?!])\s+(?=<?[A-Z*])", paragraph.decode_contents())
    parts = [soup(f"<p>{part}</p>").p for part in parts if part.strip() and part[0] != "("]
    return [part for part in parts if part.strong][:2] or parts[:1]


def packed(elements, most: int, size=rows):
    """Pieces in groups that a slide holds."""
    group = []
    for each in elements:
        if group and sum(map(size, group)) + size(each) > most:
            yield group
            group = []
        group = [*group, each]
    if group:
        yield group


def height(body: str) -> int:
    """About how many lines of text a slide's body takes; three lines of code count for two."""
    page = soup(body)
    lines = [line for each in page("pre") for line in each.extract().get_text().split("\n")]
    return sum(map(rows, page(["p", "li", "tr"]))) + 2 * sum(1 + len(x) // 78 for x in lines) // 3


def joined(made):
    """Slides, a text together with what it speaks of where both fit on one."""
    before = None
    for each in made:
        if before and before.heading == each.heading and not (before.alone or each.alone):
            text = not soup(before.body)(["pre", "li", "tr"])
            fits = height(before.body) + height(each.body) <= TEXT
            if fits and (text or not each.body.startswith("<p>")):
                both = before.body + each.body, before.notes + each.notes
                before = replace(each, body=both[0], notes=both[1])
                continue
        if before:
            yield before
        before = each
    yield before


def code(heading: str, text: str, colour=Highlight2HTML()):  # noqa: B008
    """Code, broken between its paragraphs where they do not fit together."""
    parts = [p.split("\n") for p in re.split(r"\n\n+", text.strip("\n"))]
    parts = [group for p in parts for group in packed(p, CODE, lambda line: 1 + len(line) // 78)]
    for group in packed(parts, CODE, lambda p: 1 + sum(1 + len(line) // 78 for line in p)):
        yield Slide(heading, colour("\n\n".join("\n".join(part) for part in group)))


def prose(heading: str, source: str):
    """The slides of a Markdown cell; the last one, empty, has the heading for the cells below."""
    page, said, full = soup(markdown2html(source)), [], ""
    for quote in page("blockquote"):
        quote.unwrap()
    for link in page("a"):
        target = link.get("href", "")
        if link.img or "anchor-link" in link.get("class", ()):
            link.decompose()
        elif re.fullmatch(r"[\w.]+\.ipynb", target):
            link["href"] = target.replace(".ipynb", ".html")
        elif not target.startswith("https:"):
            link.unwrap()
    for each in [*page(True, recursive=False), soup("<hr>").hr]:
        if each.name == "p" and each.get_text(strip=True):
            said, full = said + short(each), full + str(each)
        elif each.name == "details":
            full += f"<p>{escape(each.get_text(' ', strip=True))}</p>"
        elif each.name != "p":
            for group in packed(said, TEXT - 2):
                yield Slide(heading, "".join(map(str, group)), full)
            said, full = [], "" if said else full
        if each.name in ("h1", "h2", "h3"):
            heading = each.decode_contents().strip()
            after = each.find_next_sibling()
            if after and after.name == "h3":  # nothing between the two: the title of a section
                yield Slide(heading, "<p></p>")
        elif each.name in ("ul", "ol", "table"):
            done = 0
            for group in packed(
                each.tbody("tr") if each.tbody else each("li", recursive=False), TEXT
            ):
                first = f' start="{done + 1}"' * (each.name == "ol")
                inner = "".join(map(str, [each.thead or "", *group]))
                yield Slide(heading, f"<{each.name}{first}>{inner}</{each.name}>")
                done += len(group)
        elif each.name not in ("p", "details", "hr"):
            yield from code(heading, each.get_text())
    yield Slide(heading)


def cell_slides(heading: str, cell, number: str):
    """The slides of a cell of code: its questions, its verdicts, or itself and what came of it."""
    if "ah.quiz.show(" in cell.source:
        for q in ah.questions.bank().values():
            if q.lesson == number and q.quiz:
                asked = f"<p><strong>{_words.marked(q.stem)}</strong></p><p>{q.how}</p>"
                choices = _words.fragment("quiz/choices", q) if q.has_choices else ""
                yield Slide(heading, asked + choices, _words.fragment("quiz/answer", q), True)
    elif cases := CASE.findall("".join(re.findall(r'say\(.*?"""\n(.*?)"""', cell.source, re.S))):
        texts = [
            soup(
                markdown2html(
                    re.sub(r"{.*?}", "…", text.replace("**{}", "**(What was measured)", 1))
                )
            ).p
            for _, text in cases
        ]
        notes = "".join(
            f"<p>[{name}] {t.decode_contents()}</p>"
            for (name, _), t in zip(cases, texts, strict=True)
        )
        items = [
            soup(f"<li>{name}: {short(t)[0].decode_contents()}</li>").li
            for (name, _), t in zip(cases, texts, strict=True)
        ]
        for group in packed(items, TEXT - 1):
            yield Slide(
                heading,
                f"<p><strong>What it may say:</strong></p><ul>{''.join(map(str, group))}</ul>",
                notes,
                True,
            )
    elif "ah.predict.ask(" in cell.source:
        for text in (o.data.get("text/plain", "") for o in cell.outputs if "data" in o):
            asked = text.split("\n")[:-1]  # the last line is for those without the form
            yield Slide(heading, "".join(f"<p>{_words.marked(line)}</p>" for line in asked))
    else:
        yield from code(heading, cell.source)
        for output in cell.outputs if "exercise" not in lesson.tags(cell) else ():
            data = output.get("data", {})
            if "image/png" in data:
                alt = escape(" ".join(data.get("text/plain", "").split()))
                yield Slide(
                    heading,
                    f'<img src="data:image/png;base64,{data["image/png"]}" alt="{alt}">',
                    f"<p>{alt}</p>",
                    True,
                )
            elif output.get("text", "").strip():
                yield from code(heading, output.text, lambda text: f"<pre>{escape(text)}</pre>")


def slides(path: Path):
    """The slides of a lesson."""
    heading = ""
    for cell in lesson.parse(lesson.read(path)).cells:
        if cell.cell_type == "markdown":
            source, *end = re.split(END, cell.source, maxsplit=1, flags=re.M)
            made = [*prose(heading, source)]
            heading = made[-1].heading
            yield from made
            if end:
                return
        elif cell.source and not (lesson.tags(cell) & {"setup", "solution"}):
            if cell.metadata.get("slideshow", {}).get("slide_type") not in ("skip", "notes"):
                yield from cell_slides(heading, cell, path.name[:2])


def write(out: Path = OUT) -> None:
    """Write the slides of every lesson, a page that lists them, and reveal.js beside them."""
    loader = jinja2.FileSystemLoader(lesson.HERE / "templates")
    made = jinja2.Environment(loader=loader, autoescape=True, trim_blocks=True, lstrip_blocks=True)
    style, pages = HtmlFormatter(style="a11y-light").get_style_defs(".highlight"), {}
    for path in lesson.chosen([]):
        shown = [*joined(each for each in slides(path) if each.body)]
        stacks = [[*stack] for _, stack in itertools.groupby(shown, lambda each: each.heading)]
        pages[f"{path.stem}.html"] = soup(stacks[0][0].heading).get_text(), stacks
    for name in ("dist", "plugin/notes"):
        shutil.copytree(REVEAL / name, out / "reveal" / name, dirs_exist_ok=True, ignore=NOT_NEEDED)
    shutil.copy(REVEAL / "LICENSE", out / "reveal")
    for name, (title, stacks) in pages.items():
        page = made.get_template("slides.html.j2").render(title=title, stacks=stacks, style=style)
        (out / name).write_text(page, "utf-8")
    index = made.get_template("slides_index.html.j2").render(pages=pages)
    (out / "index.html").write_text(index, "utf-8")


if __name__ == "__main__":
    write()
