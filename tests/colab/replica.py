"""Replicas of Colab's runtimes: its Python with the packages, in the versions, that Colab ships.

They are kept in .test-environments/ and made again when what they are made from changes.
"""

import json
import shutil
import subprocess
import sys
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


@dataclass
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


def make(runtime):
    """Make a replica, or find the one that was made, and give its Python."""
    folder = KEPT / f"colab-{runtime.name}"
    python = folder / "bin" / "python"
    stamp = folder / "made-from.txt"
    want = f"{folder} {runtime.packages} {runtime.python}\n{runtime.pins.read_text('utf-8')}"
    if not stamp.exists() or stamp.read_text("utf-8") != want:
        shutil.rmtree(folder, ignore_errors=True)
        uv = [sys.executable, "-m", "uv"]
        # What stands on the path may be a switch of pyenv's that starts none.
        kept = Path.home().glob(f".pyenv/versions/{runtime.python}*")
        wanted = next(kept, runtime.python)
        subprocess.run([*uv, "venv", "--quiet", "--python", wanted, folder], check=True)
        install = [*uv, "pip", "install", "--quiet", "--compile-bytecode", "--python", python]
        subprocess.run([*install, "-c", runtime.pins, *runtime.packages], check=True)
        stamp.write_text(want, "utf-8")  # last: a half-made one has none
    return python
