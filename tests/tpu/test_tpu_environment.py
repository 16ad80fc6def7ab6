"""The folder of the TPU compiler: real installs, from small packages that the tests make."""

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from small_packages import LIBRARY, asking, contents, make_wheels, never, pretend, quietly, using

from accel_helpers import probe
from accel_helpers.tpu import environment as tpu_environment
from accel_helpers.tpu.environment import PINS, InstallFailed, install, remove, status
from accel_helpers.tpu.folder import MARKER

ROOT = Path(probe.__file__).resolve().parents[1]


@pytest.fixture(scope="module")
def wheels(tmp_path_factory):
    return make_wheels(tmp_path_factory.mktemp("packages") / "wheels")


@pytest.fixture
def kept(tmp_path):
    return tmp_path / "cache" / "compiler"


@pytest.fixture
def environ(wheels, kept):
    """Variables with which pip takes the packages of the tests and asks no network."""
    return using(wheels, kept)


@pytest.fixture
def silent_port():
    """A server that takes the connection and never answers."""
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen(50)
        yield listening.getsockname()[1]


def test_it_is_installed_found_and_removed(environ, kept):
    assert not status(environ).ready and "is not installed. `python -m" in status(environ).why
    said = []
    found = install(environ, say=said.append)
    assert found == status(environ) and found.ready and found.why == ""
    assert found.folder.parent == kept
    assert contents(kept) == [found.folder.name, "tpu-compiler.lock"]
    assert dict(found.versions) == PINS
    files = [path for path in found.folder.rglob("*") if path.is_file()]
    size = sum(path.stat().st_size for path in files if path.name != MARKER)
    assert found.bytes == size > LIBRARY
    assert list(found.folder.rglob("*.pyc")), "compiled once, for all children"
    assert str(found).startswith("The TPU compiler is ready: libtpu 0.0.32.1 with jax 0.8.3, ")
    assert len(said) == 1 and "330 MB to fetch, 1.25 GB on disk" in said[0]
    assert json.dumps(found.to_dict())

    assert install(environ, say=never, run=never) == found, "it is there already"

    gone = remove(environ)
    assert gone.folders == (found.folder,) and gone.bytes >= found.bytes
    assert str(gone).startswith("The TPU compiler is removed: ") and json.dumps(gone.to_dict())
    assert not kept.exists() and kept.parent.exists(), "what the install made is gone"
    assert remove(environ).folders == ()


def test_a_child_sees_its_packages_and_nothing_of_the_learner(environ, tmp_path):
    found = quietly(environ)
    script = tmp_path / "script.py"
    script.write_text(
        "import importlib.util, jax, json, os, sys\n"
        "others = [n for n in ('pip', 'pytest', 'mine') if importlib.util.find_spec(n)]\n"
        "print(json.dumps([sys.argv[1:], jax.__file__, others, dict(os.environ)]))"
    )
    (tmp_path / "mine.py").write_text("")
    learner = {**os.environ, "PYTHONPATH": str(tmp_path), "TPU_NAME": "local", "XLA_FLAGS": "-x"}
    words, child = found.command(script, "a", "b c", scratch=tmp_path, environ=learner)
    shutil.rmtree(found.folder / "jax" / "__pycache__")
    before = sorted(found.folder.rglob("*"))
    done = probe.run_command(words, seconds=60, environ=child, folder=tmp_path)
    argv, file, others, seen = json.loads(done.output)
    assert argv == ["a", "b c"] and others == []
    assert Path(file).parent.parent == found.folder
    assert seen["TMPDIR"] == str(tmp_path) and seen["TPU_SKIP_MDS_QUERY"] == "1"
    assert not {"PYTHONPATH", "TPU_NAME", "XLA_FLAGS"} & set(seen)
    assert sorted(found.folder.rglob("*")) == before, "no bytecode is written"
    shutil.rmtree(found.folder)
    with pytest.raises(RuntimeError, match="is not installed"):
        status(environ).command(script)


def test_wishes_for_other_installs_do_not_send_this_one_elsewhere(environ, kept, tmp_path):
    (tmp_path / "constraints").write_text("jax==0.1\n")
    (tmp_path / "path").mkdir()
    (tmp_path / "path" / "zipfile.py").write_text("raise ImportError('of the learner')")
    wishes = {
        "PIP_USER": "1", "PIP_CONSTRAINT": str(tmp_path / "constraints"),
        "PIP_TARGET": str(tmp_path / "target"), "PYTHONPATH": str(tmp_path / "path"),
        "PYTHONDONTWRITEBYTECODE": "1", "UV_CONSTRAINT": str(tmp_path / "constraints"),
    }  # fmt: skip
    found = quietly({**environ, **wishes})
    assert found.ready and list(found.folder.rglob("*.pyc"))
    assert not (tmp_path / "target").exists()


