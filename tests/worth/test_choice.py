"""Which chip, if any: the rows, the advice, and what is said where nothing can be."""

import math
import re
from dataclasses import replace

import pytest

from accel_helpers.measure.measurement import Measurement
from accel_helpers.measure.timing import compare
from accel_helpers.worth import choice, step_time
from accel_helpers.worth.choice import Choice
from accel_helpers.worth.forecast_result import Forecast

CHIPS = ("T4", "L4", "A100", "H100")


@pytest.fixture(autouse=True)
def no_gpu(monkeypatch):
    monkeypatch.setattr(choice, "attached", lambda: None)


def known(here, chips=CHIPS, count=5, load=None, host=1e-3):
    """A forecast of a small model, where a step takes a known time here; 100 steps an epoch."""
    load = load or step_time.Load(1e9, made=1e6, parameters=1e5, operations=20)
    rows = tuple(step_time.on_chip(load, chip, "float32", True) for chip in chips)
    both = (Measurement.from_samples([each] * count) for each in (here, host))
    return Forecast("small", 32, "float32", rows, (), 100, *both)


def test_a_long_training_takes_the_free_chip_and_says_which_paid_one_is_sooner():
    load = step_time.Load(1e9, made=5e7, parameters=1e5, operations=20)
    found = known(here=1.0, load=load).choices(epochs=40)
    assert found.verdict == "worth it"
    assert found.chip == "T4"
    assert "a T4" in found.advice
    assert "costs nothing" in found.advice
    assert "An A100 would probably be done" in found.advice
    assert found.model in found.advice


def test_a_short_training_stays_here():
    found = known(here=1.0).choices(epochs=1)
    assert found.verdict == "not worth it"
    assert found.chip == ""
    assert "stay with this CPU" in found.advice
    assert {row[4] for row in found.rows} == {"-", "none"}
    assert {row[5] for row in found.rows[1:]} == {"5 for sure"}


def test_less_than_a_minute_is_no_reason_to_change():
    found = known(here=0.1).choices(epochs=31)
    assert any(each.saved_seconds[1] > 0 for each in found.found.values())
    assert max(each.saved_seconds[1] for each in found.found.values()) < 60
    assert found.verdict == "not worth it"


def test_where_the_interval_holds_both_it_says_measure_first():
    found = known(here=0.02).choices(epochs=220)
    assert found.found["T4"].verdict == found.verdict == "the interval holds both"
    assert "measure first, on a T4" in found.advice
    assert " or " in found.rows[1][4]
    assert "later" in found.rows[1][4]
    assert re.fullmatch(r"[\d.]+ for sure, [\d.]+ perhaps", found.rows[1][5])


def test_with_fewer_than_five_timings_nothing_is_said():
    found = known(here=1.0, count=3).choices(epochs=40)
    assert found.verdict == "cannot be told yet"
    assert "fewer than five" in found.advice
    assert all(row[1] == "?" for row in found.rows[1:])


@pytest.mark.parametrize("count", [1, 5])
def test_a_training_that_is_shorter_than_the_set_up_stays_here_however_few_were_the_timings(count):
    # 100 steps of a second are 1.7 minutes, and the set-up takes five
    found = known(here=1.0, count=count).choices(epochs=1)
    assert found.verdict == "not worth it"
    for name, pays, factor, _, saved, pays_from in found.rows[1:]:
        assert (pays, saved) == ("no", "none"), name
        assert (factor == pays_from == "?") == (count < 5)
    assert ("break-even" in str(found.break_even)) == (count == 5)


def test_a_chip_without_room_has_a_row_that_says_so():
    load = step_time.Load(1e9, made=1e6, parameters=1.5e9, operations=20, kept=3e9)
    found = known(here=10.0, load=load).choices(epochs=40)
    assert "T4" in found.no_room
    assert ("T4", "no room") in [(r[0], r[1]) for r in found.rows]
    assert found.verdict == "worth it"
    assert "costs money" in found.advice
    with pytest.raises(ValueError, match="room"):
        known(here=1.0, chips=("T4",), load=load).choices(epochs=40)


