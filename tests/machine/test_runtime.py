"""What `describe` says of recorded machines: small trees of files, handed in."""

import json
import os
import platform
import sys
from pathlib import Path

import pytest
from machines import AMD, LISTED, MACHINES, PLAIN_FILES, T4, answering, gpu_files, tpu_files, write

from accel_helpers.machine.attached import Attached, run_command
from accel_helpers.machine.runtime import describe

MEMINFO = {"proc/meminfo": PLAIN_FILES["proc/meminfo"]}


@pytest.fixture
def machine(tmp_path):
    """Build a machine from files and describe it; nothing of the real one shows through."""

    def build(files=(), *, environ=(), smi=None):
        write(tmp_path, dict(files))
        run = answering(smi)
        return describe(environ=dict(environ), root=tmp_path, run=run, versions={}.get)

    return build


@pytest.mark.parametrize(
    ("environ", "place", "release"),
    [
        ({}, "local", None),
        ({"VERTEX_PRODUCT": "COLAB_ENTERPRISE"}, "colab", "Colab Enterprise"),
        ({"KAGGLE_KERNEL_RUN_TYPE": "Batch", "COLAB_RELEASE_TAG": "r"}, "kaggle", None),
        ({"COLAB_RELEASE_TAG": ""}, "local", None),
    ],
)
def test_the_place_comes_from_the_environment(machine, environ, place, release):
    found = machine(environ=environ)
    assert (found.place, found.release) == (place, release)


def test_a_gpu_is_known_by_name_memory_and_driver(machine):
    found = machine(gpu_files(2), smi=T4 * 2)
    assert found.accelerator == Attached("GPU", "Tesla T4", 2, 15 * 2**30, "550.54.15")
    assert "GPU, 2 x Tesla T4, 15.0 GiB memory each" in str(found)
    shared = machine(gpu_files(), smi="NVIDIA GB10, [N/A], 580.95.05\n").accelerator
    assert (shared.name, shared.memory_bytes) == ("NVIDIA GB10", None)


def test_gpus_of_two_types_are_not_added_up(machine):
    found = machine(gpu_files(), smi="NVIDIA L4, 23034, 550\nTesla T4, 15360, 550\n")
    assert (found.accelerator.name, found.accelerator.count) == ("NVIDIA L4", 1)


def test_a_gpu_under_wsl_has_no_driver_files_and_is_still_found(machine):
    found = machine({"dev/dxg": ""}, smi="NVIDIA RTX 2000 Ada, 8188, 555.1\n")
    assert found.accelerator.name == "NVIDIA RTX 2000 Ada"
    assert machine({"dev/dxg": ""}).notes == (), "a graphics card of another maker is no fault"


@pytest.mark.parametrize(
    "failure", ["", "NVIDIA-SMI has failed, because it could not reach, or find, the driver\n"]
)
def test_without_nvidia_smi_the_drivers_own_list_names_the_gpu(machine, failure):
    found = machine(gpu_files() | LISTED, smi=failure)
    gpu = found.accelerator
    assert (gpu.name, gpu.count, gpu.memory_bytes, gpu.driver) == ("Tesla T4", 1, None, "550.54.15")
    assert any("nvidia-smi did not answer" in note for note in found.notes)


def test_a_container_counts_only_the_gpus_it_was_given_and_asks_nobody_where_there_is_none(machine):
    listed = {
        f"proc/driver/nvidia/gpus/0000:00:0{n}.0/information": f"Model: Tesla T4\nDevice Minor: {n}"
        for n in range(4)
    }
    assert machine(smi=AssertionError("asked")).accelerator is None
    assert machine(gpu_files() | listed).accelerator.count == 1


@pytest.mark.parametrize(
    ("device", "name"),
    [("0x0027", "TPU v2 or v3"), ("0x0063", "TPU v5e"), ("0xbeef", "TPU of unknown type")],
)
def test_a_tpu_is_known_by_its_pci_device(machine, device, name):
    found = machine(tpu_files(1, device)).accelerator
    assert (found.kind, found.name, found.count, found.memory_bytes) == ("TPU", name, 1, None)
    assert str(machine(tpu_files(4, device)).accelerator) == f"4 x {name}"


@pytest.mark.parametrize("files", [
    tpu_files(1, "0x0042", kind="0x020000"),  # the network card of a Google Cloud machine
    tpu_files(1, "0x001f", kind="0x010802"),  # its disk
    tpu_files(1, "0x0063", vendor="0x8086"),  # another maker's device
])  # fmt: skip
def test_what_is_no_tpu_is_not_taken_for_one(machine, files):
    assert machine(files).accelerator is None


