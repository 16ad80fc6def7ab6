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
from bs4 import BeautifulSoup
from example import PIXEL, code, printed, save
from nbformat.v4 import new_markdown_cell, new_notebook

from accel_helpers.course import record

DRAW = "display({'image/png': '%s', 'text/plain': %r}, raw=True)"
LOOK = """import json, os, pathlib, sys
seen = [sys.executable, os.getcwd(), os.environ["ACCEL_FAST"], os.environ["ACCEL_RECORD"]]
pathlib.Path("seen.json").write_text(json.dumps(seen))"""
WIDGET = f"""display({{'{report.WIDGET}': {{'model_id': 'abc'}},
 'image/png': '{PIXEL}', 'text/html': '<p>the question in words</p>'}}, raw=True)"""
SUMMARY = """import os, pathlib
path = pathlib.Path(os.environ["ACCEL_RECORD"]).with_name("course_summary.html")
print(path, path.write_text("to keep"))"""
TITLE = """# One & <two>
[![Open in Colab](https://example.org/badge.svg)](https://example.org)
![A local picture](picture.png) [next](02_second.ipynb) [else](../README.md)"""
STOPS = """import os, pathlib, signal, time
pathlib.Path("pid").write_text(str(os.getpid()))
os.kill(os.getppid(), signal.SIGINT)
time.sleep(600)"""


def write(name, *cells):
    """A notebook of Markdown cells (they begin with '# ') and code cells, or (code, tag) pairs."""
    notebook = new_notebook()
    for cell in cells:
        source, *tags = cell if isinstance(cell, tuple) else (cell,)
        one = code(None, source, printed("stored output\n"), tagged=tags)
        if source.startswith("# "):
            one = new_markdown_cell(source)
        notebook.cells.append(one)
    Path("notebooks").mkdir(exist_ok=True)
    return save(Path("notebooks"), notebook, f"{name}.ipynb")


