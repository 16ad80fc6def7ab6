"""Verdicts follow from the measurements, and say when they cannot tell."""

import pytest

from accel_helpers.machine.runtime import describe
from accel_helpers.measure import verdicts
from accel_helpers.measure.timing import Measurement, compare

SAME = "no measurable difference"


def about(level):
    return Measurement.from_samples([level * f for f in (1, 1.02, 0.99, 1.01, 0.98, 1.0)])


def ratio(value):
    return compare(about(value), about(1.0))


@pytest.mark.parametrize(
    ("ratios", "at_least", "verdict", "smallest"),
    [
        ({(16, 32): 0.5, (128, 32): 1.0}, 1, "nowhere", None),
        ({(16, 32): 0.5, (128, 32): 3.0, (512, 32): 9.0}, 1, "from some size on", (128, 32)),
        ({(16, 256): 2.0, (128, 32): 2.0}, 1, "everywhere", (16, 256)),
        ({(16, 32): 1.5, (128, 32): 3.0}, 2, "from some size on", (128, 32)),
    ],
)
def test_where_it_pays(ratios, at_least, verdict, smallest):
    speedups = {size: ratio(value) for size, value in ratios.items()}
    found = verdicts.where_it_pays(speedups, at_least=at_least)
    assert (found.verdict, found.smallest) == (verdict, smallest)
    assert found.largest == (max(ratios, key=ratios.get) if smallest else None)


@pytest.mark.parametrize(
    ("plain", "grouped", "products", "verdict", "parts"),
    [
        (1.0, 0.6, 0.2, "mostly other work", 3),
        (1.0, 1.1, 0.3, "mostly other work", 2),  # grouping made it slower: nothing to subtract
        (1.0, 0.9, 1.5, "cannot tell", 1),
    ],
)
def test_step_parts(plain, grouped, products, verdict, parts):
    found = verdicts.step_parts(about(plain), about(grouped), about(products))
    assert found.verdict == verdict and len(found.seconds) == parts
    assert sum(found.seconds.values()) == pytest.approx(plain)
    assert all(seconds > 0 for seconds in found.seconds.values())


STOP = "not needed yet"


@pytest.mark.parametrize(
    ("attached", "visible", "placed", "faster", "verdict", "said"),
    [
        (False, False, False, None, "not attached", ["no", STOP, STOP, STOP]),
        (False, True, True, "faster", "visible, not in the files", ["no", "yes", "yes", "yes"]),
        (True, False, False, None, "attached, not visible", ["yes", "no", STOP, STOP]),
        (True, True, False, "faster", "visible, not placed", ["yes", "yes", "no", STOP]),
        (True, True, True, None, "placed, not timed", ["yes", "yes", "yes", "not measured"]),
        (True, True, True, "slower", "placed, slower", ["yes", "yes", "yes", "no"]),
        (True, True, True, SAME, "placed, no difference", ["yes", "yes", "yes", "cannot tell"]),
        (True, True, True, "faster", "all four", ["yes"] * 4),
    ],
)
def test_verified_stops_at_the_first_no(attached, visible, placed, faster, verdict, said):
    found = verdicts.verified(attached=attached, visible=visible, placed=placed, faster=faster)
    assert found.verdict == verdict
    assert found.facts == dict(zip(("attached", "visible", "placed", "faster"), said, strict=True))


@pytest.mark.parametrize(
    ("environ", "smi", "verdict"),
    [
        ({}, None, "nothing here"),
        ({"COLAB_RELEASE_TAG": "r", "COLAB_TPU_1VM": ""}, None, "nothing in Colab"),
        ({"COLAB_RELEASE_TAG": "r", "COLAB_TPU_1VM": "1"}, None, "a TPU that is not there"),
        ({}, "Tesla T4, 15360, 550.54.15", "a GPU"),
        ({}, "Failed to initialize NVML", "a driver that does not answer"),
    ],
)
def test_what_is_attached_in_a_few_words(tmp_path, environ, smi, verdict):
    if smi:
        (tmp_path / "dev").mkdir()
        (tmp_path / "dev" / "nvidia0").touch()
    facts = {"environ": environ, "root": tmp_path, "versions": lambda _: None}
    assert verdicts.attached(describe(run=lambda *_: smi or "", **facts)) == verdict


@pytest.mark.parametrize(
    ("losses", "verdict"),
    [
        ([[2.0, 1.0], [2.0, 1.00005]], "the same"),
        ([[2.0, 1.0], [2.0, 1.001]], "not the same"),
        ([[2.0, 1.0], []], "cannot tell"),
        ([[2.0, 1.0], [2.0, float("nan")]], "cannot tell"),
    ],
)
def test_same_loss(losses, verdict):
    named = {str(number): run for number, run in enumerate(losses)}
    assert verdicts.same_loss(named) == verdict
    if verdict != "cannot tell":  # how far apart they may be is the caller's to say
        assert verdicts.same_loss(named, tolerance=0.2) == "the same"
