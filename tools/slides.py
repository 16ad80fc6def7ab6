"""Writes course_site/slides/: at most 20 slides a lesson, from its notebook and docs/teach.md.

A slide has a heading, one thing to look at and one sentence. Of a section of the core path it shows
the first result, pictures, players, tables and guesses; without a picture, what was printed last.
The sentence is the verdict or the advice behind it, else the first of the paragraph before it. The
speaker notes have what the guide asks there, and what is folded away. The quiz gets what is left.
"""

import re
import shutil
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

import lesson
import players
import sphinx_revealjs
from bs4 import BeautifulSoup
from markupsafe import escape
from nbconvert.filters import Highlight2HTML, markdown2html
from pygments.formatters import HtmlFormatter
from template import fill

MOST = 20
END = ("Going further", "One solution")  # here the core path ends
# What the parts of a text are; a paragraph is none of them. A quotation has what was not tried.
KINDS = {"table": "shown", "div": "shown", "pre": "shown", "ul": "list", "ol": "list"}
KINDS |= {"details": "folded", "blockquote": "left out"}
ADVICE = "<p><strong>So what should you do?"
# A sentence, behind what stands in brackets; a question is shown with its answer.
SENTENCE = re.compile(r"(?:\([^)]*\)\s+)?(.*?(?:[.!](?:</\w+>)*(?=\s+[A-Z<(])|$))", re.S)
# In the guide: a heading of a lesson, as a link, and the minutes of a plan.
PART = re.compile(r"\]\(\.\./notebooks/(\w+)\.ipynb#([^)]+)\)")
MINUTES = re.compile(r"\d+ to \d+")


@dataclass
class Slide:
    """What is on a slide, and in its notes; its sentence may still be changed while it is open."""

    heading: str
    shown: str = ""
    said: str = ""
    notes: str = ""
    is_open: bool = True


def tree(html):
    """Parse HTML."""
    return BeautifulSoup(html, "html.parser")


def of_text(source):
    """Give the parts of a Markdown text, (kind, HTML), its links leading to the site's pages."""
    source = re.sub(r"\[!\[.*", "", source)
    html = markdown2html(re.sub(r"\.(ipynb|md)(?=[)#])", ".html", source))
    for part in tree(html).find_all(recursive=False):
        if part.name in ("h1", "h2", "h3"):
            part.select_one("a.anchor-link").decompose()
            yield "heading", part.decode_contents()
        elif str(part).startswith(ADVICE):
            yield "advice", str(part)
        else:
            yield KINDS.get(part.name, "said"), str(part)


def of_code(cell):
    """Give the parts of a code cell that a class sees, (kind, HTML)."""
    tags = lesson.tags(cell)
    code = Highlight2HTML()(cell.source)
    if "exercise" in tags:
        yield "exercise", code
        return
    for output in cell.outputs:
        data = output.get("data", {"text/plain": output.get("text")})
        words = escape(data["text/plain"])
        if cell.source == "lesson.quiz()":
            yield from (("question", one) for one in data["text/html"].split("<hr>"))
        elif "<script" in data.get("text/html", ""):
            # A section would be a slide.
            player = re.sub(r"(?<=<)section|(?<=</)section", "div", data["text/html"])
            yield "picture", f'<div class="player">{player}</div>'
        elif "image/png" in data:
            yield "picture", f'<img src="data:image/png;base64,{data["image/png"]}" alt="{words}">'
        elif "text/markdown" in data:
            for part in tree(markdown2html(data["text/markdown"])).find_all(recursive=False):
                yield KINDS.get(part.name, "verdict"), str(part)
        elif "lesson.ask(" in cell.source:
            yield "guess", data["text/html"].partition("<p><em>Run this cell")[0]
        elif not words.startswith("Answer: "):
            kind = "shown" if "first-result" in tags else "printed"
            yield kind, f"{code}<pre>{words}</pre>"


def sections(path):
    """Give the sections of a lesson's core path: of each its heading, and its parts."""
    notebook = lesson.parse(lesson.read(path))
    players.put_back(notebook)
    found = []
    for cell in notebook.cells:
        is_text = cell.cell_type == "markdown"
        for kind, html in of_text(cell.source) if is_text else of_code(cell):
            if kind != "heading":
                found[-1][1].append((kind, html))
            elif html.startswith(END):
                return found
            else:
                found.append((html, []))


def first_sentence(html):
    """Give the first sentence of a paragraph."""
    inner = tree(html).find().decode_contents()
    return str(tree(f"<p>{SENTENCE.match(inner)[1]}</p>"))


