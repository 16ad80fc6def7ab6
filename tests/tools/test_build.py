"""`make notebooks` stores what nbval will see, and nothing that changes from run to run.

That nbval accepts it is seen in `make test`, on the lessons. What a kernel does that hangs, dies or
is stopped is tested in `test_run_lessons.py`.
"""

import copy
import json
import os
import re
import signal
import subprocess
import sys
import time
from types import SimpleNamespace

import build
import form
import lesson
import pytest
import repair
from example import NAME, PIXEL, cell, code, example, printed, save
from nbformat.v4 import new_output
from nbval.plugin import IPyNbCell, coalesce_streams, get_sanitize_patterns

REPLACED = build.patterns(lesson.SANITIZE.read_text(encoding="utf-8"))


def unrun(*more):
    """Give the example as an author leaves it: not executed, with other cells at its end."""
    nb = example()
    nb.cells += more
    for one in nb.cells:
        if one.cell_type == "code":
            one.outputs, one.execution_count = [], None
    return nb


ASKED = """import json
import os
import sys

names = ["PYTEST_CURRENT_TEST", "ACCEL_FAST", "ACCEL_DATA", "PYTHONHASHSEED"]
print(json.dumps([os.environ[name] for name in names]))
with open(os.environ["ACCEL_RESULT_CARD"], "w") as card:
    card.write("{}")
os.system("echo to the terminal")
print(os.path.basename(os.getcwd()), sys.executable)"""
WIDGET = f"""display(
    {{"{repair.WIDGET_VIEW}": {{"model_id": "0"}}, "text/plain": repr(object())}}, raw=True
)"""
MORE = [
    code("asked", ASKED),
    code("address", "object()"),
    code("widget", WIDGET),
    code("skipped", "raise SystemExit", tagged=["nbval-skip"]),
    code("raising", 'raise ValueError("expected")', tagged=["raises-exception"]),
]


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """Execute a lesson twice, and then with --fresh."""
    folder = tmp_path_factory.mktemp("built") / "lessons"
    folder.mkdir()
    nb = unrun(*copy.deepcopy(MORE))
    nb.metadata["language_info"] = {"name": "python"}
    path = save(folder, nb)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", str(lesson.ROOT))
        assert build.main([str(path)]) == 0
        text = path.read_text(encoding="utf-8")
        assert build.main([str(path)]) == 0
        again = path.read_text(encoding="utf-8")
        old = lesson.parse(text)
        cell(old, "picture").outputs[0].data["image/png"] = "b2xk"
        save(folder, old)
        assert build.main(["--fresh", str(path)]) == 0
    fresh = path.read_text(encoding="utf-8")
    nb = lesson.parse(text)
    return SimpleNamespace(path=path, text=text, again=again, fresh=fresh, nb=nb)


def test_it_stores_a_lesson_in_form_and_a_second_run_changes_nothing(built):
    assert form.check(built.text, built.path) == []
    assert built.again == built.text
    assert os.listdir(built.path.parent) == [NAME], "nothing is left beside the lesson"
    fresh = cell(lesson.parse(built.fresh), "picture").outputs[0].data["image/png"]
    assert fresh.strip() == PIXEL


def test_the_outputs_are_those_of_a_run_as_nbval_makes_it(built):
    assert cell(built.nb, "setup").outputs == [printed("accel_helpers is ready.\n")]
    assert cell(built.nb, "two").outputs == [printed("2\n")]
    assert cell(built.nb, "measure").outputs == []
    assert cell(built.nb, "picture").outputs[0].data["image/png"].strip() == PIXEL
    assert cell(built.nb, "raising").outputs[0].evalue == "expected"
    skipped = cell(built.nb, "skipped")
    assert (skipped.execution_count, skipped.outputs) == (None, [])
    (output,) = cell(built.nb, "widget").outputs
    assert list(output.data) == ["text/plain"], "a widget's view is dropped and its words stay"
    (output,) = cell(built.nb, "asked").outputs
    environment, *rest = output.text.splitlines()
    assert json.loads(environment) == ["build", "1", "bundled", "0"]
    assert rest == [f"lessons {sys.executable}"], "without what was written past Python"


