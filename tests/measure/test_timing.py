"""What a user relies on: the number is true, and a difference that is not there is not reported."""

import math
import random
import subprocess
import sys

import pytest

from accel_helpers.measure.measurement import locate
from accel_helpers.measure.timing import Measurement, benchmark, compare

measured = Measurement.from_samples


class LateDevice:
    """Takes an order at once and finishes it later; its clock moves by what was asked of it."""

    def __init__(self, work, *, order=20e-6, compile_time=0.0):
        self.now, self.work, self.order = 0.0, work, order
        self.compile_time, self.orders, self.free_at = compile_time, 0, 0.0
        self.random = random.Random(1)

    def start(self):
        self.now += self.order
        self.orders += 1
        cost = self.work * (1 + self.random.uniform(-0.02, 0.02)) + self.compile_time
        self.compile_time = 0.0
        self.free_at = max(self.now, self.free_at) + cost

    def wait(self, job):
        self.now = max(self.now, self.free_at)

    def benchmark(self, **options):
        return benchmark(self.start, wait=self.wait, clock=lambda: self.now, **options)


def test_an_interval_that_is_to_be_surer_is_wider_by_students_quantiles():
    rng = random.Random(4)
    values = [rng.gauss(0, 1) for _ in range(20)]
    widths = []
    for confidence in (0.95, 0.99):
        low, high = locate(values, confidence=confidence).interval
        widths.append(high - low)
    # With 19 degrees of freedom, as every table has them.
    assert widths[1] / widths[0] == pytest.approx(2.861 / 2.093, rel=0.01)


@pytest.mark.parametrize("work", [0.001, 0.01, 0.25, 2.0])
def test_a_device_that_finishes_late_is_timed_within_one_percent(work):
    device = LateDevice(work, compile_time=3.0)
    found, truth = device.benchmark(), work + device.order
    assert found.median == pytest.approx(truth, rel=0.01)
    assert found.calls_per_sample == 1
    assert found.first_call == pytest.approx(3.0 + truth, rel=0.03)


def test_short_calls_are_timed_in_blocks_and_it_says_so():
    found = LateDevice(10e-6, order=1e-6).benchmark(seconds=0.01)
    assert found.calls_per_sample > 1
    assert found.notes
    assert found.median == pytest.approx(10e-6, rel=0.05)


def test_a_slow_function_stops_in_time_and_is_not_called_more_often_than_it_has_samples():
    device = LateDevice(10.0)
    found = device.benchmark()
    assert 5 <= len(found.samples) < 30
    assert "120 s" in found.notes[0]
    assert device.orders == 1 + len(found.samples)  # the first call is none


# --- no false alarms, and no blindness --------------------------------------------------------

N, SPREAD, TRIALS = 30, 0.12, 1000


def independent(rng, level=1.0):
    return [level * (1 + rng.gauss(0, SPREAD)) for _ in range(N)]


def autocorrelated(rng, r=0.5):
    x, out = rng.gauss(0, SPREAD), []
    for _ in range(N):
        out.append(1 + x)
        x = r * x + math.sqrt(1 - r * r) * rng.gauss(0, SPREAD)
    return out


def drifting(rng, total, noise, start=0):
    return [1 + total * (start + i) / N + rng.gauss(0, noise) for i in range(N)]


def both(draw, *given):
    return lambda rng: (draw(rng, *given), draw(rng, *given))


def onward(total, noise):
    return lambda rng: (drifting(rng, total, noise), drifting(rng, total, noise, N))


PAIRS = {
    "independent": both(independent),
    "AR(1)": both(autocorrelated),
    "both drift by 20 %": both(drifting, 0.2, SPREAD),
    "one rises, one falls": lambda rng: [drifting(rng, total, SPREAD) for total in (0.4, -0.4)],
    "slow drift through both": onward(0.04, SPREAD),
    "strong drift through both": onward(0.4, SPREAD),
    "drift through both, little noise": onward(0.2, 0.03),
}


# How often each was told apart, and how often a difference was found, since 2026-11: the draws are
# the same every time, so only another statistic changes them, or a last digit that falls otherwise.
ALARMS = dict(zip(PAIRS, (8, 15, 2, 23, 39, 8, 0), strict=True))
FOUND = {1.2: 963, 1 / 1.2: 960, 0.8: 984}


