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


def test_a_row_gets_what_the_forecast_of_its_model_says(keras):
    layer = keras.layers.Conv2D(16, 3, padding="same", activation="relu")
    load, _ = load_of(keras.Sequential([keras.Input((32, 32, 3)), layer]), 256)
    counts = 32**2 * 27 * 16 / 1e9, 32**2 * 16 / 1e6, 28 * 16 / 1e6, 2, 1  # padding and all
    line = dict(zip(tool.COUNTS, counts, strict=True), source="", mode="train")
    line |= {"precision": "tf32", "batch_per_chip": 256, "step_ms": 1}
    row = tool.row_of(line, hardware.match("NVIDIA T4"))
    _, *ends = step_time.row_of_chip(load, "NVIDIA T4", "float32", training=True).step
    assert [*step_time.interval(row.chip, *tool.expected([row]))] == pytest.approx(ends, rel=1e-3)


@pytest.mark.slow
def test_the_committed_constants_and_widths_are_those_of_the_published_rows():
    kept, anew = (tomllib.loads(text) for text in (tool.CONSTANTS.read_text(), tool.constants()))
    del kept["made_on"], anew["made_on"]
    assert anew.pop("constants") == pytest.approx(kept.pop("constants"), rel=0.01)
    assert anew == kept


def test_the_committed_score_is_that_of_the_measured_rows():
    assert forecast_page.printed_score() == step_time.SCORE.read_text("utf-8")
