"""Lesson 10: its sentences fit what was measured; its reference cells read what it records."""

import ast
import json
import re
from pathlib import Path
from types import SimpleNamespace

import nbformat
import pytest

import accel_helpers as ah
from accel_helpers.measure import scores
from accel_helpers.measure.measurement import Measurement

LESSON = Path(__file__).parents[2] / "notebooks" / "10_build_and_refine.ipynb"
LABEL = "*Not available: the standard answer.*"


def cells(kind, words):
    notebook = nbformat.read(LESSON, as_version=4)
    return [c for c in notebook.cells if c.cell_type == kind and words in c.source]


def the_cell(words, kind="code"):
    (found,) = cells(kind, words)
    return found


def output_of(words):
    return "".join(out.get("text", "") for out in the_cell(words).outputs)


def said(words, **names):
    """Run a verdict cell with what was measured handed in; give its sentence."""
    tree = ast.parse(the_cell(words).source)
    last = ast.Expression(tree.body.pop().value)
    scope = dict(names)
    exec(compile(tree, "cell", "exec"), scope)
    scope["Markdown"] = lambda text: text
    return eval(compile(last, "cell", "eval"), scope)


@pytest.mark.parametrize(
    ("interval", "words"),
    [
        ((0.5, 0.6), "worse, by this rough look"),
        ((0.9, 0.97), "no difference seen"),
        ((0.985, 1.0), "better, by this rough look"),
    ],
)
def test_each_way_to_scale_is_told_as_it_came_out(interval, words):
    middle = sum(interval) / 2
    scaled = {"right": (0.95, 0.93, 0.97), "another way": (middle, *interval)}
    assert f"Another way: {words}" in said("say[outcome].format", scaled=scaled, raw=range(9))


@pytest.mark.parametrize(
    ("low", "high", "words"),
    [(0.01, 0.02, "better"), (-0.2, -0.1, "worse"), (-0.1, 0.1, "no measurable difference")],
)
def test_each_change_is_told_as_it_came_out(low, high, words):
    gains = {"a layer": SimpleNamespace(verdict=scores.verdict(low, high))}
    assert f"A layer: {words}" in said("say[g.verdict]", gains=gains)
    wrong = SimpleNamespace(verdict=scores.verdict(low, high))
    test = {"on_test": [95, 100, 0.9, 0.98], "in_validation": 0.95}
    assert f"wrong loss: {words}" in said("say[wrong.verdict]", wrong=wrong, **test)


@pytest.mark.parametrize(("share", "word"), [(0.95, "agree"), (0.99, "differ"), (0.8, "differ")])
def test_whether_validation_and_test_agree_is_told_as_it_came_out(share, word):
    wrong = SimpleNamespace(verdict="worse")
    test = {"on_test": [95, 100, 0.9, 0.98], "in_validation": share}
    assert f"Validation and test {word}" in said("say[wrong.verdict]", wrong=wrong, **test)


def test_where_the_time_of_compile_is_is_told_as_it_came_out():
    (places,) = re.findall(r"places = (\(.*\))", the_cell('ask("10/compile"').source)
    short, long = (Measurement.from_samples([s] * 5) for s in (0.002, 0.3))
    for where in ast.literal_eval(places):
        told = said(
            "say[where if clear",
            ah=ah,
            where=where,
            clear=True,
            in_compile=short,
            step=long,
            first=1,
        )
        assert where in told.replace("the call of `compile`", "in compile").replace(
            "Here a later", "in a later"
        )
    unclear = dict(ah=ah, where="in compile", clear=False, in_compile=short, step=long, first=1)
    assert "cannot be told" in said("say[where if clear", **unclear)


def choices_of(name, variable):
    (found,) = re.findall(rf"{variable} = (\(.*\))", the_cell(f'ask("{name}"').source)
    return ast.literal_eval(found)


def test_who_got_the_model_to_run_is_told_as_it_came_out():
    whose = choices_of("10/serve", "whose")
    first_words = ("Only the first", "Only the exported", "Both", "Neither")
    for outcome, words in zip(whose, first_words, strict=True):
        assert said("Markdown(say[outcome])", whose=whose, outcome=outcome).startswith(f"**{words}")


@pytest.mark.parametrize(
    ("plain", "with_dice", "words"),
    [
        (0.0, 0.01, "With dropout it does not"),
        (0.0, 0.0, "Both end"),
        (0.1, 0.2, "Neither ends"),
        (0.1, 0.0, "Only the one with dropout"),
    ],
)
def test_what_the_backup_kept_is_told_as_it_came_out(plain, with_dice, words):
    backup = {"without dropout": plain, "with dropout": with_dice}
    assert words in said("plain <= 1e-6", backup=backup)


