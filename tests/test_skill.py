"""The page for coding assistants: its commands run, and the doctor knows what it calls dead."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

import accel_helpers as ah

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "SKILL.md").read_text("utf-8")
_, FRONT, BODY = PAGE.split("---\n", 2)
BLOCKS = re.findall(r"^```(\w*)\n(.*?)^```$", BODY, re.DOTALL | re.MULTILINE)
SHELL = [block for language, block in BLOCKS if language == "bash"]
PYTHON = [block for language, block in BLOCKS if language == "python"]
# The rows below the table's head and its rule: what is dead, and what to write instead.
ROWS = re.findall(r"^\| (.+) \| (.+) \|$", BODY, re.MULTILINE)[1:]
RECIPES = [(line, instead) for dead, instead in ROWS for line in re.findall(r"`(.+?)`", dead)]
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


def run(command, folder, **variables):
    """Run a command in a folder, with this Python first on the path."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    environ = {**os.environ, "PATH": path, **variables}
    ran = subprocess.run(command, env=environ, cwd=folder, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr[-3000:]
    return ran.stdout


def run_shell(block, folder, **variables):
    return run(["bash", "-e", "-o", "pipefail", "-c", block], folder, **variables)


def test_the_front_matter_names_the_skill_and_says_when_to_use_it():
    front = yaml.safe_load(FRONT)
    assert set(front) == {"name", "description"}
    assert re.fullmatch(r"[a-z0-9-]{1,64}", front["name"])
    assert 0 < len(front["description"]) <= 1024


@pytest.mark.parametrize("block", [block for block in SHELL if "install" not in block])
def test_a_shell_block_runs_in_an_empty_folder(block, tmp_path):
    assert run_shell(block, tmp_path)


def test_the_doctors_answer_has_the_names_that_the_page_explains(tmp_path):
    (block,) = [block for block in SHELL if "--json" in block]
    answer = json.loads(run_shell(block, tmp_path))
    explained = re.findall(r"^- `(\w+)`: ", BODY, re.MULTILINE)
    assert set(explained) == set(answer)
    assert answer["findings"], "the example is a failure that is known"


def test_it_installs_itself_and_nothing_else(wheel, tmp_path):
    (block,) = [block for block in SHELL if "install" in block]
    (tmp_path / wheel.name).symlink_to(wheel)
    # Beside the environment, which stays as it is; a package from the index would be an error.
    run_shell(block, tmp_path, PIP_TARGET=str(tmp_path / "installed"), PIP_NO_INDEX="1")
    installed = {path.name.split("-")[0] for path in (tmp_path / "installed").iterdir()}
    assert installed == {"accel_helpers"}


@pytest.mark.slow  # a process of its own for each
@pytest.mark.parametrize("block", PYTHON)
def test_a_python_block_runs_alone_in_an_empty_folder(block, tmp_path):
    assert run([sys.executable, "-c", block], tmp_path, KERAS_BACKEND="tensorflow")
    assert list(tmp_path.iterdir()) == []


def diagnosed(line, traceback):
    """What the doctor says in Colab of a notebook with one line, and the error it ended in."""
    error = {"output_type": "error", "traceback": traceback.splitlines()}
    page = {"cells": [{"cell_type": "code", "source": line, "outputs": [error]}]}
    return ah.diagnose(json.dumps(page), environ={"COLAB_RELEASE_TAG": "release-colab"})


@pytest.mark.slow  # it imports every framework
def test_a_dead_line_fails_and_the_doctor_says_the_same_instead(tmp_path):
    lines = [line for line, _ in RECIPES if line[0] not in "!%"]
    ended = json.loads(run([sys.executable, "-c", TRIED, json.dumps(lines)], tmp_path))
    assert list(ended) == lines, "a line still runs"
    for line, instead in RECIPES:
        told = diagnosed(line, ended.get(line, ""))
        fix = [finding.fix for finding in (*told.lines, *told.findings)]
        assert instead.startswith("Delete") == fix[0].startswith("Delete"), line
        for code in re.findall(r"`(.+?)`", instead):
            assert code in " ".join(fix), line
