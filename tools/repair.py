"""Repairs of a lesson's form that need no author: how it is written, never what it says."""

import copy
import hashlib
import json
import re
import shutil
import subprocess
import sys
from itertools import count
from pathlib import Path

import lesson
import measured
from lesson import UNSTAMPED, Refused, badge, restamp_badges, setup_source, setup_stamp, tags
from nbformat import from_dict
from nbformat.v4 import new_code_cell

# The rules of form.py whose problems are repaired here (as far as that needs no author).
MENDS = frozenset(
    [
        "format",
        "ids",
        "canonical",
        "badge",
        "notebook-metadata",
        "cell-metadata",
        "unstored",
        "widget-view",
        "ruff-format",
    ]
)
KERNEL = {"display_name": "Python 3", "language": "python", "name": "python3"}
NOTEBOOK_KEYS = ("kernelspec", "accelerator", "colab")
COLAB_KEYS = frozenset({"gpuType", "machine_shape", "runtime_attributes", "toc_visible"})
CELL_KEYS = frozenset({"tags", "slideshow", "cellView", "jupyter"})
WIDGET_VIEW = "application/vnd.jupyter.widget-view+json"
_ID = re.compile(r"[a-zA-Z0-9_-]{1,64}")


def bad_ids(nb):
    """Give the places of the cells without an id of their own."""
    seen, places = set(), []
    for i, cell in enumerate(nb["cells"]):
        name = cell.get("id")
        if not isinstance(name, str) or not _ID.fullmatch(name) or name in seen:
            places.append(i)
        seen.add(name)
    return places


def with_ids(nb):
    """Give a copy in which each cell has an id; a new one comes from the cell's source alone."""
    nb = copy.deepcopy(nb)
    bad = bad_ids(nb)
    taken = {cell.get("id") for i, cell in enumerate(nb["cells"]) if i not in bad}
    for i in bad:
        source = "".join(nb["cells"][i].get("source", ""))
        names = (hashlib.sha256(f"{turn}{source}".encode()).hexdigest()[:8] for turn in count())
        nb["cells"][i]["id"] = name = next(name for name in names if name not in taken)
        taken.add(name)
    return nb


def readable(raw):
    """Give a copy of a notebook's JSON with what other rules mend already mended."""
    raw = {**with_ids(raw), "nbformat_minor": 5}
    if isinstance(raw.get("metadata"), dict):
        raw["metadata"]["kernelspec"] = dict(KERNEL)
    return raw


def clean_metadata(metadata):
    """Give a notebook's metadata with what may stand there, and nothing else."""
    clean = {key: value for key, value in metadata.items() if key in NOTEBOOK_KEYS}
    clean["kernelspec"] = dict(KERNEL)
    if "colab" in clean:
        clean["colab"] = {k: v for k, v in dict(clean["colab"]).items() if k in COLAB_KEYS}
        if not clean["colab"]:
            del clean["colab"]
    return clean


def clean_cell_metadata(metadata):
    """Give a cell's metadata with what may stand there: it may hide its code, not its output."""
    clean = {key: value for key, value in metadata.items() if key in CELL_KEYS}
    if clean.get("jupyter", {"source_hidden": True}) != {"source_hidden": True}:
        del clean["jupyter"]
    return clean


def stamp_of(nb):
    """Give the stamp that a lesson carries: its setup cell's, else its badge's, else none."""
    for cell in nb.cells[:2]:
        if cell.cell_type == "code" and (stamp := setup_stamp(cell.source)):
            return stamp
    for cell in nb.cells[:1]:
        for stamp in filter(None, lesson.badge_stamps(cell.source)):
            try:
                return lesson.checked(stamp)
            except Refused:
                continue
    return UNSTAMPED


def clean_outputs(nb):
    """Drop what may not be stored: what nothing runs, views of widgets; of what measures more."""
    for cell in nb.cells:
        if cell.cell_type != "code":
            continue
        if "nbval-skip" in tags(cell) or not lesson.is_code(cell):
            cell.outputs, cell.execution_count = [], None
        measures, kept = measured.TAG in tags(cell), []
        for output in cell.outputs:
            data = output.get("data", {})
            data.pop(WIDGET_VIEW, None)
            # A player is stored as its still picture.
            if measures and "<script" in data.get("text/html", ""):
                del data["text/html"]
            is_noise = measures and output.get("name") == "stderr"
            if output.get("data", True) and not is_noise:
                kept.append(output)
        cell.outputs = kept


