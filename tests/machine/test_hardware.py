"""The accelerator table keeps its rules, names find their row, `judge` accuses nobody wrongly."""

import importlib.resources
import math
import re

import pytest

from accel_helpers._records import DataError
from accel_helpers.machine.hardware import MARGIN, judge, load, match, peak, read_table

TEXT = (importlib.resources.files("accel_helpers") / "data" / "accelerators.csv").read_text("utf-8")
ROWS = load()
IDS = [f"{row.name}, {row.unit}" for row in ROWS]
NAMES = [(name, row) for row in ROWS for name in row.names]
NO_MATCHES = [
    "", " ", "T", "NVIDIA", "Tesla", "GPU", "cpu", "TPU", "TPU v7", "TPU7x", "TPU v5", "TPU v5p",
    "TPU v4 lite", "TPU v2 or v3", "TPU of unknown type", "v2-8", "v5e-8", "v5litepod-16",
    "NVIDIA L40S", "NVIDIA L40", "NVIDIA T400", "NVIDIA T1000", "Tesla T40", "NVIDIA A10",
    "NVIDIA A10G", "NVIDIA A100-PCIE-40GB", "NVIDIA A100 80GB PCIe", "NVIDIA H100 PCIe",
    "NVIDIA H100 NVL", "NVIDIA H200 NVL", "NVIDIA GH200 480GB", "NVIDIA H20",
    "Tesla V100-PCIE-16GB", "Tesla V100-SXM2-32GB", "Tesla P100-SXM2-16GB", "Tesla K40m",
    "NVIDIA GeForce RTX 4090", "NVIDIA RTX PRO 6000 Blackwell Workstation Edition",
    "RTX PRO 6000 Blackwell Workstation Edition", "NVIDIA RTX 6000 Ada Generation",
    "NVIDIA RTX PRO 6000 Blackwell Max-Q Workstation Edition", "NVIDIA A100-SXM4-40GB MIG 1g.5gb",
]  # fmt: skip


# The table: a new chip is one row of it, and these walk over all rows


@pytest.mark.parametrize("row", ROWS, ids=IDS)
def test_a_row_has_sources_and_its_figures_fit_together(row):
    assert re.search(r"https://\S+\.\S+", row.source)
    assert re.match(r"(high|medium|low)\b", row.confidence_note)
    order = [row.peak_fp32_tflops, row.peak_tf32_tflops_dense, row.peak_bf16_tflops_dense,
             row.peak_fp8_tflops_dense]  # fmt: skip
    present = [value for value in order if value]
    assert present == sorted(present), "no peak falls when the numbers get narrower"


def test_name_and_unit_name_a_row_and_a_core_is_half_of_its_chip():
    by_name = {(row.name, row.unit): row for row in ROWS}
    assert len(by_name) == len(ROWS)
    for core in (row for row in ROWS if row.unit == "core"):
        (chip,) = [row for row in ROWS if row.name == core.name and row != core]
        for column in ("peak_bf16_tflops_dense", "mem_gb", "mem_bw_gb_s", "on_chip_mib"):
            assert getattr(chip, column) == 2 * getattr(core, column)


# Matching


@pytest.mark.parametrize(("name", "row"), NAMES, ids=[name for name, _ in NAMES])
def test_a_device_finds_its_row_by_every_name_that_it_has(name, row):
    prefixes = ["", "NVIDIA ", "nvidia tesla ", "  Tesla  "] if row.kind == "GPU" else ["", " "]
    assert [match(prefix + name) for prefix in prefixes] == [row] * len(prefixes)


@pytest.mark.parametrize("name", NO_MATCHES)
def test_a_device_that_is_not_in_the_table_finds_no_row(name):
    assert match(name) is None


def test_the_names_that_systems_report_are_known():
    for name in ("Tesla T4", "NVIDIA H100 80GB HBM3", "Tesla P100-PCIE-16GB", "TPU v5 lite"):
        assert match(name)
    assert match("TPU v2").unit == match("TPU v3").unit == "core", "JAX shows cores"


