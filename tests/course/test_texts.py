"""The sentences of the lessons: one for each outcome, and each place is called by its page."""

import ast
import tomllib
from pathlib import Path

import lesson
import pytest
from cells import SETS, cells, race

from accel_helpers import course
from accel_helpers.course import outcomes, places
from accel_helpers.course.lessons import drawings
from accel_helpers.fit.profile_result import Profile
from accel_helpers.machine.runtime import Runtime
from accel_helpers.measure import scores
from accel_helpers.measure.measurement import Speedup
from accel_helpers.worth.answer import Answer

PLACES = {path.stem: places.places(path.stem) for path in sorted(places.TEXTS.glob("*.md"))}
OUTCOMES = {
    **tomllib.loads(Path(__file__).with_name("texts.toml").read_text("utf-8")),
    "Speedup": Speedup.OUTCOMES,
    "Climb": Speedup.OUTCOMES,
    "Runtime": Runtime.OUTCOMES,
    "Answer": Answer.OUTCOMES,
    "scores": scores.VERDICTS,
    "Profile": Profile.OUTCOMES,
    "longer": (*outcomes.LONGER, "cannot tell"),
}


@pytest.mark.parametrize("number", PLACES)
def test_each_outcome_has_its_sentence_about_the_result(number):
    for place in PLACES[number].values():
        if place.sentences:
            said = {*place.sentences} - {outcomes.NOT_MEASURED}
            assert said == {*OUTCOMES[place.outcomes]}, place.id
        for text in place.sentences.values():
            assert text.count("{") == text.count("{result"), place.id


def calls(number):
    """What a lesson's page calls of its lesson object: (verb, place)."""
    for cell in cells(number):
        for node in ast.walk(ast.parse(lesson.python(cell.source))):
            if not isinstance(node, ast.Call):
                continue
            owner, _, verb = ast.unparse(node.func).partition(".")
            if owner == "lesson" and verb in ("ask", "reveal", "verdict", "plot"):
                yield verb, ast.literal_eval(node.args[0])


@pytest.mark.parametrize("number", PLACES)
def test_what_a_page_calls_is_written_and_what_is_written_is_called(number):
    written = {("plot", id) for id in drawings(number)}
    for id, place in PLACES[number].items():
        if place.question:
            written |= {("ask", id), ("reveal", id)}
        elif place.sentences:
            written.add(("verdict", id))
    assert {*calls(number)} == written


@pytest.mark.parametrize("number", PLACES)
def test_what_came_out_is_told_as_it_came_out(number):
    """Recorded races, real ones of one CPU: faster, no different, slower."""
    page = course.lesson(number)
    for id, place in PLACES[number].items():
        if place.outcomes != "Speedup":
            continue
        for outcome in SETS:
            sentence = place.sentences[outcome]
            assert page.verdict(id, race(outcome)) == sentence.format(result=race(outcome))