def _place_setup(nb, stamp, number):
    """Put the setup cell's own bytes second; make the cell where there is none."""
    places = [i for i, cell in enumerate(nb.cells) if "setup" in tags(cell)]
    if not places and len(nb.cells) > 1 and setup_stamp(nb.cells[1].source):
        places = [1]  # it lost its tag
    if not nb.cells or nb.cells[0].cell_type != "markdown" or len(places) > 1:
        return  # an author must say which is which
    cell = nb.cells.pop(places[0]) if places else new_code_cell(id="setup")
    if cell.cell_type != "code":
        nb.cells.insert(places[0], cell)
        return
    cell.source, cell.metadata["tags"] = setup_source(stamp, number), ["setup"]
    nb.cells.insert(1, cell)


def _place_badge(nb, stamp, name):
    for cell in nb.cells:
        if cell.cell_type == "markdown":
            cell.source = restamp_badges(cell.source, stamp, [name])
    if not nb.cells or nb.cells[0].cell_type != "markdown":
        return
    title, line = nb.cells[0], badge(stamp, name)
    if line in title.source.splitlines():
        return
    old = re.compile(rf"^.*{re.escape(lesson.PICTURE)}.*$", re.MULTILINE)
    if old.search(title.source):
        title.source = old.sub(lambda _: line, title.source, count=1)
    else:
        title.source = f"{line}\n\n{title.source}"


def _ruff(arguments, text, path):
    """Ask ruff about a notebook's text, under the course's settings wherever the file lies."""
    beside = shutil.which("ruff", path=str(Path(sys.executable).parent))  # quicker to start
    ruff = [beside] if beside else [sys.executable, "-m", "ruff"]
    command = [*ruff, *arguments, "--no-cache"]
    command += ["--config", str(lesson.ROOT / "pyproject.toml")]
    if lesson.is_converted(lesson.parse(text)):
        command += ["--line-length", "79"]
    command += ["--stdin-filename", str(path), "-"]
    done = subprocess.run(command, input=text.encode(), capture_output=True, check=False)
    said = done.stderr.decode(errors="replace")
    if "No module named ruff" in said:
        raise Refused("ruff is not installed: run `make lint`, which brings it.")
    return done.returncode, done.stdout.decode(errors="replace"), said


def ruff_problems(text, path):
    """Give what ruff finds in a notebook as (rule, place of the cell, sentence)."""
    status, answer, said = _ruff(["check", "--output-format", "json"], text, path)
    if status not in (0, 1):
        raise Refused(f"ruff could not work on {path}: {said.strip()}")
    cells = lesson.parse(text).cells
    problems = []
    for found in json.loads(answer or "[]"):
        place = found["cell"] - 1 if found.get("cell") else None
        if place is not None and "setup" in tags(cells[place]):
            continue  # its bytes have a rule of their own
        row = found["location"]["row"]
        problems.append(("ruff-check", place, f"line {row}: {found['code']}: {found['message']}"))
    status, difference, said = _ruff(["format", "--diff"], text, path)
    if status == 1:
        for number in re.findall(r"^--- .*:cell (\d+)\n.*\n@@", difference, re.MULTILINE):
            if "setup" not in tags(cells[int(number) - 1]):
                problems.append(("ruff-format", int(number) - 1, "ruff would format the code."))
    return problems


def _run_ruff(nb, path):
    """Format the code and repair what ruff can repair safely."""
    text = lesson.dump(nb)
    for arguments in (["check", "--fix", "--quiet"], ["format"]):
        status, answer, _ = _ruff(arguments, text, path)
        text = answer if status in (0, 1) and answer.strip() else text
    done = lesson.parse(text)
    for cell, was in zip(done.cells, nb.cells, strict=True):
        cell.source = was.source if "setup" in tags(was) else cell.source
    return done


def fix(text, path):
    """Repair what needs no author; give the new text and what was done, in words."""
    try:
        old = lesson.parse(text)
        nb = with_ids(old)
    except (ValueError, AttributeError, TypeError):
        return text, []
    stamp = stamp_of(nb)
    done = ["the file's layout"] * (lesson.dump(old) != text) + ["cell ids"] * (nb != old)
    kept = from_dict(clean_metadata(nb.metadata))
    cells = [(cell, from_dict(clean_cell_metadata(cell.metadata))) for cell in nb.cells]
    steps = {
        "the format's version": lambda: nb.update(nbformat_minor=5),
        "the notebook's metadata": lambda: nb.update(metadata=kept),
        "cell metadata": lambda: [cell.update(metadata=clean) for cell, clean in cells],
        "outputs that may not be stored": lambda: clean_outputs(nb),
        "the setup cell": lambda: _place_setup(nb, stamp, path.name[:2]),
        "the badge": lambda: _place_badge(nb, stamp, path.name),
    }
    for what, mend in steps.items():
        before = copy.deepcopy(nb)
        mend()
        done += [what] * (nb != before)
    ruffed = _run_ruff(nb, path)
    return lesson.dump(ruffed), done + ["code, by ruff"] * (ruffed != nb)
