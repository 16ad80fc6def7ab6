"""Installs of the TPU compiler that fail: a sentence each, and nothing left behind."""

import os
import socket
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from small_packages import asking, make_wheels, never, pretend, quietly, using

from accel_helpers import probe
from accel_helpers.tpu.environment import InstallFailed, remove, status

ROOT = Path(probe.__file__).resolve().parents[1]
LIMITED = (
    "import os, resource, sys; resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, 200_000));"
    "os.execv(sys.argv[1], sys.argv[1:])"
)


@pytest.fixture(scope="module")
def wheels(tmp_path_factory):
    return make_wheels(tmp_path_factory.mktemp("packages") / "wheels")


@pytest.fixture
def kept(tmp_path):
    return tmp_path / "compiler"


@pytest.fixture
def environ(wheels, kept):
    return using(wheels, kept)


def failing(kept, environ, **options):
    """The sentence of an install that fails, once it is sure that nothing of it is left."""
    with pytest.raises(InstallFailed) as caught:
        quietly(environ, **options)
    assert not kept.exists()
    assert not status(environ).ready
    return str(caught.value)


def test_no_network(kept):
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))  # and nobody listens
        said = failing(kept, asking(closed.getsockname()[1], kept))
    assert said.startswith("The packages could not be fetched: is there a network? The last line")
    assert "of the installer was: " in said and not said.endswith("(none)")


def test_an_index_without_the_packages(kept, environ, tmp_path):
    (tmp_path / "empty").mkdir()
    empty = str(tmp_path / "empty")
    said = failing(kept, {**environ, "PIP_FIND_LINKS": empty})
    assert said.startswith("The packages could not be installed. The last line of the installer")
    assert "jax" in said


def test_a_full_disk(kept, environ):
    """Files end at 200 kB, as if the disk did."""

    def run(words, **options):
        return probe.run_command([sys.executable, "-c", LIMITED, *words], **options)

    said = failing(kept, environ, run=run)
    assert said.startswith(
        f"There is too little disk for the TPU compiler in {kept}: it needs 2 GB"
    )
    assert "The last line of the installer was: " in said and "File too large" in said


@pytest.mark.slow
def test_a_really_full_disk(kept, environ):
    """A disk of 150 kB, where this user may mount one."""
    code = (
        "from accel_helpers.tpu import environment as t; from types import SimpleNamespace as S\n"
        "try: t.install(disk_usage=lambda folder: S(free=3e9))\n"
        "except t.InstallFailed as error: print('SENTENCE', error)"
    )
    kept.mkdir()
    mount = 'mount -t tmpfs -o size=150k none "$0" && exec "$@"'
    words = ["unshare", "-rm", "sh", "-c", mount, str(kept), sys.executable, "-c", code]
    if probe.run_command([*words[:-2], "-c", "pass"], seconds=60).kind != "finished":
        pytest.skip("no disk can be mounted here; the test above stands for it")
    child = {**environ, "PYTHONPATH": str(ROOT)}
    said = probe.run_command(words, seconds=120, environ=child).output
    assert f"SENTENCE There is too little disk for the TPU compiler in {kept}" in said
    assert "No space left on device" in said


def test_too_little_disk_before(kept, environ):
    free = {"disk_usage": lambda folder: SimpleNamespace(free=1.9e9)}
    said = failing(kept, environ, run=never, **free)
    assert "it needs 2 GB" in said and "(1.9 GB are free)" in said
    assert "set ACCEL_TPU_COMPILER to a folder on another disk" in said


def test_a_folder_that_cannot_be_made(kept, environ, tmp_path):
    (tmp_path / "file").write_text("")
    inside = str(tmp_path / "file" / "compiler")
    said = failing(kept, {**environ, "ACCEL_TPU_COMPILER": inside}, run=never)
    assert said == (
        f"The TPU compiler cannot be kept in {inside}: Not a directory. "
        "Set ACCEL_TPU_COMPILER to a folder that can be written, and try again."
    )
    assert remove({**environ, "ACCEL_TPU_COMPILER": inside}).folders == ()


