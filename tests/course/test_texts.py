"""The sentences of the lessons: one for each outcome, and each place is called by its page."""

import ast
import re
from string import Formatter

import lesson
import pytest
from cells import PATHS, SETS, cells, race
from known import OUTCOMES

from accel_helpers import course
from accel_helpers.course import places
from accel_helpers.course.lessons import drawings
from accel_helpers.course.outcomes import NOT_MEASURED

WRITTEN = sorted(path.stem for path in places.TEXTS.glob("*.md"))
VERBS = ("ask", "reveal", "verdict")
# How a page may call them, and what the place then needs.
NEEDED = {"ask": "question", "reveal": "question", "verdict": "sentences"}


def problems(place):
    """What is off in a place, a sentence for each."""
    found = []
    if place.sentences and place.outcomes not in OUTCOMES:
        found.append(f"{place.id}: no such outcomes: {place.outcomes!r}")
    can, there = {*OUTCOMES.get(place.outcomes, ())}, {*place.sentences}
    if place.sentences:
        found += [f"{place.id}: no sentence for [{label}]" for label in sorted(can - there)]
        never = there - can - {NOT_MEASURED}
        found += [f"{place.id}: [{label}] cannot come" for label in sorted(never)]
    for text in place.sentences.values():
        for _, name, *_ in Formatter().parse(text):
            if name is not None and not re.match(r"result\b", name):
                found.append(f"{place.id}: {{{name}}} is not of the result")
    return found


def calls(number, verbs=VERBS):
    """What a lesson's page calls of its lesson object: (verb, place)."""
    for cell in cells(number):
        for node in ast.walk(ast.parse(lesson.python(cell.source))):
            if isinstance(node, ast.Call) and ast.unparse(node.func).startswith("lesson."):
                verb = node.func.attr
                if verb in verbs:
                    yield verb, ast.literal_eval(node.args[0])


@pytest.mark.parametrize("number", WRITTEN)
def test_each_outcome_has_its_sentence(number):
    assert [said for place in places.places(number).values() for said in problems(place)] == []


@pytest.mark.parametrize("number", WRITTEN)
def test_what_a_page_calls_is_written_and_what_is_written_is_called(number):
    known, called = places.places(number), set(calls(number))
    missing = [
        (verb, id) for verb, id in called if id not in known or not getattr(known[id], NEEDED[verb])
    ]
    assert missing == []
    drawn = set(calls(number, ["plot"]))
    assert known.keys() <= {id for _, id in called | drawn}


@pytest.mark.parametrize("number", WRITTEN)
def test_what_a_page_draws_can_be_drawn_and_nothing_else(number):
    assert {id for _, id in calls(number, ["plot"])} == drawings(number).keys()


@pytest.mark.parametrize("number", WRITTEN)
def test_every_guess_that_is_asked_for_is_revealed(number):
    called = set(calls(number))
    asked, revealed = ({id for verb, id in called if verb == which} for which in ("ask", "reveal"))
    assert asked == revealed


RACES = [
    pytest.param(number, id, name, id=f"{number}/{id}: {name}")
    for number in WRITTEN
    for id, place in places.places(number).items()
    if place.outcomes == "Speedup"
    for name in SETS
]


@pytest.mark.parametrize(("number", "id", "name"), RACES)
def test_what_came_out_is_told_as_it_came_out(keras, number, id, name):
    """Recorded races, real ones of one CPU: faster, no different, slower."""
    shown = course.lesson(number).verdict(id, race(name))
    pieces = re.split(r"\{.*?\}", places.places(number)[id].sentences[name])
    assert "{" not in shown
    assert all(piece in shown for piece in pieces)


def test_every_lesson_with_sentences_is_there():
    assert {*WRITTEN} <= PATHS.keys()


def test_a_sentence_that_is_missing_or_cannot_come_is_seen():
    good = "outcomes: Speedup\n[faster] A\n[slower] B\n[no measurable difference] C\n"
    good += "[not measured] D\n"
    assert problems(places.place("race", good)) == []
    other = "outcomes: Speedup\n[faster] A {here}\n[equal] C\n"
    assert len(problems(places.place("race", other))) == 4
    assert len(problems(places.place("race", "outcomes: none\n[faster] A\n"))) == 2
