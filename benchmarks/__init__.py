"""What the course claims about speed, measured side by side; see ``run.py``."""

import json
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def in_process(backend, module, call):
    """What a call of a benchmark's function gives, in a process of its own on one backend."""
    code = f"import json; from benchmarks import {module}; print(json.dumps({module}.{call}))"
    environ = {**os.environ, "KERAS_BACKEND": backend}
    command = [sys.executable, "-c", code]
    ran = subprocess.run(command, cwd=ROOT, env=environ, stdout=subprocess.PIPE, check=True)
    return json.loads(ran.stdout.splitlines()[-1])
