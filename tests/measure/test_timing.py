"""What a user relies on: the number is true, and a difference that is not there is not reported."""

import math
import random
import subprocess
import sys

import pytest

from accel_helpers.measure import timing
from accel_helpers.measure.timing import Measurement, benchmark, compare


class LateDevice:
    """Takes an order at once and finishes it later; its clock moves by what was asked of it."""

    def __init__(self, work, *, order=20e-6, jitter=0.02, compile_time=0.0, seed=1):
        self.now, self.work, self.order, self.jitter = 0.0, work, order, jitter
        self.compile_time = compile_time
        self.random = random.Random(seed)
        self.free_at = 0.0

    def clock(self):
        return self.now

    def start(self):
        self.now += self.order
        cost = self.work * (1 + self.random.uniform(-self.jitter, self.jitter)) + self.compile_time
        self.compile_time = 0.0
        self.free_at = max(self.now, self.free_at) + cost
        return self

    def wait(self, job):
        self.now = max(self.now, self.free_at)


@pytest.mark.parametrize("work", [0.001, 0.01, 0.25, 2.0])
def test_a_device_that_finishes_late_is_timed_within_one_percent(work):
    device = LateDevice(work, compile_time=3.0)
    measured = benchmark(device.start, wait=device.wait, clock=device.clock)
    truth = work + device.order
    assert measured.median == pytest.approx(truth, rel=0.01)
    assert measured.first_call == pytest.approx(3.0 + truth, rel=0.03)

    naive = LateDevice(work)
    before = naive.clock()
    naive.start()
    assert (naive.clock() - before) * 10 < truth  # what everybody does, and what it says


def test_short_calls_are_timed_in_blocks_and_it_says_so():
    device = LateDevice(10e-6, order=1e-6)
    measured = benchmark(device.start, wait=device.wait, clock=device.clock, min_time=0.01)
    assert measured.calls_per_sample > 1
    assert any("timed together" in note for note in measured.notes)
    assert measured.median == pytest.approx(10e-6, rel=0.05)


def test_calls_of_a_millisecond_are_waited_for_one_by_one():
    device = LateDevice(1e-3)
    assert benchmark(device.start, wait=device.wait, clock=device.clock).calls_per_sample == 1


def test_a_slow_function_is_not_called_more_often_than_asked():
    calls = []
    device = LateDevice(5.0)
    benchmark(
        lambda: calls.append(1) or device.start(), wait=device.wait, clock=device.clock, repeats=6
    )
    assert len(calls) == 7  # the first call, then six samples


def test_it_stops_in_time_and_says_so():
    device = LateDevice(10.0)
    measured = benchmark(device.start, wait=device.wait, clock=device.clock, max_time=60)
    assert 5 <= len(measured.samples) < 30
    assert any("Stopped after 60 s" in note for note in measured.notes)


def test_errors_of_the_function_pass_through():
    with pytest.raises(ZeroDivisionError):
        benchmark(lambda: 1 / 0)


def test_a_clock_that_stands_still_is_an_error_not_a_hang():
    with pytest.raises(ValueError, match="clock"):
        benchmark(lambda: None, clock=lambda: 0.0)


# --- no false alarms, and no blindness --------------------------------------------------------

N, SPREAD, TRIALS = 30, 0.12, 1000


def independent(rng, level=1.0):
    return [level * (1 + rng.gauss(0, SPREAD)) for _ in range(N)]


def lognormal(rng):
    return [rng.lognormvariate(0, SPREAD) for _ in range(N)]


def autocorrelated(rng, n=N, r=0.5):
    x, out = rng.gauss(0, SPREAD), []
    for _ in range(n):
        out.append(1 + x)
        x = r * x + math.sqrt(1 - r * r) * rng.gauss(0, SPREAD)
    return out


def drifting(total, noise):
    def draw(rng, start=0):
        return [1 + total * (start + i) / N + rng.gauss(0, noise) for i in range(N)]

    return draw


def twice(draw):
    return lambda rng: (draw(rng), draw(rng))


def halves_of_one_autocorrelated_series(rng):
    series = autocorrelated(rng, 2 * N)
    return series[:N], series[N:]


def one_rises_one_falls(total, noise):
    return lambda rng: (drifting(total, noise)(rng), drifting(-total, noise)(rng))


def one_drift_through_both(total, noise):
    return lambda rng: (drifting(total, noise)(rng), drifting(total, noise)(rng, start=N))


