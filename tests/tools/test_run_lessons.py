"""What a learner relies on when `make run` executes the lessons and writes the report."""

import base64
import io
import json
import os
import re
import signal
import subprocess
import sys
import time
from datetime import date
from pathlib import Path
from types import SimpleNamespace

import psutil
import pytest
import run_lessons as report
from bs4 import BeautifulSoup
from example import PIXEL, code, printed, save
from nbformat.v4 import new_markdown_cell, new_notebook

from accel_helpers.course import record
from accel_helpers.machine.attached import Attached
from accel_helpers.machine.runtime import Runtime

ROOT = Path(report.__file__).parent.parent
OLD_RECORD = '{"old": true}'
DRAW = "display({'image/png': '%s', 'text/plain': %r}, raw=True)"
CARD = Attached("GPU", "Card <X>", 2, 16 * 2**30)
MACHINE = Runtime("local", None, CARD, {}, "3.11", "Linux", None, None, None, ())
LOOK = """import json, os, pathlib, sys
seen = {name: os.environ[f"ACCEL_{name}"] for name in ("FAST", "RECORD")}
seen |= {"cwd": os.getcwd(), "python": sys.executable}
pathlib.Path("seen.json").write_text(json.dumps(seen))"""
WIDGET = f"""display({{'application/vnd.jupyter.widget-view+json': {{'model_id': 'abc'}},
 'image/png': '{PIXEL}', 'text/html': '<p>the question in words</p>'}}, raw=True)"""
SUMMARY = """import os, pathlib
path = pathlib.Path(os.environ["ACCEL_RECORD"]).with_name("course_summary.html")
print(path, path.write_text("to keep"))"""
FIRST = """# One & <two>
[![Open in Colab](https://example.org/badge.svg)](https://example.org)
![A local picture](picture.png) [next](02_second.ipynb) [else](../README.md)"""


