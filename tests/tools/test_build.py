"""`make notebooks` stores what nbval will see, and what one quiet run measured."""

import copy
import os
import signal
import subprocess
import sys
import time
from datetime import date
from functools import partial

import build
import form
import lesson
import measured
import pytest
import repair
from example import NAME, PIXEL, cell, code, example, printed, save
from nbformat.v4 import new_notebook, new_output
from nbval.plugin import get_sanitize_patterns
from test_quiet_machine import Machine

BUSY = Machine(others=iter(lambda: 1, None))
WIDGET = f"""display(
    {{"{repair.WIDGET_VIEW}": {{"model_id": "0"}}, "text/plain": repr(object())}}, raw=True
)"""
DATA = {
    "image/png": PIXEL,
    "text/html": "<script>play()</script>",
    "text/plain": "One dot of many that move.",
}
MEASURES = f"""import os
import sys
import time

data = {DATA}
print(time.time(), os.environ["ACCEL_FAST"], os.getcwd())
print("a framework's log", file=sys.stderr)
display(data, raw=True)"""

KEEPS = """import os

with open(os.environ["ACCEL_RECORD"], "a") as file:
    file.write("{}")"""


def read(path):
    return lesson.parse(path.read_text("utf-8"))


@pytest.fixture(autouse=True, scope="module")
def own_library(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", str(lesson.ROOT))
        patch.setenv("ACCEL_RECORD", str(tmp_path_factory.mktemp("record") / "record.json"))
        yield


@pytest.fixture(scope="module")
def first(tmp_path_factory):
    """A lesson that was built on a quiet machine."""
    nb = example()
    cell(nb, "measure").source = MEASURES
    nb.cells += [code("address", "object()"), code("widget", WIDGET)]
    path = save(tmp_path_factory.mktemp("first"), nb)
    assert build.main([str(path)], Machine()) == 0
    assert os.listdir(path.parent) == [NAME], "nothing is left beside the lesson"
    return read(path)


@pytest.fixture
def stored(tmp_path, first):
    return save(tmp_path, first)


def test_it_stores_what_nbval_will_see_and_a_second_build_changes_nothing(stored, capsys):
    nb = read(stored)
    assert form.check(lesson.dump(nb), stored) == []
    assert cell(nb, "address").outputs
    (output,) = cell(nb, "widget").outputs
    assert list(output.data) == ["text/plain"], "a widget's view is dropped and its words stay"
    cell(nb, "picture").outputs[0].data["image/png"] = "b2xk"
    save(stored.parent, nb)
    assert build.main([str(stored)], BUSY) == 0
    assert read(stored) == nb, "a picture that looks a little different is not stored"
    assert "0 changed; measured: kept of 2" in capsys.readouterr().out


def test_what_measures_is_of_a_run_in_full_size_without_stderr_folders_and_scripts(first):
    text, still = cell(first, "measure").outputs
    _, fast, folder = text.text.split()
    assert fast == "0"
    assert folder[0] != "/", "no folder of this machine"
    assert still.data == {"image/png": PIXEL, "text/plain": "One dot of many that move."}
    assert measured.told(first)["day"] == f"{date.today()}"
    assert "keras" in measured.told(first)["versions"]


def mend(nb):
    cell(nb, "prose").source += " Mended."
    cell(nb, "one").source += "  # why"


def change(nb):
    cell(nb, "one").source += "\nprint(4)"
    nb.cells.remove(cell(nb, "two"))


def by_hand(nb):
    cell(nb, "measure").outputs[0].text = "by hand\n"


@pytest.mark.parametrize(
    ("edit", "machine", "words", "stays", "status", "said"),
    [
        (mend, Machine(), [], True, 0, "the code is the same"),
        (change, BUSY, [], True, 0, "not quiet: others used 100% of a core"),
        (change, Machine(), [], False, 0, "stored anew"),
        (mend, Machine(), ["--fresh"], False, 0, "stored anew"),
        (by_hand, BUSY, [], False, 1, "not of one run"),
        (by_hand, Machine(), [], False, 0, "stored anew"),
    ],
)
def test_a_set_is_replaced_whole_or_stays(
    first, tmp_path, capsys, edit, machine, words, stays, status, said
):
    nb = copy.deepcopy(first)
    edit(nb)
    path = save(tmp_path, nb)
    assert build.main([*words, str(path)], machine) == status
    assert said in capsys.readouterr().out
    before, after = (cell(each, "measure").outputs for each in (first, read(path)))
    assert (after == before) == stays
    if stays:
        assert measured.told(read(path))["words"] == measured.told(first)["words"]
        assert measured.told(read(path))["shown"] == measured.shown(read(path))


def digest(source, stamp="here"):
    setup = code("setup", f"COURSE = {stamp!r}", tagged=["setup"])
    return measured.code(new_notebook(cells=[setup, code("one", source)]))


def test_the_digest_of_the_code_is_of_what_it_does():
    first = digest("%time x = 1\nprint(x)")
    assert digest("%time x = 1\n\n# Why\nprint(\n    x,\n)") == first
    assert digest("%time x = 1\nprint(x)", stamp="there") == first
    assert digest("%time x = 2\nprint(x)") != first
    assert digest("%time x = 1\nprint(x, x)") != first


def test_what_shows_the_results_of_all_lessons_is_measured_with_all_of_them(tmp_path, capsys):
    for name in ("03_some.ipynb", "11_all.ipynb"):
        tells = code("tells", "print(1)", printed("old\n"), tagged=[measured.TAG])
        save(tmp_path, new_notebook(cells=[tells]), name)
    last, paths = tmp_path / "11_all.ipynb", [*map(str, sorted(tmp_path.iterdir()))]
    build.main([str(last)], Machine())
    assert "this machine has not run 03" in capsys.readouterr().out
    assert cell(read(last), "tells").outputs == [printed("old\n")]
    build.main([paths[0]], Machine())
    build.main([str(last)], Machine())
    assert cell(read(last), "tells").outputs == [printed("1\n")]


def test_a_run_that_does_not_count_leaves_nothing_on_the_record(tmp_path, monkeypatch):
    record = tmp_path / "kept" / "record.json"
    monkeypatch.setenv("ACCEL_RECORD", str(record))
    keeps = code("keeps", KEEPS, tagged=[measured.TAG])
    path = save(tmp_path, new_notebook(cells=[keeps]))
    build.main([str(path)], Machine(loops=(1, 1.12) * 3))
    assert not record.exists()
    build.main([str(path)], Machine())
    assert record.read_text() == "{}"


def test_a_failing_cell_leaves_the_file_and_is_named(tmp_path, capsys):
    nb = example()
    nb.cells.append(code("bad", 'raise KeyError("lost")'))
    cell(nb, "one").source = "print( 1 )"
    path = save(tmp_path, nb)
    before = path.read_bytes()
    assert build.main([str(path)], Machine()) == 1
    assert f"{path}: code cell 7: KeyError: 'lost'." in capsys.readouterr().err
    assert path.read_bytes() == before, "not even formatted"
    assert build.main([str(tmp_path / "missing.ipynb")]) == 2


@pytest.mark.parametrize(
    ("source", "reason", "more"),
    [
        (f"open({NAME!r}, 'a').write(' ')", "changed meanwhile", " "),
        ("for n in range(9):\n    print(str(n) * 60_000)", "most of them in big", ""),
    ],
)
def test_a_lesson_that_was_edited_or_gets_too_large_is_not_replaced(
    tmp_path, capsys, source, reason, more
):
    nb = new_notebook(cells=[code("big", source)])
    path = save(tmp_path, nb)
    assert build.main([str(path)], Machine()) == 1
    assert reason in capsys.readouterr().err
    assert path.read_text() == lesson.dump(nb) + more


def test_an_interruption_stops_it_and_leaves_every_file(tmp_path):
    started = tmp_path / "started"
    slow = f"import time\n\nopen({str(started)!r}, 'w').close()\ntime.sleep(600)"
    path = save(tmp_path, new_notebook(cells=[code("slow", slow)]))
    before = path.read_bytes()
    heard = partial(signal.signal, signal.SIGINT, signal.SIG_DFL)  # a job in the background is deaf
    with subprocess.Popen([sys.executable, build.__file__, path], preexec_fn=heard) as process:
        while not started.exists() and process.poll() is None:
            time.sleep(0.1)
        process.send_signal(signal.SIGINT)
    assert process.returncode == 130
    assert path.read_bytes() == before
    assert sorted(os.listdir(tmp_path)) == [NAME, "started"]


def picture(png, text="A dot on a line."):
    return new_output("display_data", data={"image/png": png, "text/plain": text})


def result(text):
    return new_output("execute_result", data={"text/plain": text}, execution_count=3)


def kept(new, old, source=""):
    """Give what is stored for a cell that said `old` and says `new` now."""
    before, after = (new_notebook(cells=[code("one", "", output)]) for output in (old, new))
    after.cells[0].update(source=source, execution_count=9)
    build.differing(after, before)
    return after.cells[0].outputs[0]


SAME = [
    (picture("b2xk"), picture("bmV3")),
    (result("<object object at 0x7f53ad7f0a10>"), result("<object object at 0x7f53ad7f0a20>")),
    (printed("a \n"), printed("a\n")),
]
DIFFERENT = [
    (picture("b2xk"), picture("bmV3", "A dot below a line.")),
    (printed("2\n"), printed("3\n")),
    (result("2"), printed("2")),
    (printed("2\n"), new_output("stream", name="stderr", text="2\n")),
    (printed("0x10\n"), printed("0x20\n")),
    (new_output("display_data", data={"text/plain": "A dot on a line."}), picture("bmV3")),
]


@pytest.mark.parametrize("old, new", SAME + DIFFERENT)
def test_an_output_that_says_the_same_stays_and_any_other_is_stored(old, new):
    same = (old, new) in SAME
    stays, expected = kept(new, old), copy.deepcopy(old if same else new)
    if same and "execution_count" in expected:
        expected.execution_count = 9
    assert stays == expected
    assert kept(new, old, source="print(2)") == new, "the code was edited"


def test_nbval_reads_every_replacement():
    text = lesson.SANITIZE.read_text(encoding="utf-8")
    assert get_sanitize_patterns(text) == build.SANITIZED
    assert len(build.SANITIZED) == text.count("\nregex:") == 4
    assert all(new for _, new in build.SANITIZED), "an editor would strip the blank"
