"""What a lesson measures is kept on the learner's result card."""

import ast
import inspect

import lesson
import pytest
from nbformat.v4 import new_code_cell, new_notebook

import accel_helpers as ah

PRACTICE = "00_start_here.ipynb"  # its sum is an exercise in measuring
# A page that is converted is not asked: what goes through its `lesson` is kept.
LESSONS = [
    path
    for path in lesson.chosen([])
    if path.name != PRACTICE and not lesson.is_converted(lesson.parse(lesson.read(path)))
]
HOMES = [home for name in ah.__all__ if inspect.ismodule(home := getattr(ah, name))]
KEEPING = {"from_samples"} | {  # what somebody timed with a clock of their own, too
    verb
    for home in HOMES
    for verb in home.__all__
    if inspect.isfunction(getattr(home, verb))
    if "keep" in inspect.signature(getattr(home, verb)).parameters
}


def unkept(nb):
    """Give the calls of measuring verbs whose result is kept neither there nor by a later call."""
    cells = [cell for cell in nb.cells if "nbval-ignore-output" in lesson.tags(cell)]
    trees = [ast.parse(lesson.python(cell.source)) for cell in cells]
    nodes = [node for tree in trees for node in ast.walk(tree)]
    calls = [node for node in nodes if isinstance(node, ast.Call)]
    keeps = [call for call in calls if any(k.arg == "keep" for k in call.keywords)]
    keeps += [call for call in calls if ast.unparse(call.func) == "ah.results.record"]
    kept = {n.id for call in keeps for n in ast.walk(call) if isinstance(n, ast.Name)}
    for node in nodes:  # what is bound to a name that a keeping call is given
        if isinstance(node, ast.Assign):
            names = {n.id for target in node.targets for n in ast.walk(target) if hasattr(n, "id")}
            keeps += [n for n in ast.walk(node.value) if names & kept]
    verbs = {call: getattr(call.func, "attr", "") for call in calls if call not in keeps}
    return [ast.unparse(call) for call, verb in verbs.items() if verb in KEEPING]


@pytest.mark.parametrize("path", LESSONS, ids=lambda path: path.stem[:2])
def test_everything_that_a_lesson_measures_is_put_on_the_card(path):
    missing = unkept(lesson.parse(lesson.read(path)))
    assert missing == [], f"{path.name} measures this and keeps it on no card (keep=)"


def test_what_is_measured_and_not_kept_is_named():
    assert {"benchmark", "compare", "time_fit", "measure"} <= KEEPING
    sources = [
        "a = ah.timing.benchmark(run)\nb = ah.timing.benchmark(run, keep='01/b')",
        "c = ah.timing.benchmark(other)\nah.timing.compare(c, b, keep=('', '01/b'))",
        "print(ah.climb.measure(x))\nd = ah.timing.Measurement.from_samples(took)",
    ]
    tagged = {"tags": ["nbval-ignore-output"]}
    cells = [new_code_cell(source, metadata=tagged) for source in sources]
    missing = ["ah.climb.measure(x)", "ah.timing.Measurement.from_samples(took)"]
    assert sorted(unkept(new_notebook(cells=cells))) == [*missing, "ah.timing.benchmark(run)"]