@pytest.mark.parametrize(
    ("machine", "why"),
    [
        (("Darwin", "arm64", (3, 12)), "this is Darwin on arm64. In Colab"),
        (("Linux", "aarch64", (3, 12)), "this is Linux on aarch64. In Colab"),
        (("Windows", "AMD64", (3, 12)), "this is Windows on AMD64. In Colab"),
        (("pypy", "x86_64", (3, 11)), "with CPython only"),
        (("Linux", "x86_64", (3, 10)), "needs Python 3.11, 3.12 or 3.13; this is 3.10."),
        (("Linux", "x86_64", (3, 14)), "needs Python 3.11, 3.12 or 3.13; this is 3.14."),
    ],
)
def test_machines_and_pythons_that_cannot_have_it(kept, environ, machine, why):
    assert why in failing(kept, environ, machine=machine, run=never)
    assert why in status(environ, machine=machine).why


@pytest.mark.parametrize("version", [(3, 11), (3, 12), (3, 13)])
def test_pythons_that_can_have_it(environ, version):
    machine = ("Linux", "x86_64", version)
    found = quietly(environ, run=pretend, machine=machine)
    assert found.ready and found.folder.name.endswith(f"-py3{version[1]}")


def test_packages_that_cannot_be_imported(kept, tmp_path):
    broken = make_wheels(tmp_path / "broken", jaxlib="raise ImportError('GLIBC_2.99 not found')")
    said = failing(kept, using(broken, kept))
    assert said.startswith("What was installed cannot be used: its check ended with: ImportError: ")
    assert "GLIBC_2.99 not found" in said and "Try again" in said


def test_other_versions_than_asked_for(kept, environ):
    def run(words, **options):
        done = pretend(words, **options)
        return probe.Outcome(done.kind, 0, done.output.replace("0.0.32.1", "0.0.51"))

    assert "other versions than asked for: libtpu 0.0.51." in failing(kept, environ, run=run)


@pytest.mark.slow
def test_an_installer_that_does_not_end(kept):
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen(50)
        said = failing(kept, asking(silent.getsockname()[1], kept), seconds=2)
    assert said.startswith("The installer was not done after 2 s, and was stopped. Try again")


def test_an_installer_that_is_killed(kept, environ, tmp_path):
    """As where memory ends. This uv is found before pip."""
    uv = tmp_path / "bin" / "uv"
    uv.parent.mkdir()
    uv.write_text("#!/bin/sh\nkill -9 $$\n")
    uv.chmod(0o755)
    said = failing(kept, {**environ, "PATH": f"{uv.parent}:{environ['PATH']}"})
    assert said.endswith("The last line of the installer was: It was ended by signal 9.")


def test_uv_is_asked_where_there_is_one(kept, environ, tmp_path):
    uv, asked = tmp_path / "bin" / "uv", tmp_path / "asked"
    uv.parent.mkdir()
    uv.write_text(f'#!/bin/sh\nprintf "%s\\n" "$@" "$UV_CACHE_DIR" > {asked}\necho no; exit 2\n')
    uv.chmod(0o755)
    said = failing(kept, {**environ, "PATH": f"{uv.parent}:{environ['PATH']}"})
    assert said.endswith("The last line of the installer was: no")
    words = asked.read_text().split("\n")
    assert words[:2] == ["pip", "install"] and "libtpu==0.0.32.1" in words
    assert words[words.index("--python") + 1] == sys.executable
    for folder in (words[words.index("--target") + 1], words[-2]):
        assert folder.startswith(str(kept)), "its cache is swept up with the rest"


def test_neither_uv_nor_pip(kept, environ):
    """A Python without site-packages, and an empty PATH."""
    code = (
        "import sys; sys.path.append(sys.argv[1]); from accel_helpers.tpu import environment as t\n"
        "try: t.install()\n"
        "except t.InstallFailed as error: print(error)"
    )
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", code, str(ROOT)],
        env={"PATH": os.devnull, "ACCEL_TPU_COMPILER": str(kept)}, capture_output=True, text=True,
    )  # fmt: skip
    assert "There is neither uv nor pip for " in done.stdout and "-m ensurepip`" in done.stdout
    assert not kept.exists()


def test_an_interrupt_leaves_nothing(kept, environ):
    def run(words, **options):
        pretend(words, **options)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        quietly(environ, run=run)
    assert not kept.exists()
