"""Every claim gets the verdict that a card supports, and none that it does not."""

import dataclasses
import re
from pathlib import Path

import pytest

from accel_helpers._values.words import marked
from accel_helpers.course import ledger
from accel_helpers.course.claims import RULES
from accel_helpers.course.stored_steps import stored_product
from accel_helpers.measure import results
from accel_helpers.measure.timing import Measurement

CLAIMS = ledger.claims()
SUPPORTED, CONTRADICTED, UNCLEAR = "supported", "contradicted", "unclear"
HOME = [
    "01",
    "07",
    "09",
    "07",
    "03",
    "02",
    "06",
    "06",
    "04",
    "04",
    "07",
    "08",
    "07",
    "07",
    "09",
    "05",
    "03",
    "03",
    "06",
]  # of claims 1 to 19
LACKING = [4, 5, 6, 9, 10, 11, 13]  # on a machine without an accelerator

# Recorded on two cores of a CPU. For the names of a GPU they are borrowed, and so are no more than
# samples with a real spread; what else stands in the cases below is made up.
REFERENCE = results.reference_runs()[-1]
RECORDED = {**REFERENCE.measurements, **REFERENCE.numbers}
FITS = Path(__file__).parents[1] / "notebooks" / "recorded"
RECORDED |= {path.stem: results.load(path).measurements["epoch"] for path in FITS.glob("*.json")}
SAME = ("02/control/first", "02/control/second")  # in turns, 86 times
TWICE_A_FIT = ("tensorflow_a", "tensorflow_b")  # the same work with a spread of a third
FOUR_TIMES = ("03/climb/epoch/default", "03/climb/epoch/bigger-batches")
ACCURACY = [f"03/climb/accuracy/{way}" for way in ("default", "bigger-batches", "resident")]
SHAKE = (1.0, 1.01, 0.99, 1.02, 0.98, 1.0, 1.01, 0.99)  # a machine is never quite still
RESTLESS = [0.4, 3.0, 0.9, 2.2, 0.5, 1.7, 0.3, 2.9]
T4, P100, UNKNOWN = ({"kind": "GPU", "name": n} for n in ("Tesla T4", "P100-PCIE-16GB", "No. 5"))
FEEDS = {n: float(stored_product(n, n, n, "v5e").instructions) for n in (127, 128, 129, 192)}


def card(number, *values, **machine):
    """A card with the recorded, a time, samples, or in a tuple what is no time, for a claim."""
    measured, numbers = {}, {}
    for n, (name, value) in enumerate(zip(CLAIMS[number - 1].names, values, strict=True)):
        name, value = name.format(device="gpu"), RECORDED.get(str(value), value)
        if isinstance(value, float):
            value = [value * each for each in (SHAKE[::-1] if n else SHAKE)]
        if isinstance(value, list):
            value = Measurement.from_samples(value)
        (measured if isinstance(value, Measurement) else numbers)[name] = value
    machine = {"cores": 2, "place": "colab", "frameworks": {"jax": "0.7.2"}, **machine}
    return results.Card("2026-11-23T00:00:00", "test", machine, measured, numbers)


def case(number, state, *values, **machine):
    return pytest.param(number, state, values, machine, id=f"{number} {state.split()[0]}")


