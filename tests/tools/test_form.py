"""A lesson in form passes; each slip that authors make is found, and mended if it can be."""

import json
from pathlib import Path
from types import SimpleNamespace

import form
import measured
import pytest
import repair
from example import NAME, PIXEL, cell, code, counted, displayed, example, printed
from lesson import Stamp, badge, dump, setup_source
from nbformat.v4 import new_markdown_cell, new_output

PATH = Path(NAME)
HINTS = "<details>\n<summary>Hint 1</summary>\n\nCount.\n\n</details>\n\n" * 2
WHERE = SimpleNamespace(name="Some chip", frameworks={"keras": "3"})
STDERR = new_output("stream", name="stderr", text="W0000 oneDNN\n")
ERROR = new_output("error", ename="ValueError", evalue="no", traceback=["no"])
FIGURE = displayed({"image/png": PIXEL, "text/plain": "<Figure size 64x48>"})
WIDGET = displayed({repair.WIDGET_VIEW: {"model_id": "1"}})


def whole():
    """Make a lesson with all that the rules look at; its code has changed since it was measured."""
    nb = example()
    nb.cells += [
        code("away", "import keras", tagged=["take-away"]),
        new_markdown_cell(HINTS, id="hints"),
        code("stub", 'lesson.check("one", ...)', printed("Not yet.\n"), tagged=["exercise"]),
        code("solved", 'lesson.check("one", 1)', printed("Right.\n"), tagged=["solution"]),
    ]
    cell(nb, "picture").source = 'lesson.plot("dot")'
    cell(nb, "measure").outputs = [printed("1")]
    measured.sign(nb, measured.line(WHERE, "2027-01-02"), "older")
    return counted(nb)


def test_a_lesson_in_form_passes_and_stays_as_it_is():
    text = dump(whole())
    assert form.check(text, PATH) == []
    assert repair.fix(text, PATH) == (text, [])


MENDED = [
    ("two", {"id": "one"}),
    ("one", {"metadata": {"execution": {"iopub.status.busy": "2026"}}}),
    ("picture", {"outputs": [WIDGET]}),
    ("measure", {"outputs": [printed("1"), STDERR]}),
    ("setup", {"source": setup_source(Stamp("", ""), "07")}),
    ("prose", {"source": badge(Stamp("a/b", "main"), NAME)}),
]
LEFT = [
    ("title", {"source": f"{badge(Stamp('', ''), NAME)}\n# A title, and none of its lines"}),
    ("one", {"metadata": {"tags": ["nbval-ignore-ouptut"]}}),
    ("one", {"outputs": [ERROR]}),
    ("one", {"outputs": [STDERR]}),
    ("two", {"execution_count": 9}),
    ("prose", {"source": "![](a.png)"}),
    ("prose", {"source": '<img src="a.png">'}),
    ("picture", {"outputs": [FIGURE]}),
    ("stub", {"source": "answer = ..."}),
    ("stub", {"source": 'lesson.check("another", ...)'}),
    ("one", {"source": "print(1)\n" * 11}),
    ("one", {"source": f"print({'1' * 80})"}),
]


@pytest.mark.parametrize(("name", "slip"), MENDED + LEFT)
def test_a_slip_is_found_in_its_cell_and_mended_where_that_needs_no_author(name, slip):
    nb = whole()
    wrong = cell(nb, name)
    place = nb.cells.index(wrong) + 1
    wrong.update(slip)
    assert f"cell {place}: " in " ".join(form.check(dump(nb), PATH))
    mended, _ = repair.fix(dump(nb), PATH)
    assert (form.check(mended, PATH) == []) == ((name, slip) in MENDED)


@pytest.mark.parametrize(
    ("name", "slip"),
    [
        ("measure", {"outputs": [printed("2")]}),  # run by hand
        ("measured", {"source": "No line of the machine."}),
        ("hints", {"source": "No hint."}),
        ("prose", {"source": "Too many words. " * 400}),
        ("away", {"metadata": {}}),
        ("away", {"source": "import accel_helpers"}),
    ],
)
def test_what_is_wrong_with_a_lesson_as_a_whole_is_found(name, slip):
    nb = whole()
    cell(nb, name).update(slip)
    assert len(form.check(dump(nb), PATH)) == 1


def test_what_is_no_notebook_is_said_to_be_none():
    for damaged in ("{", "[]", '{"nbformat": 4, "cells": [1]}'):
        assert "cannot be read" in form.check(damaged, PATH)[0]


def test_the_command_writes_only_where_it_is_asked_to(tmp_path):
    squeezed = json.dumps(whole())
    path = tmp_path / NAME
    path.write_text(squeezed, "utf-8")
    assert form.main([str(path)]) == 1
    assert path.read_text("utf-8") == squeezed
    assert form.main(["--fix", str(path)]) == 0
    assert path.read_text("utf-8") == dump(whole())
