"""A run counts where nobody else worked, nothing was stolen, and the machine stayed as fast."""

import subprocess
import sys
from itertools import cycle
from types import SimpleNamespace

import quiet

LOOK = [(0, 0, 0), (20, 0.8, 0.8)]  # seconds that passed, that others used, that were stolen
# The moments before and behind a loop and a run, the loops, and how often the work runs.
TABLE = {
    "": ([*LOOK, (0, 0, 0), (100, 4, 4)], (1, 1.04), 1),
    "others used 50% of a core": ([(0, 0, 0), (20, 10, 0)], (1,), 0),
    "others used 51% of a core": ([*LOOK, (0, 0, 0), (100, 51, 0)], (1, 1), 3),
    "7% of a core was stolen": ([*LOOK, (0, 0, 0), (100, 0, 7)], (1, 1), 3),
    "a loop took 1.12 times as long afterwards": ([*LOOK, *LOOK], (1, 1.12), 3),
}


def test_a_disturbed_run_is_tried_three_times_and_nothing_runs_where_it_is_never_quiet():
    for reason, (moments, loops, count) in TABLE.items():
        runs = []
        gave, said = quiet.run(
            lambda: runs.append(0) or "ran",  # noqa: B023
            cycle(moments).__next__,
            cycle(loops).__next__,
        )
        assert (len(runs), gave) == (count, None if reason else "ran")
        assert reason in said


def test_what_our_own_children_use_is_not_that_of_others():
    def cores():
        return SimpleNamespace(user=9, system=0, steal=2)

    _, before, stolen = quiet.spent(cores)
    command = "import time\nwhile time.process_time() < 0.5: pass"
    subprocess.run([sys.executable, "-c", command], check=True)
    assert quiet.spent(cores)[1] <= before - 0.4
    assert stolen == 2