def of_exercise(heading, parts):
    """Give the slide of an exercise: what it shows, else its rule, else its code."""
    of_kind = defaultdict(list)
    for kind, html in parts:
        of_kind[kind].append(html)
    shown = of_kind["shown"] or of_kind["list"] or of_kind["exercise"]
    first, *_ = of_kind["said"]
    return [Slide(heading, shown[-1], first_sentence(first), "".join(of_kind["folded"]))]


def is_shown(kind, later, all_kinds):
    """Tell whether a part is looked at: what was printed only if no picture says it."""
    if kind == "printed":
        behind = next((one for one in later if one != "said"), "")
        is_last = "printed" not in later and not {"shown", "guess"} & {*all_kinds}
        return "picture" not in all_kinds and (is_last or behind in ("verdict", "advice"))
    if kind == "list":
        return not {"picture", "shown", "printed"} & {*all_kinds}
    return kind in ("picture", "shown")


def of_section(heading, parts):
    """Give the slides of a section."""
    slides, first, sentence = [], "", ""
    kinds = [kind for kind, _ in parts]
    for place, (kind, html) in enumerate(parts):
        if kind == "said":
            sentence = first_sentence(html)
            first = first or sentence
        elif kind in ("verdict", "advice"):
            if not slides or (kind == "advice" and not slides[-1].is_open):
                slides.append(Slide(heading))
            if slides[-1].is_open:
                slides[-1].said = first_sentence(html)
                slides[-1].is_open = False
            else:
                slides[-1].notes += html
        elif kind == "folded":
            slides = slides or [Slide(heading, is_open=False)]
            slides[-1].said += sentence
            sentence = ""
            slides[-1].notes += html
        elif kind == "guess":
            slides.append(Slide(heading, html, is_open=False))
        elif kind == "list" and slides and not slides[-1].shown:
            slides[-1].shown = html
        elif is_shown(kind, kinds[place + 1 :], kinds):
            slides.append(Slide(heading, html, sentence if slides else first))
            sentence = ""
    return slides or [Slide(heading, said=first)]


def of_question(html):
    """Give the slide of a question, the answer in its notes."""
    page = tree(html)
    answer = page.details.extract()
    stem = page.strong.extract().decode_contents()
    how = page.em.extract()
    shown = str(page.ul or "")
    return Slide(stem, shown, f"<p>{how}</p>", str(answer))


def asked(guide):
    """Give what the guide asks at a part of a lesson, (its name, heading), as HTML."""
    found = defaultdict(str)
    for row in re.findall(r"^\| (.*) \|$", guide, re.M):
        *others, you = row.split(" | ")
        parts = PART.findall(row.removesuffix(you))
        if parts and not you.startswith("As "):
            if not MINUTES.fullmatch(others[0]):
                you = f"Some say: “{others[0]}” Ask: “{you}”"
            found[parts[-1]] += markdown2html(re.sub(r"\[([^]]+)\]\([^)]*\)", r"\1", you))
    return found


def deck(path, guide):
    """Give the slides of a lesson."""
    (title, head), *others = sections(path)
    able = next(html for _, html in head if "be able to" in html)
    *_, machine = lesson.parse(lesson.read(path)).cells
    slides, quiz = [Slide(title, "".join(html for _, html in of_text(machine.source)), able)], []
    for heading, parts in others:
        if heading == "Quiz":
            quiz = [of_question(html) for _, html in parts if _ == "question"]
            continue
        anchor = re.sub(r"[^\w -]", "", tree(heading).text.lower()).replace(" ", "-")
        is_exercise = heading.startswith("Exercise")
        made = of_exercise(heading, parts) if is_exercise else of_section(heading, parts)
        seen = [slide for slide in made if "<img" in slide.shown]
        shown_at = (seen or made)[-1]
        shown_at.notes = guide[path.stem, anchor] + shown_at.notes
        slides += made
    return [*slides, *quiz][:MOST]


def write(out):
    """Write the slides of every lesson, and reveal.js beside them."""
    reveal = Path(sphinx_revealjs.__file__).parent / "_static" / "revealjs"
    unused = shutil.ignore_patterns("css", "theme", "math", "highlight", "*.map")
    shutil.copytree(reveal, out / "reveal", ignore=unused, dirs_exist_ok=True)
    colours = HtmlFormatter(style="a11y-light").get_style_defs(".highlight")
    guide = asked(lesson.read(lesson.ROOT / "docs" / "teach.md"))
    for path in lesson.chosen([]):
        page = fill("slides.html.j2", deck=deck(path, guide), style=colours)
        (out / f"{path.stem}.html").write_text(page, "utf-8")


if __name__ == "__main__":
    write(lesson.ROOT / "course_site" / "slides")
