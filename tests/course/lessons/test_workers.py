"""Two worker processes: the weights of one; one that is killed; nothing that stays behind."""

import contextlib
import re
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from accel_helpers.course.lessons import workers

PARENT = """
import signal
from accel_helpers.course.lessons import workers
signal.signal(signal.SIGINT, signal.default_int_handler)
print(*workers.train({}, kill={}, time_limit=240).log, sep="\\n")
"""


def ports(mark):
    """The ports of each process of a training that this test started, while there are any."""
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):  # it has ended, or is not ours
            variables = (folder / "environ").read_bytes().decode()
            if str(mark) in variables and "TF_CONFIG" in variables:
                yield tuple(map(int, re.findall(r"127\.0\.0\.1:(\d+)", variables)))


def free(port):
    with contextlib.suppress(OSError), socket.create_server(("", port)):
        return True


def wait_until(condition):  # or until pytest's own limit
    while not (found := condition()):
        time.sleep(0.05)
    return found


@contextlib.contextmanager
def parent(mark, steps, kill=None):
    words = [sys.executable, "-c", PARENT.format(steps, kill)]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as process:
        yield process, (known := wait_until(lambda: next(ports(mark), None)))
    wait_until(lambda: not [*ports(mark)] and all(map(free, known)))


def test_two_workers_give_the_weights_of_one_process_on_the_whole_batch(own_progress):
    trained = workers.train(time_limit=240)
    assert trained.apart <= workers.TOLERANCE, trained.log
    assert [*ports(own_progress)] == [], trained.log


@pytest.mark.parametrize("kill", [1, pytest.param(0, marks=pytest.mark.night)])
def test_a_worker_that_is_killed_is_noticed_and_nothing_is_left(own_progress, kill):
    with parent(own_progress, 3, kill) as (process, _):
        log = process.communicate()[0]
    killed, gone = re.findall(rf"([\d.]+) s: worker {kill} is", log)
    assert float(gone) - float(killed) < 30
    assert f"worker {1 - kill} is" in log


@pytest.mark.night
@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
def test_where_the_parent_is_interrupted_or_killed_nothing_is_left(own_progress, how):
    with parent(own_progress, 10**6) as (process, (port, _)), socket.socket() as one:
        wait_until(lambda: one.connect_ex(("127.0.0.1", port)) == 0)
        process.send_signal(how)
