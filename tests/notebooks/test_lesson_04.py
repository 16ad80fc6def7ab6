"""Lesson 04: its sentences fit what was measured, and its exercises grade what is typed."""

import ast
import json
import re
from pathlib import Path
from types import SimpleNamespace

import nbformat
import pytest
import status

import accel_helpers as ah
from accel_helpers.machine.strategy import KINDS

HERE = Path(__file__).parent
LESSON = HERE.parents[1] / "notebooks" / "04_switch_to_a_tpu_strategy.ipynb"
RECORDED = {p.stem: ah.results.load(p).measurements for p in (HERE / "recorded").glob("*.json")}


def code_cells(words):
    notebook = nbformat.read(LESSON, as_version=4)
    return [c for c in notebook.cells if c.cell_type == "code" and words in c.source]


def the_cell(words):
    (found,) = code_cells(words)
    return found


def tagged(tag):
    return [cell for cell in code_cells("") if tag in cell.metadata.get("tags", ())]


def said(word, **names):
    """Run a verdict cell with what was measured handed in; give its sentence."""
    tree = ast.parse(the_cell(f"Markdown(say[{word}").source)
    last = ast.Expression(tree.body.pop().value)
    scope = {"ah": ah, **names}
    exec(compile(tree, "cell", "exec"), scope)
    scope["Markdown"] = lambda text: text  # also where the cell has imported the real one
    return eval(compile(last, "cell", "eval"), scope)


def pace(name):
    slow, fast = {
        "faster": ("tensorflow_a", "jax"),
        "equal": ("tensorflow_a", "tensorflow_b"),
        "slower": ("jax", "tensorflow_a"),
    }[name]
    return ah.timing.compare(RECORDED[slow]["epoch"], RECORDED[fast]["epoch"])


@pytest.mark.parametrize("kind", KINDS)
def test_every_place_to_train_has_a_sentence_of_its_own(kind):
    text = said("picked.kind", picked=SimpleNamespace(kind=kind))
    assert ("TPU" in text) == kind.startswith("tpu")
    assert ("GPU" in text) == ("gpu" in kind)
    if kind in ("cpu", "virtual replicas"):
        assert "CPU" in text and "is attached" not in text


@pytest.mark.parametrize(
    ("losses", "words"),
    [
        ({"1": [2.0, 1.0], "2": [2.0, 1.000001]}, "The loss is the same"),
        ({"1": [2.0, 1.0], "2": [2.0, 1.01]}, "The losses differ"),
        ({"1": [2.0, 1.0]}, "Nothing to compare"),
    ],
)
def test_the_losses_are_told_as_they_are(losses, words):
    agreement = ah.verdicts.same_loss(losses)
    assert said("agreement", agreement=agreement).startswith(f"**{words}")


def test_the_tolerance_in_the_sentence_is_the_one_that_is_used():
    (share,) = re.findall(r"1 part in ([\d,]+) apart", said("agreement", agreement="the same"))
    assert f"tolerance={1 / int(share.replace(',', '')):.0e}".replace("e-0", "e-") in (
        the_cell("ah.replicas.train_each").source
    )


@pytest.mark.parametrize(
    ("name", "words", "not_words"),
    [
        ("faster", "took less time", "took more time"),
        ("equal", "No measurable difference", "took"),
        ("slower", "took more time", "took less time"),
    ],
)
def test_the_epochs_are_told_as_they_went(name, words, not_words):
    text = said("pace_verdict", pace=pace(name))
    assert words in text and not_words not in text


def test_without_two_trainings_nothing_is_claimed():
    text = said("pace_verdict", pace=None)
    assert "Nothing to compare" in text and "time" not in text.replace("trainings", "")


@pytest.mark.parametrize(
    ("last", "outcome", "words"),
    [
        (4.0, "above 3", "hardly learned"),
        (3.1, "above 3", "hardly learned"),
        (2.9, "between 2 and 3", "has learned"),
        (1.2, "between 1 and 2", "has learned"),
        (0.5, "below 1", "has learned"),
    ],
)
def test_what_the_model_learned_is_told_as_its_loss_says(last, outcome, words):
    learning, nothing = [4.0, last], ("knowing nothing", 4.11)
    assert words in said("progress", learning=learning, nothing=nothing)
    # and the outcome beside the learner's guess says the same
    lines = the_cell("ah.text.load_text(source)").source.splitlines()
    start = next(i for i, line in enumerate(lines) if line.startswith("outcome ="))
    scope = {"learning": learning}
    exec(the_cell('ask("04/shakespeare"').source.splitlines()[0], scope)
    exec(lines[start], scope)
    assert scope["outcome"].startswith(outcome) and scope["outcome"] in scope["choices"]


def test_the_reference_sentences_are_computed_from_the_stored_run():
    card = ah.results.reference_runs()[-1]
    curves = {n: card.numbers[f"04/loss/{n}"] for n in ("1 replica", "2 replicas", "4 replicas")}
    rate = card.numbers["04/shakespeare/size"][0] / card.measurements["04/shakespeare/epoch"].median
    stored = "".join(
        out.get("text", "") for cell in tagged("reference-run") for out in cell.outputs
    )
    assert f"Verdict: {ah.verdicts.same_loss(curves)}." in stored
    assert f"{rate:,.0f} characters per second" in stored
    assert card.label in stored