@pytest.mark.parametrize(("files", "memory"), [
    ({"sys/fs/cgroup/memory.max": "1073741824\n"}, 2**30),
    ({"sys/fs/cgroup/memory/memory.limit_in_bytes": "1073741824\n"}, 2**30),
    ({"sys/fs/cgroup/memory/memory.limit_in_bytes": "9223372036854771712\n"}, 13286960 * 1024),
])  # fmt: skip
def test_a_containers_memory_limit_counts_where_it_is_lower(machine, files, memory):
    assert machine(MEMINFO | files).memory_bytes == memory


@pytest.mark.parametrize("files", [
    {"sys/fs/cgroup/cpu.max": "50000 100000\n"},
    {"sys/fs/cgroup/cpu/cpu.cfs_quota_us": "100000\n",
     "sys/fs/cgroup/cpu/cpu.cfs_period_us": "100000\n"},
])  # fmt: skip
def test_a_containers_cpu_limit_counts_where_it_is_lower(machine, files):
    assert machine(files).cores == 1


@pytest.mark.parametrize("text", ["max 100000\n", "nonsense\n", "-1 100000\n", "99999999 1\n"])
def test_no_cpu_limit_leaves_the_cores_of_the_machine(machine, text):
    assert machine().cores == machine({"sys/fs/cgroup/cpu.max": text}).cores >= 1


@pytest.mark.parametrize("name", MACHINES)
def test_every_machine_of_the_matrix_is_described(tmp_path, name):
    recorded = MACHINES[name]
    found = describe(**recorded.build(tmp_path))
    expected = "Intel Xeon CPU @ 2.20GHz", 13286960 * 1024
    if recorded.files.keys() & AMD.keys():
        expected = "AMD EPYC 7B12", 13286960 * 1024
    if recorded.sysctl:
        expected = "Apple M2", 16 * 2**30
    assert (found.cpu_name, found.memory_bytes) == expected
    assert found.frameworks.get("jax") == recorded.packages.get("jax")
    attached = "GPU" if recorded.smi else "TPU" if any("pci" in f for f in recorded.files) else None
    if "list" not in name:
        assert (found.accelerator and found.accelerator.kind) == attached
    assert "10.255" not in str(found), "no address is told"
    silent = {"gpu-silent", "gpu-not-handed-over"} & set(recorded.finds)
    assert ("none that answers" in str(found)) == bool(silent)
    assert ("tpu-claimed" in found.faults) == ("tpu-claimed" in recorded.finds)


@pytest.fixture
def colab(tmp_path):
    machine = MACHINES["colab t4"].but(environ={"COLAB_TPU_ADDR": "x"})
    return describe(**machine.build(tmp_path))


def test_the_card_is_aligned_and_fits_a_terminal(colab):
    lines = str(colab).splitlines()
    assert lines[0] == "Place:        Google Colab (release-colab_20260819-060000_RC00)"
    assert lines[1] == "Accelerator:  GPU, Tesla T4, 15.0 GiB memory"
    assert "Frameworks:   tensorflow 2.20.0, keras 3.13.2, jax 0.7.2," in str(colab)
    assert all(len(line) <= 96 and line[13] == " " != line[14] for line in lines)
    assert "GPU, Tesla T4, 15.0 GiB memory" in colab._repr_html_()


def test_to_dict_is_json_and_tells_nothing_about_the_person(colab):
    text = json.dumps(colab.to_dict())
    assert json.loads(text) == colab.to_dict()
    assert colab.to_dict()["accelerator"]["name"] == "Tesla T4"
    assert "/" not in text
    real = json.dumps(describe().to_dict())
    for secret in (str(Path.home()), os.getcwd(), sys.prefix, platform.node()):
        assert len(secret) < 4 or secret not in real


def test_a_command_gives_its_output_and_one_that_hangs_is_left_behind_at_its_limit(tmp_path):
    assert run_command([sys.executable, "-c", "print('hello')"], 30).strip() == "hello"
    # A child of the command holds its pipe open, as one stuck in the driver would.
    child = f"(sleep 20; echo done > '{tmp_path}/done') & wait"
    assert run_command(["sh", "-c", child], 1.0) == ""
    assert not (tmp_path / "done").exists(), "it waited for the child"