CASES = [
    case(1, CONTRADICTED, "01/product/cpu", "01/product/size"),
    case(1, UNCLEAR, 0.0999, (1000.0,)),  # its median is above what one by one gives, its low not
    case(1, UNCLEAR, [0.05 * each for each in RESTLESS], (1000.0,)),
    case(1, SUPPORTED, 2.0, (1000.0,)),
    *(case(3, *of) for of in ((CONTRADICTED, (0.37,)), (SUPPORTED, (3e-16,)), (UNCLEAR, (1e-6,)))),
    case(4, CONTRADICTED, 2.2, 3.4),
    case(4, UNCLEAR, 15.0, 73.0),  # 1.6 times
    case(4, UNCLEAR, RESTLESS, [4 * each for each in RESTLESS]),
    case(4, SUPPORTED, 0.01, 0.08),
    *(case(n, SUPPORTED, *FOUR_TIMES) for n in (5, 6)),
    *(case(n, CONTRADICTED, *FOUR_TIMES) for n in (11, 13, 18)),
    *(case(n, CONTRADICTED, *SAME) for n in (5, 6)),
    *(case(n, SUPPORTED, *SAME) for n in (11, 13, 18)),
    *(case(n, UNCLEAR, *TWICE_A_FIT) for n in (5, 6, 11, 13, 18)),
    case(18, UNCLEAR, "03/climb/epoch/tf-data", "03/climb/epoch/resident"),
    case(5, UNCLEAR, [4.0] * 4, [1.0] * 4),  # clear enough, but four times are no interval
    case(8, SUPPORTED, (FEEDS[129], FEEDS[128])),
    case(8, CONTRADICTED, (FEEDS[128], FEEDS[127])),
    case(8, UNCLEAR, (FEEDS[192], FEEDS[129])),
    case(9, CONTRADICTED, (1.0,)),
    case(9, UNCLEAR, (1.0,), frameworks={"tensorflow": "2.20.0"}),
    case(10, SUPPORTED, (1.0,)),
    case(10, UNCLEAR, (1.0,), place="kaggle"),
    case(12, SUPPORTED, (2.0, 60.0)),
    case(12, CONTRADICTED, (60.0, 60.0)),
    case(12, UNCLEAR, (40.0, 60.0)),
    case(15, SUPPORTED, (16e9, 2e9)),
    case(15, CONTRADICTED, (16e9, 16e9)),
    case(15, UNCLEAR, (16e9, 8e9)),
    case(17, CONTRADICTED, ACCURACY[0], ACCURACY[1]),
    case(17, SUPPORTED, ACCURACY[1], ACCURACY[0]),
    case(17, UNCLEAR, ACCURACY[1], ACCURACY[2]),
    case(17, UNCLEAR, (0.91, 0.92, 0.96), (0.95, 0.96, 0.97)),  # two of them cross
    case(17, UNCLEAR, (0.5,), (0.9,)),  # one training says nothing
    case(19, CONTRADICTED, (256.0, 1000.0)),
    case(19, SUPPORTED, (1000.0, 1000.0)),
    case(19, UNCLEAR, (950.0, 1000.0)),
]


@pytest.mark.parametrize(("number", "state", "values", "machine"), CASES)
def test_a_claim_gets_the_verdict_that_the_measurement_supports(number, state, values, machine):
    entry = ledger.fill(card(number, *values, **machine))[number - 1]
    assert entry.outcome == state
    assert not entry.lacks_hardware
    assert entry.sentence in str(entry)
    assert bool(entry.measured) == (machine.get("accelerator") is not UNKNOWN)
    if state == CONTRADICTED and number in (4, 5, 11):
        assert "times as fast" in entry.measured or "no measurable" in entry.measured


def test_the_cases_hold_each_verdict_of_each_claim_and_each_claim_has_its_experiment():
    out = {(number, state) for number, state, _, _ in (each.values for each in CASES)}
    for claim in CLAIMS:
        assert claim.source
        assert all(re.fullmatch(r"https://\S+", url) for url in claim.source)
        assert claim.experiment
        assert all(map(str.strip, claim.say.values()))
        for state in (SUPPORTED, CONTRADICTED):
            assert (state in claim.say) == ((claim.number, state) in out)
        assert claim.published == (claim.number in (2, 7, 14, 16))
        assert claim.published != ((claim.number, UNCLEAR) in out)
        assert all(name.startswith(f"{claim.lesson}/") for name in claim.names)
    assert {claim.number for claim in CLAIMS if claim.names} == {*RULES}
    assert [claim.lesson for claim in CLAIMS] == HOME


