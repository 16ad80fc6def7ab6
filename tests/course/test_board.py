"""A teacher's board: good files count, the others are named, and nothing that a file says acts."""

import json
import os
import re
import tomllib
from pathlib import Path

import pytest

from accel_helpers import cli

EVIL = '"><script>alert(1)</script><img src=x onerror=alert(2)>\u202e\x1b[2J{{ 7 * 7 }}'
TOLD = tomllib.loads(Path(__file__).with_name("board.toml").read_text("utf-8"))


def entry(factor=6.6, **others):
    """What a file holds of a race; every factor has another moment."""
    made = {"place": "03/race", "outcome": "faster", "numbers": {"times as fast": factor}}
    return {**made, "when": f"2026-11-30 {factor}", "machine": {"name": "NVIDIA T4"}, **others}


def board(folder, files, *words, status=0):
    """The page for a folder with such files in it."""
    for name, content in files.items():
        (folder / name).write_text(json.dumps(content))
    page = folder / ".board.html"
    assert cli.main(["board", str(folder), "--out", str(page), *words]) == status
    return page.read_text("utf-8")


def test_a_file_that_is_none_is_listed_with_its_reason(tmp_path, capsys):
    reasons = {"link": "links", "pipe": "no ordinary file"}
    (tmp_path / "link.json").symlink_to(__file__)
    os.mkfifo(tmp_path / "pipe.json")
    race = json.dumps(entry())[1:-1]
    for name, file in TOLD["refused"].items():
        (tmp_path / f"{name}.json").write_text(file["text"].replace("RACE", race))
        reasons[name] = file["reason"]
    board(tmp_path, {"ana.json": [entry()]}, "--names", "--json")
    written = json.loads(capsys.readouterr().out)
    refused = dict(written["refused"])
    assert written["files"] == 1
    assert refused.keys() == reasons.keys()
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


def test_nobody_is_named_unless_it_is_asked_for(tmp_path, capsys):
    files = {"anabel.json": [entry()], "carol.json": "cut"}
    named = board(tmp_path, files, "--names")
    capsys.readouterr()
    text = board(tmp_path, files, "--json")
    ((refused, _),) = json.loads(capsys.readouterr().out)["refused"]
    assert refused == "file 1", "numbers do not follow the alphabet"
    for name in ("anabel", "carol"):
        assert name not in text
        assert name in named


def test_each_factor_stands_once_at_its_place(tmp_path):
    again = entry(1.0, place="03/drawn")
    files = {"high.json": [entry(1e299)], "drawn and said.json": [entry(1.0), again]}
    text = board(tmp_path, files)
    dots = re.findall(r'<circle.*? cx="([^"]+)%"', text)
    assert sorted(map(float, dots)) == pytest.approx([13, 100], abs=0.1)
