"""Writes the question bank to take along: questions.gift for Moodle, questions.apkg for Anki.

Run it as `python tools/questions_out.py FOLDER`. Steps, of which GIFT has no kind, are matched with
their places, as true today.
"""

import itertools
import re
import sys
from pathlib import Path

import genanki
import jinja2
import lesson

from accel_helpers._values import words
from accel_helpers.course import questions

COURSE, TEMPLATES = "GPUs and TPUs in Colab", lesson.HERE / "templates"


def tags(question) -> list[str]:
    """What a question is found by: its lesson, and the exam questions that it covers."""
    return [f"lesson-{question.lesson}", *question.exam, *["further"] * question.further]


def escaped(html: str) -> str:
    """HTML as GIFT takes it: its seven signs behind a backslash, quotes as they are."""
    html = html.replace("&#x27;", "'").replace("&#39;", "'").replace("&quot;", '"')
    return re.sub(r"([\\~=#{}:])", r"\\\1", html)


def share(question, letter) -> str:
    """The percentage that an option of several brings; all that is wrong takes away everything."""
    right = len(question.right)
    part = 100 / right if letter in question.right else -100 / (len(question.options) - right)
    return f"{part:.7g}"


def right_first(question) -> list:
    """The letters and options of a number, the right one first."""
    return sorted(question.options.items(), key=lambda each: each[0] != question.right)


def off(question, option) -> str:
    """How far off a number may be; midway between two, the nearer one counts."""
    gaps = [abs(o.value - option.value) / 2 for o in question.options.values() if o is not option]
    return f"{min(question.tolerance * abs(option.value), *gaps):.6f}".rstrip("0").rstrip(".")


def gift(every) -> str:
    """Questions as Moodle's GIFT, in a category for each lesson, with every option's feedback."""
    loader = jinja2.FileSystemLoader(TEMPLATES)
    made = jinja2.Environment(loader=loader, trim_blocks=True, lstrip_blocks=True)
    made.filters |= {"gift": lambda text: escaped(words.marked(text)), "escaped": escaped}
    texts = {path.name[:2]: lesson.read(path) for path in lesson.chosen([])}
    titles = {number: re.search(r'"# (.+?)(?:\\n)?"', text)[1] for number, text in texts.items()}
    lessons = [(n, [*each]) for n, each in itertools.groupby(every, lambda q: q.lesson)]
    return made.get_template("questions.gift.j2").render(
        course=COURSE, titles=titles, lessons=lessons, tags=tags, share=share, off=off,
        right_first=right_first, quiz=words.template("course/templates/quiz.html").module,
    )  # fmt: skip


def deck(every) -> genanki.Deck:
    """Questions as an Anki deck; the ids, drawn once, are those that an update is known by."""
    names = ("anki_front.html", "anki_back.html", "anki.css")
    front, back, css = ((TEMPLATES / name).read_text("utf-8") for name in names)
    fields = [{"name": name} for name in ("Question", "How", "Options", "Answer", "Name")]
    cards = [{"name": "Card", "qfmt": front, "afmt": back}]
    model = genanki.Model(1852036411, COURSE, fields, cards, css)
    made = genanki.Deck(1748201953, COURSE)
    for q in every:
        choices = words.fragment("course/templates/quiz/choices", q) if q.has_choices else ""
        texts = [words.marked(q.stem), words.marked(q.how), choices]
        texts += [words.fragment("course/templates/quiz/answer", q), q.id]
        made.add_note(genanki.Note(model, texts, tags=tags(q), guid=genanki.guid_for(q.id)))
    return made


def write(folder: Path) -> None:
    """Write both files into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    every = questions.bank().values()
    (folder / "questions.gift").write_text(gift(every), "utf-8")
    genanki.Package(deck(every)).write_to_file(folder / "questions.apkg")


if __name__ == "__main__":
    write(Path(sys.argv[1]))
