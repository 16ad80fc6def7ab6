"""The stored answers of the TPU compiler: readable, whole, and what a fresh compile says."""

import hashlib
import json
import os
import subprocess
import sys
from dataclasses import asdict
from math import ceil
from pathlib import Path

import pytest
import tpu_programs

import accel_helpers as ah

FILES = sorted(tpu_programs.DATA.glob("*-v?e.json"))
# Digests of the figures that pages show, whatever file they lie in. After a fresh compile
# `python -m tests.tools.test_stored_programs` stores those of today.
KEPT = Path(__file__).with_name("stored_programs.json")
FIGURES = ("batch_size", "policy", "verdict", "flops", "peak_memory", "needed", "logical_bytes",
           "padded_bytes", "largest", "largest_batch", "collectives", "cycles")  # fmt: skip


def digests():
    figures = {"products": [asdict(ah.course.stored_product(*shape)) for shape in shapes()]}
    for file in FILES:
        answer = asdict(ah.course.stored_step(*file.stem.rsplit("-", 1)))
        figures[file.stem] = [answer[name] for name in FIGURES]
    texts = {name: json.dumps(figure, default=str) for name, figure in figures.items()}
    return {name: hashlib.sha256(text.encode()).hexdigest()[:12] for name, text in texts.items()}


def shapes():
    return [(m, k, n, chip) for chip, m, k, n in tpu_programs.products()]


def test_no_stored_figure_is_another_one():
    assert digests() == json.loads(KEPT.read_text("utf-8"))
    assert len(digests()) == 27


@pytest.fixture
def stored():
    return {file.name: file.read_text() for file in tpu_programs.DATA.glob("*.json")}


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_a_stored_answer_is_read_back_under_its_own_name(file):
    name, chip = file.stem.rsplit("-", 1)
    answer = ah.course.stored_step(name, chip)
    assert (answer.name, answer.chip) == (name, chip)
    assert answer.flops
    stored, read = json.loads(file.read_text()), json.loads(json.dumps(asdict(answer)))
    assert stored == {key: read[key] for key in stored}


def test_an_unknown_name_is_refused():
    with pytest.raises(ValueError, match="nonsense-v5e"):
        ah.course.stored_step("nonsense")
    with pytest.raises(ValueError, match="3, 3, 3"):
        ah.course.stored_product(3, 3, 3)


@pytest.mark.parametrize("n", [64, 100, 127, 128, 129, 192, 256, 257])
def test_the_v5e_takes_an_instruction_for_16_rows_of_each_tile(n):
    counted = ah.course.stored_product(n, n, n).instructions
    assert counted == ceil(n / 16) * ah.course.MatrixUnit(128, 128).tiles(n, n)


@pytest.mark.parametrize("chips", [4, 8])
def test_every_chip_sends_all_the_gradients_however_small_its_share_of_the_batch(chips):
    (reduced,) = ah.course.stored_step(f"quickstart-{chips}-chips").collectives
    assert reduced.kind == "all-reduce"
    assert reduced.bytes == 4 * (101_770 + 2)  # and with them the loss and the accuracy


@pytest.mark.parametrize(
    ("values", "found"),
    [
        ({}, ""),
        ({"peak_memory": 9_500_000}, ""),  # a small move of one of the compiler's own figures
        ({"verdict": "too large"}, "verdict is fits, now too large"),
        ({"peak_memory": None}, "peak_memory is"),
        ({"cycles": [["hidden", 1]]}, "cycles of "),
        ({"largest": []}, "largest arrays is ['f32"),
        ({"collectives": [{"kind": "all-gather"}]}, "collectives is None, now"),
    ],
)
def test_what_the_compiler_says_otherwise_is_found(stored, values, found):
    name = "width-128-v5e.json"
    fresh = stored | {name: json.dumps(json.loads(stored[name]) | values)}
    sentences = tpu_programs.differences(stored, fresh)
    assert bool(sentences) == bool(found)
    assert all(one.startswith(name) and found in one for one in sentences)


def test_missing_and_left_over_files_and_rows_are_found(stored):
    name, products = "width-128-v5e.json", tpu_programs.PRODUCTS
    fewer = {key: text for key, text in stored.items() if key != name}
    assert tpu_programs.differences(fewer, stored) == [f"{name} is not stored"]
    assert tpu_programs.differences(stored, fewer) == [f"{name} is stored, and nobody makes it"]
    rows = json.loads(stored[products])
    more = [*rows, rows[0]], [{**rows[0], "instructions": 1}, *rows[1:]]
    for changed in more:
        fresh = stored | {products: json.dumps(changed)}
        assert len(tpu_programs.differences(stored, fresh)) == 1


@pytest.mark.night
@pytest.mark.timeout(1500)
def test_the_stored_answers_are_what_a_fresh_compile_says(tpu_environment):
    """One of each kind, on either chip; `tools/tpu_programs.py --check` alone asks for all."""
    names = ["quickstart-v6e", "shakespeare-v5e", "width-128-v5e", "resnet50-large-v5e", "products"]
    names += ["quickstart-4-chips-v5e", "quickstart-8-chips-v5e"]
    environ = os.environ | {"ACCEL_TPU_COMPILER": str(Path(tpu_environment.folder).parent)}
    done = subprocess.run(
        [sys.executable, tpu_programs.__file__, "--check", *(f"{name}.json" for name in names)],
        env=environ, capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]


if __name__ == "__main__":
    KEPT.write_text(json.dumps(digests(), indent=0) + "\n", "utf-8")
