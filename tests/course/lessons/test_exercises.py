"""Every exercise of the course: its stub, its solution, its slips, and what is no answer.

The exercises are those that `check` knows, and the slips are the table of each, so that a new one
is held to the same without being named here.
"""

import functools
import itertools
import json
import math
import re
from pathlib import Path

import pytest
from practice import timed

from accel_helpers.course.checks import FunctionCheck, Result, WordCheck
from accel_helpers.course.lessons import exercises
from accel_helpers.course.lessons.lesson_03 import Benchmark

np = pytest.importorskip("numpy")

LESSONS = sorted((Path(__file__).parents[3] / "notebooks").glob("[0-9][0-9]_*.ipynb"))
EXERCISES = exercises()


def words_of(output):
    """What an output says: printed, or what the last line of a cell gave."""
    return "".join(output.get("text") or output["data"]["text/plain"])


def said(tag):
    """What the cells of a tag ask of which exercise, and what is stored; nbval compares that."""
    for path in LESSONS:
        for cell in json.loads(path.read_text("utf-8"))["cells"]:
            if tag in cell["metadata"].get("tags", ()):
                assert "nbval-ignore-output" not in cell["metadata"]["tags"]
                source = "".join(cell["source"])
                text = "".join(map(words_of, cell["outputs"]))
                short = re.findall(r'lesson\.check\(\s*"([^"]+)', source)
                yield [f"{path.name[:2]}/{name}" for name in short], text


def test_each_exercise_has_a_stub_that_is_told_to_be_empty_and_a_solution_that_passes():
    stubs, solutions = [*said("exercise")], [*said("solution")]
    for asked, text in stubs:
        assert len(asked) == 1
        assert "Not yet." in text
        assert "still empty" in text.lower()
        assert "Hint:" in text
    for asked, text in solutions:
        assert text.count("Right.") == len(asked)
        assert "Not yet." not in text
    there = {path.name[:2] for path in LESSONS}  # some lessons are in preparation
    exercises = sorted(name for name in EXERCISES if name[:2] in there)
    for cells in (stubs, solutions):
        assert sorted(name for asked, _ in cells for name in asked) == exercises


# --- the table of each exercise ----------------------------------------------------------------


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


@pytest.mark.parametrize("exercise", EXERCISES)
def test_the_truth_passes_and_each_slip_hears_what_it_is(exercise):
    check = EXERCISES[exercise]
    right = check(truth(check))
    assert right.ok, str(right)
    assert not right.hint, str(right)
    for answer, message, hint in slips(check):
        result = check(answer)
        assert not result.ok, str(result)
        assert message in result.message, str(result)
        assert result.hint == hint, str(result)


@pytest.mark.parametrize(
    ("exercise", "answer", "message"),
    [
        ("05/pays_from", lambda factor, setup: setup / (factor - 1), "how long the chip trains"),
        ("05/pays_from", lambda factor, setup: setup / (1 + 1 / factor), "a minus belongs"),
        (
            "07/seconds",
            lambda n, s, b, k: s + 4 * n / b + 4 * n / k,
            "4 bytes for a number through",
        ),
        ("07/seconds", lambda n, s, b, k: s + 8 * n / (k or b), "the link alone"),
        ("07/seconds", lambda n, s, b, k: s + n / b + n / k, "numbers by bytes per second"),
        ("07/seconds", lambda n, s, b, k: s + 8 * n / (b + k), "add up the two speeds"),
        ("07/seconds", lambda n, s, b, k: n * s + 8 * n / b + 8 * n / k, "launch every number"),
        ("07/seconds", lambda n, s, b, k: max(s, 8 * n / b + 8 * n / k), "the longest of the"),
        ("07/seconds", lambda n, s, b, k: max(s, 8 * n / b, 8 * n / k), "the longest of the"),
        ("07/seconds", lambda n, s, b, k: s + max(8 * n / b, 8 * n / k), "the longest of the"),
        ("08/pays_after", lambda f, b, a: math.ceil(f / (b - a)), "first call is lost"),
    ],
)
def test_a_slip_is_told_also_to_whoever_forgets_the_edges(exercise, answer, message):
    assert message in EXERCISES[exercise](answer).message


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (lambda n, s, b, k: s + 12 * n / b, "launch = 1e-06, bandwidth = 8000000000, link = 4"),
        (lambda n, s, b, k: s + 12 * n / b, "you have 2.5e-06, and it is 4e-06."),
        (lambda n, s, b, k: None, "you have None, and it is 4e-06."),
        (
            lambda n, s, b, k: s + 8 * n / b + 8 * n / k,
            "link = None: the function stopped with Type",
        ),
    ],
)
def test_what_is_no_known_slip_of_lesson_07_hears_what_was_expected(answer, message):
    assert message in EXERCISES["07/seconds"](answer).message


