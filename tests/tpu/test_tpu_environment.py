"""The folder of the TPU compiler: real installs, from small packages that the tests make."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
import zipfile
from pathlib import Path

import pytest
import uv

from accel_helpers._values import probe
from accel_helpers.tpu.environment import PINS, InstallFailed, Machine, install, remove, status

ROOT = Path(probe.__file__).resolve().parents[1]


def make_wheels(folder, **replaced):
    folder.mkdir()
    for name, version in PINS.items():
        info = f"{name}-{version}.dist-info"
        files = {
            f"{name}/__init__.py": replaced.get(name, ""),
            f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n",
            f"{info}/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        }
        files[f"{info}/RECORD"] = "".join(f"{path},,\n" for path in [*files, f"{info}/RECORD"])
        with zipfile.ZipFile(folder / f"{name}-{version}-py3-none-any.whl", "w") as wheel:
            for path, text in files.items():
                wheel.writestr(path, text)
    return folder


def asking(kept, **pips):
    dropped = ("PIP_", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY")
    own = {k: v for k, v in os.environ.items() if not k.upper().startswith(dropped)}
    own |= {"PIP_CONFIG_FILE": os.devnull, "ACCEL_TPU_COMPILER": str(kept), **pips}
    return {**own, "PYTHONPATH": str(ROOT)}


@pytest.fixture(scope="module")
def wheels(tmp_path_factory):
    return make_wheels(tmp_path_factory.mktemp("packages") / "wheels")


@pytest.fixture
def kept(tmp_path):
    return tmp_path / "cache" / "compiler"


@pytest.fixture
def environ(wheels, kept):
    return asking(kept, PIP_NO_INDEX="1", PIP_FIND_LINKS=str(wheels))


def pretend(words, **options):
    if "--target" in words:
        packages = Path(words[words.index("--target") + 1])
        packages.mkdir()
        (packages / "libtpu.so").write_text("x" * 1000)
    return probe.Outcome("finished", 0.0)


def never(words, **options):
    raise AssertionError("nothing is to be run")


def quietly(environ, **options):
    return install(environ, say=lambda text: None, **options)


def contents(folder):
    return sorted(path.name for path in folder.iterdir()) if folder.is_dir() else []


def cli(environ, *words):
    command = [sys.executable, "-m", "accel_helpers", "tpu", *words]
    return subprocess.run(command, env=environ, capture_output=True, text=True)


def test_it_is_installed_found_and_removed(environ, kept):
    asked = cli(environ, "status")
    assert (asked.returncode, asked.stderr) == (0, "")
    assert "accel_helpers tpu install" in asked.stdout
    made = cli(environ, "install", "--json")
    assert made.returncode == 0
    assert str(kept) in made.stderr, "where, before it takes long"
    found = json.loads(made.stdout)
    assert found["ready"]
    assert found["versions"] == PINS
    assert contents(kept) == [Path(found["folder"]).name]
    files = [path for path in kept.rglob("*") if path.is_file()]
    count = sum(path.stat().st_size for path in files)
    size = f"{count / 1000:.3g} kB in {kept}"
    assert any(path.suffix == ".pyc" for path in files), "compiled once, for all children"
    assert size in cli(environ, "status").stdout
    assert found["bytes"] == count
    assert json.loads(cli(environ, "status", "--json").stdout) == found
    assert install(environ, say=never, run=never).ready, "it is there already"
    gone = json.loads(cli(environ, "remove", "--json").stdout)
    assert found["folder"] in gone["why"]
    assert size in gone["why"]
    assert contents(kept) == []
    assert cli(environ, "remove").returncode == 0


def test_where_there_is_no_pip_uv_installs_it(kept, wheels, tmp_path):
    # As `uv venv` leaves an environment: Python, and no pip.
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", tmp_path / "venv"], check=True)
    environ = asking(kept, UV_OFFLINE="1", UV_FIND_LINKS=str(wheels), UV_CONSTRAINT="/no/such")
    environ["PATH"] = os.pathsep.join([uv.find_uv_bin().removesuffix("/uv"), environ["PATH"]])
    python = tmp_path / "venv" / "bin" / "python"
    command = [python, "-m", "accel_helpers", "tpu", "install", "--json"]
    finished = subprocess.run(command, env=environ, capture_output=True, text=True)
    assert finished.returncode == 0, finished.stdout
    answer = json.loads(finished.stdout)
    assert answer["versions"] == PINS
    assert contents(kept) == [Path(answer["folder"]).name]


def test_wishes_for_other_installs_and_the_learners_packages_stay_outside(environ, tmp_path):
    mine = tmp_path / "mine"
    mine.mkdir()
    (mine / "zipfile.py").write_text("raise ImportError('of the learner')")
    (mine / "constraints").write_text("jax==0.1\n")
    wishes = {
        "PIP_USER": "1", "PIP_CONSTRAINT": str(mine / "constraints"),
        "PIP_TARGET": str(tmp_path / "target"), "PYTHONPATH": str(mine),
        "PYTHONDONTWRITEBYTECODE": "1",
    }  # fmt: skip
    found = quietly({**environ, **wishes})
    assert found.ready
    assert not (tmp_path / "target").exists()
    script = tmp_path / "script.py"
    script.write_text(
        "import importlib.util, jax, json, os, sys\n"
        "others = [n for n in ('pip', 'pytest') if importlib.util.find_spec(n)]\n"
        "print(json.dumps([sys.argv[1:], jax.__file__, others, dict(os.environ)]))"
    )
    learner = {**environ, "PYTHONPATH": str(mine), "TPU_NAME": "local", "XLA_FLAGS": "-x"}
    words, child = found.command(script, "a", "b c", scratch=tmp_path, environ=learner)
    done = probe.run_command(words, seconds=120, environ=child, folder=tmp_path)
    argv, file, others, seen = json.loads(done.output)
    assert argv == ["a", "b c"]
    assert others == []
    assert Path(file).parent.parent == found.folder
    assert seen["TMPDIR"] == str(tmp_path)
    assert seen["TPU_SKIP_MDS_QUERY"] == "1"
    assert seen["PYTHONPATH"] == str(found.folder)
    assert not {"TPU_NAME", "XLA_FLAGS"} & set(seen)


def broken(tmp_path):
    made = make_wheels(tmp_path / "broken", jaxlib="raise ImportError('GLIBC_2.99 not found')")
    return {"PIP_FIND_LINKS": str(made)}


MAC = Machine("Darwin", "arm64", (3, 12))
NO_INSTALL = {  # name -> (more variables, options, what is said of it)
    "no such packages": ({"PIP_FIND_LINKS": "/no/such"}, {}, "distribution found for jax"),
    "broken packages": (broken, {}, "ImportError: GLIBC_2.99 not found"),
    "a Mac": ({}, {"run": never, "machine": MAC}, "Darwin on arm64"),
}  # fmt: skip


@pytest.mark.parametrize("case", NO_INSTALL)
def test_an_install_that_fails_says_why_and_leaves_nothing(environ, kept, tmp_path, case):
    more, options, why = NO_INSTALL[case]
    environ |= more(tmp_path) if callable(more) else more
    with pytest.raises(InstallFailed) as caught:
        quietly(environ, **options)
    assert why in str(caught.value)
    assert contents(kept) == []
    assert not status(environ).ready


def test_a_failed_install_is_one_json_document_and_1(environ):
    failed = cli(environ | {"ACCEL_TPU_COMPILER": __file__}, "install", "--json")
    assert failed.returncode == 1
    assert __file__ in json.loads(failed.stdout)["error"]
    assert "Traceback" not in failed.stderr
    assert cli(environ, "fly").returncode == cli(environ).returncode == 2


def test_an_interrupted_install_is_a_sentence_and_1_and_leaves_nothing(kept):
    code = (
        "import signal, sys; from accel_helpers.cli import main\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"  # a shell may ignore it
        "sys.exit(main(['tpu', 'install']))"
    )
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen(50)
        index = f"http://127.0.0.1:{silent.getsockname()[1]}/simple"
        child = asking(kept, PIP_INDEX_URL=index, PIP_DEFAULT_TIMEOUT="60")
        words = [sys.executable, "-c", code]
        with subprocess.Popen(words, env=child, stderr=subprocess.PIPE, text=True) as process:
            end = time.monotonic() + 120
            while not contents(kept) and time.monotonic() < end:
                time.sleep(0.05)
            process.send_signal(signal.SIGINT)
            said = process.stderr.read()
    assert process.returncode == 1
    assert contents(kept) == []
    assert said.splitlines()[-1].startswith("Interrupted. ")
    assert "Traceback" not in said


def test_what_is_not_ours_is_never_deleted_and_all_of_ours_is(environ, kept):
    folder = quietly(environ, run=pretend).folder
    quietly(environ, run=pretend, machine=Machine("Linux", "x86_64", (3, 13)))
    (kept / ".tpu-compiler-killed").mkdir()
    (kept / folder.name.replace(PINS["jax"], "0.1")).mkdir()
    others = ["notes", folder.name, "tpu-compiler-mine"]
    (kept / others[0]).write_text("of the learner")
    folder.rename(kept.parent / "elsewhere")
    folder.symlink_to(kept.parent / "elsewhere")
    (kept / others[2]).mkdir()
    assert str(kept) in remove(environ).why
    assert contents(kept) == others
    assert contents(kept.parent / "elsewhere") == ["libtpu.so"]


@pytest.mark.slow
@pytest.mark.timeout(1200)
def test_what_was_installed_is_what_is_pinned(tpu_environment):
    size = sum(path.lstat().st_size for path in tpu_environment.folder.rglob("*"))
    assert 1.2e9 < size < 1.3e9, "as `install` says before it begins"
    for name, version in PINS.items():
        assert next(tpu_environment.folder.glob(f"{name}-{version}.dist-info"))
    licence = next(tpu_environment.folder.glob("libtpu-*.dist-info/METADATA")).read_text()
    assert "\nLicense: Apache License 2.0\n" in licence
