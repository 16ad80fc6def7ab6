"""`make notebooks` stores what nbval will see, and what one quiet run measured."""

import signal
from datetime import date

import build
import kernel
import lesson
import measured
import pytest
from example import PIXEL, cell, code, displayed, example, printed, save
from nbformat.v4 import new_notebook

MEASURES = """import os
import time

print(time.time(), os.environ["ACCEL_FAST"], os.getcwd())
with open(os.environ["ACCEL_RECORD"], "a") as file:
    file.write("1")"""
STOPS = "import os, signal, time\nos.kill(os.getppid(), signal.SIGINT)\ntime.sleep(600)"
EDITS = "from pathlib import Path\n\nPath('00_edits.ipynb').write_text('{}')"


def quiet(work):
    return work(), ""


def disturbed(work):
    work()
    return None, "others used a core"


@pytest.fixture(autouse=True)
def record(tmp_path, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", str(lesson.ROOT))
    monkeypatch.setenv("ACCEL_RECORD", str(tmp_path / "kept" / "record.json"))
    return tmp_path / "kept" / "record.json"


def test_a_page_shows_one_quiet_run_and_keeps_it_until_its_code_is_another(
    tmp_path, record, capsys
):
    def built(quietly, *words):
        status = build.main([*words, str(save(tmp_path, nb))], quietly)
        stored = lesson.parse(lesson.read(tmp_path / "00_example.ipynb"))
        return stored, status, capsys.readouterr().out

    nb = example()
    cell(nb, "measure").source = MEASURES
    first, status, _ = built(quiet)
    assert status == 0
    _, fast, folder = cell(first, "measure").outputs[0].text.split()
    assert fast == "0", "measured as a learner does it"
    assert folder[0] != "/", "no folder of this machine"
    assert measured.told(first)["day"] == f"{date.today()}"

    nb = lesson.parse(lesson.dump(first))
    cell(nb, "one").source += "  # why"
    cell(nb, "picture").outputs[0].data["image/png"] = "b2xk"
    kept, _, said = built(disturbed)
    assert "the code is the same" in said
    assert kept == nb, "a picture that looks a little different is not stored"

    cell(nb, "one").source = "print(4)"
    kept, status, said = built(disturbed)
    assert (status, "others used a core" in said) == (0, True)
    assert cell(kept, "measure") == cell(first, "measure")
    assert cell(kept, "one").outputs == [printed("4\n")]
    assert measured.told(kept)["words"] == measured.told(first)["words"]
    assert record.read_text() == "1", "a run that does not count leaves nothing on the record"

    kept, _, _ = built(quiet, "--fresh")
    assert cell(kept, "measure") != cell(first, "measure")
    assert record.read_text() == "11", "a lesson sees what others measured"

    cell(nb, "measure").outputs = [printed("by hand\n")]
    _, status, said = built(disturbed)
    assert (status, "not of one run" in said) == (1, True)


def test_a_lesson_that_fails_is_stopped_or_was_edited_meanwhile_is_left_as_it_is(tmp_path, capsys):
    paths = {}
    for name, source in {
        "edits": EDITS,
        "fails": 'raise KeyError( "lost" )',
        "stops": STOPS,
    }.items():
        paths[name] = save(tmp_path, new_notebook(cells=[code(name, source)]), f"00_{name}.ipynb")
    before = {name: path.read_text() for name, path in paths.items()}
    before["edits"] = "{}"
    old = signal.signal(signal.SIGINT, signal.default_int_handler)
    with pytest.raises(KeyboardInterrupt):
        build.main(list(map(str, paths.values())), quiet)
    signal.signal(signal.SIGINT, old)
    said = capsys.readouterr().err
    assert "00_edits.ipynb: it was changed meanwhile" in said
    assert "00_fails.ipynb: code cell 1: KeyError: 'lost'." in said
    assert {name: path.read_text() for name, path in paths.items()} == before


def test_outputs_are_the_same_where_nbval_says_so():
    dot = displayed({"image/png": PIXEL, "text/plain": "A dot at 0x7f53ad7f0a10. "})
    again = displayed({"image/png": "b2xk", "text/plain": "A dot at 0x7f53ad7f0a20."})
    line = displayed({"image/png": PIXEL, "text/plain": "A line."})
    in_words = displayed({"text/plain": "A line."})
    assert build.words([dot]) == build.words([again])
    assert build.words([dot]) != build.words([line])
    assert build.words([line]) != build.words([in_words])
    assert build.words([printed("2\n")]) != build.words([printed("3\n")])


def test_measurements_of_tests_take_a_thirtieth_of_the_time():
    assert kernel.in_small_boxes("f(a, seconds=6)") == "f(a, seconds=0.2)"
    assert kernel.in_small_boxes("seconds = 6; f(seconds=box)") == "seconds = 6; f(seconds=box)"