@pytest.mark.parametrize("pair", PAIRS)
def test_two_timings_of_one_thing_are_rarely_told_apart(pair):
    rng = random.Random(20261121)
    alarms = sum(compare(*map(measured, PAIRS[pair](rng))).conclusive for _ in range(TRIALS))
    assert alarms <= 0.05 * TRIALS, f"{alarms} false alarms in {TRIALS}"
    assert alarms == pytest.approx(ALARMS[pair], abs=2)


@pytest.mark.parametrize("factor", FOUND)
def test_a_difference_of_a_fifth_is_found(factor):
    rng, wanted = random.Random(7), "faster" if factor > 1 else "slower"
    pairs = [(measured(independent(rng)), measured(independent(rng, factor))) for _ in range(1000)]
    found = sum(compare(b, a).verdict == wanted for a, b in pairs)
    assert found >= 0.95 * len(pairs)
    assert found == pytest.approx(FOUND[factor], abs=2)


class SharedMachine:
    """One clock on a machine that grows slower all the time."""

    def __init__(self, seed):
        self.now, self.random = 0.0, random.Random(seed)

    def run(self, work):
        self.now += work * (1 + 1.6 * self.now) * (1 + self.random.gauss(0, 0.05))

    def compare(self, ratio=1.0):
        slow, fast = (lambda work=work: self.run(work) for work in (0.010 * ratio, 0.010))
        return compare(slow, fast, clock=lambda: self.now)


def test_every_other_round_begins_with_the_second_function():
    calls = []

    def clock():
        return 0.01 * len(calls)

    compare(lambda: calls.append("a"), lambda: calls.append("b"), clock=clock, seconds=0.1)
    # The first call of each, and one to see how long a call is, which is the first sample.
    assert "".join(calls) == "aabb" + "ba" + "ab" + "ba" + "ab"


def test_taking_turns_cancels_a_drift():
    # the machine doubles its times during the comparison: one after the other would be 1.5
    alarms = sum(SharedMachine(seed).compare().conclusive for seed in range(200))
    assert alarms <= 0.05 * 200
    found = [SharedMachine(seed).compare(1.2) for seed in range(200)]
    assert sum(f.verdict == "faster" for f in found) >= 0.95 * 200
    assert sorted(f.ratio or 1.2 for f in found)[100] == pytest.approx(1.2, rel=0.02)


# --- what is said -----------------------------------------------------------------------------

CPU = measured([1.0, 1.01, 1.0, 1.02, 1.01, 1.0], name="CPU")
GPU = measured([0.1, 0.101, 0.1, 0.102, 0.101, 0.1], name="GPU")


def test_a_ratio_names_the_faster_one_whichever_it_is_and_there_is_none_in_doubt():
    said = "GPU is 10 times as fast as CPU (95 % interval 9.83 to 10.2)"
    assert str(compare(CPU, GPU)) == str(compare(GPU, CPU)) == said
    assert compare(CPU, GPU).verdict == "faster"
    assert compare(GPU, CPU).verdict == "slower"
    doubt = compare(measured([1.0, 1.2, 0.9, 1.1, 1.3]), measured([1.1, 0.9, 1.2, 1.0, 1.2]))
    assert doubt.ratio is None
    assert not doubt.conclusive
    assert "times as fast" not in str(doubt)
    assert doubt.verdict == "no measurable difference"
    assert doubt.reason


@pytest.mark.parametrize("in_turns", [False, True])
def test_a_difference_of_less_than_5_percent_counts_as_none(in_turns):
    level, one, seven = (
        measured([level + i % 3 / 1000 for i in range(6)]) for level in (1, 1.01, 1.07)
    )
    same = compare(one, level, in_turns=in_turns)
    assert same.verdict == "no measurable difference"
    assert same.ratio is None
    assert "less than 5 %" in same.reason
    assert compare(seven, level, in_turns=in_turns).verdict == "faster"


def test_no_difference_under_5_percent_is_said_to_be_visible():
    level = measured([1 + i % 2 / 1000 for i in range(12)])
    assert "less than about 5 %" in compare(level, level).reason


