"""The lesson object: what a page asks, keeps, draws and says through it."""

import gc
from pathlib import Path

import pytest

from accel_helpers.course import predict, record
from accel_helpers.course.outcomes import outcome_of
from accel_helpers.course.page import Lesson, lesson
from accel_helpers.course.places import place
from accel_helpers.measure import timing
from accel_helpers.measure.measurement import Measurement
from accel_helpers.measure.pictures import plot

RACE = """outcomes: Speedup
[faster] **{result.times} times.** See
[this](there).
[slower] No.
"""
CHOICE = """question: Which?
choices: a | b
outcomes: always
[always] Then.
"""


def measured(seconds, name=""):
    return Measurement.from_samples([seconds] * 5, first_call=3 * seconds, name=name)


@pytest.fixture
def page():
    texts = {"race": RACE, "choice": CHOICE}
    return Lesson("00", {id: place(id, text) for id, text in texts.items()})


def test_a_place_is_read_with_its_fields_and_sentences():
    read = place("race", RACE)
    assert read.outcomes == "Speedup"
    assert read.sentences == {
        "faster": "**{result.times} times.** See\n[this](there).",
        "slower": "No.",
    }
    assert place("choice", CHOICE).choices == ("a", "b")


@pytest.mark.parametrize("line", ["colour: red", "no field"])
def test_a_line_that_is_no_field_is_refused(line):
    with pytest.raises((TypeError, ValueError)):
        place("race", f"{line}\n")


def test_only_the_sentence_that_holds_is_shown(page):
    race = timing.compare(measured(2.0), measured(1.0))
    shown = page.verdict("race", race)
    assert shown.startswith("**2 times.**")
    assert "No." not in shown


def test_a_guess_is_asked_for_kept_and_held_against_what_came_out(page, capsys):
    assert page.ask("choice").place.choices == ("a", "b")
    predict.guess("00/choice", "a")
    assert page.reveal("choice", "b") == "Then."
    assert "You guessed a; what came out: b." in capsys.readouterr().out


def test_an_answer_that_nothing_measures_stands_in_its_place(capsys):
    asked = place("which", "question: Which?\nchoices: a | b\nanswer: b\n")
    Lesson("00", {"which": asked}).reveal("which")
    assert "Answer: b." in capsys.readouterr().out


def test_a_guess_without_sentences_shows_none(page, capsys):
    bare = Lesson("00", {"n": place("n", "question: How many?\nunit: times\n")})
    assert bare.reveal("n", 3.0) is None
    assert "Answer: 3 times." in capsys.readouterr().out


def test_what_was_not_measured_is_not_on_the_record():
    lesson("03").verdict("race", None)
    assert record.newest("03/") == {}


def test_what_is_drawn_or_said_is_on_the_record(page):
    page.plot("twice", measured(1.0))
    race = timing.compare(measured(2.0, "cpu"), measured(1.0, "gpu"))
    page.verdict("race", race)
    kept = record.newest("00/")
    assert {id: entry.outcome for id, entry in kept.items()} == {"twice": "", "race": "faster"}
    assert kept["twice"].numbers["first call seconds"] == 3
    assert kept["race"].numbers["times as fast"] == 2.0


def test_a_sentence_is_its_text_wherever_it_is_shown(page):
    race = timing.compare(measured(2.0), measured(1.0))
    said = page.verdict("race", race)
    assert repr(said) == said == said._repr_markdown_()


def test_a_folder_that_cannot_be_written_stops_nothing(page, monkeypatch, capsys):
    monkeypatch.setenv("ACCEL_RECORD", "/no such folder/course_record.json")
    page.plot("twice", measured(1.0))
    assert "Not saved" in capsys.readouterr().out


def test_a_file_for_the_class_and_what_is_in_its_way_are_sentences(page, own_record):
    page.plot("twice", measured(1.0))
    file = own_record.with_name(record.HANDED_IN)
    assert page.hand_in() == f"{file}: 1 results, with no guess, answer or paper."
    assert page.gather(own_record.parent) == "1 results are on your record."
    own_record.write_text("[{")
    assert page.hand_in().startswith(f"Not written: {own_record}")
    own_record.unlink()
    file.unlink()
    file.mkdir()
    assert page.hand_in().startswith("Not written: ")


@pytest.mark.parametrize(
    ("result", "kind", "outcome"),
    [
        (None, "Speedup", "not measured"),
        ("faster", "Speedup", "faster"),
        ("/job:localhost/replica:0/task:0/device:GPU:0", "device", "gpu"),
        ("cuda:0", "device", "gpu"),
        ("TFRT_CPU_0", "device", "cpu"),
        (3.7, "always", "always"),
        ({"compile": 0.001, "the first step": 1.0}, "compiling", "the first step"),
        ({"calm": 0.0, "random": 0.02}, "resumed", "nearly"),
        ({"calm": 0.0, "random": 0.0}, "resumed", "exactly"),
        ({"calm": 0.02, "random": 0.02}, "resumed", "changed"),
        (
            {"the .keras file": False, "the exported folder": True},
            "which ran",
            "the exported folder",
        ),
        ({"one": False, "other": False}, "which ran", "neither"),
        ({"one": True, "other": True}, "which ran", "both"),
    ],
)
def test_the_outcome_of_a_result(result, kind, outcome):
    assert outcome_of(result, kind) == outcome


def test_scripts_lie_in_a_folder_that_is_gone_at_the_end():
    opened = lesson("03")
    folder = Path(opened.folder)
    assert folder.is_dir()
    assert opened.folder == str(folder)
    del opened
    gc.collect()
    assert not folder.exists()


def test_a_lesson_is_opened_by_its_number():
    assert lesson("03").number == "03"


def test_what_plot_cannot_draw_is_named():
    with pytest.raises(TypeError, match="plot draws a Measurement.*got 'text'"):
        plot("text")
