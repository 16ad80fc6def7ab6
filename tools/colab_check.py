"""What a newer list of Colab's packages changes for the lessons, and which of them it breaks."""

import argparse
import re
import sys
import tempfile
from dataclasses import replace
from pathlib import Path

import kernel
import lesson
import run_lessons

from accel_helpers.machine import doctor

sys.path.append(str(lesson.ROOT / "tests" / "colab"))
import replica
import session

UNLISTED = {"pip", "setuptools"}  # `pip freeze` leaves them out
HOW = """ names no packages. Give a newer list of Colab's: make colab-check LIST=freeze.txt.
To get one, run `!pip freeze > freeze.txt` in Colab and download the file."""


def read(path: Path) -> dict[str, str]:
    """Read a `pip freeze`: the version of each package, or where it came from."""
    lines = re.findall(r"^([\w.-]+)(?:==| @ )([^\s;]+)", path.read_text("utf-8"), re.M)
    return {re.sub(r"[-_.]+", "-", name).lower(): version for name, version in lines}


def compare(old: dict[str, str], new: dict[str, str], names: set[str]) -> list[str]:
    """Say what changed, one line for each of the packages that is not as it was."""
    said = []
    for name in sorted(names & old.keys()):
        was, now = old[name], new.get(name, "gone")
        if was != now:
            first = [version.removeprefix("0.").split(".")[0] for version in (was, now)]
            major = now != "gone" and first[0] != first[1]
            said.append(f"{name} {was} -> {now}{', a new major version' if major else ''}")
    return said


def run(lessons: list[Path], runtime: replica.Runtime) -> bool:
    """Run the lessons' core on small sizes with a runtime's packages; tell whether all ran."""
    python, whole = replica.make(runtime), True
    with tempfile.TemporaryDirectory() as folder:
        for path in lessons:
            (home := Path(folder, path.stem)).mkdir()
            colab = session.Colab(runtime, python, home, 9)  # nothing listens there
            colab.environment["PYTHONPATH"] = str(replica.ROOT)
            run_lessons.leave_out(notebook := kernel.read(path)[0])
            if problem := colab.run(notebook, home):
                known = doctor.diagnose(problem.partition(": ")[2]).findings
                word = known[0].cause if known else "no failure that the doctor knows"
                whole, problem = False, f"failed in {problem}\n  {word}"
            print(f"{path.stem}: {problem or 'ran'}", flush=True)
    return whole


def main(argv: list[str] | None = None) -> int:
    """Leave with 0 when every lesson ran, 1 when one broke, 2 without a list."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("list", nargs="?", type=Path, help="what `pip freeze` said in Colab")
    parser.add_argument("--lessons", default="", help='which, for example "00 03"; all by default')
    parser.add_argument("--only-compare", action="store_true", help="run no lesson")
    options = parser.parse_args(argv)
    if not (options.list and options.list.is_file() and (new := read(options.list))):
        parser.exit(2, f"{options.list or 'LIST'}{HOW}\n")
    known = replica.TPU if "libtpu" in new else replica.CPU
    there = tuple(one for one in known.packages if one in {*new, *UNLISTED})
    said = compare(read(known.constraints), new, {*known.packages, "jaxlib"} - UNLISTED)
    print(f"What the lessons use, against the stored list of Colab's {known.name.upper()} runtime:")
    print("\n".join(said) or "nothing changed", flush=True)
    pins = replica.KEPT / f"newer-{options.list.stem}.txt"
    pins.parent.mkdir(exist_ok=True)
    pins.write_text("\n".join(f"{one}=={v}" for one, v in new.items() if v[0].isdigit()))
    try:
        lessons = run_lessons.choose(lesson.chosen([]), options.lessons)
        newer = replace(known, name=pins.stem, packages=there, pins=pins)
        return 0 if options.only_compare or run(lessons, newer) else 1
    except (replica.NoReplica, lesson.Refused) as reason:
        parser.exit(1, f"{reason}\n")


if __name__ == "__main__":
    sys.exit(main())
