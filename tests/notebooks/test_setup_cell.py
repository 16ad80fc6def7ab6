"""The setup cell as it stands in the lessons, in each way it can go, offline, in a real kernel."""

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


class Machine:
    """A learner's machine: this environment's packages without the library, and a folder."""

    def __init__(self, folder):
        venv.create(folder / "python", symlinks=True)
        (self.site,) = (folder / "python" / "lib").glob("python3*/site-packages")
        seen = folder / "seen"
        seen.mkdir()
        for path in Path(sysconfig.get_path("purelib")).iterdir():
            if "accel_helpers" not in path.name and path.suffix != ".pth":
                (seen / path.name).symlink_to(path)
        (self.site / "seen.pth").write_text(str(seen))
        self.bin, self.folder = folder / "python" / "bin", folder / "lesson"
        self.folder.mkdir()
        self.environment = {
            "HOME": str(folder),
            "PATH": f"{self.bin}{os.pathsep}{os.environ['PATH']}",
            "PIP_CONFIG_FILE": os.devnull,
            "PIP_NO_INDEX": "1",
            "PIP_NO_BUILD_ISOLATION": "0",  # pip reads it upside down: build with what is here
            "GIT_CONFIG_NOSYSTEM": "1",
        }

    def redirect(self, place):
        """Let git find the repository at another place."""
        self.environment |= {
            "GIT_CONFIG_COUNT": "1",
            "GIT_CONFIG_KEY_0": f"url.{place}.insteadOf",
            "GIT_CONFIG_VALUE_0": f"https://github.com/{STAMP.repository}",
        }

    def run(self, *sources):
        """Run cells in a fresh kernel, the failing ones too; give the outputs of each."""
        nb = new_notebook(cells=[new_code_cell(source) for source in sources])
        how = {"python": self.bin / "python", "allow_errors": True}
        kernel.execute(nb, self.folder, self.environment, LIMIT, **how)
        return [cell.outputs for cell in nb.cells]


@pytest.fixture
def machine(tmp_path):
    return Machine(tmp_path)


def text(outputs):
    """Give what was printed, and what an error says."""
    return "".join(output.get("text", "") + output.get("ename", "") for output in outputs)


def test_a_library_that_is_there_is_used(machine):
    machine.environment["PYTHONPATH"] = str(ROOT)
    setup, shown = machine.run(setup_source(UNSTAMPED, "03"), "print(ah.__file__, lesson.number)")
    assert setup == []
    assert text(shown) == f"{ROOT / 'accel_helpers' / '__init__.py'} 03\n"
    assert not list(machine.site.glob("accel_helpers*")), "nothing was installed"


def test_a_wheel_beside_the_lesson_is_installed(machine, wheel):
    shutil.copy(wheel, machine.folder)
    setup, shown, again = machine.run(SETUP, WHERE, SETUP)
    assert "Error" not in text(setup)
    assert text(shown) == HERE
    assert again == []


@pytest.fixture(scope="module")
def repository(tmp_path_factory):
    """Commit this working tree's library, tagged."""
    folder = tmp_path_factory.mktemp("repository")
    shutil.copytree(ROOT / "accel_helpers", folder / "accel_helpers")
    for name in ("pyproject.toml", "setup.py", "LICENSE", "README.md"):
        shutil.copy(ROOT / name, folder)
    who = ["-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false"]
    for words in (["init", "-q"], ["add", "."], [*who, "commit", "-qm", "all"], ["tag", STAMP.ref]):
        subprocess.run(["git", "-C", folder, *words], check=True)
    return folder


def test_a_stamped_lesson_fetches_its_release(machine, repository):
    machine.redirect(repository.as_uri())
    setup, shown = machine.run(SETUP, WHERE)
    assert "Error" not in text(setup)
    assert text(shown) == HERE


def test_where_nothing_can_be_installed_the_cell_says_why(machine, tmp_path):
    machine.redirect((tmp_path / "no-network").as_uri())
    stamped, unstamped = machine.run(SETUP, setup_source(UNSTAMPED, "03"))
    assert "no-network" in text(stamped)
    assert ".whl file beside this page" in text(unstamped)
    for outputs in (stamped, unstamped):
        assert text(outputs).endswith("ModuleNotFoundError")
