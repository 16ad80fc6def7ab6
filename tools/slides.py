"""Writes course_site/slides/, at most 20 slides a lesson, from the site's pages.

A slide has a heading, one thing to look at, and one sentence: the verdict and the advice behind
it, else those of the first and the last paragraph. In sections without a picture it may be what was
printed. An exercise has its whole task. What would be a sentence alone gets no slide. The speaker
notes have what the teacher's guide asks at that section, and what is folded away. The quiz comes
last, as far as there is room.
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
    "picture": ".animation, "
    ".cell_output img:not(.animation *, .cell:has(.animation) ~ .cell *)",  # the player is enough
    "quiz": "#quiz .text_html",
    "guess": ".text_html:has(strong:-soup-contains('Your guess'))",
    "told": ".cell_output:-soup-contains('Answer: '), "
    ".cell:not(.tag_hide-input) > .cell_output:not(:-soup-contains('Answer: ')) > p, "
    "section > p:has(> strong:-soup-contains('So what', 'be able')):not(:has(+ ul))",
    "task": ".tag_exercise .cell_input",
    "said": "section > p:not(:has(> strong:-soup-contains('Next:')))",
    "shown": "section > [class*=highlight], [class*=table-container], .tag_first-result .stream",
    "spare": ".cell:not(.tag_exercise) .output:not(:has(summary), :-soup-contains('Answer: ')), "
    "section > :is(ul, ol)",
    "folded": "section > details",
}
# A sentence, behind what stands in brackets; a question is shown with its answer.
SENTENCE = re.compile(r"(?:\([^)]*\)\s+)?(.*?(?:[.!](?:</\w+>)*(?=\s+[A-Z<(])|$))", re.S)
UNFOLD = re.compile(r"[^.?!)>]*\bunfold\b.*", re.S)  # nothing unfolds on a slide
TO_COME = " "  # what is told where the class guesses


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
    start = SENTENCE.match(UNFOLD.sub("", paragraph.decode_contents()))
    return start[1] and str(tree(f"<p>{start[1]}</p>"))


def with_code(part):
    """Give what a cell printed, below its code; of other parts themselves."""
    cell = part.find_parent(class_="cell")
    code = cell.select_one(".cell_input .highlight") if cell else ""
    return f"{code}{part}"


def verdict(part):
    """Give what is told: advice, or what came out, behind the answer to a guess if there is one."""
    if part.name == "p":
        return first_sentence(part)
    answer = re.search("Answer: .*", part.text)
    return f"<p>{answer[0]}</p>" + "".join(map(first_sentence, part("p", recursive=False)))


def ends(said):
    """Give the first and the last of what is said."""
    return said[:1] + said[1:][-1:]


def of_task(heading, parts):
    """Give the slides of an exercise: its whole task, and the head of the function to write."""
    slides = [Slide(heading)]
    for kind, part in parts:
        if kind == "folded":
            slides[-1].notes += str(part)
            continue
        if kind == "shown" and re.search("<pre|<table", slides[-1].shown):
            slides.append(Slide(heading))
        head, _, _ = str(part).partition('<span class="k">raise')
        slides[-1].shown += str(tree(head.rstrip()))
    return slides


def of_section(heading, parts):
    """Give the slides of a section."""
    slides, said, spare, most = [Slide(heading)], [], "", None
    is_drawn = "picture" in dict(parts)
    for kind, part in parts:
        shown = with_code(part) if kind in ("shown", "spare") else str(part)
        is_full = slides[-1].shown
        if kind == "said":
            said.append(first_sentence(part))
        elif kind == "spare" and slides[-1].told and not is_full:
            slides[-1].shown = shown
        elif kind == "spare":
            spare = "" if is_drawn else shown
            most = len(said) + 1  # and what is said right behind it
        elif kind == "folded":
            slides[-1].notes += shown
        elif kind == "told":
            if slides[-1].told == TO_COME or (is_full and spare):
                slides.append(Slide(heading))
            slides[-1].shown = slides[-1].shown or spare
            slides[-1].told += verdict(part)
            spare = ""
        else:
            if is_full:
                slides.append(Slide(heading))
            slides[-1].shown = shown
            slides[-1].said = "".join(said[-1:] if kind == "picture" else ends(said))
            said = []
            if kind == "guess":
                slides[-1].told = TO_COME
    slides[-1].shown = slides[-1].shown or spare
    slides[-1].said = slides[-1].said or "".join(ends(said[:most]))
    return slides


def of_question(html):
    """Give the slide of a question, the answer in its notes."""
    page = tree(html)
    stem = page.strong.extract()
    answer = page.details.extract()
    how = str(page.p).replace("Type a number", "A number")
    return Slide(stem.decode_contents(), str(page.ul or ""), how, notes=str(answer))


def asked(guide):
    """Give what the guide asks at a part of a lesson, as HTML, by the address of that part."""
    found = defaultdict(str)
    for row in guide.select("tr:has(a[href*=notebooks])"):
        part = row.select("td:not(:last-child) a[href*=notebooks]")[-1]["href"]
        question = row.select_one("td:last-child").decode_contents()
        if not re.match(r"\W*(<p>)?As ", question) and question not in found[part]:
            found[part] += f"<p>{question}</p>"
    return found


def deck(path, guide):
    """Give the slides of a lesson: its core path, and what there is room for of the quiz."""
    page = tree(lesson.read(path))
    slides, quiz = [], []
    for heading, parts in sections(page):
        if heading.text == "Quiz":
            quiz = str(dict(parts)["quiz"]).split("<hr/>")
            continue
        of = of_task if "task" in dict(parts) else of_section
        made = of(heading.decode_contents(), parts)
        question = guide[f"../notebooks/{path.name}#{heading.parent['id']}"]
        # Before the class guesses, or plays.
        at = (each for each in made if each.told == TO_COME or "animation" in each.shown)
        next(at, made[-1]).notes += question
        slides += [slide for slide in made if slide.shown or slide.told or slide.notes]
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
        page = re.sub(r'(?<=href=")(?=\d\d_)', "../notebooks/", page.replace("\n\n\n", "\n\n"))
        (out / path.name).write_text(page, "utf-8")


if __name__ == "__main__":
    write(lesson.ROOT / "course_site")
