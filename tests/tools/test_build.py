"""`make notebooks` stores what nbval will see, and nothing that changes from run to run."""

import copy
import io
import json
import os
import re
import signal
import subprocess
import sys
import time
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from types import SimpleNamespace

import build
import form
import lesson
import pytest
import repair
from example import NAME, PIXEL, code, example, printed, save
from nbformat.v4 import new_output
from nbval.plugin import IPyNbCell, coalesce_streams, get_sanitize_patterns

HERE = Path(__file__).resolve().parents[2] / "tools"
REPLACED = build.patterns(lesson.SANITIZE.read_text(encoding="utf-8"))
pytestmark = pytest.mark.timeout(180)


def cell(nb, name):
    return next(cell for cell in nb.cells if cell.id == name)


def unrun(*more):
    """Give the example as an author leaves it: not executed, with other cells at its end."""
    nb = example()
    nb.cells += more
    for one in nb.cells:
        if one.cell_type == "code":
            one.outputs, one.execution_count = [], None
    return nb


def run(*arguments):
    """Run the command's own function; give what a shell would see."""
    said, complained = io.StringIO(), io.StringIO()
    with redirect_stdout(said), redirect_stderr(complained):
        status = build.main([str(a) for a in arguments])
    return subprocess.CompletedProcess(arguments, status, said.getvalue(), complained.getvalue())


ASKED = """import json
import os
import sys

names = ["PYTEST_CURRENT_TEST", "ACCEL_FAST", "ACCEL_DATA", "PYTHONHASHSEED"]
print(json.dumps([os.environ[name] for name in names]))
with open(os.environ["ACCEL_RESULT_CARD"], "w") as card:
    card.write("{}")
os.system("echo to the terminal")
print(os.path.basename(os.getcwd()), sys.executable)"""
WIDGET = f"""display(
    {{"{repair.WIDGET_VIEW}": {{"model_id": "0"}}, "text/plain": repr(object())}}, raw=True
)"""
MORE = [
    code("asked", ASKED),
    code("address", "object()"),
    code("widget", WIDGET),
    code("skipped", "raise SystemExit", tagged=["nbval-skip"]),
    code("raising", 'raise ValueError("expected")', tagged=["raises-exception"]),
]


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """Execute a lesson twice where a user has registered a kernel that does not start."""
    folder = tmp_path_factory.mktemp("built")
    kernel = folder / "jupyter" / "kernels" / "python3"
    kernel.mkdir(parents=True)
    specification = {"argv": ["false"], "display_name": "Mine", "language": "python"}
    (kernel / "kernel.json").write_text(json.dumps(specification))
    (folder / "lessons").mkdir()
    nb = unrun(*copy.deepcopy(MORE))
    nb.metadata["language_info"] = {"name": "python"}
    path = save(folder / "lessons", nb)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("JUPYTER_PATH", str(folder / "jupyter"))
        patch.setenv("PYTHONPATH", str(lesson.ROOT))
        first = run(path)
        text = path.read_text(encoding="utf-8")
        second = run(path)
    return SimpleNamespace(path=path, first=first, text=text, second=second, nb=lesson.parse(text))


def test_it_stores_a_lesson_in_form(built):
    assert (built.first.returncode, built.first.stderr) == (0, "")
    assert built.first.stdout == f"{built.path}: stored.\n1 lesson in form.\n"
    assert form.check(built.text, built.path) == []


def test_a_second_run_changes_nothing(built):
    assert built.second.stdout == f"{built.path}: nothing new.\n1 lesson in form.\n"
    assert built.path.read_text(encoding="utf-8") == built.text


def test_the_outputs_are_those_of_the_run(built):
    assert cell(built.nb, "setup").outputs == [printed("accel_helpers is ready.\n")]
    assert cell(built.nb, "two").outputs == [printed("2\n")]
    assert cell(built.nb, "measure").outputs == []
    assert cell(built.nb, "picture").outputs[0].data["image/png"].strip() == PIXEL
    assert cell(built.nb, "raising").outputs[0].evalue == "expected"


def test_it_runs_as_nbval_runs_it(built):
    (output,) = cell(built.nb, "asked").outputs
    environment, *rest = output.text.splitlines()
    assert json.loads(environment) == ["build", "1", "bundled", "0"]
    assert rest == [f"lessons {sys.executable}"], "without what was written past Python"


def test_nothing_is_left_beside_the_lesson(built):
    assert os.listdir(built.path.parent) == [NAME]


