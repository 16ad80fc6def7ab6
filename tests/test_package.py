"""What a stranger relies on when they install or import the package."""

import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import accel_helpers

ROOT = Path(accel_helpers.__file__).parent.parent
PACKAGE = ROOT / "accel_helpers"

EVERY_MODULE = f"""
import sys
sys.path.insert(0, {str(ROOT)!r})
import accel_helpers
for door in (accel_helpers, accel_helpers.tpu, accel_helpers.course):
    for name in door.__all__:
        getattr(door, name)
import accel_helpers.cli
accel_helpers.machine.runtime.describe()
print("all loaded")
"""


def run(*words, **options):
    words = [sys.executable, *map(str, words)]
    done = subprocess.run(words, capture_output=True, text=True, **options)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_every_module_loads_where_nothing_is_installed():
    assert run("-I", "-S", "-c", EVERY_MODULE) == "all loaded\n"


def test_wheel_holds_every_file_of_the_package_and_no_other(wheel):
    there = {
        path.relative_to(ROOT).as_posix()
        for path in PACKAGE.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    packed = {name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name}
    assert packed == there


def test_wheel_asks_for_nothing(wheel):
    archive = zipfile.ZipFile(wheel)
    name = next(name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
    metadata = archive.read(name).decode()
    needs = [line for line in metadata.splitlines() if line.startswith("Requires-Dist:")]
    assert needs
    assert all("extra ==" in line for line in needs)
    assert f"Version: {accel_helpers.__version__}\n" in metadata
    # Colab's widget manager stops at 7.7.1.
    assert any(line.startswith("Requires-Dist: ipywidgets>=7.7.1") for line in needs)
    # jax 0.10.2 computes wrongly on CPUs
    assert any(line.startswith("Requires-Dist: jax!=0.10.2") for line in needs)


def test_wheel_installs_without_a_network_and_runs_in_a_bare_environment(wheel, tmp_path):
    bare = tmp_path / "bare"
    run("-m", "venv", "--without-pip", bare)
    python = bare / "bin" / "python"
    offline = ("--quiet", "--no-deps", "--no-index", wheel)
    run("-m", "pip", "--python", python, "install", *offline)
    environ = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    words = [python, "-m", "accel_helpers", "describe", "--json"]
    told = subprocess.run(words, cwd=tmp_path, env=environ, capture_output=True, text=True)
    assert told.returncode == 0, told.stderr
    assert json.loads(told.stdout)["frameworks"] == {}