@pytest.mark.parametrize(
    ("ratio", "said"), [(1.06, "1.06"), (0.93, "0.93"), (2.04, "2"), (31.4, "31"), (187, "187")]
)
def test_a_ratio_near_1_is_not_printed_as_1(ratio, said):
    assert compare(measured([ratio] * 6), measured([1.0] * 6)).times == said


def test_the_interval_holds_the_median_and_the_ratio():
    rng = random.Random(3)
    for _ in range(200):
        n = rng.choice([5, 7, 12, 30, 61, 200])
        a, b = (measured([rng.lognormvariate(m, 0.4) for _ in range(n)]) for m in (0, 1))
        assert a.interval[0] <= a.median <= a.interval[1]
        result = compare(b, a)
        assert not result.conclusive or result.interval[0] <= result.ratio <= result.interval[1]


@pytest.mark.parametrize(
    ("samples", "words"),
    [
        ([1 + i / 30 for i in range(30)], ["rose", "spreads"]),
        ([2 - i / 30 for i in range(30)], ["fell", "spreads"]),
        ([1.0, 1.01, 0.99] * 9 + [5.0, 1.0, 7.0], ["2 of 30"]),
        ([1.0, 1.4, 0.7, 1.2, 0.8, 1.3, 0.75, 1.1] * 3, ["spreads"]),
        ([1.0, 1.0, 1.0], ["too few"]),
        ([1 + i / 10_000 for i in range(30)], []),  # a slight drift
        ([1 + draw(0, 0.02) for draw in 30 * [random.Random(5).gauss]], []),
    ],
)
def test_warnings_come_where_they_are_needed(samples, words):
    found = measured(samples)
    assert len(found.warnings) == len(words)
    assert all(word in said for word, said in zip(words, found.warnings, strict=True))
    lines = " ".join(str(found).split())
    assert all(f"Careful: {said}" in lines for said in found.warnings)
    assert max(map(len, str(found).splitlines())) < 100, "a notebook would break words"


def test_a_function_that_returns_nothing_is_noted_where_a_framework_could_run_ahead():
    code = (
        "import time; from accel_helpers.measure.timing import benchmark; {}"
        "print(benchmark(lambda: time.sleep(0.001), seconds=0.1).notes)"
    )
    for load, noted in [("import jax; ", True), ("", False)]:
        command = [sys.executable, "-c", code.format(load)]
        done = subprocess.run(command, capture_output=True, text=True)
        assert ("returned nothing" in done.stdout) == noted, done.stderr


@pytest.mark.parametrize(
    ("call", "named"),
    [
        (lambda: measured([]), "at least one"),
        (lambda: measured([1.0, -2.0]), "sample 1"),
        (lambda: measured([1.0], first_call=0), "first_call"),
        (lambda: compare(CPU, measured([1.0]), in_turns=True), "shorter"),
    ],
)
def test_what_is_no_measurement_is_refused(call, named):
    with pytest.raises(ValueError, match=named):
        call()


def test_measurements_taken_in_turns_are_compared_pair_by_pair():
    drift = [1 + 0.02 * i for i in range(12)]
    slow = measured([0.11 * a * (1 + 0.004 * ((5 * i) % 7 - 3)) for i, a in enumerate(drift)])
    fast = measured([0.10 * a for a in drift])
    assert not compare(slow, fast).conclusive
    found = compare(slow, fast, in_turns=True, names=("A", "B"))
    assert found.ratio == pytest.approx(1.1, rel=0.01)
    assert found.fast.name == "B"
    assert found.interval[0] < 1.1 < found.interval[1]
    assert not compare(slow, slow, in_turns=True).conclusive
    few = [measured([level, level]) for level in (9.0, 1.0)]
    assert not compare(*few, in_turns=True).conclusive
    assert not compare(*few).conclusive


@pytest.mark.parametrize(
    ("fast", "each", "box", "count"),
    # what a caller asks for is what is taken, whatever the sizes of the lessons
    [("", 1.0, 12, 12), ("", 10.0, 12, 2), ("", 4.0, 12, 5), ("1", 1.0, 12, 12)],
)
def test_a_box_ends_when_it_is_full(monkeypatch, fast, each, box, count):
    monkeypatch.setenv("ACCEL_FAST", fast)
    now = [0.0]

    def work():
        now[0] += each
        return 1

    found = benchmark(work, wait=lambda _: None, clock=lambda: now[0], seconds=box)
    assert len(found.samples) == count
