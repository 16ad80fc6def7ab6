"""Execute the lessons: store what is the same everywhere, and what one quiet run measured."""

import argparse
import copy
import json
import os
import re
import shutil
import sys
import tempfile
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path

import form
import kernel
import lesson
import measured
import quiet
import repair
import rules
from lesson import Refused

from accel_helpers.course.record import NAME as RECORD
from accel_helpers.machine import runtime

SECONDS = 600  # for one cell; a lesson must be much quicker
GATHERS = "11"  # it shows what the other lessons measured
# nbval does not compare these: pictures, widgets, and how an output is wrapped.
_UNCOMPARED = frozenset({"image/png", "image/jpeg", repair.WIDGET_VIEW})
# What nbval replaces, and by what, before it compares.
SANITIZED = re.findall(
    "^regex: (.*)$\n^replace: (.*)$", lesson.read(lesson.SANITIZE), flags=re.MULTILINE
)
_WRAPPING = frozenset({"metadata", "traceback", "output_type", "name", "execution_count", "data"})


@dataclass(frozen=True)
class Build:
    """What the lessons of one call share."""

    aside: Path  # a folder for this call
    record: Path  # of what is measured: it stays, and beside it a file for each lesson measured
    fresh: bool  # whether all is measured anew
    machine: quiet.Machine
    interrupts: Sequence

    def mark(self, path):
        """Give the file that holds the digest of a lesson's code once its run is in the record."""
        return self.record.with_name(f"{path.stem}.code")


def execute(nb, path, build, fast=True):
    """Execute a copy of a notebook, fast or as a learner does; Refused where a cell fails."""
    record = build.aside / path.stem / RECORD
    record.parent.mkdir(exist_ok=True)
    record.unlink(missing_ok=True)  # of a fast run, or of one that did not count
    # Compared cells begin with no record; measuring ones show what other lessons measured.
    if not fast and build.record.exists():
        shutil.copy(build.record, record)
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
    problem = kernel.execute(nb, path.parent, environ, SECONDS, interrupts=build.interrupts)
    if problem:
        raise Refused(problem)
    repair.clean_outputs(nb)
    return nb


def words(outputs):
    """Give what nbval compares of a cell's outputs: for each kind its texts, in their order."""
    compared = defaultdict(list)
    for output in outputs:
        if output.output_type == "stream":
            found = {output.name: output.text}
        else:
            found = {**output.get("data", {}), **output}
            found = {k: v for k, v in found.items() if k not in _UNCOMPARED | _WRAPPING}
        for kind, text in found.items():
            for regex, new in SANITIZED if isinstance(text, str) else ():
                text = re.sub(regex, new, text)
            compared[kind].append(text)
    return dict(compared)


def kinds(outputs):
    """Give what each output is, pictures included, without what it holds."""
    return [(output.output_type, sorted(output.get("data", ()))) for output in outputs]


def differing(new, old):
    """Give the cells that nbval compares and that say in one notebook what they do not in another.

    Where a cell says the same, the old outputs are put back: what differs is what a learner reads.
    """
    before = {cell.id: cell for cell in old.cells if cell.cell_type == "code"}
    found = []
    for cell in new.cells:
        if cell.cell_type != "code" or measured.TAG in lesson.tags(cell):
            continue
        was = before.get(cell.id)
        same = was is not None and was.source == cell.source
        same = same and kinds(cell.outputs) == kinds(was.outputs)
        if same and words(cell.outputs) == words(was.outputs):
            cell.outputs = copy.deepcopy(was.outputs)
            measured.renumber(cell)
        else:
            found.append(cell.id)
    return found


def without_paths(nb, aside):
    """Give a notebook without the folders of this machine and of this run."""
    text = lesson.dump(nb)
    for folder in (aside, lesson.ROOT, Path.home()):
        text = text.replace(f"{folder}/", "")
    return lesson.parse(re.sub(rf"{tempfile.gettempdir()}/[\w.-]+/", "", text))


def remember(path, code, build):
    """Keep the record of a run that counts, and that the code of this lesson is in it."""
    build.record.parent.mkdir(parents=True, exist_ok=True)
    record = build.aside / path.stem / RECORD
    if record.exists():  # not every lesson puts something on it
        shutil.copy(record, build.record)
    build.mark(path).write_text(code)


