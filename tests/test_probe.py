"""Code tried in a child process: how it ended is told, and nothing of it stays behind."""

import os
import time

import pytest

from accel_helpers import probe


def alive(number):
    """Whether a process still runs; a zombie that nobody has collected does not."""
    try:
        with open(f"/proc/{number}/stat") as file:
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def gone(number, seconds=5):
    end = time.monotonic() + seconds
    while alive(number) and time.monotonic() < end:
        time.sleep(0.05)
    return not alive(number)


@pytest.mark.parametrize(
    ("code", "kind", "signal", "ending"),
    [
        ("print('well')", "finished", "", "was done after"),
        ("raise ImportError('no such wheel')", "crashed", "", "with: ImportError: no such wheel"),
        ("import os; os.abort()", "crashed", "SIGABRT", "ended with SIGABRT"),
        ("import os; os.kill(os.getpid(), 11)", "crashed", "SIGSEGV", "ended with SIGSEGV"),
        ("raise SystemExit(3)", "crashed", "", "ended with an error"),
    ],
)
def test_how_it_ended_is_told(code, kind, signal, ending):
    done = probe.run(code, seconds=30)
    assert (done.kind, done.signal) == (kind, signal)
    assert ending in done.ending
    assert 0 < done.seconds < 30


def test_both_streams_are_kept_in_order():
    code = "import os; os.write(1, b'one '); os.write(2, b'two '); os.write(1, b'three')"
    assert probe.run(code, seconds=30).output == "one two three"


def test_of_much_output_the_end_is_kept():
    done = probe.run("print('x' * 10**6 + 'last')", seconds=30)
    assert done.output.endswith("last\n") and len(done.output) == probe.KEPT_CHARACTERS


def test_what_is_too_slow_is_stopped_with_all_that_it_started(tmp_path):
    """A child of the child, which holds the output open, too."""
    noted = tmp_path / "number"
    code = (
        "import subprocess, sys, time\n"
        "held = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)'])\n"
        "open(sys.argv[1], 'w').write(str(held.pid))\n"
        "print('under way', flush=True)\n"
        "time.sleep(600)"
    )
    done = probe.run(code, str(noted), seconds=3)
    assert done.kind == "too slow" and "was not done after" in done.ending
    assert done.output == "under way\n"
    assert gone(int(noted.read_text()))


def test_what_a_finished_child_left_running_is_stopped_too(tmp_path):
    code = (
        "import subprocess, sys\n"
        "held = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)'])\n"
        "print(held.pid)"
    )
    done = probe.run(code, seconds=30)
    assert done.kind == "finished", "the output is not waited for"
    assert gone(int(done.output))


@pytest.mark.timeout(60)
def test_a_child_that_ignores_signals_is_stopped():
    code = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(600)"
    assert probe.run(code, seconds=1).kind == "too slow"


def test_text_from_outside_is_an_argument_and_never_code():
    said = "'; raise SystemExit(9) #"
    done = probe.run("import sys; print(sys.argv[1])", said, seconds=30)
    assert (done.kind, done.output.strip()) == ("finished", said)


def test_variables_reach_the_child_and_only_the_child(monkeypatch):
    monkeypatch.setenv("ACCEL_ONE", "1")
    code = "import os; print(os.environ['ACCEL_ONE'], os.environ['ACCEL_TWO'])"
    assert probe.run(code, seconds=30, environ={"ACCEL_TWO": "2"}).output == "1 2\n"
    assert "ACCEL_TWO" not in os.environ


def test_the_child_finds_what_this_process_finds(tmp_path, monkeypatch):
    (tmp_path / "found_by_the_child.py").write_text("print('found')")
    monkeypatch.syspath_prepend(str(tmp_path))
    assert probe.run("import found_by_the_child", seconds=30).output == "found\n"


@pytest.mark.parametrize("seconds", [0, -1, float("nan")])
def test_a_limit_must_be_a_time(seconds):
    with pytest.raises(ValueError, match="seconds must be a time above 0; got"):
        probe.run("pass", seconds=seconds)
