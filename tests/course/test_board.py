"""A teacher's board: good files count, the others are named, and nothing that a file says acts."""

import json
import os
import re
from dataclasses import replace
from pathlib import Path

import pytest

from accel_helpers import cli
from accel_helpers.course import board, record

EVIL = '"><script>alert(1)</script><img src=x onerror=alert(2)>\u202e\x1b[2J{{ 7 * 7 }}'
CUT = '[{"place": "03/ra'


def entry(factor=6.6, **others):
    """What a file holds of a race; every factor has another moment."""
    made = {"place": "03/race", "outcome": "faster", "numbers": {"times as fast": factor}}
    return {**made, "when": f"2026-11-30 {factor}", "machine": {"name": "NVIDIA T4"}, **others}


def shown(folder, files, *words, status=0):
    """The page for a folder with such files in it: texts, or what is written as JSON."""
    folder.mkdir(exist_ok=True)
    for name, content in files.items():
        text = content if isinstance(content, str) else json.dumps(content)
        (folder / name).write_text(text, "utf-8")
    page = folder.parent / "board.html"
    assert cli.main(["board", str(folder), "--out", str(page), *words]) == status
    return " ".join(page.read_text("utf-8").split())


NOT_COUNTED = {
    "name.txt": ("", "no .json"),
    "zip.json": ("PK\3\4", "not valid JSON"),
    "cut.json": (CUT, "not valid JSON"),
    "deep.json": ("[" * 100_000, "not valid JSON"),
    "huge.json": ("[]" * 2_500_001, "5,000,000"),
    "card.json": ({"schema": 1, "measurements": {}}, "a list"),
    "more.json": ([entry(secret=1)], "'secret'"),
    "large.json": ([entry(10**400)], "a table of finite numbers"),
    "guess.json": ([entry(), entry(place="guess/03/width")], "answers or guesses"),
    "typed.json": ([entry(given="c")], "answers or guesses"),
    "nothing.json": ([entry(numbers={})], "nothing is measured"),
    "empty.json": ([], "nothing is measured"),
    "copy.json": (json.dumps([entry()], indent=7), "a copy of ana"),
}


def test_a_file_that_is_none_is_listed_with_its_reason(tmp_path, capsys):
    (folder := tmp_path / "class").mkdir()
    (folder / "link.json").symlink_to(__file__)
    (folder / "folder.json").mkdir()
    os.mkfifo(folder / "pipe.json")
    reasons = {"link": "links", "folder": "no ordinary file", "pipe": "no ordinary file"}
    files = {"ana.json": [entry()]}
    for name, (content, reason) in NOT_COUNTED.items():
        files[name] = content
        reasons[Path(name).stem] = reason
    text = shown(folder, files, "--names", "--json")
    written = json.loads(capsys.readouterr().out)
    assert written["files"] == 1
    refused = dict(written["refused"])
    assert {*refused} == {*reasons}
    for who, reason in reasons.items():
        assert reason in refused[who]
        assert f"<strong>{who}</strong>" in text


def test_what_a_file_says_does_nothing(tmp_path):
    numbers = {f"{EVIL} times as fast": 2.5, "zero times as fast": 0, "below times as fast": -1}
    evil = entry(outcome=EVIL, numbers=numbers, when=EVIL, machine={EVIL: EVIL})
    files = {"=1+1.json": [evil, entry(place=EVIL, machine={"name": EVIL})]}
    text = shown(tmp_path / "class", files, "--names")
    for harmless in ("2.5", "=1+1", "&lt;script&gt;", "{{ 7 * 7 }}"):
        assert harmless in text
    for harmful in ("<script", "<img", "\u202e", "\x1b"):
        assert harmful not in text


def test_nobody_is_named_unless_it_is_asked_for(tmp_path):
    files = {"anabel.json": [entry()], "benedict.json": [entry(5.5)], "carol.json": CUT}
    text = shown(tmp_path / "class", files)
    named = shown(tmp_path / "class", files, "--names")
    for name in ("anabel", "benedict", "carol"):
        assert name not in text
        assert name in named
    assert "<strong>file 1</strong>" in text  # the smallest, which is carol's


def test_what_is_beyond_the_axis_stands_at_its_end(tmp_path):
    files = {f"{factor}.json": [entry(factor)] for factor in (1e299, 1e-299, 1.0)}
    dots = re.findall(r'circle cx="([^"]+)%"', shown(tmp_path / "class", files))
    assert sorted(map(float, dots)) == pytest.approx([0, 13, 100], abs=0.1)


def test_what_most_files_have_comes_first_and_a_result_is_shown_once():
    numbers = {f"{number} times as fast": number for number in range(1, 14)}
    once = record.Entry(**entry())
    climb, again = (replace(once, place=place, numbers=numbers) for place in ("climb", "climbed"))
    files = [
        board.Handed(who, entries)
        for who, entries in (("ana", [climb, again, once]), ("ben", [once]))
    ]
    names = [name for name, _ in board._rows(files)]
    assert names[0] == "03/race times as fast"
    assert names[1:] == [f"climb {number} times as fast" for number in range(1, 12)]


def test_the_exit_status_says_whether_a_file_counts(tmp_path, capsys):
    shown(tmp_path / "empty", {}, status=1)
    shown(tmp_path / "bad", {"cut.json": CUT}, status=1)
    for words in (["no folder"], [".", "--out", "board.csv"], [".", "--out", "no/folder.html"]):
        with pytest.raises(SystemExit, match="2"):
            cli.main(["board", *words])
        assert words[-1] in capsys.readouterr().err


def test_what_a_lesson_hands_in_counts(tmp_path, own_record):
    record.keep(record.entry("03/race", numbers={"times as fast": 2.5}))
    record.keep(record.entry("guess/03/width", given="12"))
    record.hand_in()
    text = own_record.with_name(record.HANDED_IN).read_text()
    assert "03/race" in shown(tmp_path / "class", {"ana.json": text})


@pytest.mark.night
@pytest.mark.timeout(60)
def test_a_thousand_files_of_a_whole_course_are_read(tmp_path, capsys):
    numbers = {f"{word} times as fast": float(word) for word in range(1, 11)}
    course = [entry(place=f"03/{place}", numbers=numbers) for place in range(60)]
    files = {f"{n}.json": [*course, entry(n + 1.5)] for n in range(1000)}
    shown(tmp_path / "class", files)
    assert ": 1000 files" in capsys.readouterr().out