def test_a_failing_cell_leaves_the_file_and_is_named(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("PYTHONPATH", str(lesson.ROOT))
    nb = unrun(code("bad", 'raise KeyError("lost")'))
    cell(nb, "one").source = "print( 1 )"
    path = save(tmp_path, nb)
    before = path.read_bytes()
    assert build.main([str(path)]) == 1
    assert f"{path}: code cell 7: KeyError: 'lost'." in capsys.readouterr().err
    assert path.read_bytes() == before, "not even formatted"
    (tmp_path / NAME).write_text("{")
    assert build.main([str(path)]) == 1 and build.main([str(tmp_path / "missing.ipynb")]) == 2


def test_an_edit_made_while_a_lesson_runs_is_not_lost(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("PYTHONPATH", str(lesson.ROOT))
    nb = example()
    nb.cells = [nb.cells[0], code("bad", f"open({NAME!r}, 'a').write(' ')")]
    path = save(tmp_path, nb)
    assert build.main([str(path)]) == 1
    assert "changed meanwhile" in capsys.readouterr().err
    assert path.read_text() == lesson.dump(nb) + " "


def test_an_interruption_stops_it_and_leaves_every_file(tmp_path):
    started = tmp_path / "started"
    nb = example()
    slow = f"import time\n\nopen({str(started)!r}, 'w').close()\ntime.sleep(600)"
    nb.cells = [nb.cells[0], code("slow", slow)]
    lessons = [save(tmp_path, nb, name) for name in ("97_one.ipynb", "98_two.ipynb")]
    before = [path.read_bytes() for path in lessons]
    command = [sys.executable, build.__file__, *map(str, lessons)]
    with subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        while not started.exists() and process.poll() is None:
            time.sleep(0.1)
        process.send_signal(signal.SIGINT)
        _, said = process.communicate()
    assert process.returncode == 130
    assert str(lessons[0]) in said.decode()
    assert [path.read_bytes() for path in lessons] == before
    assert sorted(os.listdir(tmp_path)) == ["97_one.ipynb", "98_two.ipynb", "started"]


def picture(png, text="A dot on a line."):
    return new_output("display_data", data={"image/png": png, "text/plain": text})


def result(text, count=3):
    return new_output("execute_result", data={"text/plain": text}, execution_count=count)


def error(trace):
    return new_output("error", ename="E", evalue="no", traceback=[trace])


def stored(new, old, source="print(1 + 1)"):
    """Give what is stored for a cell that said `old` and says `new` now."""
    before, after = example(), example()
    cell(before, "two").outputs, cell(after, "two").outputs = [old], [new]
    cell(after, "two").update(source=source, execution_count=9)
    build.keep_old(after, before, REPLACED)
    return cell(after, "two").outputs[0]


SAME = [
    (picture("b2xk"), picture("bmV3")),
    (result("<object object at 0x7f53ad7f0a10>"), result("<object object at 0x7f53ad7f0a20>")),
    (printed("a \n"), printed("a\n")),
    (printed("\x1b[31ma\x1b[0m\n"), printed("a\n")),
    (printed("at /tmp/ipykernel_1/22.py:1\n"), printed("at /tmp/ipykernel_9/33.py:1\n")),
    (error("line 1"), error("line 2")),
]
DIFFERENT = [
    (picture("b2xk"), picture("bmV3", "A dot below a line.")),
    (printed("2\n"), printed("3\n")),
    (printed("took 12 ms\n"), printed("took 13 ms\n")),
    (printed("32/32 - 1s 9ms/step\n"), printed("32/32 - 2s 8ms/step\n")),
    (result("2"), printed("2")),
    (printed("2\n"), new_output("stream", name="stderr", text="2\n")),
    (printed("0x10\n"), printed("0x20\n")),
]


@pytest.mark.parametrize("old, new", SAME + DIFFERENT)
def test_an_output_that_says_the_same_stays_and_any_other_is_stored(old, new):
    """What build.py takes for equal must be what nbval takes for equal."""
    same = (old, new) in SAME
    kept, expected = stored(new, old), copy.deepcopy(old if same else new)
    if same and "execution_count" in expected:
        expected.execution_count = 9
    assert kept == expected

    skipped = ("metadata", "traceback", "prompt_number", "output_type", "name", "execution_count")
    fields = (*skipped, repair.WIDGET_VIEW, "image/png", "image/jpeg")
    parent = SimpleNamespace(skip_compare=fields, sanitize_patterns=dict(REPLACED))
    colours = SimpleNamespace(FAIL="", ENDC="", OKBLUE="")
    item = SimpleNamespace(parent=parent, colors=colours, format_output_compare=lambda *_: None)
    item.sanitize = lambda text: IPyNbCell.sanitize(item, text)
    both = ([copy.deepcopy(one)] for one in (new, old))
    assert IPyNbCell.compare_outputs(item, *map(coalesce_streams, both)) == same


def test_a_picture_that_appears_or_whose_code_was_edited_is_stored():
    old = new_output("display_data", data={"text/plain": "A dot on a line."})
    assert stored(picture("bmV3"), old) == picture("bmV3")
    assert stored(picture("bmV3"), picture("b2xk"), source="print(2)") == picture("bmV3")


def test_nbval_reads_every_replacement():
    text = lesson.SANITIZE.read_text(encoding="utf-8")
    assert REPLACED == get_sanitize_patterns(text)
    assert len(REPLACED) == len(re.findall("^regex:", text, re.MULTILINE)) == 4
    for line in text.splitlines():
        assert line == line.rstrip(), "an editor would strip the blank, and switch the pattern off"
    assert all(new for _, new in REPLACED)
