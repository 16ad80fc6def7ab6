"""What was answered is kept: atomic, readable, resumable, never needed, and never lost."""

import json
import multiprocessing
import os
import signal
import time
from pathlib import Path

import pytest

from accel_helpers.learn import progress
from accel_helpers.learn.progress import Progress, ProgressError, Sitting

WHEN = "2026-11-22T10:00:00+00:00"


def one_of_everything():
    it = progress.answered(Progress(), "03/speedup", "b", "wrong", WHEN)
    it = progress.answered(it, "03/speedup", "c", "right", WHEN)
    it = progress.guessed(it, "03/epoch", 12.5, 14.0, WHEN)
    it = progress.guessed(it, "04/memory", "less", None, WHEN)
    it = progress.finished(it, "03", WHEN)
    return progress.sat(it, Sitting(1, 17, 15, 20, WHEN))


def test_what_is_written_is_read_again(tmp_path):
    path = tmp_path / "p.json"
    progress.save(one_of_everything(), path)
    assert progress.load(path) == one_of_everything()
    assert progress.load(path).answers["03/speedup"].tries == 2
    assert json.loads(path.read_text())["schema"] == 1  # and a person can read it
    assert os.listdir(tmp_path) == ["p.json"]


def test_a_lesson_is_finished_once():
    it = progress.finished(one_of_everything(), "03", "2027-01-01T00:00:00+00:00")
    assert it.lessons == {"03": WHEN}


def test_a_missing_file_is_no_trouble(own_progress):
    assert progress.load() == Progress() == progress.current()
    assert progress.keep(lambda it: progress.finished(it, "00", WHEN)) == ""
    assert own_progress.exists() and progress.load().lessons == {"00": WHEN}


def test_on_a_mounted_drive_it_outlives_the_runtime(tmp_path, monkeypatch):
    assert progress.place({}, tmp_path) == tmp_path / progress.NAME
    assert progress.place({}, tmp_path / "not mounted") == progress.Path(progress.NAME)
    assert progress.place({"ACCEL_PROGRESS": "/else/p.json"}, tmp_path).name == "p.json"


def test_what_was_begun_before_the_drive_was_mounted_goes_along(tmp_path, monkeypatch):
    monkeypatch.delenv("ACCEL_PROGRESS")
    monkeypatch.chdir(tmp_path)
    here, drive = tmp_path / progress.NAME, tmp_path / "drive"
    progress.save(one_of_everything(), here)
    drive.mkdir()
    assert progress.load(drive=drive) == one_of_everything()
    assert progress.keep(lambda it: progress.finished(it, "04", WHEN), drive=drive) == ""
    assert set(progress.load(drive / progress.NAME).lessons) == {"03", "04"}
    assert progress.load(here) == one_of_everything()


def test_two_kernels_lose_nothing_of_each_other(own_progress):
    children = [
        multiprocessing.get_context("spawn").Process(target=many_answers, args=(n, 25))
        for n in range(2)
    ]
    for child in children:
        child.start()
    for child in children:
        child.join(60)
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


def test_a_file_that_cannot_be_read_is_left_alone_and_answers_stay_in_memory(own_progress):
    own_progress.write_text('{"schema": 1, "answers": [')
    said = progress.keep(lambda it: progress.finished(it, "00", WHEN))
    assert "Not saved, so that nothing is lost" in said and "course_progress.json" in said
    assert own_progress.read_text() == '{"schema": 1, "answers": ['
    assert progress.current().lessons == {"00": WHEN}
    own_progress.unlink()  # the learner moves it away
    assert progress.keep(lambda it: progress.finished(it, "01", WHEN)) == ""
    assert set(progress.load().lessons) == {"00", "01"}


def test_a_folder_that_cannot_be_written_is_a_sentence(tmp_path, monkeypatch):
    monkeypatch.setenv("ACCEL_PROGRESS", str(tmp_path / "gone" / "p.json"))
    said = progress.keep(lambda it: progress.finished(it, "00", WHEN))
    assert said.startswith("Not saved: p.json cannot be written here (No such file")
    assert progress.current().lessons == {"00": WHEN}


