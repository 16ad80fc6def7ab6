"""Rows are forecast as a model is, and constants and score are those of the published rows.

How rows are judged and left out is on docs/forecast.md, which tests/test_benchmarks.py holds.
"""

import tomllib

import forecast as tool  # in tools/
import pytest

from accel_helpers.machine import hardware
from accel_helpers.worth import step_time
from accel_helpers.worth.model_load import load_of
from benchmarks import forecast_page

KEPT = tomllib.loads(tool.CONSTANTS.read_text("utf-8"))
MODES = [("train", "float32", "tf32"), ("infer", "bfloat16", "bf16"), ("infer", "float16", "fp16")]
CHIPS = ["NVIDIA T4", "NVIDIA L4", "NVIDIA A100-SXM4-40GB"]


@pytest.mark.parametrize("mode, dtype, precision", MODES)
def test_a_row_gets_what_the_forecast_of_its_model_says(keras, mode, dtype, precision):
    layer = keras.layers.Conv2D(16, 3, padding="same", activation="relu")
    load, _ = load_of(keras.Sequential([keras.Input((32, 32, 3)), layer]), 256)
    counts = 32**2 * 27 * 16 / 1e9, 32**2 * 16 / 1e6, 28 * 16 / 1e6, 2, 1  # padding and all
    line = dict(zip(tool.COUNTS, counts, strict=True), id="", source="", framework="")
    line |= {"mode": mode, "precision": precision, "execution": "xla"}
    line |= {"batch_per_chip": 256, "step_ms": 1}
    for name in CHIPS:
        said = step_time.row_of_chip(load, name, dtype, training=mode == "train")
        row = tool.row_of(line, hardware.match(name))
        [seconds] = tool.expected([row])
        times = seconds, *step_time.interval(row.chip, seconds)
        assert times == pytest.approx(said.step, rel=1e-3), name


def test_the_committed_constants_are_those_of_the_published_rows():
    rows, _ = tool.read(tool.PUBLISHED)
    assert len(rows) == KEPT["rows"]
    assert tool.fit(rows) == pytest.approx(KEPT["constants"], rel=0.01)


@pytest.mark.slow
def test_so_are_the_widths_of_their_intervals():
    anew = tomllib.loads(tool.constants())
    for name in KEPT.keys() - {"made_on", "constants"}:
        assert anew[name] == KEPT[name], name


def test_the_committed_score_is_that_of_the_measured_rows():
    assert forecast_page.printed_score() == step_time.SCORE.read_text("utf-8")
