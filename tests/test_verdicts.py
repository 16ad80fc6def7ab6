"""Verdicts follow from the measurements, and say when they cannot tell."""

import pytest

from accel_helpers.timing import Measurement, compare
from accel_helpers.verdicts import step_parts, where_it_pays


def about(level, name=""):
    return Measurement.from_samples(
        [level * f for f in (1, 1.02, 0.99, 1.01, 0.98, 1.0)], name=name
    )


def ratio(value):
    return compare(about(value), about(1.0))


@pytest.mark.parametrize(
    ("ratios", "at_least", "verdict", "smallest"),
    [
        ({(16, 32): 1.0, (128, 32): 1.0}, 1, "nowhere", None),
        ({(16, 32): 0.5, (128, 32): 1.0}, 1, "nowhere", None),
        ({(16, 32): 0.5, (128, 32): 3.0, (512, 32): 9.0}, 1, "from some size on", (128, 32)),
        ({(16, 256): 2.0, (128, 32): 2.0}, 1, "everywhere", (16, 256)),
        ({(16, 32): 1.5, (128, 32): 3.0}, 2, "from some size on", (128, 32)),
    ],
)
def test_where_it_pays(ratios, at_least, verdict, smallest):
    found = where_it_pays({size: ratio(v) for size, v in ratios.items()}, at_least=at_least)
    assert (found.verdict, found.smallest) == (verdict, smallest)
    if smallest:
        assert found.ratio == pytest.approx(max(ratios.values()), rel=0.05)


@pytest.mark.parametrize(
    ("plain", "grouped", "products", "verdict", "parts"),
    [
        (1.0, 0.6, 0.2, "mostly other work", 3),
        (1.0, 0.9, 0.5, "mixed", 3),
        (1.0, 0.9, 0.8, "mostly arithmetic", 3),
        (1.0, 1.0, 0.3, "mostly other work", 2),  # nothing between the steps: joined
        (1.0, 1.1, 0.3, "mostly other work", 2),  # grouping made it slower: nothing to subtract
        (1.0, 0.9, 1.0, "cannot tell", 1),
        (1.0, 0.9, 1.5, "cannot tell", 1),
    ],
)
def test_step_parts(plain, grouped, products, verdict, parts):
    found = step_parts(about(plain), about(grouped), about(products))
    assert found.verdict == verdict and len(found.seconds) == parts
    assert sum(found.seconds.values()) == pytest.approx(plain)
    assert all(seconds > 0 for seconds in found.seconds.values())
