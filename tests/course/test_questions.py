"""The bank keeps its rules, and gives no answer away."""

import difflib
import hashlib
import itertools
import json
import math
import re
from collections import Counter
from pathlib import Path

import known
import pytest

from accel_helpers.course import questions

BANK = questions.bank()
EVERY = [*BANK.values()]
ONE = [q for q in EVERY if q.kind == "one"]
EXAM = {f"E{n}" for n in range(1, 15)}

# What each question asks and answers, as a digest: a change of the house loses none. Where one is
# written anew, `python -m tests.course.test_questions` stores what it says now.
KEPT = Path(__file__).with_name("bank.json")


def digest(question):
    options = [[o.text, o.correct, o.material, o.feedback] for o in question.options]
    whole = json.dumps([question.kind, question.stem, options])
    return hashlib.sha256(whole.encode()).hexdigest()[:12]


def test_no_question_is_lost_nor_what_is_said_to_an_option():
    assert {name: digest(q) for name, q in BANK.items()} == json.loads(KEPT.read_text("utf-8"))
    assert len(BANK) == 81


def test_there_are_enough_and_every_exam_question_can_be_asked_and_drawn_in_two_ways():
    files = questions.QUESTIONS.glob("*.toml")
    stored = sum(path.read_text("utf-8").count("\n[[question]]\n") for path in files)
    assert stored == len(BANK) >= 40
    assert {q.kind for q in EVERY} == set(questions.KINDS)
    for chosen in (EVERY, [q for q in EVERY if known.drawn(q) or q.further]):
        stems = {n: {q.stem for q in chosen if n in q.exam} for n in EXAM}
        assert min(map(len, stems.values())) >= 2
    assert {n for q in EVERY for n in q.exam} == EXAM


@pytest.mark.parametrize("question", EVERY, ids=lambda question: question.id)
def test_a_question_is_in_order(question):
    options, kind, exam = question.options, question.kind, bool(question.exam)
    texts = [question.stem, *question.source, *(t for o in options for t in (o.text, o.feedback))]
    assert all(text.strip() for text in texts)
    assert question.source
    assert re.fullmatch(r"\d\d/[a-z0-9_]+", question.id)
    assert question.id[:2] == question.lesson
    assert exam == bool(question.material) == bool(question.label)
    assert not question.differs or question.today
    assert bool(question.today) == bool(question.as_of)
    assert exam or not question.today
    right, theirs = sum(o.correct for o in options), sum(o.material for o in options)
    assert 2 <= len(options) <= 8
    assert all((o.value is not None) == (kind == "number") for o in options)
    if kind in ("several", "order"):
        assert right > 1
        assert theirs
        assert kind == "order" or right < len(options)
    else:
        assert right == theirs == 1
    for o in options if kind == "order" else ():
        assert (o.correct, o.material) == (o.position is not None, o.material_position is not None)
    for places in zip(*((o.position, o.material_position) for o in options), strict=True):
        assert sorted(filter(None, places)) == [*range(1, len(options) + 1 - places.count(None))]
    if kind == "measured":
        assert question.within > 1
        assert tuple(o.text for o in options) == known.CLOSENESS
        assert question.measured in known.places()
        assert question.number


@pytest.mark.parametrize("question", EVERY, ids=lambda question: question.id)
def test_a_question_is_fair(question):
    said = [o.feedback for o in question.options]
    assert len(set(said)) == len(said)
    assert all(len(text.split()) >= 4 for text in said)
    assert set(question.apart) <= set(BANK) - {question.id}
    if question.kind in ("one", "several"):  # the longest option does not stand out
        right, wrong = (
            max(len(o.text) for o in question.options if o.correct == which)
            for which in (True, False)
        )
        assert right <= 1.25 * wrong or right <= wrong + 10
    if question.kind == "order":  # the steps are not stored in their order
        for steps in (question.letters(), question.letters(material=True)):
            assert list(steps) != sorted(steps)
    if question.kind == "number":  # a known mistake is not within the tolerance
        (right,) = (o.value for o in question.options if o.correct)
        off = (abs(o.value - right) for o in question.options if not o.correct)
        assert min(off) > question.tolerance * abs(right)


def test_a_lesson_asks_five_to_eight_questions():
    counts = Counter(q.lesson for q in EVERY if q.quiz)
    assert all(5 <= count <= 8 for count in counts.values()), counts
    assert all(q.quiz or q.exam for q in EVERY)  # the others can be reached


def test_who_always_answers_that_it_depends_is_sometimes_wrong():
    told = re.compile(r"depends|cannot be told|no measurable|no single", re.I)
    marks = Counter(o.correct for q in ONE for o in q.options if told.search(o.text))
    assert marks[False] >= marks[True] > 0


def test_no_two_stems_are_alike():
    plain = [re.sub(r"\W+", " ", q.stem.lower()) for q in EVERY]
    for a, b in itertools.combinations(plain, 2):
        assert difflib.SequenceMatcher(None, a, b, autojunk=False).ratio() <= 0.8, (a, b)


def chance(hits):
    """How probable so many hits or more are, for who chooses blindly among the choices."""
    share = sum(1 / len(q.options) for q in ONE) / len(ONE)
    return sum(
        math.comb(len(ONE), k) * share**k * (1 - share) ** (len(ONE) - k)
        for k in range(hits, len(ONE) + 1)
    )


def test_over_the_bank_neither_length_nor_place_gives_anything_away():
    for pick in (max, min):
        length = [pick(q.options, key=lambda o: len(o.text)) for q in ONE]
        assert chance(sum(option.correct for option in length)) > 0.05
    places = Counter(q.letters() for q in ONE)
    assert all(chance(hits) > 0.02 for hits in places.values()), places


def test_lessons_and_headings_that_are_named_exist():
    headings = {}
    for path in known.NOTEBOOKS.glob("[0-9]*.ipynb"):
        titles = known.headings(path)
        headings[path.name[:2]] = {*titles, *(title.split(" · ")[-1] for title in titles)}
    assert {q.lesson for q in EVERY} == set(headings)
    for question in EVERY:
        for source in question.source:
            if not source.startswith("https://"):
                lesson, _, heading = source.removeprefix("lesson ").partition(", ")
                assert heading in headings[lesson], (question.id, source)


if __name__ == "__main__":
    KEPT.write_text(json.dumps({name: digest(q) for name, q in BANK.items()}, indent=0) + "\n")
