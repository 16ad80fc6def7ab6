"""Every exercise of the course: its stub, its solution, wrong answers, and what is no answer.

The graders are those that `check` knows, so that a new one is held to the same without being
named here. Stubs and solutions are the cells of the lessons, run as they stand there.
"""

import ast
import functools
import json
import re
from pathlib import Path
from types import SimpleNamespace

import pytest

import accel_helpers as ah
from accel_helpers import lessons as checks
from accel_helpers.lessons import lesson_06

np = pytest.importorskip("numpy")

LESSONS = sorted((Path(__file__).parents[2] / "notebooks").glob("[0-9][0-9]_*.ipynb"))
EXERCISES = tuple(checks._graders())


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


# --- wrong answers, as learners give them -----------------------------------------------------

NONE = "no measurable difference"
FACTS = ("attached", "visible", "visible", "attached", "placed", "faster")
RIGHT_CASES = dict(enumerate(zip(FACTS, "ABCADE", strict=True), 1))
RIGHT_LINES = dict(zip("ABCDEF", ["harmless", "fault"] * 3, strict=True))


def first_run(device):
    """What all four solutions of lesson 03 begin with."""
    batch = device.send("images")
    device.wait(device.run(batch))
    return batch


def unchanged_a(device):
    batch = first_run(device)
    start = device.clock()
    device.run(batch)
    return device.clock() - start


def clock_before_the_first_run(device):
    start = device.clock()
    batch = first_run(device)
    device.wait(device.run(batch))
    return device.clock() - start


def sends_inside(device):
    first_run(device)
    start = device.clock()
    device.wait(device.run(device.send("images")))
    return device.clock() - start


def unchanged_b(device):
    batch = device.send("images")
    start = device.clock()
    for _ in range(10):
        device.wait(device.run(batch))
    return (device.clock() - start) / 10


def first_run_not_waited_for(device):
    batch = device.send("images")
    device.run(batch)
    start = device.clock()
    for _ in range(10):
        device.wait(device.run(batch))
    return (device.clock() - start) / 10


def ten_steps(device):
    batch = first_run(device)
    start = device.clock()
    for _ in range(10):
        device.wait(device.run(batch))
    return (device.clock() - start) / 10


def ten_steps_not_divided(device):
    return 10 * ten_steps(device)


def waits_once_at_the_end(device):
    first_run(device)
    start = device.clock()
    for _ in range(10):
        job = device.run(device.send("images"))
    device.wait(job)
    return (device.clock() - start) / 10


def one_step(device):
    batch = first_run(device)
    start = device.clock()
    device.wait(device.run(batch))
    return device.clock() - start


def many_steps_not_divided(device):
    batch = first_run(device)
    start = device.clock()
    for _ in range(500):
        device.wait(device.run(batch))
    return device.clock() - start


def rounded_down(samples, per_replica, replicas):
    together = per_replica * replicas
    return together, samples // together, samples % together


