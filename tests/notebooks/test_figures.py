"""What the texts of the lessons claim is what is graded, stored or printed there."""

import re

import pytest
from cells import figures, prose, the_cell

from accel_helpers.course import MatrixUnit, stored_product, stored_step
from accel_helpers.course.lessons.lesson_07 import LAUNCH, LINK
from accel_helpers.course.places import places
from accel_helpers.machine import hardware
from accel_helpers.worth import step_time

CHIPS = "T4", "v5e", "A100-SXM4-40GB", "v6e", "H100-SXM5-80GB"
T4, V5E, A100, V6E, H100 = map(hardware.match, CHIPS)


def tells(number, term, *values, digits=0):
    """Whether a lesson gives the rounded values where it names a term."""
    rounded = {f"{value:.{digits}f}" for value in values}
    return rounded <= figures(number, term)


def test_lesson_04_tells_what_the_compiler_said():
    half, large = stored_step("resnet50"), stored_step("resnet50-large")
    peaks = half.peak_memory / 1e9, stored_step("resnet50-float32").peak_memory / 1e9
    assert tells("04", "ResNet-50 step", *peaks, digits=1)
    assert 2 * half.padded_bytes < half.peak_memory  # the answer that is revealed
    assert tells("04", f'set_dtype_policy("{large.policy}")', large.largest_batch)
    assert tells("04", "GiB", large.memory / 1e9, digits=1)
    assert large.versions in prose("04")
    assert large.verdict == "too large"
    assert stored_step("resnet50-large", "v6e").verdict == "fits"
    rows = dict(half.more)
    intensity, *_ = rows["intensity"].split()
    assert intensity in figures("04", "memory")
    assert 1e3 * V5E.peak_bf16_tflops_dense / V5E.mem_bw_gb_s == pytest.approx(240, abs=5)


def test_lesson_05_calculates_with_what_is_published():
    score = step_time.score()["small_keras"]
    assert tells("05", "the rest took longer", score["held"], score["rows"])
    assert f"{T4.peak_fp32_tflops}e12" in the_cell("05", "forward =").source
    faster = H100.peak_fp32_tflops / T4.peak_fp32_tflops
    in_tf32 = H100.peak_tf32_tflops_dense / T4.peak_fp32_tflops
    wider = H100.mem_bw_gb_s / T4.mem_bw_gb_s
    assert tells("05", "is rated at", faster, in_tf32, wider)


def test_lesson_06_tells_what_the_compiler_and_the_model_say_of_129():
    smaller, larger = stored_product(128, 128, 128), stored_product(129, 129, 129)
    longer = larger.estimated_cycles / smaller.estimated_cycles
    assert longer == pytest.approx(1.1, abs=0.02)  # "a tenth longer"
    unit = MatrixUnit(128, 128)
    times = unit.cycles(129, 129, 129) / unit.cycles(128, 128, 128)
    assert round(times) == 4
    assert places("06")["129"].answer == "about four times"
    for size in (256, 257):
        product = stored_product(size, size, size, "v6e")
        assert tells("06", "v6e", product.instructions)
    for width in (128, 10):
        product = stored_product(1024, 128, width)
        assert tells("06", "turn a matmul around", product.instructions)


def test_lesson_06_compares_chips_as_their_data_sheets_do():
    text = the_cell("06", "## Is a TPU more powerful", kind="markdown").source
    rows = re.findall(r"^\|.*\)\s\| (\d.*) \|$", text, re.M)
    peaks = [T4.peak_fp16_tflops_dense]
    peaks += [chip.peak_bf16_tflops_dense for chip in (V5E, A100, V6E, H100)]
    for row, peak, chip in zip(rows, peaks, (T4, V5E, A100, V6E, H100), strict=True):
        ridge = 1e3 * peak / chip.mem_bw_gb_s
        assert row == f"{peak:.0f} | {chip.mem_bw_gb_s:,.0f} | {ridge:.0f}"
        assert ridge > 100
    assert tells("06", "With 100 per byte", V6E.mem_bw_gb_s / 10, A100.mem_bw_gb_s / 10)


def test_lesson_07_tells_a_t4_as_its_data_sheet_does():
    ridge = 1e3 * T4.peak_fp32_tflops / T4.mem_bw_gb_s
    in_half = 1e3 * T4.peak_fp16_tflops_dense / T4.mem_bw_gb_s
    assert tells("07", "**ridge**", ridge, T4.mem_bw_gb_s)
    assert tells("07", "**ridge**", T4.peak_fp32_tflops, digits=1)
    assert tells("07", "With float16", in_half, ridge)
    assert tells("07", "[PCIe]", 1e9 * T4.mem_bw_gb_s / LINK)
    assert tells("07", "pretend T4", 1e6 * LAUNCH)
    by_hand = the_cell("07", "at a T4's peak").source
    assert f"{T4.peak_fp32_tflops}e12" in by_hand
