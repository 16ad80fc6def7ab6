"""Every rule of a lesson's form is seen to fail on a planted defect, and to be repaired or not."""

import json
import os
import subprocess
import sys
from pathlib import Path

import form
import lesson
import pytest
import repair
import rules
from example import NAME, PIXEL, TITLE, code, example, printed, save
from lesson import Stamp, badge, setup_source
from nbformat.v4 import new_markdown_cell, new_output

HERE = Path(__file__).resolve().parents[2] / "tools"
STAMPED = Stamp("some-school/course", "v1.0")


def found(nb, folder=Path(".")):
    """Give the names of the rules that a notebook breaks."""
    return {problem.rule for problem in form.check(lesson.dump(nb), folder / NAME)}


def cell(nb, name):
    return next(cell for cell in nb.cells if cell.id == name)


def prose(text):
    def spoil(nb):
        cell(nb, "prose").source = text

    return spoil


def output(name, *outputs):
    def spoil(nb):
        cell(nb, name).outputs = list(outputs)

    return spoil


def tagged(name, *names):
    def spoil(nb):
        cell(nb, name).metadata["tags"] = list(names)

    return spoil


def source(name, text):
    def spoil(nb):
        cell(nb, name).source = text

    return spoil


def replaced(name, old, new):
    def spoil(nb):
        assert old in cell(nb, name).source
        cell(nb, name).source = cell(nb, name).source.replace(old, new)

    return spoil


def metadata(**given):
    def spoil(nb):
        nb.metadata.update(given)

    return spoil


def setting(name, **given):
    def spoil(nb):
        cell(nb, name).update(given)

    return spoil


def without(*names):
    def spoil(nb):
        nb.cells = [cell for cell in nb.cells if cell.id not in names]

    return spoil


def swapped(nb):
    nb.cells[1], nb.cells[2] = nb.cells[2], nb.cells[1]


def old_format(nb):
    nb.nbformat_minor = 4


def html(text):
    return new_output("display_data", data={"text/html": text, "text/plain": "words"})


def image(text, kind="image/png"):
    return new_output("display_data", data={kind: PIXEL, "text/plain": text})


def failure():
    return new_output("error", ename="ValueError", evalue="no", traceback=["no"])


HINTS = """Write `1`.

<details>
<summary>Hint 1</summary>

Count.

</details>

<details>
<summary>Hint 2</summary>

`0` comes first.

</details>"""
STUB = 'print(ah.checks.check("99/one", ...))'
SOLUTION = 'print(ah.checks.check("99/one", 1))'


def exercise(hints=HINTS, stub=STUB, solution=SOLUTION, between=()):
    """Append an exercise: its hints, cells between, its stub and its solution."""

    def spoil(nb):
        cells = [new_markdown_cell(hints, id="hints"), *between]
        cells.append(code("stub", stub, printed("Not yet.\n"), tagged=["exercise"]))
        if solution:
            cells.append(code("solved", solution, printed("Right.\n"), tagged=["solution"]))
        nb.cells += cells
        for count, one in enumerate((c for c in nb.cells if c.cell_type == "code"), 1):
            one.execution_count = count

    return spoil


