"""The real TPU compiler, in its environment: it starts, two at once, and it leaves nothing."""

import os
import threading
from pathlib import Path

import pytest

from accel_helpers import probe
from accel_helpers.tpu.environment import PINS

SCRIPT = """
import sys, time
import jax
from jax.experimental import topologies
from jax.sharding import SingleDeviceSharding
described = topologies.get_topology_desc(
    platform="tpu", topology_name="v5e:1x1", chips_per_host_bounds=[1, 1, 1]
)
place = SingleDeviceSharding(described.devices[0])
step = jax.jit(lambda x: (x @ x.T).sum(), in_shardings=place, out_shardings=place)
rows = int(sys.argv[1])
print(described.devices[0].device_kind, flush=True)
try:
    step.lower(jax.ShapeDtypeStruct((rows, rows), "float32")).compile()
    print("compiled")
except Exception as error:
    print(str(error).splitlines()[0])
time.sleep(2)  # so that the other one starts while this one holds the library
"""


def everything(folder):
    return sorted(str(path) for path in Path(folder).rglob("*"))


@pytest.mark.slow
@pytest.mark.timeout(1200)
def test_two_compile_at_once_and_leave_nothing(tpu_environment, tmp_path):
    script, scratch = tmp_path / "script.py", tmp_path / "scratch"
    script.write_text(SCRIPT)
    scratch.mkdir()
    home = {**os.environ, "HOME": str(scratch)}
    before = everything(tpu_environment.folder), set(os.listdir("/tmp"))
    done = {}

    def compile_one(rows):
        words, child = tpu_environment.command(script, rows, scratch=scratch, environ=home)
        done[rows] = probe.run_command(words, seconds=120, environ=child, memory=8e9)

    threads = [threading.Thread(target=compile_one, args=[rows]) for rows in ("256", "131072")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert done["256"].output.split("\n") == ["TPU v5 lite", "compiled", ""]
    assert "Ran out of memory in memory space hbm" in done["131072"].output
    assert all(one.kind == "finished" and one.peak_memory > 10**8 for one in done.values())
    assert everything(scratch) == [], "no logs"
    assert everything(tpu_environment.folder) == before[0], "no bytecode"
    new = set(os.listdir("/tmp")) - before[1]
    assert not [name for name in new if "tpu" in name]


@pytest.mark.slow
@pytest.mark.timeout(1200)
def test_what_was_installed_is_what_is_pinned(tpu_environment):
    assert tpu_environment.ready and dict(tpu_environment.versions) == PINS
    size = sum(path.lstat().st_size for path in tpu_environment.folder.rglob("*"))
    assert 1e9 < tpu_environment.bytes < size < 1.3e9, "as `install` says before it begins"
    licence = next(tpu_environment.folder.glob("libtpu-*.dist-info/METADATA")).read_text()
    assert "\nLicense: Apache License 2.0\n" in licence
