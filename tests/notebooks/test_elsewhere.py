"""Cells run as they stand where they never run here: another machine, another outcome."""

import ast
import re
from types import SimpleNamespace

import numpy as np
import pytest
import status
from cells import RECORDED, choices, the_cell

import accel_helpers as ah
from accel_helpers.measure import scores


@pytest.mark.parametrize("name", ["03/a", "03/b", "03/c", "03/d", "04/all_reduce"])
def test_what_is_to_be_mended_does_not_pass_as_it_is(name):
    function = f"broken_{name[3:]}"
    scope = {"np": np}
    exec(the_cell(name[:2], f"def {function}(").source, scope)
    assert not ah.checks.check(name, scope[function]).ok


@pytest.mark.parametrize(
    ("last", "outcome"),
    [(4.0, "above 3"), (2.9, "between 2 and 3"), (1.2, "between 1 and 2"), (0.5, "below 1")],
)
def test_the_outcome_beside_the_guess_is_that_of_the_loss(last, outcome):
    names = {"learning": [4.0, last], "choices": choices("04", 'ask("04/shakespeare"', "choices")}
    (line,) = re.findall(r"^outcome = (.*)$", the_cell("04", "text.load_text(source)").source, re.M)
    assert eval(line, names) == outcome


@pytest.mark.parametrize(("replicas", "gpu"), [(1, "NVIDIA T4"), (2, "several GPUs")])
def test_the_card_says_where_the_one_code_path_trained_and_with_how_many_replicas(replicas, gpu):
    kept = {}
    library = SimpleNamespace(
        backend=SimpleNamespace(where=lambda model: "gpu"),
        results=SimpleNamespace(record=lambda card, numbers: kept.update(card=card, more=numbers)),
    )
    scope = {
        "ah": library,
        "runs": [],
        "losses": {},
        "training": SimpleNamespace(epochs=RECORDED["jax"]["epoch"]),
        "learning": [4.0, 3.0],
        "inputs": SimpleNamespace(size=10),
        "model": None,
        "history": SimpleNamespace(history={"loss": [1.5, 0.5]}),
        "picked": SimpleNamespace(replicas=replicas),
    }
    exec(the_cell("04", "ah.results.record(").source, scope)
    machine = {"accelerator": {"kind": "GPU", "name": "Tesla T4", "count": 2}}
    card = ah.results.Card("2027-01-01", "make run", machine, kept["card"], kept["more"])
    assert status.measured_on(card, "04") == {gpu}


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
