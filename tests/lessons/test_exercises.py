"""Every exercise of the course: its stub, its solution, its slips, and what is no answer.

The exercises are those that `check` knows, and the slips are the table of each, so that a new one
is held to the same without being named here. Stubs and solutions are the cells of the lessons, run
as they stand there.
"""

import ast
import functools
import itertools
import json
import re
from pathlib import Path
from types import SimpleNamespace

import pytest

import accel_helpers as ah
from accel_helpers import lessons as checks
from accel_helpers.learn.checks import Result

np = pytest.importorskip("numpy")

LESSONS = sorted((Path(__file__).parents[2] / "notebooks").glob("[0-9][0-9]_*.ipynb"))
EXERCISES = checks.exercises()


# --- the cells of the lessons -----------------------------------------------------------------


@functools.cache
def code_cells(number):
    """The source and the tags of a lesson's code cells."""
    found = [path for path in LESSONS if path.name.startswith(f"{number}_")]
    assert len(found) == 1, f"notebooks/ has {len(found)} lessons of the number {number}, not one"
    cells = json.loads(found[0].read_text("utf-8"))["cells"]
    return [
        ("".join(cell["source"]), cell["metadata"].get("tags", ()))
        for cell in cells
        if cell["cell_type"] == "code"
    ]


def needed(source, earlier):
    """Statements of earlier cells that a cell stands on: imports and functions, in their order."""
    known, wanted, found = [], names(source, ast.Load), []
    for text in earlier:
        try:
            known += ast.parse(text).body
        except SyntaxError:  # a line for IPython alone
            continue
    for node in reversed(known):
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            bound = {alias.asname or alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.FunctionDef):
            bound = {node.name}
        else:
            continue
        if bound & wanted:
            found.insert(0, node)
            wanted |= names(node, ast.Load)
    return ast.Module(found, [])


def names(code, context):
    tree = ast.parse(code) if isinstance(code, str) else code
    found = [node for node in ast.walk(tree) if isinstance(node, ast.Name)]
    return {node.id for node in found if isinstance(node.ctx, context)}


@functools.cache
def handed_in(exercise, tag):
    """What a tagged cell of the lesson hands to the check of an exercise, and its result."""
    cells = code_cells(exercise[:2])
    called = re.compile(rf"checks\.check\(\s*[\"']{re.escape(exercise)}[\"']")
    places = [i for i, (source, tags) in enumerate(cells) if tag in tags and called.search(source)]
    assert len(places) == 1, f"{exercise} is checked in one cell tagged {tag}, not {len(places)}"
    seen = {}

    def check(name, answer):
        seen[name] = answer, checks.check(name, answer)
        return seen[name][1]

    class Library:
        checks = SimpleNamespace(check=check)

        def __getattr__(self, name):
            return getattr(ah, name)

    source, scope = cells[places[0]][0], {"ah": Library()}
    before = [text for text, tags in cells[: places[0]] if "setup" not in tags]
    exec(compile(needed(source, before), "earlier cells", "exec"), scope)
    exec(compile(source, f"the {tag} of {exercise}", "exec"), scope)
    return seen[exercise]


@pytest.mark.parametrize("exercise", EXERCISES)
def test_the_solution_of_the_lesson_passes(exercise):
    _, result = handed_in(exercise, "solution")
    assert result.ok and not result.hint, str(result)


@pytest.mark.parametrize("exercise", EXERCISES)
def test_the_stub_is_told_to_be_empty(exercise):
    _, result = handed_in(exercise, "exercise")
    assert not result.ok and "still empty" in result.message and result.hint, str(result)


def test_every_check_in_the_lessons_is_one_of_these():
    numbers = [path.name[:2] for path in LESSONS]
    sources = "\n".join(source for number in numbers for source, _ in code_cells(number))
    found = set(re.findall(r"ah\.checks\.check\(\s*[\"']([^\"']+)", sources))
    assert found == set(EXERCISES)


# --- the table of each exercise ----------------------------------------------------------------


def slips(check):
    """The wrong answer of each slip, and what is said to it."""
    if isinstance(check.slips, dict):  # by the key, or by the key and what stands there
        for slip, words in check.slips.items():
            other = (word for word in check.truth.values() if word != check.truth.get(slip))
            key, said = (slip, next(other)) if slip in check.truth else slip
            yield {**check.truth, key: said}, *words
        return
    for *place, wrong, message, hint in check.slips:
        yield (in_place(check.truth, wrong, *place) if place else wrong), message, hint


