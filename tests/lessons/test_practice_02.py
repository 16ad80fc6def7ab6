"""The checks of lesson 02, on right answers and on plausible wrong ones."""

import pytest

from accel_helpers.lessons import check
from accel_helpers.lessons import lesson_02 as practice_02
from accel_helpers.machine import symptoms

MATERIAL = practice_02.material()
CASES = dict(enumerate(MATERIAL["case"], 1))
RIGHT_LINES = {line["letter"]: line["kind"] for line in MATERIAL["line"]}
RIGHT_CASES = {number: (case["fact"], case["cure"]) for number, case in CASES.items()}


def test_the_right_answers_pass():
    assert check("02/lines", RIGHT_LINES).ok
    assert check("02/detective", RIGHT_CASES).ok
    assert check("02/detective", {n: list(pair) for n, pair in RIGHT_CASES.items()}).ok


@pytest.mark.parametrize(
    ("exercise", "stub"),
    [
        ("02/lines", dict.fromkeys("ABCDEF", ...)),
        ("02/lines", {}),
        ("02/detective", dict.fromkeys(range(1, 7), (..., ...))),
        ("02/detective", {}),
    ],
)
def test_an_untouched_stub_is_told_to_be_empty(exercise, stub):
    result = check(exercise, stub)
    assert not result.ok and "still empty" in result.message and "Such as" in result.hint


@pytest.mark.parametrize(
    ("exercise", "answer", "words"),
    [
        ("02/lines", ["fault"], "A dictionary is needed; got ['fault']"),
        ("02/lines", {"A": "harmless"}, "no answer yet for B, C, D, E, F"),
        ("02/lines", {**RIGHT_LINES, "D": ...}, "Still empty: D"),
        ("02/lines", {**RIGHT_LINES, "D": "error"}, "D is 'error'"),
        ("02/detective", "attached", "A dictionary is needed"),
        ("02/detective", {1: ("attached", "A")}, "no answer yet for 2, 3, 4, 5, 6"),
        ("02/detective", {**RIGHT_CASES, 3: ...}, "Still empty: 3"),
        ("02/detective", {**RIGHT_CASES, 3: (..., "C")}, "Case 3 is still open"),
        ("02/detective", {**RIGHT_CASES, 3: "visible"}, "a fact and the letter"),
        ("02/detective", {**RIGHT_CASES, 3: ("seen", "C")}, "'seen' in case 3 is not one"),
        ("02/detective", {**RIGHT_CASES, 3: ("visible", "c")}, "'c' in case 3 is not the letter"),
        ("02/detective", {**RIGHT_CASES, 3: ("visible", ["C"])}, "is not the letter"),
    ],
)
def test_an_answer_of_another_shape_is_told_what_is_needed(exercise, answer, words):
    result = check(exercise, answer)
    assert not result.ok and words in result.message and result.hint


@pytest.mark.parametrize("letter", RIGHT_LINES)
def test_each_misjudged_line_has_its_own_hint(letter):
    other = {"fault": "harmless", "harmless": "fault"}[RIGHT_LINES[letter]]
    result = check("02/lines", {**RIGHT_LINES, letter: other})
    assert not result.ok and f"5 of 6 are right. Look at {letter} again." in result.message
    (why,) = [line["why"] for line in MATERIAL["line"] if line["letter"] == letter]
    assert why in result.hint


@pytest.mark.parametrize("number", CASES)
@pytest.mark.parametrize("named", practice_02.FACTS)
def test_a_wrong_fact_is_told_whether_it_lies_too_early_or_too_late(number, named):
    fact, cure = RIGHT_CASES[number]
    result = check("02/detective", {**RIGHT_CASES, number: (named, cure)})
    if named == fact:
        assert result.ok
        return
    assert not result.ok and f"5 of 6 cases are solved. Case {number}:" in result.message
    early = practice_02.FACTS.index(named) < practice_02.FACTS.index(fact)
    assert ("holds there" in result.message) == early
    assert ("something else fails already" in result.message) == (not early)
    assert result.hint == CASES[number]["clue"]


@pytest.mark.parametrize("number", CASES)
@pytest.mark.parametrize("letter", MATERIAL["cures"])
def test_a_wrong_cure_is_told_why_it_does_not_help(number, letter):
    fact, cure = RIGHT_CASES[number]
    result = check("02/detective", {**RIGHT_CASES, number: (fact, letter)})
    assert result.ok == (letter == cure)
    if letter != cure:
        assert "the fact is right" in result.message
        assert MATERIAL["cures"][letter]["not_here"] in result.message


def test_the_same_answer_everywhere_does_not_pass():
    for fact in practice_02.FACTS:
        for cure in MATERIAL["cures"]:
            assert not check("02/detective", dict.fromkeys(CASES, (fact, cure))).ok
    for kind in practice_02.KINDS:
        assert not check("02/lines", dict.fromkeys(RIGHT_LINES, kind)).ok


# --- the material -----------------------------------------------------------------------------


def test_the_cases_cover_all_four_facts_and_what_the_lesson_says_of_the_cures():
    used = [case["cure"] for case in CASES.values()]
    assert {case["fact"] for case in CASES.values()} == set(practice_02.FACTS)
    counts = sorted(used.count(letter) for letter in MATERIAL["cures"])
    assert counts == [0, 1, 1, 1, 1, 2], "one cure is needed twice, and one is never needed"


@pytest.mark.parametrize("number", CASES)
def test_a_case_says_where_it_comes_from(number):
    case = CASES[number]
    assert case["recorded"] == ("ecorded on this course's machine" in case["source"]) or (
        "added" in case["source"]
    )
    if not case["recorded"]:
        assert "](https://" in case["source"] or "added" in case["source"]


@pytest.mark.parametrize("number", CASES)
def test_the_doctor_finds_in_each_log_what_the_case_says(number):
    case = CASES[number]
    found = [finding.id for finding in symptoms.find(case["log"])]
    assert found == ([case["finding"]] if case["finding"] else [])


@pytest.mark.parametrize(
    ("number", "words"), [(2, "CUDA_VISIBLE_DEVICES"), (3, "KERAS_BACKEND"), (4, "")]
)
def test_the_doctor_and_the_cure_agree(number, words):
    (finding,) = symptoms.find(CASES[number]["log"])
    assert words in f"{finding.cause} {finding.fix}"


def test_the_doctor_passes_over_every_harmless_line():
    for line in MATERIAL["line"]:
        if line["kind"] == "harmless":
            assert symptoms.find(line["text"]) == ()
