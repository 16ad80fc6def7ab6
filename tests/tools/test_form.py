"""Every rule of a lesson's form is seen to fail on a planted defect, and to be repaired or not."""

import json
import os
from pathlib import Path
from types import SimpleNamespace

import form
import lesson
import measured
import pytest
import repair
import rules
from example import NAME, PIXEL, TITLE, cell, code, counted, displayed, example, printed, save
from lesson import Stamp, badge, setup_source
from nbformat.v4 import new_markdown_cell, new_output

STAMPED = Stamp("some-school/course", "v1.0")


def found(nb):
    return {problem.rule for problem in form.check(lesson.dump(nb), Path(NAME))}


def at(name, tags=None, swap=None, **given):
    """Change a cell: its tags, a piece of its source, or anything else that it has."""

    def spoil(nb):
        one = cell(nb, name)
        if tags is not None:
            one.metadata["tags"] = tags.split()
        if swap:
            assert swap[0] in one.source
            one.source = one.source.replace(*swap)
        one.update(given)

    return spoil


def prose(text):
    return at("prose", source=text)


def shows(kind, data, text="A dot, and no more."):
    return [displayed({kind: data, "text/plain": text})]


def notebook(**given):
    return lambda nb: nb.metadata.update(given)


def without(name):
    return lambda nb: nb.cells.remove(cell(nb, name))


def swapped(nb):
    nb.cells[1], nb.cells[2] = nb.cells[2], nb.cells[1]


HINT = "\n\n<details>\n<summary>Hint {}</summary>\n\nCount.\n\n</details>"
HINTS = f"Write `1`.{HINT.format(1)}{HINT.format(2)}"
STUB = 'print(ah.course.check("99/one", ...))'
SOLUTION = 'print(ah.course.check("99/one", 1))'


def exercise(hints=HINTS, stub=STUB, solution=SOLUTION, between=()):
    """Append an exercise: its hints, cells between, its stub and its solution."""

    def spoil(nb):
        nb.cells += [new_markdown_cell(hints, id="hints"), *between]
        nb.cells.append(code("stub", stub, printed("Not yet.\n"), tagged=["exercise"]))
        nb.cells.append(code("solved", solution, printed("Right.\n"), tagged=["solution"]))
        counted(nb)

    return spoil


ERROR = new_output("error", ename="ValueError", evalue="no", traceback=["no"])
WARNING = new_output("stream", name="stderr", text="W0000 oneDNN\n")
BETWEEN = code("between", "print(4)", printed("4\n"))
TWICE = {"metadata": {"tags": ["nbval-skip", "nbval-ignore-output"]}, "execution_count": None}
MENDED = [  # what is planted, and the rules that must see it
    (lambda nb: nb.update(nbformat_minor=4), "format"),
    (lambda nb: [one.pop("id") for one in nb.cells], "ids"),
    (at("two", id="one"), "ids"),
    (at("two", id="a b"), "ids"),
    (at("title", source=TITLE), "badge"),
    (at("title", swap=("Open 00", "Open 01")), "badge"),
    (swapped, "setup"),
    (without("setup"), "setup"),
    (at("setup", swap=("-q ", "--quiet ")), "setup"),
    (at("setup", swap=('this page"', 'this page; rm -rf ~"')), "setup"),
    (notebook(kernelspec={"name": "venv"}), "notebook-metadata"),
    (notebook(colab={"provenance": []}), "notebook-metadata"),
    (at("one", metadata={"execution": {"iopub.status.busy": "2026"}}), "cell-metadata"),
    (at("one", metadata={"jupyter": {"outputs_hidden": True}}), "cell-metadata"),
    (at("picture", tags="nbval-skip"), "unstored"),
    (at("measure", outputs=[WARNING]), "measured stderr"),
    (at("one", outputs=shows(repair.WIDGET_VIEW, {"model_id": "1"}, "True")), "widget-view"),
    (at("one", source="print( 1 )"), "ruff-format"),
    (at("one", source="import os\nprint(1)"), "ruff-check ruff-format"),
]


