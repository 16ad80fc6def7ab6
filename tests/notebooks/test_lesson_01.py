"""Lesson 01: its sentences fit the machine, its measurement is told as it went.

The cells are run as they stand in the lesson, on machines that are handed in as recorded files.
"""

import ast
import contextlib
import re
import subprocess
from pathlib import Path
from types import SimpleNamespace

import nbformat
import numpy as np
import pytest

import accel_helpers as ah
from accel_helpers.lessons import lesson_01 as practice_01
from accel_helpers.measure.timing import Measurement

LESSON = Path(__file__).parents[2] / "notebooks" / "01_enable_the_gpu.ipynb"
NVIDIA = "NVRM version: NVIDIA UNIX x86_64 Kernel Module  550.54.15  Tue Mar  5 22:23\n"
GPU_FILES = {"proc/driver/nvidia/version": NVIDIA, "dev/nvidiactl": "", "dev/nvidia0": ""}
T4_LISTED = {"proc/driver/nvidia/gpus/0/information": "Model: \t Tesla T4\nDevice Minor: \t 0\n"}
TPU_FILES = {
    "sys/bus/pci/devices/0000:00:04.0/vendor": "0x1ae0\n",
    "sys/bus/pci/devices/0000:00:04.0/device": "0x0063\n",
    "sys/bus/pci/devices/0000:00:04.0/class": "0x120000\n",
}
COLAB = {"COLAB_RELEASE_TAG": "release-colab_20260819-060000_RC00", "COLAB_TPU_1VM": ""}
PROMISE = {"COLAB_TPU_1VM": "1", "TPU_ACCELERATOR_TYPE": "v5e-1"}
T4 = "Tesla T4, 15360, 550.54.15\n"
HANGS = subprocess.TimeoutExpired("nvidia-smi", 3)


def lesson():
    return nbformat.read(LESSON, as_version=4)


def cells(tag):
    return [cell for cell in lesson().cells if tag in cell.metadata.get("tags", ())]


def cell_with(text):
    (found,) = [c.source for c in lesson().cells if c.cell_type == "code" and text in c.source]
    return found


def said(source, **names):
    """Run a cell with its names handed in; give the value of its last line."""
    source = source.replace("from IPython.display import Markdown\n", "")
    tree = ast.parse(source)
    last = ast.Expression(tree.body.pop().value)
    scope = {"ah": ah, "Markdown": lambda text: text, **names}
    exec(compile(tree, "cell", "exec"), scope)
    return eval(compile(last, "cell", "eval"), scope)


@pytest.fixture
def machine(tmp_path):
    def build(files=(), *, environ=(), smi=None):
        for path, text in dict(files).items():
            (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / path).write_text(text)

        def run(command, timeout):
            if command[0] != "nvidia-smi" or smi is None:
                raise FileNotFoundError(command[0])
            if isinstance(smi, Exception):
                raise smi
            return smi

        return ah.runtime.describe(
            environ=dict(environ), root=tmp_path, run=run, versions={"keras": "3.13.2"}.get
        )

    return build


# --- what was given ---------------------------------------------------------------------------

MACHINES = {
    "T4 in Colab": (GPU_FILES, COLAB, T4, "A GPU is attached"),
    "T4 elsewhere": (GPU_FILES, {}, T4, "A GPU is attached"),
    "TPU in Colab": (TPU_FILES, COLAB | PROMISE, None, "A TPU is attached, and no GPU"),
    "TPU, not promised": (TPU_FILES, {}, None, "A TPU is attached, and no GPU"),
    "driver, smi hangs": (GPU_FILES, COLAB, HANGS, "its GPU does not answer"),
    "driver's list only": (GPU_FILES | T4_LISTED, {}, HANGS, "its GPU does not answer"),
    "promised TPU in Colab": ({}, COLAB | PROMISE, None, "the list of its parts shows none"),
    "promised TPU elsewhere": ({}, PROMISE, None, "the list of its parts shows none"),
    "CPU in Colab": ({}, COLAB, None, "Colab has no GPU to lend"),
    "CPU in Kaggle": ({}, {"KAGGLE_KERNEL_RUN_TYPE": "Batch"}, None, "no menu of Colab's"),
    "CPU elsewhere": ({}, {}, None, "no menu of Colab's"),
    "old TPU node's address": ({}, {"COLAB_TPU_ADDR": "10.0.0.2:8470"}, None, "no menu of Colab's"),
}
OUTCOMES = sorted({row[-1] for row in MACHINES.values()})


@pytest.mark.parametrize("name", MACHINES)
def test_the_sentence_fits_the_machine(machine, name):
    files, environ, smi, words = MACHINES[name]
    text = said(cell_with("Markdown(say[found])"), now=machine(files, environ=environ, smi=smi))
    assert words in text
    assert not [other for other in OUTCOMES if other != words and other in text]
    assert not re.search(r"\d+ (times|×)|faster|slower", text), "nothing has been measured yet"


