"""Stubs of lessons run alone, as they stand; and the races that other tests hand in."""

import ast
from importlib import import_module

import pytest
from cells import PATHS, SETS, cells, race

import accel_helpers as ah


@pytest.mark.parametrize("number", PATHS)
def test_a_stub_does_not_pass_as_it_is(number, capsys):
    lesson = f"lesson_{number}"  # which the cells have imported by then
    scope = {"ah": ah, lesson: import_module(f"accel_helpers.course.lessons.{lesson}")}
    scope["lesson"] = ah.course.lesson(number)
    for cell in cells(number, tag="exercise"):
        *lines, last = ast.parse(cell.source).body  # a notebook shows what the last one gives
        given = dict(scope)
        exec(compile(ast.Module(lines, []), "cell", "exec"), given)
        shown = eval(compile(ast.Expression(last.value), "cell", "eval"), given)
        said = capsys.readouterr().out + repr(shown)
        assert "Not yet." in said
        assert "Right." not in said


@pytest.mark.parametrize("name", SETS)
def test_the_recorded_runs_are_as_far_apart_as_their_intervals_say(name):
    result = race(name)
    (slow_low, slow_high), (fast_low, fast_high) = result.slow.interval, result.fast.interval
    assert (fast_high < slow_low) == (name == "faster")
    assert (slow_high < fast_low) == (name == "slower")
