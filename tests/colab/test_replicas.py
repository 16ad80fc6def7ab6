"""Every lesson as Colab runs it: a lone file, with Colab's packages, in a real kernel."""

import copy
import json
import shutil
from pathlib import Path

import build  # of tools: what is compared, and how, is settled there
import nbformat
import pytest
import replica
import session

# What differs most between Colab's runtimes: devices, strategies, forecasts, rates, compilers.
BY_DAY = ("01", "02", "04", "05", "07", "08")
LESSONS = []
for path in sorted((replica.ROOT / "notebooks").glob("*.ipynb")):
    mark = pytest.mark.slow if path.name[:2] in BY_DAY else pytest.mark.night
    LESSONS.append(pytest.param(path, marks=mark, id=path.stem))
# Runs behind the lesson, in its kernel.
LAST_CELL = """
import json as _json, sys as _sys
from accel_helpers.machine import backend as _backend
print(_json.dumps({
    "library": ah.__file__,
    "backend": ah.use_backend().name,
    "devices": _backend.devices(),
    "tensorflow": "tensorflow" in _sys.modules,
}))
"""


def differences(stored, ran):
    """Tell what nbval would: the compared cells whose outputs are not those that are stored."""
    found = []
    for place, (was, now) in enumerate(zip(stored.cells, ran.cells, strict=True)):
        tags = build.lesson.tags(was)
        # Where the setup cell installs the library, pip says so.
        if not build.lesson.is_code(was) or tags & {"nbval-ignore-output", "nbval-skip", "setup"}:
            continue
        if was.execution_count is None:
            found.append(f"cell {place + 1}: nothing is stored; run `make notebooks`")
            continue
        before, after = (build.words(cell.outputs) for cell in (was, now))
        if before != after:
            found.append(f"cell {place + 1}:\n  stored {before}\n  here   {after}")
    return found


def shown(notebook):
    """Give all the text that the cells of a notebook printed or showed."""
    texts = []
    for cell in notebook.cells:
        for output in cell.get("outputs", ()):
            kept = {k: v for k, v in output.get("data", {}).items() if k.startswith("text/")}
            texts += [output.get("text", ""), *kept.values()]
    return "\n".join(texts)


def alarms(notebook):
    """Give what the cells wrote to the error stream, which notebooks show in red."""
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", ())]
    return [output.text for output in outputs if output.get("name") == "stderr"]


@pytest.mark.timeout(1800)  # the first one makes the replica
@pytest.mark.parametrize("path", LESSONS)
def test_a_lesson_runs_as_a_lone_file(colab, path, wheel, tmp_path):
    folder = tmp_path / "content"
    folder.mkdir()
    shutil.copy(path, folder)
    shutil.copy(wheel, folder)
    stored = nbformat.read(path, as_version=4)
    ran = copy.deepcopy(stored)
    ran.cells.append(nbformat.v4.new_code_cell(LAST_CELL))
    before = colab.packages()
    assert session.OURS not in before
    assert len(before) > 40
    problem = colab.run(ran, folder)
    assert problem is None, problem
    last = json.loads(ran.cells.pop().outputs[0].text)

    after = colab.packages()
    installed = after.pop(session.OURS, None)
    if after != before:
        replica.spoil(colab.runtime)
    assert installed, "the setup cell installed the wheel"
    assert after == before, "nothing else was changed"
    assert Path(last["library"]).is_relative_to(colab.python.parents[1])
    # Lesson 04 asks for JAX, as people with a TPU do.
    assert last["backend"] == ("jax" if path.name.startswith("04") else colab.runtime.backend)
    assert last["devices"] == ["cpu"]
    if "Place:" in shown(ran):
        assert "Google Colab" in shown(ran)
    words = " ".join(shown(ran).split())  # a long sentence may be broken into lines
    claimed = "The environment claims a TPU, but none is attached" in words
    asks = path.name[:2] in ("01", "02", "04")  # these ask what the machine has
    assert claimed == (asks and colab.runtime is replica.TPU), "a TPU that is not there is told"
    if colab.runtime is replica.TPU:
        assert not last["tensorflow"]
    assert not alarms(ran)
    different = differences(stored, ran)
    assert not different, "\n".join(["not as stored:", *different])