# what is planted, the rules that must see it
MENDED = {
    "format 4.4": (old_format, {"format"}),
    "the same id twice": (setting("two", id="one"), {"ids"}),
    "an id with a blank": (setting("two", id="a b"), {"ids"}),
    "no badge": (source("title", TITLE), {"badge"}),
    "another lesson's badge": (replaced("title", NAME, "98_other.ipynb"), {"badge"}),
    "badge of another copy": (replaced("title", "/main/", "/v1.0/"), {"badge"}),
    "setup cell not second": (swapped, {"setup"}),
    "no setup cell": (without("setup"), {"setup"}),
    "setup cell without its tag": (tagged("setup"), {"setup"}),
    "setup cell with one blank more": (replaced("setup", "import os\n", "import os \n"), {"setup"}),
    "kernel of somebody's machine": (metadata(kernelspec={"name": "venv"}), {"notebook-metadata"}),
    "language_info": (metadata(language_info={"name": "python"}), {"notebook-metadata"}),
    "widget state": (metadata(widgets={"a": 1}), {"notebook-metadata"}),
    "colab provenance": (metadata(colab={"provenance": []}), {"notebook-metadata"}),
    "timings of cells": (
        setting("one", metadata={"execution": {"iopub.status.busy": "2026"}}),
        {"cell-metadata"},
    ),
    "an output folded away": (
        setting("one", metadata={"jupyter": {"outputs_hidden": True}}),
        {"cell-metadata"},
    ),
    "output of a measuring cell": (output("measure", printed("1.2\n")), {"ignored-output"}),
    "output of a skipped cell": (tagged("picture", "nbval-skip"), {"ignored-output"}),
    "a widget's view": (
        output(
            "one",
            new_output(
                "display_data",
                data={repair.WIDGET_VIEW: {"model_id": "1"}, "text/plain": "True"},
            ),
        ),
        {"widget-view"},
    ),
    "code that ruff formats": (source("one", "print( 1 )"), {"ruff-format"}),
    "code that ruff repairs": (source("one", "import os\nprint(1)"), {"ruff-check", "ruff-format"}),
}
FOR_AUTHORS = {
    "no title": (replaced("title", "# An example", "An example"), {"title", "headings"}),
    "no minutes": (replaced("title", "**Minutes:** 5", ""), {"title"}),
    "need without words": (replaced("title", "**You need:** nothing", "**You need:**"), {"title"}),
    "no aims": (replaced("title", "**You will be able to:**", "Learn to"), {"title"}),
    "nothing measured": (replaced("title", "**You will have measured:**", ""), {"title"}),
    "code first": (without("title"), {"title", "setup", "headings"}),
    "two setup cells": (tagged("one", "setup"), {"setup", "compared"}),
    "an unknown tag": (tagged("one", "nbval-ignore-ouptut"), {"tags"}),
    "a tag twice": (tagged("one", "exercise", "exercise"), {"valid"}),
    "a comment for a tag": (replaced("one", "print", "# NBVAL_IGNORE_OUTPUT\nprint"), {"tags"}),
    "skipped and ignored": (
        lambda nb: cell(nb, "picture").update(
            outputs=[],
            execution_count=None,
            metadata={"tags": ["nbval-skip", "nbval-ignore-output"]},
        ),
        {"tags"},
    ),
    "an accelerator of another name": (metadata(accelerator="T4"), {"accelerator"}),
    "an attachment": (
        setting("prose", attachments={"a.png": {"image/png": PIXEL}}),
        {"attachments"},
    ),
    "a cell that was not run": (setting("two", execution_count=None), {"counts", "compared"}),
    "cells run out of order": (setting("two", execution_count=9), {"counts"}),
    "stored stderr": (
        output("picture", new_output("stream", name="stderr", text="W0000 oneDNN\n")),
        {"stderr"},
    ),
    "a stored error": (output("picture", failure()), {"error"}),
    "an error that does not come": (tagged("one", "raises-exception"), {"error"}),
    "a large output": (output("picture", printed("x" * 200_001)), {"output-size"}),
    "two compared cells": (output("two"), {"compared"}),
    "compared only as a picture": (output("two", image("A dot, and no more.")), {"compared"}),
    "compared, but blank": (output("two", printed(" \n")), {"compared"}),
    "Markdown picture without words": (prose("![](a.png)"), {"alt-text"}),
    "HTML picture without words": (prose('<img src="a.png">'), {"alt-text"}),
    "HTML picture with blank words": (prose('<img src="a.png" alt=" ">'), {"alt-text"}),
    "stored HTML picture without words": (output("picture", html("<img src=''>")), {"alt-text"}),
    "a figure's repr": (
        output("picture", image("<Figure size 640x480 with 1 Axes>")),
        {"alt-text"},
    ),
    "a picture's title only": (output("picture", image("Loss")), {"alt-text"}),
    "a JPEG without a sentence": (output("picture", image("", "image/jpeg")), {"alt-text"}),
    "two titles": (prose("# Another"), {"headings"}),
    "a skipped level": (prose("### Deep"), {"headings"}),
    "a skipped level in HTML": (prose("<h4>Deep</h4>"), {"headings"}),
    "an exercise without hints": (exercise("Write `1`."), {"exercise"}),
    "an exercise with one hint": (exercise(HINTS.rpartition("\n\n<details>")[0]), {"exercise"}),
    "a hint that shows its Markdown": (
        exercise(HINTS.replace("2</summary>\n", "2</summary>")),
        {"exercise"},
    ),
    "a hint without words": (exercise(HINTS.replace("Count.\n\n", "")), {"exercise"}),
    "folds that are no hints": (exercise(HINTS.replace("Hint", "Answer")), {"exercise"}),
    "hints that are only quoted": (exercise(f"```\n{HINTS}\n```"), {"exercise"}),
    "code between hints and exercise": (
        exercise(between=[code("between", "print(4)", printed("4\n"))]),
        {"exercise"},
    ),
    "an exercise that nobody checks": (exercise(stub="print(1)"), {"exercise"}),
    "a check in a comment": (exercise(stub=f"# {STUB}\nprint(1)"), {"exercise"}),
    "an exercise without a solution": (exercise(solution=""), {"exercise"}),
    "another exercise's solution": (
        exercise(solution=SOLUTION.replace("99/one", "99/two")),
        {"exercise"},
    ),
    "a cell that cannot be parsed": (source("one", "print("), {"ruff-check"}),
    "an unknown name": (source("one", "print(unknown)"), {"ruff-check"}),
}
SPEED_UPS = [
    "A GPU is 12x faster.",
    "A GPU is **12x** faster.",
    "It is 12× faster.",
    "We saw 12×.",
    "We saw 3.5 ×.",
    "It runs 12 times faster.",
    "It runs 12 times as fast as before.",
    "A 10-fold speed-up follows.",
    "A speedup of about 4.5 is usual.",
    "Expect 2x, or more.",
]
NO_SPEED_UPS = [
    "The pictures have 28×28 points, 28 × 28 in all.",
    "A batch of 32 × 8 replicas.",
    "The [study](https://example.org) reports 12x faster training.",
    "The exam's material answers 12 times faster.",
    "In the reference run it was 12x faster.",
    "Run it 3 times, then take the median.",
    "Call `f(2x)` and the 0x10 of the register.",
    "It takes 4 times the memory.",
    "```\n12x faster\n```",
]


