"""What a learner gets from the doctor: every fault, the page, the recipe, the command.

Hostile machines, in processes of their own, are in test_scopes.py.
"""

import json
import os
import re
import subprocess
import sys
import textwrap
from html.parser import HTMLParser
from pathlib import Path

import machines
import pytest

import accel_helpers
from accel_helpers.machine import doctor
from accel_helpers.machine.faults import Finding

ROOT = Path(accel_helpers.__file__).parent.parent
OLD = "KeyError: 'COLAB_TPU_ADDR'"


@pytest.mark.parametrize("name", machines.MACHINES)
def test_every_machine_gets_what_is_wrong_with_it(name, tmp_path):
    machine = machines.MACHINES[name]
    more = {"loaded": machine.loaded, "page": machine.page, "used": machine.used}
    told = doctor.diagnose(**machine.build(tmp_path), **more)
    assert tuple(one.id for one in told.findings) == machine.finds
    assert told.next_step
    assert json.loads(json.dumps(told.to_dict())) == told.to_dict()
    for one in told.findings:
        assert one.cause.endswith(".")
        assert one.fix
        assert one.source.startswith("https://")
        assert "{" not in one.cause + one.fix, "every brace was filled in"
        assert " ".join(one.cause.split()) in " ".join(str(told).split())
    if machine.environ.keys() & {"COLAB_RELEASE_TAG", "KAGGLE_KERNEL_RUN_TYPE"}:
        assert "pip install" not in str(told), "nothing is installed over what is there"


class Odd(Exception):
    def __str__(self):
        raise ValueError("no text")


def test_an_error_that_was_caught_is_diagnosed_and_so_is_the_one_behind_it():
    with pytest.raises(Odd) as raised:
        try:
            {}["COLAB_TPU_ADDR"]
        except KeyError as error:
            raise Odd from error
    for error in (raised.value.__cause__, raised.value):  # and the machine is not looked at
        told = doctor.diagnose(error, environ={"KERAS_BACKEND": "theano"})
        (finding,) = told.findings
        assert finding.evidence == OLD
        assert told.next_step == finding.fix
    assert doctor.diagnose(Odd()).findings == ()


@pytest.mark.parametrize("text", ["ValueError: shapes (3,4) and (5,6) not aligned", " \n"])
def test_what_is_not_known_is_said_with_what_to_do(text):
    told = doctor.diagnose(text)
    assert told.findings == ()
    assert told.next_step.split() == str(told).split()[-len(told.next_step.split()) :]


def test_what_is_said_of_an_unknown_failure_is_no_finding():
    unknown, known = doctor.diagnose("XlaRuntimeError: INTERNAL: x"), doctor.diagnose(OLD)
    assert unknown.findings == ()
    assert unknown.to_dict()["unknown"] == unknown.unknown != ""
    assert known.unknown == ""
    assert known.seen is None


def test_what_to_do_names_the_place_the_package_and_the_line_that_the_text_shows():
    error = "ImportError: cannot import name 'xla_pmap_p' from 'jax.extend.core.primitives'"
    theirs = 'File "/usr/local/lib/python3.12/dist-packages/numpyro/x.py", line 3\n'
    steps = [doctor.diagnose(text + error, environ={}).next_step
             for text in (theirs + theirs.replace("numpyro", "jax"), theirs + "Cell In[3]\n",
                          "/kaggle/working/x.py\n", "")]  # fmt: skip
    assert ["numpyro" in step for step in steps] == [True, False, False, False]
    assert ["Runtime →" in step for step in steps] == [True, True, False, False]
    line = "!pip install -q jax==0.3.25"
    pair = "jaxlib version 0.5.1 is newer than and incompatible with jax version 0.3.25"
    assert line in doctor.diagnose(f"In Colab: {line}\n{pair}").next_step


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
    assert "\n2. Cause: <script>" in str(told)


@pytest.mark.parametrize(
    ("python", "versions", "words", "not_words"),
    [
        ((3, 13), {}, ["Python up to 3.12", "Runtime version 2026.07"], ["uninstall"]),
        ((3, 12), {}, ["tensorflow-tpu==2.19.1", "libtpu==0.0.10"], ["Runtime version"]),
        ((3, 12), {"tensorflow": "2.20.0"}, ["uninstall -y tensorflow"], ["already"]),
        ((3, 12), {"tensorflow-tpu": "2.19.1", "libtpu": "0.0.10"}, ["there already"],
         ["%pip install", "uninstall"]),
    ],
)  # fmt: skip
def test_the_recipe_fits_the_versions_at_hand_and_sets_all_before_tensorflow(
    python, versions, words, not_words
):
    text = doctor.tpu_recipe(python=python, versions=versions.get)
    assert re.search(r"a recipe as of 20\d\d-\d\d-\d\d", text)
    assert f"Python {python[0]}.{python[1]}" in text
    assert all(word in text for word in words)
    assert not any(word in text for word in not_words)
    code = textwrap.dedent("\n".join(line for line in text.splitlines() if line[:3] == "   "))
    code = code[code.index("import os, libtpu") :]
    compile(code, "recipe", "exec")
    before, after = code.split("import tensorflow as tf")
    assert before.count("os.environ[") == 4
    assert "os.environ" not in after


def cli(*words, given=b"", environ=(), folder=None):
    return subprocess.run(
        [sys.executable, "-m", "accel_helpers", "diagnose", *map(str, words)],
        input=given, capture_output=True, timeout=120, cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT), **dict(environ)},
    )  # fmt: skip


def ids(told):
    assert told.returncode == 0, told.stderr
    return [finding["id"] for finding in json.loads(told.stdout)["findings"]]


def test_the_command_reads_a_file_or_its_input_and_prints_only_json(tmp_path):
    log, filler = tmp_path / "huge.log", b"epoch 1: loss 0.5\n" * 1_400_000
    log.write_bytes(OLD.encode() + b"\n" + filler + b"Skipping registering GPU devices\n")
    assert ids(cli(log, "--json")) == ["tpu-node-address", "cuda-libraries"], "both ends of it"
    assert ids(cli("-", "--json", given=bytes(range(256)) * 100)) == []
    assert OLD in cli("-", given=f"{OLD}\n".encode()).stdout.decode()


def test_the_command_examines_this_runtime():
    assert "keras-backend-unknown" in ids(cli("--json", environ={"KERAS_BACKEND": "theano"}))
    assert b"TPUStrategy" in cli("--tpu-recipe").stdout


def test_a_file_that_is_not_there_is_a_sentence_and_1(tmp_path):
    told = cli("nothing.log", "--json", folder=tmp_path)
    assert told.returncode == 1
    assert "nothing.log" in json.loads(told.stdout)["error"]
    assert cli(tmp_path).returncode == 1, "a folder is no log"