@pytest.mark.parametrize(
    ("kind", "away"),
    [(None, LACKING), ("GPU", [9, 10]), ("TPU", [4, 5, 6, 11, 13]), (5, LACKING)],
)
def test_what_needs_hardware_that_is_not_here_says_so_in_its_row(kind, away):
    machine = {**REFERENCE.machine, "accelerator": {"kind": kind, "name": "X"} if kind else None}
    filled = ledger.fill(dataclasses.replace(REFERENCE, machine=machine))
    lacking = [entry for entry in filled if entry.lacks_hardware]
    assert [entry.claim.number for entry in lacking] == away
    assert {entry.outcome for entry in lacking} == {UNCLEAR}
    needing = [entry.claim.number for entry in filled if entry.here.startswith("needs a")]
    assert needing == away


def test_every_claim_has_one_row_and_its_reasons_are_folded_into_it():
    filled = ledger.fill(REFERENCE)
    rows = filled._repr_html_().split('<th scope="row"')[1:]
    assert len(rows) == 19
    for entry, row in zip(filled, rows, strict=True):
        folded, _, cells = row.partition("</details>")
        assert marked(entry.sentence) in folded
        assert str(entry.claim.as_of) in folded
        for shown in (entry.claim.verdict, entry.here, f"lesson {entry.claim.lesson}"):
            assert f">{shown}</td>" in cells


def test_the_plain_text_begins_with_the_table_and_has_the_reasons_below():
    filled = ledger.fill(REFERENCE)
    table, _, reasons = str(filled).partition("\n\n")
    head, *rows = table.splitlines()
    assert "on your machine" in head
    assert [row.split(".")[0] for row in rows] == [str(n) for n in range(1, 20)]
    assert reasons == "\n".join(map(str, filled))


def test_without_a_card_of_ones_own_another_machine_is_named(tmp_path, monkeypatch):
    monkeypatch.setenv("ACCEL_RESULT_CARD", str(tmp_path / "card.json"))
    shown = ledger.mine()
    assert [*shown] == [*ledger.fill(REFERENCE)]
    for said in (str(shown), shown._repr_html_()):
        assert f"You have no result card yet, so this is {REFERENCE.label}" in said
        assert f"n {REFERENCE.label}" in said


def test_with_a_card_it_is_the_learners_own(tmp_path, monkeypatch):
    monkeypatch.setenv("ACCEL_RESULT_CARD", str(tmp_path / "card.json"))
    results.save(card(19, (1000.0, 1000.0)), tmp_path / "card.json")
    shown = ledger.mine()
    assert shown[18].here == "supported"
    assert "no result card" not in str(shown)


def test_measured_elsewhere_counts_although_the_cards_machine_has_no_gpu():
    filled = ledger.fill(card(5, *FOUR_TIMES))  # begun on a CPU, and carried to a GPU
    assert filled[4].outcome == SUPPORTED
    assert filled[3].lacks_hardware


def test_without_a_card_nothing_is_measured_and_no_hardware_missed():
    empty = ledger.fill(None)
    assert [entry.claim.number for entry in empty] == list(range(1, 20))
    outcomes = {entry.claim.number: entry.outcome for entry in empty}
    assert {n for n, outcome in outcomes.items() if outcome == ledger.PUBLISHED} == {2, 7, 14, 16}
    assert {*outcomes.values()} == {ledger.PUBLISHED, ledger.NOT_MEASURED}
    assert not any(entry.lacks_hardware or entry.measured for entry in empty)


@pytest.mark.parametrize("number", [1, 8, 17, 19])
@pytest.mark.parametrize("value", ["jax", (), (0.0, 0.0)])
def test_what_no_lesson_recorded_is_no_verdict(number, value):
    names = CLAIMS[number - 1].names
    assert ledger.fill(card(number, *[value] * len(names)))[number - 1].outcome == UNCLEAR
