"""Writes the question bank to take along: questions.gift for Moodle, questions.txt for Anki.

Run it as `python tools/questions_out.py FOLDER`. Steps, of which GIFT has no kind, are matched with
their places, as true today.
"""

import csv
import re
import sys
from pathlib import Path

import lesson
import template

from accel_helpers._values import words
from accel_helpers.course import questions

COURSE = "GPUs and TPUs in Colab"
QUIZ = "course/templates/quiz"
# An update is known by its column 1.
ANKI = f"""#separator:tab
#html:true
#notetype:Basic
#deck:{COURSE}
#guid column:1
#tags column:4
"""


def tags(question):
    """Give what a question is found by: its lesson, and the exam questions that it covers."""
    return [f"lesson-{question.lesson}", *question.exam]


def escaped(html):
    """Give HTML as GIFT takes it, in one line: its seven signs behind a backslash."""
    return re.sub(r"([\\~=#{}:])", r"\\\1", str(html).replace("\n", ""))


def gift(bank):
    """Give questions as Moodle's GIFT, in a category for each lesson, with all feedback."""
    template.MADE.filters["escaped"] = escaped
    template.MADE.filters["gift"] = lambda text: escaped(words.marked(text))
    return template.fill(
        "questions.gift.j2",
        course=COURSE,
        lessons=[path.stem for path in lesson.chosen([])],
        bank=bank,
        tags=tags,
        quiz=words.template(f"{QUIZ}.html").module,
    )


def card(question):
    """Give a question as a line of Anki's: its name, its front, its back and its tags."""
    front = f"<p><b>{words.marked(question.stem)}</b></p><p>{words.marked(question.how)}</p>"
    if question.has_choices:
        front += words.fragment(f"{QUIZ}/choices", question)
    return question.id, front, words.fragment(f"{QUIZ}/answer", question), " ".join(tags(question))


def write(folder):
    """Write both files into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    bank = questions.bank().values()
    (folder / "questions.gift").write_text(gift(bank), "utf-8")
    with (folder / "questions.txt").open("w", encoding="utf-8", newline="") as file:
        file.write(ANKI)
        csv.writer(file, "excel-tab").writerows(map(card, bank))


if __name__ == "__main__":
    write(Path(sys.argv[1]))
