"""The bank keeps its rules; what its questions say is changed on purpose alone."""

import hashlib
import json
from pathlib import Path

import pytest

from accel_helpers.course import questions

BANK = questions.bank()
# Each of the 81 questions with all that is asked, answered and told, as a digest. Where one is
# written anew, `python -m tests.course.test_questions` stores what it says now.
KEPT = Path(__file__).with_name("bank.json")


def digests():
    return {id: hashlib.sha256(repr(q).encode()).hexdigest()[:12] for id, q in BANK.items()}


def test_no_question_is_lost_nor_its_right_answer_nor_what_is_said_to_an_option():
    assert digests() == json.loads(KEPT.read_text())


@pytest.mark.parametrize("question", BANK.values(), ids=BANK)
def test_a_question_can_be_asked_answered_and_marked(question):
    assert question.id.startswith(f"{question.lesson}/")
    assert question.quiz or question.practice or question.further
    assert bool(question.exam) == bool(question.material) == bool(question.label)
    assert bool(question.today) == bool(question.as_of) >= bool(question.expected)
    assert len({o.feedback for o in question.options.values()}) == len(question.options)
    assert len(question.right) == 1 or question.kind in ("several", "order")
    for letters in (question.right, question.by_material):
        assert len({*letters} & {*question.options}) == len(letters) > 0
        # An answer of several letters is sorted. The steps of an order are not stored in order.
        assert ([*letters] == sorted(letters)) == (question.kind != "order")


if __name__ == "__main__":
    KEPT.write_text(json.dumps(digests(), indent=0) + "\n")
