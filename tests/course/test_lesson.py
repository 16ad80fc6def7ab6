"""The lesson object: what a page asks, keeps, draws and says through it."""

import pytest

from accel_helpers import compare, describe, judge
from accel_helpers.course import predict, record
from accel_helpers.course.facts import FourFacts
from accel_helpers.course.outcomes import outcome_of
from accel_helpers.course.page import Lesson, lesson
from accel_helpers.course.places import Place
from accel_helpers.measure.measurement import Measurement


def lasting(seconds):
    return Measurement.from_samples([seconds] * 5, first_call=3 * seconds)


FASTER = compare(lasting(2), lasting(1))
SLOWER = compare(lasting(1), lasting(2))
SAME = compare(lasting(1), lasting(1))
PLACES = [
    Place("race", outcomes="Speedup", sentences={"faster": "**{result.ratio:.0f}.**"}),
    Place("which", "Which?", choices=("a", "b"), outcomes="always", sentences={"always": "Then."}),
    Place("told", "Which?", choices=("a", "b"), answer="b"),
    Place("many", "How many?", unit="times"),
]
PAGE = Lesson("00", {place.id: place for place in PLACES})


def test_what_is_drawn_or_said_is_on_the_record():
    assert PAGE.verdict("race", FASTER) == "**2.**"
    PAGE.plot("twice", lasting(1))
    said, drawn = record.newest("00/race")[""], record.newest("00/twice")[""]
    assert (said.outcome, said.numbers["times as fast"]) == ("faster", 2)
    assert (drawn.outcome, drawn.numbers["first call seconds"]) == ("", 3)


def test_what_was_not_measured_is_not_on_the_record():
    lesson("03").verdict("race", None)
    assert record.everything() == []


def test_a_guess_is_held_against_what_came_out(capsys):
    predict.guess("00/which", "a")
    assert PAGE.reveal("which", "b") == "Then."
    assert "You guessed a; what came out: b. Not so" in capsys.readouterr().out
    assert PAGE.reveal("told", "a") is None
    assert capsys.readouterr().out == "Answer: b.\n"


GUESSES = [
    (10, 11, "Close"),
    (10, 30, "too low"),
    (100, 30, "too high"),
    ("A", "A", "Right"),
    ("A", "B", "Not so"),
    (3, None, "Not measurable here"),
]


@pytest.mark.parametrize(("guess", "actual", "said"), GUESSES)
def test_a_guess_is_compared_also_where_it_cannot_be_kept(own_record, guess, actual, said):
    predict.guess("q", guess)
    assert said in predict.reveal("q", actual)
    own_record.write_text("{")
    predict.guess("q", guess)
    assert said in predict.reveal("q", actual)


def test_a_guess_at_what_was_left_out_is_neither_right_nor_wrong():
    predict.guess("q", "XLA")
    assert "left out" in predict.reveal("q", "resident", tried=("resident",))
    assert "Not so" in predict.reveal("q", "resident", tried=("XLA", "resident"))


@pytest.mark.parametrize(("id", "given"), [("many", 12.5), ("which", "b")])
def test_the_form_keeps_what_is_typed_or_chosen(id, given):
    asked = PAGE.ask(id)
    assert "ah.course.guess('00/" in str(asked)  # where nothing runs
    _, field, button, _ = asked.form().children
    button.click()
    assert record.everything() == []
    field.value = given
    button.click()
    assert record.newest("guess/00/")[id].given == str(given)


def test_a_folder_that_cannot_be_written_stops_nothing(monkeypatch, capsys):
    monkeypatch.setenv("ACCEL_RECORD", "/no such folder/course_record.json")
    PAGE.plot("twice", lasting(1))
    assert "Not saved" in capsys.readouterr().out


# --- Which outcome a result has

OUTCOMES = [
    ("Speedup", None, "not measured"),
    ("Speedup", FASTER, "faster"),
    ("always", 3.7, "always"),
    ("device", "TFRT_CPU_0", "cpu"),
    ("landed", "/job:localhost/replica:0/task:0/device:CPU:0", "on the CPU"),
    ("landed", "cuda:0", "on a GPU"),
    ("landed", "TPU_0(process=0,(0,0,0,0))", "on a TPU"),
    ("longer", FASTER, "twice or more"),
    ("longer", SAME, "about as long"),
    ("longer", SLOWER, "less"),
    ("compiling", {"compile": 0.001, "the first step": 1.0}, "the first step"),
    ("resumed", {"calm": 0.02, "random": 0.02}, "changed"),
    ("which ran", {"one": False, "other": True}, "other"),
    ("which ran", {"one": False, "other": False}, "neither"),
    ("which ran", {"one": True, "other": True}, "both"),
]
# Of four facts the first "no" decides: attached, visible, placed, faster.
FACTS = [
    (None, "cpu:0", "cpu:0", SAME, "not attached"),
    (None, "gpu:0", "cuda:0", FASTER, "visible, not in the files"),
    ("T4", "cpu:0", "cpu:0", SAME, "attached, not visible"),
    ("T4", "gpu:0", "/task:0/device:CPU:0", FASTER, "visible, not placed"),
    ("T4", "gpu:0", "/task:0/device:GPU:0", SLOWER, "placed, slower"),
    ("v5e", "tpu:0", "TPU_0(process=0)", SAME, "placed, no difference"),
    ("T4", "gpu:0", "cuda:0", FASTER, "all four"),
]
OUTCOMES += [("FourFacts", FourFacts(*facts), outcome) for *facts, outcome in FACTS]


@pytest.mark.parametrize(("kind", "result", "outcome"), OUTCOMES)
def test_a_result_has_the_outcome_that_its_sentence_is_for(kind, result, outcome):
    assert outcome_of(result, kind) == outcome


@pytest.mark.parametrize(
    ("seconds", "outcome"), [(0.06, "many at once"), (0.2, "cannot tell"), (2, "one by one")]
)
def test_a_cpu_faster_than_one_by_one_did_many_at_once(seconds, outcome):
    work = 1.2e9 * describe().cores
    assert outcome_of([judge(flops=work, seconds=lasting(seconds))], "at once") == outcome
