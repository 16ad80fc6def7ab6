"""What a learner gets from the doctor: every fault, the page, the recipe, the command.

Hostile machines, in processes of their own, are in test_scopes.py.
"""

import json
import os
import re
import subprocess
import sys
import textwrap
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import machines
import pytest

import accel_helpers
from accel_helpers.machine import doctor, faults, runtime
from accel_helpers.machine.faults import Finding
from accel_helpers.machine.runtime import describe

ROOT = Path(accel_helpers.__file__).parent.parent
OLD = "KeyError: 'COLAB_TPU_ADDR'"


def examine(name, tmp_path, **changes):
    machine = machines.MACHINES[name].but(**changes)
    return doctor.diagnose(**machine.build(tmp_path), loaded=machine.loaded)


def caught(function):
    try:
        function()
    except Exception as error:
        return error


# --- machines -----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", machines.MACHINES)
def test_every_machine_gets_what_is_wrong_with_it(name, tmp_path):
    told = examine(name, tmp_path)
    assert tuple(one.id for one in told.findings) == machines.MACHINES[name].finds
    assert told.next_step and json.loads(json.dumps(told.to_dict())) == told.to_dict()
    for one in told.findings:
        assert one.cause.endswith(".") and one.fix and one.source.startswith("https://")
        assert "{" not in one.cause + one.fix, "every brace was filled in"
        assert " ".join(one.cause.split()) in " ".join(str(told).split())
    if machines.MACHINES[name].environ.keys() & {"COLAB_RELEASE_TAG", "KAGGLE_KERNEL_RUN_TYPE"}:
        assert "pip install" not in str(told), "nothing is installed over what is there"


def test_every_fault_has_a_rule_and_a_machine_that_shows_it():
    shown = {each for machine in machines.MACHINES.values() for each in machine.finds}
    assert set(faults.RULES) == set(faults.known().fault) == shown | {"tpu-lock"}
    named = {each for fault in faults.known().fault.values() for each in fault.unless}
    assert named <= set(faults.RULES)


@pytest.mark.parametrize("name", machines.MACHINES)
def test_the_notes_of_a_machine_are_the_doctors_own_words(name, tmp_path):
    recorded = machines.MACHINES[name].build(tmp_path)
    causes = {fault.cause for fault in faults.among(runtime.look(**recorded), *faults.RULES)}
    assert set(describe(**recorded).notes) <= causes


@pytest.mark.parametrize("value", ["", "-1", "1", "NoDevFiles", " "])
def test_a_gpu_can_be_hidden_in_several_ways(value, tmp_path):
    told = examine("colab t4", tmp_path, environ={"CUDA_VISIBLE_DEVICES": value})
    assert [one.id for one in told.findings] == ["cuda-hidden"]


@pytest.mark.parametrize(
    ("setting", "visible"),
    [
        (None, 2),
        ("0", 1),
        ("1,0", 2),
        ("-1", 0),
        ("", 0),
        ("0,7,1", 1),
        ("0,0", 1),
        ("GPU-8a,1", 2),
    ],
)
def test_cuda_counts_up_to_the_first_entry_that_names_no_gpu(setting, visible, tmp_path):
    environ = {} if setting is None else {"CUDA_VISIBLE_DEVICES": setting}
    recorded = machines.MACHINES["kaggle t4 x2"].but(environ=environ).build(tmp_path)
    assert runtime.look(**recorded).visible_gpus == visible


def test_a_restart_is_called_by_the_name_it_has_there(tmp_path):
    for number, (name, place) in enumerate(
        {
            "colab t4": "colab",
            "kaggle t4 x2": "kaggle",
            "laptop, tensorflow and a gpu": "local",
        }.items()
    ):
        (tmp_path / str(number)).mkdir()
        told = examine(name, tmp_path / str(number), environ={"CUDA_VISIBLE_DEVICES": ""})
        assert faults.known().place[place].restart in told.next_step


def test_a_lock_file_is_told_where_it_belongs_to_somebody_else(tmp_path):
    machine = machines.MACHINES["colab v5e-1, after choose"]
    recorded = machine.but(files={"tmp/libtpu_lockfile": ""}).build(tmp_path)
    it = runtime.look(**recorded, loaded={})
    for may, expected in ((True, []), (False, ["tpu-lock"])):
        found = faults.find(replace(it, may_open=lambda file, may=may: may))
        assert [one.id for one in found] == expected


@pytest.mark.parametrize("value", ["grpc://10.255.255.1:1", "grpc://", "grpc://x:y", "\0", "$(x)"])
def test_a_tpu_address_of_nonsense_is_told(value, tmp_path):
    told = examine("laptop", tmp_path, environ={"TPU_NAME": value, "COLAB_TPU_ADDR": value})
    assert len(told.findings) == 2


# --- errors and texts (what is found in them: test_symptoms.py) -----------------------------------


def test_an_error_that_was_caught_is_diagnosed():
    found = doctor.diagnose(caught(lambda: {}["COLAB_TPU_ADDR"]))
    assert found.findings[0].evidence == OLD and found.next_step == found.findings[0].fix


def test_the_error_behind_an_error_counts_too():
    def fail():
        try:
            {}["COLAB_TPU_ADDR"]
        except KeyError as error:
            raise RuntimeError("the notebook stopped") from error

    assert doctor.diagnose(caught(fail)).findings


