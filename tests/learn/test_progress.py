"""What was answered is kept: atomic, readable, resumable, never needed, and never lost."""

import dataclasses
import json
import multiprocessing
import os
import signal
import time
from pathlib import Path

import pytest

from accel_helpers._records import DataError
from accel_helpers.learn import progress
from accel_helpers.learn.progress import Progress, Sitting

WHEN = "2026-11-22T10:00:00+00:00"


def one_of_everything():
    it = progress.answered(Progress(), "03/speedup", "b", "wrong", WHEN)
    it = progress.answered(it, "03/speedup", "c", "right", WHEN)
    it = progress.guessed(it, "03/epoch", 12.5, 14.0, WHEN)
    it = progress.guessed(it, "04/memory", "less", None, WHEN)
    it = progress.finished(it, "03", WHEN)
    return dataclasses.replace(it, exams=(Sitting(1, 17, 15, 20, WHEN),))


def done(lesson):
    """The change that ends a lesson."""
    return lambda it: progress.finished(it, lesson, WHEN)


@pytest.fixture
def folders(tmp_path, monkeypatch):
    """A working folder, and a Google Drive that is mounted."""
    monkeypatch.delenv("ACCEL_PROGRESS")
    monkeypatch.chdir(tmp_path)
    drive = tmp_path / "drive"
    drive.mkdir()
    return tmp_path, drive


def test_what_is_written_is_read_again(tmp_path):
    path = tmp_path / "p.json"
    progress.save(one_of_everything(), path)
    assert progress.load(path) == one_of_everything()
    assert progress.load(path).answers["03/speedup"].tries == 2
    assert json.loads(path.read_text())["schema"] == 1  # and a person can read it
    assert os.listdir(tmp_path) == ["p.json"]


def test_a_missing_file_is_no_trouble(own_progress):
    assert progress.load() == Progress() == progress.current()
    assert progress.keep(done("00")) == ""
    assert own_progress.exists() and progress.load().lessons == {"00": WHEN}


def test_where_it_lies(folders, monkeypatch):
    here, drive = folders
    assert progress.place(drive) == drive / progress.NAME
    assert progress.place(here / "not mounted") == Path(progress.NAME)
    monkeypatch.setenv("ACCEL_PROGRESS", "/else/p.json")
    assert progress.place(drive) == Path("/else/p.json")


def test_what_was_kept_before_the_drive_was_mounted_or_while_it_was_away_goes_along(folders):
    here, drive = folders
    for folder, lesson in ((here / "away", "00"), (drive, "01"), (here / "away", "02")):
        assert progress.keep(done(lesson), drive=folder) == ""
    assert set(progress.current(drive=drive).lessons) == {"00", "01", "02"}
    assert set(progress.load(here / progress.NAME).lessons) == {"00", "02"}


@pytest.mark.parametrize("broken", [0, 1], ids=["here", "drive"])
def test_of_two_files_the_broken_one_is_named_and_the_other_is_shown(folders, broken):
    files = [Path(progress.NAME), folders[1] / progress.NAME]
    files[broken].write_text("{")
    progress.save(one_of_everything(), files[not broken])
    said = progress.keep(done("04"), drive=folders[1])
    assert "Not saved" in said and f" {files[broken]}: " in said
    kept = progress.current(drive=folders[1])
    assert set(kept.lessons) == {"03", "04"} and kept.answers == one_of_everything().answers


@pytest.mark.parametrize("turned", [False, True])
def test_of_two_folders_the_later_answer_and_the_first_end_of_a_lesson_count(turned):
    late = WHEN.replace("10:", "11:")
    older = progress.finished(progress.answered(Progress(), "03/a", "b", "wrong", WHEN), "03", WHEN)
    newer = progress.finished(progress.answered(Progress(), "03/a", "c", "right", late), "03", late)
    both = progress.merged(*((newer, older) if turned else (older, newer)))
    assert both.answers["03/a"].given == "c" and both.lessons == {"03": WHEN}
    assert progress.finished(older, "03", late).lessons == {"03": WHEN}


def test_two_kernels_lose_nothing_of_each_other(own_progress):
    spawn = multiprocessing.get_context("spawn")
    children = [spawn.Process(target=many_answers, args=(n, 25)) for n in range(2)]
    for child in children:
        child.start()
    for child in children:
        child.join(120)
    assert len(progress.load().answers) == 50


def many_answers(number, count):
    for i in range(count):
        progress.keep(lambda it, i=i: progress.answered(it, f"{number}/{i}", "a", "right", WHEN))


def test_a_writer_that_is_killed_leaves_a_whole_file(own_progress):
    progress.save(one_of_everything(), own_progress)
    for pause in (0.05, 0.15, 0.3):
        child = multiprocessing.get_context("fork").Process(target=many_answers, args=(9, 10_000))
        child.start()
        time.sleep(pause)
        os.kill(child.pid, signal.SIGKILL)
        child.join()
        assert "03/speedup" in progress.load().answers


# --- What must never stand in the way of a lesson


@pytest.mark.parametrize(
    "text", ["", '{"schema": 1, "answers": [', "[]", '{"schema": 2}', '{"lessons": {"03": 3}}']
)
def test_a_file_that_cannot_be_read_is_left_alone_and_answers_stay_in_memory(own_progress, text):
    own_progress.write_text(text)
    with pytest.raises(DataError, match=f"^{own_progress}: |^{own_progress},"):
        progress.load()
    said = progress.keep(done("00"))
    assert said.startswith("Not saved") and str(own_progress) in said
    assert own_progress.read_text() == text and progress.current().lessons == {"00": WHEN}
    own_progress.unlink()  # the learner moves it away
    assert progress.keep(done("01")) == ""
    assert set(progress.load().lessons) == {"00", "01"}


@pytest.mark.parametrize("put_there", [os.mkdir, os.mkfifo])
def test_a_place_that_cannot_be_written_is_a_sentence(own_progress, put_there):
    put_there(own_progress)
    assert progress.keep(done("00")).startswith("Not saved")
    assert progress.current().lessons == {"00": WHEN}


@pytest.mark.parametrize(
    "value", [1e305, 10**400, float("nan"), "x" * 30_000, "\ud800", object(), "<b>"], ids=type
)
def test_what_could_not_be_read_again_is_not_kept_and_bars_nothing(own_progress, value):
    said = progress.keep(lambda it: progress.guessed(it, "q", value, None, WHEN))
    assert said == "" or said.startswith("Not saved")
    assert progress.keep(done("00")) == ""
    assert progress.load().lessons == {"00": WHEN}
    assert ("q" in progress.load().guesses) == (value == "<b>")


def test_a_link_stays_a_link(tmp_path, own_progress):
    target = tmp_path / "elsewhere.json"
    own_progress.symlink_to(target)
    assert progress.keep(done("00")) == ""
    assert own_progress.is_symlink() and progress.load(target).lessons == {"00": WHEN}