def test_a_good_lesson_is_in_form():
    assert form.check(lesson.dump(example()), Path(NAME)) == []


@pytest.mark.parametrize(
    "given",
    [
        {},
        {"hints": HINTS.replace("\n\nCount.", "\n\n```\n1 + 0\n```\n\nCount.")},
        {"hints": HINTS.replace("\n\n</details>", "\n</details>")},
        {"between": [new_markdown_cell("One more thing.", id="more")]},
        {"stub": STUB.replace('"99/one", ', '\n    "99/one",\n    ').replace("...)", "...,\n)")},
        {"solution": f"one = 1\n{SOLUTION}"},
    ],
)
def test_an_exercise_with_hints_and_a_solution_is_in_form(given):
    nb = example()
    exercise(**given)(nb)
    assert found(nb) - {"ruff-format"} == set()


def test_a_stamped_lesson_is_in_form():
    assert found(example(STAMPED)) == set()


def test_repairing_a_good_lesson_changes_nothing():
    text = lesson.dump(example())
    assert repair.fix(text, Path(NAME)) == (text, [])


@pytest.mark.parametrize("name", MENDED)
def test_a_defect_is_seen_and_repaired(name):
    spoil, expected = MENDED[name]
    nb = example()
    spoil(nb)
    assert found(nb) >= expected
    text, done = repair.fix(lesson.dump(nb), Path(NAME))
    assert done
    left = {problem.rule for problem in form.check(text, Path(NAME))}
    assert left <= {"counts"}, "a count can come from a run only"
    assert repair.fix(text, Path(NAME)) == (text, [])


@pytest.mark.parametrize("name", FOR_AUTHORS)
def test_a_defect_is_seen_and_left_to_the_author(name):
    spoil, expected = FOR_AUTHORS[name]
    nb = example()
    spoil(nb)
    assert found(nb) == expected
    text, _ = repair.fix(lesson.dump(nb), Path(NAME))
    assert {problem.rule for problem in form.check(text, Path(NAME))} >= expected - {"compared"}


