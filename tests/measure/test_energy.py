"""Energy: made readings, in the form of powercap and NVML, and this machine's own."""

import time
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace

import pytest

from accel_helpers.measure import energy

NOT, SPAN = "not measurable here", 262_143_328_850  # µJ, after which a made counter starts again


def meter(root, now, every=600.0):
    """A meter of the made machine in `now`; its zones of RAPL that show `others` must not count."""
    more = [(":0:0", "core"), (":0:1", "dram"), (":9", "psys"), ("-mmio:0", "package-0")]
    zones = [(f":{n}", f"package-{n}", uj) for n, uj in enumerate(now.get("rapl", ()))]
    for end, name, uj in zones + [(*zone, now.get("others", 0)) for zone in more if zones]:
        folder = root / f"sys/class/powercap/intel-rapl{end}"
        folder.mkdir(parents=True, exist_ok=True)
        for file, text in {"name": name, "energy_uj": uj, "max_energy_range_uj": SPAN}.items():
            (folder / file).write_text(f"{text}\n")
    gpu = SimpleNamespace(
        nvmlInit=lambda: now["boards"],  # a KeyError stands for NVML's own
        nvmlDeviceGetCount=lambda: len(now["boards"]),
        nvmlDeviceGetHandleByIndex=lambda index: index,
        nvmlDeviceGetTotalEnergyConsumption=lambda index: now["boards"][index],
    )
    return energy.meter(root=root, gpu=gpu, clock=lambda: now.get("seconds", 0.0), every=every)


RAPL, TWO = {"rapl": [5_000_000]}, [SPAN - 50_000_000] * 2
BOARDS, MORE = {"boards": [90_000_000, 5_000]}, {"boards": [90_700_000, 105_000]}
CASES = {
    "plain": (RAPL, {"rapl": [655_000_000], "others": 9_000_000}, 650, "RAPL"),
    "one starts again": ({"rapl": [TWO[0], 0]}, {"rapl": [600_000_000, 300_000_000]}, 950, "RAPL"),
    "both do": ({"rapl": TWO}, {"rapl": [600_000_000, 250_000_000]}, 950, "RAPL"),
    "perhaps it did unseen": (RAPL, {"seconds": 200.0}, None, NOT),  # 262 kJ at 2 kW: 131 s
    "it was set to 0": (RAPL, {"rapl": [1_000_000]}, None, NOT),
    "it stands still": (RAPL, {}, None, NOT),
    "boards": (BOARDS, MORE, 800, "NVML"),
    "all": (RAPL | BOARDS, {"rapl": [55_000_000], **MORE}, 850, "RAPL and NVML"),
}


@pytest.mark.parametrize(("before", "after", "joules", "how"), CASES.values(), ids=CASES)
def test_made_readings_give_the_right_joules_or_none(tmp_path, before, after, joules, how):
    now = dict(before)
    with meter(tmp_path, now) as found:
        now |= {"seconds": 10.0} | after
        meter(tmp_path, now)  # writes the files
    assert (found.joules and pytest.approx(found.joules), found.how) == (joules, how)
    assert found.seconds == now["seconds"] and (joules or len(found.notes) == 2)


def test_a_reading_that_fails_leaves_no_number_and_is_the_reason(tmp_path):
    file = tmp_path / "sys/class/powercap/intel-rapl:0/energy_uj"
    often, later = meter(tmp_path, RAPL, every=0.001), meter(tmp_path, RAPL)
    with often as found:
        file.rename(tmp_path / "away")
        while len(found.notes) < 2:  # no GPU answers; and now, to the thread, this file
            time.sleep(0.001)
        (tmp_path / "away").rename(file)
    assert found.joules is None and str(file) in found.notes[1]
    file.unlink()
    file.mkdir()  # refused from the beginning, to root as well
    with later as found:
        pass
    assert (found.joules, found.how) == (None, NOT) and str(file) in found.notes[0]


def test_this_machine_is_measured_only_where_it_has_counters():
    with energy.meter() as found:
        time.sleep(0.01)
    maybe = any(Path("/sys/class/powercap").glob("intel-rapl:*")) or find_spec("pynvml")
    assert (found.joules is None) == (found.how == NOT) and (maybe or found.joules is None)


def test_the_upper_limit_is_published_power_times_time():
    assert energy.upper_limit(100, "Tesla T4")[0] == 70 * 100
    assert not any(energy.upper_limit(100, chip)[0] for chip in ("TPU v5e", "TPU v4"))  # or a mean
