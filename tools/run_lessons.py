"""Run the lessons on this machine and write a report that opens without a network."""

import argparse
import json
import os
import re
import shutil
import sys
import time
from collections.abc import Sequence
from datetime import date, datetime
from pathlib import Path

import kernel
import measured
import nbformat
import pages
from lesson import Refused, chosen
from pages import LessonRun
from tqdm import tqdm

from accel_helpers.course import record
from accel_helpers.course.summary import NAME as SUMMARY  # lesson 11 writes it beside the record
from accel_helpers.machine import runtime as runtimes

CELL_SECONDS = 600  # no lesson's code takes more than three minutes; this is for slow machines
UNFINISHED = ".unfinished"
MADE = ("plots", "notebooks")  # folders; `make site RESULTS=1` shows the second
TIMES = Path(__file__).with_name("run_times.json")  # written by minutes.py --time
FURTHER = re.compile(r"^#+ Going further.*", re.M)
LEFT_OUT = r"\g<0>\n\n*This part was not run: `make run ALL=1` runs it, too.*"


def choose(lessons: Sequence[Path], wanted: str = "") -> tuple[Path, ...]:
    """The lessons that were asked for, by number or name, in that order; all for an empty text."""
    known = {name: path for path in lessons for name in (path.stem, path.stem[:2])}
    found = {}
    for word in re.findall(r"[^,\s]+", wanted) or known:
        name = word.removesuffix(".ipynb")
        lesson = known.get(name) or known.get(name.zfill(2))
        if lesson is None:
            names = ", ".join(path.stem for path in lessons)
            raise Refused(f"There is no lesson {word!r}. There are: {names}.")
        found[lesson] = None
    return tuple(found)


def run(
    lessons: Sequence[Path],
    out: Path,
    *,
    fast: bool = False,
    everything: bool = False,
    stream=None,
    cell_seconds: float = CELL_SECONDS,
    runtime=None,
) -> list[LessonRun]:
    """Execute lessons, *Going further* only for `everything`; write the report at the end."""
    stream = stream or sys.stderr
    staging, here = out / UNFINISHED, runtime or runtimes.describe()
    environ = {
        **os.environ,
        # A report is of this run: the learner's own answers are neither shown nor changed.
        "ACCEL_RECORD": str(staging.resolve() / record.NAME),
        **({"ACCEL_FAST": "1"} if fast else {}),
    }
    done: list[LessonRun] = []
    try:
        with kernel.interrupts_kept() as interrupts:
            if not (small := environ.get("ACCEL_FAST") == "1"):
                print(forecast(lessons, everything, times()), file=stream, flush=True)
            shutil.rmtree(staging, ignore_errors=True)  # a run that was killed left it
            for folder in MADE:
                (staging / folder).mkdir(parents=True)
            record.store([], staging / record.NAME)
            how = {"environ": environ, "cell_seconds": cell_seconds, "interrupts": interrupts}
            for path in lessons:
                done.append(_run_one(path, lessons, staging, stream, everything, here, how))
            summary = SUMMARY if (staging / SUMMARY).is_file() else ""
            about = here, datetime.now(), small, summary
            (staging / "index.html").write_text(pages.index(done, *about), "utf-8")
            _publish(staging, out, done)
    except KeyboardInterrupt:
        which = f" ({', '.join(lesson.name for lesson in done)})" if done else ""
        raise KeyboardInterrupt(
            f"Stopped: {len(done)} of {len(lessons)} lessons had run{which}. "
            f"Nothing in {out} was changed."
        ) from None
    except OSError as error:
        raise Refused(
            f"The report cannot be written to {out}: {error.strerror or error}. "
            "Make room there, or name another folder with --out."
        ) from error
    finally:
        shutil.rmtree(staging, ignore_errors=True)
    return done


def leave_out(notebook) -> set[str]:
    """Mark *Going further* as not to be run, and say so there; give the ids of its cells."""
    cells, left = notebook.cells, set()
    for cell in cells:
        if left or (cell.cell_type == "markdown" and FURTHER.search(cell.source)):
            cell.source = cell.source if left else FURTHER.sub(LEFT_OUT, cell.source, count=1)
            left.add(cell.id)
            if cell.cell_type == "code":
                cell.outputs = []
                cell.metadata.tags = [*cell.metadata.get("tags", []), kernel.SKIP]
    return left


def times() -> dict:
    """Give the stored seconds of the lessons' cells, by the name of the lesson."""
    return json.loads(TIMES.read_text("utf-8")) if TIMES.is_file() else {}