@pytest.mark.parametrize("text", SPEED_UPS)
def test_a_bare_speed_up_is_seen(text):
    nb = example()
    prose(text)(nb)
    assert found(nb) == {"speed-up"}


@pytest.mark.parametrize("text", NO_SPEED_UPS)
def test_other_numbers_are_no_speed_up(text):
    nb = example()
    prose(text)(nb)
    assert found(nb) == set()


@pytest.mark.parametrize("text", ["`![](a.png)`", "```html\n<img>\n# no title\n```", "![a](b.png)"])
def test_code_and_described_pictures_are_no_defect(text):
    nb = example()
    prose(text)(nb)
    assert found(nb) == set()


def test_a_repair_keeps_the_setup_cell_of_a_lesson_that_does_not_use_it():
    nb = example()
    source("one", "print(True)")(nb)
    cell(nb, "two").source = "print( 2 )"
    text, done = repair.fix(lesson.dump(nb), Path(NAME))
    assert done == ["code, by ruff"]
    assert cell(lesson.parse(text), "setup").source == setup_source(lesson.UNSTAMPED)
    assert form.check(text, Path(NAME)) == []


def test_every_rule_has_been_seen_to_fail():
    planted = [*MENDED.values(), *FOR_AUTHORS.values()]
    seen = set().union(*(expected for _, expected in planted))
    assert set(rules.RULES) - seen == {"canonical", "speed-up"}, "those have tests of their own"


def test_the_layout_is_the_one_that_nbformat_writes():
    text = lesson.dump(example())
    for other in (json.dumps(json.loads(text), indent=2), text + "\n", text.replace("\n", "\r\n")):
        assert [problem.rule for problem in form.check(other, Path(NAME))] == ["canonical"]
        assert repair.fix(other, Path(NAME)) == (text, ["the file's layout"])


def test_an_escaped_letter_is_another_layout():
    nb = example()
    prose("Größe")(nb)
    text = json.dumps(json.loads(lesson.dump(nb)), indent=1, sort_keys=True) + "\n"
    assert "\\u00f6" in text
    assert [problem.rule for problem in form.check(text, Path(NAME))] == ["canonical"]


@pytest.mark.parametrize(
    "text",
    ["", "{", "[]", '{"nbformat": 3}', '{"nbformat": 4, "cells": [1]}', '{"nbformat":4,"cells":7}'],
)
def test_what_is_no_notebook_is_said_to_be_none(text):
    assert [problem.rule for problem in form.check(text, Path(NAME))] == ["valid"]
    assert repair.fix(text, Path(NAME)) == (text, [])


def test_a_cell_that_the_format_forbids_is_seen():
    raw = json.loads(lesson.dump(example()))
    raw["cells"][3]["outputs"] = "none"
    assert [problem.rule for problem in form.check(json.dumps(raw), Path(NAME))] == ["valid"]


def test_a_cell_may_hide_its_code():
    nb = example()
    hidden = {"cellView": "form", "jupyter": {"source_hidden": True}, "slideshow": {}}
    cell(nb, "one").metadata.update(hidden)
    assert found(nb) == set()


def test_cells_without_ids_get_stable_ones():
    raw = json.loads(lesson.dump(example()))
    for one in raw["cells"]:
        del one["id"]
    text = json.dumps(raw)
    assert {p.rule for p in form.check(text, Path(NAME))} == {"ids", "canonical"}
    mended, _ = repair.fix(text, Path(NAME))
    assert form.check(mended, Path(NAME)) == []
    assert repair.fix(text, Path(NAME))[0] == mended


def test_a_stamp_that_cannot_be_is_seen():
    nb = example()
    replaced("setup", '"main"', '"main; rm -rf ~"')(nb)
    assert found(nb) == {"setup"}


def test_a_repair_keeps_the_stamp():
    nb = example(STAMPED)
    cell(nb, "setup").source += "\nprint(1)"
    source("title", TITLE)(nb)
    mended = lesson.parse(repair.fix(lesson.dump(nb), Path(NAME))[0])
    assert cell(mended, "setup").source == setup_source(STAMPED)
    assert mended.cells[0].source.startswith(badge(STAMPED, NAME))


