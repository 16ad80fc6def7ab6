"""Cells run as they stand where they never run here: another machine, another outcome."""

import ast
from types import SimpleNamespace

import numpy as np
import pytest
from cells import the_cell

import accel_helpers as ah


@pytest.mark.parametrize("name", ["03/a", "03/b", "03/c", "03/d"])
def test_what_is_to_be_mended_does_not_pass_as_it_is(name):
    function = f"broken_{name[3:]}"
    scope = {"np": np}
    exec(the_cell(name[:2], f"def {function}(").source, scope)
    assert not ah.checks.check(name, scope[function]).ok


@pytest.mark.parametrize(
    ("verdicts", "chosen"),
    [
        ({"layer": "better", "more": "worse"}, "layer"),
        ({"layer": "better", "more": "better"}, "more"),
        ({"layer": "no measurable difference", "more": "worse"}, "baseline"),
    ],
)
def test_the_model_for_the_test_is_the_last_with_a_measurable_gain(verdicts, chosen):
    """Chosen before the test images are used, and those are used in one cell alone."""
    tree = ast.parse(the_cell("10", "x[test]").source).body
    (at,) = [i for i, line in enumerate(tree) if ast.unparse(line).startswith("chosen =")]
    assert not any("x[test]" in ast.unparse(line) for line in tree[: at + 1])
    gains = {name: SimpleNamespace(verdict=verdict) for name, verdict in verdicts.items()}
    scope = {"gains": gains}
    exec(compile(ast.Module(tree[at : at + 1], []), "cell", "exec"), scope)
    assert scope["chosen"] == chosen
