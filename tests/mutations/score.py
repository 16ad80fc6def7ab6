"""How many of forty planted faults do the tests of `make test` see? Two hours on two cores.

python -m pip install pytest-cov               once: it says which test runs which line
python tests/mutations/score.py [NUMBER ...]   plant these, or all, in a copy of this clone

The suite runs once, to learn which tests run which lines. Then each fault meets the tests that run
its line. Those that got through are planted all at once for the whole suite, lessons included: what
fails there is run again for each of them alone.
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
MOST_TESTS = 40  # of those that run a fault's line, evenly chosen


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
    found = FAILED.findall(ran.stdout)
    # an error at import or a stopped worker has no line of its own
    if ran.returncode not in (0, 5) and not found:
        found = [f"the run itself: {ran.stdout[-200:]}"]
    return found


def covered(copy: Path) -> Path:
    """Run the suite, and return the file that says which test ran which line."""
    failing(copy, [], "--cov=accel_helpers", "--cov-context=test", "--cov-report=")
    return copy / ".coverage"


def tests_of(fault: dict, data) -> list[str]:
    """Return tests that run a line of a fault, as coverage's data have them."""
    text = (ROOT / fault["file"]).read_text("utf-8")
    first = text[: text.index(fault["old"])].count("\n") + 1
    lines = range(first, first + fault["old"].count("\n") + 1)
    [file] = [name for name in data.measured_files() if name.endswith(fault["file"])]
    contexts = data.contexts_by_lineno(file)
    found = set()
    for line in lines:
        for context in contexts.get(line, ()):
            found.add(context.partition("|")[0])
    tests = sorted(test for test in found if "::" in test)
    return tests[:: len(tests) // MOST_TESTS + 1]


def score(faults: dict[int, dict], copy: Path, data) -> dict[int, str]:
    """Return for each fault a test that sees it, or ""."""
    seen = {}
    for number, fault in faults.items():
        plant(copy, fault)
        tests = tests_of(fault, data)
        found = failing(copy, tests, "--exitfirst") if tests else []
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
    from coverage import CoverageData

    everything = tomllib.loads(FAULTS.read_text("utf-8"))["mutation"]
    faults = {}
    for number, fault in enumerate(everything, 1):
        if (not chosen or str(number) in chosen) and "gone" not in fault:
            faults[number] = fault
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "clone"
        shutil.copytree(ROOT, copy, ignore=shutil.ignore_patterns(*LEFT_OUT))
        (copy / ".venv").symlink_to(ROOT / ".venv")
        data = CoverageData(os.environ.get("COVERED") or covered(copy))
        data.read()
        seen = score(faults, copy, data)
    stored = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    stored |= {str(number): test for number, test in seen.items()}
    RESULTS.write_text(json.dumps(stored, indent=1) + "\n")
    caught = sum(map(bool, seen.values()))
    print(f"{caught} of {len(seen)} were seen.")


if __name__ == "__main__":
    main(sys.argv[1:])
