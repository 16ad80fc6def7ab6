"""Every claim gets the verdict that an entry of the record supports, and none that it does not."""

import re

import numpy as np
import pytest
from known import OUTCOMES

from accel_helpers import judge
from accel_helpers._values.words import marked
from accel_helpers.course import ledger, record
from accel_helpers.course.climb import Climb, Stage
from accel_helpers.course.facts import FourFacts
from accel_helpers.course.kept import numbers_of
from accel_helpers.course.page import lesson
from accel_helpers.course.record import Entry
from accel_helpers.course.stored_steps import stored_product
from accel_helpers.measure.measurement import Measurement
from accel_helpers.measure.timing import compare

CLAIMS = ledger.claims()
BY_FIGURES = {2, 7, 14, 16}
NEEDS = {4: "gpu", 5: "gpu", 6: "gpu", 9: "tpu", 10: "tpu", 11: "gpu", 13: "gpu"}
YES, NO, OPEN = "supported", "contradicted", ledger.UNCLEAR


def entry(number, given, hour=10, **machine):
    """An entry at a claim's place, of the chip that it needs: an outcome, or numbers."""
    claim = CLAIMS[number - 1]
    chip = {"kind": claim.needs or "cpu", "place": "colab", "backend": "tensorflow", **machine}
    outcome, numbers = ("", given) if isinstance(given, dict) else (given, {"cpu:0 seconds": 0.06})
    return Entry(claim.place, outcome, numbers, f"2026-11-30T{hour:02}", chip)


def ends(name, low, high):
    """The numbers of a result of which the interval is known."""
    return {f"{name} low": low, f"{name} high": high}


def times(low, high):
    return ends("times as fast", low, high)


def steps(*of_256):
    return {"32 fit seconds": 1.0, "256 fit seconds": 2.0, **ends("256 fit seconds", *of_256)}


def right(*large):
    small = ends("default fit accuracy", 0.91, 0.96)
    return small | ends("bigger batches accuracy", *large)


def fed(low, high):
    return ends("resident against tf.data times as fast", low, high)


def ran(count):
    return {"ran": count, "steps": 20.0}


def pair(first, second):
    return {"#1": first, "#2": second}


def fed_by(count):
    return {"129 instructions": count, "128 instructions": 8.0}


JAX, KAGGLE = {"backend": "jax"}, {"place": "kaggle"}
# Claim, state, the entry's outcome or numbers, and where it matters the machine's words.
CASES = [
    (1, NO, "many at once"),
    (1, YES, "one by one"),
    (1, OPEN, "cannot tell"),
    (3, NO, {"value": 0.26}),
    (3, YES, {"value": 0.0}),
    (3, OPEN, {"value": 1e-6}),
    (4, NO, steps(2.0, 4.0)),
    (4, YES, steps(7.5, 8.5)),
    (4, OPEN, steps(2.0, 8.0)),
    (5, YES, times(2.0, 3.0)),
    (5, NO, times(0.9, 1.1)),
    (5, OPEN, times(1.9, 3.0)),
    (5, OPEN, {**times(4.0, 4.0), "cpu samples": 4.0}),  # too few for an interval
    (6, YES, "all four"),
    (6, YES, "placed, slower"),
    (6, NO, "visible, not placed"),
    (6, OPEN, "placed, no difference"),
    (6, OPEN, "all four", JAX),
    (8, YES, fed_by(36.0)),
    (8, NO, fed_by(8.0)),
    (8, OPEN, fed_by(12.0)),
    (9, NO, "tpu", JAX),
    (9, OPEN, "tpu"),
    (9, OPEN, "tpu", {**JAX, **KAGGLE}),
    (10, YES, "tpu"),
    (10, OPEN, "tpu", KAGGLE),
    (11, YES, times(0.9, 1.2)),
    (11, NO, times(2.0, 90.0)),
    (11, OPEN, times(1.1, 2.5)),
    (12, YES, ran(2.0)),
    (12, NO, ran(20.0)),
    (12, OPEN, ran(14.0)),
    (12, OPEN, ran(2.0), JAX),
    (13, YES, times(0.9, 1.2)),
    (13, NO, times(2.0, 90.0)),
    (13, OPEN, times(1.1, 2.5)),
    (15, YES, pair(16e9, 2e9)),
    (15, NO, pair(16e9, 16e9)),
    (15, OPEN, pair(16e9, 8e9)),
    (17, NO, right(0.88, 0.90)),
    (17, YES, right(0.97, 0.98)),
    (17, OPEN, right(0.95, 0.97)),  # two of them cross
    (17, OPEN, fed(1.0, 1.1)),  # one training says nothing
    (18, YES, fed(0.9, 1.2)),
    (18, NO, fed(2.0, 3.0)),
    (18, OPEN, fed(1.46, 3.1)),
    (19, NO, pair(256.0, 1000.0)),
    (19, YES, pair(1000.0, 1000.0)),
    (19, OPEN, pair(950.0, 1000.0)),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case[0]} {case[1]}")
