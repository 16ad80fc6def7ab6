"""Whether a machine is quiet: nobody else works on it, and it stays as fast as it was."""

import os
import statistics
import subprocess
import sys
import time
from typing import NamedTuple

import psutil

OTHERS = 0.05  # the most of one core that all other processes may use
STOLEN = 0.05  # the most of one core that a hypervisor may give to other machines
DRIFT = 0.05  # how much longer or shorter a loop may take afterwards
LOOK = 5  # seconds: how long the machine is looked at before a run
WAIT = 60  # seconds: how long a quiet moment is waited for
TRIES = 3
# Its mean over twenty seconds: a core whose other half serves someone else is now fast, now slow.
LOOP = """import time
loops, start = 0, time.perf_counter()
while time.perf_counter() < start + 20:
    for _ in range(100_000):
        pass
    loops += 1
print((time.perf_counter() - start) / loops)"""


class Spent(NamedTuple):
    """Seconds, each since a moment of its own: passed, used by others, given to other machines."""

    passed: float
    others: float
    stolen: float


class Machine:
    """What is asked of a machine; tests have one of their own."""

    def sleep(self, seconds):
        time.sleep(seconds)

    def spent(self):
        """Give what was spent; this process's own is its time and that of ended children."""
        cores, own = psutil.cpu_times(), os.times()
        busy = cores.user + cores.system + getattr(cores, "nice", 0)
        return Spent(time.monotonic(), busy - sum(own[:4]), getattr(cores, "steal", 0))

    def loop(self):
        """Give the seconds of a loop, a mean of the cores, all of them busy with it at once."""
        command = [sys.executable, "-c", LOOP]
        loops = [subprocess.Popen(command, stdout=subprocess.PIPE) for _ in range(os.cpu_count())]
        return statistics.mean(float(each.communicate()[0]) for each in loops)


def run(work, machine):
    """Call `work` on a quiet machine; give what it gave and "", or None and why it does not count.

    A run that was disturbed is tried again; one before which nothing gets quiet is not.
    """
    for _ in range(TRIES):
        if found := _waited(machine):
            break
        before, seconds = machine.spent(), machine.loop()
        gave = work()
        ratio = machine.loop() / seconds
        found = _disturbed(before, machine.spent())
        if abs(ratio - 1) > DRIFT:
            found.append(f"a loop took {ratio:.2f} times as long afterwards")
        if not found:
            return gave, ""
    return None, f"this machine is not quiet: {', '.join(found)}"


def _waited(machine):
    """Wait for a moment in which nobody else works; give who did until the end, in words."""
    for _ in range(WAIT // LOOK):
        before = machine.spent()
        machine.sleep(LOOK)
        found = _disturbed(before, machine.spent())
        if not found:
            break
    return found


def _disturbed(before, after):
    """Give, in words, what others took between two moments, if it was too much."""
    passed = after.passed - before.passed
    others = (after.others - before.others) / passed
    stolen = (after.stolen - before.stolen) / passed
    found = []
    if others > OTHERS:
        found.append(f"others used {others:.0%} of a core")
    if stolen > STOLEN:
        found.append(f"{stolen:.0%} of a core was stolen")
    return found
