"""What a learner relies on when `make run` executes the lessons and writes the report."""

import json
import re
import signal
import sys
from base64 import b64decode
from pathlib import Path

import lesson
import psutil
import pytest
import run_lessons as report
from example import PIXEL, code, printed, save
from nbformat.v4 import new_markdown_cell, new_notebook

TITLE = """# One & <two>
![A picture](picture.png) ![far](https://example.org/a.svg) [next](02_dies.ipynb)"""
DRAWS = f"""display({{"image/png": "{PIXEL}", "text/plain": 'The "GPU" is <faster>.'}}, raw=True)"""
WIDGET = "application/vnd.jupyter.widget-view+json"
ASKS = f"""display({{"{WIDGET}": {{"model_id": "abc"}}, "text/html": "in words"}}, raw=True)"""
SUMMARY = """import json, os, pathlib, sys
record = pathlib.Path(os.environ["ACCEL_RECORD"])
record.with_name("course_summary.html").write_text("to keep")
print(json.dumps([sys.executable, os.getcwd(), os.environ["ACCEL_FAST"], str(record)]))"""
STOPS = """import os, pathlib, signal, time
pathlib.Path("pid").write_text(str(os.getpid()))
os.kill(os.getppid(), signal.SIGINT)
time.sleep(600)"""


def write(name, title, *sources):
    """A lesson whose cells store something; a text stands as prose."""
    cells = [new_markdown_cell(title)]
    for place, source in enumerate(sources):
        new = new_markdown_cell(source) if source.startswith("#") else None
        cells.append(new or code(f"c{place}", source, printed("stored\n")))
    save(Path("notebooks"), new_notebook(cells=cells), f"{name}.ipynb")


@pytest.fixture(autouse=True)
def course(tmp_path, monkeypatch):
    """The folder of a course, with a report of an earlier run, and a kernel that cannot run."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("JUPYTER_PATH", str(tmp_path))
    monkeypatch.setenv("PYTHONPATH", str(lesson.ROOT))
    broken = json.dumps({"argv": ["false"], "display_name": "x", "language": "x"})
    for name in ("kernels/python3/kernel.json", "course_report/index.html", "notebooks/x"):
        Path(name).parent.mkdir(parents=True)
        Path(name).write_text(broken)
    Path("notebooks/picture.png").write_bytes(b64decode(PIXEL))
    return tmp_path


def test_a_report_shows_what_came_out_here_and_which_lesson_failed_where(course, capsys):
    write("01_one", TITLE, DRAWS, "# Going further", "print('fur' + 'ther')")
    write("02_dies", "# Dies", "import os; os._exit(1)")
    write("03_bad", "# Bad", ASKS, "raise OSError('<b>no</b>')", "print(3)")
    write("04_last", "# Last", SUMMARY)
    assert report.main(["--fast"]) == 1
    said = capsys.readouterr()
    assert "02_dies: failed in code cell 1: Python ended without a word" in said.err
    assert "03_bad: failed in code cell 2: OSError: <b>no</b>" in said.err
    assert said.out.startswith("2 of 4 lessons ran to the end.")

    shows = {
        "01_one": ('href="02_dies.html"', 'href="index.html"', "was not run"),
        "03_bad": (">\nin words", "This lesson failed", "&lt;b&gt;no&lt;/b&gt;"),
        "04_last": ("The measurements here are of one run", "keras 3"),
        "index": (
            *("2 of 4 lessons ran to the end", "One &amp; &lt;two&gt;", "course_summary.html"),
            *('src="plots/01_one-1.png"', 'alt="The &#34;GPU&#34; is &lt;faster&gt;."'),
        ),
    }
    # What is stored or was not run, and what asks the network for something.
    hidden = r"stored|further\n|<b>no|@import|url\([\"']?(https?:)?//|src=\"(https?:)?//"
    for name, texts in shows.items():
        page = Path("course_report", f"{name}.html").read_text("utf-8")
        assert [text for text in texts if text not in page] == [], name
        assert not re.search(hidden, page), name
    assert Path("course_report/plots/01_one-1.png").read_bytes() == b64decode(PIXEL)
    # What a site with one's own results shows: no widget, which is dead there.
    notebooks = course / "course_report" / "notebooks"
    assert PIXEL in (notebooks / "01_one.ipynb").read_text()
    assert 'widget-view+json": {' not in (notebooks / "03_bad.ipynb").read_text()

    # The learner's answers and guesses are neither shown, nor changed, nor published.
    (output,) = json.loads((notebooks / "04_last.ipynb").read_text())["cells"][1]["outputs"]
    record = course / "course_report" / "course_record.json"
    seen = [sys.executable, str(course / "notebooks"), "1", str(record)]
    assert json.loads("".join(output["text"])) == seen


def test_a_stopped_run_leaves_the_old_report_whole_and_no_kernel_behind(capsys):
    write("01_quick", "# Quick", "1")
    write("02_stops", "# Stops", STOPS)
    before = {path: path.read_text() for path in Path("course_report").rglob("*.*")}
    old = signal.signal(signal.SIGINT, signal.default_int_handler)
    assert report.main(["--lessons", "02"]) == 2
    signal.signal(signal.SIGINT, old)
    assert "Stopped" in capsys.readouterr().err
    assert {path: path.read_text() for path in Path("course_report").rglob("*.*")} == before
    assert not psutil.pid_exists(int(Path("notebooks/pid").read_text()))
