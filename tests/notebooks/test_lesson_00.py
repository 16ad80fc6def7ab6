"""Lesson 00: its sentence on the two tries fits how they came out."""

from pathlib import Path

import nbformat
import pytest

import accel_helpers as ah

LESSON = Path(__file__).parents[2] / "notebooks" / "00_start_here.ipynb"


def tries(second):
    def about(level, name):
        factors = (1, 1.01, 0.99, 1.02, 0.98)
        return ah.timing.Measurement.from_samples([level * f for f in factors], name=name)

    return ah.timing.compare(about(1.0, "first try"), about(second, "second try"))


@pytest.mark.parametrize(
    ("second", "words", "not_words"),
    [
        (0.5, "measurably faster", "slower"),
        (2.0, "measurably slower", "faster"),
        (1.0, "no measurable difference", "measurably"),
    ],
)
def test_the_second_try_is_told_as_it_went(second, words, not_words):
    notebook = nbformat.read(LESSON, as_version=4)
    (cell,) = [c for c in notebook.cells if "verdict" in c.metadata.get("tags", ())]
    source, _, last = cell.source.rpartition("\n")
    scope = {"again": tries(second)}
    exec(source, scope)
    text = eval(last, {**scope, "Markdown": lambda text: text})
    assert words in text and not_words not in text


def test_each_word_of_the_printed_line_is_explained_before_it():
    notebook = nbformat.read(LESSON, as_version=4)
    (i,) = [i for i, c in enumerate(notebook.cells) if "first = ah.timing.benchmark" in c.source]
    fast = ah.timing.Measurement.from_samples([0.0007, 0.0008, 0.00075], first_call=0.001)
    before = "".join(c.source for c in notebook.cells[:i] if c.cell_type == "markdown")
    for word in ("µs", "sample", "first call"):
        assert word in str(fast) and f"**{word}**" in before