def test_every_sentence_is_reached_by_some_machine():
    source = cell_with("Markdown(say[found])")
    assert len(OUTCOMES) == source.count('": (')


BEFORE = {
    "unchanged": (({}, {}, None), ({}, {}, None), "so is the same machine"),
    "GPU came": (({}, {}, None), (GPU_FILES, {}, T4), "another one"),
}


@pytest.mark.parametrize("name", BEFORE)
def test_a_kept_variable_is_compared(machine, name, capsys):
    (files, env, smi), after, words = BEFORE[name]
    old = machine(files, environ=env, smi=smi)
    new = machine(after[0], environ=after[1], smi=after[2])
    fake = SimpleNamespace(runtime=SimpleNamespace(describe=lambda: new))
    assert said(cell_with('if "before" not in globals()'), before=old, ah=fake) is new
    text = capsys.readouterr().out
    assert words in text and "gone" not in text


def test_a_new_session_is_seen_by_its_lost_variable(machine, capsys):
    new = machine(GPU_FILES, smi=T4)
    fake = SimpleNamespace(runtime=SimpleNamespace(describe=lambda: new))
    said(cell_with('if "before" not in globals()'), ah=fake)
    assert "a new session" in capsys.readouterr().out


# --- what was measured ------------------------------------------------------------------------


def about(level, name):
    return Measurement.from_samples(
        [level * f for f in (1, 1.02, 0.99, 1.01, 0.98, 1.0)], name=name
    )


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(0.01, "was faster"), (1.0, "No measurable difference"), (9.0, "was slower")],
)
def test_the_race_is_told_as_it_went(machine, seconds, words):
    race = ah.timing.compare(about(1.0, "CPU"), about(seconds, "GPU"))
    now = machine(GPU_FILES, smi=T4)
    text = said(cell_with("alone = "), race=race, now=now)
    assert words in text
    assert [w for w in ("was faster", "was slower") if w in text] == [words] * (seconds != 1.0)


def test_nothing_is_claimed_of_an_accelerator_that_was_not_measured(machine):
    cpu = said(cell_with("alone = "), race=None, now=machine())
    assert "no accelerator here" in cpu and "no measurement of ours" in cpu
    idle = said(cell_with("alone = "), race=None, now=machine(GPU_FILES, smi=T4))
    assert "does not use it" in idle and "no accelerator" not in idle
    for text in (cpu, idle):
        assert "faster" not in text and "slower" not in text


def measure(chip, capsys):
    """Run the measuring cell where Keras has a GPU of that name, or none; NumPy plays both.

    Each product is really made; the times are recorded ones.
    """
    placed, names = [], ("cpu", "gpu") if chip else ("cpu",)
    fake = SimpleNamespace(hardware=ah.hardware, plots=ah.plots, predict=ah.predict)
    fake.training = SimpleNamespace(fast=lambda: True)
    fake.timing = SimpleNamespace(
        benchmark=lambda run, **_: (run(), about(5e-5, "CPU"))[1],
        compare=lambda slow, fast, names, **_: (
            slow(),
            fast(),
            ah.timing.compare(about(5e-5, names[0]), about(1e-5, names[1])),
        )[2],
    )
    fake.backend = SimpleNamespace(
        choose=lambda: "NumPy",
        devices=lambda: names,
        device_name=lambda device: chip,
        on=lambda device: contextlib.nullcontext(placed.append(device)),
    )
    keras = SimpleNamespace(ops=SimpleNamespace(convert_to_tensor=np.array, matmul=np.matmul))
    (row,) = [
        n for n in ast.parse(cell_with("def show_row")).body if isinstance(n, ast.FunctionDef)
    ]
    scope = {"ah": fake}
    exec(compile(ast.Module([row], []), "cell", "exec"), scope)
    source = cell_with("def product_on").replace("import keras\n", "")
    picture = said(source, ah=fake, keras=keras, show_row=scope["show_row"])
    return capsys.readouterr().out, picture.alt, placed


def test_a_known_gpu_is_measured_beside_the_cpu_and_its_published_row(capsys):
    text, alt, placed = measure("Tesla T4", capsys)
    assert set(placed) == {"cpu", "gpu"}
    line = r"^(.PU): ([\d,]+) billion operations/s \(([\d,]+) to ([\d,]+)\)$"
    rows = re.findall(line, text, re.M)
    assert [name for name, *_ in rows] == ["CPU", "GPU"]
    for _, *numbers in rows:
        middle, low, high = (int(n.replace(",", "")) for n in numbers)
        assert low < middle < high
    assert "NVIDIA T4: 16 GB" in text and "times the published 8.1 TFLOP/s" in text
    assert "CPU" in alt and "GPU" in alt


