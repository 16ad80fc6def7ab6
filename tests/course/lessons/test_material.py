"""The material of the exercises is as the lessons say."""

import re

import numpy as np
import pytest
from cells import PATHS, cells, prose

import accel_helpers as ah
from accel_helpers.course.lessons import exercises, lesson_01, lesson_03, lesson_06
from accel_helpers.measure import timing

EXERCISES = exercises()


def test_the_doctor_knows_each_old_step_of_lesson_01_that_fails():
    fates = EXERCISES["01/old"].truth
    said = dict(re.findall(r"\| ([ABC]) \| .*? \| `(.*?)` \|", prose("01")))
    assert {letter for letter, fate in fates.items() if fate == "delete"} == said.keys()
    for letter, message in said.items():
        log = message.replace("`, then `", "\n")
        assert ah.diagnose(f"In Colab: {log}").findings, letter


def test_a_rate_is_the_operations_over_the_time_beside_what_the_chip_is_rated_at():
    taken = timing.Measurement.from_samples([0.1] * 5, name="cpu:0")
    said = lesson_01.rate(taken).alt
    for words in ("CPU: 172", "NVIDIA T4: rated at 8,100"):
        assert words in said


FOUND = {"visible B": ["gpu-none"], "attached A": ["tpu-plain-tensorflow"], "faster E": []}


def test_the_doctor_finds_in_each_log_of_lesson_02_what_the_case_says():
    logs = re.findall(r"\*\*Case (\d): .*?```text\n(.*?)```", prose("02"), re.S)
    found = {int(number): ah.diagnose(log).findings for number, log in logs}
    cases = EXERCISES["02/detective"].truth
    assert found.keys() == cases.keys()
    for number, right in cases.items():
        assert [finding.id for finding in found[number]] == FOUND[right]


def test_the_benchmarks_that_lesson_03_shows_are_as_wrong_as_it_says():
    scope, said = {}, {}
    for shown in re.findall(r"```python\n(def broken_.*?)```", prose("03"), re.S):
        exec(shown, scope)
    for name in lesson_03.PRACTICE_TRUTH:
        benchmark = scope[f"broken_{name.lower()}"]
        said[name] = benchmark(lesson_03.practice_device(name))
    assert said == pytest.approx({"A": 0.0001, "B": 0.2101, "C": 0.0101, "D": 0})
    assert "says 0.1 ms where the truth is 10.1 ms" in prose("03")
    for letter in "BCD":
        words = f"{letter} says {1000 * said[letter]:.1f} ms.*?truth is (.*?) ms"
        (truth,) = re.findall(words, prose("03"), re.S)
        assert float(truth) == pytest.approx(1000 * lesson_03.PRACTICE_TRUTH[letter])
    assert lesson_03.PRACTICE_TRUTH["A"] == 0.0101


def test_bfloat16_is_rounded_as_ml_dtypes_does():
    ml_dtypes = pytest.importorskip("ml_dtypes")
    floats = np.random.default_rng(6).normal(0, 1e3, 10_000).astype(np.float32)
    # the last numbers lie in the middle of two: once the lower is even, once the upper
    numbers = [*floats.tolist(), 1 + 2**-8, 1 + 3 * 2**-8]
    for number in numbers:
        assert lesson_06.bfloat16(number) == float(ml_dtypes.bfloat16(number))


def test_no_cell_formats_a_ratio_that_a_busy_machine_leaves_none():
    """A comparison that tells nothing has no ratio, and a cell that formats it stops the lesson."""
    for number in PATHS:
        for cell in cells(number):
            assert not re.search(r"\{[^{}]*\.ratio\s*:", cell.source), number