def end_of_the_kill(**changed):
    as_expected = {
        "died": SimpleNamespace(kind="killed"),
        "came_out": "exactly the same",
        "counted": list(range(3, 13)),
        "epochs": 12,
        "kill_at": {"epoch": 3, "step": 9},
    }
    return said('died.kind != "killed"', **as_expected | changed)


def test_the_end_of_the_killed_run_is_told_as_it_came_out():
    starts = ("**Exactly the same", "**The same weights up to", "**The weights differ")
    for came_out, words in zip(choices_of("10/kill", "closeness"), starts, strict=True):
        assert end_of_the_kill(came_out=came_out).startswith(words)
    died = SimpleNamespace(kind="crashed", ending="ended with: an error")
    assert "no kill:** ended" in end_of_the_kill(died=died)


@pytest.mark.parametrize(
    ("epoch", "first", "words"),
    [
        (3, 3, "epochs 1 and 2 were not trained again"),
        (3, 4, "epochs 1 to 3 were not trained again"),  # the kill came just after the epoch
        (2, 2, "epoch 1 was not trained again"),
        (1, 1, "no epoch was whole at the kill"),
        (3, 1, "did not go on from the checkpoint:** after the kill, epoch 1"),
        (5, 4, "did not go on from the checkpoint:** after the kill, epoch 4"),
    ],
)
def test_a_run_that_trains_whole_epochs_again_is_no_resumed_run(epoch, first, words):
    counted, kill_at = list(range(first, 13)), {"epoch": epoch, "step": 9}
    assert words in end_of_the_kill(counted=counted, kill_at=kill_at)


def test_what_is_trained_after_the_kill_is_counted():
    """The script hands the callbacks on, and the numbers are those of the whole training."""
    assert 'folder / "killed", epochs, [count])' in the_cell("kill_at = {").source
    assert "callbacks=callbacks" in the_cell("train_digits.py").source


def test_the_leak_is_seen_with_shuffled_labels_and_the_honest_split_guesses():
    rows = re.findall(r"^(.*first) +([\d.]+) % +([\d.]+) %$", output_of("def with_copies"), re.M)
    found = {name: (float(claimed), float(really)) for name, claimed, really in rows}
    assert found["shuffled labels, copies first"][0] > 80
    assert all(5 < value < 15 for value in found["shuffled labels, split first"])
    assert found["shuffled labels, copies first"][1] < 15
    near = [found[f"true labels, {way} first"] for way in ("copies", "split")]
    assert all(abs(claimed - really) < 1 for claimed, really in near)
    assert near[0][1] > near[1][1]
    copied = re.findall(
        r"^(.*first) +([\d.]+) % +([\d.]+) % +([\d,]+)$", output_of("closest ="), re.M
    )
    assert copied[0][1] == "100.0" and 75 < float(copied[0][2]) < 85 and copied[0][3] == "1,152"
    assert copied[1][1] == copied[1][2] == "0.0"
    text = the_cell("called **leakage**", "markdown").source
    assert "*Copies first* reports more than 80 %" in text
    assert "about four in five" in text and "Each score is within one point" in text


def test_compile_changes_no_weight_and_fit_needs_it():
    printed = output_of("fit refuses:")
    assert "fit refuses: You must call `compile()`" in printed
    assert "every weight is as it was: True" in printed and "optimizer Adam" in printed


def test_saved_and_reloaded_everything_is_the_same_and_a_folder_is_refused():
    printed = output_of("class Scale(")
    assert printed.count(": True") == 3 and "without an ending: Invalid filepath" in printed


def test_the_test_images_are_used_in_one_cell_alone():
    using = cells("code", "x[test]")
    assert len(using) == 1 and "test images:" in using[0].source


@pytest.mark.parametrize(
    ("verdicts", "chosen"),
    [
        ({"layer": "better", "more": "worse"}, "layer"),
        ({"layer": "better", "more": "better"}, "more"),
        ({"layer": "no measurable difference", "more": "worse"}, "baseline"),
    ],
)
def test_the_model_for_the_test_is_the_last_with_a_measurable_gain(verdicts, chosen):
    """Chosen before the test images are used."""
    tree = ast.parse(the_cell("x[test]").source).body
    (at,) = [i for i, line in enumerate(tree) if ast.unparse(line).startswith("chosen =")]
    assert not any("x[test]" in ast.unparse(line) for line in tree[: at + 1])
    gains = {name: SimpleNamespace(verdict=verdict) for name, verdict in verdicts.items()}
    scope = {"gains": gains, "scores": scores}
    exec(compile(ast.Module(tree[at - 1 : at + 1], []), "cell", "exec"), scope)
    assert scope["chosen"] == chosen


