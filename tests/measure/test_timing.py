"""What a user relies on: the number is true, and a difference that is not there is not reported."""

import math
import random
import tomllib
from pathlib import Path

import pytest

from accel_helpers.measure.measurement import VERDICTS
from accel_helpers.measure.series import locate
from accel_helpers.measure.timing import Measurement, benchmark, compare

measured = Measurement.from_samples
# Two timings of one thing, and how often in 1,000 they are told apart, as they were in 2026-11. The
# draws are always the same: only another statistic, or a last digit, changes a count.
PAIRS = tomllib.loads(Path(__file__).with_name("pairs.toml").read_text("utf-8"))


class LateDevice:
    """Takes an order at once and finishes it later; its clock moves by what was asked of it."""

    def __init__(self, work, compile_time=0.0):
        self.now = self.free_at = 0.0
        self.work = work
        self.compile_time = compile_time
        self.orders = 0
        self.random = random.Random(1)

    def start(self):
        self.now += 1e-6
        self.orders += 1
        cost = self.work * self.random.uniform(0.98, 1.02) + self.compile_time
        self.compile_time = 0.0
        self.free_at = max(self.now, self.free_at) + cost

    def wait(self, job):
        self.now = max(self.now, self.free_at)

    def benchmark(self, **options):
        return benchmark(self.start, wait=self.wait, clock=lambda: self.now, **options)


@pytest.mark.parametrize("work", [0.001, 0.25, 2.0])
def test_a_device_that_finishes_late_is_timed_within_one_percent(work):
    device = LateDevice(work, compile_time=3.0)
    found = device.benchmark()
    assert found.median == pytest.approx(work, rel=0.01)
    assert found.calls_per_sample == 1
    assert found.first_call == pytest.approx(3.0 + work, rel=0.03)
    assert device.orders == 1 + len(found.samples), "the first call is none"


def test_short_calls_are_timed_in_blocks_and_it_says_so():
    found = LateDevice(10e-6).benchmark(seconds=0.01)
    assert found.calls_per_sample > 1
    assert "calls were timed together" in found.notes[0]
    assert found.median == pytest.approx(10e-6, rel=0.05)


def test_a_box_of_twelve_seconds_ends_when_it_is_full():
    # five make an interval, and may take up to twice the time
    for work, counts in {1.0: (11, 12), 4.0: (5,), 10.0: (2,)}.items():
        found = LateDevice(work).benchmark(seconds=12)
        assert len(found.samples) in counts


def test_every_other_round_begins_with_the_second_function():
    calls = []

    def clock():
        return 0.01 * len(calls)

    def first():
        calls.append("a")

    def second():
        calls.append("b")

    compare(first, second, clock=clock, seconds=0.1)
    # The first call of each, and one to see how long a call is, which is the first sample.
    assert "".join(calls) == "aabbbaabbaab"


# --- no false alarms, and no blindness --------------------------------------------------------

TRIALS = 1000


def series(rng, drift=0.0, start=0, likeness=0.0):
    """30 times with a spread of 12% that change by `drift` meanwhile, like the ones before."""
    times = []
    off = rng.gauss(0, 0.12)
    for i in range(start, start + 30):
        times.append(1 + drift * i / 30 + off)
        off = likeness * off + math.sqrt(1 - likeness**2) * rng.gauss(0, 0.12)
    return measured(times)


@pytest.mark.parametrize("name", PAIRS)
def test_two_timings_of_one_thing_are_rarely_told_apart(name):
    pair = PAIRS[name]
    rng = random.Random(20261121)
    alarms = 0
    for _ in range(TRIALS):
        one = series(rng, **pair["one"])
        other = series(rng, **pair["other"])
        alarms += compare(one, other).conclusive
    assert alarms <= 0.05 * TRIALS
    assert alarms == pytest.approx(pair["alarms"], abs=2)


def test_a_difference_of_a_fifth_is_found():
    rng = random.Random(7)
    found = 0
    for _ in range(TRIALS):
        slow = measured([1.2 * time for time in series(rng).samples])
        found += compare(slow, series(rng)).verdict == "faster"
    assert found == pytest.approx(961, abs=2)


def test_an_interval_holds_the_truth_as_often_as_it_says():
    rng = random.Random(4)
    of_one = of_pairs = 0
    for _ in range(TRIALS):
        one, other = series(rng), series(rng)
        low, high = locate(one.samples).interval
        of_one += low <= 1 <= high
        low, high = compare(one, other, in_turns=True).interval
        of_pairs += low <= 1 <= high
    assert of_one == pytest.approx(0.95 * TRIALS, abs=20)
    assert of_pairs == pytest.approx(0.99 * TRIALS, abs=10)


# --- what is said -----------------------------------------------------------------------------

LEVEL = measured([1 + i % 2 / 1000 for i in range(12)])
CPU = measured([1.0, 1.01, 1.0, 1.02, 1.01, 1.0], name="CPU")
GPU = measured([0.1, 0.101, 0.1, 0.102, 0.101, 0.1], name="GPU")


def test_a_ratio_names_the_faster_one_whichever_it_is_and_there_is_none_in_doubt():
    faster = compare(CPU, GPU)
    slower = compare(GPU, CPU)
    doubt = compare(LEVEL, LEVEL)
    said = "GPU is 10 times as fast as CPU (95% interval 9.83 to 10.2)"
    assert str(faster) == said
    assert str(slower) == said
    assert doubt.ratio is None
    assert "less than about 5%" in doubt.reason
    assert (faster.verdict, slower.verdict, doubt.verdict) == VERDICTS


def test_a_difference_of_less_than_5_percent_counts_as_none():
    one = measured([1.01 * seconds for seconds in LEVEL.samples])
    seven = measured([1.07 * seconds for seconds in LEVEL.samples])
    for in_turns in (False, True):
        assert compare(one, LEVEL, in_turns=in_turns).ratio is None
        assert compare(seven, LEVEL, in_turns=in_turns).verdict == "faster"


def test_a_ratio_near_1_is_not_printed_as_1():
    one = measured([1.0] * 6)
    assert compare(measured([1.06] * 6), one).times == "1.06"
    assert compare(measured([187.0] * 6), one).times == "187"


def test_warnings_come_where_they_are_needed():
    rising = measured([1 + i / 30 for i in range(30)])
    rose, spreads = rising.warnings
    assert "rose" in rose
    assert "spreads" in spreads
    (late,) = measured([1.0, 1.01, 0.99] * 9 + [5.0, 1.0, 7.0]).warnings
    assert "2 of 30" in late
    few = measured([1.0, 1.0, 1.0])
    assert "too few" in few.warnings[0]
    assert "Careful: " in str(few)
    assert not LEVEL.warnings


def test_measurements_taken_in_turns_are_compared_pair_by_pair():
    fast, slow = [], []
    for i in range(12):
        seconds = 1 + 0.02 * i
        fast.append(seconds)
        slow.append(seconds * (1.1 + i % 3 / 200))
    apart = compare(measured(slow), measured(fast))
    found = compare(measured(slow), measured(fast), in_turns=True)
    assert not apart.conclusive
    assert found.ratio == pytest.approx(1.105, rel=0.01)
    low, high = found.interval
    assert low < 1.105 < high


def test_fewer_than_five_samples_decide_nothing():
    slow = measured([9.0, 9.0])
    fast = measured([1.0, 1.0])
    assert not compare(slow, fast).conclusive
    assert not compare(slow, fast, in_turns=True).conclusive
