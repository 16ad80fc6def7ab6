"""Writes the question bank to take along: questions.gift for Moodle, questions.apkg for Anki.

Run it as `python tools/questions_out.py FOLDER`. Steps, of which GIFT has no kind, are matched with
their places, as true today.
"""

import re
import sys
from pathlib import Path

import genanki
import lesson
import template

from accel_helpers._values import words
from accel_helpers.course import questions

COURSE = "GPUs and TPUs in Colab"
# Braces are Anki's.
CARD = {
    "name": "Card",
    "qfmt": '<p><strong>{{Question}}</strong></p><p class="how">{{How}}</p>{{Options}}',
    "afmt": '{{FrontSide}}<hr id="answer">{{Answer}}<p class="how">{{Name}}</p>',
}
FIELDS = ("Question", "How", "Options", "Answer", "Name")


def tags(question) -> list[str]:
    """What a question is found by: its lesson, and the exam questions that it covers."""
    return [f"lesson-{question.lesson}", *question.exam]


def escaped(html: str) -> str:
    """HTML as GIFT takes it, in one line: its seven signs behind a backslash."""
    return re.sub(r"([\\~=#{}:])", r"\\\1", str(html).replace("\n", ""))


def gift(bank) -> str:
    """Questions as Moodle's GIFT, in a category for each lesson, with every option's feedback."""
    template.MADE.filters["escaped"] = escaped
    template.MADE.filters["gift"] = lambda text: escaped(words.marked(text))
    return template.fill(
        "questions.gift.j2",
        course=COURSE,
        lessons=[path.stem for path in lesson.chosen([])],
        bank=bank,
        tags=tags,
        quiz=words.template("course/templates/quiz.html").module,
    )


def deck(bank) -> genanki.Deck:
    """Questions as an Anki deck; the ids, drawn once, are those that an update is known by."""
    fields = [{"name": name} for name in FIELDS]
    model = genanki.Model(1852036411, COURSE, fields, [CARD], css=template.fill("anki.css"))
    made = genanki.Deck(1748201953, COURSE)
    for q in bank:
        choices = words.fragment("course/templates/quiz/choices", q) if q.has_choices else ""
        answer = words.fragment("course/templates/quiz/answer", q)
        texts = [words.marked(q.stem), words.marked(q.how), choices, answer, q.id]
        made.add_note(genanki.Note(model, texts, tags=tags(q), guid=genanki.guid_for(q.id)))
    return made


def write(folder: Path) -> None:
    """Write both files into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    bank = questions.bank().values()
    (folder / "questions.gift").write_text(gift(bank), "utf-8")
    genanki.Package(deck(bank)).write_to_file(folder / "questions.apkg")


if __name__ == "__main__":
    write(Path(sys.argv[1]))
