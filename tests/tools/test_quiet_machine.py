"""A run counts where nobody else worked, nothing was stolen, and the machine stayed as fast."""

import itertools
import subprocess
import sys

import psutil
import pytest
import quiet

RUN = 98  # seconds of a run on the machine below; a loop takes one


class Machine:
    """One whose time passes when it is asked to; what others use is a share for each stretch."""

    def __init__(self, others=(), stolen=(), loops=()):
        self.now = quiet.Spent(0, 0, 0)
        self.others = itertools.chain(others, itertools.repeat(0))
        self.stolen = itertools.chain(stolen, itertools.repeat(0))
        self.loops = itertools.chain(loops, itertools.repeat(1))
        self.runs = 0

    def sleep(self, seconds):
        passed, others, stolen = self.now
        others += seconds * next(self.others)
        stolen += seconds * next(self.stolen)
        self.now = quiet.Spent(passed + seconds, others, stolen)

    def spent(self):
        return self.now

    def loop(self):
        self.now = self.now._replace(passed=self.now.passed + 1)
        return next(self.loops)

    def work(self):
        self.runs += 1
        self.sleep(RUN)
        return f"run {self.runs}"


# Others and what is stolen: of each look before a run, and of each run. Loops: two of each run.
@pytest.mark.parametrize(
    ("machine", "runs", "passed", "reason"),
    [
        (Machine(others=(0.04, 0.04), loops=(1, 1.04)), 1, 105, ""),
        (Machine(others=(1, 0)), 1, 110, ""),  # busy for five seconds
        (Machine(others=[0.06] * 12), 0, 60, "others used 6% of a core"),
        (Machine(others=(0, 2)), 2, 210, ""),
        (Machine(others=(0, 0.5) * 3), 3, 315, "others used 49% of a core"),
        (Machine(stolen=(0, 0.07) * 3), 3, 315, "7% of a core was stolen"),
        (Machine(loops=(1, 1.12, 1, 0.9)), 3, 315, ""),
        (Machine(loops=(1, 1.12) * 3), 3, 315, "a loop took 1.12 times as long afterwards"),
    ],
)
def test_a_disturbed_run_is_tried_three_times_and_nothing_runs_where_it_is_never_quiet(
    machine, runs, passed, reason
):
    gave, said = quiet.run(machine.work, machine)
    assert gave == (None if reason else f"run {runs}")
    assert reason in said
    assert (machine.runs, machine.now.passed) == (runs, passed)


def test_what_others_use_is_without_what_we_and_our_children_do(tmp_path, monkeypatch):
    ticks = 100 * psutil._pslinux.CLOCK_TICKS if psutil.LINUX else pytest.skip("no /proc")
    (tmp_path / "stat").write_text(f"cpu {ticks} 0 {ticks} 99 0 0 0 {ticks} 0 0\n")
    monkeypatch.setattr(psutil, "PROCFS_PATH", str(tmp_path))
    before = quiet.Machine().spent()
    assert before.stolen == 100
    assert before.others <= 200
    command = "import time\nwhile time.process_time() < 0.5: pass"
    subprocess.run([sys.executable, "-c", command], check=True)
    assert quiet.Machine().spent().others <= before.others - 0.4
    assert 0.001 < quiet.Machine().loop() < 10
