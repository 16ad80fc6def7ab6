"""Every lesson as Colab runs it: a lone file, with Colab's packages, in a real kernel."""

import copy
import json
import shutil
from pathlib import Path

import build  # of tools: what is compared, and how, is settled there
import lesson
import pytest
import replica
from nbformat.v4 import new_code_cell

# What differs most between Colab's runtimes: devices, strategies, forecasts, rates, compilers.
BY_DAY = ("01", "02", "04", "05", "07", "08")
ASK = ("01", "02", "04")  # these ask what the machine has
LESSONS = []
for path in lesson.chosen([]):
    mark = pytest.mark.slow if path.name.startswith(BY_DAY) else pytest.mark.night
    LESSONS.append(pytest.param(path, marks=mark, id=path.stem))
# Runs behind the lesson, in its kernel.
LAST_CELL = """
import json, sys
from accel_helpers.machine import backend
seen = [ah.__file__, ah.use_backend().name, backend.devices(), "tensorflow" in sys.modules]
print(json.dumps(seen))
"""
UNCOMPARED = {"nbval-ignore-output", "nbval-skip", "setup"}  # pip says that it installs


def texts(outputs):
    """Give what outputs printed or showed, without their line ends."""
    found = [output.get("text", output.get("data", {}).get("text/plain", "")) for output in outputs]
    return " ".join(" ".join(found).split())


@pytest.mark.timeout(1800)  # the first one makes the replica
@pytest.mark.parametrize("path", LESSONS)
def test_a_lesson_runs_as_a_lone_file(colab, path, wheel, tmp_path):
    folder = tmp_path / "content"
    folder.mkdir()
    shutil.copy(path, folder)
    shutil.copy(wheel, folder)
    stored = lesson.parse(lesson.read(path))
    ran = copy.deepcopy(stored)
    ran.cells.append(new_code_cell(LAST_CELL))
    before = colab.packages()
    problem = colab.run(ran, folder)
    assert problem is None, problem
    library, backend, devices, has_tensorflow = json.loads(ran.cells.pop().outputs[0].text)

    after = colab.packages()
    assert after.pop("accel-helpers"), "the setup cell installed the wheel"
    assert after == before, "nothing else was changed"
    assert Path(library).is_relative_to(colab.site)
    # Lesson 04 asks for JAX, as people with a TPU do.
    assert backend == ("jax" if path.name.startswith("04") else colab.runtime.backend)
    assert devices == ["cpu"]
    is_tpu = colab.runtime is replica.TPU
    assert not (is_tpu and has_tensorflow)

    outputs = [output for cell in ran.cells for output in cell.get("outputs", ())]
    claimed = "The environment claims a TPU, but none is attached" in texts(outputs)
    assert claimed == (is_tpu and path.name.startswith(ASK)), "a TPU that is not there is told"
    alarms = [output.text for output in outputs if output.get("name") == "stderr"]
    assert not alarms, "a notebook shows this in red"
    for was, now in zip(stored.cells, ran.cells, strict=True):
        if lesson.is_code(was) and not lesson.tags(was) & UNCOMPARED:
            assert build.words(now.outputs) == build.words(was.outputs), "not as stored"
