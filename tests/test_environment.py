"""What `.ci/environment` does on machines unlike this one: every program it calls is a fake."""

import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
TOOLS = ("cat", "cksum", "dirname", "rm", "mkdir", "cp", "sed", "sh")

# Runs every program that it is handed, and says that it has every module, unless told otherwise.
PYTHON = """#!/bin/sh
case "$*" in
  *ensurepip*) exit {ensurepip} ;;
  *"(3, 11)"*) exit {in_range} ;;
  *print*) echo {version} ;;
  *"-m venv"*) mkdir -p .venv/bin && cp "$0" .venv/bin/python ;;
esac
echo "python $*" >> calls
"""
UV = """#!/bin/sh
echo "uv $*" >> calls
case "$1" in
  venv) mkdir -p .venv/bin && cp python-in-venv .venv/bin/python ;;
  pip) [ ! -e no-network ] ;;
esac
"""
UNAME = "#!/bin/sh\necho Linux\n"


def python(version="3.11", in_range=0, ensurepip=0):
    return PYTHON.format(version=version, in_range=in_range, ensurepip=ensurepip)


class Machine:
    """A copy of the script in a folder with a blank in its name, and a PATH of fakes."""

    def __init__(self, folder):
        self.course, self.bin = folder / "a course", folder / "bin"
        (self.course / ".ci").mkdir(parents=True)
        self.bin.mkdir()
        for name in (".ci/environment", "pyproject.toml", "requirements.txt"):
            shutil.copy(ROOT / name, self.course / name)
        for tool in TOOLS:
            (self.bin / tool).symlink_to(shutil.which(tool))
        self.has("uname", UNAME)
        self.has(self.course / "python-in-venv", python())

    def has(self, name, text):
        """Put a program on the PATH, or at a place of its own."""
        path = self.bin / name
        path.write_text(text)
        path.chmod(0o755)

    def make(self, *more):
        """Run the script; return its exit code, what it said and what it called."""
        calls = self.course / "calls"
        calls.write_text("")
        environ = {"PATH": str(self.bin), "HOME": str(self.course)}
        words = ["sh", str(self.course / ".ci" / "environment"), *more]
        done = subprocess.run(words, env=environ, capture_output=True, text=True)
        assert done.stdout == ""
        return done.returncode, done.stderr, calls.read_text()


@pytest.fixture
def machine(tmp_path):
    return Machine(tmp_path)


def test_pip_makes_it_where_there_is_no_uv_and_compiles(machine):
    machine.has("python3", python(version="3.9", in_range=1))  # it hides no good one
    machine.has("python3.12", python(version="3.12"))
    code, said, calls = machine.make()
    assert code == 0
    assert said.endswith("The environment is ready.\n")
    assert "-m venv .venv" in calls
    assert "-m pip install --quiet --compile -e .[" in calls


def test_uv_is_used_where_it_is_and_brings_a_python_where_none_fits(machine):
    machine.has("uv", UV)
    machine.has("python3", python(version="3.14", in_range=1))
    code, _, calls = machine.make()
    assert code == 0
    assert "uv venv --quiet --seed --python 3.12 .venv" in calls
    assert "uv pip install" in calls


def changed(machine):
    file = machine.course / "pyproject.toml"
    file.write_text(file.read_text().replace('"psutil",', '"psutil", "more",'))


def moved(machine):
    machine.course = machine.course.rename(machine.course.parent / "moved course")


def cut_short(machine):
    changed(machine)
    (machine.course / "no-network").touch()
    assert machine.make()[0] == 1
    (machine.course / "no-network").unlink()


@pytest.mark.parametrize("happens", [changed, moved, cut_short])
def test_nothing_is_done_the_second_time_until_it_has_to_be_made_again(machine, happens):
    machine.has("uv", UV)
    assert machine.make()[0] == 0
    assert machine.make() == (0, "", "")
    happens(machine)
    code, _, calls = machine.make()
    assert code == 0
    assert "uv venv" in calls


def test_an_environment_made_by_hand_is_kept_and_completed(machine):
    (machine.course / ".venv" / "bin").mkdir(parents=True)
    machine.has(machine.course / ".venv" / "bin" / "python", python())
    code, _, calls = machine.make()
    assert code == 0
    assert "-m venv" not in calls
    assert "-m pip install" in calls


def test_what_the_site_needs_comes_on_top_when_it_is_asked_for_and_once(machine):
    machine.has("uv", UV)
    assert ",site]" not in machine.make()[2]
    assert ",site]" in machine.make("site")[2]
    assert machine.make("site") == (0, "", "")


def test_an_nvidia_driver_brings_the_tensorflow_for_gpus(machine):
    machine.has("uv", UV)
    machine.has("nvidia-smi", "#!/bin/sh\n")
    assert "-e .[cuda,test]" in machine.make()[2]


@pytest.mark.parametrize(
    ("answers", "sentence"),
    [
        ({"version": "3.14", "in_range": 1}, "found only 3.14"),
        ({"ensurepip": 1}, "apt install python3.11-venv"),
    ],
)
def test_a_machine_without_a_fitting_python_gets_one_sentence(machine, answers, sentence):
    machine.has("python3", python(**answers))
    code, said, _ = machine.make()
    assert code == 1
    assert sentence in said
    assert said.count("\n") == 1
    assert not (machine.course / ".venv").exists()
