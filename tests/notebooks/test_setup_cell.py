"""The setup cell as it stands in the lessons, in each way it can go, offline, in a real kernel."""

import importlib.metadata
import os
import shutil
import socket
import subprocess
import sysconfig
import venv
import zipfile
from pathlib import Path

import kernel
import lesson
import pytest
from jupyter_client.manager import KernelManager
from lesson import UNSTAMPED, Stamp, setup_source
from nbformat.v4 import new_code_cell, new_notebook

import accel_helpers as ah

STAMP = Stamp("some-school/course", "v0.1.0")
URL = f"https://github.com/{STAMP.repository}"
OURS = "accel-helpers"
LIMIT = 200  # seconds; a busy machine may take its time
pytestmark = pytest.mark.timeout(2 * LIMIT)


@pytest.fixture(scope="module")
def seen(tmp_path_factory):
    """Link to the packages of this environment, all but the course's own."""
    folder = tmp_path_factory.mktemp("seen")
    for place in {sysconfig.get_path("purelib"), sysconfig.get_path("platlib")}:
        for path in Path(place).iterdir():
            if "accel_helpers" not in path.name and path.suffix != ".pth":
                (folder / path.name).symlink_to(path)
    return folder


class Machine:
    """A learner's machine: a Python without the library, a working folder, an environment."""

    def __init__(self, folder, seen):
        venv.create(folder / "python", symlinks=True)
        self.bin = folder / "python" / "bin"
        (self.site,) = (folder / "python" / "lib").glob("python3*/site-packages")
        (self.site / "seen.pth").write_text(f"{seen}\n")
        self.seen, self.home, self.folder = seen, folder / "home", folder / "lesson"
        self.home.mkdir()
        self.folder.mkdir()
        dropped = ("PIP_", "PYTEST_", "GIT_", "JPY_", "HTTP_", "HTTPS_", "ALL_", "NO_",
                   "PYTHONPATH", "VIRTUAL_")  # fmt: skip
        self.environment = {
            **{k: v for k, v in os.environ.items() if not k.upper().startswith(dropped)},
            "HOME": str(self.home),
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
            "GIT_CONFIG_VALUE_0": URL,
        }

    def packages(self):
        """List what is installed here, and the version of each."""
        found = importlib.metadata.distributions(path=[str(self.site), str(self.seen)])
        return {(d.metadata["Name"], d.version) for d in found}

    def run(self, *sources):
        """Run cells in a fresh kernel, the failing ones too; give the outputs of each."""
        nb = new_notebook(cells=[new_code_cell(source) for source in sources])
        python = self.bin / "python"
        kernel.execute(nb, self.folder, self.environment, LIMIT, python=python, allow_errors=True)
        return [[dict(output) for output in cell.outputs] for cell in nb.cells]


@pytest.fixture
def machine(tmp_path, seen):
    """Make a machine, and make sure that it has the very packages afterwards that it had."""
    machine = Machine(tmp_path, seen)
    before = machine.packages()
    assert len(before) > 20
    assert OURS not in {name for name, _ in before}
    yield machine
    assert {p for p in machine.packages() if p[0] != OURS} == before


def printed(text):
    return [{"output_type": "stream", "name": "stdout", "text": text}]


def set_up(outputs):
    """Whether a setup cell has passed, with nothing in red."""
    return all(
        output["output_type"] == "stream" and output["name"] == "stdout" for output in outputs
    )


def said_of_failure(outputs):
    """Give what pip said before the import failed, which ends the cell."""
    *streams, error = outputs
    assert (error["output_type"], error["ename"]) == ("error", "ModuleNotFoundError")
    return "".join(stream["text"] for stream in streams)


def wheel(folder, version):
    """Write a wheel of a library that says its version and asks for what does not exist."""
    name = f"accel_helpers-{version}"
    files = {
        "accel_helpers/__init__.py": f'__version__ = "{version}"\nfrom . import course\n',
        "accel_helpers/course.py": "lesson = hide_log = lambda *number: None\n",
        f"{name}.dist-info/METADATA": f"Metadata-Version: 2.1\nName: {OURS}\n"
        f"Version: {version}\nRequires-Dist: numpy==0.0.1\n",
        f"{name}.dist-info/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\n",
        f"{name}.dist-info/RECORD": "",
    }
    path = folder / f"{name}-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as archive:
        for inside, text in files.items():
            archive.writestr(inside, text)
    return path


