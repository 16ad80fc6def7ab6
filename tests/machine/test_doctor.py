"""What a learner gets from the doctor: cause, fix and source, for errors, texts and machines."""

import json
import os
import re
import subprocess
import sys
import textwrap
import time
from html.parser import HTMLParser
from pathlib import Path

import machines
import pytest

import accel_helpers
from accel_helpers.machine import doctor
from accel_helpers.machine.symptoms import Finding

ROOT = Path(accel_helpers.__file__).parent.parent
OLD = "KeyError: 'COLAB_TPU_ADDR'"
NUMPY = b"ValueError: numpy.dtype size changed, may indicate binary incompatibility.\n"
LIMIT = 5.0  # seconds that the doctor may take, whatever a machine is like


def caught(function):
    try:
        function()
    except Exception as error:
        return error


def test_an_error_that_was_caught_is_diagnosed():
    error = caught(lambda: {}["COLAB_TPU_ADDR"])
    found = doctor.diagnose(error)
    assert found.findings[0].evidence == OLD
    assert found.next_step == found.findings[0].fix


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


def test_what_is_not_known_is_said_with_what_to_report():
    told = doctor.diagnose("ValueError: shapes (3,4) and (5,6) not aligned")
    assert told.findings == () and told.to_dict() == {"findings": []}
    text = str(told)
    assert "no failure that it knows" in text and "report it" in text and "describe" in text
    assert "The text is empty" in str(doctor.diagnose(" \n"))


@pytest.mark.parametrize("given", [3, b"bytes", ["KeyError"], Path("log.txt")])
def test_what_is_neither_error_nor_text_is_refused_by_name(given):
    with pytest.raises(TypeError, match="takes an exception, the text") as refused:
        doctor.diagnose(given)
    assert type(given).__name__ in str(refused.value)


def test_the_page_shows_what_the_text_says_and_runs_nothing_of_the_log():
    evil = Finding("x", "<script>alert(1)</script>", 'do "this" & that', "https://a.example/?b=1&c<script>",
                   "<img src=x onerror=alert(1)>")  # fmt: skip
    told = doctor.Diagnosis((evil,), "the text", evil.fix)
    page, tags = told._repr_html_(), []
    parser = HTMLParser()
    parser.handle_starttag = lambda tag, attributes: tags.append(tag)
    parser.feed(page)
    assert set(tags) <= {"p", "ol", "li", "strong", "br", "a"}
    assert 'href="https://a.example/?b=1&amp;c&lt;script&gt;"' in page
    for words in (evil.cause, 'do "this" & that', "https://a.example"):
        assert words in str(told)


def test_several_findings_are_numbered_the_first_to_mend_first(tmp_path):
    told = doctor.diagnose(
        environ={"COLAB_RELEASE_TAG": "r", "KERAS_BACKEND": "theano"},
        root=tmp_path, versions={"jax": "0.7.2"}.get,
    )  # fmt: skip
    text = str(told)
    assert [f.id for f in told.findings] == ["no-accelerator-colab", "keras-backend-unknown"]
    assert text.index("\n1. Cause:") < text.index("\n2. Cause:")
    assert "2 things" in text and all(len(line) <= 100 for line in text.splitlines())
    assert json.loads(json.dumps(told.to_dict())) == {
        "findings": [
            {"id": f.id, "cause": f.cause, "fix": f.fix, "source": f.source} for f in told.findings
        ]
    }


def test_a_machine_in_order_gets_a_sentence_and_no_finding(tmp_path):
    told = doctor.diagnose(environ={}, root=tmp_path, versions={"jax": "0.7.2"}.get)
    assert told.findings == () and "only a CPU" in told.next_step