def test_a_claim_gets_the_verdict_that_the_entry_supports(case):
    number, state, given, *machines = case
    words = dict(*machines)
    assert ledger.fill([entry(number, given, **words)])[number - 1].verdict == state


def test_the_cases_hold_each_verdict_of_each_claim_and_each_claim_has_its_experiment():
    told = {(number, state) for number, state, *_ in CASES}
    for claim in CLAIMS:
        assert claim.experiment
        assert claim.source
        assert all(re.fullmatch(r"https://\S+", url) for url in claim.source)
        assert {*claim.limits} == {said for said in (YES, NO) if (claim.number, said) in told}
    assert [claim.number for claim in CLAIMS] == [*range(1, 20)]
    assert {claim.number: claim.needs for claim in CLAIMS if claim.needs} == NEEDS


def lasting(seconds, name):
    return Measurement.from_samples([seconds] * 5, name=name)


RACE = compare(lasting(2.0, "fit"), lasting(1.0, "fit"))
STAGES = [
    Stage(name, 32, lasting(1.0, name), (0.7, 0.8, 0.9))
    for name in ("default fit", "bigger batches", "tf.data with prefetch", "resident")
]
# What the pages' cells put there, by the places of claims.
RESULTS = {
    "01/product": [judge(flops=17e9, seconds=lasting(0.06, "cpu:0"))],
    "02/facts": FourFacts("a GPU", "gpu:0", "gpu:0", RACE),
    "03/climb": Climb(tuple(STAGES)),
    "03/race": RACE,
    "04/one code path": object(),
    "06/instructions": {n: stored_product(n, n, n) for n in (127, 128, 129)},
    "06/sums": (256.0, 1000.0),
    "07/queue": RACE,
    "07/steps": {32: RACE.slow, 256: RACE.fast},
    "07/transfer": RACE,
    "08/python calls": {"ran": 2, "steps": 20},
    "09/batches": 0.26,
    "09/state": np.array([16e9, 2e9]),
}


MEASURED = [claim for claim in CLAIMS if claim.place]


@pytest.mark.parametrize("claim", MEASURED, ids=lambda claim: claim.number)
def test_a_claim_finds_what_it_is_judged_by_in_what_its_page_keeps(claim):
    number, _, id = claim.place.partition("/")
    assert number == claim.lesson
    kind = lesson(number).places[id].outcomes
    for limit in claim.limits.values():
        assert {*limit.get("outcomes", ())} <= {*OUTCOMES.get(kind, ())}
    numbers = numbers_of(RESULTS[claim.place])
    found = ledger.fill([entry(claim.number, numbers)])[claim.number - 1]
    assert bool(found.measured) == bool(claim.measured)


@pytest.mark.parametrize("kind", ["cpu", "gpu", "tpu"])
def test_what_needs_a_chip_that_is_not_here_says_so(kind):
    elsewhere = entry(19, pair(256.0, 1000.0), kind=kind)
    lacking = {n: f"needs a {chip.upper()}" for n, chip in NEEDS.items() if chip != kind}
    found = {each.claim.number: each.verdict for each in ledger.fill([elsewhere])}
    assert {n: verdict for n, verdict in found.items() if verdict.startswith("needs")} == lacking


def test_the_newest_entry_of_a_chip_that_it_takes_decides():
    on_a_gpu = [entry(5, times(0.9, 1.0), 1), entry(5, times(4.0, 5.0), 2)]
    filled = ledger.fill([*on_a_gpu, entry(5, times(0.9, 1.0), 3, kind="cpu")])
    assert filled[4].verdict == YES
    assert filled[3].verdict == "needs a GPU"  # the newest of all was measured on a CPU


def test_without_a_record_nothing_is_measured_and_no_chip_missed(own_record):
    verdicts = {found.claim.number: found.verdict for found in ledger.my_claims()}
    assert {n for n, verdict in verdicts.items() if verdict == ledger.PUBLISHED} == BY_FIGURES
    assert {*verdicts.values()} == {ledger.PUBLISHED, ledger.NOT_MEASURED}


def test_it_is_filled_from_the_learners_own_record(own_record):
    record.keep(entry(19, pair(1000.0, 1000.0)))
    shown = ledger.my_claims()
    assert shown[18].verdict == YES
    assert f"{YES}: {shown[18].sentence}" in str(shown)
    rows = shown._repr_html_().split('<th scope="row"')[1:]
    assert len(rows) == 19
    for found, row in zip(shown, rows, strict=True):
        folded, _, cells = row.partition("</details>")
        assert marked(found.sentence) in folded
        assert str(found.claim.as_of) in folded
        for text in (found.claim.verdict, found.verdict, f"lesson {found.claim.lesson}"):
            assert f">{text}</td>" in cells