def test_a_gpu_that_the_table_does_not_have_gets_no_row_and_no_limit(capsys):
    text, _, _ = measure("NVIDIA L40S", capsys)
    assert "NVIDIA L40S: it is not in the table" in text and "GB of memory" not in text


def test_without_a_gpu_only_the_cpu_is_measured(capsys):
    text, alt, placed = measure(None, capsys)
    assert set(placed) == {"cpu"} and "GPU" not in text + alt and "published" not in text


def test_a_rate_is_the_operations_over_the_median_and_the_interval_is_turned_round():
    card = ah.results.reference_runs()[-1]
    m = card.measurements["01/product/cpu"]
    (cell,) = cells("reference-run")
    text = "".join(o.get("text", "") for o in cell.outputs)
    middle, low, high = (
        int(n.replace(",", ""))
        for n in re.search(r"managed ([\d,]+) billion.*\(([\d,]+) to ([\d,]+)\)", text).groups()
    )
    assert low <= middle <= high
    assert middle == pytest.approx(2 * 2048**3 / m.median / 1e9, abs=0.5)
    assert low == pytest.approx(2 * 2048**3 / m.interval[1] / 1e9, abs=0.5)
    assert card.label in text


def test_the_published_row_says_that_it_is_published_and_names_its_source():
    t4 = ah.hardware.match("Tesla T4")
    (cell,) = [c for c in lesson().cells if 'show_row(ah.hardware.match("Tesla T4"))' in c.source]
    (output,) = cell.outputs
    assert f"{t4.peak_fp32_tflops * 1000:,.0f} billion" in output.text
    assert t4.source.split()[0] in output.text and output.text.count("https://") == 1
    before = lesson().cells[lesson().cells.index(cell) - 1].source
    assert "published, and not measured here" in before


# --- old steps --------------------------------------------------------------------------------


def test_each_shown_failure_has_its_advice():
    (cell,) = [c for c in lesson().cells if "ask_doctor(PIP_SAYS)" in c.source]
    text = "".join(o.text for o in cell.outputs)
    assert "KeyError: 'COLAB_TPU_ADDR'" in text and text.count("Doctor: ") == 2
    assert "tpu='local'" in text and "Delete the line that installs tensorflow-gpu" in text
    assert "Nothing in it is a failure" not in " ".join(text.split())


def test_the_old_steps_stand_in_the_lesson_under_the_letters_of_the_exercise():
    shown = cell_with("ask_doctor(PIP_SAYS)") + cell_with("tf.test.gpu_device_name()\\n")
    for letter, step in practice_01.OLD_STEPS.items():
        first = step.removeprefix("the menu: ").removesuffix(" in Colab")
        assert f"{letter}. {first}" in shown


def test_nothing_in_the_lesson_installs_anything():
    for cell in lesson().cells[2:]:
        if cell.cell_type == "code":
            # a shell line, or pip in a command: neither stands anywhere
            assert not re.search(r"^\s*[!%]", cell.source, re.M)
            assert '"pip"' not in cell.source and "-m pip" not in cell.source


def test_the_two_steps_that_the_exam_has_and_that_fail_are_named():
    (exam,) = [c.source for c in lesson().cells if c.source.startswith("## What the exam asks")]
    material, today = exam.split("<details>")[1:]
    assert "Seen in the material" in material
    assert re.search(r"^3\. .*install `tensorflow-gpu`", material, re.MULTILINE)
    assert "\n4. Build and compile" in material
    assert "Steps 3 and 4 are wrong now" in today and today.count("](https://") >= 2


# --- exercises --------------------------------------------------------------------------------


def test_every_exercise_has_a_stub_that_is_told_to_be_empty_and_a_solution_that_passes():
    stubs, (solution,) = cells("exercise"), cells("solution")
    names = re.findall(r'checks\.check\("(01/[a-z]+)"', "".join(c.source for c in stubs))
    assert sorted(names) == sorted(practice_01.CHECKS)
    for stub in stubs:
        assert "Not yet." in stub.outputs[0].text and "Hint:" in stub.outputs[0].text
    assert solution.outputs[0].text.count("Right.") == len(names)
    assert "Not yet" not in solution.outputs[0].text


def test_two_guesses_are_asked_for_and_each_is_judged():
    source = "\n".join(c.source for c in lesson().cells if c.cell_type == "code")
    asked = re.findall(r'predict\.ask\(\s*"(01/\w+)"', source)
    judged = re.findall(r'predict\.reveal\(\s*"(01/\w+)"', source)
    assert asked == judged == ["01/change", "01/rate"]
