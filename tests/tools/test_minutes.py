"""The minutes of a lesson: what is counted, what is held, and what is written where."""

import minutes
import pytest
from example import SHOWN, TITLE, code, displayed, printed, save
from lesson import parse
from nbformat.v4 import new_markdown_cell, new_notebook, new_output

from accel_helpers.course.places import places

SAID = {"00_a.ipynb": 'lesson.verdict("first", 1)', "10_b.ipynb": 'lesson.verdict("kill", 1)'}
HINT = "<details>\n<summary>Hint 1</summary>\n\nNot read.\n\n</details>"
MAP = "| n | lesson | minutes |\n|---|---|---|\n| 00 | Here | 9 |\n| 10 | [B](10_b.ipynb) | 9 |\n"
TWO = displayed(SHOWN), displayed(SHOWN)  # of what measures, nothing stored counts
README = "| [00 · Here](00_a.ipynb) | 9 | x |\n| [10 · B](10_b.ipynb) | 9 | x |\n"


@pytest.fixture
def course(tmp_path):
    """Two lessons and a page with a map; the second lesson is long."""
    for name, times, tagged in (("00_a.ipynb", 1, ["first-result"]), ("10_b.ipynb", 150, [])):
        cells = [
            new_markdown_cell(TITLE),
            code("setup", "import accel_helpers as ah\n" * 9, tagged=["setup"]),
            new_markdown_cell(f"One, [two](https://example.org) `three`.\n\n{HINT}\n\n{MAP}"),
            code("run", "a = 1\n\nprint(a)", printed("It is 1.\n1 2\n"), tagged=tagged),
            code("box", "lesson.plot(1)\nb = 2\n" * 13, *TWO, tagged=["nbval-ignore-output"]),
            code("say", SAID[name], tagged=["nbval-ignore-output"]),
            code("stub", "my = ...\n" * 40, printed("Not yet, try it."), tagged=["exercise"]),
            *(code(None, 'lesson.ask("a", "how?")') for _ in range(times)),
            new_markdown_cell("## Quiz"),
            code("quiz", 'ah.course.show_quiz("00/clear")', printed("A question with options.")),
            new_markdown_cell("## Going further\n\n" + "word " * 998),
        ]
        save(tmp_path, new_notebook(cells=cells), name)
    (tmp_path / "README.md").write_text(README, "utf-8")
    return tmp_path


TIMED = dict.fromkeys(("00_a", "10_b"), {"cells": {"setup": 30, "run": 6, "box": 12, "say": 0}})


def run(course, *arguments):
    return minutes.main(arguments, course, course / "README.md", TIMED)


def test_what_is_counted_and_by_which_clock(course):
    row, parts = minutes.work_out(course / "00_a.ipynb", TIMED)
    shown = {name: row[name] for name in ("cells", "longest", "predictions", "waiting")}
    assert shown == {"cells": 6, "longest": 26, "predictions": 1, "waiting": 18}
    prose = 3 + minutes.words(MAP)
    sentence = minutes.words(places("00")["first"].sentences["always"])
    assert row["words"] == prose + 3 + sentence  # with a sentence that is printed
    first = 0.3 * (minutes.words(TITLE) + prose + 5) + 2 * 5 + 36
    assert row["first result"] == round(first / 60, 1)
    box, say, stub, guess = (
        12 + 26 * 5 + 20,
        0.3 * sentence + 5,
        300,
        5 + 25,
    )  # the box draws a picture
    core = first + box + say + stub + guess
    assert parts["for the core path"] == round(core / 60)
    assert parts["more under *Going further*"] == 5
    quiz = 0.3 + 55  # its heading, and one question
    assert row["questions"] == 1
    assert row["minutes"] == round((core + quiz) / 60, 1)
    assert row["machinery"] == f"{(9 + 13 + 1 + 1 + 1) / (9 + 2 + 26 + 1 + 40 + 1 + 1):.0%}"


def test_what_passes_a_limit_or_is_promised_wrongly_is_named(course, capsys):
    assert run(course, "--check", "00", "10") == 1
    said = capsys.readouterr().out
    for number, what in [
        *(("00", "longest: 26"), ("00", "questions: 1"), ("00", "a map")),
        *(("10", "cells: 155"), ("10", "predictions: 150"), ("10", "it promises 5")),
        ("10", "first result: inf"),
    ]:
        assert f"{number}: {what}" in said
    assert "00: predictions" not in said
    assert "untimed" not in said
    assert minutes.main(["--check", "00"], course, course / "README.md", {}) == 1
    assert "00: untimed: 2" in capsys.readouterr().out
    slow = {"00_a": {"cells": {"setup": 0, "run": 200, "box": 301, "say": 0}}}
    assert minutes.main(["--check", "00"], course, course / "README.md", slow) == 1
    said = capsys.readouterr().out
    assert "00: waiting: 501" in said
    assert "00: first result: 3." in said
    assert "together" in said


def test_the_minutes_are_written_into_head_and_maps_and_hold_then(course, capsys):
    assert run(course, "--fix", "10") == 0
    row, parts = minutes.work_out(course / "10_b.ipynb", TIMED)
    total = parts["for the core path"] + parts["for the quiz"]
    assert row["promised"] == total
    assert abs(total - row["minutes"]) <= 1
    readme, start = ((course / name).read_text("utf-8") for name in ("README.md", "00_a.ipynb"))
    assert readme == README.replace("(10_b.ipynb) | 9", f"(10_b.ipynb) | {total}")
    assert f"| 10 | [B](10_b.ipynb) | {total} |" in parse(start).cells[2].source
    assert "| 00 | Here | 9 |" in start
    assert "**Minutes:** 5" in start
    capsys.readouterr()
    run(course, "--check", "10")
    said = capsys.readouterr().out
    assert "promises" not in said
    assert "a map" not in said


def test_a_picture_is_looked_at_and_folded_code_is_not_read(course):
    plain, _ = minutes.work_out(course / "00_a.ipynb", TIMED)
    notebook = parse((course / "00_a.ipynb").read_text("utf-8"))
    run, box = (next(cell for cell in notebook.cells if cell.id == name) for name in ("run", "box"))
    run.outputs.append(new_output("display_data", {"image/png": "aGk="}))
    box.metadata["jupyter"] = {"source_hidden": True}
    save(course, notebook, "00_a.ipynb")
    row, _ = minutes.work_out(course / "00_a.ipynb", TIMED)
    assert row["minutes"] == pytest.approx(plain["minutes"] + (20 - 26 * 5) / 60, abs=0.11)
    assert row["first result"] == plain["first result"], "it is there before it is looked at"


@pytest.mark.parametrize(
    ("share", "holds"), [(0.85, False), (0.95, True), (1.1, True), (1.2, False)]
)
def test_a_promise_holds_within_a_tenth_below_and_fifteen_hundredths_above(course, share, holds):
    row, _ = minutes.work_out(course / "00_a.ipynb", TIMED)
    found = [*minutes.problems("00", row | {"minutes": 20.0, "promised": 20 * share}, ())]
    assert ("promises" not in " ".join(found)) == holds
