"""The accelerator table keeps its rules, names find their row, `judge` accuses nobody wrongly."""

import csv
import math
import re
from pathlib import Path
from types import SimpleNamespace

import pytest

import accel_helpers
from accel_helpers.machine.hardware import MARGIN, judge, load, match, peak

ROWS = load()
TABLE = Path(accel_helpers.__file__).with_name("data") / "accelerators.csv"
SHEET = [*csv.DictReader(TABLE.read_text("utf-8").splitlines())]
IDS = [row.name for row in ROWS]
NAMES = [(name, row) for row in ROWS for name in row.names]
NO_MATCHES = [
    "", "T", "NVIDIA", "Tesla", "TPU", "TPU v5", "TPU v5p", "TPU v2 or v3", "v2-8", "NVIDIA T400",
    "NVIDIA A10M", "NVIDIA A100X", "NVIDIA H100 MIG 1g.10gb", "Tesla V100S-PCIE-32GB",
    "NVIDIA RTX PRO 6000 Blackwell Workstation Edition", "NVIDIA A100-SXM4-40GB MIG 1g.5gb",
]  # fmt: skip


@pytest.mark.parametrize(("row", "told"), [*zip(ROWS, SHEET, strict=True)], ids=IDS)
def test_a_row_has_sources_and_its_figures_fit_together(row, told):
    assert row.name.strip()
    assert told["unit"].strip()
    assert re.search(r"https://\S+\.\S+", told["source"])
    figures = {name: value for name, value in vars(row).items() if isinstance(value, float)}
    assert all(0 < value < math.inf for value in figures.values())
    assert {*row.less_sure} <= {*figures}
    assert ("on_chip_mib" in figures) == bool(told["on_chip_source"])
    assert re.match(r"(high|medium|low)\b", told["confidence_note"])
    order = [row.peak_fp32_tflops, row.peak_tf32_tflops_dense, row.peak_bf16_tflops_dense,
             row.peak_fp8_tflops_dense]  # fmt: skip
    present = [value for value in order if value]
    assert present == sorted(present), "no peak falls when the numbers get narrower"


def test_a_name_names_one_row_and_a_core_is_half_of_its_chip():
    by_name = {row.name: row for row in ROWS}
    assert len(by_name) == len(ROWS)
    for core in (row for row in ROWS if row.name.endswith(" core")):
        chip = by_name[core.name.removesuffix(" core")]
        for column in ("peak_bf16_tflops_dense", "mem_gb", "mem_bw_gb_s", "on_chip_mib"):
            assert getattr(chip, column) == 2 * getattr(core, column)


@pytest.mark.parametrize(("name", "row"), NAMES, ids=[name for name, _ in NAMES])
def test_a_device_finds_its_row_by_every_name_that_it_has(name, row):
    prefixes = ["", "NVIDIA ", "nvidia tesla ", "  Tesla  "] if row.kind == "GPU" else ["", " "]
    assert [match(prefix + name) for prefix in prefixes] == [row] * len(prefixes)


def test_a_device_that_is_not_in_the_table_finds_no_row():
    """A close relative has other figures; one that got a row of its own meanwhile has its own."""
    there = {f"{maker}{name}" for name, _ in NAMES for maker in ("", "NVIDIA ", "Tesla ")}
    assert [name for name in NO_MATCHES if match(name) and name not in there] == []
    families = ("Tesla P100", "Tesla V100", "NVIDIA A100", "NVIDIA H100")  # of several cards each
    assert [name for name in families if match(name)] == []


PEAKS = {
    "Tesla T4": {"float32": 8.1, "float16": 65, "bfloat16": 8.1, "int8": 130, "tfloat32": None,
                 "float8": None, "float64": None},
    "Tesla K80": {"float16": 2.8},
    "Tesla V100-PCIE-32GB": {"float32": 14, "float16": 112},
    "NVIDIA A10": {"bfloat16": 125}, "NVIDIA A10G": {"bfloat16": 70},
    "NVIDIA A100-SXM4-40GB": {"float32": 156, "tfloat32": 156, "bfloat16": 312},
    "TPU v5e": {"float32": 197, "float16": 197, "bfloat16": 197, "int8": 393, "tfloat32": None},
    "TPU v2": {"bfloat16": 22.5, "int8": None},
    "NVIDIA H100 80GB HBM3": {
        "float8": 1979, "float8_e4m3fn": 1979, "fp32": 494.5, "F32": 494.5, "tf32": 494.5,
        "bf16": 989.5, "mixed_bfloat16": 989.5, "mixed_float16": 989.5, "torch.float16": 989.5,
    },
}  # fmt: skip