def signed(nb):
    """Sign what a run showed; the code has changed since, which is no defect."""
    at("measure", outputs=[printed("1")])(nb)
    where = SimpleNamespace(name="Some chip", frameworks={"keras": "3"})
    measured.sign(nb, measured.line(where, "2027-01-02"), "older")


def run_by_hand(nb):
    signed(nb)
    at("measure", outputs=[printed("2")])(nb)


AWAY = code("away", "import keras", tagged=["take-away"])


def talking(source="lesson.quiz()", *others, tagged=()):
    """Append cells that talk to the lesson object, as the core of a converted page does."""

    def spoil(nb):
        nb.cells += [code("talk", source, printed("1\n"), tagged=tagged), *others]
        counted(nb)

    return spoil


NOT_PLAIN = [
    talking(),
    talking("lesson.quiz()", AWAY, code("more", "import jax", tagged=["take-away"])),
    talking("lesson.quiz()", code("away", "ah.time_fit", tagged=["take-away"])),
    talking("lesson.quiz()\n" + "print(1)\n" * 10, AWAY),
    talking(f"lesson.quiz()  # {'wide ' * 13}", AWAY),
    talking("lesson.quiz(keep=1)", AWAY),
]
FOR_AUTHORS = [
    (at("title", swap=("# An example", "An example")), "title headings"),
    (at("title", swap=("**You need:** nothing", "**You need:**")), "title"),
    (without("title"), "title setup headings"),
    (at("one", tags="setup"), "setup compared"),
    (at("one", tags="nbval-ignore-ouptut"), "tags"),
    (at("one", tags="exercise exercise"), "valid"),
    (at("one", swap=("print", "# NBVAL_IGNORE_OUTPUT\nprint")), "tags"),
    (at("picture", outputs=[], **TWICE), "tags"),
    (at("measure", outputs=[printed("1")]), "measured"),
    (run_by_hand, "measured"),
    (prose("Much. " * 90_000), "size"),
    (notebook(accelerator="T4"), "stored"),
    (at("prose", attachments={"a.png": {"image/png": PIXEL}}), "stored"),
    (at("two", execution_count=None), "counts compared"),
    (at("picture", outputs=[WARNING]), "stderr"),
    (at("picture", outputs=[ERROR]), "error"),
    (at("one", tags="raises-exception"), "error"),
    (at("picture", outputs=[printed("x" * 200_001)]), "output-size"),
    (at("two", outputs=[]), "compared"),
    (at("two", outputs=shows("image/png", PIXEL)), "compared"),
    (prose("![](a.png)"), "alt-text"),
    (at("picture", outputs=shows("text/html", "<img src=''>")), "alt-text"),
    (at("picture", outputs=shows("image/png", PIXEL, "<Figure size 64x48>")), "alt-text"),
    (at("picture", outputs=shows("image/jpeg", PIXEL, "Loss")), "alt-text"),
    (prose("# Another"), "headings"),
    (exercise(HINTS.rpartition("\n\n<details>")[0]), "exercise"),
    (exercise(HINTS.replace("2</summary>\n", "2</summary>")), "exercise"),
    (exercise(f"```\n{HINTS}\n```"), "exercise"),
    (exercise(between=[BETWEEN]), "exercise"),
    (exercise(stub="print(1)"), "exercise"),
    (exercise(solution=SOLUTION.replace("99/one", "99/two")), "exercise"),
    (at("one", source="print(unknown)"), "ruff-check"),
    (prose("A GPU is **12x** faster."), "speed-up"),
    (prose("A speedup of about 4.5 is usual."), "speed-up"),
    (prose("Expect 2x, or more."), "speed-up"),
]
IN_FORM = [
    signed,
    exercise(HINTS.replace("\n\nCount.", "\n\n```\n1 + 0\n```\n\nCount.")),
    exercise(between=[new_markdown_cell("One more thing.", id="more")]),
    exercise(stub='print(\n    ah.course.check(\n        "99/one",\n        ...,\n    )\n)'),
    lambda nb: nb.cells.append(code("empty", "")),
    prose("The [study](https://example.org) reports 12x faster training."),
    prose("The exam's material answers 12 times faster."),
    prose("Call `f(2x)` and the 0x10 of the register."),
    prose("```html\n<img>\n# no title\n```"),
]


