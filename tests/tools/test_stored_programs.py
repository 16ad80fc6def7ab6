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

FILES = sorted(tpu_programs.DATA.glob("*.json"))
# Of all that pages show: after a fresh compile this is another one.
DIGEST = "a9de71c84a74"


def test_no_stored_figure_is_another_one():
    whole = b"".join(file.read_bytes() for file in FILES)
    assert hashlib.sha256(whole).hexdigest()[:12] == DIGEST


def test_an_answer_is_read_back_with_all_its_figures():
    for file in FILES:
        if file.stem != "products":
            stored = json.loads(file.read_text())
            read = json.loads(json.dumps(asdict(ah.course.stored_step(*file.stem.rsplit("-", 1)))))
            assert read | stored == read
            assert f"{read['name']}-{read['chip']}" == file.stem


def test_the_v5e_takes_an_instruction_for_16_rows_of_each_tile():
    for n in tpu_programs.SQUARES:
        counted = ah.course.stored_product(n, n, n).instructions
        assert counted == ceil(n / 16) * ah.course.MatrixUnit(128, 128).tiles(n, n)


def test_every_chip_sends_all_the_gradients_however_small_its_share_of_the_batch():
    for chips in (4, 8):
        (reduced,) = ah.course.stored_step(f"quickstart-{chips}-chips").collectives
        # With them go the loss and the accuracy.
        assert (reduced.kind, reduced.bytes) == ("all-reduce", 4 * (101_770 + 2))


def test_what_the_compiler_says_otherwise_is_found():
    stored = json.loads((tpu_programs.DATA / "width-128-v5e.json").read_text())
    fresh = stored | {"verdict": "too large", "peak_memory": None, "padded_bytes": 5_000_000}
    fresh |= {"largest": [], "cycles": [*stored["cycles"][:2], ["hidden", 1]]}
    found = ["verdict", "largest", "peak_memory", "hidden"]
    assert tpu_programs.differences(stored, fresh) == found


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
