"""What the record keeps of a result: the numbers that its readers look up, each by its words."""

import numpy as np
import pytest

from accel_helpers import describe, judge
from accel_helpers.course.climb import Climb, Stage
from accel_helpers.course.facts import FourFacts
from accel_helpers.course.kept import numbers_of
from accel_helpers.course.outcomes import outcome_of
from accel_helpers.course.stored_steps import stored_product
from accel_helpers.measure import timing
from accel_helpers.measure.measurement import Measurement
from accel_helpers.measure.scores import Score


def lasting(seconds, name=""):
    return Measurement.from_samples([seconds] * 5, name=name)


def timed(name, seconds):
    """The numbers of a measurement without a spread."""
    ends = dict.fromkeys((f"{name} seconds low", f"{name} seconds high"), pytest.approx(seconds))
    return {f"{name} seconds": seconds, **ends, f"{name} samples": 5.0}


GPU = lasting(1.0, "gpu")
RACE = timing.compare(lasting(2.0, "cpu"), GPU)
LOW, HIGH = RACE.interval
RACED = {
    **timed("cpu", 2.0),
    **timed("gpu", 1.0),
    "times as fast low": LOW,
    "times as fast": 2.0,
    "times as fast high": HIGH,
}
RIGHT = Score("bigger", ((True, False), (True, True)))

RESULTS = {
    "nothing": (object(), {}),
    "a number": (np.float32(0.25), {"value": 0.25}),
    "no number of JSON's": (float("inf"), {}),
    "numbers": (np.array([4.0, 2.0]), {"#1": 4.0, "#2": 2.0}),
    "many answers": ({"all": np.ones(360, bool)}, {"all mean": 1.0, "all count": 360.0}),
    "counts": ({"ran": 2, "steps": 20}, {"ran": 2.0, "steps": 20.0}),
    "a time": (
        Measurement.from_samples([3.0, 1.0, 2.0], name="cpu", first_call=9.0),
        {
            "cpu seconds": 2.0,
            "cpu seconds low": 1.0,
            "cpu seconds high": 3.0,
            "cpu first call seconds": 9.0,
            "cpu samples": 3.0,
        },
    ),
    "by batch size": ({32: GPU}, timed("32 gpu", 1.0)),
    "a race": (RACE, RACED),
    "facts": (FourFacts("a GPU", "gpu:0", "gpu:0", RACE), RACED),
    "a rate": ([judge(flops=1e9, seconds=GPU)], timed("gpu", 1.0)),
    "scores": ([RIGHT], {"bigger accuracy": 0.75}),
    "a product": (
        {129: stored_product(129, 129, 129)},
        {"129 instructions": 36.0},
    ),
}


@pytest.mark.parametrize(("result", "numbers"), RESULTS.values(), ids=RESULTS)
def test_a_result_is_kept_as_numbers(result, numbers):
    assert numbers_of(result) == numbers


def stage(name, seconds, *accuracy):
    return Stage(name, 32, lasting(seconds, name), accuracy)


def test_of_a_climb_the_gains_and_what_its_claims_need_are_kept():
    stages = [stage("default fit", 8.0, 0.7, 0.8, 0.9), stage("tf.data with prefetch", 4.0, 0.5)]
    numbers = numbers_of(Climb((*stages, stage("resident", 2.0, 0.5))))
    assert numbers["resident times as fast"] == pytest.approx(4)
    assert numbers["resident against tf.data times as fast"] == pytest.approx(2)
    ends = [numbers[f"default fit accuracy{end}"] for end in (" low", "", " high")]
    assert ends == pytest.approx([0.7, 0.8, 0.9])
    assert not any("against" in name for name in numbers_of(Climb(tuple(stages))))


@pytest.mark.parametrize(
    ("seconds", "outcome"), [(0.06, "many at once"), (0.2, "cannot tell"), (2, "one by one")]
)
def test_a_cpu_faster_than_one_by_one_did_many_at_once(seconds, outcome):
    work = 1.2e9 * describe().cores
    judged = [judge(flops=work, seconds=lasting(each)) for each in (seconds, 1e-6)]
    assert outcome_of(judged, "at once") == outcome
