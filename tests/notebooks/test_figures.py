"""What the texts of the lessons show and claim is what is graded, stored or printed there."""

import re
from csv import DictReader
from pathlib import Path
from types import SimpleNamespace

import pytest
from cells import figures, printed, prose, the_cell

import accel_helpers as ah
from accel_helpers.course.lessons.lesson_07 import LAUNCH, LINK
from accel_helpers.course.places import places
from accel_helpers.machine import hardware
from accel_helpers.worth import step_time


def test_what_lesson_04_says_of_the_compiled_steps_is_what_is_stored():
    names = "strategy", "resnet50", "resnet50-large"
    small, middle, large = (ah.course.stored_step(name, "v5e") for name in names)
    default, refused = (ah.course.stored_step(f"resnet50-float32{n}") for n in ("", "-large"))
    names = "resnet50-large", "resnet50-float32-large"
    on_v6e = [ah.course.stored_step(name, "v6e").verdict for name in names]
    text, chip = prose("04"), hardware.match("v5e")
    needed = {f"{step.peak_memory / 1e9:.1f}" for step in (middle, default)}
    assert needed <= figures("04", "ResNet-50 step")
    assert 2 * middle.padded_bytes < middle.peak_memory  # the answer that is revealed
    best = {str(step.largest_batch) for step in (large, refused)}
    assert best <= figures("04", f"`{large.policy}`")
    assert on_v6e == ["fits", "fits"]
    ridge = 1e3 * chip.peak_bf16_tflops_dense / chip.mem_bw_gb_s
    assert "240" in figures("04", "*intensity:*")
    assert 235 < ridge < 246
    assert f"{small.intensity:.0f}" in figures("04", "memory")
    assert f"{large.versions}" in text
    assert f"{large.memory / 1e9:.1f}" in figures("04", "GiB")


def test_what_lesson_05_says_of_the_forecast_is_its_score():
    small = step_time.score()["small_keras"]
    assert {str(small["held"]), str(small["rows"])} <= figures("05", "published trainings")


def test_what_lesson_05_calculates_by_hand_is_what_is_published_and_fitted():
    t4, h100 = (hardware.match(name) for name in ("T4", "H100-SXM5-80GB"))
    hand, fitted = the_cell("05", "step_t4 =").source, step_time.fitted().constants
    assert f"{t4.peak_fp32_tflops}e12" in hand
    assert f"{t4.mem_bw_gb_s:.0f}e9" in hand
    assert f"{fitted['passes_training']:.0f} * batch_size" in hand
    assert f"{1e6 * fitted['operation_training']:.0f}e-6" in hand
    operations = h100.peak_fp32_tflops / t4.peak_fp32_tflops
    bandwidth = h100.mem_bw_gb_s / t4.mem_bw_gb_s
    assert {f"{operations:.0f}", f"{bandwidth:.0f}"} <= figures("05", "H100 does")


def test_the_figures_in_lesson_06_are_those_that_are_stored():
    v5e = {n: ah.course.stored_product(n, n, n) for n in (128, 129)}
    grown = v5e[129].estimated_cycles / v5e[128].estimated_cycles
    assert 1.08 < grown < 1.12
    assert "a tenth longer" in prose("06")
    v6e = {n: ah.course.stored_product(n, n, n, "v6e").instructions for n in (256, 257)}
    assert {str(v6e[257]), str(v6e[256])} <= figures("06", "v6e")
    unit = ah.course.MatrixUnit(128, 128)  # "about four times" is the answer that is revealed
    assert round(unit.cycles(129, 129, 129) / unit.cycles(128, 128, 128)) == 4
    assert places("06")["129"].answer == "about four times"
    narrow, padded = (ah.course.stored_step(f"width-{width}") for width in (100, 128))
    more = round(100 * (padded.flops / narrow.flops - 1))
    longer = round(100 * (dict(padded.cycles)["hidden"] / dict(narrow.cycles)["hidden"] - 1))
    assert {f"{more}", f"{longer}"} <= figures("06", "From 100 to 128")


def test_the_peaks_in_lesson_06_are_those_of_the_table_of_chips():
    text = the_cell("06", "## Is a TPU more powerful", kind="markdown").source
    (row,) = re.findall(r"^\| (\d[\d |]+) \|$", text, re.M)
    names = ("T4", "v5e", "A100-SXM4-40GB", "v6e", "H100-SXM5-80GB")
    chips = [hardware.match(name) for name in names]
    formats = ("bfloat16", "float16")
    peaks = [max(hardware.peak(chip, each) or 0 for each in formats) for chip in chips]
    assert [int(cell) for cell in row.split(" | ")] == [round(peak) for peak in peaks]