@pytest.mark.parametrize(
    ("spoil", "why"),
    [
        (lambda folder: os.truncate(folder / "libtpu/libtpu.so", 10), "has 10 bytes instead of"),
        (lambda folder: shutil.rmtree(folder / "libtpu"), "libtpu/libtpu.so is missing"),
        (
            lambda folder: (folder / MARKER).write_text(
                (folder / MARKER).read_text().replace("0.8.3", "0.8.2")
            ),
            "other versions",
        ),
    ],
)
def test_half_a_folder_is_seen_and_made_again(environ, kept, spoil, why):
    spoil(quietly(environ, run=pretend).folder)
    found = status(environ)
    assert not found.ready and why in found.why and "makes it again." in found.why
    assert found.bytes == 0 and found.versions == ()
    assert quietly(environ, run=pretend).ready
    assert contents(kept) == [found.folder.name, "tpu-compiler.lock"]


def test_what_is_not_ours_is_never_deleted(environ, kept):
    folder = quietly(environ, run=pretend).folder
    shutil.copytree(folder, kept.parent / "elsewhere")
    (kept / "tpu-compiler-link").symlink_to(kept.parent / "elsewhere")
    (folder / MARKER).unlink()
    (kept / "tpu-compiler-mine").mkdir()
    (kept / "notes").write_text("of the learner")
    assert "is in the way: it has no valid" in status(environ).why
    with pytest.raises(InstallFailed, match="is in the way.*Delete it or rename it"):
        quietly(environ, run=never)
    assert remove(environ).folders == ()
    assert contents(kept) == ["notes", folder.name, "tpu-compiler-link", "tpu-compiler-mine"]


def test_a_folder_that_was_there_before_stays(environ, kept):
    kept.mkdir(parents=True)
    quietly(environ, run=pretend)
    remove(environ)
    assert contents(kept) == []


def test_other_versions_are_removed_too(environ, kept):
    quietly(environ, run=pretend)
    quietly(environ, run=pretend, machine=("Linux", "x86_64", (3, 13)))
    assert len(contents(kept)) == 3
    assert len(remove(environ).folders) == 2 and not kept.exists()


@pytest.mark.parametrize("sweep", ["install", "remove"])
@pytest.mark.slow
def test_what_a_killed_install_left_is_swept_up(environ, kept, silent_port, sweep):
    """The installer that it had started ends with it, and the lock is open."""
    code = "from accel_helpers.tpu import environment as tpu_environment; tpu_environment.install()"
    child = {**asking(silent_port, kept), "PYTHONPATH": str(ROOT)}
    process = subprocess.Popen([sys.executable, "-c", code], env=child, stdout=subprocess.DEVNULL)
    wait_until(lambda: len(processes_about(kept)) >= 2)  # the installer and what watches it
    with pytest.raises(InstallFailed, match="Another install .* under way"):
        remove(environ)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    wait_until(lambda: not processes_about(kept))
    assert [name for name in contents(kept) if name.startswith(".tpu-compiler-")]
    assert "is not installed" in status(environ).why
    if sweep == "install":
        found = quietly(environ)
        assert contents(kept) == [found.folder.name, "tpu-compiler.lock"]
    assert remove(environ).folders and not kept.exists()


def wait_until(true, seconds=30):
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end
        time.sleep(0.05)


def processes_about(folder):
    """The processes with the folder in their command line."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if str(folder).encode() in path.read_bytes():
                found.append(path.parent.name)
        except OSError:
            continue
    return found


def test_of_two_installs_at_once_one_waits_and_finds_it(environ, kept):
    said, found, runs = [], [], []

    def slowly(words, **options):
        runs.append(words)
        time.sleep(0.5)
        return pretend(words, **options)

    def one():
        found.append(install(environ, say=said.append, run=slowly))

    threads = [threading.Thread(target=one) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 3 and all(each.ready for each in found)
    assert len(runs) == 2, "one install and its check"
    assert len([text for text in said if "waiting for it" in text]) == 2


def test_only_one_has_the_lock_although_its_file_comes_and_goes(kept):
    inside, most = [], []

    def come_and_go():
        for _ in range(100):
            while (lock := tpu_environment._lock(kept)) is None:
                pass
            inside.append(1)
            most.append(len(inside))
            time.sleep(0.0002)
            inside.pop()
            (kept / tpu_environment.LOCK).unlink()
            lock.close()

    threads = [threading.Thread(target=come_and_go) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(most) == 600 and max(most) == 1


def test_a_place_that_is_no_folder_is_named(tmp_path):
    (tmp_path / "file").write_text("")
    found = tpu_environment.status({"ACCEL_TPU_COMPILER": str(tmp_path / "file")})
    assert not found.ready and "file is no folder: set ACCEL_TPU_COMPILER" in found.why


def test_somebody_whom_nobody_knows_is_a_name_like_any_other():
    """As in a shell: "~" and a name that is no user's stays as it is."""
    found = tpu_environment.status({"ACCEL_TPU_COMPILER": "~no such user/x"})
    assert not found.ready and "~no such user" in str(found.folder)
