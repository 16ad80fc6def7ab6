"""The accelerator table keeps its rules, names find their row, `judge` accuses nobody wrongly."""

import csv
import math
import re
import tomllib
from pathlib import Path

import pytest

import accel_helpers
from accel_helpers.machine.hardware import MARGIN, judge, load, match, peak

ROWS = {row.name: row for row in load()}
TABLE = Path(accel_helpers.__file__).with_name("data") / "accelerators.csv"
SHEET = [*csv.DictReader(TABLE.read_text("utf-8").splitlines())]
TOLD = tomllib.loads(Path(__file__).with_name("chips.toml").read_text("utf-8"))


@pytest.mark.parametrize("told", SHEET, ids=[*ROWS])
def test_a_row_has_sources_and_its_figures_fit_together(told):
    row = ROWS[told["name"]]
    assert "https://" in told["source"]
    assert re.match(r"(high|medium|low)\b", told["confidence_note"])
    figures = {name: value for name, value in vars(row).items() if isinstance(value, float)}
    assert all(0 < value < math.inf for value in figures.values())
    assert {*row.less_sure} <= {*figures}
    assert ("on_chip_mib" in figures) == bool(told["on_chip_source"])
    widths = ("fp32_tflops", "tf32_tflops_dense", "bf16_tflops_dense", "fp8_tflops_dense")
    peaks = [figures[f"peak_{width}"] for width in widths if f"peak_{width}" in figures]
    assert peaks == sorted(peaks), "no peak falls when the numbers get narrower"
    if row.kind == "GPU":
        assert min(peak(row, dtype) for dtype in ("float32", "float16", "bfloat16")) >= peaks[0]
    if row.name.endswith(" core"):
        chip = ROWS[row.name.removesuffix(" core")]
        for column in ("peak_bf16_tflops_dense", "mem_gb", "mem_bw_gb_s", "on_chip_mib"):
            assert getattr(chip, column) == 2 * getattr(row, column)


def test_a_device_finds_its_row_by_every_name_that_it_has_and_no_close_relatives():
    assert len(ROWS) == len(load()), "a name names one row"
    for row in load():
        for name in row.names:
            assert match(name) is match(f" {name.upper()}") is row
            assert row.kind != "GPU" or match(f"nvidia Tesla {name}") is row
    assert [name for name in TOLD["unknown"] if match(name)] == []


@pytest.mark.parametrize("device", TOLD["peak"])
def test_the_peak_is_that_of_the_fastest_dense_path(device):
    figures = TOLD["peak"][device]
    assert {dtype: peak(match(device), dtype) or "none" for dtype in figures} == figures


@pytest.mark.parametrize("told", TOLD["judged"], ids=lambda told: str(told["of"]))
def test_a_rate_is_judged_by_the_path_that_the_hardware_takes(told):
    answer = judge(**{"seconds": 1, **told["of"]})
    assert answer.verdict == told["verdict"]
    assert (answer.limit is None) == (answer.share is None) == (told["verdict"] == "unknown")


def test_what_the_sheet_says_is_plausible_and_so_is_a_little_more():
    # Clocks boost, and sources differ: nobody is accused for that.
    for row in load()[:-1]:
        for factor in (0.01, 1, MARGIN * 0.999):
            rate = factor * row.mem_bw_gb_s * 1e9
            answers = [judge(bytes_moved=rate, seconds=1, accelerator=row)]
            for dtype in ("float32", "float16", "bfloat16", "int8"):
                flops = factor * (peak(row, dtype) or 0) * 1e12
                if flops:
                    answers.append(judge(flops=flops, seconds=1, accelerator=row, dtype=dtype))
            assert {answer.verdict for answer in answers} == {"plausible"}
            assert [answer.share for answer in answers] == pytest.approx([factor] * len(answers))


def test_what_cannot_be_judged_is_refused():
    with pytest.raises(ValueError, match="not both"):
        judge(flops=1, bytes_moved=1, seconds=1)
    with pytest.raises(ValueError, match="flaot32.*tfloat32, float32"):
        peak(match("Tesla T4"), "flaot32")
