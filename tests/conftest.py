"""What several of the tests on real Keras models begin with."""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from accel_helpers.course import record
from accel_helpers.fit.images import load_images
from accel_helpers.machine import backend
from accel_helpers.tpu import environment as environment_of_compiler

collect_ignore = ["conftest.py"]  # it has no doctest, and shares its name with those further down
# No test reads or writes the learner's own record, nor do the doctests and
# lessons of this run.
_ASIDE = tempfile.TemporaryDirectory(prefix="accel-record-")
os.environ["ACCEL_RECORD"] = str(Path(_ASIDE.name) / "course_record.json")
ROOT = Path(__file__).resolve().parents[1]
KEPT = ROOT / ".test-environments"
BROWSERS = (
    "chromium",
    "chromium-browser",
    "google-chrome",
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
)


@pytest.fixture(autouse=True)
def own_record(tmp_path, monkeypatch):
    """Every test begins with a record of its own, which is not there yet."""
    path = tmp_path / "course_record.json"
    monkeypatch.setenv("ACCEL_RECORD", str(path))
    record._waiting.clear()
    return path


@pytest.fixture(scope="session")
def keras():
    backend.choose()
    import keras

    return keras


@pytest.fixture(scope="session")
def digits(keras):
    """500 real pictures as a model takes them, and their labels."""
    found = load_images(500, source="bundled")
    x, y = (found.x_train / 255).astype("float32"), found.y_train.astype("int32")
    x.flags.writeable = y.flags.writeable = False  # the tests share them
    return x, y


@pytest.fixture(scope="session")
def wheel(tmp_path_factory):
    """The wheel, built from a copy so that nothing is left in the working tree."""
    folder = tmp_path_factory.mktemp("wheel")
    source = folder / "source"
    source.mkdir()
    for name in (
        "setup.py",
        "pyproject.toml",
        "LICENSE",
        "CHANGELOG.md",
        "README.md",
    ):
        shutil.copy(ROOT / name, source)
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(ROOT / "accel_helpers", source / "accel_helpers", ignore=ignored)
    pip = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-index"]
    pip += ["--no-build-isolation", "--wheel-dir", str(folder), str(source)]
    subprocess.run(pip, check=True)
    (path,) = folder.glob("*.whl")
    return path


@pytest.fixture(scope="session")
def on_jax():
    """A call that runs tests again with Keras on JAX, in a process of their own: what it prints."""

    def run(words, *files):
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-k", words]
        environ = {**os.environ, "KERAS_BACKEND": "jax"}
        child = subprocess.run([*command, *files], env=environ, capture_output=True, text=True)
        assert child.returncode == 0, child.stdout[-3000:]
        assert " passed" in child.stdout, child.stdout[-3000:]
        return child.stdout

    return run


@pytest.fixture(scope="session")
def required():
    """A call that skips a test that cannot run here, and fails it where everything must run."""
    return pytest.fail if os.environ.get("ACCEL_REQUIRE_ALL") == "1" else pytest.skip


@pytest.fixture(scope="module")
def browser(required):
    """The browser that some tests look with; where there is none they cannot run."""
    from playwright.sync_api import sync_playwright

    path = next(filter(None, map(shutil.which, BROWSERS)), None)
    if not path:
        required("There is no Chromium or Chrome here.")
    # No sandbox: we may be root. No proxy: it would be asked for pages of this machine.
    words = ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-proxy-server"]
    with sync_playwright() as playwright:
        # Without a limit: a machine that is busy may take its time.
        browser = playwright.chromium.launch(executable_path=path, args=words, timeout=0)
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def tpu_environment(required):
    """The TPU compiler, kept in .test-environments/ and installed when it is not there."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ACCEL_TPU_COMPILER", str(KEPT / "tpu-compiler"))
        try:
            found = environment_of_compiler.install()
        except environment_of_compiler.InstallFailed as reason:
            required(str(reason))
        yield found
