"""Execute the lessons as nbval will see them and store what is the same on every machine."""

import argparse
import copy
import os
import re
import sys
import tempfile
from collections import defaultdict
from pathlib import Path

import form
import kernel
import lesson
import repair
from lesson import Refused
from nbformat.v4 import new_output

from accel_helpers.machine import runtime

SECONDS = 300  # for one cell; a lesson must be much quicker
# nbval does not compare these: pictures, widgets, and how an output is wrapped.
_UNCOMPARED = frozenset({"image/png", "image/jpeg", repair.WIDGET_VIEW})
_WRAPPING = frozenset({"metadata", "traceback", "output_type", "name", "execution_count", "data"})


def environment(card, old=os.environ):
    """Give the environment of a lesson that is executed for storing; `card` is its result card."""
    return {
        **old,
        "PYTEST_CURRENT_TEST": "build",  # ipykernel leaves C-level output alone, as under nbval
        "ACCEL_FAST": "1",
        "ACCEL_DATA": "bundled",
        "ACCEL_PICTURES": "reference",  # as course/references.py says
        "ACCEL_RESULT_CARD": str(card),
        "ACCEL_RECORD": str(Path(card).with_name("course_record.json")),
        "PYTHONHASHSEED": "0",
    }


def execute(nb, folder, seconds=SECONDS, interrupts=()):
    """Execute a copy of a notebook in a folder and give the copy; Refused where a cell fails."""
    nb = copy.deepcopy(nb)
    with tempfile.TemporaryDirectory(prefix="accel-build-") as aside:
        card = Path(aside) / "result_card.json"
        problem = kernel.execute(nb, folder, environment(card), seconds, interrupts=interrupts)
    if problem:
        raise Refused(problem)
    return nb


def patterns(text):
    """Read the replacements of a sanitize file, as nbval reads them."""
    return re.findall("^regex: (.*)$\n^replace: (.*)$", text, flags=re.MULTILINE)


def words(outputs, replacements):
    """Give what nbval compares of a cell's outputs: for each kind its texts, in their order."""
    compared = defaultdict(list)
    for output in outputs:
        if output.output_type == "stream":
            found = {output.name: output.text}
        else:
            found = {**output.get("data", {}), **output}
            found = {k: v for k, v in found.items() if k not in _UNCOMPARED | _WRAPPING}
        for kind, text in found.items():
            for regex, new in replacements if isinstance(text, str) else ():
                text = re.sub(regex, new, text)
            compared[kind].append(text)
    return dict(compared)


def kinds(outputs):
    """Give what each output is, pictures included, without what it holds."""
    return [(output.output_type, sorted(output.get("data", ()))) for output in outputs]


def name_machine(nb):
    """Say, below what frameworks printed, on which machine and with which versions they did."""
    here = runtime.describe()
    shown = {name: here.frameworks.get(name) for name in ("tensorflow", "jax", "keras")}
    versions = ", ".join(f"{name} {version}" for name, version in shown.items() if version)
    said = f"(Printed on {here.cpu_name}, {here.cores} cores, with {versions}.)\n"
    for cell in nb.cells:
        if repair.SPOKEN in lesson.tags(cell):
            cell.outputs.append(new_output("stream", name="stdout", text=said))


def take_run(nb, path):
    """Take what frameworks printed in a whole run of a lesson, where its code is still the same."""
    ran = {cell.id: cell for cell in lesson.parse(lesson.read(path)).cells}
    for cell in nb.cells:
        other = ran.get(cell.id)
        if repair.SPOKEN in lesson.tags(cell) and other and other.source == cell.source:
            cell.outputs = copy.deepcopy(other.outputs)
    repair.clean_outputs(nb)


def keep_old(new, old, replacements):
    """Put the old outputs back where they say the same: what differs is what a learner reads."""
    before = {cell.id: cell for cell in old.cells if cell.cell_type == "code"}
    for cell in new.cells:
        was = before.get(cell.id)
        if cell.cell_type != "code" or was is None or was.source != cell.source:
            continue
        same = words(cell.outputs, replacements) == words(was.outputs, replacements)
        if repair.SPOKEN in lesson.tags(cell) and was.outputs:
            cell.outputs = copy.deepcopy(was.outputs)
        elif same and kinds(cell.outputs) == kinds(was.outputs):
            cell.outputs = copy.deepcopy(was.outputs)
            for output in cell.outputs:
                if output.output_type == "execute_result":
                    output.execution_count = cell.execution_count


def built(text, path, fresh=False, seconds=SECONDS, interrupts=(), run=None):
    """Give a lesson's text after formatting, execution and cleaning; the file is not touched.

    `run` is a folder of executed lessons, as `make run ALL=1` leaves it.
    """
    text, _ = repair.fix(text, path)
    try:
        old = lesson.parse(text)
    except (ValueError, AttributeError, TypeError) as error:
        raise Refused(f"it cannot be read: {error}") from None
    new = execute(old, path.parent, seconds, interrupts)
    repair.clean_outputs(new)
    if run:
        take_run(new, run / path.name)
    name_machine(new)
    if not fresh:
        keep_old(new, old, patterns(lesson.read(lesson.SANITIZE)))
    text, _ = repair.fix(lesson.dump(new), path)
    return text


def main(arguments=None):
    """Run the command; exit status: 0 stored and in form, 1 a lesson fails or is not, 2 refused."""
    parser = argparse.ArgumentParser(prog="build.py", description=__doc__.splitlines()[0])
    parser.add_argument("--fresh", action="store_true", help="store every picture anew")
    parser.add_argument("--run", type=Path, help="executed lessons: take what frameworks printed")
    parser.add_argument("--seconds", type=int, default=SECONDS, help="the most for one cell")
    parser.add_argument("files", nargs="*", metavar="FILES", help="default: every lesson")
    given, failed = parser.parse_args(arguments), 0
    try:
        files = lesson.chosen(given.files)
        with kernel.interrupts_kept() as interrupts:
            for path in files:
                text = lesson.read(path)
                try:
                    new = built(text, path, given.fresh, given.seconds, interrupts, given.run)
                    if lesson.read(path) != text:
                        raise Refused("it was changed meanwhile, so run this again")
                except Refused as error:
                    print(f"{path}: {error}. The file is as it was.", file=sys.stderr)
                    failed = 1
                    continue
                if new != text:
                    lesson.write(path, new)
                print(f"{path}: {'stored' if new != text else 'nothing new'}.")
    except Refused as error:
        print(error, file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print(f"Stopped: {path} is as it was.", file=sys.stderr)
        return 130
    return max(failed, form.main([str(path) for path in files]))


if __name__ == "__main__":
    sys.exit(main())
