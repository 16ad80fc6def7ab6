"""What a learner gets from the doctor: every fault, the page, the recipe, the command.

Hostile machines, in processes of their own, are in test_scopes.py.
"""

import json
import os
import re
import subprocess
import sys
import textwrap
from pathlib import Path

import machines
import pytest

import accel_helpers
from accel_helpers.machine import doctor
from accel_helpers.machine.facts import installed
from accel_helpers.machine.faults import Finding
from accel_helpers.machine.raised import Seen

ROOT = Path(accel_helpers.__file__).parent.parent
OLD = "KeyError: 'COLAB_TPU_ADDR'"


@pytest.mark.parametrize("name", machines.MACHINES)
def test_every_machine_gets_what_is_wrong_with_it(name, tmp_path):
    machine = machines.MACHINES[name]
    facts = machine.build(tmp_path)
    told = doctor.diagnose(**facts, loaded=machine.loaded, page=machine.page, used=machine.used)
    assert tuple(one.id for one in told.findings) == machine.finds
    assert "{" not in str(told), "every brace was filled in"
    if machine.environ.keys() & {"COLAB_RELEASE_TAG", "KAGGLE_KERNEL_RUN_TYPE"}:
        assert "pip install" not in str(told), "nothing is installed over what is there"


def test_an_error_that_was_caught_is_diagnosed_and_so_is_the_one_behind_it():
    with pytest.raises(ArithmeticError) as raised:
        try:
            {}["COLAB_TPU_ADDR"]
        except KeyError as error:
            raise ArithmeticError from error
    for error in (raised.value.__cause__, raised.value):  # and the machine is not looked at
        told = doctor.diagnose(error, environ={"KERAS_BACKEND": "theano"})
        (finding,) = told.findings
        assert finding.evidence == OLD
        assert told.next_step == finding.fix


@pytest.mark.parametrize(
    ("text", "here", "words"),
    [
        ("", {}, "Kernel → Restart"),
        ("", {"COLAB_RELEASE_TAG": "x"}, "Runtime → Restart"),
        ("In Colab: ", {}, "Runtime → Restart"),
        ("/usr/local/lib/python3.12/dist-packages/x.py of /kaggle/input", {}, "Run → Restart"),
    ],
)
def test_what_to_do_is_said_in_the_words_of_the_place_of_the_text_or_else_of_this_one(
    text, here, words
):
    error = "ImportError: numpy._core.multiarray failed to import"
    assert words in doctor.diagnose(f"{text}\n{error}", environ=here).next_step


def test_the_page_shows_what_the_text_says_and_runs_nothing_of_the_log():
    script = "<script>alert(1)</script>"
    evil = Finding("x", script, 'do "this" & that', "https://a.example/?b=1&c<script>", script)
    told = doctor.Diagnosis((evil, evil), evil.fix, Seen(), (), ())
    page = told._repr_html_()
    assert set(re.findall(r"<(\w+)", page)) <= {"p", "ol", "li", "strong", "br", "a"}
    assert 'href="https://a.example/?b=1&amp;c&lt;script&gt;"' in page
    assert "\n2. Seen: <script>" in str(told)


def test_the_recipe_names_the_versions_at_hand_and_sets_all_before_tensorflow():
    text = doctor.tpu_recipe()
    assert f"tensorflow-tpu {installed('tensorflow-tpu') or 'not installed'}" in text
    code = textwrap.dedent(text[text.index("   import os") : text.index("\nThe first step")])
    compile(code, "recipe", "exec")
    before, after = code.split("import tensorflow as tf")
    assert before.count("os.environ[") == 4
    assert "os.environ" not in after


def cli(*words, given=b"", **environ):
    told = subprocess.run(
        [sys.executable, "-m", "accel_helpers", "diagnose", *map(str, words)],
        input=given, capture_output=True, timeout=120,
        env={**os.environ, "PYTHONPATH": str(ROOT), **environ},
    )  # fmt: skip
    return told.stdout.decode()


def ids(answer):
    return [finding["id"] for finding in json.loads(answer)["findings"]]


def test_the_command_reads_a_file_or_its_input_or_examines_this_runtime(tmp_path):
    log, filler = tmp_path / "huge.log", b"epoch 1: loss 0.5\n" * 1_400_000
    log.write_bytes(OLD.encode() + b"\n" + filler + b"Skipping registering GPU devices\n")
    assert ids(cli(log, "--json")) == ["tpu-node-address", "cuda-libraries"], "both ends"
    assert "keras-backend-unknown" in ids(cli("--json", KERAS_BACKEND="theano"))
    assert OLD in cli("-", given=OLD.encode())
    assert "no.log" in json.loads(cli("no.log", "--json"))["error"]
