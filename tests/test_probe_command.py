"""Commands in a child process: their limits, their variables, and that they end when we do."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from accel_helpers import probe

ROOT = Path(probe.__file__).resolve().parents[1]
HOLD = "import sys, time; held = bytearray(b'x') * int(sys.argv[1]); time.sleep(float(sys.argv[2]))"
MB = 10**6


def python(code, *words, seconds=30, **options):
    return probe.run_command([sys.executable, "-c", code, *words], seconds=seconds, **options)


def gone(number, seconds=5):
    """Whether a process ends soon."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        try:
            with open(f"/proc/{number}/stat") as file:
                if file.read().rpartition(")")[2].split()[0] == "Z":
                    return True
        except OSError:
            return True
        time.sleep(0.05)
    return False


def wait_for(path, seconds=20):
    """What a child wrote into a file, once it is there."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if path.exists() and (text := path.read_text()):
            return text
        time.sleep(0.05)
    raise AssertionError(f"{path.name} was not written")


def test_how_a_command_ended_is_told():
    assert python("print('well')").output == "well\n"
    assert python("raise SystemExit(3)").kind == "crashed"
    assert python("import os; os.abort()").signal == "SIGABRT"
    missing = probe.run_command(["no-such-command"], seconds=30)
    assert missing.kind == "crashed" and "no-such-command" in missing.ending


def test_its_variables_are_those_handed_in_and_no_others(monkeypatch):
    monkeypatch.setenv("ACCEL_ONE", "1")
    show = "import os; print(os.environ.get('ACCEL_ONE'), os.environ.get('ACCEL_TWO'))"
    assert python(show).output == "1 None\n"
    assert python(show, environ={"ACCEL_TWO": "2"}).output == "None 2\n"


def test_it_works_in_the_folder(tmp_path):
    assert python("import os; print(os.getcwd())", folder=tmp_path).output == f"{tmp_path}\n"


def test_too_much_memory_is_stopped_and_the_limit_is_told():
    done = python(HOLD, str(400 * MB), "600", memory=150 * MB)
    assert done.kind == "too large" and done.seconds < 20
    assert done.ending == "needed more than 150 MB of memory"
    assert done.peak_memory > 150 * MB and done.signal == ""


def test_what_the_command_started_counts_too(tmp_path):
    """Neither the command nor its child alone is too large."""
    noted = tmp_path / "number"
    code = (
        "import subprocess, sys\n"
        f"held = bytearray(b'x') * {100 * MB}\n"
        f"child = subprocess.Popen([sys.executable, '-c', {HOLD!r}, '{100 * MB}', '600'])\n"
        "open(sys.argv[1], 'w').write(str(child.pid))\n"
        "child.wait()"
    )
    done = python(code, str(noted), memory=180 * MB)
    assert done.kind == "too large"
    assert gone(int(noted.read_text()))


def test_within_the_limit_the_peak_is_told():
    done = python(HOLD, str(100 * MB), "0.8", memory=500 * MB)
    assert done.kind == "finished"
    assert 100 * MB < done.peak_memory < 150 * MB, "and nothing of other processes"


def test_the_time_limit_holds_with_and_without_a_memory_limit():
    for memory in (None, 10**9):
        done = python("import time; time.sleep(600)", seconds=1, memory=memory)
        assert done.kind == "too slow" and 1 <= done.seconds < 5
        assert done.ending.startswith("was not done after 1.")


def test_its_input_is_open_while_we_live_and_that_of_run_is_empty():
    look = "import select; print(select.select([0], [], [], 0.3)[0])"
    assert python(look).output == "[]\n"
    assert probe.run(look, seconds=30).output == "[0]\n"


@pytest.mark.parametrize("end", [signal.SIGKILL, signal.SIGINT])
def test_when_we_are_killed_or_interrupted_the_command_ends(tmp_path, end):
    """Killed, we can do nothing: the child sees the end of its input."""
    noted = tmp_path / "number"
    child = f"import os; open({str(noted)!r}, 'w').write(str(os.getpid())); os.read(0, 1)"
    ours = (
        "import signal, sys; from accel_helpers import probe\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"  # a shell may ignore it
        f"probe.run_command([sys.executable, '-c', {child!r}], seconds=600)"
    )
    environ = {**os.environ, "PYTHONPATH": str(ROOT)}
    with subprocess.Popen(
        [sys.executable, "-c", ours], env=environ, stderr=subprocess.DEVNULL
    ) as process:
        number = int(wait_for(noted))
        process.send_signal(end)
    assert gone(number)


def test_an_interrupt_stops_a_command_that_does_not_listen(tmp_path):
    noted = tmp_path / "number"
    child = f"import os, time; open({str(noted)!r}, 'w').write(str(os.getpid())); time.sleep(600)"
    ours = (
        "import signal, sys; from accel_helpers import probe\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"  # a shell may ignore it
        f"probe.run_command([sys.executable, '-c', {child!r}], seconds=600, memory=1e12)"
    )
    environ = {**os.environ, "PYTHONPATH": str(ROOT)}
    with subprocess.Popen(
        [sys.executable, "-c", ours], env=environ, stderr=subprocess.DEVNULL
    ) as process:
        number = int(wait_for(noted))
        process.send_signal(signal.SIGINT)
    assert gone(number)


def test_wrong_arguments_are_told():
    with pytest.raises(TypeError, match="a list such as .* got the text 'git status'"):
        probe.run_command("git status", seconds=1)
    with pytest.raises(ValueError, match="must hold a command"):
        probe.run_command([], seconds=1)
    for limit in (0, -1, float("nan")):
        with pytest.raises(ValueError, match="seconds must be a time above 0; got"):
            probe.run_command(["true"], seconds=limit)
        with pytest.raises(ValueError, match="memory must be a number of bytes above 0"):
            probe.run_command(["true"], seconds=1, memory=limit)
