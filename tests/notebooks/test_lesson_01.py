"""Lesson 01: its cells, run as they stand there on machines that are handed in."""

import ast
import contextlib
import re
from types import SimpleNamespace

import numpy as np
import pytest
from cells import cells, printed, prose, said, the_cell

import accel_helpers as ah
from accel_helpers.lessons import lesson_01


@pytest.mark.parametrize(
    ("names", "words"),
    [
        ({}, "a new session"),
        ({"before": SimpleNamespace(accelerator="a GPU")}, "so is the same machine"),
        ({"before": SimpleNamespace(accelerator=None)}, "another one"),
    ],
)
def test_a_new_session_is_seen_by_its_lost_variable(names, words, capsys):
    now = SimpleNamespace(accelerator="a GPU")
    library = SimpleNamespace(runtime=SimpleNamespace(describe=lambda: now))
    assert said(the_cell("01", '"before" not in').source, ah=library, **names) is now
    text = capsys.readouterr().out
    assert words in text and ("gone" in text) == (not names)


def about(level, name):
    samples = [level * f for f in (1, 1.02, 0.99, 1.01, 0.98, 1.0)]
    return ah.timing.Measurement.from_samples(samples, name=name)


def measure(chip, capsys):
    """Run the measuring cell where Keras has a GPU of that name, or none; NumPy plays both.

    Each product is really made; the times are recorded ones.
    """
    placed, names = [], ("cpu", "gpu") if chip else ("cpu",)

    def benchmark(run, name="CPU", seconds=5e-5, **_):
        run()
        return about(seconds, name)

    def compare(slow, fast, names, **_):
        times = (benchmark(slow, names[0]), benchmark(fast, names[1], 1e-5))
        return ah.timing.compare(*times)

    library = SimpleNamespace(hardware=ah.hardware, plots=ah.plots, predict=ah.predict)
    library.training = SimpleNamespace(fast=lambda: True)
    library.timing = SimpleNamespace(benchmark=benchmark, compare=compare)
    library.backend = SimpleNamespace(
        choose=lambda: "NumPy",
        devices=lambda: names,
        device_name=lambda device: chip,
        on=lambda device: contextlib.nullcontext(placed.append(device)),
    )
    keras = SimpleNamespace(ops=SimpleNamespace(convert_to_tensor=np.array, matmul=np.matmul))
    shown = ast.parse(the_cell("01", "def show_row").source).body[0]
    scope = {"ah": library, "keras": keras}
    exec(compile(ast.Module([shown], []), "cell", "exec"), scope)
    picture = said(the_cell("01", "def product_on").source.replace("import keras\n", ""), **scope)
    return capsys.readouterr().out, picture.alt, placed


def test_a_known_gpu_is_measured_beside_the_cpu_and_its_published_row(capsys):
    text, alt, placed = measure("Tesla T4", capsys)
    assert set(placed) == {"cpu", "gpu"}
    line = r"^(.PU): ([\d,]+) billion operations/s \(([\d,]+) to ([\d,]+)\)$"
    rows = re.findall(line, text, re.M)
    assert [name for name, *_ in rows] == ["CPU", "GPU"]
    for (_, *numbers), seconds in zip(rows, (5e-5, 1e-5), strict=True):
        middle, low, high = (int(n.replace(",", "")) for n in numbers)
        assert low < middle < high and middle == pytest.approx(2 * 256**3 / seconds / 1e9, abs=1)
    assert "NVIDIA T4: 16 GB" in text and "built for 8,100 billion" in text
    assert "times the published 8.1 TFLOP/s" in text and text.count("https://") == 1
    assert "CPU" in alt and "GPU" in alt
    assert "published, and not measured here" in prose("01")


def test_a_gpu_that_the_table_does_not_have_gets_no_row_and_no_limit(capsys):
    text, _, _ = measure("NVIDIA L40S", capsys)
    assert "NVIDIA L40S: it is not in the table" in text and "GB of memory" not in text


def test_without_a_gpu_only_the_cpu_is_measured(capsys):
    text, alt, placed = measure(None, capsys)
    assert set(placed) == {"cpu"} and "GPU" not in text + alt and "published" not in text


def test_the_rate_of_the_reference_run_is_the_operations_over_the_median():
    m = ah.results.reference_runs()[-1].measurements["01/product/cpu"]
    found = re.search(
        r"managed ([\d,]+) billion.*\(([\d,]+) to ([\d,]+)\)",
        printed(*cells("01", tag="reference-run")),
    )
    shown = [int(n.replace(",", "")) for n in found.groups()]
    rates = [2 * 2048**3 / seconds / 1e9 for seconds in (m.median, *reversed(m.interval))]
    assert shown == pytest.approx(rates, abs=0.5)


def test_the_old_steps_stand_in_the_lesson_under_the_letters_of_the_exercise():
    shown = [the_cell("01", w).source for w in ("ask_doctor(PIP_SAYS)", "gpu_device_name()\\n")]
    for letter, step in lesson_01.OLD_STEPS.items():
        first = step.removeprefix("the menu: ").removesuffix(" in Colab")
        assert f"{letter}. {first}" in "".join(shown)


def test_the_two_steps_that_the_exam_has_and_that_fail_are_named():
    exam = the_cell("01", "## What the exam asks", kind="markdown").source
    material, today = exam.split("<details>")[1:]
    assert re.search(r"^3\. .*install `tensorflow-gpu`", material, re.M)
    assert "\n4. Build and compile" in material and "Seen in the material" in material
    assert "Steps 3 and 4 are wrong now" in today
