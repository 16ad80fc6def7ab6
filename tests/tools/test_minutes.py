"""A lesson's minutes are a sum, told in its head and in the README's map."""

import minutes
import pytest
from example import SHOWN, code, displayed, printed, save
from nbformat.v4 import new_markdown_cell, new_notebook

HINT = "<details>\n<summary>Hint 1</summary>\n\nNot read.\n\n</details>"
MEASURES = ["nbval-ignore-output"]
VERDICT = displayed({"text/markdown": "It is faster.", "text/plain": "It is faster."})
QUIZ = displayed({"text/plain": "1. How long?\na) Long\n2. How far?\na) Far"})
SECONDS = [
    (0.9, new_markdown_cell(f"One, [two](https://example.org) `three`.\n\n{HINT}")),
    (10, code("lines", "a = 1\n\nprint(a)")),
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


def test_the_minutes_are_told_by_parts_in_the_head_and_together_in_the_map(tmp_path):
    cells = [
        new_markdown_cell("# A lesson\n\n**Minutes:** 5\n\n" + "word " * 195),
        code("run", "lesson.plot(1)"),
        new_markdown_cell("## Quiz"),
        code("quiz", "lesson.quiz()", QUIZ),
        new_markdown_cell("## Going further\n\n" + "word " * 600),
    ]
    path, readme = save(tmp_path, new_notebook(cells=cells)), tmp_path / "README.md"
    parts = minutes.parts(path, {path.stem: {"cells": {"run": 56}}})
    assert parts == [2, 2, 3]
    told = minutes.told(path, {"00": parts})
    assert "**Minutes:** 2 for the core path, 2 for the quiz, 3 more under" in told
    readme.write_text("| [00 · Here](00_a.ipynb) | 9 | x |\n| 32 | 9 |\n")
    told = minutes.told(readme, {"00": parts})
    assert told == "| [00 · Here](00_a.ipynb) | 4 | x |\n| 32 | 9 |\n"
