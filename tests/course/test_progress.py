"""What was answered is kept: atomic, readable, resumable, never needed, and never lost."""

import json
import multiprocessing
import os
import signal
import time
from pathlib import Path

import pytest

from accel_helpers._values.records import DataError
from accel_helpers.course import progress
from accel_helpers.course.progress import Answer, Guess, Progress, Sitting

WHEN = "2026-11-22T10:00:00+00:00"


EVERYTHING = Progress(
    {"03/speedup": Answer("c", "right", 2, WHEN)},
    {"03/epoch": Guess(12.5, 14.0, WHEN), "04/memory": Guess("less", None, WHEN)},
    {"03": WHEN},
    (Sitting(1, 17, 15, 20, WHEN),),
)


def done(lesson):
    return Progress(lessons={lesson: WHEN})


def answered(name, given, verdict="right", when=WHEN):
    return Progress({name: Answer(given, verdict, 1, when)})


@pytest.fixture
def folders(tmp_path, monkeypatch):
    """A working folder, and a Google Drive that is mounted."""
    monkeypatch.delenv("ACCEL_PROGRESS")
    monkeypatch.chdir(tmp_path)
    drive = tmp_path / "drive"
    drive.mkdir()
    return tmp_path, drive


def test_what_is_written_is_read_again(own_progress):
    assert progress.keep(EVERYTHING) == ""
    assert progress.load(own_progress) == EVERYTHING
    assert json.loads(own_progress.read_text())["schema"] == 1  # and a person can read it
    assert os.listdir(own_progress.parent) == [own_progress.name]


def test_a_missing_file_is_no_trouble(own_progress):
    assert progress.load(own_progress) == Progress() == progress.current()
    assert progress.keep(done("00")) == ""
    assert own_progress.exists()
    assert progress.load(own_progress).lessons == {"00": WHEN}


def test_where_it_lies(folders, monkeypatch):
    here, drive = folders
    assert progress.files(drive) == [drive / progress.NAME, Path(progress.NAME)]
    assert progress.files(here / "not mounted") == [Path(progress.NAME)]
    monkeypatch.setenv("ACCEL_PROGRESS", "/else/p.json")
    assert progress.files(drive) == [Path("/else/p.json")]


def test_what_was_kept_before_the_drive_was_mounted_goes_along(folders):
    here, drive = folders
    assert progress.keep(done("00"), drive=here / "not mounted") == ""
    assert set(progress.current(drive=drive).lessons) == {"00"}
    assert progress.keep(done("01"), drive=drive) == ""
    assert set(progress.load(drive / progress.NAME).lessons) == {"00", "01"}


def test_what_the_drive_has_from_an_earlier_runtime_is_what_counts(folders):
    here, drive = folders
    assert progress.keep(EVERYTHING, drive=drive) == ""
    assert progress.keep(done("00"), drive=here / "not mounted") == ""
    assert progress.keep(done("04"), drive=drive) == ""
    assert set(progress.load(drive / progress.NAME).lessons) == {"03", "04"}
    assert set(progress.load(here / progress.NAME).lessons) == {"00"}


@pytest.mark.parametrize("broken", [0, 1], ids=["drive", "here"])
def test_a_broken_file_is_named_and_left_alone(folders, broken):
    here, drive = folders
    path = progress.files(drive)[broken]
    path.write_text("{")
    sentence = progress.keep(done("04"), drive=drive)
    assert sentence.startswith("Not saved")
    assert f" {path}: " in sentence
    assert path.read_text() == "{"
    assert progress.current(drive=drive).lessons == {"04": WHEN}


def test_the_newer_answer_and_the_first_end_of_a_lesson_count(own_progress):
    late = WHEN.replace("10:", "11:")
    progress.keep(Progress(answered("03/a", "b", "wrong").answers, lessons={"03": WHEN}))
    progress.keep(Progress(answered("03/a", "c", when=late).answers, lessons={"03": late}))
    kept = progress.load(own_progress)
    assert kept.answers["03/a"].given == "c"
    assert kept.lessons == {"03": WHEN}


def test_every_exam_that_was_sat_is_kept_in_its_order(own_progress):
    sittings = [Sitting(paper, 17, 15, 20, WHEN) for paper in (2, 1, 2)]
    for sitting in sittings:
        progress.keep(Progress(exams=(sitting,)))
    assert progress.load(own_progress).exams == tuple(sittings)


def many_answers(number, count):
    for i in range(count):
        progress.keep(answered(f"{number}/{i}", "a"))


def test_a_writer_that_is_killed_leaves_a_whole_file(own_progress):
    progress.keep(EVERYTHING)
    for pause in (0.05, 0.15, 0.3):
        child = multiprocessing.get_context("fork").Process(target=many_answers, args=(9, 10_000))
        child.start()
        time.sleep(pause)
        os.kill(child.pid, signal.SIGKILL)
        child.join()
        assert "03/speedup" in progress.load(own_progress).answers


# --- What must never stand in the way of a lesson


@pytest.mark.parametrize(
    "text", ["", '{"schema": 1, "answers": [', "[]", '{"schema": 2}', '{"lessons": {"03": 3}}']
)
def test_a_file_that_cannot_be_read_is_left_alone_and_answers_stay_in_memory(own_progress, text):
    own_progress.write_text(text)
    with pytest.raises(DataError, match=f"^{own_progress}: |^{own_progress},"):
        progress.load(own_progress)
    said = progress.keep(done("00"))
    assert said.startswith("Not saved")
    assert str(own_progress) in said
    assert own_progress.read_text() == text
    assert progress.current().lessons == {"00": WHEN}
    own_progress.unlink()  # the learner moves it away
    assert progress.keep(done("01")) == ""
    assert set(progress.load(own_progress).lessons) == {"00", "01"}


@pytest.mark.parametrize("put_there", [os.mkdir, os.mkfifo])
def test_a_place_that_cannot_be_written_is_a_sentence(own_progress, put_there):
    put_there(own_progress)
    assert progress.keep(done("00")).startswith("Not saved")
    assert progress.current().lessons == {"00": WHEN}


@pytest.mark.parametrize(
    "value", [1e305, 10**400, float("nan"), "x" * 30_000, "\ud800", object(), "<b>"], ids=type
)
def test_what_could_not_be_read_again_is_not_kept_and_bars_nothing(own_progress, value):
    said = progress.keep(Progress(guesses={"q": Guess(value, None, WHEN)}))
    assert said == "" or said.startswith("Not saved")
    assert progress.keep(done("00")) == ""
    assert progress.load(own_progress).lessons == {"00": WHEN}
    assert ("q" in progress.load(own_progress).guesses) == (value == "<b>")