EXPECTED = {
    "colab cpu": ["no-accelerator-colab"],
    "colab t4": [],
    "colab l4": [],
    "colab a100": [],
    "colab g4": ["gpu-too-new"],
    "colab v5e-1": ["tpu-no-tensorflow"],
    "colab v5e-1, stock tensorflow": ["tpu-stock-tensorflow"],
    "colab v5e-1, tensorflow-tpu 2.19.1": [],
    "colab v5e-1, tensorflow-tpu 2.20.0": ["tensorflow-tpu-pins"],
    "colab, claimed tpu": ["tpu-claimed"],
    "old tpu node": ["no-accelerator-colab", "old-tpu-node", "grpc-address"],
    "kaggle cpu": ["no-accelerator-kaggle"],
    "kaggle t4 x2": [],
    "kaggle v5e-8": ["tpu-stock-tensorflow"],
    "laptop, nothing": ["framework-missing"],
    "laptop, tensorflow and a gpu": ["cuda-libraries-missing"],
    "a mac": [],
}


@pytest.mark.parametrize("name", machines.MACHINES)
def test_every_recorded_runtime_gets_what_is_wrong_with_it(name, tmp_path):
    told = doctor.diagnose(**machines.kwargs(name, tmp_path), loaded={})
    assert [finding.id for finding in told.findings] == EXPECTED[name]
    assert told.next_step and str(told)


# --- the recipe -------------------------------------------------------------------------------


def test_the_recipe_is_dated_and_never_claimed_to_have_run():
    recipe = doctor.tpu_recipe(python=(3, 12), versions={}.get)
    first, second, *_ = str(recipe).splitlines()
    assert recipe.as_of in first and re.fullmatch(r"20\d\d-\d\d-\d\d", recipe.as_of)
    assert second.startswith("Nobody of this course has seen it run on a v5e-1.")


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
def test_the_recipe_fits_the_versions_at_hand(python, versions, words, not_words):
    text = str(doctor.tpu_recipe(python=python, versions=versions.get))
    assert f"Python {python[0]}.{python[1]}" in text
    assert all(word in text for word in words)
    assert not any(word in text for word in not_words)


def test_the_code_of_the_recipe_sets_everything_before_tensorflow_is_imported():
    text = str(doctor.tpu_recipe(python=(3, 12), versions={}.get))
    code = textwrap.dedent("\n".join(line for line in text.splitlines() if line[:3] == "   "))
    code = code[code.index("import os, libtpu") :]
    compile(code, "recipe", "exec")
    before, after = code.split("import tensorflow as tf")
    assert before.count("os.environ[") == 4 and "os.environ" not in after


# --- on the command line ----------------------------------------------------------------------


def cli(*words, given=b"", environ=(), folder=None):
    return subprocess.run(
        [sys.executable, "-m", "accel_helpers", "doctor", *map(str, words)],
        input=given, capture_output=True, timeout=60, cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT), **dict(environ)},
    )  # fmt: skip


def ids(told):
    assert told.returncode == 0, told.stderr
    return [finding["id"] for finding in json.loads(told.stdout)["findings"]]


def test_the_command_reads_a_file_or_its_input_and_prints_only_json(tmp_path):
    log = tmp_path / "run.log"
    log.write_text(f"line\n{OLD}\n", "utf-8")
    expected = [finding.id for finding in doctor.diagnose(OLD).findings]
    assert ids(cli(log, "--json")) == expected
    assert ids(cli("-", "--json", given=log.read_bytes())) == expected
    assert ids(cli("-", "--json", given=b"all is well\n")) == []
    assert ids(cli("-", "--json", given=bytes(range(256)) * 100)) == []
    assert OLD in cli(log).stdout.decode()


def test_the_command_examines_this_runtime():
    assert "keras-backend-unknown" in ids(cli("--json", environ={"KERAS_BACKEND": "theano"}))
    assert b"TPUStrategy" in cli("--tpu-recipe").stdout


def test_a_file_that_is_not_there_is_a_sentence_and_1(tmp_path):
    told = cli("nothing.log", "--json", folder=tmp_path)
    assert told.returncode == 1 and "nothing.log" in json.loads(told.stdout)["error"]
    assert cli(tmp_path).returncode == 1, "a folder is no log"


