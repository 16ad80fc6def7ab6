"""A run counts where nobody else worked, nothing was stolen, and the machine stayed as fast."""

import subprocess
import sys
from itertools import cycle
from types import SimpleNamespace

import quiet

# Seconds that passed, that others used, and that were stolen: at the begin and the end of what is
# looked at before a run, and of the run itself.
QUIET = [(0, 0, 0), (20, 0.8, 0.8), (0, 0, 0), (100, 4, 4)]


def test_a_disturbed_run_is_tried_three_times_and_nothing_runs_where_it_is_never_quiet():
    table = [
        ("", 1, (1, 1.04), QUIET),
        ("others used 50% of a core", 0, (1,), [(0, 0, 0), (20, 10, 0)]),
        ("others used 51% of a core", 3, (1, 1), [*QUIET[:3], (100, 51, 0)]),
        ("7% of a core was stolen", 3, (1, 1), [*QUIET[:3], (100, 0, 7)]),
        ("a loop took 1.12 times as long afterwards", 3, (1, 1.12), QUIET),
    ]
    for reason, times, loops, moments in table:
        runs = []

        def work(runs=runs):
            runs.append("ran")
            return "ran"

        gave, said = quiet.run(work, cycle(moments).__next__, cycle(loops).__next__)
        assert reason in said
        assert len(runs) == times
        assert gave == (None if reason else "ran")


def test_what_our_own_children_use_is_not_that_of_others():
    def cores():
        return SimpleNamespace(user=9, system=0, steal=2)

    _, before, stolen = quiet.spent(cores)
    command = "import time\nwhile time.process_time() < 0.5: pass"
    subprocess.run([sys.executable, "-c", command], check=True)
    assert quiet.spent(cores)[1] <= before - 0.4
    assert stolen == 2
