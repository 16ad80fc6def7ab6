"""The setup cell as it stands in the lessons, in each way it can go, offline, in a real kernel.

Where the library is there already, the lessons themselves show it.
"""

import os
import shutil
import subprocess
import sysconfig
import venv
from pathlib import Path

import kernel
import pytest
from lesson import ROOT, UNSTAMPED, Stamp, setup_source
from nbformat.v4 import new_code_cell, new_notebook

import accel_helpers as ah

STAMP = Stamp("some-school/course", "v0.1.0")
LIMIT = 200  # seconds; a busy machine may take its time
SETUP = setup_source(STAMP, "03")
WHERE = "print(ah.__version__, 'site-packages' in ah.__file__, lesson.number)"
HERE = f"{ah.__version__} True 03\n"
pytestmark = pytest.mark.timeout(2 * LIMIT)


@pytest.fixture
def machine(tmp_path):
    """A learner's machine: this environment's packages without the library, and a folder.

    A call runs cells in a fresh kernel there, the failing ones too, and gives what each says.
    """
    venv.create(tmp_path / "python", symlinks=True)
    (site,) = (tmp_path / "python" / "lib").glob("python3*/site-packages")
    seen = tmp_path / "seen"
    seen.mkdir()
    for path in Path(sysconfig.get_path("purelib")).iterdir():
        if "accel_helpers" not in path.name and path.suffix != ".pth":
            (seen / path.name).symlink_to(path)
    (site / "seen.pth").write_text(str(seen))
    python = tmp_path / "python" / "bin" / "python"
    environ = {
        "HOME": str(tmp_path),
        "PATH": f"{python.parent}{os.pathsep}{os.environ['PATH']}",
        "PIP_CONFIG_FILE": os.devnull,
        "PIP_NO_INDEX": "1",
        "PIP_NO_BUILD_ISOLATION": "0",  # pip reads it upside down: build with what is here
        "GIT_CONFIG_NOSYSTEM": "1",
        # git finds the repository here
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": f"url.{(tmp_path / 'published').as_uri()}.insteadOf",
        "GIT_CONFIG_VALUE_0": f"https://github.com/{STAMP.repository}",
    }

    def run(*sources):
        nb = new_notebook(cells=[new_code_cell(source) for source in sources])
        kernel.execute(nb, tmp_path, environ, LIMIT, python=python, allow_errors=True)
        return [
            "".join(output.get("text", "") + output.get("ename", "") for output in cell.outputs)
            for cell in nb.cells
        ]

    return run


def test_a_wheel_beside_the_lesson_is_installed(machine, wheel, tmp_path):
    shutil.copy(wheel, tmp_path)
    setup, shown, again = machine(SETUP, WHERE, SETUP)
    assert "Error" not in setup
    assert (shown, again) == (HERE, "")


def test_a_stamped_lesson_fetches_its_release_and_says_why_it_cannot(machine, tmp_path):
    stamped, unstamped = machine(SETUP, setup_source(UNSTAMPED, "03"))
    assert "/published" in stamped
    assert ".whl file beside this page" in unstamped
    assert stamped.endswith("ModuleNotFoundError")
    assert unstamped.endswith("ModuleNotFoundError")

    folder = tmp_path / "published"
    shutil.copytree(ROOT / "accel_helpers", folder / "accel_helpers")
    for name in ("pyproject.toml", "setup.py", "LICENSE", "README.md"):
        shutil.copy(ROOT / name, folder)
    git = ["git", "-C", folder, "-c", "user.name=a", "-c", "user.email=a@example.org"]
    for words in ("init -q", "add .", "commit -q --no-gpg-sign -m all", f"tag {STAMP.ref}"):
        subprocess.run([*git, *words.split()], check=True)
    setup, shown = machine(SETUP, WHERE)
    assert "Error" not in setup
    assert shown == HERE
