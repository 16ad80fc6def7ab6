"""The four facts: the first no decides, and the race is kept under what it was raced on."""

from itertools import product

import pytest
from known import OUTCOMES

from accel_helpers.course.facts import FourFacts
from accel_helpers.course.outcomes import outcome_of
from accel_helpers.measure import timing
from accel_helpers.measure.measurement import Measurement

ON_TENSORFLOW = "/job:localhost/replica:0/task:0/device:{}:0"
TPU = "TPU_0(process=0,(0,0,0,0))"


def race(first, second, other="gpu:0"):
    sides = (Measurement.from_samples([seconds] * 5) for seconds in (first, second))
    return timing.compare(*sides, names=("CPU", other))


FASTER, SLOWER, SAME = race(2.0, 1.0), race(1.0, 2.0), race(1.0, 1.0)


@pytest.mark.parametrize(
    ("attached", "visible", "placed", "faster", "verdict"),
    [
        (None, "cpu:0", "cpu:0", SAME, "not attached"),
        (None, "gpu:0", "cuda:0", FASTER, "visible, not in the files"),
        ("Tesla T4", "cpu:0", ON_TENSORFLOW.format("CPU"), SAME, "attached, not visible"),
        ("Tesla T4", "gpu:0", ON_TENSORFLOW.format("CPU"), FASTER, "visible, not placed"),
        ("Tesla T4", "gpu:0", ON_TENSORFLOW.format("GPU"), SLOWER, "placed, slower"),
        ("TPU v5e", "tpu:0", TPU, SAME, "placed, no difference"),
        ("Tesla T4", "gpu:0", "cuda:0", FASTER, "all four"),
    ],
)
def test_the_first_no_decides(attached, visible, placed, faster, verdict):
    found = FourFacts(attached, visible, placed, faster)
    assert outcome_of(found, "FourFacts") == verdict
    assert str(visible) in found.table
    assert ("on a GPU" in found.table) == (verdict == "not attached")


def test_what_the_four_facts_come_to_is_all_that_has_a_sentence():
    given = product((None, "T4"), ("cpu:0", "gpu:0"), ("cpu:0", "cuda:0"), (FASTER, SLOWER, SAME))
    assert {FourFacts(*facts).verdict for facts in given} == {*OUTCOMES["FourFacts"]}


@pytest.mark.parametrize(
    ("device", "where"),
    [
        (ON_TENSORFLOW.format("CPU"), "on the CPU"),
        ("cuda:0", "on a GPU"),
        (ON_TENSORFLOW.format("TPU"), "on a TPU"),
        (RuntimeError("Unknown backend: 'gpu' requested"), "nowhere: an error"),
    ],
)
def test_where_a_result_landed_is_one_of_the_choices(device, where):
    assert outcome_of(device, "landed") == where
    assert where in OUTCOMES["landed"]
