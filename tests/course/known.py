"""Answers to the questions of the bank, as typed or chosen, and the headings of the lessons."""

import json
from pathlib import Path

from accel_helpers.course import outcomes
from accel_helpers.course.lessons import drawings
from accel_helpers.course.places import TEXTS
from accel_helpers.course.places import places as of_lesson
from accel_helpers.fit.profile_result import Profile
from accel_helpers.machine.runtime import Runtime
from accel_helpers.measure import scores
from accel_helpers.measure.measurement import Speedup
from accel_helpers.worth.answer import Answer

NOTEBOOKS = Path(__file__).parents[2] / "notebooks"
# What a result can come to at a place, by the kind that the place names.
OUTCOMES = {
    "Speedup": Speedup.OUTCOMES,
    "Climb": Speedup.OUTCOMES,
    "Runtime": Runtime.OUTCOMES,
    "FourFacts": (
        "not attached",
        "visible, not in the files",
        "attached, not visible",
        "visible, not placed",
        "placed, slower",
        "placed, no difference",
        "all four",
    ),
    "Answer": Answer.OUTCOMES,
    "held": ("held", "missed", "not forecast", "too few samples"),
    "bound": ("compute", "memory", "neither"),
    "scores": scores.VERDICTS,
    "Profile": Profile.OUTCOMES,
    "device": ("cpu", "gpu", "tpu"),
    "at once": ("many at once", "one by one", "cannot tell"),
    "longer": (*outcomes.LONGER, "cannot tell"),
    "compiling": ("compile", "the first step", "a later step"),
    "resumed": ("nearly", "exactly", "changed"),
    "which ran": ("the .keras file", "the exported folder", "both", "neither"),
    "landed": ("on the CPU", "on a GPU", "on a TPU", "nowhere: an error"),
    "always": ("always",),
}


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
