"""Every claim gets the verdict that a card supports, and none that it does not."""

import re
from pathlib import Path

import pytest

from accel_helpers.learn import ledger
from accel_helpers.measure import results
from accel_helpers.measure.timing import Measurement

NOTEBOOKS = Path(__file__).parents[2] / "notebooks"
CLAIMS = ledger.claims()
SHAKE = (1.0, 1.01, 0.99, 1.02, 0.98, 1.0, 1.01, 0.99)  # a machine is never quite still
RESTLESS = [0.4, 3.0, 0.9, 2.2, 0.5, 1.7, 0.3, 2.9]
FASTER, SLOWER, NEITHER = "faster here", "slower here", "no measurable difference"
UNSURE = "no sure difference in accuracy"
ABSENT = ("03/race/CPU", "03/race/GPU", "05/energy")  # on the reference card: no GPU, no counter


def card(*values, number=None, **machine):
    """A card with seconds, samples, or in a tuple what is no time, for each name of a claim."""
    names = CLAIMS[number - 1].names if number else ()
    measured, numbers = {}, {}
    for n, (name, value) in enumerate(zip(names, values, strict=True)):
        if isinstance(value, tuple):
            numbers[name] = value
            continue
        shake = SHAKE[::-1] if n else SHAKE
        samples = value if isinstance(value, list) else [value * each for each in shake]
        measured[name] = Measurement.from_samples(samples)
    machine = {"cpu_name": "Test CPU", "cores": 2, **machine}
    return results.Card("2026-11-22T00:00:00", "test", machine, measured, numbers)


CASES = [
    *((n, (0.030, 0.010), FASTER) for n in (5, 6, 11, 18, 19)),
    *((n, (0.003, 0.010), SLOWER) for n in (5, 6, 11, 18, 19)),
    *((n, (0.010, 0.010), NEITHER) for n in (5, 6, 11, 18, 19)),
    (4, (0.01, 0.02), FASTER),  # eight times 10 ms against 20 ms
    (4, (0.01, 0.08), NEITHER),
    (4, (0.01, 0.16), SLOWER),
    (5, ((1.0,), (2.0,)), "cannot tell"),  # numbers under the names of times
    # 2 x 1000^3 operations in 50 ms are 40 billion per second; two cores one by one: 20
    (1, (0.05, (1000.0,)), "many at once here"),
    (1, (0.0999, (1000.0,)), "not shown here"),  # its median is above, its low end not
    (8, (2.5, 1.0), "twice or more"),
    (8, (1.3, 1.0), "a little longer"),
    (8, (1.0, 1.0), "about as long"),
    (8, (0.7, 1.0), "less"),
    (8, (RESTLESS, 1.0), "too rough to tell"),
    (14, (10, 2), "mostly other work"),
    (14, (10, 5), "mixed"),
    (14, (10, 8), "mostly arithmetic"),
    (14, (10, 10), "too rough to tell"),
    (17, (1.0, 1.0, (0.95, 0.96, 0.97), (0.91, 0.92, 0.93)), "lower accuracy here"),
    (17, (1.0, 1.0, (0.91, 0.92, 0.93), (0.95, 0.96, 0.97)), "higher accuracy here"),
    (17, (1.0, 1.0, (0.91, 0.92, 0.96), (0.95, 0.96, 0.97)), UNSURE),
    (17, (1.0, 1.0, (0.9,), (0.5,)), UNSURE),  # one training says nothing
    (16, ((700.0, 10.0),), "measured here"),
    *((n, ((1.0,),), "one here") for n in (9, 10)),
    *((n, ((8.0,),), "several here") for n in (9, 10)),
]


@pytest.mark.parametrize(("number", "values", "verdict"), CASES)
def test_a_claim_gets_the_verdict_that_the_card_supports(number, values, verdict):
    entry = ledger.fill(card(*values, number=number))[number - 1]
    assert entry.verdict == verdict and entry.sentence
    assert bool(entry.measured) == (verdict != "cannot tell")
    if number in (4, 5, 6):
        assert ("times as fast" in entry.measured) == (verdict in (FASTER, SLOWER))
    assert number != 16 or "70 W" in entry.measured
    if verdict in (FASTER, SLOWER, "mixed", "many at once here"):
        assert "interval" in entry.measured


def test_there_is_a_sentence_for_what_may_come_out_and_none_else():
    for claim in CLAIMS:
        assert all(re.fullmatch(r"https://\S+", url) for url in claim.source) and claim.source
        assert all(text.strip() for text in (claim.claim, claim.why))
        out = {verdict for number, _, verdict in CASES if number == claim.number}
        assert set(claim.say) == (out | {claim.missing}) - {"", "cannot tell"}
        assert all(map(str.strip, claim.say.values()))
        assert bool(claim.ran) == bool(claim.missing)
        assert bool(claim.rule) == bool(claim.names) == bool(claim.say) == bool(out)


def test_a_machine_without_a_gpu_is_told_from_a_lesson_that_was_not_run():
    one = Measurement.from_samples([0.01] * 5)
    begun = {claim.ran: one for claim in CLAIMS if claim.ran}
    ran = results.Card("2026-11-22", "test", {}, {f"{name}/other": one for name in begun})
    filled, empty = ledger.fill(ran), ledger.fill(None)
    assert {filled[n - 1].verdict for n in (4, 5, 6, 11)} == {"no GPU here"}
    assert {filled[n - 1].verdict for n in (9, 10)} == {"no TPU here"}
    assert filled[15].verdict == "not measurable here"
    assert empty[3].verdict == "not measured yet: lesson 03"


def test_nothing_measured_is_said_of_every_claim_and_what_is_in_preparation():
    there = {path.name[:2] for path in NOTEBOOKS.glob("[0-9][0-9]_*.ipynb")}
    empty = ledger.fill(None)
    assert [entry.claim.number for entry in empty] == list(range(1, 20))
    assert ledger.fill(card()) == empty and empty[6].verdict == ledger.NEVER
    assert all(entry.sentence and not entry.measured for entry in empty)
    for claim, verdict in ((entry.claim, entry.verdict) for entry in empty):
        waits = verdict == f"not measured yet: lesson {claim.lesson} is in preparation"
        assert waits == (not claim.rule and not claim.instead) == (claim.lesson not in there)


def test_the_table_has_a_row_for_each_claim():
    filled = ledger.fill(results.reference_runs()[-1])
    shown = filled._repr_html_()
    assert shown.count('<th scope="row"') == 19 and "<code>tf.function</code>" in shown
    assert all(f"{entry.verdict}." in str(entry) for entry in filled)
    for entry in filled:  # the day on which a verdict was checked stands beside it
        assert (
            f"checked {entry.claim.as_of:%Y-%m-%d}" in str(entry)
            and str(entry.claim.as_of) in shown
        )


def test_every_name_without_an_accelerator_is_on_the_reference_card():
    reference = results.reference_runs()[-1]
    known = {*reference.measurements, *reference.numbers}
    assert {claim.rule for claim in CLAIMS if claim.rule} == set(ledger.RULES)
    for claim in CLAIMS:
        for name in claim.names:
            as_cpu = name.replace("/gpu/", "/cpu/").replace("/tpu/", "/cpu/")
            as_cpu = as_cpu.replace("02/race/cpu/", "02/control/")
            assert as_cpu in known or name in ABSENT, name
        assert not claim.ran or any(name.startswith(claim.ran) for name in known)
