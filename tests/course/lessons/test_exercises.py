"""Every exercise of the course: its stub, its solution, its slips, and what is no answer.

The exercises are those that `check` knows, and the slips are the table of each, so that a new one
is held to the same without being named here.
"""

import functools
import itertools
import json
import math
import re
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from accel_helpers.course.checks import FunctionCheck
from accel_helpers.course.lessons import exercises, lesson_06
from accel_helpers.course.lessons.lesson_03 import Benchmark
from accel_helpers.course.lessons.lesson_10 import split

LESSONS = sorted((Path(__file__).parents[3] / "notebooks").glob("[0-9][0-9]_*.ipynb"))
EXERCISES = exercises()


def timed(device, steps=10, *, sends=False, cold=False, early=False, whole=False):
    """The seconds of a step of lesson 03's device, by a benchmark with one slip or none."""
    batch = device.send("images")
    if not cold:
        device.wait(device.run(batch))
    start = device.clock()
    for _ in range(steps):
        if sends:
            batch = device.send("images")
        job = device.run(batch)
        if not early:
            device.wait(job)
    elapsed = device.clock() - start
    return elapsed if whole else elapsed / steps


def truth(check):
    return timed if isinstance(check, Benchmark) else check.truth


def slips(check):
    """The wrong answer of each slip, and what is said to it."""
    if isinstance(check, FunctionCheck):
        for change, *words in check.slips:
            yield check.wrong_function(change), *words
        return
    if isinstance(check, Benchmark):
        for slip, (_, *words) in zip(("sends", "cold", "early", "whole"), check.slips, strict=True):
            yield functools.partial(timed, **{slip: True}), *words
        return
    # What has no row of its own, or an empty place in it, is told by the row of all others.
    for key, choice in itertools.product(check.truth, check.allowed):
        if choice != check.truth[key]:
            own, usual = (check.slips.get((key, row), ("", "")) for row in (choice, ""))
            yield {**check.truth, key: choice}, own[0] or usual[0], own[1] or usual[1]


def cells(tag):
    """What the cells of a tag check, and what they store, which nbval compares."""
    for path in LESSONS:
        for cell in json.loads(path.read_text("utf-8"))["cells"]:
            if tag in cell["metadata"].get("tags", ()):
                asked = re.findall(r'lesson\.check\(\s*"([^"]+)', "".join(cell["source"]))
                yield [f"{path.name[:2]}/{name}" for name in asked], json.dumps(cell["outputs"])


def test_each_exercise_has_a_stub_that_is_told_to_be_empty_and_a_solution_that_passes():
    stubs, solutions = [*cells("exercise")], [*cells("solution")]
    for _, said in stubs:
        assert "still empty" in said.lower()
        assert "Hint:" in said
    for asked, said in solutions:
        assert said.count("Right.") == len(asked)
        assert "Not yet." not in said
    for found in (stubs, solutions):
        assert sorted(name for asked, _ in found for name in asked) == sorted(EXERCISES)


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
        assert "Choose from" not in result.hint


def of_the_sample(train, other):
    """Scaled by the spread with n - 1: as good."""
    spread = np.maximum(train.std(axis=0, ddof=1), 1e-6 + (train.std(axis=0) == 0))
    return (train - train.mean(axis=0)) / spread, (other - train.mean(axis=0)) / spread


def masks(originals, seed):
    held_out = np.isin(np.arange(len(originals)), split(originals, seed)[1])
    return ~held_out, held_out


CASES = EXERCISES["02/detective"].truth


