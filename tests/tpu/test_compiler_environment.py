"""The folder of the TPU compiler: installed, found and removed, by an installer that is made up."""

import json
from pathlib import Path

import pytest

from accel_helpers import cli
from accel_helpers._values import probe
from accel_helpers.machine import facts
from accel_helpers.tpu.environment import PINS, install, status


class Installer:
    """Stands for pip and uv: notes what it is told, and makes a folder, or fails."""

    outcome = probe.Outcome("finished")

    def __call__(self, command, *, seconds, environ):
        self.command, self.environ = command, environ
        Path(command[command.index("--target") + 1]).mkdir()
        return self.outcome

    def kept(self):
        """The names of what there is in the compiler's folder."""
        return sorted(path.name for path in self.folder.iterdir())


@pytest.fixture
def installer(tmp_path, monkeypatch):
    made_up = Installer()
    made_up.folder = tmp_path
    monkeypatch.setattr(probe, "run_command", made_up)
    monkeypatch.setenv("ACCEL_TPU_COMPILER", str(tmp_path))
    return made_up


def test_it_is_installed_found_and_removed_and_nothing_else_is(installer, capsys):
    def said(action):
        assert cli.main(["tpu", action]) == 0
        return capsys.readouterr().out

    assert "accel_helpers tpu install" in said("status")
    assert str(installer.folder) in said("install")
    found = status()
    assert not found.why
    assert installer.kept() == [found.folder.name]
    assert install(say=[].remove) == found, "it is there already"
    for name in (".tpu-compiler-killed", "notes", "tpu-compiler-mine"):
        (installer.folder / name).mkdir()
    assert str(found.folder) in said("remove")
    assert installer.kept() == ["notes", "tpu-compiler-mine"]


def test_the_learners_keras_is_asked_for_and_wishes_for_other_installs_stay_outside(
    installer, monkeypatch
):
    for name in ("PIP_USER", "PIP_CONSTRAINT", "PYTHONPATH"):
        monkeypatch.setenv(name, "/mine")
    install(say=list)
    for name, version in {"keras": facts.installed("keras"), **PINS}.items():
        assert f"{name}=={version}" in installer.command
    assert "/mine" not in installer.environ.values()
    monkeypatch.setattr(facts, "installed", lambda name: "3.99")
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    install(say=list)
    assert installer.command[:3] == ["uv", "pip", "install"], "there is no pip"
    assert len(installer.kept()) == 2, "each Keras has a compiler"


def test_an_install_that_fails_says_why_and_leaves_nothing(installer, capsys):
    installer.outcome = probe.Outcome("crashed", "ended with: No matching distribution for jax")
    assert cli.main(["tpu", "install", "--json"]) == 1
    assert "No matching" in json.loads(capsys.readouterr().out)["error"]
    assert installer.kept() == []
