"""Cells run as they stand where they never run here: another machine, another outcome."""

import ast
from types import SimpleNamespace

import pytest
from cells import the_cell

from accel_helpers.measure import scores


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
    scope = {"gains": gains, "scores": scores}
    exec(compile(ast.Module(tree[at - 1 : at + 1], []), "cell", "exec"), scope)
    assert scope["chosen"] == chosen