def test_the_record_uses_the_names_that_the_reference_cells_read():
    source = "".join(cell.source for cell in tagged("reference-run"))
    read = re.findall(r'(?:measurements|numbers)\[f?"(04/[^"{]+)', source)
    written = the_cell("ah.results.record(").source
    assert len(read) >= 5 and all(name in written for name in read), read


@pytest.mark.parametrize("replicas", [1, 2])
@pytest.mark.parametrize("place", ["cpu", "gpu"])
def test_the_card_says_where_the_one_code_path_trained_and_with_how_many_replicas(place, replicas):
    kept = {}
    library = SimpleNamespace(
        backend=SimpleNamespace(where=lambda model: place),
        results=SimpleNamespace(record=lambda card, numbers: kept.update(card=card, more=numbers)),
    )
    epoch = RECORDED["jax"]["epoch"]
    scope = {
        "ah": library,
        "runs": [SimpleNamespace(name="1 replica", epoch=epoch)],
        "losses": {"1 replica": (2.0, 1.0)},
        "training": SimpleNamespace(epochs=epoch),
        "learning": [4.0, 3.0],
        "inputs": SimpleNamespace(size=10),
        "model": None,
        "history": SimpleNamespace(history={"loss": [1.5, 0.5]}),
        "picked": SimpleNamespace(replicas=replicas),
    }
    exec(the_cell("ah.results.record(").source, scope)
    assert kept["more"][f"04/one code path/{place}/loss"] == [1.5, 0.5]

    machine = {"accelerator": {"kind": "GPU", "name": "Tesla T4", "count": 2}}
    card = ah.results.Card("2027-01-01", "make run", machine, kept["card"], kept["more"])
    gpu = {1: "NVIDIA T4", 2: "several GPUs"}[replicas]
    assert status.measured_on(card, "04") == {gpu if place == "gpu" else "CPU"}


# --- exercises --------------------------------------------------------------------------------


def test_every_exercise_has_a_stub_that_is_told_to_be_empty_and_a_solution_that_passes():
    stubs, (solution,) = tagged("exercise"), tagged("solution")
    names = set(re.findall(r'checks\.check\("(04/\w+)"', "".join(c.source for c in stubs)))
    assert names == {"04/batch", "04/all_reduce"}
    for stub in stubs:
        assert "still empty" in stub.outputs[0].text and "Hint:" in stub.outputs[0].text
    right = solution.outputs[0].text
    assert right.count("Right.") == len(names) and "Not yet" not in right


def test_the_broken_all_reduce_does_not_pass_its_check_and_its_own_numbers_show_why():
    cell = the_cell("def broken_all_reduce")
    scope = {"np": pytest.importorskip("numpy")}
    exec(cell.source, scope)
    result = ah.checks.check("04/all_reduce", scope["broken_all_reduce"])
    assert not result.ok and "plain mean" in result.message
    assert "three and one:     [ 4. 20.]" in cell.outputs[0].text
    assert "it should be:      [ 3. 15.]" in cell.outputs[0].text


def test_the_table_of_steps_is_the_one_that_the_exercise_teaches():
    (table,) = [c.outputs[0].text for c in code_cells("128 for each replica")]
    rows = [list(map(int, line.split())) for line in table.splitlines()[2:]]
    assert [row[0] for row in rows] == [1, 2, 4, 8]
    for replicas, each, kept, together, steps in rows:
        assert each * replicas == 128 and kept == rows[0][2]
        assert together == 128 * replicas
        assert (steps - 1) * together < 60_000 <= steps * together


# --- what the lesson claims about hardware ----------------------------------------------------


def test_no_tpu_is_said_to_have_been_used_while_no_card_has_one():
    kinds = {(c.machine.get("accelerator") or {}).get("kind") for c in ah.results.reference_runs()}
    text = LESSON.read_text("utf-8")
    assert "TPU" in kinds or "We have not run this on a TPU ourselves" in text
    assert "Nobody of this course has seen it run on a v5e-1" in str(ah.doctor.tpu_recipe())


def test_a_tpu_is_asked_for_in_colab():
    metadata = json.loads(LESSON.read_text("utf-8"))["metadata"]
    assert metadata["accelerator"] == "TPU"
    assert metadata["colab"]["gpuType"] == "V5E1" and metadata["colab"]["machine_shape"] == "hm"


def test_what_is_said_of_the_compiled_step_is_what_is_stored():
    small, large = (ah.tpu_compiler.stored(name) for name in ("strategy", "resnet50-large"))
    assert small.peak_memory / small.memory < 1 / 1000  # the answer that is revealed
    assert 'reveal("04/memory", shares[2])' in the_cell('reveal("04/memory"').source
    text = LESSON.read_text("utf-8")
    chip = ah.hardware.match("v5e")
    assert "about 240" in text and round(chip.ridge_flop_per_byte_16bit) in range(235, 246)
    assert f"With {small.intensity:.0f}, the memory" in text
    assert large.verdict == "too large" and large.largest_batch == 512
    middle = ah.tpu_compiler.stored("resnet50")
    given, peak = (f"{size:.3g}" for size in (middle.logical_bytes / 1e6, middle.peak_memory / 1e9))
    assert f"takes {given} MB of {peak} GB" in text
    assert "batch of 64 pictures" in text and small.batch_size == 64
    assert "batch_size=64" in the_cell("loss = keras.losses").source
