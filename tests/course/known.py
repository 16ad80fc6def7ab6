"""Answers to the questions of the bank, as typed or chosen, and the headings of the lessons."""

import json
from pathlib import Path

from accel_helpers.course.lessons import drawings
from accel_helpers.course.places import TEXTS
from accel_helpers.course.places import places as of_lesson

NOTEBOOKS = Path(__file__).parents[2] / "notebooks"


def headings(notebook):
    cells = json.loads((NOTEBOOKS / notebook).read_text("utf-8"))["cells"]
    text = "\n".join("".join(c["source"]) for c in cells if c["cell_type"] == "markdown")
    return [line.lstrip("# ") for line in text.splitlines() if line.startswith("#")]


def places():
    """Where pages put results on the record: what is drawn or said there has a picture or words."""
    found = set()
    for path in TEXTS.glob("*.md"):
        ids = {id for id, place in of_lesson(path.stem).items() if place.sentences}
        found |= {f"{path.stem}/{id}" for id in ids | drawings(path.stem).keys()}
    return found


def right(question, material=False):
    """The answer that is true today, or the material's."""
    letters = question.by_material if material else question.right
    return letters if question.has_choices else question.options[letters].value


def wrong(question):
    """An answer that is neither."""
    slips = [o for o in question.options if o not in question.right + question.by_material]
    if question.kind == "several":
        return "".join(slips)
    if question.kind == "order":
        return question.right[::-1]
    return slips[0] if question.has_choices else question.options[slips[0]].value


def whole(paper, material=False):
    """All answers to a paper."""
    return {place: right(q, material) for place, q in enumerate(paper.questions, 1)}
