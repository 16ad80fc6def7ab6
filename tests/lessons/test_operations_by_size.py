"""Lesson 07: one operation by size, on both frameworks, beside a T4 that is only worked out."""

import json
import os

import pytest

from accel_helpers import probe
from accel_helpers.lessons.lesson_07 import (
    CPU,
    LINK,
    PRETEND,
    SENT,
    START,
    crossing,
    pretend,
    sticks,
)
from accel_helpers.machine import hardware
from accel_helpers.measure.measurement import Measurement

SIZES = [10**k for k in range(1, 9)]


def line(floor, rate):
    return {n: Measurement.from_samples([floor + n / rate] * 5) for n in SIZES}


def test_the_pretend_t4_is_worked_out_from_stored_figures_and_starts_later_than_the_cpu():
    cpu, t4 = line(40e-6, 1e9), hardware.match("T4")
    found = pretend("add", cpu)
    assert {*cpu} <= {*found} and found[10] == pytest.approx(START + cpu[10].median, rel=1e-3)
    assert found[10**8] == pytest.approx(found[10] + 8e8 / (1e9 * t4.mem_bw_gb_s), rel=1e-3)
    sent = pretend("add", cpu, LINK)  # 400 MB there and 400 MB back
    assert sent[10**8] - found[10**8] == pytest.approx(0.05079, rel=1e-3)
    product = pretend("product", {n: cpu[10] for n in (16, 4096)})
    assert product[4096] - product[16] == pytest.approx(2 * 4096**3 / 8.1e12, rel=0.01)


def test_the_pretend_t4_starts_later_than_the_cpu_at_each_small_size_that_was_timed():
    cpu = line(40e-6, 1e9) | {10: Measurement.from_samples([97e-6] * 5)}  # a restless start
    found = pretend("add", cpu)
    assert all(found[n] > cpu[n].median for n in (10, 100, 1000))
    assert found[10_000] < found[10], "the others begin as the middle of the three"


def test_what_was_not_measured_is_named_so_and_gone_as_soon_as_a_gpu_has_been_timed():
    cpu = {CPU: line(40e-6, 1e9)}
    said = sticks("add", cpu).alt
    assert f"Dashed: {PRETEND} from" in said and f"; {SENT} from" in said
    assert "8,000 numbers on, a T4 might beat this CPU" in said
    said = sticks("add", cpu | {"the Tesla T4": line(1e-3, 40e9)}).alt
    assert "retend" not in said and "0,000 numbers on, the Tesla T4 beats" in said
    said = sticks("add", cpu | {"the Tesla T4": line(1, 40e9)}).alt
    assert "the CPU wins up to 100 million numbers" in said


def test_a_crossing_lies_between_the_sizes_and_the_last_one_counts():
    level = dict.fromkeys(SIZES, 1.0)
    assert crossing({n: n / 3e4 for n in SIZES}, level) == pytest.approx(3e4)
    assert crossing({10: 2.0, 100: 0.5, 1000: 2.0}, level) == pytest.approx(10**2.5)
    assert crossing(level, dict.fromkeys(SIZES, 2.0)) is None


MEASURE = """
import json, accel_helpers as ah
from accel_helpers.lessons import lesson_07
ah.backend.choose()
lesson_07.by_size("add", lambda x: x + 1, (10, 100, 10**9), "cpu", 6)
curve = lesson_07.by_size("product", lambda x: x @ x, (16, 32, 8192), "cpu", 6)
print(json.dumps([*lesson_07.formats(lambda x: x @ x, curve, "cpu", 6)]))
"""


@pytest.mark.parametrize("framework", ["tensorflow", "jax"])
def test_both_frameworks_give_the_curves_and_the_card_has_their_names(framework, tmp_path):
    environ = {"KERAS_BACKEND": framework, "ACCEL_FAST": "1"}
    environ["ACCEL_RESULT_CARD"] = card = str(tmp_path / "card.json")
    done = probe.run(MEASURE, seconds=200, environ={**os.environ, **environ})
    assert done.kind == "finished", done.output
    kinds = json.loads(probe.last_line(done.output))
    with open(card, encoding="utf-8") as file:
        kept = json.load(file)
    names = {"add", "add/10", "add/100", "product/16", "product/32"}  # no time for the largest
    names |= {f"product {kind}" for kind in kinds}
    assert {*kept["measurements"]} == {f"07/cpu/{name}" for name in names}
    assert kept["numbers"] == {"07/cpu/add/size": [100], "07/cpu/product/size": [32]}
