"""The faults can be planted, and the tests that see them are there: never fewer than once."""

import json
import tomllib

import score

FAULTS = tomllib.loads(score.FAULTS.read_text("utf-8"))["mutation"]
THERE = {number: fault for number, fault in enumerate(FAULTS, 1) if "gone" not in fault}
SEEN = json.loads(score.RESULTS.read_text("utf-8"))
MOST_UNSEEN = 0  # may only fall


def test_as_many_are_seen_as_ever():
    assert {*map(int, SEEN)} == {*THERE}
    assert sum(not test for test in SEEN.values()) <= MOST_UNSEEN


def test_each_fault_can_be_planted():
    for number, fault in THERE.items():
        text = (score.ROOT / fault["file"]).read_text("utf-8")
        assert text.count(fault["old"]) == 1, number


def test_the_test_that_sees_it_has_its_name_still():
    for test in filter(None, SEEN.values()):
        file, _, name = test.partition("::")
        text = (score.ROOT / file).read_text("utf-8")
        assert f"def {name.partition('[')[0]}(" in text, test