def lesson(folder, name, *cells):
    """A notebook of Markdown cells (they begin with '# ') and code cells, or (code, tag) pairs."""
    notebook = new_notebook()
    for cell in cells:
        source, *tags = cell if isinstance(cell, tuple) else (cell,)
        if source.startswith("# "):
            notebook.cells.append(new_markdown_cell(source))
        else:
            one = code(None, source, printed(f"stored output of {name}\n"), tagged=tags)
            one.metadata["jupyter"] = {"source_hidden": "folded" in tags}
            notebook.cells.append(one)
    folder.mkdir(exist_ok=True)
    return save(folder, notebook, f"{name}.ipynb")


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A report of three lessons, the second of which fails in its second code cell."""
    folder = tmp_path_factory.mktemp("course with a blank")
    notebooks, out = folder / "notebooks", folder / "course_report"
    lessons = [
        lesson(
            notebooks,
            "05_first",
            FIRST,
            LOOK,
            DRAW % (PIXEL, 'The "GPU" is <faster>.'),
            DRAW % (PIXEL, "<Figure size 640x480 with 1 Axes>"),
            WIDGET,
            ("print('ran a skipped cell')", "nbval-skip"),
            ("print('took 1.25 seconds here')", "nbval-ignore-output"),
            ("1 / 0", "raises-exception"),
            ("print('from folded ' + 'code')", "folded"),
        ),
        lesson(
            notebooks,
            "02_second",
            "# Fails",
            "print('before the failure')",
            "raise ValueError('<b>broken</b> cell')",
            "print('after the failure')",
        ),
        lesson(notebooks, "03_third", "# Third", "print('third')", SUMMARY),
    ]
    (notebooks / "picture.png").write_bytes(base64.b64decode(PIXEL))
    # A kernel of the same name that the user has installed, which cannot run.
    spec = folder / "kernels" / "python3" / "kernel.json"
    # What earlier runs and the learner left in the folder.
    left = ("plots/05_first-9.png", "plots/00_other-1.png", "my notes.txt", ".unfinished/x")
    for path in (spec, *(out / name for name in left)):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text('{"argv": ["false"], "display_name": "x", "language": "x"}')
    stream = io.StringIO()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("JUPYTER_PATH", str(folder))
        ran = report.run(lessons, out, fast=True, stream=stream, runtime=MACHINE)
    pages = {path.stem: path.read_text("utf-8") for path in out.glob("*.html")}
    seen = json.loads((notebooks / "seen.json").read_text())
    return SimpleNamespace(ran=ran, out=out, pages=pages, seen=seen, said=stream.getvalue())


def test_lessons_run_in_the_order_asked_for_and_a_failure_stops_none(made):
    errors = [(one.name, one.error) for one in made.ran]
    failed = ("02_second", "code cell 2: ValueError: <b>broken</b> cell")
    assert errors == [("05_first", None), failed, ("03_third", None)]
    lines = made.said.splitlines()
    assert lines[0] == "05_first (1 of 3): started"
    assert len(lines) == 6
    assert "\r" not in made.said


def test_a_lesson_runs_in_its_folder_with_this_python_whatever_kernels_are_installed(made):
    seen = made.seen
    assert seen["python"] == sys.executable
    assert seen["cwd"] == str(made.out.parent / "notebooks")
    assert seen["FAST"] == "1"
    # The learner's answers and guesses are neither shown, nor changed, nor published.
    assert Path(seen["RECORD"]).parent.parent == made.out
    assert (made.out / record.NAME).read_text() == "[]\n"


def test_a_page_shows_what_came_out_here_where_it_failed_and_the_way_to_others(made):
    failed, ran = made.pages["02_second"], made.pages["05_first"]
    text = BeautifulSoup(ran, "html.parser").get_text()
    assert "before the failure\n</pre>" in failed
    assert "after the failure\n</pre>" not in failed  # its source is there, an output is not
    assert "stored output" not in failed
    assert "<b>broken</b>" not in failed
    assert "This lesson failed" in failed
    assert "&lt;b&gt;broken&lt;/b&gt; cell" in failed
    assert "took 1.25 seconds here\n</pre>" in ran
    assert f"one run, on Card , {date.today()}" in text
    assert "ZeroDivisionError" in ran
    assert "ran a skipped cell\n</pre>" not in ran
    assert ran.count("stored output") == 1
    assert "from folded code" in text
    assert "'from folded '" not in text
    assert "<p>the question in words</p>" in ran
    assert 'class="jupyter-widgets' not in ran
    assert '<a href="02_second.html">next</a>' in ran
    assert 'href="index.html"' in ran
    assert '<a href="../README.md">else</a>' in ran


def test_each_lesson_is_left_as_it_ran_for_a_site_with_own_results(made):
    kept = {path.stem: path.read_text("utf-8") for path in made.out.glob("notebooks/*.ipynb")}
    assert PIXEL in kept["05_first"]
    assert 'widget-view+json": {' not in kept["05_first"]
    assert str(made.out / "course_summary.html") in kept["03_third"]
    assert len(kept) == 3


def test_every_plot_is_a_file_and_has_its_sentence_for_those_who_do_not_see_it(made):
    first, second = made.ran[0].plots
    assert first.alt == 'The "GPU" is <faster>.'
    assert second.alt == "Plot 2 of the lesson: One & <two>"  # an object's name says nothing
    for plot in (first, second):
        assert (made.out / plot.file).read_bytes() == base64.b64decode(PIXEL)
    images = BeautifulSoup(made.pages["05_first"], "html.parser").select("img")
    assert [image["alt"] for image in images] == ["A local picture", first.alt, second.alt]


def test_pages_ask_the_network_for_nothing(made):
    for name, page in made.pages.items():
        soup = BeautifulSoup(page, "html.parser")
        loads = [
            one.get("src") or one.get("href") for one in soup(["script", "img", "iframe", "link"])
        ]
        assert not any(re.match(r"(https?:)?//", url) for url in loads if url), name
        assert "@import" not in page, name
        assert not re.search(r"url\([\"']?(https?:)?//", page), name
        assert not name[0].isdigit() or "Content-Security-Policy" in page
    assert len(made.pages) == 5
    assert "Open in Colab" in made.pages["05_first"]  # the badge's words, not its picture


def test_index_names_lessons_failures_machine_and_plots_all_escaped(made):
    index = made.pages["index"]
    soup = BeautifulSoup(index, "html.parser")
    said = " ".join(soup.get_text().split())
    assert "2 of 3 lessons ran to the end. Failed: 02_second. They ran on small sizes" in said
    assert "in code cell 2: ValueError: <b>broken</b> cell" in said
    assert "GPU, 2 x Card <X> of 16.0 GiB" in said
    assert [link["href"] for link in soup.select("h3 a")] == [
        *("05_first.html", "02_second.html", "03_third.html")
    ]
    assert soup.select_one("h3").text == "One & <two>"
    image = soup.select_one("img")
    assert (image["src"], image["alt"]) == ("plots/05_first-1.png", 'The "GPU" is <faster>.')
    assert not re.search(r"<(b|two|X|faster)>", index)


def test_a_report_brings_its_summary_replaces_its_own_files_and_leaves_all_others(made):
    assert (made.out / "course_summary.html").read_text() == "to keep"
    assert '<a href="course_summary.html">the summary</a>' in made.pages["index"]
    assert str(made.out / "course_summary.html") in made.pages["03_third"]
    assert not any(report.UNFINISHED in page for page in made.pages.values())
    assert not (made.out / report.UNFINISHED).exists()
    assert not (made.out / "plots" / "05_first-9.png").exists()
    assert (made.out / "plots" / "00_other-1.png").exists()
    assert (made.out / "my notes.txt").exists()


def test_lessons_that_hang_die_or_cannot_be_read_are_failures_with_a_reason(tmp_path):
    lessons = [
        lesson(tmp_path, "01_hangs", "import time; time.sleep(600)"),
        lesson(tmp_path, "02_dies", "import os; os._exit(1)"),
        tmp_path / "03_damaged.ipynb",
    ]
    lessons[2].write_text("not a notebook")
    ran = report.run(lessons, tmp_path / "out", cell_seconds=5)
    hangs, dies, damaged = (one.error for one in ran)
    assert hangs == "code cell 1: it took longer than 5 s"
    assert dies.startswith("code cell 1: Python ended without a word")
    assert damaged.startswith("reading the notebook")
    assert "03_damaged" in (tmp_path / "out" / "index.html").read_text()


def test_going_further_is_run_when_asked_for_and_the_page_says_when_it_was_not(tmp_path):
    further = "# Going further\nMore."
    path = lesson(tmp_path, "01_a", "# A", "print(1 + 1)", further, "print('fur' + 'ther')")
    for everything in (False, True):
        (ran,) = report.run([path], tmp_path / "out", everything=everything, stream=io.StringIO())
        page = (tmp_path / "out" / "01_a.html").read_text("utf-8")
        assert ("further\n</pre>" in page) == everything != ("was not run" in page)
        assert ran.ok
        assert len(ran.cells) == 1 + everything
        assert "stored output" not in page
    first, second = ran.cells
    took = {"on": "a pencil", "date": "2027-01-02", "whole": 662, "cells": {first: 50, second: 600}}
    both = [path, tmp_path / "02_b.ipynb"]
    said = report.forecast([path], False, {"01_a": took})
    assert "About 1 min" in said
    assert "1 of 1 lessons, 2027-01-02: a pencil" in said
    said = report.forecast(both, True, {"01_a": took})
    assert "About 11 min" in said
    assert "1 of 2 lessons" in said


def test_a_lesson_is_found_by_number_or_name():
    lessons = (Path("00_start.ipynb"), Path("03_time.ipynb"))
    assert report.choose(lessons) == lessons
    for wanted in ("3", "03_time.ipynb", " 03, 03_time"):
        assert report.choose(lessons, wanted) == lessons[1:]


# The command


@pytest.fixture
def course(tmp_path, monkeypatch):
    """A working folder with two tiny lessons, the last of which fails."""
    # Python's print goes through Jupyter; the other two are what a C library does.
    noisy = "print('from the lesson')\nimport os; os.write(1, b'noise'); os.system('echo noise')"
    lesson(tmp_path / "notebooks", "01_noisy", noisy)
    lesson(tmp_path / "notebooks", "02_bad", "raise OSError('no')")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_command_leaves_with_1_when_a_lesson_failed_and_leaves_a_record(course):
    words = [report.__file__, "--lessons", "1 02", "--fast", "--out", "elsewhere"]
    environ = {**os.environ, "PYTHONPATH": str(ROOT)}
    told = subprocess.run([sys.executable, *words], env=environ, capture_output=True, text=True)
    assert told.returncode == 1, told.stderr
    assert told.stdout.startswith("02_bad: failed in code cell 1: OSError: no\n1 of 2 lessons")
    assert "noise" not in told.stdout
    assert Path("elsewhere", "index.html").is_file()
    assert Path("elsewhere", record.NAME).is_file()


def test_an_unknown_lesson_is_wrong_usage_and_names_those_that_exist(course, capsys):
    assert report.main(["--lessons", "99"]) == 2
    said = capsys.readouterr().err
    assert "'99'" in said
    assert "01_noisy, 02_bad" in said
    assert not (course / "course_report").exists()


def test_a_report_that_cannot_be_written_is_one_sentence(course, capsys):
    (course / "taken").write_text("a file")
    assert report.main(["--lessons", "1", "--out", "taken"]) == 2
    assert "taken" in capsys.readouterr().err
    assert (course / "taken").read_text() == "a file"


def until(condition, seconds=120):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.05)


@pytest.mark.parametrize(
    "how", [signal.SIGINT, pytest.param(signal.SIGKILL, marks=pytest.mark.slow)]
)
def test_a_stopped_run_leaves_the_old_report_whole_and_no_kernel_behind(tmp_path, how):
    old_report = tmp_path / "course_report"
    old_report.mkdir()
    (old_report / record.NAME).write_text(OLD_RECORD)
    (old_report / "index.html").write_text("the old index")
    lesson(tmp_path / "notebooks", "01_quick", "1")
    write_pid = "import os, pathlib, time; pathlib.Path('../pid').write_text(str(os.getpid()))"
    lesson(tmp_path / "notebooks", "02_slow", write_pid, "time.sleep(600)")
    process = subprocess.Popen(
        [sys.executable, report.__file__],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    until(lambda: (tmp_path / "pid").exists() and (tmp_path / "pid").read_text())
    kernel = int((tmp_path / "pid").read_text())
    process.send_signal(how)
    _, said = process.communicate()
    if how == signal.SIGINT:
        assert process.returncode == 2
        assert "Stopped: 1 of 2 lessons had run (01_quick)." in said
        assert not (old_report / report.UNFINISHED).exists()
        assert not psutil.pid_exists(kernel)
    until(lambda: not psutil.pid_exists(kernel))
    assert (old_report / record.NAME).read_text() == OLD_RECORD
    assert (old_report / "index.html").read_text() == "the old index"
    assert not list(old_report.glob("0*.html"))
