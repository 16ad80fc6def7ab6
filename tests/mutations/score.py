"""How many planted faults do the tests of `make test` see? An hour on two cores.

python tests/mutations/score.py [NUMBER ...]   plant these, or all, in a copy of this clone

Each fault meets the test that saw it last time, then the tests of its room, then all of them.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FAULTS = Path(__file__).with_name("mutations.toml")
RESULTS = Path(__file__).with_name("score.json")
LEFT_OUT = (".venv", "build", "dist", "course_site", "course_report", "__pycache__")
FAILED = re.compile(r"^(?:FAILED|ERROR) (.+?)(?: - .*)?$", re.MULTILINE)
SETTINGS = {"ACCEL_FAST": "1", "ACCEL_DATA": "bundled", "PYTHONHASHSEED": "0"}
PYTEST = [sys.executable, "-m", "pytest", "-q", "-x", "-rfE", "-m", "not slow and not night"]


def plant(copy: Path, fault: dict) -> None:
    """Plant a fault in a copy of the clone."""
    file = copy / fault["file"]
    file.write_text(file.read_text("utf-8").replace(fault["old"], fault["new"]), "utf-8")


def first_failing(copy: Path, tests: list[str]) -> str:
    """Return the first test that fails in the copy, or nothing."""
    environ = {**os.environ, **SETTINGS, "PYTHONPATH": str(copy)}
    command = [*PYTEST, *tests]
    if not tests:
        command += ["-n", "2", "--dist", "loadfile"]
    ran = subprocess.run(command, cwd=copy, env=environ, capture_output=True, text=True)
    # a test that was renamed since it saw a fault sees nothing
    if "ERROR: not found" in ran.stdout + ran.stderr:
        return ""
    return next(iter(FAILED.findall(ran.stdout)), "")


def score(copy: Path, fault: dict, last: str) -> str:
    """Return a test that sees a fault, or nothing; `last` saw it last time."""
    file = fault["file"]
    _, room, *_ = Path(file).parts
    plant(copy, fault)
    seen = ""
    if last:
        seen = first_failing(copy, [last])
    if not seen:
        seen = first_failing(copy, [f"tests/{room}"])
    if not seen:
        seen = first_failing(copy, [])
    shutil.copy2(ROOT / file, copy / file)
    # what fails without the fault, too, does not see it
    if seen and first_failing(copy, [seen]):
        return ""
    return seen


def main(chosen: list[str]) -> None:
    """Score the chosen faults, or all, and store what came out."""
    faults = enumerate(tomllib.loads(FAULTS.read_text("utf-8"))["mutation"], 1)
    stored = json.loads(RESULTS.read_text())
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "clone"
        shutil.copytree(ROOT, copy, ignore=shutil.ignore_patterns(*LEFT_OUT))
        (copy / ".venv").symlink_to(ROOT / ".venv")
        for number, fault in faults:
            if (not chosen or str(number) in chosen) and "gone" not in fault:
                seen = score(copy, fault, stored.get(str(number), ""))
                print(number, fault["file"], seen or "NOT SEEN", flush=True)
                stored[str(number)] = seen
                RESULTS.write_text(json.dumps(stored, indent=1) + "\n")


if __name__ == "__main__":
    main(sys.argv[1:])
