"""Energy, on made readings in the formats of Linux's powercap, NVML and nvidia-smi; one on this
machine as it is. A clock stands still until it is told, so a block lasts as long as a test wants.
"""

import shutil
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from accel_helpers.measure import energy

SPAN = 262_143_328_850  # microjoules, after which the made counters of RAPL start again


class Made:
    """A made machine: its RAPL files (microjoules), NVML (millijoules) and nvidia-smi (watts)."""

    def __init__(self, root, boards=(), watts=""):
        self.root, self.now, self.boards, self.watts = root, 0.0, boards, watts

    def rapl(self, *packages, others=0):
        """Write the counters of packages, and `others` to those that must not be added."""
        zones = {f"intel-rapl:{n}": (f"package-{n}", uj) for n, uj in enumerate(packages)}
        more = {":0:0": "core", ":0:1": "dram", ":9": "psys", "-mmio:0": "package-0"}
        zones |= {f"intel-rapl{end}": (name, others) for end, name in more.items()}
        for zone, (name, uj) in zones.items():
            folder = self.root / "sys/class/powercap" / zone
            folder.mkdir(parents=True, exist_ok=True)
            for file, text in zip(("name", "energy_uj"), (name, uj), strict=True):
                (folder / file).write_text(f"{text}\n")
            (folder / "max_energy_range_uj").write_text(f"{SPAN}\n")
        return self.root / "sys/class/powercap/intel-rapl:0/energy_uj"

    def meter(self, every=600.0):  # by default no reading but the first and the last
        gpu = SimpleNamespace(
            nvmlInit=lambda: self.boards or 1 / 0,
            nvmlDeviceGetCount=lambda: len(self.boards),
            nvmlDeviceGetHandleByIndex=lambda index: index,
            nvmlDeviceGetTotalEnergyConsumption=lambda index: self.boards[index],
        )
        clock, run = (lambda: self.now), (lambda words, seconds: self.watts)
        return energy.meter(root=self.root, gpu=gpu, run=run, clock=clock, every=every)


@pytest.mark.parametrize(
    ("before", "after", "joules"),
    [
        ([5_000_000], [655_000_000], 650),
        ([SPAN - 50_000_000], [600_000_000], 650),
        ([SPAN - 50_000_000, 1_000_000], [600_000_000, 301_000_000], 950),
        ([SPAN - 50_000_000, SPAN - 1_000_000], [600_000_000, 299_000_000], 950),
    ],
    ids=["plain", "starts again", "one of two starts again", "both start again"],
)
def test_packages_are_summed_without_their_parts_and_psys(tmp_path, before, after, joules):
    made = Made(tmp_path)
    made.rapl(*before)
    with made.meter() as found:
        made.now = 10.0
        made.rapl(*after, others=7_000_000)
    assert (found.joules, found.how, found.seconds) == (pytest.approx(joules), "RAPL", 10.0)


def test_boards_count_in_millijoules_and_are_added_to_packages(tmp_path):
    made = Made(tmp_path, boards=[90_000_000, 5_000], watts="70.00\n")  # watts nobody needs
    with made.meter() as found:
        made.now, made.boards = 10.0, [90_700_000, 105_000]
    assert (found.joules, found.how) == (pytest.approx(800), "NVML") and len(found.notes) == 1
    made.rapl(0)
    with made.meter() as found:
        made.now, made.boards = 20.0, [91_400_000, 205_000]
        made.rapl(50_000_000)
    assert (found.joules, found.how, found.notes) == (pytest.approx(850), "RAPL and NVML", ())


def test_watts_are_integrated_where_a_board_has_no_counter(tmp_path):
    made = Made(tmp_path, watts="70.00\n26.50\n")
    with made.meter() as found:
        made.now, made.watts = 8.0, "30.00\n26.50\n"
    assert (found.joules, found.how) == (pytest.approx(8 * (50 + 26.5)), "NVML")


def test_a_long_gap_leaves_no_number(tmp_path):
    counter, power = Made(tmp_path), Made(tmp_path / "none", watts="70.00\n")
    counter.rapl(5_000_000)
    for made, long in (
        (counter, 200.0),
        (power, 11.0),
    ):  # 262 kJ at 2 kW: 131 s; 5 intervals of 2 s
        with made.meter(every=2.0) as found:
            made.now = long
        assert found.joules is None and found.how == "not measurable here" and found.notes
    assert energy.total([(0, [(5, 1e5)]), (2, []), (4, [(9, 1e5)])]) is None
    assert energy.total([(0, [(5, 1e5)]), (2, [(1, 1e5)])]) is None  # 50 kW: it was set to 0
    ramp = [(t, [(10.0 * t, 0)]) for t in range(7)]
    assert energy.total(ramp) == pytest.approx(180)


def test_a_thread_reads_along_and_a_reading_that_fails_leaves_no_number(tmp_path):
    made = Made(tmp_path)
    file = made.rapl(5_000_000)
    with made.meter(every=0.001) as found:
        file.rename(tmp_path / "away")
        while len(found.notes) < 2:  # that there is no GPU, and then that this file was not read
            time.sleep(0.001)
        (tmp_path / "away").rename(file)
    assert found.joules is None and str(file) in str(found)


def test_a_refused_file_is_named_as_the_reason(tmp_path):
    made = Made(tmp_path, watts="[N/A]\n")
    file = made.rapl(5_000_000)
    file.unlink()
    file.mkdir()  # Linux refuses it to all but root; this is refused to root as well
    with made.meter() as found:
        made.now = 10.0
    assert (found.joules, found.how, found.seconds) == (None, "not measurable here", 10.0)
    assert str(file) in found.notes[0] and len(found.notes) == 2


def test_this_machine_is_measured_only_where_it_has_counters():
    files = Path("/sys/class/powercap").glob("intel-rapl:*/energy_uj")
    with energy.meter() as found:
        work = sum(range(100_000))
    assert work and found.seconds > 0
    if not any(files) and not shutil.which("nvidia-smi"):
        assert found.joules is None and len(found.notes) == 2
    assert (found.joules is None) == (found.how == "not measurable here")


def test_the_upper_limit_is_published_power_times_time():
    joules, what = energy.upper_limit(100, "Tesla T4")
    assert joules == 70 * 100 and "TDP" in what
    for name in ("TPU v5e", "TPU v4", "no such chip"):  # the v4's figure is a measured mean
        assert energy.upper_limit(100, name)[0] is None