def test_an_error_whose_text_cannot_be_made_is_no_trouble():
    class Odd(Exception):
        def __str__(self):
            raise ValueError("no text")

    assert doctor.diagnose(Odd()).findings == ()


def test_only_the_text_is_looked_at_and_not_the_machine():
    told = doctor.diagnose(OLD, environ={"KERAS_BACKEND": "theano"})
    assert [finding.evidence for finding in told.findings] == [OLD]


@pytest.mark.parametrize("text", ["ValueError: shapes (3,4) and (5,6) not aligned", " \n"])
def test_what_is_not_known_is_said_with_what_to_do(text):
    told = doctor.diagnose(text)
    assert told.findings == () and told.next_step in " ".join(str(told).split())


@pytest.mark.parametrize("given", [3, b"bytes", ["KeyError"], Path("log.txt")])
def test_what_is_neither_error_nor_text_is_refused_by_name(given):
    with pytest.raises(TypeError, match=type(given).__name__):
        doctor.diagnose(given)


def test_the_page_shows_what_the_text_says_and_runs_nothing_of_the_log():
    evil = Finding("x", "<script>alert(1)</script>", 'do "this" & that', "https://a.example/?b=1&c<script>",
                   "<img src=x onerror=alert(1)>")  # fmt: skip
    told = doctor.Diagnosis((evil, evil), "the text", evil.fix)
    page, tags = told._repr_html_(), []
    parser = HTMLParser()
    parser.handle_starttag = lambda tag, attributes: tags.append(tag)
    parser.feed(page)
    assert set(tags) <= {"p", "ol", "li", "strong", "br", "a"}
    assert 'href="https://a.example/?b=1&amp;c&lt;script&gt;"' in page
    text = str(told)
    assert all(words in text for words in (evil.cause, 'do "this" & that', "https://a.example"))
    assert text.index("\n1. Cause:") < text.index("\n2. Cause:")


# --- the recipe ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("python", "versions", "words", "not_words"),
    [
        ((3, 13), {}, ["Python up to 3.12", "Runtime version 2026.07"], ["uninstall"]),
        ((3, 12), {}, ["tensorflow-tpu==2.19.1", "libtpu==0.0.10"], ["Runtime version"]),
        ((3, 12), {"tensorflow": "2.20.0"}, ["uninstall -y tensorflow"], ["already"]),
        ((3, 12), {"tensorflow-cpu": "2.21.0"}, ["uninstall -y tensorflow-cpu"], ["already"]),
        ((3, 12), {"tensorflow-tpu": "2.19.1", "libtpu": "0.0.10"}, ["there already"],
         ["%pip install", "uninstall"]),
    ],
)  # fmt: skip
def test_the_recipe_fits_the_versions_at_hand_and_sets_all_before_tensorflow(
    python, versions, words, not_words
):
    text = doctor.tpu_recipe(python=python, versions=versions.get)
    assert re.search(r"a recipe as of 20\d\d-\d\d-\d\d", text)
    assert "Nobody of this course has seen it run" in text
    assert f"Python {python[0]}.{python[1]}" in text
    assert all(word in text for word in words)
    assert not any(word in text for word in not_words)
    code = textwrap.dedent("\n".join(line for line in text.splitlines() if line[:3] == "   "))
    code = code[code.index("import os, libtpu") :]
    compile(code, "recipe", "exec")
    before, after = code.split("import tensorflow as tf")
    assert before.count("os.environ[") == 4 and "os.environ" not in after


# --- on the command line --------------------------------------------------------------------------


def cli(*words, given=b"", environ=(), folder=None):
    return subprocess.run(
        [sys.executable, "-m", "accel_helpers", "doctor", *map(str, words)],
        input=given, capture_output=True, timeout=120, cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT), **dict(environ)},
    )  # fmt: skip


def ids(told):
    assert told.returncode == 0, told.stderr
    return [finding["id"] for finding in json.loads(told.stdout)["findings"]]


def test_the_command_reads_a_file_or_its_input_and_prints_only_json(tmp_path):
    log, filler = tmp_path / "huge.log", b"epoch 1: loss 0.5\n" * 700_000
    log.write_bytes(OLD.encode() + b"\n" + filler + filler + b"Skipping registering GPU devices\n")
    assert ids(cli(log, "--json")) == ["tpu-node-address", "cuda-libraries"], "both ends of it"
    assert ids(cli("-", "--json", given=f"{OLD}\n".encode())) == ["tpu-node-address"]
    assert ids(cli("-", "--json", given=bytes(range(256)) * 100)) == []
    assert OLD in cli("-", given=f"{OLD}\n".encode()).stdout.decode()


def test_the_command_examines_this_runtime():
    assert "keras-backend-unknown" in ids(cli("--json", environ={"KERAS_BACKEND": "theano"}))
    assert b"TPUStrategy" in cli("--tpu-recipe").stdout


def test_a_file_that_is_not_there_is_a_sentence_and_1(tmp_path):
    told = cli("nothing.log", "--json", folder=tmp_path)
    assert told.returncode == 1 and "nothing.log" in json.loads(told.stdout)["error"]
    assert cli(tmp_path).returncode == 1, "a folder is no log"
