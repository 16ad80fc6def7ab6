"""Lesson 06: a race of 129 is told as it came out."""

import pytest

from accel_helpers.course.outcomes import outcome_of
from accel_helpers.measure import timing
from accel_helpers.measure.measurement import Measurement


def race(slow):
    """129 in so many seconds, with a few percent of noise, against 128 in one."""
    noise = (1, 1.02, 0.99, 1.01, 0.98, 1.0)
    sides = [Measurement.from_samples([level * each for each in noise]) for level in (slow, 1.0)]
    return timing.compare(*sides, names=("129", "128"))


@pytest.mark.parametrize(
    ("slow", "outcome"),
    [
        (0.5, "less"),
        (1.0, "about as long"),
        (1.5, "a little longer"),
        (2.0, "cannot tell"),
        (4.0, "twice or more"),
    ],
)
def test_how_much_longer_129_takes_is_told_as_far_as_the_interval_allows(slow, outcome):
    assert outcome_of(race(slow), "longer") == outcome
