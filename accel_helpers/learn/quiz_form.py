"""Questions and grades as text and as HTML, without widgets: pure functions.

The HTML is what is stored with a lesson. Its answers are folded away, so that it reads well where
nothing runs: on GitHub, on a converted page, in Colab before the first click.
"""

from __future__ import annotations

import html
from collections.abc import Sequence

from accel_helpers._words import linked, marked
from accel_helpers.learn.questions import NOT_FOUND, Option, Question

HOW = {
    "one": "Choose one.",
    "several": "Choose all that are right.",
    "number": "Type a number.",
    "order": "Put the steps in order. Some may not belong.",
    "measured": "From memory, or as a guess.",
}
SAY = {
    "right": "✓ Right.",
    "right today": "✓ Right today. The exam's material answers otherwise.",
    "as the material": "◐ For the exam: yes. Today: no.",
    "wrong": "✗ Not right.",
    "not measured": "… Not measured yet.",
}


def how(question: Question) -> str:
    """Say how a question is answered, with the unit where it has one."""
    text = HOW[question.kind]
    if question.unit and question.kind in ("number", "measured"):
        text = f"{text[:-1]} ({question.unit})."
    return text


def has_choices(question: Question) -> bool:
    """Tell whether the options are shown: those of a number would give it away."""
    return question.kind in ("one", "several", "order")


def question_text(question: Question, number: int) -> str:
    """A question as plain text, with the call that answers it."""
    lines = [f"{number}. {question.stem} ({how(question)})"]
    if has_choices(question):
        lines += [f"   {o.letter}) {o.text}" for o in question.options]
    example = {"one": "a", "several": "ab", "order": "cab"}.get(question.kind, 1.5)
    lines.append(f"   Answer: ah.quiz.answer({question.id!r}, {example!r})")
    return "\n".join(lines)


def question_html(question: Question, number: int) -> str:
    """A question as HTML, its answer folded away."""
    text = f"<p><strong>{number}. {marked(question.stem)}</strong> "
    text += f"<em>{html.escape(how(question))}</em></p>"
    if has_choices(question):
        text += choices_html(question)
    return text + f"<details><summary>Answer {number}</summary>{_answer(question)}</details>"


def choices_html(question: Question) -> str:
    """The options by their letters, as an HTML list."""
    items = "".join(f"<li>{o.letter}) {marked(o.text)}</li>" for o in question.options)
    return f'<ul style="list-style:none">{items}</ul>'


def page(questions: Sequence[Question], ending: str) -> str:
    """Several questions as HTML, and a sentence at the end."""
    parts = [question_html(question, n) for n, question in enumerate(questions, 1)]
    return f"<div>{'<hr>'.join(parts)}<p><em>{html.escape(ending)}</em></p></div>"


def grade_text(grade) -> str:
    """A `grading.Grade` as plain text."""
    lines = [SAY[_key(grade)].partition(" ")[2], *grade.feedback]
    return "\n".join([*lines, *(f"{who} {what}" for who, what in _two_answers(grade))])


def grade_html(grade) -> str:
    """A `grading.Grade` as HTML; what the other options are about is folded away."""
    question = grade.question
    text = f"<p><strong>{SAY[_key(grade)]}</strong></p>"
    text += "".join(f"<p>{marked(said)}</p>" for said in grade.feedback)
    for who, what in _two_answers(grade):
        text += f"<p><strong>{html.escape(who)}</strong> {marked(what)}</p>"
    if grade.verdict in ("right", "as the material"):
        whole = f"{_options(question)}<p>{_sources(question)}</p>"
        return text + f"<details><summary>Every option, and the sources</summary>{whole}</details>"
    if grade.verdict == "wrong" and question.kind != "measured":
        text += f"<details><summary>Show the answer</summary>{_answer(question)}</details>"
    return text


# ---------------------------------------------------------------------------------------------


def _key(grade) -> str:
    if grade.verdict == "right" and grade.question.differs:
        return "right" if grade.as_material else "right today"
    return grade.verdict


def _two_answers(grade) -> list[tuple[str, str]]:
    """Both answers, once the question is answered; they would give a wrong one the right one."""
    if grade.verdict not in ("right", "as the material"):
        return []
    return two_answers(grade.question)


def two_answers(question: Question) -> list[tuple[str, str]]:
    """What the exam's material answers with how we know, and what is true today."""
    if not question.exam:
        return []
    answers = [(f"{for_the_exam(question.label)}:", question.material)]
    return [*answers, ("True today:", question.today)] if question.today else answers


def for_the_exam(label: str) -> str:
    """What stands over an answer for the exam; only what was found is called the material's."""
    if label == NOT_FOUND:
        return "The usual answer (the material's text was not found)"
    return f"What the exam's material answers ({label})"


def _answer(question: Question) -> str:
    text = _options(question)
    if question.kind == "order":
        lines = [f"In order: {', '.join(question.steps())}."]
        if question.differs:
            theirs = ", ".join(question.steps(material=True))
            lines = [f"In the material's order: {theirs}.", lines[0].replace(":", " today:")]
        text = "".join(f"<p>{line}</p>" for line in lines) + text
    for who, what in two_answers(question):
        text += f"<p><strong>{html.escape(who)}</strong> {marked(what)}</p>"
    return f"{text}<p>{_sources(question)}</p>"


def _options(question: Question) -> str:
    items = []
    for o in question.options:
        name = f"{o.letter}) " if has_choices(question) else ""
        said = (
            f"<strong>{name}{marked(o.text)}</strong> ({_mark(question, o)}): {marked(o.feedback)}"
        )
        if question.kind == "measured":
            said = f"If your guess is <strong>{marked(o.text)}</strong>: {marked(o.feedback)}"
        items.append(f"<li>{said}</li>")
    return f'<ul style="list-style:none">{"".join(items)}</ul>'


def _mark(question: Question, o: Option) -> str:
    """Say what an option is, and where the two answers differ, to which of them it belongs."""
    if question.kind == "order":
        if o.position == o.material_position:
            return f"step {o.position}" if o.position else "✗ does not belong"
        today = f"step {o.position} today" if o.position else "✗ not today"
        theirs = f"◐ step {o.material_position}" if o.material_position else "not"
        return f"{today}, {theirs} in the material"
    if o.material and not o.correct:
        return "◐ the material's answer"
    if o.correct and not o.material:
        return "✓ right today"
    return "✓ right" if o.correct else "✗ wrong"


def _sources(question: Question) -> str:
    return f"Source: {linked(question.source)}"
