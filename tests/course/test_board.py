"""A teacher's board: good cards count, the others are named, and nothing that a card says acts."""

import csv
import json
import os

import pytest

from accel_helpers import cli
from accel_helpers.course import board, climb
from accel_helpers.course.class_cards import Seen, Time
from accel_helpers.measure import results

EVIL = '"><script>alert(1)</script><img src=x onerror=alert(2)>\u202e\x1b[2J{{ 7 * 7 }}'
CPU, GPU = "03/race/cpu", "03/race/gpu"


def card(seconds=1.0, chip="Tesla T4", numbers=None, **others):
    """A card that is made up: a step on the CPU, and on a chip in a tenth of the time."""
    times = {CPU: seconds, GPU: seconds / 10, **others}
    made = {name: {"samples": [s, 1.1 * s, 0.9 * s, s, s]} for name, s in times.items()}
    machine = {"cpu_name": "made up", "cores": 2, "accelerator": {"name": chip}}
    rest = {"created": "2026-11-23", "command": "made up", "machine": machine, "schema": 1}
    return {**rest, "measurements": made, "numbers": numbers or {}}


def shown(folder, cards, *words, status=0):
    """The page and the rows of the table for such cards, or files with such a text."""
    folder.mkdir(exist_ok=True)
    for name, each in cards.items():
        text = each if isinstance(each, str) else json.dumps(each)
        (folder / f"{name}.json").write_text(text, "utf-8")
    page = folder.parent / "board.html"
    assert cli.main(["board", str(folder), "--out", str(page), *words]) == status
    with page.with_suffix(".csv").open(encoding="utf-8-sig", newline="") as file:
        return " ".join(page.read_text("utf-8").split()), list(csv.DictReader(file))


def test_good_cards_count_and_each_of_the_others_has_its_reason(tmp_path, capsys):
    told = {"guess/03/sweep": [12.0, 10.0], "05/forecast": [4.0, 12.0, 10.0]}
    cards = {"ana": card(numbers=told), "ben": card(1.5), "copy": json.dumps(card(1.5), indent=3)}
    evil = card(2.0, EVIL, {f"guess/{EVIL}": [3.0, 1.0]}, **{"=1+1" + EVIL: 1.0})
    cards["=evil"] = {**evil, "created": EVIL, "command": EVIL}
    cards["small"] = {**card(4.0), "command": "ACCEL_FAST=1 python"}
    cards |= {"cut": '{"schema": 1, "cr', "later": {**card(), "schema": 2}, "none": "[]"}
    (folder := tmp_path / "six").mkdir()
    (tmp_path / "elsewhere").write_text(json.dumps(card(3.0)))
    (folder / "link.json").symlink_to(tmp_path / "elsewhere")
    (folder / "huge.json").touch()
    (folder / "unzipped").mkdir()
    (folder / "dan.json.txt").touch()
    os.truncate(folder / "huge.json", 50_000_000)
    text, rows = shown(folder, cards)
    assert {row["learner"] for row in rows} == {"'=evil", "ana", "ben"}
    assert "3 cards from" in text
    reasons = {"cut": "JSON", "later": "schema", "none": "table", "huge": "5,000,000"}
    said = capsys.readouterr().out.split("\n")
    reasons |= {"link": "no .json", "unzipped": "folders", "dan.json": "no .json"}
    for who, why in {**reasons, "small": "ACCEL_FAST", "copy": "copy of ben"}.items():
        assert f"<strong>{who}</strong>" in text
        assert any(line.startswith(f"Not counted: {who}: ") and why in line for line in said)
    assert "<b>10 ×</b>" in text
    assert "1 of 1 held" in text
    assert "1 of 1 close" in text
    assert "<script" not in text
    assert "<img" not in text
    assert "{{ 7 * 7 }}" in text
    assert "&lt;script&gt;" in text
    assert "\u202e" not in text
    assert "\x1b" not in text
    assert not any(cell.startswith(tuple("=+-@")) for row in rows for cell in row.values())
    (mine,) = (row for row in rows if row["learner"] == "ana" and row["name"] == GPU)
    assert float(mine["seconds"]) == 0.1
    assert mine["samples"] == "5"


def test_without_names_nobody_is_named(tmp_path, capsys):
    cards = {"anabel": card(), "benedict": card(2.0), "cut_by_carol": "{"}
    text, rows = shown(tmp_path / "class", cards, "--no-names")
    said = text + str(rows) + capsys.readouterr().out
    assert "card 1" in said
    assert not [name for name in cards if name in said]


def test_what_is_far_off_is_explained_by_what_the_card_shows(tmp_path):
    size, product = "01/product/size", {"01/product/cpu": 1.0}
    cards = {f"{n}": card(1 + n / 20, numbers={size: [2048.0]}, **product) for n in range(8)}
    cards["1"]["measurements"][GPU]["samples"] = [0.001] * 5
    cards["2"]["measurements"][CPU]["samples"] = [9.0, 4.0, 2.0, 12.0, 6.0]
    cards["3"] = card(1.15, numbers={size: [256.0]}, **{"01/product/cpu": 0.01})
    _, rows = shown(tmp_path / "class", cards)
    found = {row["learner"]: row["remark"] for row in rows if row["remark"]}
    assert {*found} == {*"123"}
    assert "256" in found["3"]
    assert "without waiting" in found["1"]
    assert "busy" in found["2"]


def test_the_exit_status_says_whether_a_card_counts(tmp_path, capsys):
    shown(tmp_path / "empty", {}, status=1)
    shown(tmp_path / "bad", {"cut": "{"}, status=1)
    for words in (["no folder"], [".", "--out", "board.csv"], [".", "--out", "no/folder.html"]):
        with pytest.raises(SystemExit, match="2"):
            cli.main(["board", *words])
        assert words[-1] in capsys.readouterr().err


def test_a_climb_and_a_chip_are_found_on_a_card_by_their_ids():
    seconds = {"climb/epoch/default": 8.0, "climb/epoch/resident-small": 1.0}
    seconds |= {"race/cpu": 6.0, "race/tpu": 2.0}
    times = {f"03/{name}": Time(each, each, each, 5) for name, each in seconds.items()}
    found = board.races([Seen("ana", "a machine", "2026-11-23", times, {})])
    assert found["code"] == {"a machine": [(8.0, "ana")]}
    assert found["chip"] == {"a machine": [(3.0, "ana")]}


def test_the_ids_that_the_board_looks_for_are_those_that_lesson_03_writes():
    code = next(race for race in board.RACES if race.id == "code")
    looked_for = {name.removeprefix("03/climb/epoch/") for name in code.pairs[0][:2]}
    assert looked_for <= {*climb.STAGES}


@pytest.mark.night
def test_a_thousand_cards_as_large_as_they_get_are_read(tmp_path, capsys):
    reference = json.loads(min(results.RUNS.glob("*.json")).read_text("utf-8"))
    shown(tmp_path / "class", {n: reference | {"created": f"{n:010}"} for n in range(1000)})
    assert capsys.readouterr().out.startswith("1000 cards")