@pytest.mark.parametrize(
    "pair",
    [
        pytest.param(twice(independent), id="independent"),
        pytest.param(twice(lognormal), id="lognormal"),
        pytest.param(twice(autocorrelated), id="AR(1)"),
        pytest.param(halves_of_one_autocorrelated_series, id="AR(1), one series cut in two"),
        pytest.param(twice(drifting(0.2, SPREAD)), id="both drift by 20 %"),
        pytest.param(twice(drifting(0.36, 0.06)), id="both drift, 12 % in all"),
        pytest.param(one_rises_one_falls(0.4, SPREAD), id="one rises, one falls"),
        pytest.param(one_rises_one_falls(0.2, 0.04), id="one rises, one falls, little noise"),
        pytest.param(one_drift_through_both(0.04, SPREAD), id="slow drift through both"),
        pytest.param(one_drift_through_both(0.4, SPREAD), id="strong drift through both"),
        pytest.param(one_drift_through_both(0.36, 0.06), id="drift through both, 12 % in all"),
        pytest.param(one_drift_through_both(0.2, 0.03), id="drift through both, little noise"),
    ],
)
def test_two_timings_of_one_thing_are_rarely_told_apart(pair):
    rng = random.Random(20261121)
    alarms = 0
    for _ in range(TRIALS):
        a, b = pair(rng)
        alarms += compare(Measurement.from_samples(a), Measurement.from_samples(b)).conclusive
    assert alarms <= 0.05 * TRIALS, f"{alarms} false alarms in {TRIALS}"


@pytest.mark.parametrize("factor", [1.2, 1 / 1.2, 0.8])
def test_a_difference_of_a_fifth_is_found(factor):
    rng = random.Random(7)
    found = 0
    for _ in range(TRIALS):
        a, b = independent(rng), independent(rng, factor)
        result = compare(Measurement.from_samples(b), Measurement.from_samples(a))
        found += result.verdict == ("faster" if factor > 1 else "slower")
    assert found >= 0.95 * TRIALS, f"found {found} of {TRIALS}"


class SharedMachine:
    """Two functions on one clock, on a machine that grows slower all the time."""

    def __init__(self, drift, seed, ratio=1.0):
        self.now, self.drift, self.ratio = 0.0, drift, ratio
        self.random = random.Random(seed)

    def clock(self):
        return self.now

    def run(self, work):
        self.now += work * (1 + self.drift * self.now) * (1 + self.random.gauss(0, 0.05))

    def compare(self):
        return compare(
            lambda: self.run(0.010 * self.ratio),
            lambda: self.run(0.010),
            clock=self.clock,
            min_time=0,
        )


def test_taking_turns_cancels_a_drift():
    # the machine doubles its times during the comparison: one after the other would be 1.5
    conclusive = sum(SharedMachine(1.6, seed).compare().conclusive for seed in range(200))
    assert conclusive <= 0.05 * 200
    found = [SharedMachine(1.6, seed, ratio=1.2).compare() for seed in range(200)]
    assert sum(f.verdict == "faster" for f in found) >= 0.95 * 200
    assert sorted(f.ratio or 1.2 for f in found)[100] == pytest.approx(1.2, rel=0.02)


# --- what is said -----------------------------------------------------------------------------


def test_no_ratio_where_the_intervals_overlap():
    a = Measurement.from_samples([1.0, 1.2, 0.9, 1.1, 1.3, 1.0], name="CPU")
    b = Measurement.from_samples([1.1, 0.9, 1.2, 1.0, 1.1, 1.2], name="GPU")
    result = compare(a, b)
    assert result.ratio is None and not result.conclusive
    assert "no measurable difference" in str(result)
    assert "times as fast" not in str(result)
    assert "ratio" not in str(result)


def test_small_differences_between_two_cells_are_left_to_taking_turns():
    a = Measurement.from_samples([1.000, 1.001, 1.002, 1.001, 1.000, 1.001])
    b = Measurement.from_samples([1.020, 1.021, 1.022, 1.021, 1.020, 1.021])
    result = compare(b, a)
    assert result.ratio is None and "take turns" in str(result)
    c = Measurement.from_samples([1.070, 1.071, 1.072, 1.071, 1.070, 1.071])
    assert compare(c, a).verdict == "faster"


def test_a_ratio_names_the_faster_one_whichever_it_is():
    a = Measurement.from_samples([1.0, 1.01, 1.0, 1.02, 1.01, 1.0], name="CPU")
    b = Measurement.from_samples([0.1, 0.101, 0.1, 0.102, 0.101, 0.1], name="GPU")
    assert str(compare(a, b)).startswith("GPU is 10 times as fast as CPU")
    assert str(compare(b, a)).startswith("GPU is 10 times as fast as CPU")
    assert compare(a, b).verdict == "faster" and compare(b, a).verdict == "slower"


def test_the_interval_holds_the_median_and_the_ratio():
    rng = random.Random(3)
    for _ in range(200):
        n = rng.choice([5, 7, 12, 30, 61, 200])
        a = Measurement.from_samples([rng.lognormvariate(0, 0.5) for _ in range(n)])
        b = Measurement.from_samples([rng.lognormvariate(1, 0.3) for _ in range(n)])
        assert a.interval[0] <= a.median <= a.interval[1]
        result = compare(b, a)
        if result.conclusive:
            assert result.interval[0] <= result.ratio <= result.interval[1]


