"""How many of forty planted faults do the tests of `make test` see? Half an hour on two cores.

python tests/mutations/score.py [NUMBER ...]   plant these, or all, in a copy of this clone

Each fault meets the test that saw it last time. Those that get through, and those that nobody has
seen, are planted all at once for the whole suite, lessons included: what fails there is run again
for each of them alone.
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


def plant(copy: Path, fault: dict) -> None:
    """Plant a fault in a copy of the clone."""
    file = copy / fault["file"]
    text = file.read_text("utf-8")
    if text.count(fault["old"]) != 1:
        raise SystemExit(f"{fault['file']}: plant this anew: {fault['promise']}")
    file.write_text(text.replace(fault["old"], fault["new"]), "utf-8")


def weed(copy: Path, fault: dict) -> None:
    """Take a fault out again."""
    shutil.copy2(ROOT / fault["file"], copy / fault["file"])


def failing(copy: Path, tests: list[str], *options: str) -> list[str]:
    """Run tests in the copy, and return those that failed."""
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-m",
        "not slow and not night",
        "-rfE",
        *options,
        *tests,
    ]
    if len(tests) != 1:
        command += ["-n", "2", "--dist", "loadfile"]
    environ = {**os.environ, **SETTINGS, "PYTHONPATH": str(copy)}
    ran = subprocess.run(
        command, cwd=copy, env=environ, capture_output=True, text=True, check=False
    )
    # a test that was renamed since it saw a fault sees nothing
    if "ERROR: not found" in ran.stdout + ran.stderr:
        return []
    found = FAILED.findall(ran.stdout)
    # an error at import or a stopped worker has no line of its own
    if ran.returncode not in (0, 5) and not found:
        found = [f"the run itself: {ran.stdout[-200:]}"]
    return found


def score(faults: dict[int, dict], copy: Path, last: dict[str, str]) -> dict[int, str]:
    """Return for each fault a test that sees it, or ""; `last` has those that saw it last time."""
    seen = {}
    for number, fault in faults.items():
        plant(copy, fault)
        test = last.get(str(number), "")
        is_there = (copy / test.partition("::")[0]).is_file()
        found = failing(copy, [test]) if is_there else []
        weed(copy, fault)
        seen[number] = found[0] if found else ""
        print(number, fault["file"], seen[number] or "not yet", flush=True)
    left = {number: fault for number, fault in faults.items() if not seen[number]}
    for fault in left.values():
        plant(copy, fault)
    suspects = failing(copy, []) if left else []
    for fault in left.values():
        weed(copy, fault)
    # what fails in the copy without any fault sees none
    unsound = failing(copy, suspects) if suspects else []
    suspects = [test for test in suspects if test not in unsound]
    print("suspects:", *suspects, flush=True)
    for number, fault in left.items():
        plant(copy, fault)
        found = failing(copy, suspects) if suspects else []
        weed(copy, fault)
        seen[number] = found[0] if found else ""
        print(number, fault["file"], seen[number] or "NOT SEEN", flush=True)
    return seen


def main(chosen: list[str]) -> None:
    """Score the chosen faults, or all, and store what came out."""
    everything = tomllib.loads(FAULTS.read_text("utf-8"))["mutation"]
    faults = {}
    for number, fault in enumerate(everything, 1):
        if (not chosen or str(number) in chosen) and "gone" not in fault:
            faults[number] = fault
    stored = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "clone"
        shutil.copytree(ROOT, copy, ignore=shutil.ignore_patterns(*LEFT_OUT))
        (copy / ".venv").symlink_to(ROOT / ".venv")
        seen = score(faults, copy, stored)
    stored |= {str(number): test for number, test in seen.items()}
    RESULTS.write_text(json.dumps(stored, indent=1) + "\n")
    caught = sum(map(bool, seen.values()))
    print(f"{caught} of {len(seen)} were seen.")


if __name__ == "__main__":
    main(sys.argv[1:])
