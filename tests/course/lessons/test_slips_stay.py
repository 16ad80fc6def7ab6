"""Each slip that was told by name is told by that name still, whoever holds the table."""

import json
from pathlib import Path

import pytest

from accel_helpers.course.lessons import exercises

TOLD = json.loads(Path(__file__).with_name("slips.json").read_text("utf-8"))
KNOWN = 168
EXERCISES = exercises()


def key_in(truth, key):
    """A key as the exercise has it: in JSON all keys are texts, and pairs are lists."""
    return next(own for own in truth if own == key or str(own) == str(key))


def test_none_is_missing():
    assert {*TOLD} == {*EXERCISES}
    assert sum(map(len, TOLD.values())) == KNOWN


@pytest.mark.parametrize("exercise", TOLD)
def test_each_slip_hears_what_it_heard(exercise):
    check = EXERCISES[exercise]
    for *answer, message, hint in TOLD[exercise]:
        if not answer:  # the wrong functions stand in the library, beside what is said to them
            assert [message, hint] in [words for _, *words in check.slips]
            continue
        key, word = answer
        word = tuple(word) if isinstance(word, list) else word
        result = check(check.truth | {key_in(check.truth, key): word})
        assert not result.ok
        assert message in result.message
        assert hint == result.hint
