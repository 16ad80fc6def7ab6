"""What a stranger relies on when they install or import the package."""

import json
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

import accel_helpers

ROOT = Path(accel_helpers.__file__).parent.parent
PACKAGE = ROOT / "accel_helpers"

LOADED = """
import json, sys
sys.path.insert(0, {root!r})
before = set(sys.modules)
import time
began = time.perf_counter()
import accel_helpers
seconds = time.perf_counter() - began
names = {{name.partition(".")[0] for name in set(sys.modules) - before}}
foreign = sorted(names - set(sys.stdlib_module_names) - {{"accel_helpers"}})
print(json.dumps([seconds, foreign]))
"""

EVERY_MODULE = """
import sys
sys.path.insert(0, {root!r})
import accel_helpers
for name in sorted(set(dir(accel_helpers)) & set(accel_helpers._PLACES)):
    getattr(accel_helpers, name)
import accel_helpers.cli
accel_helpers.machine.runtime.describe()
print("all loaded")
"""


def python(code, *options):
    words = [sys.executable, *options, "-c", code.format(root=str(ROOT))]
    done = subprocess.run(words, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_import_loads_the_standard_library_only():
    assert json.loads(python(LOADED))[1] == []


def test_import_takes_less_than_50_milliseconds():
    times = []
    while len(times) < 10 and min(times, default=9) >= 0.05:
        times.append(json.loads(python(LOADED))[0])
    assert min(times) < 0.05


def test_every_module_loads_where_nothing_is_installed():
    assert python(EVERY_MODULE, "-I", "-S") == "all loaded\n"


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """The wheel, built from a copy so that nothing is left in the working tree."""
    folder = tmp_path_factory.mktemp("wheel")
    source = folder / "source"
    source.mkdir()
    for name in ("setup.py", "pyproject.toml", "MANIFEST.in", "LICENSE", "CHANGELOG.md"):
        shutil.copy(ROOT / name, source)
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(PACKAGE, source / "accel_helpers", ignore=ignored)
    words = ["wheel", "--quiet", "--no-deps", "--no-index", "--no-build-isolation"]
    pip(*words, "--wheel-dir", folder, source)
    return next(folder.glob("*.whl"))


def pip(*words):
    command = [sys.executable, "-m", "pip", *map(str, words)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr


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
    assert needs and all("extra ==" in line for line in needs)
    assert f"Version: {accel_helpers.__version__}\n" in metadata
    # Colab's widget manager stops at 7.7.1.
    assert any(line.startswith("Requires-Dist: ipywidgets>=7.7.1") for line in needs)


def test_wheel_installs_without_a_network_and_runs_in_a_bare_environment(wheel, tmp_path):
    bare = tmp_path / "bare"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", bare], check=True)
    its_python = bare / "bin" / "python"
    pip("--python", its_python, "install", "--quiet", "--no-deps", "--no-index", wheel)
    environ = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    words = [its_python, "-m", "accel_helpers", "describe", "--json"]
    told = subprocess.run(
        words, cwd=tmp_path, env=environ, capture_output=True, text=True, timeout=60
    )
    assert told.returncode == 0, told.stderr
    assert json.loads(told.stdout)["frameworks"] == {}
