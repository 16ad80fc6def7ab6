"""`make notebooks` stores what nbval will see, and nothing that changes from run to run."""

import copy
import os
import signal
import subprocess
import sys
import time
from functools import partial
from types import SimpleNamespace

import build
import form
import lesson
import pytest
import repair
from example import NAME, cell, code, example, printed, save
from nbformat.v4 import new_notebook, new_output
from nbval.plugin import get_sanitize_patterns

REPLACED = build.patterns(lesson.SANITIZE.read_text(encoding="utf-8"))
WIDGET = f"""display(
    {{"{repair.WIDGET_VIEW}": {{"model_id": "0"}}, "text/plain": repr(object())}}, raw=True
)"""

GREY = """import time

from accel_helpers import plots
from accel_helpers.course.references import for_page
from accel_helpers.measure import results

print(time.time())
theirs = for_page(results.Reference({"theirs": 1.0}, "another machine"))
plots.parts({"own": time.time()}, title="T", reference=theirs)"""


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    folder = tmp_path_factory.mktemp("built") / "lessons"
    folder.mkdir()
    nb = example()
    nb.cells += [code("address", "object()"), code("widget", WIDGET)]
    nb.cells.append(code("grey", GREY, tagged=["nbval-ignore-output", repair.GREY]))
    spoken = "import time\n\nprint(time.time(), ah.describe().place)"
    nb.cells.append(code("spoken", spoken, tagged=["nbval-ignore-output", repair.SPOKEN]))
    nb.metadata["language_info"] = {"name": "python"}
    path = save(folder, nb)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", str(lesson.ROOT))
        assert build.main([str(path)]) == 0
        text = path.read_text(encoding="utf-8")
        old = lesson.parse(text)
        cell(old, "picture").outputs[0].data["image/png"] = "b2xk"
        save(folder, old)
        assert build.main([str(path)]) == 0
        again = path.read_text(encoding="utf-8")
        assert build.main(["--fresh", str(path)]) == 0
    fresh = path.read_text(encoding="utf-8")
    return SimpleNamespace(path=path, text=text, old=old, again=again, fresh=fresh)


def test_what_a_framework_said_is_kept_with_the_machine_that_it_said_it_on(built):
    said = cell(lesson.parse(built.text), "spoken").outputs
    text = "".join(output.text for output in said)
    assert "(Printed on " in text
    assert "cores, with " in text
    assert "keras" in text
    assert cell(lesson.parse(built.again), "spoken").outputs == said
    assert cell(lesson.parse(built.fresh), "spoken").outputs != said


def test_it_stores_what_nbval_will_see_in_form_and_a_second_run_changes_nothing(built):
    assert form.check(built.text, built.path) == []
    assert built.again == lesson.dump(built.old)
    assert "b2xk" not in built.fresh
    assert os.listdir(built.path.parent) == [NAME], "nothing is left beside the lesson"
    assert cell(built.old, "address").outputs
    (output,) = cell(built.old, "widget").outputs
    assert list(output.data) == ["text/plain"], "a widget's view is dropped and its words stay"


def test_a_picture_of_the_reference_run_is_stored_alone_and_is_the_same_when_made_anew(built):
    first, anew = (cell(lesson.parse(text), "grey") for text in (built.text, built.fresh))
    (output,) = first.outputs
    assert first == anew
    assert output.metadata["image/png"]["alt"] == output.data["text/plain"]
    assert output.data["text/plain"].endswith(": on another machine: theirs 1 s.")


def test_a_failing_cell_leaves_the_file_and_is_named(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("PYTHONPATH", str(lesson.ROOT))
    nb = example()
    nb.cells.append(code("bad", 'raise KeyError("lost")'))
    cell(nb, "one").source = "print( 1 )"
    path = save(tmp_path, nb)
    before = path.read_bytes()
    assert build.main([str(path)]) == 1
    assert f"{path}: code cell 7: KeyError: 'lost'." in capsys.readouterr().err
    assert path.read_bytes() == before, "not even formatted"
    assert build.main([str(tmp_path / "missing.ipynb")]) == 2


def test_an_edit_made_while_a_lesson_runs_is_not_lost(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("PYTHONPATH", str(lesson.ROOT))
    nb = new_notebook(cells=[code("bad", f"open({NAME!r}, 'a').write(' ')")])
    path = save(tmp_path, nb)
    assert build.main([str(path)]) == 1
    assert "changed meanwhile" in capsys.readouterr().err
    assert path.read_text() == lesson.dump(nb) + " "


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


def stored(new, old, source=""):
    """Give what is stored for a cell that said `old` and says `new` now."""
    before, after = (new_notebook(cells=[code("one", "", output)]) for output in (old, new))
    after.cells[0].update(source=source, execution_count=9)
    build.keep_old(after, before, REPLACED)
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
]


@pytest.mark.parametrize("old, new", SAME + DIFFERENT)
def test_an_output_that_says_the_same_stays_and_any_other_is_stored(old, new):
    same = (old, new) in SAME
    kept, expected = stored(new, old), copy.deepcopy(old if same else new)
    if same and "execution_count" in expected:
        expected.execution_count = 9
    assert kept == expected


def test_a_picture_that_appears_or_whose_code_was_edited_is_stored():
    old = new_output("display_data", data={"text/plain": "A dot on a line."})
    assert stored(picture("bmV3"), old) == picture("bmV3")
    assert stored(picture("bmV3"), picture("b2xk"), source="print(2)") == picture("bmV3")


def test_nbval_reads_every_replacement():
    text = lesson.SANITIZE.read_text(encoding="utf-8")
    assert get_sanitize_patterns(text) == REPLACED
    assert len(REPLACED) == text.count("\nregex:") == 4
    assert all(new for _, new in REPLACED), "an editor would strip the blank, and switch it off"
