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
from pathlib import Path
from types import SimpleNamespace

import pytest

nbformat = pytest.importorskip("nbformat")
pytest.importorskip("nbclient")
pytest.importorskip("nbconvert")

import run_lessons as report  # noqa: E402
from bs4 import BeautifulSoup  # noqa: E402

ROOT = Path(report.__file__).parent.parent
OLD_CARD = '{"old": true}'
# One white pixel.
PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGP4DwABAQEAsDZ4BwAAAABJRU5ErkJggg=="
DRAW = (
    "from IPython.display import display\ndisplay({'image/png': '%s', 'text/plain': %r}, raw=True)"
)
MACHINE = SimpleNamespace(
    place="local",
    release=None,
    accelerator=SimpleNamespace(kind="GPU", name="Card <X>", count=2, memory_bytes=16 * 2**30),
    cpu_name="A CPU",
    cores=2,
    memory_bytes=8 * 2**30,
    system="Linux",
    python="3.11.7",
    frameworks={"keras": "3.15.1"},
    notes=(),
)


def lesson(folder, name, *cells):
    """A notebook of Markdown cells (they begin with '# ') and code cells, or (code, tag) pairs."""
    notebook = nbformat.v4.new_notebook()
    for cell in cells:
        source, tag = cell if isinstance(cell, tuple) else (cell, None)
        if source.startswith("# "):
            notebook.cells.append(nbformat.v4.new_markdown_cell(source))
        else:
            notebook.cells.append(nbformat.v4.new_code_cell(source, execution_count=7))
            stored = nbformat.v4.new_output("stream", text=f"stored output of {name}\n")
            notebook.cells[-1].outputs = [stored]
        if tag:
            notebook.cells[-1].metadata.tags = [tag]
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name}.ipynb"
    nbformat.write(notebook, path)
    return path


def new_card(path):
    path.write_text('{"measurements": []}')


