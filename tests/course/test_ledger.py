"""Every claim gets the verdict that an entry of the record supports, and none that it does not."""

import pytest

from accel_helpers import compare, judge
from accel_helpers.course import ledger, record
from accel_helpers.course.climb import Climb, Stage
from accel_helpers.course.facts import FourFacts
from accel_helpers.course.kept import numbers_of
from accel_helpers.course.record import Entry
from accel_helpers.course.stored_steps import stored_product
from accel_helpers.measure.measurement import Measurement

CLAIMS = {claim.number: claim for claim in ledger.claims()}


def entry(number, outcome="", numbers=None, backend="tensorflow", place="colab", kind=None):
    """An entry at a claim's place, of the chip that it needs."""
    claim = CLAIMS[number]
    machine = {"kind": kind or claim.needs or "cpu", "place": place, "backend": backend}
    return Entry(claim.place, outcome, numbers or {}, "2026-11-30", machine)


def of_value(number, low, high, least=1.0, most=1.0, kind=None):
    """An entry with both ends of the claim's value, and of what that is divided by."""
    numbers = {}
    for name, *ends in ((CLAIMS[number].over, least, most), (CLAIMS[number].value, low, high)):
        numbers |= {f"{name} low": ends[0], name: ends[0], f"{name} high": ends[1]}
    return entry(number, "", numbers, kind=kind)


def verdict(number, *entries):
    return ledger.fill(entries)[number - 1].verdict


# Claim, verdict, and both ends of the value; also those of what it is divided by, if they differ.
INTERVALS = [
    (3, "contradicted", 0.26, 0.26),
    (3, "supported", 0, 0),
    (3, "cannot be told", 1e-6, 1e-6),
    (4, "contradicted", 2, 4),
    (4, "supported", 7.5, 8.5),
    (4, "cannot be told", 7, 8),
    (4, "cannot be told", 7.5, 8.5, 0.9, 1.1),
    (5, "supported", 2, 3),
    (5, "contradicted", 0.9, 1.1),
    (5, "cannot be told", 1.9, 3),
    (8, "supported", 4.5, 4.5),
    (8, "contradicted", 1, 1),
    (11, "supported", 0.9, 1.2),
    (11, "contradicted", 2, 90),
    (11, "cannot be told", 1.1, 2.5),
    (12, "supported", 0.1, 0.1),
    (12, "contradicted", 1, 1),
    (13, "supported", 0.9, 1.2),
    (13, "contradicted", 2, 90),
    (13, "cannot be told", 1.1, 2.5),
    (15, "supported", 8, 8),
    (15, "contradicted", 1, 1),
    (17, "contradicted", 0.88, 0.9, 0.91, 0.96),
    (17, "supported", 0.97, 0.98, 0.91, 0.96),
    (17, "cannot be told", 0.95, 0.97, 0.91, 0.96),
    (18, "supported", 0.9, 1.2),
    (18, "contradicted", 2, 3),
    (18, "cannot be told", 1.46, 3.1),
    (19, "contradicted", 0.256, 0.256),
    (19, "supported", 1, 1),
]
# The same by an entry's outcome, and by what trained where.
OUTCOMES = [
    (1, "contradicted", "many at once", {"cpu:0 seconds": 0.06}),
    (1, "supported", "one by one", {"cpu:0 seconds": 0.06}),
    (6, "supported", "all four"),
    (6, "supported", "placed, slower"),
    (6, "contradicted", "visible, not placed"),
    (6, "cannot be told", "placed, no difference"),
    (6, "cannot be told", "all four", {}, "jax"),
    (9, "contradicted", "tpu", {}, "jax"),
    (9, "cannot be told", "tpu", {}, "tensorflow"),
    (10, "supported", "tpu", {}, "jax"),
    (10, "cannot be told", "tpu", {}, "jax", "kaggle"),
    (5, "cannot be told", "", {"times as fast": 4.0, "cpu samples": 4.0}),  # too few
    (5, "cannot be told", "", {"a name of an older course": 4.0}),
]


@pytest.mark.parametrize("case", INTERVALS)
def test_a_claim_gets_the_verdict_that_the_whole_interval_supports(case):
    number, state, *ends = case
    assert verdict(number, of_value(number, *ends)) == state


@pytest.mark.parametrize("case", OUTCOMES)
def test_a_claim_gets_the_verdict_that_the_outcome_supports(case):
    number, state, *given = case
    assert verdict(number, entry(number, *given)) == state


def test_a_claim_has_its_experiment_and_its_sources():
    assert [*CLAIMS] == [*range(1, 20)]
    for claim in CLAIMS.values():
        assert claim.experiment
        assert " ".join(claim.source).count("https://") == len(claim.source) > 0


def lasting(seconds, name, **others):
    return Measurement.from_samples([seconds] * 5, name=name, **others)


RACE = compare(lasting(2.0, "cpu"), lasting(1.0, "gpu", first_call=9.0))
NAMES = ["default fit", "bigger batches", "tf.data with prefetch", "resident"]
STAGES = [Stage(name, 32, lasting(8 / n, name), (0.7, 0.9)) for n, name in enumerate(NAMES, 1)]
CLIMB = Climb((*STAGES,))
# What the page's cell puts there, by the claim, and what the ledger then tells of it.
RESULTS = {
    1: ([judge(flops=17e9, seconds=lasting(0.06, "cpu:0"))], "0.06 to 0.06 s"),
    3: (0.26, "0.26"),
    4: ({32: lasting(1, "fit"), 256: lasting(2, "fit")}, "2 to 2 times as long as 32"),
    5: (RACE, "2 to 2 times as fast"),
    6: (FourFacts("a GPU", "gpu:0", "gpu:0", RACE), ""),
    8: ({n: stored_product(n, n, n) for n in (128, 129)}, "36 instructions for 129, 8 for 128"),
    11: (RACE, "2 to 2 times as fast"),
    12: ({"ran": 2, "steps": 20}, "2 times in 20 steps"),
    13: (RACE, "2 to 2 times as fast"),
    15: ((16e9, 2e9), "16,000,000,000 bytes on each device copied, 2,000,000,000 sharded"),
    17: (CLIMB, "large batches: 70.0% to 90.0%, with small ones 70.0% to 90.0%"),
    18: (CLIMB, "1.33 to 1.33 times as fast"),
    19: ((256.0, 1000.0), "256, and should be 1000"),
}


@pytest.mark.parametrize("number", RESULTS)
def test_a_claim_finds_what_it_is_judged_by_in_what_its_page_keeps(number):
    result, told = RESULTS[number]
    found = ledger.fill([entry(number, "", numbers_of(result))])[number - 1]
    assert told in found.measured


def test_what_needs_a_chip_that_is_not_here_says_so_and_the_newest_of_that_chip_decides():
    on_cpu = of_value(19, 1, 1)
    assert {verdict(number, on_cpu) for number in (4, 5, 6, 11, 13)} == {"needs a GPU"}
    assert {verdict(number, on_cpu) for number in (9, 10)} == {"needs a TPU"}
    older, newer = of_value(5, 0.9, 1), of_value(5, 4, 5)
    assert verdict(5, older, newer, of_value(5, 0.9, 1, kind="cpu")) == "supported"


def test_it_is_filled_from_the_learners_own_record():
    assert {one.verdict for one in ledger.my_claims()} == {ledger.PUBLISHED, ledger.NOT_MEASURED}
    record.keep(of_value(19, 1.0, 1.0))
    shown = ledger.my_claims()
    assert f"supported: {shown[18].sentence}" in str(shown)
    assert ">supported</td>" in shown._repr_html_()
