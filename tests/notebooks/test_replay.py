"""Verdicts of lessons run alone, as they stand, with recorded races handed in.

Which texts each `say` has is in test_say.py; here the text that is shown is that of what came out,
and its fields can be filled in. The races are real measurements on one CPU (see record.py), of
which one run plays the accelerator: faster, no different, slower.
"""

import ast
import re
from importlib import import_module

import pytest
from cells import PATHS, SETS, cells, race
from test_say import SOURCES

import accel_helpers as ah
from accel_helpers.measure.verdicts import labelled

CALLS = [  # the last line of a cell: what measures stands before it, and stays away
    pytest.param(call, outcome, id=f"{number} {source}: {outcome}")
    for (number, source), words in SOURCES.items()
    if words == "compare"
    for cell in cells(number, "ah.verdicts.say(")
    for call in [ast.parse(cell.source).body[-1].value]
    if ast.unparse(call.args[0]) == source
    for outcome in labelled(ast.literal_eval(call.args[1]))
]


def handed_in(outcome):
    """What a cell may have of a race, by the names that the lessons give it."""
    if outcome not in SETS:
        return {"race": None}
    found = race(outcome)
    stages = [ah.climb.Stage(m.name, 32, 300, m, (0.9,)) for m in (found.slow, found.fast)]
    climb = ah.climb.Climb(tuple(stages))
    return dict.fromkeys(("race", "gap", "again"), found) | {"climb": climb}


@pytest.mark.parametrize(("call", "outcome"), CALLS)
def test_what_came_out_is_told_as_it_came_out(call, outcome):
    texts = labelled(ast.literal_eval(call.args[1]))
    shown = eval(compile(ast.Expression(call), "cell", "eval"), {"ah": ah, **handed_in(outcome)})
    pieces = {label: re.split(r"\{.*?\}", text) for label, text in texts.items()}
    assert [k for k, v in pieces.items() if all(p in shown.data for p in v)] == [outcome]
    assert "{" not in shown.data


@pytest.mark.parametrize("number", PATHS)
def test_a_stub_does_not_pass_as_it_is(number, capsys):
    module = f"lesson_{number}"  # which the cells have imported by then
    scope = {"ah": ah, module: import_module(f"accel_helpers.lessons.{module}")}
    scope["lesson"] = ah.course.lesson(number)
    for cell in cells(number, tag="exercise"):
        *lines, last = ast.parse(cell.source).body
        space = {**scope}
        exec(compile(ast.Module(lines, []), "cell", "exec"), space)
        print(eval(compile(ast.Expression(last.value), "cell", "eval"), space))
        said = capsys.readouterr().out
        assert "Not yet." in said and "Right." not in said


@pytest.mark.parametrize("name", SETS)
def test_the_recorded_runs_are_as_far_apart_as_their_intervals_say(name):
    result = race(name)
    (slow_low, slow_high), (fast_low, fast_high) = result.slow.interval, result.fast.interval
    assert (fast_high < slow_low) == (name == "faster")
    assert (slow_high < fast_low) == (name == "slower")
