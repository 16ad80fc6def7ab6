"""Child processes for the tests of the TPU compiler: with Keras on a backend, or beside libtpu."""

import json
import os
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
PACKAGE = HERE.parents[1] / "accel_helpers" / "tpu"
_BEGIN = """
import json, sys
from pathlib import Path
words = sys.argv[1:]
def say(what):
    print("said " + json.dumps(what))
"""
_BESIDE = _BEGIN + "sys.path.append(words.pop(0))\nimport child\n"


def variables(environment, backend="tensorflow"):
    """Variables of a child with Keras on a backend, which finds the TPU compiler."""
    paths = os.pathsep.join([str(HERE), *filter(None, sys.path)])
    kept = str(environment.folder.parent)
    own = {"KERAS_BACKEND": backend, "PYTHONPATH": paths, "ACCEL_TPU_COMPILER": kept}
    return {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3", **own}


def with_keras(environment, backend, code, *words):
    command = [sys.executable, "-c", _BEGIN + code, *map(str, words)]
    return _said(command, variables(environment, backend))


def beside_libtpu(environment, folder, code, *words):
    script = Path(folder, "script.py")
    script.write_text(_BESIDE + code)
    return _said(*environment.command(script, str(PACKAGE), *map(str, words), scratch=folder))


def _said(command, environ):
    done = subprocess.run(
        command, env=environ, capture_output=True, text=True, stdin=subprocess.PIPE
    )
    lines = [line for line in done.stdout.splitlines() if line.startswith("said ")]
    output = done.stdout[-2000:] + done.stderr[-4000:]
    assert done.returncode == 0, output
    assert lines, output
    return json.loads(lines[-1].removeprefix("said "))
