"""Of what a page draws or says, the record keeps the numbers, by names that tell what they are."""

from accel_helpers import compare
from accel_helpers.course.climb import Climb, Stage
from accel_helpers.course.facts import FourFacts
from accel_helpers.course.kept import numbers_of
from accel_helpers.measure.measurement import Measurement


def lasting(seconds, name):
    return Measurement.from_samples([seconds] * 5, name=name)


def test_of_a_race_the_factor_is_kept_with_its_interval_and_so_it_is_of_the_four_facts():
    race = compare(lasting(2.0, "cpu"), lasting(1.0, "gpu"))
    kept = numbers_of(race)
    assert kept["times as fast low"] <= kept["times as fast"] == 2 <= kept["times as fast high"]
    assert kept["cpu seconds"] == 2
    assert numbers_of(FourFacts("a GPU", "gpu:0", "gpu:0", race)) == kept


def test_of_a_climb_the_accuracies_and_the_gains_are_kept():
    stages = []
    for name, seconds in {"default fit": 4.0, "resident": 2.0}.items():
        stages.append(Stage(name, 32, lasting(seconds, name), (0.7, 0.9)))
    kept = numbers_of(Climb(tuple(stages)))
    assert kept["default fit accuracy low"] == 0.7
    assert kept["resident times as fast"] == 2