def unmeasured(path, build):
    """Give the numbers of the other lessons that the record does not hold as they are now."""
    found = []
    for other in lesson.chosen([], path.parent):
        mark = build.mark(other)
        code = measured.code(lesson.parse(lesson.read(other)))
        if other != path and not (mark.exists() and mark.read_text() == code):
            found.append(other.name[:2])
    return ", ".join(found)


def measure(new, old, path, build):
    """Have the measuring cells show one run on a quiet machine, or what they did; say which."""
    told, code = measured.told(old), measured.code(new)
    is_whole = told and told["shown"] == measured.shown(old)
    measured.put(new, old)
    if is_whole and told["code"] == code and not build.fresh:
        return f"kept of {told['day']}, the code is the same"
    missing = unmeasured(path, build) if path.name.startswith(GATHERS) else ""
    ran, reason = None, f"it shows what all lessons measure, and this machine has not run {missing}"
    if not missing:
        ran, reason = quiet.run(lambda: execute(old, path, build, fast=False), build.machine)
    if not ran:
        if is_whole:  # cells may have come or gone
            measured.sign(new, told["words"], told["code"])
        return f"kept, {reason}"
    ran = without_paths(ran, build.aside / path.stem)
    measured.put(new, ran)
    measured.sign(new, measured.line(runtime.describe(), date.today()), code)
    remember(path, code, build)
    if other := differing(ran, new):
        return f"stored anew, but in full size {', '.join(other)} say something else"
    return "stored anew"


def built(text, path, build):
    """Give a lesson's text after formatting, execution and cleaning, and what was done, in words.

    The file is not touched.
    """
    text, _ = repair.fix(text, path)
    try:
        old = lesson.parse(text)
    except (ValueError, AttributeError, TypeError) as error:
        raise Refused(f"it cannot be read: {error}") from None
    new = execute(old, path, build)
    said = f"compared cells: {len(differing(new, old))} changed"
    if measured.cells(new):
        said += f"; measured: {measure(new, old, path, build)}"
    text, _ = repair.fix(lesson.dump(new), path)
    if (size := len(text.encode())) > rules.LARGEST:
        largest = sorted(new.cells, key=lambda cell: -len(json.dumps(cell.get("outputs"))))
        names = ", ".join(cell.id for cell in largest[:3])
        raise Refused(f"it would take {size:,} bytes, most of them in {names}")
    return text, said


def build_all(files, build):
    """Build lessons one after the other; give 0, or 1 where one of them could not be."""
    failed = 0
    for path in files:
        text = lesson.read(path)
        try:
            new, said = built(text, path, build)
            if lesson.read(path) != text:
                raise Refused("it was changed meanwhile, so run this again")
        except Refused as error:
            print(f"{path}: {error}. The file is as it was.", file=sys.stderr)
            failed = 1
            continue
        if new != text:
            lesson.write(path, new)
        print(f"{path.name[:2]}: {said}.", flush=True)
    return failed


def main(arguments=None, machine=None):
    """Run the command; exit status: 0 stored and in form, 1 a lesson fails or is not, 2 refused."""
    parser = argparse.ArgumentParser(prog="build.py", description=__doc__.splitlines()[0])
    parser.add_argument("--fresh", action="store_true", help="measure all anew")
    parser.add_argument("files", nargs="*", metavar="FILES", help="default: every lesson")
    given = parser.parse_args(arguments)
    try:
        files = lesson.chosen(given.files)
        record = Path(os.environ.get("ACCEL_RECORD", lesson.ROOT / ".measured" / RECORD))
        with kernel.interrupts_kept() as interrupts, tempfile.TemporaryDirectory() as aside:
            machine = machine or quiet.Machine()
            build = Build(Path(aside), record, given.fresh, machine, interrupts)
            failed = build_all(files, build)
    except Refused as error:
        print(error, file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("Stopped. The lesson that was being executed is as it was.", file=sys.stderr)
        return 130
    return max(failed, form.main([str(path) for path in files]))


if __name__ == "__main__":
    sys.exit(main())