def test_a_widgets_view_is_dropped_and_its_words_stay(built):
    (output,) = cell(built.nb, "widget").outputs
    assert list(output.data) == ["text/plain"] and "object at" in output.data["text/plain"]


def test_a_skipped_cell_is_not_run(built):
    skipped = cell(built.nb, "skipped")
    assert (skipped.execution_count, skipped.outputs) == (None, [])


def nbval(path):
    command = [sys.executable, "-m", "pytest", "-q", "--nbval", "--nbval-current-env"]
    command += ["--nbval-sanitize-with", str(lesson.SANITIZE), "--nbval-cell-timeout", "60"]
    command += ["-p", "no:cacheprovider", "-c", os.devnull, "--rootdir", str(path.parent)]
    environment = {
        **os.environ,
        "ACCEL_FAST": "1",
        "ACCEL_DATA": "bundled",
        "PYTHONHASHSEED": "0",
        "PYTHONPATH": str(lesson.ROOT),
        "ACCEL_RESULT_CARD": str(path.parent / "card.json"),
    }
    del environment["PYTEST_CURRENT_TEST"]
    command.append(str(path))
    return subprocess.run(command, capture_output=True, text=True, env=environment)


def test_nbval_accepts_what_was_stored_and_nothing_else(built, tmp_path):
    nb = copy.deepcopy(built.nb)
    # This one cell says "build" under build.py and a test's name under nbval.
    nb.cells = [one for one in nb.cells if one.id != "asked"]
    done = nbval(save(tmp_path, nb))
    assert done.returncode == 0, done.stdout
    cell(nb, "two").outputs[0].text = "3\n"
    done = nbval(save(tmp_path, nb))
    assert done.returncode == 1
    assert "1 failed" in done.stdout and "Cell outputs differ" in done.stdout


