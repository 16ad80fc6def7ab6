"""The lesson object: what a page asks, keeps, draws and says through it."""

import tomllib
from pathlib import Path

from accel_helpers import compare, describe
from accel_helpers.course import predict, record
from accel_helpers.course.facts import FourFacts
from accel_helpers.course.outcomes import outcome_of
from accel_helpers.course.page import Lesson, lesson
from accel_helpers.course.places import Place
from accel_helpers.measure.measurement import Measurement


def lasting(seconds):
    return Measurement.from_samples([seconds] * 5, first_call=3 * seconds)


RACES = {
    "faster": compare(lasting(2), lasting(1)),
    "slower": compare(lasting(1), lasting(2)),
    "same": compare(lasting(1), lasting(1)),
    "a half longer": compare(lasting(3), lasting(2)),
    "perhaps twice": compare(Measurement.from_samples([2.0, 2.2, 1.8, 2.1, 1.9]), lasting(1)),
}
TOLD = tomllib.loads(Path(__file__).with_name("lesson.toml").read_text("utf-8"))
PLACES = [
    Place("race", outcomes="Speedup", sentences={"faster": "**{result.ratio:.0f}.**"}),
    Place("which", "Which?", choices=("a", "b"), outcomes="always", sentences={"always": "Then."}),
    Place("told", "Which?", choices=("a", "b"), answer="b"),
    Place("many", "How many?", unit="times"),
]
PAGE = Lesson("00", {place.id: place for place in PLACES})


def test_what_is_drawn_or_said_is_on_the_record():
    assert PAGE.verdict("race", RACES["faster"]) == "**2.**"
    PAGE.plot("twice", lasting(1))
    said = record.newest("00/race")[""]
    drawn = record.newest("00/twice")[""]
    assert said.outcome == "faster"
    assert said.numbers["times as fast"] == 2
    assert drawn.numbers["first call seconds"] == 3
    assert said.said == "**2.**"


def test_what_was_not_measured_is_not_on_the_record():
    lesson("03").verdict("race", None)
    assert record.everything() == []


def test_a_guess_is_held_against_what_came_out(capsys):
    predict.guess("00/which", "a")
    assert PAGE.reveal("which", "b") == "Then."
    assert "You guessed a; what came out: b. Not so" in capsys.readouterr().out
    assert PAGE.reveal("told", "a") is None
    assert capsys.readouterr().out == "Answer: b.\n"


def test_a_guess_is_compared_also_where_it_cannot_be_kept(own_record):
    for guess, actual, said in TOLD["guesses"]:
        own_record.unlink(missing_ok=True)
        predict.guess("q", guess)
        assert said in predict.reveal("q", actual)
        own_record.write_text("{")
        predict.guess("q", guess)
        assert said in predict.reveal("q", actual)
    assert "Nothing has come out" in predict.reveal("q", None)


def test_a_guess_at_what_was_left_out_is_neither_right_nor_wrong():
    predict.guess("q", "XLA")
    assert "left out" in predict.reveal("q", "resident", tried=("resident",))
    assert "Not so" in predict.reveal("q", "resident", tried=("XLA", "resident"))


def test_the_form_keeps_what_is_typed_or_chosen():
    for id, given in {"many": 12.5, "which": "b"}.items():
        _, field, button, _ = PAGE.ask(id).form().children
        button.click()
        assert id not in record.newest("guess/00/")
        field.value = given
        button.click()
        assert record.newest("guess/00/")[id].given == str(given)


# --- Which outcome a result has


def test_a_result_has_the_outcome_that_its_sentence_is_for():
    assert outcome_of(None, "Speedup") == "not measured"
    for kind, result, outcome in TOLD["results"]:
        assert outcome_of(result, kind) == outcome
    for kind, race, outcome in TOLD["races"]:
        assert outcome_of(RACES[race], kind) == outcome


def test_of_four_facts_the_first_no_decides():
    for attached, visible, placed, race, outcome in TOLD["facts"]:
        facts = FourFacts(attached or None, visible, placed, RACES[race])
        assert outcome_of(facts, "FourFacts") == outcome


def test_a_cpu_faster_than_one_by_one_did_many_at_once():
    # So long it would take one by one, at ten billion a second on each core.
    one_by_one = 1.718 / describe().cores
    for share, outcome in [(0.5, "many at once"), (2, "cannot tell"), (20, "one by one")]:
        taken = Measurement.from_samples([share * one_by_one] * 5, name="cpu:0")
        assert outcome_of(taken, "at once") == outcome
    gpu = Measurement.from_samples([1e-6] * 5, name="gpu:0")
    assert outcome_of(gpu, "at once") == "cannot tell"
