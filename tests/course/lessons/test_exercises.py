"""Every exercise of the course: its stub, its solution, its slips, and what is no answer.

The exercises are those that `check` knows, and the slips are the table of each, so that a new one
is held to the same without being named here.
"""

import functools
import itertools
import json
import re
from pathlib import Path

import numpy as np
import pytest

from accel_helpers.course.checks import FunctionCheck, WordCheck
from accel_helpers.course.lessons import exercises, lesson_11
from accel_helpers.course.lessons.lesson_03 import Benchmark

LESSONS = sorted((Path(__file__).parents[3] / "notebooks").glob("[0-9][0-9]_*.ipynb"))
EXERCISES = exercises()


def timed(device, steps=10, *, sends=False, cold=False, busy=False, early=False, whole=False):
    """The seconds of a step of lesson 03's device, by a benchmark with one slip or none."""
    batch = device.send("images")
    if not cold:
        job = device.run(batch)
        if not busy:
            device.wait(job)
    start = device.clock()
    for _ in range(steps):
        if sends:
            batch = device.send("images")
        job = device.run(batch)
        if not early:
            device.wait(job)
    elapsed = device.clock() - start
    if whole:
        return elapsed
    return elapsed / steps


def truth(check):
    if isinstance(check, Benchmark):
        return timed
    return check.truth


def slips_of_words(check):
    # What has no row of its own, or an empty place in it, is told by the row of all others.
    for key, choice in itertools.product(check.truth, check.allowed):
        if choice == check.truth[key]:
            continue
        message, hint = check.slips.get((key, choice), ("", ""))
        usual, usual_hint = check.slips.get((key, ""), ("", ""))
        yield {**check.truth, key: choice}, message or usual, hint or usual_hint


def slips(check):
    """The wrong answer of each slip, and what is said to it."""
    if isinstance(check, FunctionCheck):
        for change, *words in check.slips:
            yield check.wrong_function(change), *words
    elif isinstance(check, Benchmark):
        names = ("sends", "cold", "busy", "early", "whole")
        for slip, (_, *words) in zip(names, check.slips, strict=True):
            yield functools.partial(timed, **{slip: True}), *words
    else:
        yield from slips_of_words(check)


def cells(tag):
    """What the cells of a tag check, and what they store, which nbval compares."""
    for path in LESSONS:
        for cell in json.loads(path.read_text("utf-8"))["cells"]:
            if tag in cell["metadata"].get("tags", ()):
                asked = re.findall(r'lesson\.check\(\s*"([^"]+)', "".join(cell["source"]))
                yield [f"{path.name[:2]}/{name}" for name in asked], json.dumps(cell["outputs"])


def test_each_exercise_has_a_stub_that_is_told_to_be_empty_and_a_solution_that_passes():
    stubs, solutions = [], []
    for asked, said in cells("exercise"):
        stubs += asked
        assert "still empty" in said.lower()
        assert "Hint:" in said
    for asked, said in cells("solution"):
        solutions += asked
        assert said.count("Right.") == len(asked), f"print each check of a solution: {asked}"
        assert "Not yet." not in said
    assert sorted(stubs) == sorted(EXERCISES)
    assert sorted(solutions) == sorted(EXERCISES)


@pytest.mark.parametrize("exercise", EXERCISES)
def test_the_truth_passes_and_each_slip_hears_what_it_is(exercise):
    check = EXERCISES[exercise]
    right = check(truth(check))
    assert right.ok, str(right)
    assert not right.hint, str(right)
    told = [*slips(check)]
    assert told
    for answer, message, hint in told:
        result = check(answer)
        assert not result.ok, str(result)
        assert message in result.message, str(result)
        assert result.hint == hint, str(result)


def test_a_slip_of_words_is_of_a_place_and_a_choice_that_are_there():
    for exercise, check in EXERCISES.items():
        if isinstance(check, WordCheck):
            keys, choices = zip(*check.slips, strict=True)
            assert {*keys} <= {*check.truth}, exercise
            assert {*choices} <= {"", *check.allowed}, exercise


def test_a_right_answer_passes_in_other_forms_too():
    cases = EXERCISES["02/detective"].truth
    diagnosis = {"A": "Waiting", "B": " compiling", "C": "TRANSFER", "D": "too-small"}
    for exercise, answer in [
        ("02/detective", {number: right.split() for number, right in cases.items()}),
        ("03/diagnosis", diagnosis),
        ("09/all_reduce", lambda gradients, counts: np.average(gradients, axis=0, weights=counts)),
    ]:
        result = EXERCISES[exercise](answer)
        assert result.ok, str(result)


def pays_where_faster(factor, setup):
    if factor > 1:
        return setup / (1 - 1 / factor)
    return None


def dearer_where_slower(low, high, price):
    if high < 1:
        return "dearer"
    return lesson_11.verdict(low, high, price)


def divides_by_zero(first, before, after):
    return first / 0


@pytest.mark.parametrize(
    ("exercise", "answer", "message"),
    [
        ("05/pays_from", pays_where_faster, "For factor = 0.5, setup = 5: you have None"),
        (
            "03/a",
            lambda device: device.wait("images"),
            "The function stopped with TypeError: wait()",
        ),
        ("08/pays_after", divides_by_zero, "the function stopped with ZeroDivisionError"),
        ("11/worth_it", dearer_where_slower, "For low = 0.5, high = 0.7, price = 0.2"),
    ],
)
def test_a_function_that_fails_in_some_cases_alone_is_told_so(exercise, answer, message):
    result = EXERCISES[exercise](answer)
    assert not result.ok
    assert message in result.message


def never_ends(*arguments):
    return never_ends(*arguments)


def changes_its_arguments(*arguments):
    for argument in arguments:
        if hasattr(argument, "fill"):
            argument.fill(0)
        elif hasattr(argument, "clear"):
            argument.clear()
    return arguments


def nothing(*case):
    """A wrong answer to all, to which the first case is named."""


NONE = [None, "x" * 10**6, float("nan"), {"A": []}, never_ends, changes_its_arguments]


@pytest.mark.parametrize("exercise", EXERCISES)
def test_what_is_no_answer_gets_a_result_and_spoils_no_case(exercise):
    check = EXERCISES[exercise]
    said = check(nothing)
    for answer in NONE:
        result = check(answer)
        assert not result.ok
        assert result.message
        assert result.hint
        assert len(str(result)) < 600
    assert check(nothing) == said
    assert check(truth(check)).ok
