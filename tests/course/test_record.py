"""The record of a learner: whole, readable, merged by time, and never in a lesson's way."""

import multiprocessing
import os
import signal
import time
from pathlib import Path

import pytest

from accel_helpers._values.records import DataError
from accel_helpers.course import record

CPU = {"name": "made up, 2 cores", "kind": "cpu"}


def made(place, hour=10, outcome="faster", numbers=None, given="", machine=CPU):
    """An entry that is made up, of an hour of one day."""
    when = f"2026-11-30T{hour:02}:00:00"
    return record.Entry(place, outcome, numbers or {"times as fast": 2.0}, when, machine, given)


EVERYTHING = [
    made("03/race", 1),
    made("guess/03/width", 2, given="12.0"),
    made("answer/03/speed_up", 3, "right", given="c"),
    made("paper/1", 4, "passed", {"material": 17.0, "today": 15.0}),
]


OF_TODAY = """[{"place": "03/race", "outcome": "faster", "numbers": {"times as fast": 2.0},
"when": "2026-11-30T10:00:00", "machine": {"name": "made up, 2 cores", "kind": "cpu"}}]"""


def kept(file):
    """What is kept in a record: the hour of each place."""
    return {entry.place: entry.when[11:13] for entry in record.load(file)}


def test_what_is_kept_is_read_again_and_nothing_else_is_left_there(own_record):
    assert record.everything() == []
    assert record.keep(*EVERYTHING) == ""
    assert record.load(own_record) == EVERYTHING
    assert os.listdir(own_record.parent) == [own_record.name]


def test_a_file_of_today_is_read_by_later_versions(own_record):
    own_record.write_text(OF_TODAY)
    assert record.everything() == [made("03/race")]


def test_it_lies_beside_the_page_where_no_variable_says_otherwise(monkeypatch):
    monkeypatch.delenv("ACCEL_RECORD")
    assert str(record.path()) == "course_record.json"


def test_an_entry_of_now_names_this_machine_and_no_more(own_record):
    record.keep(record.entry("03/race"))
    (now,) = record.everything()
    assert {*now.machine} == {"name", "kind", "place", "backend"}
    for secret in (os.uname().nodename, str(Path.home()), os.getcwd()):
        assert secret not in own_record.read_text()


def test_the_newest_decides_and_each_machine_keeps_its_own(own_record):
    record.keep(made("03/race", 1), made("03/parts", 1))
    record.keep(made("03/race", 2))
    assert kept(own_record) == {"03/race": "02", "03/parts": "01"}
    record.keep(made("03/race", 0, machine={"name": "NVIDIA T4"}))
    assert len(record.everything()) == 3
    assert record.newest("03/")["race"] == made("03/race", 2)


def test_the_records_of_two_machines_are_gathered_and_what_is_none_is_named(own_record):
    record.keep(made("03/race", 2))
    others = [made("04/only", 1), made("03/race", 1), made("05/only", 3)]
    record.store(others, own_record.with_name("course_record_of_colab.json"))
    own_record.with_name("course_record-cut.json").write_text('[{"place": "03/ra')
    said = record.gather(own_record.parent)
    assert "course_record-cut.json" in said
    assert said.endswith("3 results are on your record.")
    assert kept(own_record) == {"04/only": "01", "03/race": "02", "05/only": "03"}


def test_what_is_handed_in_has_no_guess_answer_or_paper(own_record):
    record.keep(*EVERYTHING)
    assert "with no guess, answer or paper" in record.hand_in()
    handed_in = record.load(own_record.with_name("course_measurements.json"))
    assert handed_in == EVERYTHING[:1]


# --- What must never stand in the way of a lesson


def keep_many(name, count):
    for number in range(count):
        record.keep(made(f"{name}/{number}"))


def in_a_process(*given):
    """Another kernel that keeps so many entries."""
    child = multiprocessing.get_context("fork").Process(target=keep_many, args=given)
    child.start()
    return child


def test_a_writer_that_is_killed_leaves_a_whole_record(own_record):
    record.keep(*EVERYTHING)
    for pause in (0.05, 0.15, 0.3):
        child = in_a_process("killed", 10_000)
        time.sleep(pause)
        os.kill(child.pid, signal.SIGKILL)
        child.join()
        assert "03/race" in kept(own_record)


def test_two_kernels_at_once_lose_nothing(own_record):
    first = in_a_process("a", 60)
    second = in_a_process("b", 60)
    first.join()
    second.join()
    assert len(kept(own_record)) == 120


# What a file may hold that is no record: cut, of another form, with what is no number or no text.
NO_RECORDS = [
    '[{"place": "03/ra',
    "null",
    "{}",
    "[1]",
    "[{}]",
    '[{"place": null}]',
    '[{"place": "", "when": "2026-11-30"}]',
    '[{"place": "03/race", "when": "2026-11-30", "colour": "red"}]',
    '[{"place": "03/race", "when": "2026-11-30", "numbers": {"n": NaN}}]',
    '[{"place": "03/race", "when": "2026-11-30", "numbers": {"n": true}}]',
]


def test_a_file_that_is_no_record_is_named_and_left_alone_and_the_page_goes_on(own_record):
    for text in NO_RECORDS:
        own_record.write_text(text)
        with pytest.raises(DataError, match=f"^{own_record}: "):
            record.load(own_record)
        assert "nothing is lost" in record.keep(made("04/loss"))
        assert own_record.read_text() == text
        assert "loss" in record.newest("04/")
    own_record.unlink()  # the learner moves it away
    record.keep(made("05/here"))
    assert {*kept(own_record)} == {"04/loss", "05/here"}


def test_a_place_that_cannot_be_written_is_a_sentence(own_record, monkeypatch):
    own_record.mkdir()
    assert record.keep(made("03/race")).startswith("Not saved")
    monkeypatch.setenv("ACCEL_RECORD", "/no such folder/record.json")
    assert record.keep(made("03/parts")).startswith("Not saved: record.json cannot be written")
    assert {*record.newest("03/")} == {"race", "parts"}


def test_what_could_not_be_read_again_is_not_kept_and_bars_nothing(own_record):
    for number in (float("inf"), float("nan"), "2"):
        assert record.keep(made("03/race", numbers={"n": number})).startswith("Not saved: 03/race")
    assert record.keep(made("03/race", given=12)).startswith("Not saved")
    assert record.keep(made("04/loss")) == ""
    assert {*kept(own_record)} == {"04/loss"}
