"""`make notebooks` stores what nbval will see, and what one quiet run measured."""

from datetime import date

import build
import kernel
import lesson
import measured
import pytest
from example import PIXEL, cell, code, displayed, printed, save
from nbformat.v4 import new_markdown_cell, new_notebook

DRAWS = f"""display({{"image/png": "{PIXEL}", "text/plain": "A dot."}}, raw=True)"""
MEASURES = """import os, time
print(time.time(), os.environ["ACCEL_FAST"], os.getcwd())
with open(os.environ["ACCEL_RECORD"], "a") as file:
    file.write("1")"""


def quiet(work):
    return work()


def disturbed(work):
    work()
    raise lesson.Refused("others used a core")


@pytest.fixture
def page():
    cells = [
        new_markdown_cell("# Here"),
        code("one", "print(1)"),
        code("picture", DRAWS),
        code("measure", MEASURES, tagged=[measured.TAG]),
    ]
    return new_notebook(cells=cells)


def test_a_page_shows_one_quiet_run_until_another_is_asked_for(page, tmp_path):
    kept = tmp_path / "kept"
    record = kept / build.RECORD

    def built(nb, quietly=None):
        path = save(tmp_path, nb)
        build.build(path, quietly is not None, quietly, kept)
        return lesson.parse(lesson.read(path))

    first = built(page, quiet)
    _, fast, folder = cell(first, "measure").outputs[0].text.split()
    assert fast == "0", "measured as a learner does it"
    assert folder[0] != "/", "no folder of this machine"
    told = measured.told(first)
    assert told["day"] == f"{date.today()}"

    nb = lesson.parse(lesson.dump(first))
    cell(nb, "one").source = "print(4)"
    cell(nb, "picture").outputs[0].data["image/png"] = "b2xk"
    again = built(nb)
    assert cell(again, "one").outputs == [printed("4\n")]
    for name in ("picture", "measure"):
        assert cell(again, name) == cell(nb, name)
    assert measured.told(again)[0] == told[0], "the code that was measured is told"

    with pytest.raises(lesson.Refused):
        built(nb, disturbed)
    assert lesson.parse(lesson.read(tmp_path / "00_example.ipynb")) == nb
    assert record.read_text() == "1", "a run that does not count leaves nothing on the record"

    fresh = built(nb, quiet)
    assert cell(fresh, "measure") != cell(first, "measure")
    assert measured.told(fresh)["code"] != told["code"]
    assert record.read_text() == "11", "a lesson sees what others measured"


def test_outputs_are_the_same_where_nbval_says_so():
    dot = displayed({"image/png": PIXEL, "text/plain": "A dot at 0x7f53ad7f0a10. "})
    again = displayed({"image/png": "b2xk", "text/plain": "A dot at 0x7f53ad7f0a20."})
    line = displayed({"image/png": PIXEL, "text/plain": "A line."})
    assert build.words([dot]) == build.words([again])
    assert build.words([dot]) != build.words([line])
    assert build.words([line]) != build.words([displayed({"text/plain": "A line."})])


def test_measurements_of_tests_take_a_thirtieth_of_the_time():
    assert kernel.in_small_boxes("f(a, seconds=6)") == "f(a, seconds=0.2)"
    assert kernel.in_small_boxes("seconds = 6; f(seconds=box)") == "seconds = 6; f(seconds=box)"