@pytest.mark.parametrize(("name", "ridge"), [("Tesla T4", 203.125), ("v5e", 240.54), ("K80", None)])
def test_the_ridge_is_the_16_bit_peak_over_the_bandwidth(name, ridge):
    found = match(name).ridge_flop_per_byte_16bit
    assert found == (ridge and pytest.approx(ridge, rel=1e-4))


# Peaks


@pytest.mark.parametrize(
    ("device", "dtype", "tflops"),
    [
        ("Tesla T4", "float32", 8.1),
        ("Tesla T4", "float16", 65),
        ("Tesla T4", "bfloat16", 8.1),
        ("Tesla T4", "int8", 130),
        ("Tesla T4", "tfloat32", None),
        ("Tesla T4", "float8", None),
        ("Tesla T4", "float64", None),
        ("Tesla V100-SXM2-16GB", "float32", 15.7),
        ("Tesla V100-SXM2-16GB", "bfloat16", 15.7),
        ("Tesla V100-SXM2-16GB", "int8", None),
        ("Tesla K80", "float16", 2.8),
        ("NVIDIA A100-SXM4-40GB", "float32", 156),
        ("NVIDIA A100-SXM4-40GB", "tfloat32", 156),
        ("NVIDIA A100-SXM4-40GB", "bfloat16", 312),
        ("NVIDIA H100 80GB HBM3", "float8", 1979),
        ("TPU v5e", "float32", 197),
        ("TPU v5e", "float16", 197),
        ("TPU v5e", "bfloat16", 197),
        ("TPU v5e", "int8", 393),
        ("TPU v5e", "tfloat32", None),
        ("TPU v2", "bfloat16", 22.5),
        ("TPU v2", "int8", None),
    ],
)
def test_the_peak_is_that_of_the_fastest_dense_path(device, dtype, tflops):
    assert peak(match(device), dtype) == tflops


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        ("fp32", "float32"),
        ("F32", "float32"),
        ("bf16", "bfloat16"),
        ("mixed_bfloat16", "bfloat16"),
        ("mixed_float16", "float16"),
        ("tf32", "tfloat32"),
        ("float8_e4m3fn", "float8"),
        ("torch.float16", "float16"),
    ],
)
def test_a_number_type_may_be_given_as_frameworks_name_it(given, meant):
    row = match("NVIDIA H100 80GB HBM3")
    assert peak(row, given) == peak(row, meant)


def test_numpys_and_jaxs_number_types_are_understood():
    numpy = pytest.importorskip("numpy")
    a100 = match("NVIDIA A100-SXM4-40GB")
    assert peak(a100, numpy.float16) == peak(a100, numpy.dtype("float16")) == 312


def test_a_number_type_with_a_name_is_known_by_it():
    class TensorFlowType:
        name = "float16"

        def __str__(self):
            return "<dtype: 'float16'>"

    assert peak(match("Tesla T4"), TensorFlowType()) == 65


def test_an_unknown_number_type_is_named_with_those_that_are_known():
    with pytest.raises(ValueError, match="flaot32.*float32, tfloat32"):
        peak(match("Tesla T4"), "flaot32")


# Judging


def test_the_published_mistake_of_not_waiting_is_impossible():
    answer = judge(bytes_moved=100e6, seconds=0.038e-3, accelerator="Tesla T4")
    assert answer.verdict == "impossible"
    assert answer.rate == pytest.approx(2.63e12, rel=0.01)
    assert (answer.limit, answer.unit) == (320e9, "B/s")
    assert answer.share == pytest.approx(8.2, abs=0.05)
    assert "wait for the result" in answer.reason and "NVIDIA T4" in answer.reason
    assert "2.632 TB/s is 8.22 times the published 320 GB/s" in str(answer)


