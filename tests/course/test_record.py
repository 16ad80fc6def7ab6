"""The record of a learner: whole, readable, merged by time, and never in a lesson's way."""

import itertools
import json
import multiprocessing
import os
import signal
import time
from pathlib import Path

import pytest

from accel_helpers._values.records import DataError
from accel_helpers.course import record

CPU = {"name": "made up, 2 cores", "kind": "cpu", "place": "local", "backend": "jax"}
GPU = {**CPU, "name": "NVIDIA T4", "kind": "gpu"}


def made(place, hour=10, machine=CPU, **others):
    """An entry that is made up, of an hour of one day."""
    fields = {"outcome": "faster", "numbers": {"times as fast": 2.0}, **others}
    return record.Entry(place, when=f"2026-11-30T{hour:02}:00:00", machine=machine, **fields)


EVERYTHING = [
    made("03/race", 1, numbers={"cpu seconds": 0.02, "times as fast": 1.5}),
    made("guess/03/width", 2, outcome="", numbers={}, given="12.0"),
    made("answer/03/speed_up", 3, outcome="right", numbers={"tries": 2.0}, given="c"),
    made("paper/1", 4, outcome="passed", numbers={"material": 17.0, "today": 15.0}),
]


def places(file):
    return [entry.place for entry in record.load(file)]


def test_what_is_kept_is_read_again_and_nothing_else_is_left_there(own_record):
    assert record.keep(*EVERYTHING) == ""
    assert record.load(own_record) == EVERYTHING == record.everything()
    assert os.listdir(own_record.parent) == [own_record.name]
    assert [*json.loads(own_record.read_text())[0]] == [
        *("place", "outcome", "numbers", "when", "machine", "given")
    ]


def test_a_missing_record_is_no_trouble(own_record):
    assert record.everything() == []
    assert record.keep(made("03/race")) == ""
    assert places(own_record) == ["03/race"]


def test_it_lies_beside_the_page_or_where_the_variable_says(monkeypatch):
    monkeypatch.delenv("ACCEL_RECORD")
    assert record.path() == Path(record.NAME)
    monkeypatch.setenv("ACCEL_RECORD", "/content/drive/MyDrive/r.json")
    assert record.path() == Path("/content/drive/MyDrive/r.json")


def test_an_entry_of_now_names_this_machine_and_no_more(own_record):
    now = record.entry("03/race", "faster", {"times as fast": 2})
    assert {*now.machine} == {"name", "kind", "place", "backend"}
    assert now.machine["kind"] in ("cpu", "gpu", "tpu")
    record.keep(now)
    text = own_record.read_text()
    for secret in (os.uname().nodename, str(Path.home()), os.getcwd()):
        assert secret not in text


def test_a_lesson_that_is_run_again_replaces_its_entries(own_record):
    for hour in (1, 2):
        record.keep(made("03/race", hour), made("03/parts", hour))
    assert [(each.place, each.when[11:13]) for each in record.load(own_record)] == [
        ("03/race", "02"),
        ("03/parts", "02"),
    ]


def test_each_machine_keeps_its_own_and_the_newest_decides():
    record.keep(made("03/race", 2, GPU), made("03/race", 1))
    assert len(record.everything()) == 2
    assert record.newest("03/")["race"].machine == GPU


def test_records_merge_alike_in_any_order():
    parts = [[made("03/race", 1), made("04/loss", 5)], [made("03/race", 2)], [made("05/here", 3)]]
    for order in itertools.permutations(parts):
        merged = record.merged(itertools.chain(*order))
        found = {each.place: each.when[11:13] for each in merged}
        assert found == {"03/race": "02", "05/here": "03", "04/loss": "05"}


def test_six_records_are_gathered_and_what_is_none_is_named(own_record):
    for number in range(5):
        entries = [made(f"0{number}/only", number), made("03/race", number)]
        record.store(entries, own_record.with_name(f"course_record ({number}).json"))
    own_record.with_name("course_record-cut.json").write_text('[{"place": "03/ra')
    said = record.gather(own_record.parent)
    assert "course_record-cut.json" in said
    assert said.endswith("6 results are on your record.")
    assert record.newest("03/race")[""].when[11:13] == "04"
    assert {*places(own_record)} == {"03/race", *(f"0{number}/only" for number in range(5))}


def test_what_is_handed_in_has_no_guess_answer_or_paper(own_record):
    record.keep(*EVERYTHING)
    said = record.hand_in()
    file = own_record.with_name(record.HANDED_IN)
    assert said == f"{file}: 1 results, with no guess, answer or paper."
    assert record.load(file) == EVERYTHING[:1]


# --- What must never stand in the way of a lesson


def many_entries(name, count):
    for number in range(count):
        record.keep(made(f"{name}/{number}"))


def in_a_process(name, count):
    child = multiprocessing.get_context("fork").Process(target=many_entries, args=(name, count))
    child.start()
    return child


def test_a_writer_that_is_killed_leaves_a_whole_record(own_record):
    record.keep(*EVERYTHING)
    for pause in (0.05, 0.15, 0.3):
        child = in_a_process("killed", 10_000)
        time.sleep(pause)
        os.kill(child.pid, signal.SIGKILL)
        child.join()
        assert "03/race" in places(own_record)


def test_two_kernels_at_once_lose_nothing(own_record):
    children = [in_a_process(name, 60) for name in "ab"]
    for child in children:
        child.join()
    assert len(record.load(own_record)) == 120


def test_a_record_that_is_cut_short_is_named_and_left_alone(own_record):
    record.keep(*EVERYTHING)
    whole = own_record.read_text()
    for end in range(0, len(whole) - 2, len(whole) // 10):
        own_record.write_text(whole[:end])
        with pytest.raises(DataError, match=str(own_record)):
            record.load(own_record)
        said = record.keep(made("04/loss"))
        assert said.startswith("Not saved, so that nothing is lost: ")
        assert str(own_record) in said
        assert own_record.read_text() == whole[:end]
        assert "loss" in record.newest("04/")  # the page goes on
    own_record.unlink()  # the learner moves it away
    assert record.keep(made("05/here")) == ""
    assert {*places(own_record)} == {"04/loss", "05/here"}


@pytest.mark.parametrize("put_there", [os.mkdir, os.mkfifo])
def test_a_place_that_cannot_be_written_is_a_sentence(own_record, put_there):
    put_there(own_record)
    assert record.keep(made("03/race")).startswith("Not saved")
    assert "race" in record.newest("03/")


def test_a_folder_that_cannot_be_written_is_a_sentence(tmp_path, monkeypatch):
    (tmp_path / "file").touch()
    monkeypatch.setenv("ACCEL_RECORD", str(tmp_path / "file" / "record.json"))
    assert record.keep(made("03/race")).startswith("Not saved: record.json cannot be written")
    assert "race" in record.newest("03/")
