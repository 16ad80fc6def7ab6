"""Replicas of Colab's runtimes: its Python with the packages, in the versions, that Colab ships.

They are kept in .test-environments/ and made again when what they are made from changes. To make
them ahead of the tests, or again:

    python tests/colab/replica.py
"""

import fcntl
import glob
import hashlib
import json
import os
import platform
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
VARIABLES = json.loads((HERE / "variables.json").read_text("utf-8"))
KEPT = ROOT / ".test-environments"
STAMP = "made-from.txt"
_VERSION = "import sys; print('%d.%d' % sys.version_info[:2])"
# What the lessons need of it, and what it takes to run them.
_SHARED = (
    *("pip", "setuptools", "ipykernel", "ipython", "ipywidgets"),
    *("keras", "jax", "numpy", "matplotlib", "scikit-learn", "jinja2"),
)


@dataclass(frozen=True)
class Runtime:
    """One of Colab's runtimes, with the versions of ``constraints-<name>.txt``."""

    name: str
    packages: tuple[str, ...]
    variables: dict[str, str]  # that Colab sets there, as far as the course looks at it
    backend: str  # which Keras must end up on
    pins: Path | None = None  # a list other than the stored one
    python: str = "3.13"

    @property
    def constraints(self) -> Path:
        return self.pins or HERE / f"constraints-{self.name}.txt"


CPU = Runtime("cpu", (*_SHARED, "tensorflow"), VARIABLES["cpu"], "tensorflow")
# It claims a TPU that is not attached: the nearest to the real one without the chip.
TPU = Runtime("tpu", (*_SHARED, "libtpu"), VARIABLES["tpu"], "jax")
RUNTIMES = (CPU, TPU)
# The oldest that Colab's menu still offers; its Keras is the oldest that pyproject.toml allows.
PAST = Runtime("tpu-2025.07", (*_SHARED, "libtpu"), VARIABLES["tpu"], "jax", python="3.11")


class NoReplica(RuntimeError):
    """A replica cannot be made here; the message says why."""


def find_python(version):
    """Give a Python of a version such as "3.13" that really starts."""
    if (platform.system(), platform.machine()) != ("Linux", "x86_64"):
        raise NoReplica("Colab's packages are for Linux on x86-64")
    variable, name = f"ACCEL_PYTHON{version.replace('.', '')}", f"python{version}"
    candidates = [os.environ.get(variable, ""), shutil.which(name) or ""]
    candidates += glob.glob(str(Path.home() / f".pyenv/versions/{version}*/bin/{name}"))
    for path in filter(None, candidates):
        try:
            said = subprocess.run([path, "-c", _VERSION], capture_output=True, text=True)
        except OSError:
            continue
        if said.stdout.strip() == version:
            return path
    raise NoReplica(f"no Python {version} here; {variable} may name one")


def make(runtime):
    """Make a replica, or find the one that was made, and give its Python."""
    python, folder = find_python(runtime.python), KEPT / f"colab-{runtime.name}"
    pins = hashlib.sha256(runtime.constraints.read_bytes()).hexdigest()
    want = f"{' '.join(runtime.packages)}\n{pins}\n{python}\n{folder.resolve()}\n"
    inside, stamp = folder / "bin" / "python", folder / STAMP
    KEPT.mkdir(parents=True, exist_ok=True)
    with open(KEPT / f".{runtime.name}.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # one process at a time
        if not (stamp.exists() and stamp.read_text("utf-8") == want and inside.exists()):
            shutil.rmtree(folder, ignore_errors=True)
            print(f"making the replica of Colab's {runtime.name.upper()} runtime ...", flush=True)
            _build(folder, runtime, python)
            stamp.write_text(want, "utf-8")  # last: a half-made one has none
    return inside


def spoil(runtime):
    """Say that a replica is no longer what it was, so that it is made again next time."""
    (KEPT / f"colab-{runtime.name}" / STAMP).unlink(missing_ok=True)


def _build(folder, runtime, python):
    subprocess.run([python, "-m", "venv", str(folder)], check=True)
    pip = [str(folder / "bin" / "python"), "-m", "pip", "install", "--quiet"]
    pip += ["--disable-pip-version-check", "--compile", "-c", str(runtime.constraints)]
    clean = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    done = subprocess.run([*pip, *runtime.packages], capture_output=True, text=True, env=clean)
    if done.returncode:
        raise NoReplica(f"pip could not install Colab's packages: {done.stderr.strip()[-600:]}")


if __name__ == "__main__":
    for one in (*RUNTIMES, PAST):
        try:
            print(one.name, make(one))
        except NoReplica as reason:
            sys.exit(f"{one.name}: {reason}.")