def in_place(truth, wrong, n):
    return lambda *case: [*truth(*case)[:n], wrong(*case), *truth(*case)[n + 1 :]]


@pytest.mark.parametrize("exercise", EXERCISES)
def test_the_truth_passes_and_each_slip_hears_what_it_is(exercise):
    check = EXERCISES[exercise]
    right = check(check.truth)
    assert right.ok and not right.hint, str(right)
    told = [*slips(check)]
    assert len({(message, hint) for _, message, hint in told}) >= 2
    for answer, message, hint in told:
        result = check(answer)
        assert not result.ok and message in result.message and result.hint == hint, str(result)


# --- what is no answer ------------------------------------------------------------------------


class Hostile:
    """Something that can be neither printed nor compared nor asked whether it is true."""

    def refuse(self, *others):
        raise RuntimeError("no")

    __repr__ = __bool__ = __float__ = __iter__ = __len__ = refuse
    __eq__ = __ne__ = __lt__ = __hash__ = refuse


def raises(*arguments):
    raise RuntimeError("no")


def ends_python(*arguments):
    raise SystemExit


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
    "...": ...,
    "3": 3,
    "a huge text": "x" * 1_000_000,
    "a huge number": 10**5000,
    "not a number": float("nan"),
    "an array": np.zeros(3),
    "letters in a list in a list": [["A"], ["B"]],
    "hostile things": [Hostile(), Hostile()],
    "hostile": Hostile(),
    "lists for words": dict.fromkeys([*"ABCDEF", *range(1, 7)], ["x"]),
    "pairs of lists": dict.fromkeys([*"ABCDEF", *range(1, 7)], ([], {})),
    "pairs of pairs": dict.fromkeys([*"ABCDEF", *range(1, 7)], (("a", "b"), ("c", "d"))),
    "numbers for words": dict.fromkeys([*"ABCDEF", *range(1, 7)], 7),
    "arrays for words": dict.fromkeys([*"ABCDEF", *range(1, 7)], np.zeros(2)),
    "hostile for words": dict.fromkeys([*"ABCDEF", *range(1, 7)], Hostile()),
    "pairs of hostile": dict.fromkeys([*"ABCDEF", *range(1, 7)], (Hostile(), Hostile())),
    "raises": raises,
    "ends Python": ends_python,
    "never ends": never_ends,
    "is a class": Hostile,
    "is a method": [].append,
    "is a generator function": yields,
    "changes its arguments": changes_its_arguments,
    "returns what has no end": lambda *arguments: itertools.count(),
    "returns two without an end": lambda *arguments: (itertools.count(), itertools.count()),
    "returns its arguments": lambda *arguments: arguments,
    "takes nothing": lambda: 1,
    "returns None": lambda *arguments: None,
    "returns a text": lambda *arguments: "abc",
    "returns a huge text": lambda *arguments: "x" * 1_000_000,
    "returns a huge number": lambda *arguments: 10**5000,
    "returns huge numbers": lambda *arguments: [10**5000] * 3,
    "returns no number": lambda *arguments: float("nan"),
    "returns infinity": lambda *arguments: float("inf"),
    "returns minus infinity": lambda *arguments: float("-inf"),
    "returns three infinities": lambda *arguments: [float("inf")] * 3,
    "returns a dictionary": lambda *arguments: {"a": 1, "b": 2, "c": 3},
    "returns a function": lambda *arguments: raises,
    "returns an array": lambda *arguments: np.zeros(3),
    "returns arrays": lambda *arguments: [np.zeros((2, 2))] * 3,
    "returns something hostile": lambda *arguments: Hostile(),
    "returns hostile things": lambda *arguments: [Hostile()] * 3,
}


@pytest.mark.parametrize("exercise", EXERCISES)
@pytest.mark.parametrize("name", HOSTILE)
def test_what_is_no_answer_gets_a_result(exercise, name):
    result = checks.check(exercise, HOSTILE[name])
    assert isinstance(result, Result) and not result.ok
    assert result.message and result.hint and len(str(result)) < 600


@pytest.mark.parametrize("exercise", EXERCISES)
def test_no_answer_spoils_the_cases_that_the_next_one_is_graded_on(exercise):
    checks.check(exercise, changes_its_arguments)
    assert checks.check(exercise, EXERCISES[exercise].truth).ok


def test_a_result_reads_well():
    result = Result(False, "got 3", "try 4")
    assert str(result) == repr(result) == "Not yet. got 3\nHint: try 4" and not result


def test_an_unknown_exercise_is_named():
    with pytest.raises(ValueError, match="'99'.*03/a"):
        checks.check("99", None)
