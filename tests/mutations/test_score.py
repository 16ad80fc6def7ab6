"""The faults can be planted, and the tests that see them are there: never fewer than once."""

import json
import re
import tomllib

import pytest
import score

FAULTS = dict(enumerate(tomllib.loads(score.FAULTS.read_text("utf-8"))["mutation"], 1))
SEEN = {int(number): test for number, test in json.loads(score.RESULTS.read_text()).items()}
MOST_UNSEEN = 2  # may only fall


def test_as_many_are_seen_as_ever():
    there = [number for number, fault in FAULTS.items() if "gone" not in fault]
    assert there == sorted(SEEN)
    assert sum(not test for test in SEEN.values()) <= MOST_UNSEEN


@pytest.mark.parametrize("number", FAULTS)
def test_a_fault_can_be_planted_or_what_it_was_in_is_gone(number):
    fault = FAULTS[number]
    file = score.ROOT / fault["file"]
    there = file.read_text("utf-8").count(fault["old"]) if file.exists() else 0
    assert there == ("gone" not in fault)


@pytest.mark.parametrize("number", [number for number, test in SEEN.items() if test])
def test_the_test_that_sees_it_has_its_name_still(number):
    file, _, name = SEEN[number].partition("::")
    assert re.search(
        rf"^def {re.escape(name.partition('[')[0])}\(", (score.ROOT / file).read_text(), re.M
    )