def test_what_lesson_07_says_of_a_t4_is_what_is_stored():
    t4 = hardware.match("T4")
    assert f"{t4.mem_bw_gb_s:.0f}" in figures("07", "[Units]")
    assert f"{t4.peak_fp16_tflops_dense:.0f}" in figures("07", "*tensor cores*")
    assert t4.peak_fp16_tflops_dense / t4.peak_fp32_tflops == pytest.approx(8, abs=0.1)
    longer = f"{1e9 * t4.mem_bw_gb_s / LINK:.0f}"
    assert {f"{LINK / 1e9:.2f}", longer} <= figures("07", "[PCIe]")
    assert {"40", f"{LINK / 1e9:.0f}"} <= figures("07", "CARD (a T4)")
    table = (Path(ah.__file__).parent / "data" / "accelerators.csv").read_text("utf-8")
    (notes,) = [row["notes"] for row in DictReader(table.splitlines()) if row["name"] == t4.name]
    assert "PCIe 3.0 x16 host link (~16 GB/s peak)" in notes
    assert "40 SM" in notes
    assert f"{1e6 * LAUNCH:.0f}" in figures("07", "pretend T4")


def test_the_ridges_of_lesson_07_are_those_of_the_data_sheets():
    t4, a100 = (hardware.match(name) for name in ("T4", "A100-SXM4-40GB"))
    ridges = the_cell("07", "ridge at")
    source, shown = ridges.source, printed(ridges)
    for chip, peak in [(t4, t4.peak_fp32_tflops), (a100, a100.peak_tf32_tflops_dense)]:
        assert f"{peak:g}e12 / {chip.mem_bw_gb_s:.0f}e9" in source
        assert f"ridge at {1e3 * peak / chip.mem_bw_gb_s:.0f}," in shown
    ridge, in_half = (
        1e3 * peak / t4.mem_bw_gb_s for peak in (t4.peak_fp32_tflops, t4.peak_fp16_tflops_dense)
    )
    sheet = {f"{t4.peak_fp32_tflops:g}", f"{t4.mem_bw_gb_s:.0f}", f"{ridge:.0f}"}
    assert sheet <= figures("07", "**ridge**")
    assert {f"{ridge:.0f}", f"{in_half:.0f}"} <= figures("07", "*tensor cores*")


# Operations and bytes of a step with Adam, counted layer by layer with every addition and every
# array, on 2026-11-28: a dense net and a small convolution, in batches of 32 and 256.
WHOLE = {
    "dense": {32: (14_240_686, 3_957_904), 256: (106_089_198, 5_981_072)},
    "convolution": {32: (82_706_158, 40_440_336), 256: (661_623_854, 323_434_768)},
}


def test_what_lesson_07_counts_by_hand_is_about_what_was_counted_layer_by_layer(keras):
    scope = {}
    exec(the_cell("07", "def step_work").source, scope)
    conv = [keras.Input((64, 64, 1)), keras.layers.Conv2D(16, 3, activation="relu")]
    nets = {
        "dense": [keras.Input((784,)), keras.layers.Dense(128, "relu")],
        "convolution": [*conv, keras.layers.GlobalAveragePooling2D()],
    }
    for name, layers in nets.items():
        model = keras.Sequential([*layers, keras.layers.Dense(10, "softmax")])
        for batch_size, counted in WHOLE[name].items():
            by_hand = scope["step_work"](model, batch_size)
            for figure, whole in zip(by_hand, counted, strict=True):
                assert 1 / 1.6 < figure / whole < 1.6


@pytest.fixture
def leak():
    """The scores that lesson 10 has shown, in %, by its labels and its way to split."""
    shown = printed(the_cell("10", "labels, split first:"))
    rows = re.findall(r"^(\w+) labels, (\w+) first: +([\d.]+)%$", shown, re.M)
    return {(labels, first): float(score) for labels, first, score in rows}


def test_with_nothing_to_learn_only_copies_first_reports_much(leak):
    assert leak["shuffled", "copies"] > 80
    assert 5 < leak["shuffled", "split"] < 15
    assert "80" in figures("10", "*Copies first*")


def test_with_true_labels_the_leak_does_not_show(leak):
    assert leak["true", "split"] > 95
    assert leak["true", "copies"] > 95


@pytest.mark.parametrize(
    ("verdicts", "chosen"),
    [
        ({"layer": "better", "more": "worse"}, "layer"),
        ({"layer": "better", "more": "better"}, "more"),
        ({"layer": "no measurable difference", "more": "worse"}, "baseline"),
    ],
)
def test_the_model_for_the_test_is_the_last_with_a_measurable_gain(verdicts, chosen):
    """Chosen before the test images are used, and those are used in one cell alone."""
    source = the_cell("10", "x_test)").source
    choice, _, _ = source.partition("right = ")
    assert "x_test" not in choice
    ladder = [SimpleNamespace(name=name) for name in ("baseline", *verdicts)]
    course = SimpleNamespace(compare_scores=lambda a, b: SimpleNamespace(verdict=verdicts[b.name]))
    scope = {"ladder": ladder, "ah": SimpleNamespace(course=course)}
    exec(choice, scope)
    assert scope["chosen"] == chosen


def test_two_gpus_gain_by_the_rule_of_thumb_of_lesson_09_what_was_measured():
    measured = f"{295 / 154:.1f}"  # pictures a second of two P100s, and of one
    first, *_ = printed(the_cell("09", "two_chips(0.42")).splitlines()
    assert f"whole each {measured}," in first
    assert measured in figures("09", "two P100s")
