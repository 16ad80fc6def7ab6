"""What a learner gets from the doctor: a page, the words of the place, a recipe, a command."""

import re
import subprocess
import sys

import pytest

from accel_helpers import cli
from accel_helpers.machine import doctor
from accel_helpers.machine.facts import installed

OLD = "KeyError: 'COLAB_TPU_ADDR'"


def test_an_error_that_was_caught_is_diagnosed_and_so_is_the_one_behind_it():
    with pytest.raises(ArithmeticError) as raised:
        try:
            {}["COLAB_TPU_ADDR"]
        except KeyError as error:
            raise ArithmeticError from error
    # The machine, on which something else is wrong, is not looked at.
    for error in (raised.value.__cause__, raised.value):
        told = doctor.diagnose(error, environ={"KERAS_BACKEND": "theano"})
        assert [one.evidence for one in told.findings] == [OLD]
        assert told.next_step == told.findings[0].fix
    assert told.seen.your_line.endswith("raise ArithmeticError from error")


def test_what_to_do_is_said_in_the_words_of_the_place_of_the_text_or_else_of_this_one():
    def told(place, **environ):
        error = f"{place}\nImportError: numpy._core.multiarray failed to import"
        return doctor.diagnose(error, environ=environ).next_step

    package = "/usr/local/lib/python3.12/dist-packages/x.py"
    assert "Kernel → Restart" in told("")
    assert "Runtime → Restart" in told("", COLAB_RELEASE_TAG="x")
    assert "Runtime → Restart" in told(package)
    assert "Run → Restart" in told(f"{package} of /kaggle/input")


def test_the_page_shows_what_the_text_says_and_runs_nothing_of_the_log():
    told = doctor.diagnose(f"{OLD} <script>alert(1)</script>")
    page = told._repr_html_()
    assert "&lt;script&gt;" in page
    assert set(re.findall(r"<(\w+)", page)) <= {"p", "ol", "li", "strong", "br", "a"}


def test_the_recipe_names_the_versions_at_hand_and_sets_all_before_tensorflow():
    text = doctor.tpu_recipe()
    assert f"tensorflow-tpu {installed('tensorflow-tpu') or 'not installed'}" in text
    before, after = text.split("import tensorflow as tf")
    assert before.count("os.environ[") == 4
    assert "os.environ" not in after


def test_the_command_reads_a_file_or_its_input_or_examines_this_runtime(
    tmp_path, capsys, monkeypatch
):
    def told(*words):
        cli.main(["diagnose", *words])
        return capsys.readouterr().out

    # Of a huge file both ends are read.
    log = tmp_path / "huge.log"
    filler = "epoch 1: loss 0.5\n" * 150_000
    log.write_text(f"{OLD}\n{filler}Skipping registering GPU devices\n")
    assert re.search("tpu-node-address(?s:.*)cuda-libraries", told(str(log), "--json"))
    monkeypatch.setenv("KERAS_BACKEND", "theano")
    assert "theano" in told()
    command = [sys.executable, "-m", "accel_helpers", "diagnose", "-"]
    assert OLD.encode() in subprocess.run(command, input=OLD.encode(), stdout=-1).stdout
