"""A teacher's board: good files count, the others are named, and nothing that a file says acts."""

import json
import os
import re

import pytest

from accel_helpers import cli
from accel_helpers.course import record

EVIL = '"><script>alert(1)</script><img src=x onerror=alert(2)>\u202e\x1b[2J{{ 7 * 7 }}'


def entry(factor=6.6, **others):
    """What a file holds of a race; every factor has another moment."""
    made = {"place": "03/race", "outcome": "faster", "numbers": {"times as fast": factor}}
    return {**made, "when": f"2026-11-30 {factor}", "machine": {"name": "NVIDIA T4"}, **others}


def board(folder, files, *words, status=0):
    """The page for a folder with such files in it: texts, or what is written as JSON."""
    for name, content in files.items():
        text = content if isinstance(content, str) else json.dumps(content)
        (folder / name).write_text(text)
    page = folder / ".board.html"
    assert cli.main(["board", str(folder), "--out", str(page), *words]) == status
    return page.read_text("utf-8")


NOT_COUNTED = {
    "name.txt": ("", "no .json"),
    "cut.json": ('[{"place": "03/ra', "not valid JSON"),
    "huge.json": ("[]" * 2_500_001, "5,000,000"),
    "card.json": ({"schema": 1, "measurements": {}}, "a list"),
    "more.json": ([entry(secret=1)], "'secret'"),
    "large.json": ([entry(10**400)], "a table of finite numbers"),
    "guess.json": ([entry(), entry(place="guess/03/width")], "answers or guesses"),
    "typed.json": ([entry(given="c")], "answers or guesses"),
    "nothing.json": ([entry(numbers={})], "nothing is measured"),
    "zcopy.json": (json.dumps([entry()], indent=7), "a copy of ana"),
}


def test_a_file_that_is_none_is_listed_with_its_reason(tmp_path, capsys):
    (tmp_path / "link.json").symlink_to(__file__)
    os.mkfifo(tmp_path / "pipe.json")
    reasons = {"link": "links", "pipe": "no ordinary file"}
    files = {"ana.json": [entry()]}
    for name, (content, reason) in NOT_COUNTED.items():
        files[name] = content
        reasons[name.split(".")[0]] = reason
    board(tmp_path, files, "--names", "--json")
    written = json.loads(capsys.readouterr().out)
    refused = dict(written["refused"])
    assert written["files"] == 1
    assert {*refused} == {*reasons}
    for who, reason in reasons.items():
        assert reason in refused[who]


def test_what_a_file_says_does_nothing(tmp_path):
    numbers = {f"{EVIL} times as fast": 2.5, "zero times as fast": 0}
    evil = entry(place=EVIL, outcome=EVIL, numbers=numbers, when=EVIL, machine={"name": EVIL})
    text = board(tmp_path, {"=1+1.json": [evil]}, "--names")
    for harmless in ("2.5", "=1+1", "&lt;script&gt;", "{{ 7 * 7 }}"):
        assert harmless in text
    for harmful in ("<script", "<img", "\u202e", "\x1b"):
        assert harmful not in text


def test_nobody_is_named_unless_it_is_asked_for(tmp_path):
    files = {"anabel.json": [entry()], "carol.json": "cut"}
    text, named = board(tmp_path, files), board(tmp_path, files, "--names")
    for name in ("anabel", "carol"):
        assert name not in text
        assert name in named
    assert "<strong>file 1</strong>" in text  # the smallest, which is carol's


def test_each_factor_stands_once_at_its_place_and_what_most_files_have_comes_first(tmp_path):
    files = {f"{factor}.json": [entry(factor)] for factor in (1e299, 1e-299)}
    files["a.json"] = [entry(5, place="03/climb")]
    files["drawn and said.json"] = [entry(1.0), entry(1.0, place="03/drawn")]
    text = board(tmp_path, files)
    assert text.index("03/race") < text.index("03/climb")
    dots = re.findall(r'circle cx="([^"]+)%"', text)
    assert sorted(map(float, dots)) == pytest.approx([0, 13, 43.5, 100], abs=0.1)


def test_what_a_lesson_hands_in_counts_and_the_record_itself_does_not(own_record, capsys):
    record.keep(record.entry("03/race", numbers={"times as fast": 2.5}))
    record.keep(record.entry("guess/03/width", given="12"))
    board(own_record.parent, {}, status=1)
    record.hand_in()
    assert "03/race" in board(own_record.parent, {})