def run(lessons, out, **options):
    options = {"progress": report.progress_on(io.StringIO()), "runtime": MACHINE, **options}
    return report.run(lessons, out, new_card=new_card, **options)


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A report of three lessons, the second of which fails in its second code cell."""
    folder = tmp_path_factory.mktemp("course with a blank")
    notebooks, out = folder / "notebooks", folder / "course_report"
    (notebooks / "picture.png").parent.mkdir()
    (notebooks / "picture.png").write_bytes(base64.b64decode(PNG))
    look = (
        "import json, os, pathlib, sys\n"
        "seen = {'cwd': os.getcwd(), 'python': sys.executable, 'fast': os.environ['ACCEL_FAST'],"
        " 'card': os.environ['ACCEL_RESULT_CARD'], 'progress': os.environ['ACCEL_PROGRESS']}\n"
        "pathlib.Path('seen.json').write_text(json.dumps(seen))"
    )
    widget = (
        "display({'application/vnd.jupyter.widget-view+json': {'model_id': 'abc'},"
        " 'text/html': '<p>the question in words</p>', 'text/plain': 'widget'}, raw=True)"
    )
    summary = (
        "import os, pathlib\n"
        "path = pathlib.Path(os.environ['ACCEL_RESULT_CARD']).with_name('course_summary.html')\n"
        "print(path, path.write_text('to keep'))"
    )
    lessons = [
        lesson(
            notebooks,
            "05_first",
            "# One & <two>\n[![Open in Colab](https://example.org/badge.svg)](https://example.org)\n"
            "![A local picture](picture.png) [next](02_second.ipynb) [else](../README.md)",
            look,
            DRAW % (PNG, 'The "GPU" is <faster>.'),
            DRAW % (PNG, "<Figure size 640x480 with 1 Axes>"),
            widget,
            ("print('ran a skipped cell')", "nbval-skip"),
            ("print('took 1.25 seconds here')", "nbval-ignore-output"),
            ("1 / 0", "raises-exception"),
        ),
        lesson(
            notebooks,
            "02_second",
            "# Fails",
            "print('before the failure')",
            "raise ValueError('<b>broken</b> cell')",
            "print('after the failure')",
        ),
        lesson(notebooks, "03_third", "# Third", "print('third')", summary),
    ]
    # A kernel of the same name that the user has installed, which cannot run.
    spec = folder / "jupyter" / "kernels" / "python3"
    spec.mkdir(parents=True)
    (spec / "kernel.json").write_text('{"argv": ["false"], "display_name": "x", "language": "x"}')
    # What earlier runs and the learner left in the folder.
    (out / "plots").mkdir(parents=True)
    (out / "plots" / "05_first-9.png").write_bytes(b"of an earlier run")
    (out / "plots" / "00_other-1.png").write_bytes(b"of another lesson")
    (out / "my notes.txt").write_text("keep me")
    (out / report.UNFINISHED).mkdir()
    (out / report.UNFINISHED / "rest").write_text("of a run that was killed")
    stream = io.StringIO()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("JUPYTER_PATH", str(folder / "jupyter"))
        result = run(lessons, out, fast=True, progress=report.progress_on(stream))
    pages = {path.stem: path.read_text("utf-8") for path in out.glob("*.html")}
    seen = json.loads((notebooks / "seen.json").read_text())
    return SimpleNamespace(result=result, out=out, pages=pages, seen=seen, said=stream.getvalue())


def test_lessons_run_in_the_order_asked_for_and_a_failure_stops_none(made):
    assert [lesson.name for lesson in made.result.lessons] == ["05_first", "02_second", "03_third"]
    assert [lesson.ok for lesson in made.result.lessons] == [True, False, True]
    assert not made.result.ok
    assert made.result.lessons[1].error == "code cell 2: ValueError: <b>broken</b> cell"
    assert "02_second: failed in code cell 2" in str(made.result)
    assert "2 of 3 lessons ran to the end." in str(made.result)


def test_a_lesson_runs_in_its_folder_with_this_python_whatever_kernels_are_installed(made):
    assert made.seen["python"] == sys.executable
    assert made.seen["cwd"] == str(made.out.parent / "notebooks")
    assert made.seen["fast"] == "1"
    assert Path(made.seen["card"]).parent.parent == made.out
    # nor are the learner's answers and guesses: neither shown, nor changed, nor published
    assert Path(made.seen["progress"]).parent == Path(made.seen["card"]).parent
    assert not (made.out / Path(made.seen["progress"]).name).exists()


def test_page_of_a_failed_lesson_shows_how_far_it_came_and_why(made):
    page = made.pages["02_second"]
    assert "before the failure\n</pre>" in page
    assert "after the failure\n</pre>" not in page  # its source is there, an output is not
    assert "stored output" not in page
    assert "This lesson failed" in page and "&lt;b&gt;broken&lt;/b&gt; cell" in page
    assert "<b>broken</b>" not in page


def test_page_keeps_what_was_measured_here_and_skips_what_is_not_for_here(made):
    page = made.pages["05_first"]
    assert "took 1.25 seconds here\n</pre>" in page
    assert "ran a skipped cell\n</pre>" not in page
    assert page.count("stored output") == 1  # the skipped cell's
    assert "ZeroDivisionError" in page  # expected there


def test_every_plot_is_a_file_and_has_its_sentence_for_those_who_do_not_see_it(made):
    first, second = made.result.lessons[0].plots
    assert first.alt == 'The "GPU" is <faster>.'
    assert second.alt == "Plot 2 of the lesson: One & <two>"  # an object's name says nothing
    for plot in (first, second):
        assert (made.out / plot.file).read_bytes() == base64.b64decode(PNG)
    page = made.pages["05_first"]
    alts = [image["alt"] for image in BeautifulSoup(page, "html.parser").select("img")]
    assert alts == ["A local picture", first.alt, second.alt]
    assert "No description" not in page


def test_pages_ask_the_network_for_nothing(made):
    for name, page in made.pages.items():
        loads = re.findall(
            r"<(?:script|img|iframe|link)\b[^>]*(?:src|href)=[\"']?([^\"'>\s]+)", page
        )
        assert [url for url in loads if re.match(r"(https?:)?//", url)] == [], name
        scripts = BeautifulSoup(page, "html.parser").select("script")
        assert not any("http" in script.text for script in scripts), name
        assert "@import" not in page, name
        assert not re.search(r"url\([\"']?(https?:)?//", page), name
    lessons = [page for name, page in made.pages.items() if name[0].isdigit()]
    assert len(lessons) == 3
    assert all("Content-Security-Policy" in page for page in lessons)
    assert "Open in Colab" in made.pages["05_first"]  # the badge's words, not its picture


def test_pages_show_a_widget_in_words_and_link_to_each_other(made):
    page = made.pages["05_first"]
    assert "<p>the question in words</p>" in page
    assert 'class="jupyter-widgets' not in page
    assert '<a href="02_second.html">next</a>' in page
    assert '<a href="../README.md">else</a>' in page
    assert 'href="index.html"' in page


def test_index_names_lessons_failures_machine_and_plots_all_escaped(made):
    index = made.pages["index"]
    assert "2 of 3 lessons ran to the end. Failed: 02_second. They ran on small sizes" in index
    assert "ValueError: &lt;b&gt;broken&lt;/b&gt; cell" in index
    assert "2 × Card &lt;X&gt; (GPU), 16 GiB each" in index
    assert '<a href="05_first.html">One &amp; &lt;two&gt;</a>' in index
    assert '<img src="plots/05_first-1.png" alt="The &quot;GPU&quot; is &lt;faster&gt;."' in index
    assert index.index("05_first.html") < index.index("02_second.html")
    assert not re.search(r"<(b|two|X|faster)>", index)


def test_the_summary_is_published_and_its_place_is_where_it_will_be(made):
    assert (made.out / "course_summary.html").read_text() == "to keep"
    assert '<a href="course_summary.html">the summary</a>' in made.pages["index"]
    assert str(made.out / "course_summary.html") in made.pages["03_third"]
    assert not any(report.UNFINISHED in page for page in made.pages.values())


def test_run_lessons_replaces_its_own_files_and_leaves_all_others(made):
    assert json.loads((made.out / "result_card.json").read_text()) == {"measurements": []}
    assert not (made.out / report.UNFINISHED).exists()
    assert not (made.out / "plots" / "05_first-9.png").exists()
    assert (made.out / "plots" / "00_other-1.png").exists()
    assert (made.out / "my notes.txt").read_text() == "keep me"


def test_a_log_gets_one_plain_line_when_a_lesson_starts_and_one_when_it_ends(made):
    lines = made.said.splitlines()
    assert lines[0] == "05_first (1 of 3): started"
    assert re.fullmatch(r"05_first: ran to the end, \d+ s", lines[1])
    assert lines[3].startswith("02_second: failed in code cell 2: ValueError")
    assert len(lines) == 6
    assert "\r" not in made.said


def test_a_terminal_gets_a_bar_that_counts_cells(tmp_path):
    pytest.importorskip("tqdm")
    terminal = io.StringIO()
    terminal.isatty = lambda: True
    path = lesson(tmp_path, "01_a", "# A", "1", "2", ("3", "nbval-skip"), "")
    assert run([path], tmp_path / "out", progress=report.progress_on(terminal)).ok
    assert "01_a (1 of 1)" in terminal.getvalue()
    assert "2/2" in terminal.getvalue()


def test_result_is_plain_data(made):
    data = json.loads(json.dumps(made.result.to_dict()))
    assert data["ok"] is False
    assert data["lessons"][0]["plots"][0]["file"] == "plots/05_first-1.png"
    assert Path(data["report"]).is_file() and Path(data["result_card"]).is_file()


def test_lessons_that_hang_die_or_cannot_be_read_are_failures_with_a_reason(tmp_path):
    lessons = [
        lesson(tmp_path, "01_hangs", "import time; time.sleep(20); open('late', 'w')"),
        lesson(tmp_path, "02_dies", "import os; os._exit(1)"),
        tmp_path / "03_damaged.ipynb",
    ]
    lessons[2].write_text("not a notebook")
    result = run(lessons, tmp_path / "out", cell_seconds=3)
    hangs, dies, damaged = (lesson.error for lesson in result.lessons)
    assert hangs == "code cell 1: it took longer than 3 s"
    assert not (tmp_path / "late").exists()
    assert dies.startswith("code cell 1: Python ended without a word")
    assert damaged.startswith("reading the notebook")
    assert "03_damaged" in (tmp_path / "out" / "index.html").read_text()


def test_unknown_lesson_names_those_that_exist(tmp_path):
    lesson(tmp_path, "00_start_here")
    with pytest.raises(report.UnknownLesson, match=r"no lesson '99'\. There are: 00_start_here"):
        report.choose(report.find_lessons(tmp_path), "00,99")
    with pytest.raises(report.UnknownLesson, match="No lessons in"):
        report.find_lessons(tmp_path / "nothing")


@pytest.mark.parametrize("wanted", ["03", "3", "03_time", "03_time.ipynb", " 03, ", "3 03"])
def test_a_lesson_is_found_by_number_or_name(wanted):
    lessons = [Path("00_start.ipynb"), Path("03_time.ipynb")]
    assert report.choose(lessons, wanted) == (lessons[1],)
    assert report.choose(lessons) == tuple(lessons)


def test_a_folder_that_cannot_be_written_is_named(tmp_path):
    (tmp_path / "file").write_text("in the way")
    out = tmp_path / "file" / "report"
    with pytest.raises(report.ReportError, match=re.escape(str(out))):
        run([lesson(tmp_path, "01_a", "1")], out)


CHILD = """
import io, pathlib, resource, signal, sys
sys.path.insert(0, {tests!r})
import test_run_lessons
signal.signal(signal.SIGINT, signal.default_int_handler)
out, limit, lessons = pathlib.Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3:]
if limit:
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
try:
    test_run_lessons.run([pathlib.Path(path) for path in lessons], out)
