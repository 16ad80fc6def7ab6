"""The stored answers of the TPU compiler: readable, whole, and what a fresh compile says."""

import hashlib
import json
import os
import subprocess
import sys
from math import ceil
from pathlib import Path

import pytest
import tpu_programs

import accel_helpers as ah

STORED = {file.stem: json.loads(file.read_text()) for file in tpu_programs.DATA.glob("*.json")}
# Digests of what pages show. After a fresh compile
# `python -m tests.tools.test_stored_programs` stores those of today.
KEPT = Path(__file__).with_name("stored_programs.json")


def digests():
    texts = {name: json.dumps(rows) for name, rows in STORED.items()}
    return {name: hashlib.sha256(text.encode()).hexdigest()[:12] for name, text in texts.items()}


def test_no_stored_figure_is_another_one_and_each_is_read_back_under_its_name():
    assert digests() == json.loads(KEPT.read_text("utf-8"))
    for name in STORED.keys() - {"products"}:
        answer = ah.course.stored_step(*name.rsplit("-", 1))
        assert f"{answer.name}-{answer.chip}" == name
        assert answer.flops == STORED[name]["flops"]
    for chip, *shape in tpu_programs.PRODUCTS:
        assert ah.course.stored_product(*shape, chip).instructions


def test_the_v5e_takes_an_instruction_for_16_rows_of_each_tile():
    for n in tpu_programs.SQUARES:
        counted = ah.course.stored_product(n, n, n).instructions
        assert counted == ceil(n / 16) * ah.course.MatrixUnit(128, 128).tiles(n, n)


def test_every_chip_sends_all_the_gradients_however_small_its_share_of_the_batch():
    for chips in (4, 8):
        (reduced,) = ah.course.stored_step(f"quickstart-{chips}-chips").collectives
        assert reduced.kind == "all-reduce"
        assert reduced.bytes == 4 * (101_770 + 2)  # and with them the loss and the accuracy


def test_what_the_compiler_says_otherwise_is_found():
    stored = STORED["width-128-v5e"]
    moves = {"peak_memory": 9_500_000}  # one of the compiler's own figures, by a little
    assert tpu_programs.differences(stored, stored | moves) == []
    for field, value in {"verdict": "too large", "peak_memory": None, "largest": []}.items():
        assert tpu_programs.differences(stored, stored | {field: value}) == [field]
    fewer = stored | {"cycles": [["hidden", 1]]}
    assert "cycles of hidden" in tpu_programs.differences(stored, fewer)
    rows = STORED["products"]
    assert tpu_programs.differences(rows, rows[1:])


@pytest.mark.night
@pytest.mark.timeout(1500)
def test_the_stored_answers_are_what_a_fresh_compile_says(tpu_environment):
    """One of each kind, on either chip; `tools/tpu_programs.py --check` alone asks for all."""
    names = ["quickstart-v6e", "shakespeare-v5e", "width-128-v5e", "resnet50-large-v5e", "products"]
    names += ["quickstart-4-chips-v5e", "quickstart-8-chips-v5e"]
    environ = os.environ | {"ACCEL_TPU_COMPILER": str(Path(tpu_environment.folder).parent)}
    words = [sys.executable, tpu_programs.__file__, "--check", *names]
    done = subprocess.run(words, env=environ, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]


if __name__ == "__main__":
    KEPT.write_text(json.dumps(digests(), indent=0) + "\n", "utf-8")
