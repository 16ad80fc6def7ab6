"""Run the lessons on this machine and write a report that opens without a network."""

import argparse
import json
import os
import shutil
import sys
import tempfile
import time
from datetime import date, datetime
from pathlib import Path

import kernel
import lesson
import measured
import pages

from accel_helpers.course import record
from accel_helpers.course.summary import NAME as SUMMARY  # lesson 11 writes it beside the record
from accel_helpers.machine import runtime

CELL_SECONDS = 600  # no lesson's code takes more than three minutes; this is for slow machines
OUT = Path("course_report")
TIMES = Path(__file__).with_name("run_times.json")  # written by minutes.py --time
LEFT_OUT = "\n\n*This part was not run: `make run ALL=1` runs it, too.*"


def choose(lessons, wanted=""):
    """The lessons that were asked for by number, in that order; all for an empty text."""
    numbers = {path.name[:2]: path for path in lessons}
    return [numbers[word] for word in wanted.split()] or lessons


def run(lessons, out=OUT, *, fast=False, everything=False):
    """Execute lessons, *Going further* only for `everything`; write the report at the end."""
    out.mkdir(parents=True, exist_ok=True)
    # A run that is stopped leaves the old report whole.
    with tempfile.TemporaryDirectory(dir=out) as staging:
        done = _fill(Path(staging).resolve(), lessons, fast, everything)
        shutil.copytree(staging, out, dirs_exist_ok=True)
    return done


def _fill(folder, lessons, fast, everything):
    """Write all of a report into a folder."""
    for name in ("plots", "notebooks"):
        (folder / name).mkdir()
    # A report is of this run: the learner's own answers are neither shown nor changed.
    environ = {**os.environ, "ACCEL_RECORD": str(folder / record.NAME)}
    if fast:
        environ["ACCEL_FAST"] = "1"
    here, done = runtime.describe(), []
    names = [path.stem for path in lessons]
    for path in lessons:
        print(f"{path.stem}: started", file=sys.stderr, flush=True)
        notebook = lesson.parse(lesson.read(path))
        if not everything:
            leave_out(notebook)
        took, began = {}, time.monotonic()
        problem = kernel.execute(notebook, path.parent, environ, CELL_SECONDS, took=took)
        seconds = time.monotonic() - began
        ran = pages.LessonRun(path.stem, path.stem, seconds, problem, cells=took)
        print(f"{path.stem}: {ran.status}, {ran.seconds:.0f} s", file=sys.stderr, flush=True)
        measured.sign(notebook, measured.line(here, date.today()))
        text = lesson.dump(notebook).replace(str(folder), str(folder.parent))
        (folder / "notebooks" / path.name).write_text(text, "utf-8")
        done.append(pages.write_lesson(ran, lesson.parse(text), path, names, folder))
    summary = SUMMARY if (folder / SUMMARY).is_file() else ""
    is_small = environ.get("ACCEL_FAST") == "1"
    index = pages.index(done, here, datetime.now(), is_small, summary)
    (folder / "index.html").write_text(index, "utf-8")
    return done


def leave_out(notebook):
    """Mark *Going further* as not to be run, and say so there."""
    is_further = False
    for cell in notebook.cells:
        if is_further and cell.cell_type == "code":
            cell.metadata.tags = [*lesson.tags(cell), kernel.SKIP]
        elif cell.cell_type == "markdown" and "# Going further" in cell.source:
            is_further = True
            cell.source += LEFT_OUT


def times():
    """Give the stored seconds of the lessons' cells, by the name of the lesson."""
    return json.loads(TIMES.read_text("utf-8"))


def main(argv=None):
    """Leave with 0 when all lessons ran to the end, 1 when one failed, 2 without a report."""
    parser = argparse.ArgumentParser(description="Run the lessons here and write the report.")
    parser.add_argument("--lessons", default="", help='which, for example "00 03"; all by default')
    parser.add_argument("--fast", action="store_true", help="small sizes: no conclusions")
    parser.add_argument("--all", action="store_true", help="Going further, too")
    options = parser.parse_args(argv)
    lessons = choose(lesson.chosen([], Path("notebooks")), options.lessons)
    try:
        done = run(lessons, fast=options.fast, everything=options.all)
    except KeyboardInterrupt:
        print(f"Stopped. Nothing in {OUT} was changed.", file=sys.stderr)
        return 2
    ran = sum(one.ok for one in done)
    print(f"{ran} of {len(done)} lessons ran to the end. Report: {OUT / 'index.html'}")
    return int(ran < len(done))


if __name__ == "__main__":
    sys.exit(main())
