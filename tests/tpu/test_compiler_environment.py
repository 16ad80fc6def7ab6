"""The folder of the TPU compiler: installed, found and removed, by an installer that is made up."""

import json
from pathlib import Path

import pytest

from accel_helpers import cli
from accel_helpers._values import probe
from accel_helpers.machine import facts
from accel_helpers.tpu.environment import PINS, install, remove, status


class Installer:
    """Stands for pip and uv: notes what it is told, and makes a folder, or fails."""

    def __init__(self):
        self.outcome = probe.Outcome("finished")

    def __call__(self, command, *, seconds, environ):
        self.command, self.environ = command, environ
        packages = Path(command[command.index("--target") + 1])
        packages.mkdir()
        (packages / "libtpu.so").write_text("x")
        if isinstance(self.outcome, BaseException):
            raise self.outcome
        return self.outcome


@pytest.fixture
def installer(monkeypatch):
    made_up = Installer()
    monkeypatch.setattr(probe, "run_command", made_up)
    return made_up


@pytest.fixture
def kept(tmp_path, monkeypatch):
    folder = tmp_path / "cache" / "compiler"
    monkeypatch.setenv("ACCEL_TPU_COMPILER", str(folder))
    return folder


def contents(folder):
    return sorted(path.name for path in folder.iterdir()) if folder.is_dir() else []


def test_it_is_installed_found_and_removed(kept, installer, capsys):
    assert cli.main(["tpu", "status"]) == 0
    assert "accel_helpers tpu install" in capsys.readouterr().out
    assert cli.main(["tpu", "install", "--json"]) == 0
    printed = capsys.readouterr()
    assert str(kept) in printed.err, "where, before it takes long"
    found = json.loads(printed.out)
    assert found["ready"]
    assert contents(kept) == [Path(found["folder"]).name]
    assert status().folder == Path(found["folder"])
    assert install(say=[].remove) == status(), "it is there already"
    assert cli.main(["tpu", "remove"]) == 0
    assert found["folder"] in capsys.readouterr().out
    assert contents(kept) == []
    assert cli.main(["tpu", "remove"]) == 0


def test_the_learners_keras_is_asked_for_and_wishes_for_other_installs_stay_outside(
    kept, installer, monkeypatch
):
    for name in ("PIP_USER", "PIP_CONSTRAINT", "PYTHONPATH"):
        monkeypatch.setenv(name, "/mine")
    monkeypatch.setenv("PIP_INDEX_URL", "https://company")
    install(say=list)
    assert f"keras=={facts.installed('keras')}" in installer.command
    assert f"libtpu=={PINS['libtpu']}" in installer.command
    assert "/mine" not in installer.environ.values()
    assert installer.environ["PIP_INDEX_URL"] == "https://company"
    monkeypatch.setattr(facts, "installed", lambda name: "3.99")
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    install(say=list)
    assert installer.command[:3] == ["uv", "pip", "install"], "there is no pip"
    assert len(contents(kept)) == 2, "each Keras has a compiler"


@pytest.mark.parametrize(
    ("outcome", "words"),
    [
        (probe.Outcome("crashed", "ended with: No matching distribution for jax"), "No matching"),
        (KeyboardInterrupt(), "Interrupted. "),
    ],
)
def test_an_install_that_fails_says_why_and_leaves_nothing(
    kept, installer, monkeypatch, capsys, outcome, words
):
    installer.outcome = outcome
    assert cli.main(["tpu", "install", "--json"]) == 1
    assert words in json.loads(capsys.readouterr().out)["error"]
    assert contents(kept) == []
    assert status().why
    monkeypatch.setenv("ACCEL_TPU_COMPILER", __file__)
    assert cli.main(["tpu", "install", "--json"]) == 1
    assert __file__ in json.loads(capsys.readouterr().out)["error"]


def test_what_is_not_ours_is_never_deleted_and_all_of_ours_is(kept, installer):
    install(say=list)
    (kept / ".tpu-compiler-killed").mkdir()
    others = ["notes", "tpu-compiler-mine"]
    for name in others:
        (kept / name).mkdir()
    assert str(kept) in remove().why
    assert contents(kept) == others


@pytest.mark.slow
@pytest.mark.timeout(1200)
def test_what_was_installed_is_what_is_pinned(tpu_environment):
    assert not tpu_environment.why
    for name, version in {"keras": facts.installed("keras"), **PINS}.items():
        assert next(tpu_environment.folder.glob(f"{name}-{version}.dist-info"))
    licence = next(tpu_environment.folder.glob("libtpu-*.dist-info/METADATA")).read_text()
    assert "\nLicense: Apache License 2.0\n" in licence
