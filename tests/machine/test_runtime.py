"""What `describe` says of recorded machines: small trees of files, handed in."""

import json
import os
import platform
from pathlib import Path
from types import ModuleType

import pytest
from machines import MACHINES, build, tpu_files, write

from accel_helpers.machine.attached import Attached
from accel_helpers.machine.facts import Facts
from accel_helpers.machine.runtime import describe

T4 = "Tesla T4, 15360, 550.54.15\n"


@pytest.fixture
def machine(tmp_path):
    """Describe a machine with these files; nothing of the real one shows through."""

    def described(files=(), smi="", **environ):
        write(tmp_path, dict(files))
        return describe(environ=environ, root=tmp_path, run=lambda command: smi, versions={}.get)

    return described


def test_the_place_comes_from_the_environment(machine):
    assert machine(COLAB_RELEASE_TAG="").place == "local"
    assert machine(COLAB_RELEASE_TAG="r").release == "r"
    # Kaggle's image has Colab's variable.
    found = machine(COLAB_RELEASE_TAG="r", KAGGLE_KERNEL_RUN_TYPE="Batch")
    assert (found.place, found.release) == ("kaggle", None)


def test_gpus_are_those_that_nvidia_smi_lists_and_of_one_type(machine):
    answers = {
        T4 * 2: Attached("GPU", "Tesla T4", 2, 15 * 2**30),
        f"NVIDIA L4, 1024, 550\n{T4}": Attached("GPU", "NVIDIA L4", 1, 2**30),
        "NVIDIA GB10, [N/A], 580.95.05\n": Attached("GPU", "NVIDIA GB10"),
        "NVIDIA-SMI has failed, because it could not reach, or find, the driver\n": None,
    }
    for answer, gpu in answers.items():
        assert machine(smi=answer).accelerator == gpu


def test_a_tpu_is_known_by_its_pci_device(machine):
    names = {
        "0x0027": "TPU v2 or v3",
        "0x005e": "TPU v4",
        "0x0063": "TPU v5e",
        "0x006f": "TPU v6e",
        "0xbeef": "TPU of unknown type",
    }
    for device, name in names.items():
        assert machine(tpu_files(4, device)).accelerator == Attached("TPU", name, 4)
    # Network card and disk of a Google Cloud machine, and another maker's device.
    for other in ({"kind": "0x020000"}, {"kind": "0x010802"}, {"vendor": "0x8086"}):
        assert machine(tpu_files(4, **other)).accelerator is None


def test_a_containers_memory_limit_counts_where_it_is_lower(machine):
    whole = machine().memory_bytes
    assert whole > 2**30
    for limit, memory in (("1073741824\n", 2**30), ("max\n", whole), (f"{whole + 1}\n", whole)):
        assert machine({"sys/fs/cgroup/memory.max": limit}).memory_bytes == memory


def test_a_containers_limit_of_cores_counts_where_there_is_one(machine):
    cores = machine().cores
    assert cores >= 1
    for text in ("max 100000\n", "nonsense\n", "-1 100000\n", "99999999 1\n"):
        assert machine({"sys/fs/cgroup/cpu.max": text}).cores == cores
    assert machine({"sys/fs/cgroup/cpu.max": "50000 100000\n"}).cores == 1


def test_the_card_says_what_is_there(tmp_path):
    found = describe(**build(MACHINES["colab t4"], tmp_path))
    card = str(found)
    assert "Place:        Google Colab (release-colab_20260819-060000_RC00)\n" in card
    assert "Accelerator:  GPU, 1 x Tesla T4 of 15.0 GiB\n" in card
    assert "Frameworks:   tensorflow 2.20.0, keras 3.13.2, jax 0.7.2," in card
    assert "GPU, 1 x Tesla T4 of 15.0 GiB" in found._repr_html_()


def test_nothing_is_told_about_the_person():
    told = json.dumps(describe().to_dict())
    for secret in (str(Path.home()), os.getcwd(), platform.node()):
        assert len(secret) < 4 or secret not in told


def test_a_keras_by_another_name_or_a_file_of_ones_own_called_keras_is_no_trouble():
    found = describe(environ={}, root="/nowhere", versions={"keras-nightly": "3.16.0.dev1"}.get)
    assert found.frameworks == {"keras": "3.16.0.dev1"}
    assert Facts(loaded={"keras": ModuleType("keras")}).keras_on == ""
