"""What people and programs rely on when they type `python -m accel_helpers …`."""

import subprocess
import sys
from pathlib import Path

import pytest

import accel_helpers
from accel_helpers import cli

ROOT = Path(accel_helpers.__file__).parent.parent


def test_describe_is_quick_because_it_loads_the_standard_library_only():
    code = (
        "import sys; old = {*sys.modules}; from accel_helpers.cli import main; main(['describe'])"
        "\nprint(*{name.partition('.')[0] for name in {*sys.modules} - old})"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    *told, loaded = done.stdout.splitlines()
    assert told[0].startswith("Place:")
    assert {*loaded.split()} <= {*sys.stdlib_module_names, "accel_helpers"}


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


@pytest.mark.parametrize("words", [[], ["fly"], ["board"]])
def test_wrong_usage_leaves_with_2_and_says_how(capsys, words):
    status, out, err = main(capsys, *words)
    assert (status, out) == (2, "")
    assert "usage: python -m accel_helpers" in err
