"""`make notebooks` stores what nbval will see, and what one quiet run measured."""

import json
import os
import signal
from datetime import date

import build
import form
import kernel
import lesson
import measured
import pytest
from example import PIXEL, cell, code, displayed, example, printed, save
from nbformat.v4 import new_notebook, new_output

MEASURES = """import os
import sys
import time

print(time.time(), os.environ["ACCEL_FAST"], os.getcwd())
print("a framework's log", file=sys.stderr)
with open(os.environ["ACCEL_RECORD"], "a") as file:
    file.write("1")"""
STOPS = "import os, signal, time\nos.kill(os.getppid(), signal.SIGINT)\ntime.sleep(600)"


def quiet(work):
    return work(), ""


def busy(work):
    return None, "others used a core"


def disturbed(work):
    work()
    return None, "others used a core"


def read(path):
    return lesson.parse(path.read_text("utf-8"))


@pytest.fixture
def record(tmp_path, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", str(lesson.ROOT))
    monkeypatch.setenv("ACCEL_RECORD", str(tmp_path / "kept" / "record.json"))
    return tmp_path / "kept" / "record.json"


def test_a_page_shows_one_quiet_run_and_keeps_it_until_its_code_is_another(
    tmp_path, record, capsys
):
    nb = example()
    cell(nb, "measure").source = MEASURES
    nb.cells.append(code("address", "object()"))
    path = save(tmp_path, nb)
    assert build.main([str(path)], quiet) == 0
    first = read(path)
    (output,) = cell(first, "measure").outputs
    _, fast, folder = output.text.split()
    assert fast == "0", "measured as a learner does it"
    assert folder[0] != "/", "no folder of this machine"
    assert measured.told(first)["day"] == f"{date.today()}"
    assert record.read_text() == "1"

    cell(first, "one").source += "  # why"
    cell(first, "picture").outputs[0].data["image/png"] = "b2xk"
    save(tmp_path, first)
    assert build.main([str(path)], busy) == 0
    assert "the code is the same" in capsys.readouterr().out
    assert read(path) == first, "a picture that looks a little different is not stored"

    cell(first, "one").source = "print(4)"
    save(tmp_path, first)
    assert build.main([str(path)], disturbed) == 0
    assert "others used a core" in capsys.readouterr().out
    kept = read(path)
    assert cell(kept, "measure") == cell(first, "measure")
    assert cell(kept, "one").outputs == [printed("4\n")]
    assert measured.told(kept)["words"] == measured.told(first)["words"]
    assert record.read_text() == "1", "a run that does not count leaves nothing on the record"

    assert build.main(["--fresh", str(path)], quiet) == 0
    assert cell(read(path), "measure") != cell(first, "measure")
    assert record.read_text() == "11", "a lesson sees what others measured"

    by_hand = read(path)
    cell(by_hand, "measure").outputs = [printed("by hand\n")]
    save(tmp_path, by_hand)
    assert build.main([str(path)], busy) == 1
    assert "not of one run" in capsys.readouterr().out
    assert form.check(lesson.dump(first), path) == []


def test_a_lesson_that_fails_or_was_edited_meanwhile_is_left_as_it_is(tmp_path, record, capsys):
    edits = "from pathlib import Path\n\nPath('00_a.ipynb').write_text('{}')"
    edited = save(tmp_path, new_notebook(cells=[code("edits", edits)]), "00_a.ipynb")
    fails = [code("one", "print( 1 )"), code("bad", 'raise KeyError("lost")')]
    failing = save(tmp_path, new_notebook(cells=fails), "01_b.ipynb")
    before = failing.read_bytes()
    assert build.main([str(edited), str(failing)], quiet) == 1
    said = capsys.readouterr().err
    assert "changed meanwhile" in said
    assert f"{failing}: code cell 2: KeyError: 'lost'." in said
    assert failing.read_bytes() == before
    assert json.loads(edited.read_text()) == {}


def test_ctrl_c_stops_it_and_leaves_every_file(tmp_path, record):
    path = save(tmp_path, new_notebook(cells=[code("stops", STOPS)]))
    before = path.read_bytes()
    old = signal.signal(signal.SIGINT, signal.default_int_handler)
    with pytest.raises(KeyboardInterrupt):
        build.main([str(path)], quiet)
    signal.signal(signal.SIGINT, old)
    assert path.read_bytes() == before
    assert os.listdir(tmp_path) == [path.name]


def result(text):
    return new_output("execute_result", data={"text/plain": text}, execution_count=3)


def picture(png, text="A dot on a line."):
    return displayed({"image/png": png, "text/plain": text})


def test_outputs_are_the_same_where_nbval_says_so():
    same = [
        (picture("b2xk"), picture(PIXEL)),
        (result("<object object at 0x7f53ad7f0a10>"), result("<object object at 0x7f53ad7f0a20>")),
        (printed("a \n"), printed("a\n")),
    ]
    different = [
        (picture(PIXEL), picture(PIXEL, "A dot below a line.")),
        (printed("2\n"), printed("3\n")),
        (result("2"), printed("2")),
        (printed("2\n"), new_output("stream", name="stderr", text="2\n")),
        (displayed({"text/plain": "A dot on a line."}), picture(PIXEL)),
    ]
    for old, new in same:
        assert build.words([old]) == build.words([new])
    for old, new in different:
        assert build.words([old]) != build.words([new])


def test_measurements_of_tests_take_a_thirtieth_of_the_time():
    assert kernel.in_small_boxes("f(a, seconds=6)") == "f(a, seconds=0.2)"
    assert kernel.in_small_boxes("seconds = 6; f(seconds=box)") == "seconds = 6; f(seconds=box)"