@pytest.mark.parametrize("never", [-1, 0, None], ids=str)
def test_whoever_has_no_infinity_in_lesson_05_is_shown_the_case(never):
    result = EXERCISES["05/pays_from"](
        lambda factor, setup: setup / (1 - 1 / factor) if factor > 1 else never
    )
    assert result.message.startswith("For factor = 0.5, setup = 5:")
    assert "it is inf" in result.message


def test_a_factor_of_one_is_not_forgotten_in_lesson_05():
    result = EXERCISES["05/pays_from"](
        lambda factor, setup: math.inf if factor < 1 else setup / (1 - 1 / factor)
    )
    assert result.message.startswith("For factor = 1, setup = 5: the function stopped with Zero")
    assert "math.inf" in result.hint


@pytest.mark.parametrize("step", "ABCDEF")
@pytest.mark.parametrize("said", ["works", "fails", "does nothing"])
def test_each_wrong_fate_in_lesson_01_hears_why(step, said):
    check = EXERCISES["01/old"]
    if said != check.truth[step]:
        result = check(check.truth | {step: said})
        assert re.search(rf"5 of 6 are right\. {step}: \w", result.message)
        assert "Choose from" not in result.hint


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (lambda f, b, a: 7, "For first = 100, before = 10, after = 6: you have 7, and it is 24."),
        (lambda f, b, a: f / 0, "For first = 100, before = 10, after = 6: the function stopped"),
        (lambda f, b, a: 1 + math.ceil((f - b) / (b - a)) if a != 3 or b != 2 else math.inf,
         "For first = 60, before = 5, after = 5: the function stopped with ZeroDivisionError"),
    ],
)  # fmt: skip
def test_what_is_no_known_slip_is_named_with_its_arguments_and_what_is_right(answer, message):
    result = EXERCISES["08/pays_after"](answer)
    assert not result.ok
    assert result.message.startswith(message)


@pytest.mark.parametrize(
    ("exercise", "answer"),
    [
        (
            "00/told_apart",
            {"A": "Faster", "B": "no difference", "C": " SLOWER", "D": "No Measurable difference"},
        ),
        ("02/detective", {1: ("Visible", "b"), 2: (" attached ", "a"), 3: ("FASTER", "e")}),
        ("03/diagnosis", {"A": "Waiting", "B": " compiling", "C": "TRANSFER", "D": "too-small"}),
    ],
)
def test_words_count_for_what_they_mean(exercise, answer):
    assert EXERCISES[exercise](answer).ok


@pytest.mark.parametrize("word", [..., "", (..., ...), ("visible", ...)])
def test_what_is_not_chosen_yet_is_named(word):
    check = EXERCISES["02/detective"]
    assert check(check.truth | {1: word}).message == "Still empty: 1."


@pytest.mark.parametrize("word", ["not faster", "difference", "measurable", None, "x" * 10**6])
def test_what_may_mean_something_else_is_no_choice(word):
    answer = EXERCISES["00/told_apart"].truth | {"A": word}
    assert "that is not a choice" in EXERCISES["00/told_apart"](answer).message


