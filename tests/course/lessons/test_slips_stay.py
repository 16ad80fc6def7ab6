"""Each slip that was told by name is told by that name still, whoever holds the table.

python -m tests.course.lessons.test_slips_stay    stores what is told now
"""

import json
from pathlib import Path

import pytest

from accel_helpers.course import lessons as checks

KEPT = Path(__file__).with_name("slips.json")
KNOWN = 166
EXERCISES = checks.exercises()


def words_told(check):
    """Of an exercise that is answered in words: key, wrong word, what is said, and the hint."""
    for slip, (message, hint) in check.slips.items():
        other = (word for word in check.truth.values() if word != check.truth.get(slip))
        key, word = (slip, next(other)) if slip in check.truth else slip
        yield [key, word, message, hint]


def told():
    """Of each exercise its slips; where a function answers, what is said to each, and the hint."""
    for name, check in EXERCISES.items():
        if isinstance(check.slips, dict):
            yield name, [*words_told(check)]
        else:
            yield name, [[message, hint] for *_, message, hint in check.slips]


def load():
    return json.loads(KEPT.read_text("utf-8"))


def key_in(truth, key):
    """A key as the exercise has it: in JSON all keys are texts, and pairs are lists."""
    return next(own for own in truth if own == key or str(own) == str(key))


def test_none_is_missing():
    count = sum(len(slips) for slips in load().values())
    assert [*load()] == [*EXERCISES]
    assert count == KNOWN


@pytest.mark.parametrize("exercise", load())
def test_each_slip_hears_what_it_heard(exercise):
    check = EXERCISES[exercise]
    for slip in load()[exercise]:
        *answer, message, hint = slip
        if not answer:  # the wrong functions stand in the library, beside what is said to them
            assert [message, hint] in dict(told())[exercise]
            continue
        key, word = answer
        word = tuple(word) if isinstance(word, list) else word
        result = check(check.truth | {key_in(check.truth, key): word})
        assert not result.ok
        assert message in result.message
        assert hint == result.hint


if __name__ == "__main__":
    KEPT.write_text(json.dumps(dict(told()), indent=0, ensure_ascii=False) + "\n", "utf-8")
    print(sum(len(slips) for slips in load().values()))
