"""Every claim gets the verdict that an entry of the record supports, and none that it does not."""

import tomllib
from pathlib import Path

from accel_helpers import compare
from accel_helpers.course import ledger, record
from accel_helpers.course.climb import Climb, Stage
from accel_helpers.course.facts import FourFacts
from accel_helpers.course.kept import numbers_of
from accel_helpers.course.record import Entry
from accel_helpers.course.stored_steps import stored_product
from accel_helpers.measure.measurement import Measurement

TOLD = tomllib.loads(Path(__file__).with_name("ledger.toml").read_text("utf-8"))
CLAIMS = {claim.number: claim for claim in ledger.claims()}


def entry(number, outcome="", numbers=None, backend="tensorflow", place="colab", kind=None):
    """An entry at a claim's place, of the chip that it needs."""
    claim = CLAIMS[number]
    machine = {"kind": kind or claim.needs or "cpu", "place": place, "backend": backend}
    return Entry(claim.place, outcome, numbers or {}, "2026-11-30", machine)


def of_value(number, low, high, least=1.0, most=1.0, kind=None):
    """An entry with both ends of the claim's value, and of what that is divided by."""
    claim = CLAIMS[number]
    numbers = {}
    for name, *ends in ((claim.over, least, most), (claim.value, low, high)):
        numbers[f"{name} low"], numbers[f"{name} high"] = ends
        numbers[name] = ends[0]
    return entry(number, "", numbers, kind=kind)


def verdict(number, *entries):
    findings = ledger.fill(entries)
    return findings[number - 1].verdict


def test_a_claim_gets_the_verdict_that_the_whole_interval_supports():
    for number, state, *ends in TOLD["intervals"]:
        assert verdict(number, of_value(number, *ends)) == state, (number, ends)


def test_a_claim_gets_the_verdict_that_the_outcome_supports():
    for number, state, *given in TOLD["outcomes"]:
        assert verdict(number, entry(number, *given)) == state, (number, given)


def test_a_claim_has_its_experiment_and_its_sources():
    assert [*CLAIMS] == [*range(1, 20)]
    for claim in CLAIMS.values():
        assert claim.experiment
        assert claim.source
        for source in claim.source:
            assert "https://" in source


def lasting(seconds, name, **others):
    return Measurement.from_samples([seconds] * 5, name=name, **others)


def results():
    """By the claim, what the page's cell puts there."""
    race = compare(lasting(2.0, "cpu"), lasting(1.0, "gpu", first_call=9.0))
    stages = []
    for name, seconds in TOLD["climb"].items():
        stages.append(Stage(name, 32, lasting(seconds, name), (0.7, 0.9)))
    climb = Climb(tuple(stages))
    return {
        "1": lasting(0.06, "cpu:0"),
        "4": {32: lasting(1, "fit"), 256: lasting(2, "fit")},
        "5": race,
        "6": FourFacts("a GPU", "gpu:0", "gpu:0", race),
        "8": {n: stored_product(n, n, n) for n in (128, 129)},
        "17": climb,
        "18": climb,
    }


def test_a_claim_finds_what_it_is_judged_by_in_what_its_page_keeps():
    for number, result in (TOLD["results"] | results()).items():
        kept = entry(int(number), "", numbers_of(result))
        found = ledger.fill([kept])[int(number) - 1]
        assert TOLD["measured"][number] in found.measured, number


def test_what_needs_a_chip_that_is_not_here_says_so_and_the_newest_of_that_chip_decides():
    on_cpu = of_value(19, 1, 1)
    for number in (4, 5, 6, 11, 13):
        assert verdict(number, on_cpu) == "needs a GPU"
    for number in (9, 10):
        assert verdict(number, on_cpu) == "needs a TPU"
    older, newer = of_value(5, 0.9, 1), of_value(5, 4, 5)
    assert verdict(5, older, newer, of_value(5, 0.9, 1, kind="cpu")) == "supported"


def test_it_is_filled_from_the_learners_own_record():
    for one in ledger.my_claims():
        assert one.verdict in (ledger.PUBLISHED, ledger.NOT_MEASURED)
    record.keep(of_value(19, 1.0, 1.0))
    shown = ledger.my_claims()
    assert f"supported: {shown[18].sentence}" in str(shown)