def test_the_badge_gives_the_stamp_where_the_setup_cell_is_lost():
    nb = example(STAMPED)
    without("setup")(nb)
    mended = lesson.parse(repair.fix(lesson.dump(nb), Path(NAME))[0])
    assert mended.cells[1].source == setup_source(STAMPED)


def test_a_link_to_another_lesson_follows_the_stamp(tmp_path):
    nb = example(STAMPED)
    foreign = "https://colab.research.google.com/github/a/b/blob/main/notebooks/theirs.ipynb"
    prose(f"[next]({lesson.link(lesson.UNSTAMPED, '98_next.ipynb')}), [theirs]({foreign})")(nb)
    path, names = tmp_path / NAME, frozenset({NAME, "98_next.ipynb"})
    assert [p.rule for p in form.check(lesson.dump(nb), path, names)] == ["badge"]
    text, _ = repair.fix(lesson.dump(nb), path, names)
    assert form.check(text, path, names) == []
    assert foreign in text and lesson.link(STAMPED, "98_next.ipynb") in text


def test_repairs_never_touch_prose_or_results():
    nb = example()
    before = [(c.source, c.get("outputs")) for c in nb.cells if c.id not in ("title", "setup")]
    for spoil, _ in (MENDED["language_info"], MENDED["timings of cells"], MENDED["no badge"]):
        spoil(nb)
    nb = lesson.parse(repair.fix(lesson.dump(nb), Path(NAME))[0])
    after = [(c.source, c.get("outputs")) for c in nb.cells if c.id not in ("title", "setup")]
    assert after == before
    assert nb.cells[0].source.endswith(TITLE)


def test_a_lost_widget_leaves_its_words():
    nb = example()
    MENDED["a widget's view"][0](nb)
    nb = lesson.parse(repair.fix(lesson.dump(nb), Path(NAME))[0])
    assert dict(cell(nb, "one").outputs[0].data) == {"text/plain": "True"}


def run(*arguments, cwd=None):
    command = [sys.executable, str(HERE / "form.py"), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, cwd=cwd)


def test_the_command_says_file_cell_rule_and_what_to_do(tmp_path):
    nb = example()
    MENDED["output of a measuring cell"][0](nb)
    path = save(tmp_path, nb)
    done = run(path)
    assert done.returncode == 1
    assert f"{path}, cell 7: ignored-output: a cell tagged nbval-ignore-output" in done.stdout
    assert "--fix repairs it" in done.stdout
    assert path.read_text(encoding="utf-8") == lesson.dump(nb), "checking writes nothing"
    done = run("--fix", path)
    assert (done.returncode, done.stderr) == (0, "")
    assert "outputs that may not be stored" in done.stdout
    assert run(path).returncode == 0
    assert os.listdir(tmp_path) == [NAME], "nothing is left beside the lesson"


def test_lessons_with_different_stamps_are_seen(tmp_path):
    save(tmp_path, example())
    save(tmp_path, example(STAMPED, "98_other.ipynb"), "98_other.ipynb")
    done = run(*sorted(tmp_path.glob("*.ipynb")))
    assert done.returncode == 1
    assert "stamps: lessons carry different stamps" in done.stdout


@pytest.mark.parametrize("name", ["missing.ipynb", "page.md", "."])
def test_what_is_no_notebook_file_is_refused(tmp_path, name):
    (tmp_path / "page.md").write_text("words")
    done = run(tmp_path / name)
    assert (done.returncode, done.stdout) == (2, "")
    assert "is not a notebook" in done.stderr


def test_a_write_that_fails_leaves_the_old_file(tmp_path):
    path = save(tmp_path, example())
    with pytest.raises(UnicodeEncodeError):
        lesson.write(path, "\ud800")
    assert path.read_text(encoding="utf-8") == lesson.dump(example())
    assert os.listdir(tmp_path) == [NAME]


def test_a_lesson_of_another_kind_of_cell_is_left_alone():
    nb = example()
    nb.cells.append(new_markdown_cell("The end.", id="end"))
    nb.cells.append(code("empty", ""))
    assert found(nb) == set()
