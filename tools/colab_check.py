"""What a newer list of Colab's packages changes for the lessons, and which of them it breaks."""

import argparse
import re
import sys
import tempfile
from dataclasses import replace
from pathlib import Path

import lesson
import run_lessons

sys.path.append(str(lesson.ROOT / "tests" / "colab"))
import replica
import session


def read(path):
    """Read a `pip freeze`: the version of each package."""
    lines = re.findall(r"^([\w.-]+)==(\S+)", path.read_text("utf-8"), re.M)
    return {re.sub(r"[-_.]+", "-", name).lower(): version for name, version in lines}


def compare(old, new, names):
    """Say what changed, one line for each of the packages that is not as it was."""
    pairs = [(name, old[name], new.get(name, "gone")) for name in sorted(names & old.keys())]
    return [f"{name} {was} -> {now}" for name, was, now in pairs if was != now]


def run(path, runtime):
    """Run a lesson's core on small sizes with a runtime's packages; give what failed, or None."""
    notebook = lesson.parse(lesson.read(path))
    run_lessons.leave_out(notebook)
    with tempfile.TemporaryDirectory() as folder:
        colab = session.Colab(runtime, replica.make(runtime), Path(folder), 9)  # no port listens
        colab.environment["PYTHONPATH"] = str(lesson.ROOT)
        return colab.run(notebook, folder)


def main(argv=None):
    """Leave with 0 when every lesson ran, 1 when one broke, 2 without a list."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("list", type=Path, help="what `pip freeze` said in Colab")
    parser.add_argument("--lessons", default="", help='which, for example "00 03"; all by default')
    parser.add_argument("--only-compare", action="store_true", help="run no lesson")
    options = parser.parse_args(argv)
    listed = read(options.list)
    known = replica.TPU if "libtpu" in listed else replica.CPU
    old = read(known.pins)
    # `pip freeze` leaves these out.
    new = {name: old[name] for name in ("pip", "setuptools")} | listed
    said = compare(old, new, {*known.packages, "jaxlib"})
    print(f"What the lessons use, against the stored list of Colab's {known.name.upper()} runtime:")
    print("\n".join(said) or "nothing changed", flush=True)
    if options.only_compare:
        return 0
    pins = replica.KEPT / f"newer-{options.list.stem}.txt"
    pins.write_text("\n".join(f"{name}=={version}" for name, version in new.items()))
    packages = tuple(name for name in known.packages if name in new)
    newer = replace(known, name=pins.stem, packages=packages, pins=pins)
    failed = 0
    for path in run_lessons.choose(lesson.chosen([]), options.lessons):
        problem = run(path, newer)
        print(f"{path.stem}: {problem or 'ran'}", flush=True)
        failed = failed or int(problem is not None)
    return failed


if __name__ == "__main__":
    sys.exit(main())
