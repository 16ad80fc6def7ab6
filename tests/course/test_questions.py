"""The bank keeps its rules; what its questions say is changed on purpose alone."""

import hashlib
import json
from pathlib import Path

from accel_helpers.course import questions

BANK = questions.bank()
# Each of the questions with all that is asked, answered and told, as a digest. Where one is
# written anew, `python -m tests.course.test_questions` stores what it says now.
KEPT = Path(__file__).with_name("bank.json")


def digests():
    found = {}
    for id, question in BANK.items():
        text = repr(question).encode()
        found[id] = hashlib.sha256(text).hexdigest()[:12]
    return found


def test_no_question_is_lost_nor_its_right_answer_nor_what_is_said_to_an_option():
    assert digests() == json.loads(KEPT.read_text())


def test_a_question_can_be_asked_answered_and_marked():
    for question in BANK.values():
        assert question.quiz or question.practice or question.further, question.id
        assert bool(question.exam) == bool(question.material), question.id
        for letters in (question.right, question.by_material):
            assert {*letters} <= {*question.options}, question.id
            # An answer of several letters is sorted. Steps of an order are not stored in order.
            is_sorted = [*letters] == sorted(letters)
            assert is_sorted == (question.kind != "order"), question.id


if __name__ == "__main__":
    KEPT.write_text(json.dumps(digests(), indent=0) + "\n")
