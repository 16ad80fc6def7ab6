"""`python -m accel_helpers tpu-compiler …`: exit codes, sentences, and one JSON document."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest
from small_packages import asking, make_wheels, using

import accel_helpers

ROOT = Path(accel_helpers.__file__).parent.parent


def cli(environ, *words):
    return subprocess.run(
        [sys.executable, "-m", "accel_helpers", "tpu-compiler", *words],
        env={**environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=120,
    )


@pytest.fixture
def kept(tmp_path):
    return tmp_path / "compiler"


@pytest.fixture
def environ(tmp_path, kept):
    return using(make_wheels(tmp_path / "wheels"), kept)


def test_status_install_and_remove_for_people(environ, kept):
    asked = cli(environ, "status")
    assert (asked.returncode, asked.stderr) == (0, "")
    assert asked.stdout.startswith("The TPU compiler is not installed. `python -m accel_helpers")
    made = cli(environ, "install")
    assert made.returncode == 0, made.stderr
    assert made.stderr.startswith("Installing the TPU compiler") and str(kept) in made.stderr
    assert made.stdout.startswith("The TPU compiler is ready: ")
    assert cli(environ, "status").stdout == made.stdout
    gone = cli(environ, "remove")
    assert gone.returncode == 0 and gone.stdout.startswith("The TPU compiler is removed: ")
    assert not kept.exists()
    assert cli(environ, "remove").stdout == "There is no TPU compiler to remove.\n"


@pytest.mark.slow
def test_the_same_for_programs(environ, kept):
    assert json.loads(cli(environ, "status", "--json").stdout)["ready"] is False
    made = json.loads(cli(environ, "install", "--json").stdout)
    assert made["ready"] is True and made["versions"]["libtpu"] == "0.0.32.1"
    assert json.loads(cli(environ, "status", "--json").stdout) == made
    gone = json.loads(cli(environ, "remove", "--json").stdout)
    assert gone["removed"] == [made["folder"]] and gone["bytes"] >= made["bytes"]


def test_a_failed_install_is_a_sentence_and_1(environ, tmp_path):
    environ["PIP_FIND_LINKS"] = str(tmp_path / "none")
    failed = cli(environ, "install", "--json")
    assert failed.returncode == 1
    assert "The last line of the installer was: " in json.loads(failed.stdout)["error"]
    assert "Traceback" not in failed.stderr


def test_an_interrupted_install_is_a_sentence_and_1_and_leaves_nothing(kept):
    code = (
        "import signal, sys; from accel_helpers.cli import main\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"  # a shell may ignore it
        "sys.exit(main(['tpu-compiler', 'install']))"
    )
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen(50)
        child = {**asking(silent.getsockname()[1], kept), "PYTHONPATH": str(ROOT)}
        words = [sys.executable, "-c", code]
        with subprocess.Popen(words, env=child, stderr=subprocess.PIPE, text=True) as process:
            end = time.monotonic() + 30
            while not list(kept.glob(".tpu-compiler-*")) and time.monotonic() < end:
                time.sleep(0.05)
            process.send_signal(signal.SIGINT)
            said = process.stderr.read()
    assert process.returncode == 1
    assert said.splitlines()[-1].startswith("Interrupted. The TPU compiler is not installed.")
    assert "Traceback" not in said
    assert not kept.exists()


@pytest.mark.parametrize("words", [[], ["fly"]])
def test_wrong_usage_leaves_with_2(words):
    told = cli(dict(os.environ), *words)
    assert (told.returncode, told.stdout) == (2, "")
    assert "usage: python -m accel_helpers tpu-compiler" in told.stderr
