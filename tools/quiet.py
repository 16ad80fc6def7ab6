"""Whether a machine is quiet: nobody else works on it, and it stays as fast as it was."""

import os
import statistics
import subprocess
import sys
import time

import psutil

TRIES = 3
OTHERS = 0.05  # the most of one core that all other processes may use
STOLEN = 0.05  # the most of one core that a hypervisor may give to other machines
DRIFT = 0.05  # how much longer or shorter a loop may take afterwards
# Its mean over twenty seconds: a core whose other half serves someone else is now fast, now slow.
LOOP = """import time
loops, start = 0, time.perf_counter()
while time.perf_counter() < start + 20:
    for _ in range(100_000):
        pass
    loops += 1
print((time.perf_counter() - start) / loops)"""


def spent(cpu_times=psutil.cpu_times):
    """Give seconds, each since some moment: passed, used by others, given to other machines.

    This process's own are its time and that of ended children.
    """
    cores, own = cpu_times(), os.times()
    busy = cores.user + cores.system + getattr(cores, "nice", 0)
    return time.monotonic(), busy - sum(own[:4]), getattr(cores, "steal", 0)


def loop():
    """Give the seconds of a loop, a mean of the cores, all of them busy with it at once."""
    command = [sys.executable, "-c", LOOP]
    loops = [subprocess.Popen(command, stdout=subprocess.PIPE) for _ in range(os.cpu_count())]
    return statistics.mean(float(each.communicate()[0]) for each in loops)


def run(work, spent=spent, loop=loop):
    """Call `work` on a quiet machine; give what it gave and "", or None and why it does not count.

    Nothing runs before the machine is quiet, and a run that was disturbed is tried again.
    """
    for _ in range(TRIES):
        start, before = spent(), loop()
        found = _disturbed(start, spent())
        if found:
            continue
        start, gave = spent(), work()
        ratio = loop() / before
        found = _disturbed(start, spent())
        if abs(ratio - 1) > DRIFT:
            found.append(f"a loop took {ratio:.2f} times as long afterwards")
        if not found:
            return gave, ""
    return None, f"this machine is not quiet: {', '.join(found)}"


def _disturbed(before, after):
    """Give, in words, what others took between two moments, if it was too much."""
    passed, *taken = (end - start for start, end in zip(before, after, strict=True))
    others, stolen = (seconds / passed for seconds in taken)
    found = []
    if others > OTHERS:
        found.append(f"others used {others:.0%} of a core")
    if stolen > STOLEN:
        found.append(f"{stolen:.0%} of a core was stolen")
    return found
