"""The material of the exercises is as the lessons say."""

import json
import re
from pathlib import Path

import numpy as np
import pytest

import accel_helpers as ah
from accel_helpers.course.lessons import exercises, lesson_01, lesson_03, lesson_06
from accel_helpers.measure import timing

EXERCISES = exercises()
LESSONS = Path(__file__).parents[3] / "notebooks"


def page(number):
    (path,) = LESSONS.glob(f"{number}_*.ipynb")
    return ["".join(cell["source"]) for cell in json.loads(path.read_text("utf-8"))["cells"]]


def verdict(old, new):
    """What two intervals say."""
    if new[1] < old[0]:
        return "faster"
    if old[1] < new[0]:
        return "slower"
    return "no measurable difference"


def test_the_times_in_the_exercise_of_lesson_00_say_what_is_graded():
    number = r"(\d+\.\d)"
    one = rf"{number} \({number} to {number}\)"
    shown = re.findall(rf'"([A-D])": \.\.\.,  # {one}, then {one}', "\n".join(page("00")))
    rows = {letter: [*map(float, numbers)] for letter, *numbers in shown}
    graded = {letter: verdict(row[1:3], row[4:6]) for letter, row in rows.items()}
    assert graded == EXERCISES["00/told_apart"].truth


def test_the_doctor_knows_each_old_step_of_lesson_01_that_fails():
    fates = EXERCISES["01/old"].truth
    rows = re.findall(r"\| ([ABC]) \| .*? \| `(.*?)` \|", "\n".join(page("01")))
    said = {letter: message.replace("`, then `", "\n") for letter, message in rows}
    assert {letter for letter, fate in fates.items() if fate == "fails"} == said.keys()
    for letter, message in said.items():
        assert ah.diagnose(f"In Colab: {message}").findings, letter


def test_a_rate_is_the_operations_over_the_time_beside_what_the_chip_is_rated_at():
    judged = [
        ah.judge(
            flops=2 * 2048**3,
            seconds=timing.Measurement.from_samples([seconds] * 5, name=name),
            accelerator="Tesla T4",
        )
        for seconds, name in ((0.1, "cpu:0"), (0.005, "gpu:0"))
    ]
    said = lesson_01.rates(judged).alt
    for words in ("CPU 172", "GPU 3,436", "NVIDIA T4: rated at 8,100"):
        assert words in said


FOUND = {"visible B": ["gpu-none"], "attached A": ["tpu-plain-tensorflow"], "faster E": []}


def test_the_doctor_finds_in_each_log_of_lesson_02_what_the_case_says():
    cases = EXERCISES["02/detective"].truth
    logs = re.findall(r"\*\*Case (\d): .*?```text\n(.*?)```", "\n".join(page("02")), re.S)
    found = {int(number): [it.id for it in ah.diagnose(log).findings] for number, log in logs}
    assert found == {number: FOUND[right] for number, right in cases.items()}


def test_the_benchmarks_that_lesson_03_shows_are_as_wrong_as_it_says():
    scope, cells = {}, page("03")
    shown = re.search(r"```python\n(def broken_a.*?)```", "\n".join(cells), re.S)[1]
    rest = next(cell for cell in cells if cell.startswith("def broken_b")).split("\nfor ")[0]
    exec(shown + rest, scope)
    said = {
        name: scope[f"broken_{name.lower()}"](lesson_03.practice_device(name))
        for name in lesson_03.PRACTICE_TRUTH
    }
    assert said == pytest.approx({"A": 0.0001, "B": 0.2101, "C": 0.0101, "D": 0})
    assert "says 0.1 ms where the truth is 10.1 ms" in "\n".join(cells)
    assert lesson_03.PRACTICE_TRUTH["A"] == 0.0101


def test_bfloat16_is_rounded_as_ml_dtypes_does():
    ml_dtypes = pytest.importorskip("ml_dtypes")
    patterns = np.random.default_rng(6).integers(0, 2**32, 20_000, dtype=np.uint32)
    patterns[:5_000] = patterns[:5_000] & 0xFFFF0000 | 0x8000  # ties
    floats = patterns.view(np.float32)
    floats = floats[np.abs(floats) < 3e38]  # no NaN, and nothing that becomes infinite
    right = floats.astype(ml_dtypes.bfloat16).astype(np.float32).tolist()
    assert [lesson_06.bfloat16(number) for number in floats.tolist()] == right
    assert EXERCISES["06/bfloat16"](ml_dtypes.bfloat16).ok


@pytest.mark.parametrize("path", sorted(LESSONS.glob("*.ipynb")), ids=lambda path: path.name[:2])
def test_a_cell_formats_no_ratio_that_a_busy_machine_leaves_none(path):
    """A comparison that tells nothing has no ratio, and a cell that formats it stops the lesson."""
    cells = json.loads(path.read_text("utf-8"))["cells"]
    code = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    assert not re.search(r"\{[^{}]*\.ratio\s*:", "\n".join(code))
