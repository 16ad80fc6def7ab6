"""Whether a machine is quiet: nobody else works on it, and it stays as fast as it was."""

import os
import statistics
import subprocess
import sys
import time

import psutil
from lesson import Refused

MOST = 0.05  # of one core for others, of one core stolen by a hypervisor, and of a loop's time
# Its mean over twenty seconds: a core whose other half serves someone else is now fast, now slow.
LOOP = """import time
loops, start = 0, time.perf_counter()
while time.perf_counter() < start + 20:
    for _ in range(100_000):
        pass
    loops += 1
print((time.perf_counter() - start) / loops)"""


def spent():
    """Give seconds, each since some moment: passed, used by others, given to other machines.

    This process's own are its time and that of ended children.
    """
    cores, own = psutil.cpu_times(), os.times()
    used = cores.user + cores.system + cores.nice - sum(own[:4])
    return time.monotonic(), used, getattr(cores, "steal", 0)


def loop():
    """Give the seconds of a loop, a mean of the cores, all of them busy with it at once."""
    command = [sys.executable, "-c", LOOP]
    loops = [subprocess.Popen(command, stdout=subprocess.PIPE) for _ in range(os.cpu_count())]
    return statistics.mean(float(each.communicate()[0]) for each in loops)


def run(work, spent=spent, loop=loop):
    """Give what `work` gives, where the machine was quiet all the time; else it is Refused."""
    start, before = spent(), loop()
    gave = work()
    ratio = loop() / before
    passed, *taken = (now - then for now, then in zip(spent(), start, strict=True))
    others, stolen = (seconds / passed for seconds in taken)
    if max(others, stolen, abs(ratio - 1)) > MOST:
        raise Refused(
            f"this machine is not quiet: others used {others:.0%} of a core, {stolen:.0%} was "
            f"stolen, and a loop took {ratio:.2f} times as long afterwards"
        )
    return gave
