"""Child processes for the tests of the TPU compiler: with Keras on a backend, or beside libtpu."""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
PACKAGE = HERE.parents[1] / "accel_helpers" / "tpu"

_BESIDE_LIBTPU = """
import json, sys
from pathlib import Path
sys.path.append(sys.argv[1])
import child as tpu_child, count as tpu_count
words = sys.argv[2:]

def say(what):
    print("said " + json.dumps(what))
"""
_WITH_KERAS = """
import json, sys
from pathlib import Path
words = sys.argv[1:]

def say(what):
    print("said " + json.dumps(what))
"""


def with_keras(backend, code, *words, environ=None, seconds=280, before=()):
    """Run code with Keras on a backend; give what it has said with `say`, the last one.

    The words of `before` stand before the command, such as those of another that starts it.
    """
    paths = [str(PACKAGE.parent), str(HERE), *sys.path]
    child = {
        **os.environ,
        "KERAS_BACKEND": backend,
        "PYTHONPATH": os.pathsep.join(filter(None, paths)),
        "TF_CPP_MIN_LOG_LEVEL": "3",
        **(environ or {}),
    }
    command = [*before, sys.executable, "-c", _WITH_KERAS + code, *map(str, words)]
    return _said(command, child, seconds)


def beside_libtpu(environment, code, *words, seconds=280):
    """Run code in the TPU compiler's environment, beside `tpu_child` and `tpu_count`."""
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder, "script.py")
        script.write_text(_BESIDE_LIBTPU + code)
        command, child = environment.command(script, str(PACKAGE), *map(str, words), scratch=folder)
        return _said(command, child, seconds)


def left_in(folder):
    """What lies in a folder; what TensorFlow makes of functions and keeps there does not count.

    That is a script for each process, and its bytecode where Python writes any.
    """
    own = ("autograph", "__pycache__")
    return [path for path in Path(folder).rglob("*") if not any(name in path.name for name in own)]


def _said(command, environ, seconds):
    done = subprocess.run(
        command, env=environ, capture_output=True, text=True, timeout=seconds, stdin=subprocess.PIPE
    )
    lines = [line for line in done.stdout.splitlines() if line.startswith("said ")]
    assert done.returncode == 0 and lines, done.stdout[-2000:] + done.stderr[-4000:]
    return json.loads(lines[-1].removeprefix("said "))
