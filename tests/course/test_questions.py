"""The bank keeps its rules, and gives no answer away."""

import hashlib
import json
from collections import Counter
from pathlib import Path

import known
import pytest

from accel_helpers.course import questions

BANK = questions.bank()
EVERY = pytest.mark.parametrize("question", BANK.values(), ids=BANK)
# What each question asks and answers, as a digest: a change of the house loses none. Where one is
# written anew, `python -m tests.course.test_questions` stores what it says now.
KEPT = Path(__file__).with_name("bank.json")


def digest(q):
    said = [q.kind, q.stem, q.right, q.expected, q.tolerance, q.options]
    return hashlib.sha256(repr(said).encode()).hexdigest()[:12]


def test_no_question_is_lost_nor_what_is_said_to_an_option():
    assert {name: digest(q) for name, q in BANK.items()} == json.loads(KEPT.read_text("utf-8"))
    assert len(BANK) == 81


def test_every_exam_question_is_asked_in_two_ways_and_each_lesson_asks_five_to_eight():
    drawn = Counter(n for q in BANK.values() if q.practice or q.further for n in q.exam)
    assert {*drawn} == {f"E{n}" for n in range(1, 15)}
    assert min(drawn.values()) >= 2
    asked = Counter(q.lesson for q in BANK.values() if q.quiz)
    assert len(asked) == 12
    assert {*asked.values()} <= {*range(5, 9)}


@EVERY
def test_a_question_can_be_asked_answered_and_marked(question):
    assert question.id.startswith(f"{question.lesson}/")
    assert question.quiz or question.exam
    assert len({o.feedback for o in question.options.values()}) == len(question.options)
    assert len(question.right) == 1 or question.kind in ("several", "order")
    for letters in (question.right, question.by_material):
        assert {*letters} <= {*question.options}
        assert len({*letters}) == len(letters)
        # An answer of several letters is sorted. The steps of an order are not stored in order.
        assert ([*letters] == sorted(letters)) == (question.kind != "order")


@EVERY
def test_a_question_of_the_exam_has_the_materials_answer_and_todays(question):
    assert bool(question.exam) == bool(question.material) == bool(question.label)
    assert bool(question.today) == bool(question.as_of)
    assert question.today or not question.expected
    assert question.label or not question.practice
    assert all(question.id in BANK[name].apart for name in question.apart)


def test_a_known_mistake_is_not_within_the_tolerance_of_a_number():
    for question in BANK.values():
        if question.kind == "number":
            right = known.right(question)
            for slip in {o.value for o in question.options.values()} - {right}:
                assert abs(slip - right) > question.tolerance * right


def test_neither_the_longest_nor_a_letter_is_right_too_often():
    one = [q for q in BANK.values() if q.kind == "one"]
    longest = [max(q.options, key=lambda x: len(q.options[x].text)) == q.right for q in one]
    for count in (sum(longest), *Counter(q.right for q in one).values()):
        assert count < 0.4 * len(one)


def test_sources_are_addresses_or_headings_that_exist():
    titles = {path.name[:2]: str(known.headings(path)) for path in known.NOTEBOOKS.glob("[0-9]*")}
    for question in BANK.values():
        assert question.source
        for source in question.source:
            lesson, _, heading = source.removeprefix("lesson ").partition(", ")
            assert source.startswith("https://") or heading in titles[lesson], source


if __name__ == "__main__":
    KEPT.write_text(json.dumps({name: digest(q) for name, q in BANK.items()}, indent=0) + "\n")
