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
LABELS = ("", "seen in the material", "reported second-hand", questions.NOT_FOUND)

# What each question asks and answers, as a digest: a change of the house loses none. Where one is
# written anew, `python -m tests.course.test_questions` stores what it says now.
KEPT = Path(__file__).with_name("bank.json")


def digest(question):
    options = [
        [o.text, letter in question.right, letter in question.by_material, o.feedback]
        for letter, o in question.options.items()
    ]
    whole = json.dumps([question.kind, question.stem, options])
    return hashlib.sha256(whole.encode()).hexdigest()[:12]


def test_no_question_is_lost_nor_what_is_said_to_an_option():
    assert {name: digest(q) for name, q in BANK.items()} == json.loads(KEPT.read_text("utf-8"))
    assert len(BANK) == 81


def test_there_are_enough_and_every_exam_question_can_be_asked_and_drawn_in_two_ways():
    files = questions.QUESTIONS.glob("*.toml")
    stored = sum(path.read_text("utf-8").count("[[question]]\n") for path in files)
    assert stored == len(BANK) >= 40
    assert {q.kind for q in EVERY} == set(questions.HOW)
    for chosen in (EVERY, [q for q in EVERY if q.practice or q.further]):
        stems = {n: {q.stem for q in chosen if n in q.exam} for n in EXAM}
        assert min(map(len, stems.values())) >= 2
    assert {n for q in EVERY for n in q.exam} == EXAM


@pytest.mark.parametrize("question", EVERY, ids=lambda question: question.id)
def test_a_question_is_in_order(question):
    options, kind, exam = [*question.options.values()], question.kind, bool(question.exam)
    texts = [question.stem, *question.source, *(t for o in options for t in (o.text, o.feedback))]
    assert all(text.strip() for text in texts)
    assert question.source
    assert re.fullmatch(r"\d\d/[a-z0-9_]+", question.id)
    assert question.id[:2] == question.lesson
    assert exam == bool(question.material) == bool(question.label)
    assert question.label in LABELS
    assert question.practice <= (exam and not question.further)
    assert not question.expected or question.today
    assert bool(question.today) == bool(question.as_of)
    assert exam or not question.today
    assert 2 <= len(options) <= 8
    assert "abcdefgh".startswith("".join(question.options))
    assert all((o.value is not None) == (kind == "number") for o in options)
    assert bool(question.unit) == (not question.has_choices)
    for letters in (question.right, question.by_material):
        assert {*letters} <= {*question.options}
        assert len({*letters}) == len(letters)
        if kind in ("several", "order"):
            assert len(letters) > (letters == question.right)
        else:
            assert len(letters) == 1
        if kind == "several":
            assert [*letters] == sorted(letters)
    assert question.expected != question.right
    assert kind != "several" or len(question.right) < len(options)


@pytest.mark.parametrize("question", EVERY, ids=lambda question: question.id)
def test_a_question_is_fair(question):
    said = [o.feedback for o in question.options.values()]
    assert len(set(said)) == len(said)
    assert all(len(text.split()) >= 4 for text in said)
    assert question.id not in question.apart
    assert all(question.id in BANK[name].apart for name in question.apart)
    if question.kind in ("one", "several"):  # the longest option does not stand out
        right, wrong = (
            max(len(o.text) for x, o in question.options.items() if (x in question.right) == which)
            for which in (True, False)
        )
        assert right <= 1.25 * wrong or right <= wrong + 10
    if question.kind == "order":  # the steps are not stored in their order
        for steps in (question.right, question.by_material):
            assert list(steps) != sorted(steps)
    if question.kind == "number":  # a known mistake is not within the tolerance
        right = question.options[question.right].value
        _, nearest = sorted(abs(o.value - right) for o in question.options.values())[:2]
        assert nearest > question.tolerance * abs(right)


def test_a_lesson_asks_five_to_eight_questions():
    counts = Counter(q.lesson for q in EVERY if q.quiz)
    assert all(5 <= count <= 8 for count in counts.values()), counts
    assert all(q.quiz or q.exam for q in EVERY)  # the others can be reached


def test_who_always_answers_that_it_depends_is_sometimes_wrong():
    told = re.compile(r"depends|cannot be told|no measurable|no single", re.I)
    marks = Counter(x in q.right for q in ONE for x, o in q.options.items() if told.search(o.text))
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
        length = [pick(q.options, key=lambda x: len(q.options[x].text)) for q in ONE]
        hits = sum(x in q.right for x, q in zip(length, ONE, strict=True))
        assert chance(hits) > 0.05
    places = Counter(q.right for q in ONE)
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
