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
from accel_helpers.course.stored_steps import DATA

# Of all that pages show: after a fresh compile this is another one.
DIGEST = "b739096d4208"


def test_no_stored_figure_is_another_one():
    whole = b"".join(file.read_bytes() for file in sorted(DATA.glob("*.json")))
    assert hashlib.sha256(whole).hexdigest()[:12] == DIGEST


def test_the_v5e_takes_an_instruction_for_16_rows_of_each_tile():
    for n in tpu_programs.SQUARES:
        counted = ah.course.stored_product(n, n, n).instructions
        assert counted == ceil(n / 16) * ah.course.MatrixUnit(128, 128).tiles(n, n)


@pytest.mark.night
@pytest.mark.timeout(1500)
def test_the_stored_answers_are_what_a_fresh_compile_says(tpu_environment, tmp_path):
    """One of each kind; what the compiler makes of a step moves a little with Keras and JAX."""
    names = ["quickstart-v6e", "shakespeare-v5e", "resnet50-large-v5e"]
    names += ["quickstart-8-chips-v5e", "products"]
    environ = os.environ | {"ACCEL_TPU_COMPILER": str(Path(tpu_environment.folder).parent)}
    command = [sys.executable, tpu_programs.__file__, str(tmp_path), *names]
    subprocess.run(command, env=environ, check=True)
    for name in names:
        old, new = (json.loads((place / f"{name}.json").read_text()) for place in (DATA, tmp_path))
        if name == "products":
            assert new == old
        else:
            for field in ("verdict", "flops", "largest_batch", "collectives"):
                assert new.get(field) == old.get(field), (name, field)
            for field in ("peak_memory", "needed", "padded_bytes"):
                assert new.get(field, 0) == pytest.approx(old.get(field, 0), rel=0.1), (name, field)