@pytest.mark.parametrize(
    ("exercise", "answer"),
    [
        ("02/detective", {number: right.split() for number, right in CASES.items()}),
        ("03/diagnosis", {"A": "Waiting", "B": " compiling", "C": "TRANSFER", "D": "too-small"}),
        ("03/a", lambda device: timed(device, 1)),
        ("06/cycles", lambda *case: Fraction(lesson_06.cycles(*case))),
        ("06/cycles", lambda *case: np.array(lesson_06.cycles(*case))),
        ("09/all_reduce", lambda gradients, counts: np.average(gradients, axis=0, weights=counts)),
        ("10/scaling", of_the_sample),
        ("10/split", masks),
        ("10/split", lambda *case: [places.tolist() for places in split(*case)]),
        ("10/split", lambda originals, seed: split(originals, seed, share=4)),
    ],
)  # fmt: skip
def test_a_right_answer_passes_in_other_forms_too(exercise, answer):
    result = EXERCISES[exercise](answer)
    assert result.ok, str(result)


def variance(*sets):
    spread = sets[0].var(axis=0)
    spread[spread == 0] = 1
    return [(images - sets[0].mean(axis=0)) / spread for images in sets]


@pytest.mark.parametrize(
    ("exercise", "answer", "message"),
    [
        ("05/pays_from", lambda factor, setup: setup / (factor - 1), "how long the chip trains"),
        ("05/pays_from", lambda factor, setup: setup / (1 + 1 / factor), "a minus belongs"),
        (
            "05/pays_from",
            lambda factor, setup: setup / (1 - 1 / factor) if factor > 1 else None,
            "For factor = 0.5, setup = 5: you have None, and it is inf",
        ),
        ("07/seconds", lambda n, s, b, k: s + 8 * n / (k or b), "the link alone"),
        ("07/seconds", lambda n, s, b, k: s + n / b + n / k, "numbers by bytes per second"),
        ("07/seconds", lambda n, s, b, k: max(s, 8 * n / b, 8 * n / k), "the longest of the"),
        ("07/seconds", lambda n, s, b, k: s + 12 * n / b, "you have 2.5e-06, and it is 4e-06."),
        ("08/pays_after", lambda f, b, a: math.ceil(f / (b - a)), "first call is lost"),
        ("08/pays_after", lambda f, b, a: f / 0, "the function stopped with ZeroDivisionError"),
        ("10/scaling", variance, "variance"),
        ("10/split", lambda *case: [places - 1 for places in split(*case)], "copies on both"),
        ("10/split", lambda *case: split(*case, share=20), "about a fifth"),
    ],
)
def test_a_slip_is_told_also_to_whoever_forgets_the_edges(exercise, answer, message):
    result = EXERCISES[exercise](answer)
    assert not result.ok
    assert message in result.message


@pytest.mark.parametrize(
    ("exercise", "word", "message"),
    [
        ("02/detective", ..., "Still empty: 1."),
        ("02/detective", ("visible", ...), "Still empty: 1."),
        ("03/diagnosis", "too small", "3 of 4 are right."),
        ("00/told_apart", "not faster", "that is not a choice"),
        ("00/told_apart", "x" * 10**6, "that is not a choice"),
    ],
)
def test_a_word_that_is_missing_wrong_or_no_choice_is_told(exercise, word, message):
    right = EXERCISES[exercise].truth
    assert message in EXERCISES[exercise](right | {next(iter(right)): word}).message


class Hostile:
    """Something that can be neither printed nor compared nor asked whether it is true."""

    def refuse(self, *others):
        raise RuntimeError("no")

    __repr__ = __bool__ = __float__ = __iter__ = __len__ = __eq__ = __lt__ = __hash__ = refuse


def never_ends(*arguments):
    return never_ends(*arguments)


def changes_its_arguments(*arguments):
    for argument in arguments:
        if hasattr(argument, "fill"):
            argument.fill(0)
        elif hasattr(argument, "clear"):
            argument.clear()
    return arguments


def returning(answer):
    return lambda *case: answer


def nothing(*case):
    """A wrong answer to all, to which the first case is named."""


NONE = [None, "x" * 10**6, 10**5000, float("nan"), np.zeros(3), [["A"], ["B"]], {"A": []}]
NONE += [*map(returning, [None, [10**5000] * 3, [float("-inf")] * 3, [np.zeros((2, 2))] * 3])]
NONE += [Hostile(), returning(Hostile()), Hostile().refuse, never_ends, changes_its_arguments]


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
