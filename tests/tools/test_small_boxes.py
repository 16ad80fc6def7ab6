"""Tests measure in small boxes, and a lesson's own code says nothing of it."""

import kernel
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook


@pytest.mark.parametrize(
    ("code", "small"),
    [
        ("ah.compare(a, b, seconds=6)", "ah.compare(a, b, seconds=0.2)"),
        ("f(seconds=1.5, names=n)", "f(seconds=0.05, names=n)"),
        ("seconds = 6", "seconds = 6"),
        ("f(seconds=box)", "f(seconds=box)"),
    ],
)
def test_a_box_is_a_thirtieth(code, small):
    assert kernel.in_small_boxes(code) == small


def test_the_notebook_is_as_it_was_afterwards():
    cells = [new_code_cell("f(seconds=6)"), new_markdown_cell("seconds=6")]
    notebook = new_notebook(cells=cells)
    with kernel.small_boxes(notebook, True):
        assert [cell.source for cell in notebook.cells] == ["f(seconds=0.2)", "seconds=6"]
    assert notebook.cells[0].source == "f(seconds=6)"
    with kernel.small_boxes(notebook, False):
        assert notebook.cells[0].source == "f(seconds=6)"
