"""What is said of every recorded machine, and where it trains."""

import pytest
from machines import MACHINES, build

from accel_helpers.machine import backend, doctor, runtime, strategy
from accel_helpers.machine.facts import Facts, tables

NOTED = {"gpu-silent", "gpu-of-another-maker", "tpu-claimed", "another-chip"}


@pytest.mark.parametrize("name", MACHINES)
def test_every_machine_hears_what_is_wrong_and_trains_where_it_can(name, tmp_path):
    machine = MACHINES[name]
    facts = build(machine, tmp_path)
    finds = machine.get("finds", [])

    told = doctor.diagnose(**facts)
    assert [one.id for one in told.findings] == finds
    assert "{" not in str(told), "every brace was filled in"
    is_lent = name.startswith(("colab", "kaggle"))
    assert not (is_lent and "pip install" in str(told)), "nothing comes over what is there"

    found = runtime.describe(**facts)
    assert found.kind == machine.get("kind", "cpu")
    assert {*found.faults} == NOTED & {*finds}
    assert str(found).count("Note: ") == len(found.faults)

    picked = strategy.pick(**facts)
    assert [picked.kind, picked.backend, picked.replicas] == machine["picks"]
    if picked.kind == "cpu":
        reasons = ["No accelerator is attached", *(one.cause for one in told.findings)]
        assert any(reason in picked.reason for reason in reasons)

    if {"framework-missing", "keras-backend-unknown"} & {*finds}:
        with pytest.raises(ValueError, match="Run: |Name another"):
            backend.settle(Facts(**facts))
    elif not facts["loaded"]:
        # PyTorch trains where nothing else is, on no strategy of ours.
        framework = "torch" if "torch" in machine["packages"] else picked.backend
        assert backend.settle(Facts(**facts)).name == framework
        assert facts["environ"]["KERAS_BACKEND"] == framework


def test_every_fault_has_words_and_a_machine_that_shows_it():
    shown = {fault for machine in MACHINES.values() for fault in machine.get("finds", [])}
    assert shown == tables("faults.toml")["fault"].keys()


def test_cuda_counts_up_to_the_first_entry_that_names_no_gpu(tmp_path):
    visible = {"0": 1, "1,0": 2, "0,7,1": 1, "GPU-8a,1": 2, "": 0, " ": 0, "-1": 0, "2": 0}
    for setting, count in visible.items():
        facts = build(MACHINES["kaggle t4 x2"], tmp_path)
        facts["environ"]["CUDA_VISIBLE_DEVICES"] = setting
        picked = strategy.pick(**facts)
        replicas = 0 if picked.kind == "cpu" else picked.replicas
        assert replicas == count, setting
        assert ("CUDA_VISIBLE_DEVICES" in picked.reason) == (count < 2)