@pytest.mark.parametrize("exercise", [n for n, c in EXERCISES.items() if isinstance(c, WordCheck)])
def test_every_wrong_choice_leads_on(exercise):
    check = EXERCISES[exercise]
    for key, other in itertools.product(check.truth, {*check.truth.values()}):
        if other != check.truth[key]:
            assert "Choose from" not in check({**check.truth, key: other}).hint, (key, other)


# --- what is no answer ------------------------------------------------------------------------


class Hostile:
    """Something that can be neither printed nor compared nor asked whether it is true."""

    def refuse(self, *others):
        raise RuntimeError("no")

    __repr__ = __bool__ = __float__ = __iter__ = __len__ = refuse
    __eq__ = __ne__ = __lt__ = __hash__ = refuse


def raises(*arguments):
    raise RuntimeError("no")


def never_ends(*arguments):
    return never_ends(*arguments)


def changes_its_arguments(*arguments):
    for argument in arguments:
        for name in ("clear", "fill", "send"):
            if hasattr(argument, name):
                getattr(argument, name)(*[0] * (name != "clear"))
    return arguments


def yields(*arguments):
    yield from arguments


HOSTILE = {
    "None": None,
    "a huge text": "x" * 1_000_000,
    "a huge number": 10**5000,
    "not a number": float("nan"),
    "an array": np.zeros(3),
    "letters in a list in a list": [["A"], ["B"]],
    "hostile": Hostile(),
    "hostile things": [Hostile(), Hostile()],
    "raises": raises,
    "never ends": never_ends,
    "is a class": Hostile,
    "is a generator function": yields,
    "changes its arguments": changes_its_arguments,
    "returns its arguments": lambda *arguments: arguments,
    "takes nothing": lambda: 1,
}
WORDS = (["x"], ([], {}), (("a", "b"), ("c", "d")), 7, np.zeros(2), Hostile(), (Hostile(),) * 2)
HOSTILE |= {
    f"{n} for words": dict.fromkeys([*"ABCDEF", *range(1, 7)], word) for n, word in enumerate(WORDS)
}
RETURNED = {
    "None": None,
    "a huge text": "x" * 1_000_000,
    "a huge number": 10**5000,
    "huge numbers": [10**5000] * 3,
    "no number": float("nan"),
    "infinity": float("inf"),
    "three infinities": [float("-inf")] * 3,
    "a dictionary": {"a": 1, "b": 2, "c": 3},
    "arrays": [np.zeros((2, 2))] * 3,
    "something hostile": Hostile(),
    "hostile things": [Hostile()] * 3,
}
HOSTILE |= {f"returns {name}": lambda *_, said=said: said for name, said in RETURNED.items()}


@pytest.mark.parametrize("exercise", EXERCISES)
@pytest.mark.parametrize("name", HOSTILE)
def test_what_is_no_answer_gets_a_result(exercise, name):
    result = EXERCISES[exercise](HOSTILE[name])
    assert isinstance(result, Result)
    assert not result.ok
    assert result.message
    assert result.hint
    assert len(str(result)) < 600


def returns_nothing(*case):
    """A wrong answer to all, to which the first case is named."""


@pytest.mark.parametrize("exercise", EXERCISES)
def test_no_answer_spoils_the_cases_that_the_next_one_is_graded_on(exercise):
    said = EXERCISES[exercise](returns_nothing)
    EXERCISES[exercise](changes_its_arguments)
    assert EXERCISES[exercise](returns_nothing) == said
    assert EXERCISES[exercise](truth(EXERCISES[exercise])).ok


def test_a_slip_is_told_how_many_are_right():
    answer = EXERCISES["03/diagnosis"].truth | {"A": "too small"}
    assert EXERCISES["03/diagnosis"](answer).message.startswith("3 of 4 are right.")


def test_a_result_reads_well():
    result = Result(False, "got 3", "try 4")
    assert str(result) == repr(result) == "Not yet. got 3\nHint: try 4"