def forecast(lessons: Sequence[Path], everything: bool, timed) -> str:
    """Say how long a run takes, by what the lessons took where they were timed."""
    known, seconds = [path for path in lessons if path.stem in timed], 0.0
    for path in known:
        took, notebook = timed[path.stem], kernel.read(path)[0]
        left = set() if everything or notebook is None else leave_out(notebook)
        seconds += took["whole"] - sum(s for name, s in took["cells"].items() if name in left)
    if not known:
        return "How long this takes has not been measured."
    share = f"{len(known)} of {len(lessons)} lessons, {took['date']}: {took['on']}"
    return f"About {max(1, seconds / 60):.0f} min on a slow machine ({share})."


def _run_one(path, lessons, staging, stream, everything, here, how) -> LessonRun:
    """Run a lesson and write what it gives; a terminal gets a bar, files and logs get lines."""
    notebook, problem = kernel.read(path)
    if notebook is not None and not everything:
        leave_out(notebook)
    cells = sum(map(kernel.runs, notebook.cells)) if notebook else 0
    shown = f"{path.stem} ({lessons.index(path) + 1} of {len(lessons)})"
    logged = not stream.isatty()
    bar = {"desc": shown, "unit": "cell", "file": stream, "dynamic_ncols": True, "disable": logged}
    if logged:
        print(f"{shown}: started", file=stream, flush=True)
    began, took = time.monotonic(), {}
    with tqdm(total=cells, **bar) as moving:
        if notebook is not None:
            how = {**how, "on_cell": moving.update, "took": took}
            problem = kernel.execute(notebook, path.parent, **how)
    lesson = LessonRun(path.stem, path.stem, time.monotonic() - began, problem, cells=took)
    if notebook is not None:
        if measured.cells(notebook):
            measured.sign(notebook, measured.line(here, date.today()))
        text = _kept(notebook, staging)
        (staging / "notebooks" / path.name).write_text(text, "utf-8")
        names = [other.stem for other in lessons]
        lesson = pages.write_lesson(lesson, nbformat.reads(text, 4), path, names, staging)
    if logged or not lesson.ok:
        print(f"{path.stem}: {lesson.status}, {lesson.seconds:.0f} s", file=stream, flush=True)
    return lesson


def _kept(notebook, staging: Path) -> str:
    """Give an executed lesson as it is published: no dead widget, no path that will be gone."""
    for output in (output for cell in notebook.cells for output in cell.get("outputs", ())):
        output.get("data", {}).pop("application/vnd.jupyter.widget-view+json", None)
    paths = (staging.resolve(), staging.resolve().parent)
    return nbformat.writes(notebook).replace(
        *(json.dumps(str(path), ensure_ascii=False)[1:-1] for path in paths)
    )


def _publish(staging: Path, out: Path, done: Sequence[LessonRun]) -> None:
    """Move what was made into place, file by file, the index last."""
    for folder in MADE:
        (out / folder).mkdir(exist_ok=True)
    for lesson in done:  # an earlier run may have drawn more
        for old in (out / "plots").iterdir():
            if re.fullmatch(rf"{re.escape(lesson.name)}-\d+\.png", old.name):
                old.unlink()
    made = [plot.file for lesson in done for plot in lesson.plots]
    for lesson in (lesson for lesson in done if lesson.page):
        made += [f"notebooks/{lesson.name}.ipynb", lesson.page]
    made += [SUMMARY] * (staging / SUMMARY).is_file()
    for name in [*made, record.NAME, "index.html"]:
        os.replace(staging / name, out / name)


def main(argv: Sequence[str] | None = None) -> int:
    """Leave with 0 when all lessons ran to the end, 1 when one failed, 2 without a report."""
    parser = argparse.ArgumentParser(description="Run the lessons here and write the report.")
    parser.add_argument("--lessons", default="", help='which, for example "00 03"; all by default')
    parser.add_argument("--fast", action="store_true", help="small sizes: no conclusions")
    parser.add_argument("--all", action="store_true", help="Going further, too")
    parser.add_argument("--out", type=Path, default=Path("course_report"), help="its folder")
    options = parser.parse_args(argv)
    try:
        lessons = choose(chosen([], Path("notebooks")), options.lessons)
        done = run(lessons, options.out, fast=options.fast, everything=options.all)
    except (Refused, KeyboardInterrupt) as error:
        print(error, file=sys.stderr)
        return 2
    failed = [lesson for lesson in done if not lesson.ok]
    for lesson in failed:
        print(f"{lesson.name}: {lesson.status}")
    print(f"{len(done) - len(failed)} of {len(done)} lessons ran to the end.")
    print(f"Report: {options.out / 'index.html'}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