GOOD = one_of_everything().to_dict()


def broken(*path, value):
    values = json.loads(json.dumps(GOOD))
    inner = values
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = value
    return json.dumps(values)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "not valid JSON"),
        (json.dumps(GOOD)[:200], "not valid JSON"),
        ("[" * 100_000, "not valid JSON"),
        ('{"schema": 1, "x": ' + "9" * 10_000 + "}", "not valid JSON"),
        ("[]", "the file must be an object; got []"),
        (broken("schema", value=2), "field 'schema' must be 1; got 2"),
        (broken("answers", value=[]), "field 'answers' must be an object"),
        (
            broken("answers", "03/speedup", value=1),
            "field 'answers', '03/speedup' must be an object",
        ),
        (
            broken("answers", "03/speedup", "given", value=None),
            "speedup', given' must be a number or",
        ),
        (broken("answers", "03/speedup", "given", value="x" * 2000), "given' must be a number or"),
        (
            broken("answers", "03/speedup", "verdict", value=7),
            "verdict' must be a short text; got 7",
        ),
        (broken("answers", "03/speedup", "tries", value=-1), "tries' must be a whole number"),
        (broken("answers", "03/speedup", "tries", value=True), "tries' must be a whole number"),
        (broken("answers", "03/speedup", "when", value="soon"), "when' must be a time such as"),
        (
            broken("guesses", "03/epoch", "actual", value=float("nan")),
            "actual' must be a number or",
        ),
        (broken("guesses", "03/epoch", "guess", value={}), "guess' must be a number or"),
        (broken("lessons", value="03"), "field 'lessons' must be an object"),
        (broken("lessons", "03", value=3), "must be a time"),
        (broken("lessons", "03", value="2026-11-22\ud80010:00:00"), "must be a time"),
        (broken("exams", value={}), "field 'exams' must be a list"),
        (broken("exams", 0, value=3), "field 'exams', 1 must be an object; got 3"),
        (
            broken("exams", 0, "today", value="all"),
            "field 'exams, 1, today' must be a whole number",
        ),
    ],
)
def test_a_hostile_file_is_refused_by_file_and_field_and_kept(own_progress, text, said):
    own_progress.write_text(text)
    with pytest.raises(ProgressError) as error:
        progress.load()
    assert str(error.value).startswith(f"{own_progress}: ") and said in str(error.value)
    assert len(str(error.value)) < 300
    assert progress.keep(lambda it: it).startswith("Not saved, so that nothing is lost")
    assert own_progress.read_text() == text


def test_ten_megabytes_and_other_bytes_are_refused(own_progress):
    own_progress.write_bytes(b" " * 10_000_000)
    with pytest.raises(ProgressError, match="larger than 2,000,000 bytes"):
        progress.load()
    own_progress.write_bytes(b'{"schema": "\xff"}')
    with pytest.raises(ProgressError, match=f"{own_progress}: cannot be read: it is not UTF-8"):
        progress.load()
    own_progress.unlink()
    own_progress.mkdir()
    with pytest.raises(ProgressError, match="cannot be read: it is no ordinary file"):
        progress.load()


@pytest.mark.parametrize("broken", ["here", "drive"])
def test_of_two_files_the_broken_one_is_named_and_the_other_is_shown(tmp_path, monkeypatch, broken):
    monkeypatch.delenv("ACCEL_PROGRESS")
    monkeypatch.chdir(tmp_path)
    drive = tmp_path / "drive"
    drive.mkdir()
    files = {"here": Path(progress.NAME), "drive": drive / progress.NAME}
    for name, path in files.items():
        if name == broken:
            path.write_text("{")
        else:
            progress.save(one_of_everything(), path)
    said = progress.keep(lambda it: progress.finished(it, "04", WHEN), drive=drive)
    assert f"nothing is lost: {files[broken]}: not valid JSON" in said
    kept = progress.current(drive=drive)
    assert set(kept.lessons) == {"03", "04"} and kept.answers == one_of_everything().answers


def test_of_two_folders_the_first_end_of_a_lesson_counts():
    early, late = (
        progress.finished(Progress(), "03", WHEN.replace("10:", h)) for h in ("09:", "11:")
    )
    for both in (progress.merged(early, late), progress.merged(late, early)):
        assert both.lessons == early.lessons