except (KeyboardInterrupt, test_run_lessons.report.ReportError) as error:
    print(error)
    sys.exit(1)
"""


def child(out, *lessons, limit=0):
    code = CHILD.format(tests=str(Path(__file__).parent))
    environ = {**os.environ, "PYTHONPATH": f"{ROOT}:{ROOT / 'tools'}"}
    words = [sys.executable, "-c", code, str(out), str(limit), *map(str, lessons)]
    return subprocess.Popen(words, stdout=subprocess.PIPE, text=True, env=environ)


def until(condition, seconds=60):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.05)


def alive(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


@pytest.fixture
def old_report(tmp_path):
    out = tmp_path / "course_report"
    out.mkdir()
    (out / "result_card.json").write_text(OLD_CARD)
    (out / "index.html").write_text("the old index")
    return out


@pytest.mark.parametrize(
    "how", [signal.SIGINT, pytest.param(signal.SIGKILL, marks=pytest.mark.slow)]
)
def test_a_stopped_run_leaves_the_old_report_whole_and_no_kernel_behind(tmp_path, old_report, how):
    quick = lesson(tmp_path, "01_quick", "1")
    write_pid = "import os, pathlib, time; pathlib.Path('pid').write_text(str(os.getpid()))"
    slow = lesson(tmp_path, "02_slow", write_pid, "time.sleep(120)")
    process = child(old_report, quick, slow)
    until(lambda: (tmp_path / "pid").exists() and (tmp_path / "pid").read_text())
    kernel = int((tmp_path / "pid").read_text())
    assert alive(kernel)
    process.send_signal(how)
    said, _ = process.communicate(timeout=60)
    if how == signal.SIGINT:
        assert process.returncode == 1
        assert said == (
            f"Stopped: 1 of 2 lessons had run (01_quick). Nothing in {old_report} was changed.\n"
        )
        assert not (old_report / report.UNFINISHED).exists()
        assert not alive(kernel)
    until(lambda: not alive(kernel))
    assert (old_report / "result_card.json").read_text() == OLD_CARD
    assert (old_report / "index.html").read_text() == "the old index"
    assert not list(old_report.glob("0*.html"))


def test_a_full_disk_is_one_sentence_and_leaves_the_old_report_whole(tmp_path, old_report):
    process = child(old_report, lesson(tmp_path, "01_a", "1"), limit=50_000)
    said, _ = process.communicate(timeout=60)
    assert process.returncode == 1
    assert said.startswith(f"The report cannot be written to {old_report}: ")
    assert said.count("\n") == 1
    assert (old_report / "result_card.json").read_text() == OLD_CARD
    assert sorted(path.name for path in old_report.iterdir()) == ["index.html", "result_card.json"]


def test_code_that_jupyterlab_folds_away_is_not_in_the_page_but_its_output_is(tmp_path):
    import pages as report_pages
    from nbformat import v4

    hidden = v4.new_code_cell("secret = 1", outputs=[v4.new_output("stream", text="the sentence")])
    hidden.metadata["jupyter"] = {"source_hidden": True}
    notebook = v4.new_notebook(cells=[hidden, v4.new_code_cell("shown = 2")])
    (tmp_path / "plots").mkdir()
    ran = report_pages.LessonRun("07_x", "X", 1.0)
    report_pages.write_lesson(ran, notebook, tmp_path / "07_x.ipynb", ["07_x"], tmp_path)
    page = (tmp_path / "07_x.html").read_text("utf-8")
    assert "secret" not in page and "the sentence" in page and "shown" in page
