"""Energy: made counters in the form of NVML, and this machine's own."""

import sys
import time
from types import SimpleNamespace

import pytest

from accel_helpers.measure import energy

NOT = "not measurable here"


class Boards:
    """Answers as the module pynvml does, with one counter in millijoules for each board."""

    def __init__(self, *counters):
        self.counters = counters
        self.now = 0.0

    def nvmlInit(self):
        if self.counters is None:
            raise RuntimeError("GPU is lost")  # it stands for an error of NVML's own

    def nvmlDeviceGetCount(self):
        return len(self.counters)

    def nvmlDeviceGetHandleByIndex(self, index):
        return SimpleNamespace(index=index)

    def nvmlDeviceGetTotalEnergyConsumption(self, handle):
        return self.counters[handle.index]

    def meter(self):
        return energy.meter(gpu=self, clock=lambda: self.now)


def measured(boards, after):
    """What a meter gives if the counters are `after` ten seconds later."""
    with boards.meter() as found:
        boards.now += 10.0
        boards.counters = after
    return found


def test_what_all_boards_took_is_added_up():
    found = measured(Boards(90_000_000, 5_000), (90_700_000, 105_000))
    assert found.joules == pytest.approx(800)
    assert found.how == "NVML"
    assert found.verdict == "measured"
    assert found.seconds == 10.0
    assert str(found) == "Energy in 10 s: 800 J by NVML."


@pytest.mark.parametrize(
    ("before", "after", "reason"),
    [
        ((), (), "the driver lists no GPU"),
        (None, (5_000,), "GPU is lost"),
        ((5_000,), None, "GPU is lost"),
        ((5_000,), (1_000,), "started again"),
        ((5_000,), (5_000,), "stood still"),
        ((5_000, 5_000), (900_000, 4_000), "started again"),
        ((5_000, 5_000), (900_000,), "came or went"),
    ],
)
def test_readings_that_cannot_be_believed_leave_no_number_and_one_reason(before, after, reason):
    boards = Boards()
    boards.counters = before
    found = measured(boards, after)
    assert found.joules is None
    assert found.how == NOT
    assert found.verdict == "no counter"
    (note,) = found.notes
    assert reason in note
    assert reason in " ".join(str(found).split())


def test_work_that_fails_is_measured_up_to_its_error():
    boards = Boards(5_000)
    with pytest.raises(ZeroDivisionError), boards.meter() as found:
        boards.counters = (9_000,)
        raise ZeroDivisionError
    assert found.joules == pytest.approx(4)


def test_a_machine_without_nvml_says_that_nothing_can_be_measured(monkeypatch):
    monkeypatch.setitem(sys.modules, "pynvml", None)
    with energy.meter() as found:
        time.sleep(0.01)
    assert found.joules is None
    assert found.seconds >= 0.01
    assert NOT in str(found)
    assert "no NVIDIA GPU" in str(found)


def test_the_upper_limit_is_published_power_times_time():
    joules, whose = energy.upper_limit(100, "Tesla T4")
    assert joules == 70 * 100
    assert "TDP" in whose


@pytest.mark.parametrize("chip", ["TPU v5e", "TPU v4"])  # not published, or a mean
def test_there_is_no_upper_limit_without_a_design_power(chip):
    joules, reason = energy.upper_limit(100, chip)
    assert joules is None
    assert chip in reason
