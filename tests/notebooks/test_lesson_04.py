"""Lesson 04: what it shows and claims is what its exercises and the stored steps say."""

import re
from types import SimpleNamespace

import pytest
import status
from cells import PATHS, RECORDED, cells, printed, said, the_cell

import accel_helpers as ah


def test_the_tolerance_in_the_sentence_is_the_one_that_is_used():
    text = said(the_cell("04", "say[agreement]").source, agreement="the same")
    (share,) = re.findall(r"1 part in ([\d,]+) apart", text)
    used = re.search(r"tolerance=([\de.-]+)", the_cell("04", "ah.replicas.train_each").source)
    assert float(used[1]) == 1 / int(share.replace(",", ""))


@pytest.mark.parametrize(
    ("last", "outcome"),
    [(4.0, "above 3"), (2.9, "between 2 and 3"), (1.2, "between 1 and 2"), (0.5, "below 1")],
)
def test_the_outcome_beside_the_guess_is_that_of_the_loss(last, outcome):
    scope = {"learning": [4.0, last]}
    exec(the_cell("04", 'ask("04/shakespeare"').source.splitlines()[0], scope)
    (line,) = re.findall(r"^outcome = .*$", the_cell("04", "text.load_text(source)").source, re.M)
    exec(line, scope)
    assert scope["outcome"] == outcome


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
    exec(the_cell("04", "ah.results.record(").source, scope)
    assert kept["more"][f"04/one code path/{place}/loss"] == [1.5, 0.5]
    machine = {"accelerator": {"kind": "GPU", "name": "Tesla T4", "count": 2}}
    card = ah.results.Card("2027-01-01", "make run", machine, kept["card"], kept["more"])
    gpu = {1: "NVIDIA T4", 2: "several GPUs"}[replicas]
    assert status.measured_on(card, "04") == {gpu if place == "gpu" else "CPU"}


def test_the_broken_all_reduce_does_not_pass_its_check():
    scope = {"np": pytest.importorskip("numpy")}
    exec(the_cell("04", "def broken_all_reduce").source, scope)
    result = ah.checks.check("04/all_reduce", scope["broken_all_reduce"])
    assert not result.ok and "plain mean" in result.message


def test_the_table_of_steps_is_the_one_that_the_exercise_teaches():
    rows = printed(*cells("04", "128 for each replica")).splitlines()[2:]
    for replicas, each, kept, together, steps in (map(int, row.split()) for row in rows):
        assert each * replicas == 128 and together == 128 * replicas
        assert (kept - 1) * 128 < 60_000 <= kept * 128
        assert (steps - 1) * together < 60_000 <= steps * together


def test_what_is_said_of_the_compiled_step_is_what_is_stored():
    small, middle, large = (
        ah.tpu_compiler.stored(name) for name in ("strategy", "resnet50", "resnet50-large")
    )
    assert small.peak_memory / small.memory < 1 / 1000  # the answer that is revealed
    assert the_cell("04", 'reveal("04/memory", shares[2])')
    text = PATHS["04"].read_text("utf-8")
    chip = ah.hardware.match("v5e")
    ridge = 1e3 * chip.peak_bf16_tflops_dense / chip.mem_bw_gb_s
    assert "about 240" in text and 235 < ridge < 246
    assert f"With {small.intensity:.0f}, the memory" in text
    assert large.verdict == "too large" and large.largest_batch == 512
    given, peak = (f"{size:.3g}" for size in (middle.logical_bytes / 1e6, middle.peak_memory / 1e9))
    assert f"takes {given} MB of {peak} GB" in text
    assert "batch of 64 pictures" in text and small.batch_size == 64
    assert "batch_size=64" in the_cell("04", "loss = keras.losses").source