def test_few_samples_never_settle_anything():
    a = Measurement.from_samples([1.0, 1.0, 1.0])
    b = Measurement.from_samples([9.0, 9.0, 9.0])
    assert not compare(b, a).conclusive
    assert "too few" in str(compare(b, a))
    assert any("too few" in warning for warning in a.warnings)


@pytest.mark.parametrize(
    ("samples", "word"),
    [
        ([1 + i / 30 for i in range(30)], "rose"),
        ([2 - i / 30 for i in range(30)], "fell"),
        ([1.0, 1.01, 0.99] * 9 + [5.0, 1.0, 7.0], "2 of 30 samples took more than twice"),
        ([1.0, 1.4, 0.7, 1.2, 0.8, 1.3, 0.75, 1.1] * 3, "spreads over"),
    ],
)
def test_warnings_in_plain_words(samples, word):
    assert any(word in warning for warning in Measurement.from_samples(samples).warnings)


def test_a_slight_drift_is_not_worth_a_warning():
    slight = Measurement.from_samples([1 + i / 10_000 for i in range(30)])
    assert slight.warnings == ()


def test_a_quiet_measurement_has_no_warnings():
    rng = random.Random(5)
    samples = [1 + rng.gauss(0, 0.02) for _ in range(30)]
    assert Measurement.from_samples(samples).warnings == ()


def test_measurements_survive_being_written_down():
    m = Measurement.from_samples([1, 2, 3.5], first_call=9, name="x", notes=["n"])
    assert Measurement.from_dict(m.to_dict()) == m


def test_a_function_that_returns_nothing_is_noted_where_a_framework_could_run_ahead():
    code = (
        "import time; from accel_helpers.measure.timing import benchmark; {}"
        "print(benchmark(lambda: time.sleep(0.001), repeats=5, min_time=0).notes)"
    )
    for load, noted in [("import jax; ", True), ("", False)]:
        done = subprocess.run(
            [sys.executable, "-c", code.format(load)], capture_output=True, text=True
        )
        assert ("returned nothing" in done.stdout) == noted, done.stderr


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: benchmark(3), TypeError, "got 3 (int). Put 'lambda:'"),
        (lambda: benchmark(lambda: 1, wait=7), TypeError, "wait must be a function"),
        (lambda: benchmark(lambda: 1, repeats=0), ValueError, "at least 1; got 0"),
        (lambda: benchmark(lambda: 1, repeats=2.5), ValueError, "got 2.5"),
        (lambda: benchmark(lambda: 1, min_time=-1), ValueError, "min_time must be"),
        (lambda: benchmark(lambda: 1, max_time="5"), ValueError, "max_time must be"),
        (lambda: Measurement.from_samples([]), ValueError, "empty list"),
        (lambda: Measurement.from_samples("1 2"), TypeError, "list of seconds"),
        (lambda: Measurement.from_samples([1.0, -2.0]), ValueError, "sample 1"),
        (lambda: Measurement.from_samples([float("nan")]), ValueError, "sample 0"),
        (lambda: Measurement.from_samples([1.0], first_call=0), ValueError, "first_call"),
        (lambda: Measurement.from_samples(["a"]), TypeError, "sample 0 must be a number"),
        (lambda: Measurement.from_dict({"times": []}), ValueError, "'samples'"),
        (
            lambda: compare(Measurement.from_samples([1.0]), lambda: 1),
            TypeError,
            "two functions or two measurements",
        ),
    ],
)
def test_bad_input_is_named(call, error, words):
    with pytest.raises(error) as caught:
        call()
    assert words in str(caught.value)


@pytest.mark.parametrize(
    ("seconds", "text"), [(2e-9, "2 ns"), (0.9996, "1 s"), (1234.5, "1234 s"), (1.5e-3, "1.5 ms")]
)
def test_times_are_printed_with_a_unit(seconds, text):
    assert timing.format_seconds(seconds) == text


def test_measurements_taken_in_turns_are_compared_pair_by_pair():
    """A machine that slows down by a quarter hides a tenth, and turns show it all the same."""
    drift = [1 + 0.02 * i for i in range(12)]
    noise = [1 + 0.004 * ((5 * i) % 7 - 3) for i in range(12)]
    slow = Measurement.from_samples([0.11 * a * b for a, b in zip(drift, noise, strict=True)])
    fast = Measurement.from_samples([0.10 * a for a in drift])
    assert not compare(slow, fast).conclusive
    found = compare(slow, fast, in_turns=True, names=("A", "B"))
    assert found.ratio == pytest.approx(1.1, rel=0.01)
    assert found.interval[0] < 1.1 < found.interval[1] and "B is 1.1 times" in str(found)
    same = compare(slow, slow, in_turns=True)
    assert same.ratio is None and not same.conclusive
    few = Measurement.from_samples([1.0, 1.1])
    assert "too few" in compare(few, few, in_turns=True).reason
    with pytest.raises(ValueError, match="equally many samples; got 12 of A and 2 of the second"):
        compare(slow, few, in_turns=True, names=("A", ""))