@pytest.mark.parametrize("turned", [False, True])
def test_of_two_folders_the_later_answer_counts(turned):
    older = progress.answered(Progress(), "03/a", "b", "wrong", WHEN)
    newer = progress.answered(Progress(), "03/a", "c", "right", WHEN.replace("10:", "11:"))
    both = progress.merged(*((newer, older) if turned else (older, newer)))
    assert both.answers["03/a"].given == "c"


# --- What must never stand in the way of a lesson


@pytest.mark.parametrize(
    "value", [1e305, 10**400, float("nan"), "x" * 1500, "\ud800", "<b>" * 10], ids=str
)
def test_what_could_not_be_read_again_is_not_kept_and_bars_nothing(own_progress, value):
    said = progress.keep(lambda it: progress.guessed(it, "q", value, None, WHEN))
    assert said == "" or said.startswith("Not saved: ")
    assert progress.keep(lambda it: progress.finished(it, "00", WHEN)) == ""
    assert progress.load().lessons == {"00": WHEN}
    assert ("q" in progress.load().guesses) == (value == "<b>" * 10)


def test_what_would_be_refused_the_next_time_is_not_written(own_progress):
    most = progress.answered(Progress(), "03/a", "b", "wrong", WHEN).to_dict()
    most["answers"]["03/a"]["tries"] = 10**9
    own_progress.write_text(json.dumps(most))
    again = lambda it: progress.answered(it, "03/a", "c", "right", WHEN)  # noqa: E731
    assert "tries' must be a whole number" in progress.keep(again)
    assert progress.load().answers["03/a"].given == "b"
    assert progress.current().answers["03/a"].given == "c"


def test_a_file_that_would_grow_too_large_to_be_read_is_not_written(own_progress):
    guess = progress.Guess("x" * 900, None, WHEN)
    full = Progress(guesses={f"q{n:04}": guess for n in range(1900)})
    progress.save(full, own_progress)
    assert progress.load() == full

    def many(it):
        for n in range(2000, 2400):
            it = progress.guessed(it, f"q{n}", "x" * 900, None, WHEN)
        return it

    assert "larger than 2,000,000 bytes" in progress.keep(many)
    assert progress.load() == full


def test_a_pipe_in_its_place_is_no_trap(own_progress):
    os.mkfifo(own_progress)
    assert "no ordinary file" in progress.keep(lambda it: progress.finished(it, "00", WHEN))
    assert progress.current().lessons == {"00": WHEN}


def test_a_link_stays_a_link(tmp_path, own_progress):
    target = tmp_path / "elsewhere.json"
    own_progress.symlink_to(target)
    assert progress.keep(lambda it: progress.finished(it, "00", WHEN)) == ""
    assert own_progress.is_symlink() and progress.load(target).lessons == {"00": WHEN}


def test_what_was_kept_while_the_drive_was_away_is_found_again(tmp_path, monkeypatch):
    monkeypatch.delenv("ACCEL_PROGRESS")
    monkeypatch.chdir(tmp_path)
    drive, away = tmp_path / "drive", tmp_path / "away"
    drive.mkdir()
    for folder, lesson in ((drive, "00"), (away, "01"), (drive, "02")):
        kept = lambda it, lesson=lesson: progress.finished(it, lesson, WHEN)  # noqa: E731
        assert progress.keep(kept, drive=folder) == ""
    assert set(progress.load(drive=drive).lessons) == {"00", "01", "02"}


def test_guesses_of_any_kind_of_number_never_raise(own_progress):
    import numpy as np

    from accel_helpers.learn import predict

    for number in (np.int64(3), np.float32(3), np.float64(3), 3):
        predict.guess("q", number)
        predict._guesses.clear()
        assert predict.reveal("q", np.float32(3.1)).verdict == "close"  # from the file
        own_progress.unlink()
    own_progress.mkdir()
    predict.guess("r", 3)
    assert predict.reveal("r", 3.0).verdict == "close"
    assert predict.reveal("never", 3.0).verdict == "no guess"