def test_the_price_above_which_a_chip_is_too_dear_is_that_of_the_time_it_saves():
    found = known(here=1.0, chips=("T4", "A100")).choices(epochs=40, my_hour=30)
    (few, many), (soon, late) = (
        found.found["A100"].saved_seconds,
        found.chips["A100"].cost(found.epochs),
    )
    least, most = (float(word) for word in found.rows[2][-1].replace(",", "").split(" to "))
    assert least == pytest.approx(30 * few / late, rel=0.06)
    assert most == pytest.approx(30 * many / soon, rel=0.06)
    assert [row[-1] for row in found.rows[:2]] == ["-", "free"]
    assert len(found.heads) == len(found.rows[0]) == 7


def test_no_cell_has_more_than_two_digits_or_a_unit_of_its_own():
    for epochs in (1, 10, 31, 40, 300, 5000):
        for row in known(here=0.5).choices(epochs=epochs, my_hour=20).rows:
            for cell in row[1:]:
                for word in cell.replace(",", "").strip("()").split():
                    if word[0].isdigit():
                        digits = word.replace(".", "").strip("0)")
                        assert len(digits) <= 2, cell


def raced(cpu, gpu):
    both = Measurement.from_samples(cpu, name="cpu"), Measurement.from_samples(gpu, name="gpu")
    return compare(*both)


def test_what_raced_stands_first_as_measured_and_in_place_of_its_forecast(monkeypatch):
    monkeypatch.setattr(choice, "attached", lambda: "T4")
    look, race = known(here=1.0), raced([1.0, 1.01, 0.99] * 3, [0.1, 0.101, 0.099] * 3)
    found = look.choices(epochs=40, race=race)
    assert [*found.chips] == ["this GPU", "L4", "A100", "H100"]
    assert found.chip == "this GPU"
    low, high = race.interval
    assert found.chips["this GPU"].epoch == pytest.approx((100 / high, 100 / low))
    assert found.rows[1][0] == "this GPU, measured"
    assert "forecast" not in found.advice.split(".")[1]


@pytest.mark.parametrize("step, verdict", [(0.1, "held"), (0.9, "missed")])
def test_a_forecast_held_or_missed(monkeypatch, step, verdict):
    look = known(here=1.0)
    low, high = look.faster(look.rows[0])
    gpu = 1.0 / math.sqrt(low * high) if verdict == "held" else step
    race = raced([1.0, 1.01, 0.99] * 3, [gpu, gpu * 1.01, gpu * 0.99] * 3)
    assert look.against(race).verdict == "not forecast"
    monkeypatch.setattr(choice, "attached", lambda: "T4")
    held = look.against(race)
    assert held.verdict == verdict
    assert held.gain == pytest.approx(1 / gpu, rel=0.02)
    assert look.against(raced([1.0, 1.1], [gpu, gpu])).verdict == "too few samples"
    assert look.against(None) is None
    hurried = replace(look, here=Measurement.from_samples([1.0]))
    assert hurried.against(race).verdict == "too few samples"


def test_it_prints_as_a_table_and_its_html_is_escaped():
    found = known(here=1.0).choices(epochs=40)
    lines = str(found).splitlines()
    assert [line.split("  ")[0] for line in lines[1:6]] == ["this CPU", "T4, free", *CHIPS[1:]]
    odd = Choice("<b>", 40, found.here, found.chips, found.factors)
    assert "<b>" not in odd._repr_html_()
    assert "&lt;b&gt;" in odd._repr_html_()


@pytest.mark.parametrize("wrong", [{"epochs": 0}, {"epochs": 4, "setup_minutes": -1}])
def test_what_is_refused(wrong):
    with pytest.raises(ValueError):
        known(here=1.0).choices(**wrong)


def test_a_choice_needs_what_was_timed_here():
    rows = known(here=1.0).rows
    with pytest.raises(ValueError, match="timed here"):
        Forecast("small", 32, "float32", rows).choices(epochs=4)


def test_the_parts_of_a_step_are_compute_memory_and_overhead_with_feeding_in_it():
    look = known(here=1.0, host=2e-3)
    row, parts = look.rows[0], look.parts("T4")
    assert parts == look.parts(row)
    assert [*parts] == ["compute", "memory", "overhead"]
    assert sum(parts.values()) == pytest.approx(look.step(row)[0])
    assert parts["overhead"] == pytest.approx(row.terms["overhead"] + 2e-3)
    with pytest.raises(ValueError, match="T4, L4"):
        look.parts("V100")