@pytest.mark.parametrize("change", IN_FORM)
def test_what_is_no_defect_is_let_pass(change):
    nb = example()
    change(nb)
    assert found(nb) == set()


@pytest.mark.parametrize("spoil, expected", MENDED)
def test_a_defect_is_seen_and_repaired(spoil, expected):
    nb = example()
    spoil(nb)
    assert found(nb) >= set(expected.split())
    text, done = repair.fix(lesson.dump(nb), Path(NAME))
    assert done
    assert repair.fix(lesson.dump(nb), Path(NAME)) == (text, done)
    left = {problem.rule for problem in form.check(text, Path(NAME))}
    assert left <= {"counts"}, "a count can come from a run only"
    assert repair.fix(text, Path(NAME)) == (text, [])


@pytest.mark.parametrize("spoil, expected", FOR_AUTHORS)
def test_a_defect_is_seen_and_left_to_the_author(spoil, expected):
    nb, expected = example(), set(expected.split())
    spoil(nb)
    assert found(nb) == expected
    text, _ = repair.fix(lesson.dump(nb), Path(NAME))
    assert {problem.rule for problem in form.check(text, Path(NAME))} >= expected - {"compared"}


def test_every_rule_has_been_seen_to_fail():
    seen = {name for _, expected in MENDED + FOR_AUTHORS for name in expected.split()}
    apart = {"canonical", "plain"}
    assert set(rules.RULES) - seen == apart, "these have tests of their own"


@pytest.mark.parametrize("spoil", NOT_PLAIN)
def test_a_core_that_teaches_our_library_is_not_plain(spoil):
    nb = example()
    spoil(nb)
    assert "plain" in found(nb)


def test_a_core_in_the_frameworks_words_is_plain():
    nb = example()
    without("picture")(nb)  # its line is wide
    talking("print(lesson.quiz())\n" + "print(1)\n" * 8 + "print(2)", AWAY)(nb)
    assert "plain" not in found(nb)


def test_the_layout_is_the_one_that_nbformat_writes():
    text = lesson.dump(example())
    for other in (json.dumps(json.loads(text)), text + "\n", text.replace("\n", "\r\n")):
        assert [problem.rule for problem in form.check(other, Path(NAME))] == ["canonical"]
        assert repair.fix(other, Path(NAME)) == (text, ["the file's layout"])


@pytest.mark.parametrize("text", ["{", "[]", '{"nbformat": 3}', '{"nbformat": 4, "cells": [1]}'])
def test_what_is_no_notebook_is_said_to_be_none(text):
    assert [problem.rule for problem in form.check(text, Path(NAME))] == ["valid"]
    assert repair.fix(text, Path(NAME)) == (text, [])


def test_a_repair_keeps_the_stamp_wherever_it_stands():
    nb = example(STAMPED)
    without("setup")(nb)
    mended = lesson.parse(repair.fix(lesson.dump(nb), Path(NAME))[0])
    assert mended.cells[1].source == setup_source(STAMPED, "00")
    assert mended.cells[0].source.startswith(badge(STAMPED, NAME))


def test_the_command_says_file_cell_rule_and_what_to_do(tmp_path, capsys):
    nb = example()
    at("picture", tags="nbval-skip")(nb)
    path = save(tmp_path, nb)
    assert form.main([str(path)]) == 1
    said = capsys.readouterr().out
    assert f"{path}, cell 8: unstored: " in said
    assert "--fix" in said
    assert path.read_text(encoding="utf-8") == lesson.dump(nb), "checking writes nothing"
    assert form.main(["--fix", str(path)]) == form.main([str(path)]) == 0
    assert os.listdir(tmp_path) == [NAME], "nothing is left beside the lesson"


def test_lessons_with_different_stamps_are_seen(tmp_path, capsys):
    paths = [save(tmp_path, example()), save(tmp_path, example(STAMPED, "98.ipynb"), "98.ipynb")]
    assert form.main(list(map(str, paths))) == 1
    assert "stamps: " in capsys.readouterr().out