@pytest.mark.parametrize(
    ("rate", "device", "dtype", "verdict"),
    [
        (5e12, "Tesla T4", "float32", "plausible"),
        (40e12, "Tesla T4", "float32", "impossible"),
        (40e12, "Tesla T4", "mixed_float16", "plausible"),
        (40e12, "Tesla T4", "bfloat16", "impossible"),
        (120e12, "NVIDIA A100-SXM4-40GB", "float32", "plausible"),  # TF32 is on by default
        (271e12, "NVIDIA A100-SXM4-40GB", "bfloat16", "plausible"),  # the best ever measured
        (794e12, "NVIDIA H100 80GB HBM3", "bfloat16", "plausible"),
        (150e12, "TPU v5 lite", "float32", "plausible"),  # multiplied in bfloat16
        (400e12, "TPU v5 lite", "float32", "impossible"),
        (40e12, "TPU v2", "bfloat16", "impossible"),  # one core
        (1e12, "Tesla T4", "float64", "unknown"),
        (1e15, "NVIDIA L40S", "float16", "unknown"),
        (20e12, "Tesla P100-PCIE-16GB", "float32", "above ceiling"),  # a sheet that nobody opened
        (4e12, "Tesla K80", "float32", "above ceiling"),  # the figure is without boost
        (500e12, "NVIDIA L4", "float8", "above ceiling"),  # the sources differ
        (300e12, "NVIDIA L4", "float16", "impossible"),
    ],
)
def test_compute_is_judged_by_the_path_that_the_hardware_takes(rate, device, dtype, verdict):
    answer = judge(flops=rate * 0.01, seconds=0.01, accelerator=device, dtype=dtype)
    assert answer.verdict == verdict
    assert answer.rate == pytest.approx(rate)


@pytest.mark.parametrize(
    ("rate", "device", "verdict"),
    [
        (280e9, "Tesla T4", "plausible"),
        (3e12, "NVIDIA A100-SXM4-40GB", "impossible"),
        (600e9, "TPU v2", "above ceiling"),  # its bandwidth is less sure than its peak
        (1.6e12, "TPU v5e", "impossible"),
        (1e12, "Tesla K80", "above ceiling"),
    ],
)
def test_memory_is_judged_by_the_bandwidth(rate, device, verdict):
    answer = judge(bytes_moved=10e9, seconds=10e9 / rate, accelerator=device)
    assert answer.verdict == verdict


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
    verdicts = {
        judge(flops=1e21, seconds=1, accelerator=row).verdict,
        judge(flops=1e21, seconds=1, accelerator=row, dtype="int8").verdict,
        judge(bytes_moved=1e21, seconds=1, accelerator=row).verdict,
    }
    sure = row.kind in ("GPU", "TPU") and row.confidence == "high"
    assert ("impossible" in verdicts) <= sure
    if sure and not row.less_sure:
        assert "impossible" in verdicts


def test_small_data_may_be_faster_than_the_memory():
    # 32 MiB read and written where the chip itself holds 40 MiB: fast, and possible.
    a100 = "NVIDIA A100-SXM4-40GB"
    answer = judge(bytes_moved=64 * 2**20, seconds=64 * 2**20 / 4e12, accelerator=a100)
    assert answer.verdict == "above ceiling"
    assert "larger array" in answer.reason
    large = judge(bytes_moved=64e9, seconds=64e9 / 4e12, accelerator=a100)
    assert large.verdict == "impossible", "the same rate, in far more than the chip holds"


def test_no_sheet_of_a_cpu_is_believed():
    cpu = next(row for row in ROWS if row.kind == "CPU")
    assert judge(flops=1e15, seconds=1, accelerator=cpu).verdict == "unknown"
    above = judge(flops=1e12, seconds=1, accelerator=cpu, ceiling=4e11)
    assert (above.verdict, above.limit, above.share) == ("above ceiling", 4e11, 2.5)
    assert "400 GFLOP/s" in above.reason
    assert judge(flops=3e11, seconds=1, accelerator=cpu, ceiling=4e11).verdict == "plausible"


def test_a_measured_ceiling_needs_no_accelerator():
    assert judge(bytes_moved=10e9, seconds=1, ceiling=13e9).verdict == "plausible"
    assert judge(bytes_moved=100e9, seconds=1, ceiling=13e9).verdict == "above ceiling"