@pytest.fixture(scope="module")
def repository(tmp_path_factory):
    """Commit this working tree's library, tagged; it asks for a package that does not exist."""
    folder = tmp_path_factory.mktemp("repository")
    shutil.copytree(lesson.ROOT / "accel_helpers", folder / "accel_helpers")
    for name in ("setup.py", "LICENSE", "README.md"):
        shutil.copy(lesson.ROOT / name, folder)
    text = (lesson.ROOT / "pyproject.toml").read_text(encoding="utf-8")
    asking = text.replace("dependencies = []", 'dependencies = ["numpy==0.0.1"]', 1)
    assert asking != text
    (folder / "pyproject.toml").write_text(asking, encoding="utf-8")
    for command in (
        "init -q",
        "add .",
        "-c user.name=a -c user.email=a@example.org -c commit.gpgsign=false commit -q -m all",
        f"tag {STAMP.ref}",
    ):
        subprocess.run(["git", "-C", folder, *command.split()], check=True)
    return folder


def test_a_library_that_is_there_is_used(machine):
    machine.environment["PYTHONPATH"] = str(lesson.ROOT)
    wheel(machine.folder, "9.9.9")
    out = machine.run(setup_source(UNSTAMPED, "03"), "print(ah.__file__, lesson.number)")
    assert out[0] == []
    assert out[1] == printed(f"{lesson.ROOT / 'accel_helpers' / '__init__.py'} 03\n")
    assert not list(machine.site.glob("accel_helpers*")), "nothing was installed"


def test_a_wheel_beside_the_lesson_is_installed(machine):
    wheel(machine.folder, "0.10.0")
    setup = setup_source(STAMP, "03")
    first, version, again = machine.run(setup, "print(ah.__version__)", setup)
    assert set_up(first)
    assert version == printed("0.10.0\n")
    assert again == []
    assert (OURS, "0.10.0") in machine.packages()


def test_a_stamped_lesson_fetches_its_release(machine, repository):
    machine.redirect(repository.as_uri())
    where = "print(ah.__version__, 'site-packages' in ah.__file__)"
    out = machine.run(setup_source(STAMP, "03"), where)
    assert set_up(out[0])
    assert out[1] == printed(f"{ah.__version__} True\n")
    assert (OURS, ah.__version__) in machine.packages()


@pytest.mark.parametrize("why", ["no network", "no such release", "no git"])
def test_pip_says_why_something_cannot_be_fetched(machine, repository, why):
    stamp = STAMP
    # A port that nobody listens at; it is held until the end, or another program may get it.
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        if why == "no network":
            machine.redirect(f"http://127.0.0.1:{closed.getsockname()[1]}/course")
            words = "unable to access"
        elif why == "no such release":
            machine.redirect(repository.as_uri())
            stamp = Stamp(STAMP.repository, "v9")
            words = "v9"
        else:
            machine.environment |= {"PATH": str(machine.bin), "SHELL": "/bin/sh"}
            words = "Cannot find command 'git'"
        out = machine.run(setup_source(stamp, "03"))
    assert words in said_of_failure(out[0])


def test_a_broken_wheel_is_named(machine):
    broken = machine.folder / "accel_helpers-0.1.0-py3-none-any.whl"
    broken.write_bytes(b"half a download")
    out = machine.run(setup_source(UNSTAMPED, "03"))
    assert broken.name in said_of_failure(out[0])


def test_an_unstamped_copy_says_what_to_do_and_run_all_stops_there(machine):
    """All cells are sent at once, as Jupyter's Run All does: those behind must not run."""
    setup = setup_source(UNSTAMPED, "03")
    said = said_of_failure(machine.run(setup)[0])
    assert "never published" in said
    assert ".whl file beside this page" in said
    manager = kernel.manager(machine.bin / "python", KernelManager)()
    manager.start_kernel(env=machine.environment, cwd=str(machine.folder))
    client = manager.client()
    try:
        client.start_channels()
        client.wait_for_ready(timeout=LIMIT)
        # the first holds the kernel until the others wait behind it
        cells = ["import time; time.sleep(2)", setup, "print(ah.__version__)"]
        sent = [client.execute(cell) for cell in cells]
        replies = {}
        while not replies.keys() >= set(sent):
            reply = client.get_shell_msg(timeout=LIMIT)
            replies[reply["parent_header"]["msg_id"]] = reply["content"]["status"]
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)
    assert [replies[i] for i in sent] == ["ok", "error", "aborted"]


def test_it_is_short_enough_to_be_read():
    lines = list(filter(None, setup_source(UNSTAMPED, "03").splitlines()))
    assert len(lines) <= 9
