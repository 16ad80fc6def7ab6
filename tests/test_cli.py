"""What people and programs rely on when they type `python -m accel_helpers …`."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

import accel_helpers

ROOT = Path(accel_helpers.__file__).parent.parent


def cli(folder, *words):
    """Run a command in a folder, as a shell would."""
    environ = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = ["-m", "accel_helpers", *words]
    if words[:1] == ("run",):
        command = [str(ROOT / "tools" / "run_lessons.py"), *words[1:]]
    return subprocess.run(
        [sys.executable, *command],
        cwd=folder,
        env=environ,
        capture_output=True,
        text=True,
        timeout=120,
    )


@pytest.fixture
def course(tmp_path):
    """A working folder with three tiny lessons, the last of which fails."""
    nbformat = pytest.importorskip("nbformat")
    pytest.importorskip("nbclient")
    pytest.importorskip("nbconvert")
    (tmp_path / "notebooks").mkdir()
    # Python's print goes through Jupyter; the second line is what a C library does.
    noisy = "print('from the lesson')\nimport os; os.write(1, b'noise'); os.system('echo noise')"
    for name, source in {
        "00_good": "1",
        "01_noisy": noisy,
        "02_bad": "raise OSError('no')",
    }.items():
        notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source)])
        nbformat.write(notebook, tmp_path / "notebooks" / f"{name}.ipynb")
    return tmp_path


def test_describe_prints_the_machine_for_people_and_for_programs(tmp_path):
    told = cli(tmp_path, "describe")
    assert told.returncode == 0 and told.stdout.strip()
    asked = cli(tmp_path, "describe", "--json")
    assert asked.returncode == 0
    assert json.loads(asked.stdout)["place"] in ("colab", "kaggle", "local")


def test_describe_takes_less_than_a_second(tmp_path):
    times = []
    while len(times) < 8 and min(times, default=9) >= 1:
        began = time.perf_counter()
        cli(tmp_path, "describe")
        times.append(time.perf_counter() - began)
    assert min(times) < 1


def test_describe_loads_no_framework(tmp_path):
    code = (
        "import sys; from accel_helpers.cli import main; main(['describe']);"
        "print(sorted({'tensorflow', 'keras', 'jax', 'numpy', 'nbclient'} & set(sys.modules)))"
    )
    environ = {**os.environ, "PYTHONPATH": str(ROOT)}
    words = [sys.executable, "-c", code]
    said = subprocess.run(words, env=environ, capture_output=True, text=True, check=True).stdout
    assert said.splitlines()[-1] == "[]"


def test_version_is_the_package_s():
    told = cli(ROOT, "--version")
    assert (told.returncode, told.stdout) == (0, f"accel_helpers {accel_helpers.__version__}\n")


@pytest.mark.parametrize("words", [[], ["fly"], ["card"]])
def test_wrong_usage_leaves_with_2_and_says_how(tmp_path, words):
    told = cli(tmp_path, *words)
    assert told.returncode == 2
    assert told.stdout == ""
    assert "usage: python -m accel_helpers" in told.stderr


def test_an_unknown_lesson_is_wrong_usage_and_names_those_that_exist(course):
    told = cli(course, "run", "--lessons", "99")
    assert told.returncode == 2
    known = "00_good, 01_noisy, 02_bad"
    assert told.stderr == f"There is no lesson '99'. There are: {known}.\n"
    assert not (course / "course_report").exists()


def test_run_writes_the_report_and_a_card_that_card_accepts(course):
    told = cli(course, "run", "--lessons", "1, 00", "--fast")
    assert told.returncode == 0, told.stderr
    report = course / "course_report"
    assert told.stdout.splitlines() == [
        "2 of 2 lessons ran to the end.",
        f"Report: {Path('course_report', 'index.html')}",
    ]
    assert (report / "index.html").is_file() and (report / "01_noisy.html").is_file()
    card = cli(course, "card", "course_report/result_card.json", "--json")
    assert card.returncode == 0, card.stderr
    assert "run_lessons.py --lessons '1, 00' --fast" in json.dumps(json.loads(card.stdout))
    assert str(Path(sys.executable).parent) not in card.stdout


@pytest.mark.slow
def test_run_leaves_with_1_when_a_lesson_failed_and_prints_only_json(course):
    told = cli(course, "run", "--lessons", "01 02", "--json", "--out", "elsewhere")
    assert told.returncode == 1
    document = json.loads(told.stdout)
    assert [lesson["ok"] for lesson in document["lessons"]] == [True, False]
    assert document["lessons"][1]["error"] == "code cell 1: OSError: no"
    assert (course / "elsewhere" / "index.html").is_file()
    assert "\r" not in told.stderr


def test_a_folder_that_cannot_be_written_is_one_sentence(course):
    (course / "file").write_text("in the way")
    told = cli(course, "run", "--lessons", "00", "--out", "file/report", "--json")
    assert told.returncode == 1
    assert "file/report" in json.loads(told.stdout)["error"]
    assert told.stderr.splitlines() == [json.loads(told.stdout)["error"]]


@pytest.mark.parametrize("content", [None, "", "{", "[]", '{"lessons": 3}', "\udcff"])
def test_a_bad_card_is_a_sentence_and_1(tmp_path, content):
    if content is not None:
        (tmp_path / "card.json").write_bytes(content.encode("utf-8", "surrogateescape"))
    told = cli(tmp_path, "card", "card.json", "--json")
    assert told.returncode == 1
    assert json.loads(told.stdout)["error"]
    assert "Traceback" not in told.stderr
    assert "card.json" in told.stderr