def test_a_measured_ceiling_warns_below_the_sheet_and_never_softens_it():
    t4 = {"seconds": 1, "accelerator": "Tesla T4", "dtype": "float16"}
    assert judge(flops=50e12, ceiling=25e12, **t4).verdict == "above ceiling"
    assert judge(flops=500e12, ceiling=25e12, **t4).verdict == "impossible"
    assert judge(flops=500e12, ceiling=1e15, **t4).verdict == "impossible"


def test_two_devices_may_be_twice_as_fast_as_one():
    rate = {"flops": 14e12, "seconds": 1, "accelerator": "Tesla T4"}
    assert judge(**rate).verdict == "impossible"
    both = judge(**rate, count=2)
    assert (both.verdict, both.limit) == ("plausible", 16.2e12)
    assert "2 x NVIDIA T4" in both.reason


def test_nothing_to_compare_with_is_unknown_and_says_what_to_do():
    for given in ({}, {"accelerator": "NVIDIA L40S"}):
        answer = judge(flops=1e12, seconds=1, **given)
        assert answer.verdict == "unknown"
        assert (answer.limit, answer.share) == (None, None)
        assert "ceiling=" in answer.reason
        assert given.get("accelerator", "no accelerator") in answer.reason


def test_memory_is_judged_whatever_the_number_type():
    assert judge(bytes_moved=1e9, seconds=1, accelerator="Tesla T4", dtype="int32").rate == 1e9


@pytest.mark.parametrize(
    ("given", "named"),
    [
        ({"seconds": 1}, "flops=None and bytes_moved=None"),
        ({"flops": 1, "bytes_moved": 1, "seconds": 1}, "flops=1 and bytes_moved=1"),
        ({"flops": 1, "seconds": 0}, "seconds is 0"),
        ({"flops": 1, "seconds": -1}, "seconds is -1"),
        ({"flops": math.nan, "seconds": 1}, "flops or bytes_moved is nan"),
        ({"bytes_moved": math.inf, "seconds": 1}, "flops or bytes_moved is inf"),
        ({"flops": 1, "seconds": 1, "ceiling": 0}, "ceiling is 0"),
        ({"flops": 1, "seconds": 1, "count": 0}, "count is 0"),
    ],
)
def test_numbers_that_make_no_sense_are_refused_by_name(given, named):
    with pytest.raises(ValueError, match=named):
        judge(**given)


# A bad table


@pytest.mark.parametrize(
    ("old", "new", "named"),
    [
        ("paid,30.3", "paid,fast", "line 3, peak_fp32_tflops"),
        ("paid,30.3", "paid,-30.3", "line 3: peak_fp32_tflops"),
        ("paid,30.3", "paid,nan", "line 3, peak_fp32_tflops"),
        ("paid,30.3", "paid,inf", "line 3, peak_fp32_tflops"),
        ("paid,30.3", "paid,0", "line 3: peak_fp32_tflops"),
        ("NVIDIA L4,GPU", "NVIDIA L4,NPU", "line 3, kind"),
        ("NVIDIA L4,GPU", ",GPU", "line 3: name"),
        (",high,high (FP8 medium),", ",sure,high (FP8 medium),", "line 3, confidence"),
        (",peak_fp8_tflops_dense,48", ",peak_fp9_tflops,48", "peak_fp9_tflops"),
        (",peak_fp8_tflops_dense,48", ",notes,48", "less_sure"),
        ("power_w,", "watts,", "watts"),
        ("paid,30.3", "paid,30.3,1", "line 3"),
        ("paid,30.3,60", "paid,30.3", "line 3"),
        (match("L4").source, "", "line 3: name, unit and source"),
    ],
)  # fmt: skip
def test_a_bad_table_is_refused_by_row_and_column(old, new, named):
    assert old in TEXT and read_table(TEXT) == ROWS
    with pytest.raises(DataError, match=named):
        read_table(TEXT.replace(old, new, 1))
