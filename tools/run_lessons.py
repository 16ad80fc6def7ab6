"""Run the lessons on this machine and write a report that opens without a network."""

import argparse
import json
import os
import re
import shutil
import sys
import time
from datetime import date, datetime
from pathlib import Path

import kernel
import lesson
import measured
import nbformat
import pages
from tqdm import tqdm

from accel_helpers.course import record
from accel_helpers.course.summary import NAME as SUMMARY  # lesson 11 writes it beside the record
from accel_helpers.machine import runtime

CELL_SECONDS = 600  # no lesson's code takes more than three minutes; this is for slow machines
UNFINISHED = ".unfinished"
WIDGET = "application/vnd.jupyter.widget-view+json"
TIMES = Path(__file__).with_name("run_times.json")  # written by minutes.py --time
FURTHER = re.compile(r"^#+ Going further.*", re.M)
LEFT_OUT = r"\g<0>\n\n*This part was not run: `make run ALL=1` runs it, too.*"


def choose(lessons, wanted=""):
    """The lessons that were asked for, by number or name, in that order; all for an empty text."""
    found = {}
    for word in wanted.replace(",", " ").split():
        start = word.removesuffix(".ipynb").zfill(2)
        matching = [path for path in lessons if path.stem.startswith(start)]
        if not matching:
            names = ", ".join(path.stem for path in lessons)
            raise lesson.Refused(f"There is no lesson {word!r}. There are: {names}.")
        found |= dict.fromkeys(matching)
    return list(found or lessons)


def run(lessons, out, *, fast=False, everything=False):
    """Execute lessons, *Going further* only for `everything`; write the report at the end."""
    notebooks = {path: lesson.parse(lesson.read(path)) for path in lessons}
    if not everything:
        for notebook in notebooks.values():
            leave_out(notebook)
    # A run that is stopped leaves the old report whole.
    staging = (out / UNFINISHED).resolve()
    shutil.rmtree(staging, ignore_errors=True)
    for folder in ("plots", "notebooks"):
        (staging / folder).mkdir(parents=True)
    # A report is of this run: the learner's own answers are neither shown nor changed.
    record.store([], staging / record.NAME)
    environ = {**os.environ, "ACCEL_RECORD": str(staging / record.NAME)}
    if fast:
        environ["ACCEL_FAST"] = "1"
    small = environ.get("ACCEL_FAST") == "1"
    if not small:
        print(forecast(notebooks), file=sys.stderr)
    here = runtime.describe()
    try:
        done = [_run_one(path, notebooks, staging, environ, here) for path in lessons]
        summary = SUMMARY if (staging / SUMMARY).is_file() else ""
        index = pages.index(done, here, datetime.now(), small, summary)
        (staging / "index.html").write_text(index, "utf-8")
        for one in done:
            # An earlier run may have drawn more.
            for plot in out.glob(f"plots/{one.name}-*.png"):
                plot.unlink()
        shutil.copytree(staging, out, dirs_exist_ok=True)
    finally:
        shutil.rmtree(staging)
    return done


def leave_out(notebook):
    """Mark *Going further* as not to be run, and say so there."""
    cells = iter(notebook.cells)
    for cell in cells:
        if cell.cell_type == "markdown" and FURTHER.search(cell.source):
            cell.source = FURTHER.sub(LEFT_OUT, cell.source, count=1)
            break
    for cell in cells:
        if cell.cell_type == "code":
            cell.outputs = []
            cell.metadata.tags = [*lesson.tags(cell), kernel.SKIP]


def times():
    """Give the stored seconds of the lessons' cells, by the name of the lesson."""
    return json.loads(TIMES.read_text("utf-8"))


def forecast(notebooks):
    """Say how long this takes, by what was stored of the cells that will run."""
    timed, seconds = times(), 0
    for path, notebook in notebooks.items():
        took = timed[path.stem]["cells"] if path.stem in timed else {}
        left = [cell.id for cell in notebook.cells if kernel.SKIP in lesson.tags(cell)]
        seconds += sum(took[cell] for cell in took.keys() - left)
    return f"About {max(1, seconds / 60):.0f} min on a slow machine."


def _run_one(path, notebooks, staging, environ, here):
    """Run a lesson and write what it gives; a terminal gets a bar, too."""
    print(f"{path.stem}: started", file=sys.stderr, flush=True)
    notebook, took, began = notebooks[path], {}, time.monotonic()
    with tqdm(total=len(notebook.cells), unit="cell", disable=None, leave=False) as bar:
        problem = kernel.execute(
            notebook,
            path.parent,
            environ,
            CELL_SECONDS,
            took=took,
            on_cell_start=lambda **cell: bar.update(),
        )
    ran = pages.LessonRun(path.stem, path.stem, time.monotonic() - began, problem, cells=took)
    print(f"{path.stem}: {ran.status}, {ran.seconds:.0f} s", file=sys.stderr, flush=True)
    if measured.cells(notebook):
        measured.sign(notebook, measured.line(here, date.today()))
    text = _kept(notebook, staging)
    (staging / "notebooks" / path.name).write_text(text, "utf-8")
    names = [other.stem for other in notebooks]
    return pages.write_lesson(ran, nbformat.reads(text, 4), path, names, staging)


def _kept(notebook, staging):
    """Give an executed lesson as it is published: no dead widget, no path that will be gone."""
    for cell in notebook.cells:
        for output in cell.get("outputs", ()):
            output.get("data", {}).pop(WIDGET, None)
    return nbformat.writes(notebook).replace(str(staging), str(staging.parent))


def main(argv=None):
    """Leave with 0 when all lessons ran to the end, 1 when one failed, 2 without a report."""
    parser = argparse.ArgumentParser(description="Run the lessons here and write the report.")
    parser.add_argument("--lessons", default="", help='which, for example "00 03"; all by default')
    parser.add_argument("--fast", action="store_true", help="small sizes: no conclusions")
    parser.add_argument("--all", action="store_true", help="Going further, too")
    parser.add_argument("--out", type=Path, default=Path("course_report"), help="its folder")
    options = parser.parse_args(argv)
    try:
        lessons = choose(lesson.chosen([], Path("notebooks")), options.lessons)
        done = run(lessons, options.out, fast=options.fast, everything=options.all)
    except (lesson.Refused, KeyboardInterrupt) as reason:
        print(str(reason) or f"Stopped. Nothing in {options.out} was changed.", file=sys.stderr)
        return 2
    ran = sum(one.ok for one in done)
    print(f"{ran} of {len(done)} lessons ran to the end. Report: {options.out / 'index.html'}")
    return int(ran < len(done))


if __name__ == "__main__":
    sys.exit(main())
