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

import form
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
GATHERS = "11"  # it shows what the other lessons measured
# What nbval replaces, and by what, before it compares.
SANITIZED = get_sanitize_patterns(lesson.read(lesson.SANITIZE))


def execute(nb, path, record, fast=True):
    """Execute a copy of a notebook, fast or as a learner does; Refused where a cell fails."""
    environ = {
        **os.environ,
        "PYTEST_CURRENT_TEST": "build",  # ipykernel leaves C-level output alone, as under nbval
        "ACCEL_FAST": str(int(fast)),
        "ACCEL_RECORD": str(record),
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
        texts = dict(output.get("data", {}))
        if output.output_type == "stream":
            texts[output.name] = output.text
        if output.output_type == "error":
            texts |= {"ename": output.ename, "evalue": output.evalue}
        texts.pop(repair.WIDGET_VIEW, None)
        for kind, text in texts.items():
            if kind.startswith("image/"):
                text = "a picture"
            for regex, new in SANITIZED if isinstance(text, str) else ():
                text = re.sub(regex, new, text)
            compared[kind].append(text)
    return dict(compared)


def keep_same(new, old):
    """Put the old outputs back where nbval finds them the same; tell whether none is another.

    What differs is then what a learner reads.
    """
    before = {cell.id: cell for cell in old.cells}
    same = True
    for cell in new.cells:
        if cell.cell_type != "code" or measured.TAG in lesson.tags(cell):
            continue
        was = before[cell.id]
        if words(cell.outputs) == words(was.outputs):
            measured.show(cell, was.outputs)
        else:
            same = False
    return same


def without_paths(nb):
    """Give a notebook without the folders of this machine and of this run."""
    folders = rf"{tempfile.gettempdir()}/[\w.-]+/|{lesson.ROOT}/|{Path.home()}/"
    return lesson.parse(re.sub(folders, "", lesson.dump(nb)))


def run_quietly(nb, path, quietly):
    """Execute a lesson in full size on a quiet machine, and keep the record of what it measured.

    Give None and why where that cannot be.
    """
    record = Path(os.environ.get("ACCEL_RECORD", lesson.ROOT / ".measured" / RECORD))
    if path.name.startswith(GATHERS) and not record.exists():
        return None, "this machine has not run the lessons whose measurements it shows"
    with tempfile.TemporaryDirectory() as folder:
        aside = Path(folder, RECORD)

        def work():
            # A run that does not count leaves nothing on the record.
            aside.unlink(missing_ok=True)
            if record.exists():
                shutil.copy(record, aside)
            return execute(nb, path, aside, fast=False)

        ran, reason = quietly(work)
        if ran and aside.exists():
            record.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(aside, record)
    return ran, reason


def measure(new, old, path, fresh, quietly):
    """Have the measuring cells show one run on a quiet machine, or what they did; say which."""
    told, code = measured.told(old), measured.code(new)
    is_whole = told and told["shown"] == measured.shown(old)
    measured.put(new, old)
    if is_whole and told["code"] == code and not fresh:
        return f"kept of {told['day']}, the code is the same"
    ran, reason = run_quietly(old, path, quietly)
    if ran:
        measured.put(new, without_paths(ran))
        measured.sign(new, measured.line(runtime.describe(), date.today()), code)
        return "stored anew"
    if is_whole:  # cells may have come or gone
        measured.sign(new, told["words"], told["code"])
    return f"kept, {reason}"


def build(path, fresh, quietly):
    """Store what a lesson says, formatted, executed and cleaned; give what was done, in words."""
    text = lesson.read(path)
    old = lesson.parse(repair.fix(text, path)[0])
    with tempfile.TemporaryDirectory() as folder:
        new = execute(old, path, Path(folder, RECORD))
    said = "nothing changed" if keep_same(new, old) else "changed"
    if measured.cells(new):
        said += f"; measured: {measure(new, old, path, fresh, quietly)}"
    if lesson.read(path) != text:
        raise Refused("it was changed meanwhile, so run this again")
    lesson.write(path, repair.fix(lesson.dump(new), path)[0])
    return said


def main(arguments=None, quietly=quiet.run):
    """Run the command; exit status: 0 stored and in form, 1 a lesson fails or is not."""
    parser = argparse.ArgumentParser(prog="build.py", description=__doc__.splitlines()[0])
    parser.add_argument("--fresh", action="store_true", help="measure all anew")
    parser.add_argument("files", nargs="*", metavar="FILES", help="default: every lesson")
    given = parser.parse_args(arguments)
    failed = 0
    files = lesson.chosen(given.files)
    for path in files:
        try:
            print(f"{path.name[:2]}: {build(path, given.fresh, quietly)}.", flush=True)
        except Refused as error:
            print(f"{path}: {error}. The file is as it was.", file=sys.stderr)
            failed = 1
    return max(failed, form.main([str(path) for path in files]))


if __name__ == "__main__":
    sys.exit(main())
