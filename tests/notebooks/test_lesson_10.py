"""Lesson 10: its reference cells draw what it records; its text says what its cells have shown."""

import ast
import re
from types import SimpleNamespace

import pytest
from cells import cells, printed, the_cell

import accel_helpers as ah
from accel_helpers.measure import scores


def test_the_text_on_leakage_says_what_the_cells_have_shown():
    shown = printed(the_cell("10", "def with_copies"))
    rows = re.findall(r"^(.*first) +([\d.]+) % +([\d.]+) %$", shown, re.M)
    found = {name: (float(claimed), float(really)) for name, claimed, really in rows}
    claimed, really = found["shuffled labels, copies first"]
    assert claimed > 80 and really < 15
    assert all(5 < value < 15 for value in found["shuffled labels, split first"])
    near = [found[f"true labels, {way} first"] for way in ("copies", "split")]
    assert all(abs(claimed - really) < 1 for claimed, really in near)
    closest = printed(the_cell("10", "closest ="))
    copied = re.findall(r"^.*first +([\d.]+) % +([\d.]+) % +[\d,]+$", closest, re.M)
    assert copied[0][0] == "100.0" and 75 < float(copied[0][1]) < 85
    assert copied[1] == ("0.0", "0.0")
    text = the_cell("10", "called **leakage**", kind="markdown").source
    assert "*Copies first* reports more than 80 %" in text
    assert "about four in five" in text and "Each score is within one point" in text


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


def referred(numbers, measurements):
    """Run the cells that read a reference run, with a card of these values; what they say."""
    card = SimpleNamespace(label="a named machine", numbers=numbers, measurements=measurements)
    results = SimpleNamespace(reference_runs=lambda: [card])
    said = []
    scope = {
        "ah": SimpleNamespace(results=results, timing=ah.timing, plots=ah.plots),
        "print": lambda *words: said.append(" ".join(map(str, words))),
        "display": lambda picture: said.append(str(picture)),
        "scores": scores,
        "changes": ["hidden layer", "dropout"],
    }
    for cell in cells("10", tag="reference-run"):
        exec(cell.source, scope)
    return said


def test_a_reference_run_is_drawn_and_a_missing_one_is_said():
    assert referred({}, {}) == ["No reference run of this section yet."] * 3
    step = ah.timing.Measurement.from_samples([0.001] * 5, first_call=0.3)
    numbers = {f"10/accuracy/{name}": (0.7, 0.8) for name in ("baseline", "hidden layer")}
    numbers |= {"10/scaling/not scaled": (0.9, 0.85, 0.95)}
    numbers |= {"10/change/hidden layer": (0.1, 0.05, 0.15)}
    said = "\n".join(referred(numbers, {"10/compile/call": step, "10/compile/step": step}))
    assert said.count("Reference run: a named machine.") == 3
    assert "hidden layer: +5.0 to +15.0 points, better" in said
    assert "not scaled 90.0 %" in said and "a later step: 1 ms" in said
    assert said.count("the first step: 300 ms") == 1


def test_the_script_that_is_killed_is_a_program_that_counts_what_it_trains():
    source = the_cell("10", "train_digits.py").source
    (script,) = re.findall(r"write_text\(\"{3}(.*?)\"{3}\)", source, re.S)
    compile(script, "train_digits.py", "exec")
    assert "resumable.fit(model, x, y" in script and "keras.layers.Dropout" in script
    assert "callbacks=callbacks" in script and 'step {batch + 1}."' in script
    moment = the_cell("10", "kill_at = {").source
    assert 'folder / "killed", epochs, [count])' in moment
    assert 'rmtree(folder / "killed"' in moment  # else a second try finds nothing to kill
    assert '"epoch {epoch}, step {step}."' in moment
