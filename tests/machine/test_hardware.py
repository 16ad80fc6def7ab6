"""The accelerator table keeps its rules, names find their row, `judge` accuses nobody wrongly."""

import csv
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
    assert told["confidence"] in ("high", "medium", "low")
    figures = {name: value for name, value in vars(row).items() if isinstance(value, float)}
    assert {*row.less_sure} <= {*figures}
    assert ("on_chip_mib" in figures) == bool(told["on_chip_source"])
    peaks = [row.peak_fp32_tflops, row.peak_bf16_tflops_dense, row.peak_fp8_tflops_dense]
    known = [value for value in peaks if value]
    assert known == sorted(known), "no peak falls when the numbers get narrower"


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


def test_a_rate_is_judged_by_the_path_that_the_hardware_takes():
    for told in TOLD["judged"]:
        assert judge(**{"seconds": 1, **told["of"]}).verdict == told["verdict"], told


def test_what_the_sheet_says_is_plausible_and_so_is_a_little_more():
    # Clocks boost, and sources differ: nobody is accused for that.
    for row in load():
        if row.kind == "CPU":
            continue
        for factor in (0.01, 1, MARGIN * 0.999):
            given = {"seconds": 1 / factor, "accelerator": row}
            answers = [judge(bytes_moved=1e9 * row.mem_bw_gb_s, **given)]
            for dtype in ("float32", "float16", "bfloat16", "int8"):
                flops = 1e12 * (peak(row, dtype) or 1)
                answers.append(judge(flops=flops, dtype=dtype, **given))
            assert answers[0].share == pytest.approx(factor)
            assert {answer.verdict for answer in answers} <= {"plausible", "unknown"}
