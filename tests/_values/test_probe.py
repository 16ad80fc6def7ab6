"""Child processes: how they ended is told, they are talked to, and nothing of them stays behind."""

import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from accel_helpers._values import probe

MB = 10**6
SLEEP = "import time; time.sleep(600)"
# the child starts another one, which holds the output open, too
START = "import subprocess, sys; held = subprocess.Popen([sys.executable, '-c', sys.argv[1]]); "
START += "print(held.pid, flush=True); "


def gone(number):
    """Whether a process ends within a minute; a zombie that nobody has collected has."""
    status = Path(f"/proc/{number}/status")
    for _ in range(1200):
        if not status.exists() or "State:\tZ" in status.read_text():
            return True
        time.sleep(0.05)
    return False


def python(code, *words):
    return [sys.executable, "-c", code, *words]


def run(code, *words, seconds=60, **options):
    return probe.run_command(python(code, *words), seconds=seconds, **options)


def test_how_it_ended_is_told():
    failed = run("raise ImportError('no such wheel')")
    assert failed.kind == "crashed"
    assert "ImportError: no such wheel" in failed.ending
    aborted = run("import os; os.abort()")
    assert aborted.kind == "crashed"
    assert "SIGABRT" in aborted.ending
    missing = probe.run_command(["no-such-command"], seconds=60)
    assert missing.kind == "crashed"


def test_all_of_its_output_is_kept_more_than_a_pipe_holds():
    code = "import os; os.write(2, b'one '); print('x' * 10**6)"
    assert run(code).output == "one " + "x" * 10**6 + "\n"


def test_all_that_a_child_started_ends_with_it():
    slow = run(START + SLEEP, SLEEP, seconds=2)
    assert slow.kind == "too slow"
    assert gone(int(slow.output))
    done = run(START, SLEEP)
    assert done.kind == "finished"
    assert gone(int(done.output))


def test_memory_is_limited():
    hold = "import time; held = bytearray(b'x') * {} * 10**6; time.sleep({})"
    done = run(hold.format(400, 600), memory=150 * MB)
    assert done.kind == "too large"
    assert "150 MB" in done.ending
    assert run(hold.format(50, 0.3), memory=150 * MB).kind == "finished"


@pytest.mark.parametrize("end", [signal.SIGKILL, signal.SIGINT])
def test_when_we_are_killed_or_interrupted_the_command_ends(end, tmp_path):
    """Killed, we can do nothing: the child sees the end of its input."""
    path = tmp_path / "number"
    child = f"import os; open({str(path)!r}, 'w').write(str(os.getpid())); os.read(0, 1)"
    # a shell may ignore Ctrl-C
    ours = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler); "
    ours += "from accel_helpers._values import probe; "
    ours += f"probe.run_command({python(child)!r}, seconds=600)"
    process = subprocess.Popen(python(ours), env=probe.variables({}), stderr=subprocess.DEVNULL)
    while not (path.exists() and path.read_text()):
        time.sleep(0.05)
    process.send_signal(end)
    process.wait()
    assert gone(int(path.read_text()))
