"""What `describe` says of recorded machines: small trees of files, handed in."""

import json
import os
import platform
import sys
from pathlib import Path
from types import ModuleType

import pytest
from machines import MACHINES, T4, answering, gpu_files, tpu_files, write

from accel_helpers.machine.attached import Attached, run_command
from accel_helpers.machine.facts import Facts
from accel_helpers.machine.runtime import describe


@pytest.fixture
def machine(tmp_path):
    """Build a machine from files and describe it; nothing of the real one shows through."""

    def build(files=(), smi="", **environ):
        write(tmp_path, dict(files))
        return describe(environ=environ, root=tmp_path, run=answering(smi), versions={}.get)

    return build


@pytest.mark.parametrize(
    ("environ", "place", "release"),
    [
        ({}, "local", None),
        ({"COLAB_RELEASE_TAG": "r"}, "colab", "r"),
        ({"KAGGLE_KERNEL_RUN_TYPE": "Batch", "COLAB_RELEASE_TAG": "r"}, "kaggle", None),
        ({"COLAB_RELEASE_TAG": ""}, "local", None),
    ],
)
def test_the_place_comes_from_the_environment(machine, environ, place, release):
    found = machine(**environ)
    assert (found.place, found.release) == (place, release)


@pytest.mark.parametrize(
    ("answer", "gpu"),
    [
        (T4 * 2, Attached("GPU", "Tesla T4", 2, 15 * 2**30)),
        ("NVIDIA GB10, [N/A], 580.95.05\n", Attached("GPU", "NVIDIA GB10")),
        (f"NVIDIA L4, 1024, 550\n{T4}", Attached("GPU", "NVIDIA L4", 1, 2**30)),
        ("NVIDIA-SMI has failed, because it could not reach, or find, the driver\n", None),
    ],
)  # fmt: skip
def test_gpus_are_those_that_nvidia_smi_lists_and_of_one_type(machine, answer, gpu):
    assert machine(gpu_files(), answer).accelerator == gpu


@pytest.mark.parametrize(
    ("device", "name"),
    [("0x0027", "TPU v2 or v3"), ("0x0063", "TPU v5e"), ("0xbeef", "TPU of unknown type")],
)
def test_a_tpu_is_known_by_its_pci_device(machine, device, name):
    assert machine(tpu_files(4, device)).accelerator == Attached("TPU", name, 4)


@pytest.mark.parametrize("files", [
    tpu_files(1, "0x0042", kind="0x020000"),  # the network card of a Google Cloud machine
    tpu_files(1, "0x001f", kind="0x010802"),  # its disk
    tpu_files(1, "0x0063", vendor="0x8086"),  # another maker's device
])  # fmt: skip
def test_what_is_no_tpu_is_not_taken_for_one(machine, files):
    assert machine(files).accelerator is None


def test_a_containers_memory_limit_counts_where_it_is_lower(machine):
    whole = machine().memory_bytes
    assert whole > 2**30
    for limit, memory in (("1073741824\n", 2**30), ("max\n", whole), (f"{whole + 1}\n", whole)):
        assert machine({"sys/fs/cgroup/memory.max": limit}).memory_bytes == memory


@pytest.mark.parametrize("text", ["max 100000\n", "nonsense\n", "-1 100000\n", "99999999 1\n"])
def test_a_containers_limit_of_cores_counts_where_there_is_one(machine, text):
    assert machine().cores == machine({"sys/fs/cgroup/cpu.max": text}).cores >= 1
    assert machine({"sys/fs/cgroup/cpu.max": "50000 100000\n"}).cores == 1


@pytest.mark.parametrize("name", MACHINES)
def test_every_machine_is_described_and_a_note_says_where_it_is_not_what_it_seems(tmp_path, name):
    recorded = MACHINES[name]
    found = describe(**recorded.build(tmp_path))
    assert found.frameworks.get("jax") == recorded.packages.get("jax")
    is_tpu = any("pci" in file for file in recorded.files)
    assert found.kind == ("tpu" if is_tpu else "gpu" if recorded.smi else "cpu")
    noted = {"gpu-silent", "gpu-of-another-maker", "tpu-claimed"} & {*recorded.finds}
    assert {*found.faults} == noted
    assert str(found).count("Note: ") == len(noted)


@pytest.fixture
def colab(tmp_path):
    return describe(**MACHINES["colab t4"].build(tmp_path))


def test_the_card_is_aligned_and_fits_a_terminal(colab):
    lines = str(colab).splitlines()
    assert lines[0] == "Place:        Google Colab (release-colab_20260819-060000_RC00)"
    assert lines[1] == "Accelerator:  GPU, 1 x Tesla T4 of 15.0 GiB"
    assert "Frameworks:   tensorflow 2.20.0, keras 3.13.2, jax 0.7.2," in str(colab)
    assert all(len(line) <= 96 and line[13] == " " != line[14] for line in lines)
    assert "GPU, 1 x Tesla T4 of 15.0 GiB" in colab._repr_html_()


def test_to_dict_is_json_and_tells_nothing_about_the_person(colab):
    assert json.loads(json.dumps(colab.to_dict()))["accelerator"]["name"] == "Tesla T4"
    real = json.dumps(describe().to_dict())
    for secret in (str(Path.home()), os.getcwd(), sys.prefix, platform.node()):
        assert len(secret) < 4 or secret not in real


def test_a_keras_by_another_name_is_named():
    found = describe(environ={}, root="/nowhere", versions={"keras-nightly": "3.16.0.dev1"}.get)
    assert found.frameworks == {"keras": "3.16.0.dev1"}


def test_a_command_that_hangs_is_left_behind_at_its_limit(tmp_path):
    assert run_command([sys.executable, "-c", "print('hello')"], 30).strip() == "hello"
    # A child of the command holds its pipe open, as one stuck in the driver would.
    child = f"(sleep 20; echo done > '{tmp_path}/done') & wait"
    assert run_command(["sh", "-c", child], 1.0) == ""
    assert not (tmp_path / "done").exists(), "it waited for the child"


def test_a_file_of_ones_own_that_is_called_keras_stops_nothing():
    assert Facts(loaded={"keras": ModuleType("keras")}).keras_on == ""
