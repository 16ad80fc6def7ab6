"""A lesson's minutes are a sum, told in its head and in the README's map."""

import minutes
import pytest
from example import SHOWN, code, displayed, printed, save
from nbformat.v4 import new_markdown_cell, new_notebook

HINT = "<details>\n<summary>Hint 1</summary>\n\nNot read.\n\n</details>"
MEASURES = ["nbval-ignore-output"]
VERDICT = displayed({"text/markdown": "It is faster.", "text/plain": "It is faster."})
QUIZ = displayed({"text/plain": "1. How long?\na) Long\n2. How far?\na) Far"})
FOLDED = code("folded", "print(1)\nprint(2)")
FOLDED.metadata["jupyter"] = {"source_hidden": True}
SECONDS = [
    (0.9, new_markdown_cell(f"One, [two](https://example.org) `three`.\n\n{HINT}")),
    (10, code("lines", "a = 1\n\nprint(a)")),
    (0, FOLDED),
    (30, code("guess", 'lesson.ask("factor", "How many times?")')),
    (15, code("setup", "import accel_helpers as ah\n" * 9, tagged=["setup"])),
    (300, code("stub", "answer = ...\n" * 9, printed("Not yet."), tagged=["exercise"])),
    (110, code("quiz", "lesson.quiz()", QUIZ)),
    (25, code("picture", 'lesson.plot("dot")', displayed(SHOWN))),
    (5.9, code("verdict", 'lesson.verdict("a")', VERDICT, tagged=MEASURES)),
    (5, code("numbers", "print(1)", printed("It took 2 seconds."), tagged=MEASURES)),
    (6.2, code("printed", "print(1)", printed("It is always two."))),
]


def test_reading_guessing_answering_and_solving_take_their_seconds():
    assert [minutes.seconds(cell) for _, cell in SECONDS] == pytest.approx([s for s, _ in SECONDS])


@pytest.fixture
def path(tmp_path):
    """A lesson of two minutes to the quiz, of one in it, and of three behind it."""
    head = "# A lesson\n\n**Minutes:** 5\n\n" + "word " * 195
    cells = [
        new_markdown_cell(head),
        code("run", "lesson.plot(1)"),
        new_markdown_cell("## Quiz"),
        code("quiz", "lesson.quiz()", QUIZ),
        new_markdown_cell("## Going further\n\n" + "word " * 600),
    ]
    return save(tmp_path, new_notebook(cells=cells))


def timed(path, seconds):
    return {path.stem: {"cells": {"run": seconds}}}


def test_the_minutes_are_told_by_parts_in_the_head_and_together_in_the_map(path, tmp_path):
    parts = minutes.parts(path, timed(path, 56))
    assert parts == [2, 2, 3]
    told = minutes.told(path, {"00": parts})
    assert "**Minutes:** 2 for the core path, 2 for the quiz, 3 more under" in told
    readme = tmp_path / "README.md"
    readme.write_text("| [00 · Here](00_a.ipynb) | 9 | x |\n| 32 | 9 |\n")
    told = minutes.told(readme, {"00": parts})
    assert told == "| [00 · Here](00_a.ipynb) | 4 | x |\n| 32 | 9 |\n"


def test_a_core_that_keeps_a_learner_waiting_is_named(path):
    assert list(minutes.too_long([path], timed(path, 60))) == []
    (said,) = minutes.too_long([path], timed(path, 61))
    assert path.name in said
    (said,) = minutes.too_long([path] * 7, timed(path, 60))
    assert "420" in said
