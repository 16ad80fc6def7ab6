"""What people and programs rely on when they type `python -m accel_helpers …`."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import accel_helpers
from accel_helpers import cli

ROOT = Path(accel_helpers.__file__).parent.parent


def shell(folder, *words):
    """Run Python in a folder, as a shell would."""
    environ = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, *words]
    return subprocess.run(command, cwd=folder, env=environ, capture_output=True, text=True)


def test_describe_prints_the_machine_for_people_and_for_programs(tmp_path):
    told = shell(tmp_path, "-m", "accel_helpers", "describe")
    assert told.returncode == 0 and told.stdout.strip()
    asked = shell(tmp_path, "-m", "accel_helpers", "describe", "--json")
    assert asked.returncode == 0
    assert json.loads(asked.stdout)["place"] in ("colab", "kaggle", "local")


def test_describe_is_quick_because_it_loads_no_framework(tmp_path):
    code = (
        "import sys; from accel_helpers.cli import main; main(['describe']);"
        "print(sorted({'tensorflow', 'keras', 'jax', 'numpy', 'nbclient'} & set(sys.modules)))"
    )
    told = shell(tmp_path, "-c", code)
    assert told.stdout.splitlines()[-1] == "[]"


def main(capsys, *words):
    """Run the command's own function; give its exit status and what it said."""
    try:
        status = cli.main(list(words))
    except SystemExit as left:
        status = left.code
    return status, *capsys.readouterr()


def test_version_is_the_package_s(capsys):
    version = f"accel_helpers {accel_helpers.__version__}\n"
    assert main(capsys, "--version") == (0, version, "")


@pytest.mark.parametrize("words", [[], ["fly"], ["card"]])
def test_wrong_usage_leaves_with_2_and_says_how(capsys, words):
    status, out, err = main(capsys, *words)
    assert (status, out) == (2, "") and "usage: python -m accel_helpers" in err


@pytest.mark.parametrize("content", [None, "", "{", "[]", '{"lessons": 3}', "\udcff"])
def test_a_bad_card_is_a_sentence_and_1(tmp_path, capsys, content):
    path = tmp_path / "card.json"
    if content is not None:
        path.write_bytes(content.encode("utf-8", "surrogateescape"))
    status, out, err = main(capsys, "card", str(path), "--json")
    assert status == 1 and json.loads(out)["error"] and "card.json" in err