def test_a_failing_cell_leaves_the_file_and_is_named(tmp_path, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", str(lesson.ROOT))
    nb = unrun(code("bad", 'raise KeyError("lost")'))
    cell(nb, "one").source = "print( 1 )"
    path = save(tmp_path, nb)
    before = path.read_bytes()
    done = run(path)
    assert done.returncode == 1
    assert f"{path}: cell 9: KeyError: 'lost'. The file is as it was." in done.stderr
    assert path.read_bytes() == before, "not even formatted"
    assert os.listdir(tmp_path) == [NAME]


@pytest.mark.parametrize(
    "source, said",
    [
        ("import time\n\ntime.sleep(300)", "cell 2: it took longer than 2 s"),
        ("import os\n\nos._exit(1)", "cell 2: the kernel died"),
    ],
)
@pytest.mark.timeout(45)
def test_a_cell_that_never_ends_is_named(tmp_path, source, said):
    nb = example()
    nb.cells = [nb.cells[0], code("bad", source)]
    with pytest.raises(lesson.Refused, match=re.escape(said)):
        build.execute(nb, tmp_path, seconds=2)


@pytest.mark.timeout(90)
def test_an_interruption_stops_it_and_leaves_every_file(tmp_path):
    started = tmp_path / "started"
    nb = example()
    nb.cells = [
        nb.cells[0],
        code("slow", f"import time\n\nopen({str(started)!r}, 'w').close()\ntime.sleep(300)"),
    ]
    lessons = [save(tmp_path, nb, name) for name in ("97_one.ipynb", "98_two.ipynb")]
    before = [path.read_bytes() for path in lessons]
    command = [sys.executable, str(HERE / "build.py"), *map(str, lessons)]
    with subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        while not started.exists() and process.poll() is None:
            time.sleep(0.1)
        process.send_signal(signal.SIGINT)
        _, said = process.communicate()
    assert process.returncode == 130
    assert f"Stopped: {lessons[0]} is as it was." in said.decode()
    assert [path.read_bytes() for path in lessons] == before
    assert sorted(os.listdir(tmp_path)) == ["97_one.ipynb", "98_two.ipynb", "started"]


def test_what_is_no_notebook_is_refused(tmp_path):
    (tmp_path / NAME).write_text("{")
    done = run(tmp_path / NAME)
    assert done.returncode == 1 and "it cannot be read" in done.stderr
    assert run(tmp_path / "missing.ipynb").returncode == 2


def picture(png, text="A dot on a line."):
    return new_output("display_data", data={"image/png": png, "text/plain": text})


def result(text, count=3):
    return new_output("execute_result", data={"text/plain": text}, execution_count=count)


def stored(new, old, *, source="print(1 + 1)"):
    """Give what is stored for a cell that said `old` and says `new` now."""
    before, after = example(), example()
    cell(before, "two").outputs, cell(after, "two").outputs = [old], [new]
    cell(after, "two").source = source
    build.keep_old(after, before, REPLACED)
    return cell(after, "two").outputs[0]


SAME = [
    (picture("b2xk"), picture("bmV3")),
    (result("<object object at 0x7f53ad7f0a10>"), result("<object object at 0x7f53ad7f0a20>")),
    (printed("a \n"), printed("a\n")),
    (printed("\x1b[31ma\x1b[0m\n"), printed("a\n")),
    (printed("at /tmp/ipykernel_1/22.py:1\n"), printed("at /tmp/ipykernel_9/33.py:1\n")),
    (result("2"), result("2")),
    (
        new_output("error", ename="E", evalue="no", traceback=["line 1"]),
        new_output("error", ename="E", evalue="no", traceback=["line 2"]),
    ),
]
DIFFERENT = [
    (picture("b2xk"), picture("bmV3", "A dot below a line.")),
    (printed("2\n"), printed("3\n")),
    (printed("took 12 ms\n"), printed("took 13 ms\n")),
    (printed("32/32 - 1s 9ms/step\n"), printed("32/32 - 2s 8ms/step\n")),
    (result("2"), printed("2")),
    (printed("2\n"), new_output("stream", name="stderr", text="2\n")),
    (printed("0x10\n"), printed("0x20\n")),
]


@pytest.mark.parametrize("old, new", SAME)
def test_an_output_that_says_the_same_stays_as_it_was(old, new):
    assert stored(new, old) == old


@pytest.mark.parametrize("old, new", DIFFERENT)
def test_an_output_that_says_something_else_is_stored(old, new):
    assert stored(new, old) == new


def test_a_picture_that_appears_is_stored():
    old = new_output("display_data", data={"text/plain": "A dot on a line."})
    assert stored(picture("bmV3"), old) == picture("bmV3")


def test_an_edited_cell_gets_its_new_picture():
    assert stored(picture("bmV3"), picture("b2xk"), source="print(2)") == picture("bmV3")


def test_a_kept_result_gets_the_new_count():
    before, after = example(), example()
    cell(before, "two").outputs, cell(after, "two").outputs = [result("2")], [result("2", 9)]
    cell(after, "two").execution_count = 9
    build.keep_old(after, before, REPLACED)
    assert cell(after, "two").outputs[0].execution_count == 9


@pytest.mark.parametrize("old, new", SAME + DIFFERENT)
def test_the_same_outputs_are_the_same_to_nbval(old, new):
    """What build.py takes for equal must be what nbval takes for equal."""
    skipped = ("metadata", "traceback", "prompt_number", "output_type", "name", "execution_count")
    fields = (*skipped, repair.WIDGET_VIEW, "image/png", "image/jpeg")
    parent = SimpleNamespace(skip_compare=fields, sanitize_patterns=dict(REPLACED))
    colours = SimpleNamespace(FAIL="", ENDC="", OKBLUE="")
    item = SimpleNamespace(parent=parent, colors=colours, format_output_compare=lambda *_: None)
    item.sanitize = lambda text: IPyNbCell.sanitize(item, text)
    old, new = copy.deepcopy([old]), copy.deepcopy([new])
    equal = build.words(old, REPLACED) == build.words(new, REPLACED)
    compared = IPyNbCell.compare_outputs(item, coalesce_streams(new), coalesce_streams(old))
    assert compared == equal


def test_nbval_reads_every_replacement():
    text = lesson.SANITIZE.read_text(encoding="utf-8")
    assert REPLACED == get_sanitize_patterns(text)
    assert len(REPLACED) == len(re.findall("^regex:", text, re.MULTILINE)) == 4
    for line in text.splitlines():
        assert line == line.rstrip(), "an editor would strip the blank, and switch the pattern off"
    assert all(new for _, new in REPLACED)


def test_fresh_stores_every_picture_anew(tmp_path, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", str(lesson.ROOT))
    nb = example()
    cell(nb, "picture").outputs[0].data["image/png"] = "b2xk"
    path = save(tmp_path, nb)
    assert "nothing new" in run(path).stdout
    assert "stored" in run("--fresh", path).stdout
    stored_now = cell(lesson.parse(path.read_text()), "picture").outputs[0].data["image/png"]
    assert stored_now.strip() == PIXEL
