"""Replicas of Colab's runtimes: its Python with the packages, in the versions, that Colab ships.

They are kept in .test-environments/ and made again when what they are made from changes. To make
them ahead of the tests:

    python tests/colab/replica.py
"""

import fcntl
import hashlib
import json
import os
import platform
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
VARIABLES = json.loads((HERE / "variables.json").read_text("utf-8"))
KEPT = ROOT / ".test-environments"
# What the lessons need of it, and what it takes to run them.
_SHARED = (
    *("pip", "setuptools", "ipykernel", "ipython", "ipywidgets"),
    *("keras", "jax", "numpy", "matplotlib", "scikit-learn", "jinja2"),
)


@dataclass(frozen=True)
class Runtime:
    """One of Colab's runtimes."""

    name: str
    packages: tuple[str, ...]
    pins: Path  # the versions
    variables: dict[str, str]  # that Colab sets there, as far as the course looks at it
    backend: str  # which Keras must end up on
    python: str = "3.13"


CPU = Runtime(
    "cpu", (*_SHARED, "tensorflow"), HERE / "constraints-cpu.txt", VARIABLES["cpu"], "tensorflow"
)
# It claims a TPU that is not attached: the nearest to the real one without the chip.
TPU = Runtime("tpu", (*_SHARED, "libtpu"), HERE / "constraints-tpu.txt", VARIABLES["tpu"], "jax")
# The oldest that Colab's menu still offers; its Keras is the oldest that pyproject.toml allows.
OLD_PINS = HERE / "constraints-tpu-2025.07.txt"
PAST = Runtime("tpu-2025.07", TPU.packages, OLD_PINS, TPU.variables, "jax", "3.11")


class NoReplica(RuntimeError):
    """A replica cannot be made here; the message says why."""


def find_python(version):
    """Give a Python of a version such as "3.13"."""
    if (platform.system(), platform.machine()) != ("Linux", "x86_64"):
        raise NoReplica("Colab's packages are for Linux on x86-64")
    variable, name = f"ACCEL_PYTHON{version.replace('.', '')}", f"python{version}"
    # What stands on the path may be a switch of pyenv's that starts none.
    kept = Path.home().glob(f".pyenv/versions/{version}*/bin/{name}")
    python = os.environ.get(variable) or next(map(str, kept), shutil.which(name))
    if not python:
        raise NoReplica(f"no Python {version} here; {variable} may name one")
    return python


def make(runtime):
    """Make a replica, or find the one that was made, and give its Python."""
    python, folder = find_python(runtime.python), KEPT / f"colab-{runtime.name}"
    pins, stamp = hashlib.sha256(runtime.pins.read_bytes()), folder / "made-from.txt"
    want = f"{' '.join(runtime.packages)}\n{pins.hexdigest()}\n{python}\n{folder.resolve()}\n"
    KEPT.mkdir(exist_ok=True)
    with open(KEPT / f".{runtime.name}.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # one process at a time
        if not stamp.exists() or stamp.read_text("utf-8") != want:
            shutil.rmtree(folder, ignore_errors=True)
            subprocess.run([python, "-m", "venv", str(folder)], check=True)
            pip = [str(folder / "bin" / "python"), "-m", "pip", "install", "--quiet", "--compile"]
            pip += ["--disable-pip-version-check", "-c", str(runtime.pins), *runtime.packages]
            done = subprocess.run(pip, capture_output=True, text=True)
            if done.returncode:
                raise NoReplica(f"pip could not install Colab's packages: {done.stderr[-600:]}")
            stamp.write_text(want, "utf-8")  # last: a half-made one has none
    return folder / "bin" / "python"


if __name__ == "__main__":
    for one in (CPU, TPU, PAST):
        print(one.name, make(one))