@pytest.fixture(autouse=True)
def course(tmp_path, monkeypatch):
    """The folder of a course, with the report of an earlier run and a kernel that cannot run."""
    left = ("course_report/plots/01_first-9.png", "course_report/notes.txt")
    for name in (*left, "course_report/index.html", "kernels/python3/kernel.json"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text('{"argv": ["false"], "display_name": "x", "language": "x"}')
    monkeypatch.setenv("JUPYTER_PATH", str(tmp_path))
    monkeypatch.setenv("PYTHONPATH", str(lesson.ROOT))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_report_shows_what_came_out_here_and_which_lesson_failed_where(course, capsys):
    write(
        "01_first",
        TITLE,
        LOOK,
        DRAW % (PIXEL, 'The "GPU" is <faster>.'),
        WIDGET,
        ("print('ran a ' + 'skipped cell')", "nbval-skip"),
        ("print('took 1.25 seconds here')", "nbval-ignore-output"),
        ("1 / 0", "raises-exception"),
    )
    second = ["print('be' + 'fore')", "raise OSError('<b>no</b>')", "print('af' + 'ter')"]
    write("02_second", "# Second", *second)
    write("03_third", "# Third", SUMMARY)
    Path("notebooks/picture.png").write_bytes(base64.b64decode(PIXEL))
    out = course / "course_report"
    assert report.main(["--fast"]) == 1
    said = "02_second: failed in code cell 2: OSError: <b>no</b>\n2 of 3 lessons ran"
    assert capsys.readouterr().out.startswith(said)

    python, folder, fast, record_file = json.loads(Path("notebooks/seen.json").read_text())
    assert (python, folder, fast) == (sys.executable, str(course / "notebooks"), "1")
    # The learner's answers and guesses are neither shown, nor changed, nor published.
    assert Path(record_file).parent.parent == out
    assert (out / record.NAME).read_text() == "[]\n"

    pages = {path.stem: path.read_text("utf-8") for path in out.glob("*.html")}
    first, failed, index = (pages[name] for name in ("01_first", "02_second", "index"))
    for shown in ("took 1.25 seconds here\n</pre>", "ZeroDivisionError", "in words</p>"):
        assert shown in first
    for hidden in ("ran a skipped cell\n</pre>", "jupyter-widgets"):
        assert hidden not in first
    for link in ("02_second.html", "index.html", "../README.md"):
        assert f'href="{link}"' in first
    assert f", {date.today()}" in first, "the last line of a page names the machine and the day"
    assert "before\n</pre>" in failed
    assert "after\n</pre>" not in failed
    assert "stored output" not in failed
    assert "This lesson failed" in failed
    assert "&lt;b&gt;no&lt;/b&gt;" in failed
    soup = BeautifulSoup(index, "html.parser")
    assert "2 of 3 lessons ran to the end. Failed: 02_second." in soup.get_text()
    assert [link["href"] for link in soup.select("h3 a")] == [
        *("01_first.html", "02_second.html", "03_third.html")
    ]
    assert not re.search(r"<(b|two|faster)>", index)
    assert '<a href="course_summary.html">the summary</a>' in index
    assert str(out / "course_summary.html") in pages["03_third"]

    # Every plot is a file and has its sentence for those who do not see it.
    image = soup.select_one("img")
    assert (image["src"], image["alt"]) == ("plots/01_first-1.png", 'The "GPU" is <faster>.')
    assert (out / image["src"]).read_bytes() == base64.b64decode(PIXEL)
    # Without a network the pages are whole.
    for page in pages.values():
        loads = BeautifulSoup(page, "html.parser")(["script", "img", "iframe", "link"])
        assert not [
            each for each in loads if str(each.get("src", each.get("href"))).find("//") > -1
        ]
        assert not re.search(r"@import|url\([\"']?(https?:)?//", page)
    assert PIXEL in (out / "notebooks" / "01_first.ipynb").read_text(), "for a site with results"
    assert not (out / report.UNFINISHED).exists()
    assert not (out / "plots" / "01_first-9.png").exists(), "an earlier run drew more"
    assert (out / "notes.txt").exists()


def test_going_further_runs_when_asked_for_and_the_page_says_when_it_was_not(course):
    path = write("01_a", "# A", "print(1 + 1)", "# Going further", "print('fur' + 'ther')")
    for everything in (False, True):
        (ran,) = report.run([path], course / "out", everything=everything)
        page = (course / "out" / "01_a.html").read_text("utf-8")
        assert ran.ok
        assert ("further\n</pre>" in page) == everything
        assert ("was not run" in page) != everything
        assert len(ran.cells) == 1 + everything
        assert "stored output" not in page


def test_a_kernel_that_dies_or_hangs_is_a_failure_and_not_the_end(course, monkeypatch):
    monkeypatch.setattr(report, "CELL_SECONDS", 5)
    paths = [write("01_dies", "import os; os._exit(1)")]
    paths.append(write("02_hangs", "import time; time.sleep(600)"))
    dies, hangs = report.run(paths, course / "out", fast=True)
    assert dies.error.startswith("code cell 1: Python ended without a word")
    assert hangs.error.startswith("code cell 1: CellTimeoutError")


def test_a_lesson_is_found_by_number_or_name(capsys):
    write("00_start", "1")
    write("03_time", "1")
    lessons = lesson.chosen([], Path("notebooks"))
    assert report.choose(lessons) == lessons
    for wanted in ("3", "03_time.ipynb", " 03, 03_time"):
        assert report.choose(lessons, wanted) == lessons[1:]
    assert report.main(["--lessons", "99"]) == 2
    assert "'99'. There are: 00_start, 03_time" in capsys.readouterr().err


def test_a_stopped_run_leaves_the_old_report_whole_and_no_kernel_behind(course, capsys):
    write("01_quick", "1")
    write("02_stops", STOPS)
    before = {path: path.is_file() and path.read_text() for path in course.rglob("course_report/*")}
    old = signal.signal(signal.SIGINT, signal.default_int_handler)
    assert report.main([]) == 2
    signal.signal(signal.SIGINT, old)
    assert "Stopped" in capsys.readouterr().err
    assert {path: path.is_file() and path.read_text() for path in before} == before
    assert not psutil.pid_exists(int(Path("notebooks/pid").read_text()))