def test_every_exercise_has_a_stub_that_is_told_to_be_empty_and_a_solution_that_passes():
    for cell in cells("code", "ah.checks.check"):
        tags = cell.metadata.get("tags", ())
        printed = "".join(out.get("text", "") for out in cell.outputs)
        assert ("exercise" in tags) != ("solution" in tags)
        assert ("still empty" in printed) == ("exercise" in tags), printed
    assert output_of("def solution_scaling").count("Right.") == 2


NUMBERS = {
    **{
        f"10/scaling/{name}": (0.9, 0.85, 0.95) for name in ("as the training images", "not scaled")
    },
    **{f"10/accuracy/{name}": (0.7, 0.8) for name in ("baseline", "hidden layer", "dropout")},
    **{f"10/change/{name}": (0.1, 0.05, 0.15) for name in ("hidden layer", "dropout")},
}
STEP = Measurement.from_samples([0.001] * 5, first_call=0.3, name="a later step")


def referred(numbers, measurements):
    """Run the cells that read a reference run, with a card of these values; what they say."""
    card = SimpleNamespace(label="a named machine", numbers=numbers, measurements=measurements)
    results = SimpleNamespace(reference_runs=lambda: [card])
    printed = []
    scope = {
        "ah": SimpleNamespace(results=results, timing=ah.timing, plots=ah.plots),
        "print": lambda *words: printed.append(" ".join(map(str, words))),
        "display": lambda picture: printed.append(str(picture)),
        "scores": scores,
        "changes": ["hidden layer", "dropout"],
    }
    for cell in cells("code", ""):
        if "reference-run" in cell.metadata.get("tags", ()):
            exec(cell.source, scope)
    return printed


def test_without_a_reference_run_the_lesson_says_so():
    assert referred({}, {}) == ["No reference run of this section yet."] * 3


def test_with_a_reference_run_the_lesson_draws_it():
    both = {"10/compile/call": STEP, "10/compile/step": STEP}
    printed = "\n".join(referred(NUMBERS, both))
    assert printed.count("Reference run: a named machine.") == 3
    assert "hidden layer: +5.0 to +15.0 points, better" in printed
    assert "not scaled 90.0 %" in printed and "a later step: 1 ms" in printed
    assert printed.count("the first step: 300 ms") == 1


def test_what_is_recorded_is_what_the_reference_cells_read():
    written = the_cell("card = {").source
    names = ("10/scaling/", "10/accuracy/", "10/change/")
    assert all(f'f"{name}{{name}}"' in written for name in names)
    assert '"10/compile/call": in_compile, "10/compile/step": step' in written


def test_the_four_questions_have_two_answers_and_the_first_says_that_it_is_the_standard_one():
    text = "\n".join(cell.source for cell in cells("markdown", "<summary>The usual answer"))
    fold = "<summary>The usual answer (the material's text was not found)</summary>"
    assert text.count(fold) == 4 and "<summary>What the exam's" not in text
    assert text.count(LABEL) == 4 and "Seen in the material" not in text
    answers = text.split("<summary>What is true today</summary>")[1:]
    assert len(answers) == 4 and all("](https://" in a.split("</details>")[0] for a in answers)


def test_the_script_that_is_killed_is_a_program_and_stays_as_it_is_shown():
    (script,) = re.findall(
        r"write_text\(\"{3}(.*?)\"{3}\)", the_cell("train_digits.py").source, re.S
    )
    compile(script, "train_digits.py", "exec")
    assert "resumable.fit(model, x, y" in script and "keras.layers.Dropout" in script
    moment = the_cell("kill_at = {").source
    assert 'rmtree(folder / "killed"' in moment  # else a second try finds nothing to kill
    assert '"epoch {epoch}, step {step}."' in moment and 'step {batch + 1}."' in script


def test_no_accelerator_is_asked_for_in_colab():
    metadata = json.loads(LESSON.read_text("utf-8"))["metadata"]
    assert "accelerator" not in metadata and "gpuType" not in metadata["colab"]