def as_one_replica(samples, per_replica, replicas):
    return per_replica, -(-samples // per_replica), samples % per_replica


def remainder_last(samples, per_replica, replicas):
    together = per_replica * replicas
    return together, -(-samples // together), samples % together


def plain_mean(gradients, counts):
    return np.mean(gradients, axis=0)


def plain_sum(gradients, counts):
    return np.sum(gradients, axis=0)


def not_divided(gradients, counts):
    return np.array(counts) @ np.array(gradients)


def tiles_rounded_down(m, k, n, size):
    return (k // size) * (n // size) * (size + m + 2 * size - 2)


def loading_forgotten(m, k, n, size):
    return -(-k // size) * -(-n // size) * (m + 2 * size - 2)


def rows_cut_too(m, k, n, size):
    return -(-m // size) * -(-n // size) * (size + m + 2 * size - 2)


def cut_off(value):
    return lesson_06.number(lesson_06.bits(value) >> 16 << 16)


def middle_goes_up(value):
    return lesson_06.number((lesson_06.bits(value) + 32_768) >> 16 << 16)


def two_decimals(value):
    return round(value, 2)


def nothing_padded(first, bias, second, width):
    return first, bias, second


def wrong_side(first, bias, second, width):
    more = width - len(bias)
    first, second = np.pad(first, ((0, more), (0, 0))), np.pad(second, ((0, more), (0, 0)))
    return first, np.pad(bias, (0, more)), second


def zeros_in_front(first, bias, second, width):
    more = width - len(bias)
    first, second = np.pad(first, ((0, 0), (more, 0))), np.pad(second, ((more, 0), (0, 0)))
    return first, np.pad(bias, (more, 0)), second


def scaled_by_itself(images):
    return (images - images.mean(axis=0)) / np.maximum(images.std(axis=0), 1e-12)


def each_by_itself(train, other):
    return scaled_by_itself(train), scaled_by_itself(other)


def both_together(train, other):
    both = scaled_by_itself(np.concatenate([train, other]))
    return both[: len(train)], both[len(train) :]


def divided_by_zero(train, other):
    mean, spread = train.mean(axis=0), train.std(axis=0)
    return (train - mean) / spread, (other - mean) / spread


def split_by_picture(originals, seed):
    places = np.random.default_rng(seed).permutation(len(originals))
    return places[36:], places[:36]


def held_out_and_trained_on(originals, seed):
    chosen = np.random.default_rng(seed).choice(np.unique(originals), 12, replace=False)
    return np.arange(len(originals)), np.flatnonzero(np.isin(originals, chosen))


def originals_for_places(originals, seed):
    mixed = np.random.default_rng(seed).permutation(np.unique(originals))
    return mixed[12:], mixed[:12]


def by_speed_alone(low, high, price):
    return "cheaper" if low > 1 else "dearer" if high < 1 else "cannot tell"


def by_the_middle(low, high, price):
    return "cheaper" if (low + high) / 2 > price else "dearer"


def never_sure(low, high, price):
    return "cannot tell"


WRONG = {
    "00/told_apart": [
        {"A": "faster", "B": "faster", "C": "slower", "D": "slower"},  # by the medians
        {"A": "faster", "B": NONE, "C": NONE, "D": NONE},  # 8 % is not much
        {"A": "slower", "B": NONE, "C": "faster", "D": NONE},  # more milliseconds are faster
    ],
    "01/old": [
        dict.fromkeys("ABCDEF", "fails"),
        dict(zip("ABCDEF", ["works", *["fails"] * 2, "works", "fails", "works"], strict=True)),
        dict(zip("ABCDEF", ["fails", "works", "fails", "works", "works", "works"], strict=True)),
    ],
    "01/steps": ["FCBDAE", "CBAE", "AFCBE", ["F", "C", "B", "E", "A"]],
    "02/lines": [
        RIGHT_LINES | {"A": "fault", "C": "fault"},  # by the first word
        dict.fromkeys("ABCDEF", "harmless"),
        RIGHT_LINES | {"D": "harmless"},
    ],
    "02/detective": [
        dict.fromkeys(range(1, 7), ("visible", "F")),
        RIGHT_CASES | {4: ("visible", "C")},  # as the log has it
        RIGHT_CASES | {6: ("placed", "D")},
        RIGHT_CASES | {3: ("visible", "F")},
    ],
    "03/diagnosis": [
        {"A": "compiling", "B": "waiting", "C": "transfer", "D": "too small"},
        {"A": "waiting", "B": "compiling", "C": "too small", "D": "transfer"},
        dict.fromkeys("ABCD", "waiting"),
    ],
    "03/a": [unchanged_a, clock_before_the_first_run, sends_inside],
    "03/b": [unchanged_b, first_run_not_waited_for, ten_steps_not_divided],
    "03/c": [ten_steps, waits_once_at_the_end, many_steps_not_divided],
    "03/d": [one_step, ten_steps, many_steps_not_divided],
    "04/batch": [rounded_down, as_one_replica, remainder_last],
    "04/all_reduce": [plain_mean, plain_sum, not_divided],
    "06/cycles": [tiles_rounded_down, loading_forgotten, rows_cut_too],
    "06/bfloat16": [cut_off, middle_goes_up, two_decimals],
    "06/pad": [nothing_padded, wrong_side, zeros_in_front],
    "10/scaling": [each_by_itself, both_together, divided_by_zero],
    "10/split": [split_by_picture, held_out_and_trained_on, originals_for_places],
    "11/worth_it": [by_speed_alone, by_the_middle, never_sure],
}


@pytest.mark.parametrize("exercise", EXERCISES)
def test_each_wrong_answer_has_a_message_of_its_own(exercise):
    wrong = WRONG.get(exercise, [])
    assert len(wrong) >= 2, f"give two wrong answers to {exercise} in WRONG"
    _, stub = handed_in(exercise, "exercise")
    said = [stub, *(checks.check(exercise, answer) for answer in wrong)]
    assert not any(result.ok for result in said)
    assert all(result.hint for result in said)
    assert len({result.message for result in said}) == len(said), "\n".join(map(str, said))


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


def loops(*arguments):
    return sum(1 for _ in range(100_000))


HOSTILE = {
    "None": None,
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
    "loops for long": loops,
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
    assert isinstance(result, checks.Result) and not result.ok
    assert result.message and result.hint and len(str(result)) < 600
    assert result._repr_html_()