@pytest.mark.parametrize("device", PEAKS)
def test_the_peak_is_that_of_the_fastest_dense_path(device):
    assert {dtype: peak(match(device), dtype) for dtype in PEAKS[device]} == PEAKS[device]


@pytest.mark.parametrize("row", ROWS, ids=IDS)
def test_float32_in_the_table_is_no_faster_than_what_is_taken_in_its_place(row):
    """Columns are tried in order: of those that a GPU has, the first must be the fastest."""
    if row.kind == "TPU":
        assert row.peak_fp32_tflops is row.peak_fp16_tflops_dense is None
    else:
        sheet = row.peak_fp32_tflops
        assert min(peak(row, dtype) for dtype in ("float32", "float16", "bfloat16")) >= sheet


def test_number_types_of_frameworks_are_understood_and_others_named():
    numpy = pytest.importorskip("numpy")
    tensorflows = SimpleNamespace(name="float16")
    for dtype in (numpy.float16, numpy.dtype("float16"), tensorflows):
        assert peak(match("Tesla T4"), dtype) == 65
    with pytest.raises(ValueError, match="flaot32.*tfloat32, float32"):
        peak(match("Tesla T4"), "flaot32")


A100, MIB = "NVIDIA A100-SXM4-40GB", 2**20
CPU = next(row.name for row in ROWS if row.kind == "CPU")


@pytest.mark.parametrize(
    ("verdict", "rate", "device", "given"),
    [
        ("impossible", 40e12, "Tesla T4", {}),
        ("unknown", 1e12, "Tesla T4", {"dtype": "float64"}),
        ("unknown", 1e15, "NVIDIA Nobody", {}),
        ("unknown", 1e15, None, {}),
        ("above ceiling", 20e12, "Tesla P100-PCIE-16GB", {}),  # a sheet that nobody opened
        ("above ceiling", 500e12, "NVIDIA L4", {"dtype": "float8"}),  # the sources differ
        ("impossible", 500e12, "Tesla T4", {"dtype": "float16"}),
        # no system's name is that of a CPU's row
        ("unknown", 1e15, CPU, {}),
        ("plausible", 280e9, "Tesla T4", {"bytes_moved": 10e9, "dtype": "int32"}),
        # 32 MiB read and written where the chip itself holds 40 MiB: fast, and possible
        ("above ceiling", 6e12, A100, {"bytes_moved": 64 * MIB}),
        ("impossible", 4e12, A100, {"bytes_moved": 64e9}),
    ],
)
def test_a_rate_is_judged_by_the_path_that_the_hardware_takes(verdict, rate, device, given):
    given = {"flops": rate, **given} if "bytes_moved" not in given else given
    seconds = given.get("bytes_moved", rate) / rate
    answer = judge(seconds=seconds, accelerator=device, **given)
    assert answer.verdict == verdict
    assert answer.rate == pytest.approx(rate)
    assert (answer.limit is None) == (answer.share is None) == (verdict == "unknown")


@pytest.mark.parametrize("row", [r for r in ROWS if r.kind != "CPU"], ids=lambda r: r.name)
def test_what_the_sheet_says_is_plausible_and_so_is_a_little_more(row):
    # Clocks boost, and sources differ: nobody is accused for that.
    for factor in (0.01, 1, 1.09, MARGIN * 0.999):
        for dtype in ("float32", "float16", "bfloat16", "int8"):
            if limit := peak(row, dtype):
                flops = factor * limit * 1e12
                answer = judge(flops=flops, seconds=1, accelerator=row, dtype=dtype)
                assert answer.verdict == "plausible"
                assert answer.share == pytest.approx(factor)
        rate = factor * row.mem_bw_gb_s * 1e9
        assert judge(bytes_moved=rate, seconds=1, accelerator=row).verdict == "plausible"


@pytest.mark.parametrize("row", ROWS, ids=IDS)
def test_only_a_trusted_figure_of_a_gpu_or_tpu_makes_a_rate_impossible(row):
    works = ({"flops": 1e21}, {"flops": 1e21, "dtype": "int8"}, {"bytes_moved": 1e21})
    verdicts = {judge(**work, seconds=1, accelerator=row).verdict for work in works}
    sure = row.kind in ("GPU", "TPU") and row.confidence == "high"
    assert ("impossible" in verdicts) == sure or (sure and row.less_sure)


def test_operations_and_bytes_at_once_are_refused():
    with pytest.raises(ValueError, match="not both"):
        judge(flops=1, bytes_moved=1, seconds=1)