def test_a_huge_log_is_searched_at_both_ends(tmp_path):
    log, filler = tmp_path / "huge.log", b"epoch 1: loss 0.5\n" * 700_000
    log.write_bytes(OLD.encode() + b"\n" + filler + filler + NUMPY)
    assert len(ids(cli(log, "--json"))) == 2


# --- on hostile machines ----------------------------------------------------------------------

EXAMINE = """
import json, sys, time
import accel_helpers as ah
began = time.monotonic()
told = ah.doctor.diagnose({arguments})
seconds = time.monotonic() - began
loaded = sorted({{"tensorflow", "keras", "jax", "torch", "numpy", "libtpu"}} & set(sys.modules))
ah.backend.choose()
model = ah.training.quickstart_model()
import numpy as np
x, y = np.zeros((64, 28, 28), "float32"), np.zeros(64, "int32")
loss = model.fit(x, y, verbose=0).history["loss"][0]
print(json.dumps([seconds, loaded, [f.id for f in told.findings], loss]))
"""


def hostile(tmp_path, arguments="", **environ):
    """Examine a machine in a process of its own, which then trains."""
    done = subprocess.run(
        [sys.executable, "-c", EXAMINE.format(arguments=arguments)],
        cwd=tmp_path, capture_output=True, text=True, timeout=120,
        env={**os.environ, "PYTHONPATH": str(ROOT), "KERAS_BACKEND": "jax", **environ},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    seconds, loaded, found, loss = json.loads(done.stdout.splitlines()[-1])
    assert seconds < LIMIT and loaded == [] and loss > 0
    return found


@pytest.mark.parametrize("value", ["grpc://10.255.255.1:1", "grpc://", "grpc://x:y", "\0", "$(x)"])
def test_a_tpu_address_of_nonsense_is_told_in_time(tmp_path, value):
    began = time.monotonic()
    told = doctor.diagnose(
        environ={"TPU_NAME": value, "COLAB_TPU_ADDR": value}, root=tmp_path,
        versions={"jax": "0.7.2"}.get,
    )  # fmt: skip
    assert len(told.findings) == 2 and time.monotonic() - began < LIMIT


@pytest.mark.slow
def test_a_tpu_address_of_nonsense_does_no_harm(tmp_path):
    nonsense = {"TPU_NAME": "grpc://nobody.invalid:8470", "COLAB_TPU_ADDR": "näh\n$(x)"}
    assert hostile(tmp_path, **nonsense) == ["old-tpu-node", "grpc-address"]


@pytest.mark.slow
def test_an_nvidia_smi_that_hangs_is_given_up(tmp_path):
    root = tmp_path / "root"
    for name in ("dev/nvidiactl", "proc/driver/nvidia/version"):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text("NVRM version: NVIDIA UNIX x86_64 Kernel Module  550.54.15\n")
    smi = tmp_path / "nvidia-smi"
    smi.write_text("#!/bin/sh\nsleep 60\n")
    smi.chmod(0o755)
    path = f"{tmp_path}{os.pathsep}{os.environ['PATH']}"
    assert hostile(tmp_path, f"root={str(root)!r}", PATH=path) == ["gpu-silent"]


@pytest.mark.slow
def test_an_unreadable_proc_is_no_trouble(tmp_path):
    for name in ("proc/cpuinfo", "proc/meminfo", "proc/driver/nvidia/version", "proc/self/cgroup"):
        (tmp_path / "root" / name).mkdir(parents=True)  # a folder cannot be read as a file
    assert hostile(tmp_path, f"root={str(tmp_path / 'root')!r}") == []
    here = doctor.diagnose(environ={}, root=tmp_path / "nowhere", versions={"jax": "0.7"}.get)
    assert here.findings == ()
