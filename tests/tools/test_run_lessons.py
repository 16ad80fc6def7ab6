"""What a learner relies on when `make run` executes the lessons and writes the report."""

import base64
import json
import re
import signal
import sys
from datetime import date
from pathlib import Path

import lesson
import psutil
import pytest
import run_lessons as report
from example import PIXEL, code, printed, save
from nbformat.v4 import new_markdown_cell, new_notebook

OUT = Path("course_report")
TITLE = """# One & <two>
![A picture](picture.png) ![far](https://example.org/a.svg) [next](02_dies.ipynb)"""
DRAWS = f"""display({{"image/png": "{PIXEL}", "text/plain": 'The "GPU" is <faster>.'}}, raw=True)"""
ASKS = (
    f"""display({{"{report.WIDGET}": {{"model_id": "abc"}}, "text/html": "in words"}}, raw=True)"""
)
SUMMARY = """import json, os, pathlib, sys
record = pathlib.Path(os.environ["ACCEL_RECORD"])
record.with_name("course_summary.html").write_text("to keep")
print(json.dumps([sys.executable, os.getcwd(), os.environ["ACCEL_FAST"], str(record)]))"""
STOPS = """import os, pathlib, signal, time
pathlib.Path("pid").write_text(str(os.getpid()))
os.kill(os.getppid(), signal.SIGINT)
time.sleep(600)"""


def write(name, title, *sources, tag="nbval-ignore-output"):
    """A lesson whose cells store something; its last cell is tagged."""
    cells = [code(None, source, printed("stored\n")) for source in sources]
    cells[-1].metadata["tags"] = [tag]
    notebook = new_notebook(cells=[new_markdown_cell(title), *cells])
    return save(Path("notebooks"), notebook, f"{name}.ipynb")


@pytest.fixture(autouse=True)
def course(tmp_path, monkeypatch):
    """The folder of a course, with a report of an earlier run, and a kernel that cannot run."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("JUPYTER_PATH", str(tmp_path))
    monkeypatch.setenv("PYTHONPATH", str(lesson.ROOT))
    broken = json.dumps({"argv": ["false"], "display_name": "x", "language": "x"})
    for name in ("kernels/python3/kernel.json", OUT / "plots/01_one-9.png", OUT / "index.html"):
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        Path(name).write_text(broken)
    Path("notebooks").mkdir()
    Path("notebooks/picture.png").write_bytes(base64.b64decode(PIXEL))
    return tmp_path


def test_a_report_shows_what_came_out_here_and_which_lesson_failed_where(course, capsys):
    write("01_one", TITLE, DRAWS, "1 / 0", tag="raises-exception")
    write("02_dies", "# Dies", "import os; os._exit(1)")
    write("03_bad", "# Bad", ASKS, "raise OSError('<b>no</b>')", "print(3)")
    write("04_last", "# Last", SUMMARY)
    (OUT / "notes.txt").write_text("the learner's own")
    assert report.main(["--fast"]) == 1
    said = capsys.readouterr()
    assert "02_dies: failed in code cell 1: Python ended without a word" in said.err
    assert "03_bad: failed in code cell 2: OSError: <b>no</b>" in said.err
    assert said.out.startswith("2 of 4 lessons ran to the end.")

    pages = {path.stem: path.read_text("utf-8") for path in OUT.glob("*.html")}
    shows = {
        "01_one": ("ZeroDivisionError", 'href="02_dies.html"', 'href="index.html"'),
        "03_bad": (">\nin words", "This lesson failed", "&lt;b&gt;no&lt;/b&gt;"),
        "04_last": (f", {date.today()}", "keras 3"),
        "index": (
            *("2 of 4 lessons ran to the end", "One &amp; &lt;two&gt;", "course_summary.html"),
            *('src="plots/01_one-1.png"', 'alt="The &#34;GPU&#34; is &lt;faster&gt;."'),
        ),
    }
    for name, texts in shows.items():
        for text in texts:
            assert text in pages[name], name
    # What is stored, and what asks the network for something.
    hidden = r"stored|<b>no|@import|url\([\"']?(https?:)?//|src=\"(https?:)?//"
    for name, page in pages.items():
        assert not re.search(hidden, page), name
    plot = (OUT / "plots" / "01_one-1.png").read_bytes()
    assert plot == base64.b64decode(PIXEL)
    # What a site with one's own results shows: no widget, which is dead there.
    assert PIXEL in (OUT / "notebooks" / "01_one.ipynb").read_text()
    assert 'widget-view+json": {' not in (OUT / "notebooks" / "03_bad.ipynb").read_text()
    assert not (OUT / "plots" / "01_one-9.png").exists(), "an earlier run drew more"
    assert (OUT / "notes.txt").exists()

    # The learner's answers and guesses are neither shown, nor changed, nor published.
    (output,) = json.loads((OUT / "notebooks" / "04_last.ipynb").read_text())["cells"][1]["outputs"]
    seen = json.loads("".join(output["text"]))
    record = str(course / OUT / "course_record.json")
    assert seen == [sys.executable, str(course / "notebooks"), "1", record]
    assert Path(record).read_text() == "[]\n"


def test_going_further_runs_when_asked_for_and_the_page_says_when_it_was_not():
    path = write("01_a", "# A", "print(1 + 1)", "print('fur' + 'ther')")
    notebook = lesson.parse(lesson.read(path))
    notebook.cells.insert(2, new_markdown_cell("# Going further"))
    save(path.parent, notebook, path.name)
    for everything in (False, True):
        (ran,) = report.run([path], OUT, everything=everything)
        page = (OUT / "01_a.html").read_text("utf-8")
        assert ran.ok
        assert ("further\n</pre>" in page, "was not run" in page) == (everything, not everything)
        assert len(ran.cells) == 1 + everything
        assert "stored" not in page


def test_a_lesson_is_found_by_number_or_name(capsys):
    lessons = [write(name, "# A", "1") for name in ("00_start", "03_time")]
    for wanted in ("", "0 3", "00_start.ipynb, 03_time"):
        assert report.choose(lessons, wanted) == lessons
    assert report.main(["--lessons", "99"]) == 2
    assert "There are: 00_start, 03_time" in capsys.readouterr().err


def test_a_stopped_run_leaves_the_old_report_whole_and_no_kernel_behind(capsys):
    write("01_quick", "# Quick", "1")
    write("02_stops", "# Stops", STOPS)
    before = {path: path.read_text() for path in OUT.rglob("*.*")}
    old = signal.signal(signal.SIGINT, signal.default_int_handler)
    assert report.main([]) == 2
    signal.signal(signal.SIGINT, old)
    assert "Stopped" in capsys.readouterr().err
    assert {path: path.read_text() for path in OUT.rglob("*.*")} == before
    assert not psutil.pid_exists(int(Path("notebooks/pid").read_text()))
