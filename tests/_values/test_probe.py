"""Child processes: how they ended is told, they are talked to, and nothing of them stays behind."""

import os
import select
import signal
import subprocess
import sys
import time

import pytest

from accel_helpers._values import probe

MB = 10**6
HOLD = "import sys, time; held = bytearray(b'x') * int(sys.argv[1]); time.sleep(float(sys.argv[2]))"
SLEEP = "import time; time.sleep(600)"
START = (  # a child of the child, which holds the output open, too
    "import subprocess, sys, time\n"
    "held = subprocess.Popen([sys.executable, '-c', sys.argv[1], *sys.argv[2:]])\n"
    "print(held.pid, flush=True)\n"
)


def gone(number, seconds=60):
    """Whether a process ends; a zombie that nobody has collected has."""
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


def python(code, *words):
    return [sys.executable, "-c", code, *map(str, words)]


def run(code, *words, seconds=60, **options):
    return probe.run_command(python(code, *words), seconds=seconds, **options)


@pytest.mark.parametrize(
    ("code", "ending"),
    [
        ("raise ImportError('no such wheel')", "ImportError: no such wheel"),
        ("import os; os.abort()", "SIGABRT"),
        ("raise SystemExit(3)", "ended"),
    ],
)
def test_how_it_ended_is_told(code, ending):
    done = run(code)
    assert done.kind == "crashed"
    assert ending in done.ending


def test_both_streams_are_kept_in_order():
    code = "import os; os.write(1, b'one '); os.write(2, b'two '); os.write(1, b'three')"
    assert run(code).output == "one two three"
    assert len(run("print('x' * 10**6)").output) == 10**6 + 1, "more than a pipe holds"


@pytest.mark.parametrize("after", ["time.sleep(600)", "pass"])
def test_all_that_a_child_started_ends_with_it(after):
    """The child is too slow; or it has finished, and its output is not waited for."""
    done = run(START + after, SLEEP, seconds=3 if "sleep" in after else 60)
    assert done.kind == ("too slow" if "sleep" in after else "finished")
    assert gone(int(done.output))


def test_a_child_that_ignores_signals_is_stopped_in_time():
    code = f"import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); {SLEEP}"
    assert run(code, seconds=1, memory=10**9).kind == "too slow"


def test_variables_and_packages_are_those_that_were_asked_for(monkeypatch, tmp_path):
    monkeypatch.setenv("ACCEL_ONE", "1")
    (tmp_path / "found_by_the_child.py").write_text("print('found')")
    monkeypatch.syspath_prepend(str(tmp_path))
    show = "import os; print(os.environ.get('ACCEL_ONE'), os.environ.get('ACCEL_TWO'))"
    two = {"ACCEL_TWO": "2"}
    assert run(show, environ=probe.variables(two)).output == "1 2\n"
    assert run(show).output == "1 None\n"
    assert run(show, environ=two).output == "None 2\n"
    assert "ACCEL_TWO" not in os.environ
    found = run("import found_by_the_child", environ=probe.variables({}))
    assert found.output == "found\n"


def test_memory_is_limited():
    done = run(HOLD, 400 * MB, 600, memory=150 * MB)
    assert done.kind == "too large"
    assert "150 MB" in done.ending
    assert run(HOLD, 100 * MB, 1, memory=150 * MB).kind == "finished"


@pytest.mark.parametrize(
    ("end", "listens"), [(signal.SIGKILL, True), (signal.SIGINT, True), (signal.SIGINT, False)]
)
def test_when_we_are_killed_or_interrupted_the_command_ends(end, listens):
    """Killed, we can do nothing: the child sees the end of its input."""
    child = f"import os; os.write(3, b'%d' % os.getpid()); {'os.read(0, 1)' if listens else SLEEP}"
    here, there = os.pipe()
    ours = (
        "import signal, subprocess, sys; from accel_helpers._values import probe\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"  # a shell may ignore it
        f"words = ['sh', '-c', 'exec \"$0\" \"$@\" 3>/proc/{os.getpid()}/fd/{there}']\n"
        f"probe.run_command([*words, *{python(child)!r}], seconds=600)"
    )
    with subprocess.Popen(
        python(ours), env=probe.variables({}), stderr=subprocess.DEVNULL
    ) as process:
        assert select.select([here], [], [], 120)[0], "it has begun"
        number = int(os.read(here, 20))
        process.send_signal(end)
    os.close(here), os.close(there)
    assert gone(number)


def test_a_child_is_told_and_heard_line_by_line():
    code = "import sys\nfor line in sys.stdin: print('heard', line, end='', flush=True)"
    with probe.Child(python(code), heard=True) as child:
        for word in ("one", "two"):
            child.tell(word)
            assert child.hear(60) == f"heard {word}\n"
        assert child.hear(0.01) is None, "nothing more has come"
        assert os.getpgid(child.process.pid) != os.getpgid(0), "Ctrl-C is not meant for it"
        child.process.stdin.close()
        assert child.hear(60) == "", "the end of its input is how it learns of the end"
    with probe.Child(python("import sys; print(1); sys.exit('why')"), heard=True) as child:
        assert (child.hear(60), child.hear(60)) == ("1\n", "")
        child.stop()
        assert child.output == "why\n"


def test_a_command_that_is_not_there_is_told_as_one_that_failed():
    missing = probe.run_command(["no-such-command"], seconds=60)
    assert missing.kind == "crashed"
    assert "no-such-command" in missing.ending
