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
MOST_WORDS = 450
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


@pytest.fixture(scope="module")
def tracebacks(tmp_path_factory):
    """What each dead line of Python ends in, with the frameworks that are here."""
    pytest.importorskip("tensorflow")
    lines = [line for line, _ in RECIPES if line[0] not in "!%"]
    folder = tmp_path_factory.mktemp("dead")
    return json.loads(run([sys.executable, "-c", TRIED, json.dumps(lines)], folder))


def diagnosed(line, traceback=""):
    """What the doctor says in Colab of a notebook with one line, and the error it ended in."""
    error = {"output_type": "error", "traceback": traceback.splitlines()}
    outputs = [error] if traceback else []
    page = {"cells": [{"cell_type": "code", "source": line, "outputs": outputs}]}
    return ah.diagnose(json.dumps(page), environ={"COLAB_RELEASE_TAG": "release-colab"})


def test_the_front_matter_names_the_skill_and_says_when_to_use_it():
    front = yaml.safe_load(FRONT)
    assert set(front) == {"name", "description"}
    assert re.fullmatch(r"[a-z0-9-]{1,64}", front["name"])
    assert 0 < len(front["description"]) <= 1024


def test_the_page_is_short():
    assert len(PAGE.split()) <= MOST_WORDS


def test_every_block_is_run_here():
    assert len(SHELL) + len(PYTHON) == len(BLOCKS) == PAGE.count("```") / 2
    assert SHELL
    assert PYTHON


@pytest.mark.parametrize("block", [block for block in SHELL if "install" not in block])
def test_a_shell_block_runs_in_an_empty_folder(block, tmp_path):
    assert run_shell(block, tmp_path)


def test_the_doctors_answer_has_the_names_that_the_page_explains(tmp_path):
    (block,) = [block for block in SHELL if "--json" in block]
    answer = json.loads(run_shell(block, tmp_path))
    explained = re.findall(r"^- `(\w+)`: ", BODY, re.MULTILINE)
    assert set(explained) == set(answer)
    assert answer["findings"], "the example is a failure that is known"
    seen = ah.diagnose("ValueError: 3 labels for 4 pictures").to_dict()["seen"]
    fields = {*answer["findings"][0], *seen}
    (items,) = re.findall(r"((?:^- `.*\n)+)", BODY, re.MULTILINE)
    assert set(re.findall(r"`(\w+)`", items)) <= {*answer, *fields}


def test_it_installs_itself_and_nothing_else(wheel, tmp_path):
    (block,) = [block for block in SHELL if "install" in block]
    (tmp_path / wheel.name).symlink_to(wheel)
    # Beside the environment, which stays as it is; a package from the index would be an error.
    run_shell(block, tmp_path, PIP_TARGET=str(tmp_path / "installed"), PIP_NO_INDEX="1")
    installed = {path.name.split("-")[0] for path in (tmp_path / "installed").iterdir()}
    assert installed == {"accel_helpers"}
    assert "--no-deps" in block


@pytest.mark.parametrize("block", PYTHON)
def test_a_python_block_runs_alone_in_an_empty_folder(block, tmp_path):
    pytest.importorskip("tensorflow")
    assert run([sys.executable, "-c", block], tmp_path, KERAS_BACKEND="tensorflow")
    assert list(tmp_path.iterdir()) == []


def test_every_row_has_a_line_of_code():
    assert len(ROWS) > 5
    assert [dead for dead, _ in ROWS if "`" not in dead] == []


@pytest.mark.parametrize(("line", "instead"), RECIPES)
def test_a_dead_line_fails_and_the_doctor_says_the_same_instead(line, instead, tracebacks):
    if line[0] not in "!%":
        assert line in tracebacks, "it still runs"
    told = diagnosed(line, tracebacks.get(line, ""))
    fixes = [finding.fix for finding in (*told.lines, *told.findings)]
    assert fixes, "the doctor does not know it"
    assert instead.startswith("Delete") == fixes[0].startswith("Delete")
    for code in re.findall(r"`(.+?)`", instead):
        assert any(code in fix for fix in fixes), code
