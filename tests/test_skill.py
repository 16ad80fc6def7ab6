"""The page for coding assistants: its commands run, and the doctor knows what it calls dead."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import accel_helpers as ah

PAGE = Path(__file__).parents[1].joinpath("SKILL.md").read_text("utf-8")
BASH = re.findall(r"^```bash\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)
PYTHON = re.findall(r"^```python\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)
INSTALL, DESCRIBE, DIAGNOSE = BASH
# What is dead and what to write instead, below the table's head and its rule.
ROWS = re.findall(r"^\| (.+) \| (.+) \|$", PAGE, re.MULTILINE)[1:]
# Where the dead lines of Python are run. Those of Colab's own are not: "!pip", "%magic".
TRIED = """
import json, os, sys, traceback
import jax, keras, tensorflow as tf
from keras import backend as K
ended = {}
for line in json.loads(sys.argv[1]):
    try: exec(line, dict(globals()))
    except Exception: ended[line] = traceback.format_exc()
print(json.dumps(ended))
"""


def run(folder, *command, **variables):
    """Run a command in a folder, with this Python first on the path."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    environ = {**os.environ, "PATH": path, **variables}
    ran = subprocess.run(command, env=environ, cwd=folder, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr[-3000:]
    return ran.stdout


def test_a_machine_is_described(tmp_path):
    assert run(tmp_path, "bash", "-ec", DESCRIBE)


def test_the_doctors_answer_has_the_names_that_the_page_explains(tmp_path):
    answer = json.loads(run(tmp_path, "bash", "-ec", DIAGNOSE))
    explained = re.findall(r"^- `(\w+)`: ", PAGE, re.MULTILINE)
    assert set(explained) == set(answer)
    assert answer["findings"], "the example is a failure that is known"


def test_it_installs_itself_and_nothing_else(wheel, tmp_path):
    (tmp_path / wheel.name).symlink_to(wheel)
    target = tmp_path / "installed"
    # Beside the environment, which stays as it is; a package from the index would be an error.
    run(tmp_path, "bash", "-ec", INSTALL, PIP_TARGET=str(target), PIP_NO_INDEX="1")
    assert {path.name.split("-")[0] for path in target.iterdir()} == {"accel_helpers"}


@pytest.mark.slow  # a process of its own for each
@pytest.mark.parametrize("block", PYTHON)
def test_a_python_block_runs_alone_in_an_empty_folder(block, tmp_path):
    assert run(tmp_path, sys.executable, "-c", block, KERAS_BACKEND="tensorflow")
    assert list(tmp_path.iterdir()) == []


def diagnosed(line, traceback):
    """What the doctor says in Colab of a notebook with one line, and the error it ended in."""
    error = {"output_type": "error", "traceback": traceback.splitlines()}
    page = {"cells": [{"cell_type": "code", "source": line, "outputs": [error]}]}
    return ah.diagnose(json.dumps(page), environ={"COLAB_RELEASE_TAG": "release-colab"})


@pytest.mark.slow  # it imports every framework
def test_a_dead_line_fails_and_the_doctor_says_the_same_instead(tmp_path):
    instead_of = {}
    for dead, instead in ROWS:
        for line in re.findall(r"`(.+?)`", dead):
            instead_of[line] = instead
    lines = [line for line in instead_of if line[0] not in "!%"]
    ended = json.loads(run(tmp_path, sys.executable, "-c", TRIED, json.dumps(lines)))
    assert list(ended) == lines, "a line still runs"
    for line, instead in instead_of.items():
        told = diagnosed(line, ended.get(line, ""))
        fixes = [finding.fix for finding in (*told.lines, *told.findings)]
        assert instead.startswith("Delete") == fixes[0].startswith("Delete"), line
        for code in re.findall(r"`(.+?)`", instead):
            assert code in " ".join(fixes), line
