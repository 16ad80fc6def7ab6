"""Execute the lessons: store what is the same everywhere, and what one quiet run measured."""

import argparse
import copy
import os
import re
import shutil
import sys
import tempfile
from collections import defaultdict
from datetime import date
from pathlib import Path

import kernel
import lesson
import measured
import quiet
import repair
from lesson import Refused
from nbval.plugin import get_sanitize_patterns

from accel_helpers.course.record import NAME as RECORD
from accel_helpers.machine import runtime

SECONDS = 600  # for one cell; a lesson must be much quicker
# What the lessons measured on this machine: 11 shows it.
KEPT = lesson.ROOT / ".measured"
# What nbval replaces, and by what, before it compares.
SANITIZED = get_sanitize_patterns(lesson.read(lesson.SANITIZE))


def execute(nb, path, folder, fast=True):
    """Execute a copy of a notebook, fast or as a learner does; Refused where a cell fails."""
    environ = {
        **os.environ,
        "PYTEST_CURRENT_TEST": "build",  # ipykernel leaves C-level output alone, as under nbval
        "ACCEL_FAST": str(int(fast)),
        "ACCEL_RECORD": str(Path(folder, RECORD)),
        "PYTHONHASHSEED": "0",
    }
    if fast:
        environ["ACCEL_DATA"] = "bundled"
    nb = copy.deepcopy(nb)
    if problem := kernel.execute(nb, path.parent, environ, SECONDS):
        raise Refused(problem)
    repair.clean_outputs(nb)
    return nb


def words(outputs):
    """Give what nbval compares of a cell's outputs: for each kind its texts, in their order.

    Of a picture it is only that there is one.
    """
    compared = defaultdict(list)
    for output in outputs:
        texts = output.get("data", {output.get("name", ""): output.get("text", "")})
        for kind, text in texts.items():
            text = "a picture" if kind.startswith("image/") else str(text)
            for regex, new in SANITIZED:
                text = re.sub(regex, new, text)
            compared[kind].append(text)
    return compared


def keep(new, old):
    """Put code back, and outputs where cells measure, or nbval finds them the same.

    What differs is then what a learner reads.
    """
    for cell, was in zip(new.cells, old.cells, strict=True):
        cell.source = was.source
        if cell.cell_type == "markdown":
            continue
        if measured.TAG in lesson.tags(cell) or words(cell.outputs) == words(was.outputs):
            measured.show(cell, was.outputs)


def without_paths(nb):
    """Give a notebook without the folders of this machine and of this run."""
    folders = rf"{tempfile.gettempdir()}/[\w.-]+/|{lesson.ROOT}/|{Path.home()}/"
    return lesson.parse(re.sub(folders, "", lesson.dump(nb)))


def measure(nb, path, quietly, kept):
    """Have the measuring cells show one run in full size on a quiet machine; say of which."""
    kept.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        # A run that does not count leaves nothing on the record.
        shutil.copytree(kept, folder, dirs_exist_ok=True)
        ran = quietly(lambda: execute(nb, path, folder, fast=False))
        shutil.copytree(folder, kept, dirs_exist_ok=True)
    for cell, new in zip(measured.cells(nb), measured.cells(without_paths(ran)), strict=True):
        measured.show(cell, new.outputs)
    measured.sign(nb, measured.line(runtime.describe(), date.today()), measured.code(nb))


def build(path, fresh, quietly=quiet.run, kept=KEPT):
    """Store what a lesson says, formatted, executed and cleaned."""
    old = lesson.parse(repair.fix(lesson.read(path), path))
    told, shown = measured.told(old), measured.shown(old)
    with tempfile.TemporaryDirectory() as folder:
        new = execute(old, path, folder)
    keep(new, old)
    if fresh:
        measure(new, path, quietly, kept)
    elif told and told["shown"] == shown:  # the numbers of cells may have changed
        measured.sign(new, told["words"], told["code"])
    lesson.write(path, repair.fix(lesson.dump(new), path))


def main():
    """Run the command, and leave with a sentence for every lesson that could not be stored."""
    parser = argparse.ArgumentParser(prog="build.py", description=__doc__)
    parser.add_argument("--fresh", action="store_true", help="measure anew, on a quiet machine")
    parser.add_argument("files", nargs="*", metavar="FILES", help="default: every lesson")
    given = parser.parse_args()
    refused = []
    for path in lesson.chosen(given.files):
        print(path, flush=True)
        try:
            build(path, given.fresh)
        except Refused as reason:
            refused.append(f"{path} is as it was: {reason}")
    sys.exit("\n".join(refused) or 0)


if __name__ == "__main__":
    main()
