"""Writes course_site/slides/, at most 20 slides a lesson, from the site's pages.

A slide has a heading, one thing to look at, and one sentence: the verdict or the advice behind it,
else the first of the paragraph before it. In sections without a picture it may be what was printed.
The speaker notes have what the teacher's guide asks at that section, and what is folded away. The
quiz comes last, as far as there is room.
"""

import re
import shutil
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

import lesson
import sphinx_revealjs
from bs4 import BeautifulSoup
from pygments.formatters import HtmlFormatter
from template import fill

MOST = 20
END = ("going-further", "one-solution")  # the section's name where the core path ends
# The parts of a page; each is the first of these that fits it. What is left out fits none.
KINDS = {
    "heading": "section > :is(h1, h2, h3)",
    "picture": ".animation, .cell_output img:not(.animation *)",
    "quiz": "#quiz .text_html",
    "guess": ".text_html:has(strong:-soup-contains('Your guess'))",
    "told": ".cell_output > p, section > p:has(> strong:-soup-contains('So what', 'be able'))",
    "said": "section > p:not(:has(> strong:-soup-contains('Next:')))",
    "shown": "section > [class*=highlight], [class*=table-container], .tag_first-result .stream",
    "spare": ".cell:not(.tag_exercise) .output:not(:has(summary), :-soup-contains('Answer: ')), "
    "section > :is(ul, ol)",
    "folded": "section > details",
}
# A sentence, behind what stands in brackets; a question is shown with its answer.
SENTENCE = re.compile(r"(?:\([^)]*\)\s+)?(.*?(?:[.!](?:</\w+>)*(?=\s+[A-Z<(])|$))", re.S)


@dataclass
class Slide:
    """What a slide shows below its heading: what is told of it, or else what was said before it."""

    heading: str
    shown: str = ""
    said: str = ""
    told: str = ""
    notes: str = ""


def tree(html):
    """Parse HTML."""
    return BeautifulSoup(html, "html.parser")


def sections(page):
    """Give the sections of a lesson's core path: the heading of each, and its parts by kind."""
    found = []
    for part in page.select(", ".join(KINDS.values())):
        kind = next(kind for kind, css in KINDS.items() if part.css.match(css))
        if kind != "heading":
            found[-1][1].append((kind, part))
        elif part.parent["id"].startswith(END):
            break
        else:
            part.find(class_="headerlink").decompose()
            found.append((part, []))
    return found


def first_sentence(paragraph):
    """Give the first sentence of a paragraph."""
    start = SENTENCE.match(paragraph.decode_contents())
    return str(tree(f"<p>{start[1]}</p>"))


def with_code(part):
    """Give what a cell printed, below its code; of other parts themselves."""
    cell = part.find_parent(class_="cell")
    code = cell.select_one(".cell_input .highlight") if cell else ""
    return f"{code}{part}"


def of_section(heading, parts):
    """Give the slides of a section."""
    slides, said, spare = [], "", ""
    is_drawn = "picture" in dict(parts)
    for kind, part in parts:
        if kind == "said":
            said = said if said and not slides else first_sentence(part)
        elif kind == "spare":
            if slides and not slides[-1].shown + slides[-1].said:
                slides[-1].shown = with_code(part)
            elif not is_drawn:
                spare = with_code(part)
        elif kind == "told":
            if spare or not slides or slides[-1].told:
                slides.append(Slide(heading, spare))
                spare = ""
            slides[-1].told = first_sentence(part)
        elif kind == "guess":
            slides.append(Slide(heading, str(part), told=" "))  # what comes out is not told yet
        elif kind == "folded":
            slides = slides or [Slide(heading, spare)]
            slides[-1].said += said
            slides[-1].notes += str(part)
            said = ""
        else:
            shown = str(part) if kind == "picture" else with_code(part)
            slides.append(Slide(heading, shown, said))
            said = ""
    return slides or [Slide(heading, spare, said)]


def of_question(html):
    """Give the slide of a question, the answer in its notes."""
    page = tree(html)
    stem = page.strong.extract()
    answer = page.details.extract()
    return Slide(stem.decode_contents(), str(page.ul or ""), str(page.p), notes=str(answer))


def asked(guide):
    """Give what the guide asks at a part of a lesson, as HTML, by the address of that part."""
    found = defaultdict(str)
    for row in guide.select("tr"):
        parts = row.select("td:not(:last-child) a[href*=notebooks]")
        question = row.select_one("td:last-child")
        if parts and not question.text.startswith("As "):
            found[parts[-1]["href"]] += question.decode_contents()
    return found


def deck(path, guide):
    """Give the slides of a lesson: its core path, and what there is room for of the quiz."""
    page = tree(lesson.read(path))
    slides, quiz = [], []
    for heading, parts in sections(page):
        if heading.text == "Quiz":
            quiz = str(dict(parts)["quiz"]).split("<hr/>")
            continue
        made = of_section(heading.decode_contents(), parts)
        made[-1].notes += guide[f"../notebooks/{path.name}#{heading.parent['id']}"]
        slides += made
    # On which machine it ran.
    *_, slides[0].shown = map(str, page.select("section > p"))
    return [*slides, *map(of_question, quiz)][:MOST]


def write(site):
    """Write the slides of every lesson into a site that is there, and reveal.js beside them."""
    out = site / "slides"
    reveal = Path(sphinx_revealjs.__file__).parent / "_static" / "revealjs"
    unused = shutil.ignore_patterns("css", "theme", "math", "highlight", "*.map")
    shutil.copytree(reveal, out / "reveal", ignore=unused, dirs_exist_ok=True)
    colours = HtmlFormatter(style="a11y-light").get_style_defs(".highlight")
    guide = asked(tree(lesson.read(site / "docs" / "teach.html")))
    for path in sorted(site.glob("notebooks/*.html")):
        page = fill("slides.html.j2", deck=deck(path, guide), style=colours)
        # Links from lesson to lesson begin elsewhere.
        page = re.sub(r'(?<=href=")(?=\d\d_)', "../notebooks/", page)
        (out / path.name).write_text(page, "utf-8")


if __name__ == "__main__":
    write(lesson.ROOT / "course_site")
